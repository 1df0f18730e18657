"""Prints an answer from pages and tables: what was read, the cells it stands in, the query."""

from __future__ import annotations

import textwrap

import click

from kgp_neo4j.structures import Citation, StructuralAnswer

__all__ = ["print_structural"]

#: Citations, and characters of one, that are printed.
_CITATIONS, _QUOTED = 10, 200


def print_structural(answer: StructuralAnswer, width: int) -> None:
    """Print a structural answer for a person, in lines of at most `width` characters."""
    from kgp_neo4j.answer.explanation import browser_lines
    from kgp_neo4j.printable import plain, printable

    _heading("Answer" if answer.sure or not answer.found else "No sure answer")
    # Cells and titles are the documents' own, and a terminal would obey what stands in them.
    said = printable(answer.text).splitlines()
    for line in said:
        row = line.startswith("|")  # a row of a table is one line, however long
        click.echo(f"  {line}" if row else _filled(line, width))
    if answer.reading:
        click.echo(click.style(_filled(f"read as: {plain(answer.reading)}", width), dim=True))
    if answer.doubt:
        click.echo(click.style(_filled(f"Doubt: {plain(answer.doubt)}", width), fg="yellow"))
    table = printable(answer.markdown).splitlines()
    if not set(table) <= set(said):
        click.echo()
        for line in table:
            click.echo(f"  {line}")
    if answer.citations:
        _heading("Where it stands")
        for citation in answer.citations[:_CITATIONS]:
            click.echo(f"  {plain(place(citation))}")
        if len(answer.citations) > _CITATIONS:
            click.echo(f"  ... and {len(answer.citations) - _CITATIONS} more (--json has all)")
    if answer.queries:
        _heading("Query (read-only)")
        for query in answer.queries:
            for line in browser_lines(query):
                click.echo(click.style(f"  {printable(line)}", dim=True))
    click.echo()


def place(citation: Citation) -> str:
    """Return where a citation stands, and what, in one line."""
    parts = [citation.title]
    if citation.page is not None:
        printed = citation.label and citation.label != str(citation.page)
        parts.append(f"page {citation.page}" + (f" (printed {citation.label})" if printed else ""))
    if citation.table_name:
        parts.append(citation.table_name)
    if citation.row is not None:
        where = f"row {citation.row}" if citation.row > 0 else "header"
        parts.append(f"{where} ({citation.row_name})" if citation.row_name else where)
    if citation.column is not None:
        name = f" ({citation.column_name})" if citation.column_name else ""
        parts.append(f"column {citation.column}{name}")
    made = ", ".join(parts)
    text = " ".join(citation.text.split())
    return f"{made}: {textwrap.shorten(text, _QUOTED, placeholder=' …')}" if text else made


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, fg="cyan", bold=True))


def _filled(text: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent="  ", subsequent_indent="  ")
