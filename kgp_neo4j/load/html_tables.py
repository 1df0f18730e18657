"""Reads the grid of an HTML table: merged cells, header rows, caption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kgp_neo4j.load.heads import header_rows, number, titled, trimmed
from kgp_neo4j.structures import SourceTable, Span

__all__ = ["HtmlCell", "HtmlTable", "TooLargeError", "source_table"]

#: A page can ask for a billion cells in a few bytes (colspan="1000" rowspan="65534").
_MOST_CELLS = 2_000_000
_WIDEST = 1000


class TooLargeError(Exception):
    """A table whose merged cells unfold into more cells than can be kept."""


@dataclass(slots=True)
class HtmlCell:
    """A `td` or `th` with its text."""

    text: str
    named: bool = False
    rows: int = 1
    columns: int = 1


@dataclass(slots=True)
class HtmlTable:
    """The rows of a table by section (0 `thead`, 1 `tbody`, 2 `tfoot`), and its `caption`."""

    rows: list[tuple[int, list[HtmlCell]]] = field(default_factory=list)
    caption: str = ""


def source_table(table: HtmlTable) -> SourceTable | None:
    """Return the table as a grid, or None where it has no two rows and two columns.

    Raises TooLargeError for more than two million cells.
    """
    ordered = sorted(table.rows, key=lambda row: row[0])
    grid, spans, kinds = _placed([cells for _, cells in ordered])
    sections = [section for section, _ in ordered]
    kept = [at for at, row in enumerate(grid) if any(text.strip() for text in row)]
    rows, merged = trimmed(grid, spans)
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    # A title over all columns is taken off below; it must not pass for the header.
    width = len(rows[0])
    top = next((s.rows for s in merged if s.row == 0 and s.columns == width), 0)
    heads = sum(sections[at] == 0 for at in kept)
    named = [kinds[at] for at in kept][top:]
    if heads <= top and named and named[0] == {True}:
        heads = top + next((at for at, kind in enumerate(named) if kind != {True}), len(named))
    elif heads <= top and named and named[0] == {False}:
        shifted = [Span(s.row - top, s.column, s.rows, s.columns) for s in merged if s.row >= top]
        heads = top + header_rows(rows[top:], shifted)
    made = SourceTable(
        rows=tuple(map(tuple, rows)),
        header_rows=heads if heads < len(rows) else top + 1,
        caption=table.caption,
        number=number(table.caption),
        spans=merged,
    )
    return titled(made)


def _placed(
    rows: Sequence[Sequence[HtmlCell]],
) -> tuple[list[list[str]], list[Span], list[set[bool]]]:
    """Return each row's texts, the merged cells, and whether the row has `th` (True) and `td`."""
    grid: list[dict[int, str]] = [{} for _ in rows]
    kinds: list[set[bool]] = [set() for _ in rows]
    spans = []
    cells = 0
    for at, row in enumerate(rows):
        column = 0
        for cell in row:
            while column in grid[at]:
                column += 1
            down = min(cell.rows or len(rows), len(rows) - at)
            across = 1
            while across < min(cell.columns, _WIDEST) and column + across not in grid[at]:
                across += 1
            cells += down * across
            if cells > _MOST_CELLS:
                raise TooLargeError
            for below in range(at, at + down):
                for beside in range(column, column + across):
                    grid[below].setdefault(beside, cell.text)
                if cell.text:
                    kinds[below].add(cell.named)
            if down > 1 or across > 1:
                spans.append(Span(at, column, down, across))
            column += across
    width = max((max(row) + 1 for row in grid if row), default=0)
    if width * len(rows) > _MOST_CELLS:
        raise TooLargeError
    texts = [[row.get(column, "") for column in range(width)] for row in grid]
    return texts, spans, kinds
