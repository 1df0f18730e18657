"""Finds the tables of a Markdown text, as GitHub writes them; the text stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.load.grid import captioned
from kgp_neo4j.types.tables import SourceTable

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["tables_of_markdown"]

#: What the line below a table's header is made of, in a list or a quotation too.
_RULE = " \t>|:-*+.0123456789"
_LINE_END = re.compile(r"\r\n?|\n")


def tables_of_markdown(text: str) -> tuple[SourceTable, ...]:
    """Return the tables of a Markdown text, with their places in it and their captions.

    Cells are plain text: without emphasis, code marks and the targets of links. Tables in code
    blocks are none.
    """
    if not any("|" in line and "-" in line and not line.strip(_RULE) for line in text.splitlines()):
        return ()  # most texts need not be parsed
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    ends = [found.end() for found in _LINE_END.finditer(text)]
    starts = [0, *ends, len(text)]
    made = []
    for at, token in enumerate(tokens):
        if token.type == "table_open" and token.map:
            first, last = (min(line, len(starts) - 1) for line in token.map)
            start, end = starts[first], starts[last]
            while end > start and text[end - 1] in "\r\n":
                end -= 1
            made.append(_table(tokens, at, start, end))
    return captioned(text, made)


def _table(tokens: Sequence[Token], at: int, start: int, end: int) -> SourceTable:
    rows: list[list[str]] = []
    for token in tokens[at:]:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(_plain(token))
    width = len(rows[0])
    heads = 1 if any(rows[0]) else 0
    return SourceTable(
        rows=tuple((*row[:width], *("",) * (width - len(row))) for row in rows[1 - heads :]),
        header_rows=heads,
        start=start,
        end=end,
    )


def _plain(cell: Token) -> str:
    parts = []
    for part in cell.children or ():
        if part.type in ("softbreak", "hardbreak") or (
            part.type == "html_inline" and part.content.lower().startswith("<br")
        ):
            parts.append(" ")
        elif part.type != "html_inline":
            parts.append(part.content)
    return " ".join("".join(parts).split())
