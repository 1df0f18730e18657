"""Puts the pages of a PDF together: text, pages, tables that go on over page breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kgp_neo4j.load.grid import markdown
from kgp_neo4j.load.pdf.grids import Grid
from kgp_neo4j.load.pdf.page import Block
from kgp_neo4j.structures import SourcePage, SourceTable, Span

__all__ = ["Assembly"]


@dataclass(slots=True)
class _Table:
    """A table as it grows over pages."""

    rows: list[tuple[str, ...]]
    row_pages: list[int]
    header_rows: int
    edges: list[tuple[float, float]]
    spans: list[Span] = field(default_factory=list)
    caption: str = ""
    number: str = ""
    start: int = 0
    end: int = 0

    def made(self) -> SourceTable:
        return SourceTable(
            rows=tuple(self.rows),
            header_rows=self.header_rows,
            caption=self.caption,
            number=self.number,
            start=self.start,
            end=self.end,
            spans=tuple(self.spans),
            row_pages=tuple(self.row_pages),
        )


class Assembly:
    """Takes pages in their order and gives the document's text, pages and tables."""

    def __init__(self) -> None:
        self.pages: list[SourcePage] = []
        self._texts: list[str] = []
        self._length = 0
        self._tables: list[_Table] = []
        #: The table that ends the page before, which may go on.
        self._open: _Table | None = None

    @property
    def text(self) -> str:
        """The text so far: that of the pages one after another."""
        return "".join(self._texts)

    @property
    def tables(self) -> tuple[SourceTable, ...]:
        """The tables so far, in the order in which they begin."""
        return tuple(table.made() for table in self._tables)

    def add(
        self, number: int, label: str, header: str, footer: str, blocks: Sequence[Block]
    ) -> None:
        """Add a page; a table at its top may go on with the one at the end of the page before."""
        parts: list[str] = []
        at = self._length
        last: _Table | None = None
        for index, block in enumerate(blocks):
            if isinstance(block, str):
                text = block
                last = None if len(block) > 200 or index < len(blocks) - 1 else last
            else:
                begun = self._continued(block, blocks[:index])
                text, last = self._table(block, begun, number, at)
            if text:
                parts.append(text + "\n\n")
                at += len(text) + 2
        self._open = last if blocks else self._open
        self._texts += parts
        self.pages.append(SourcePage(number, self._length, at, label, header, footer))
        self._length = at

    def _continued(self, grid: Grid, before: Sequence[Block]) -> _Table | None:
        """Return the table of the page before that a table at the top of a page goes on with."""
        table = self._open
        texts = [block for block in before if isinstance(block, str)]
        if table is None or len(texts) < len(before):
            return None
        named = grid.caption in texts
        if len(texts) > named or len(grid.rows[0]) != len(table.rows[0]):
            return None
        if grid.number and table.number and grid.number != table.number:
            return None
        if grid.continued:
            return table
        if grid.caption and grid.caption != table.caption:
            return None
        header = _names(table.rows[: table.header_rows])
        if _names(grid.rows[: table.header_rows]) == header:
            return table
        if grid.header_is_evident:
            return None
        wide = table.edges[-1][1] - table.edges[0][0]
        same = all(
            abs(a[0] - b[0]) < 0.03 * wide and abs(a[1] - b[1]) < 0.03 * wide
            for a, b in zip(grid.edges, table.edges, strict=True)
        )
        return table if same else None

    def _table(self, grid: Grid, begun: _Table | None, page: int, at: int) -> tuple[str, _Table]:
        """Add a table's rows; return its Markdown on this page."""
        if begun is None:
            table = _Table(
                list(grid.rows), [page] * len(grid.rows), grid.header_rows, grid.edges,
                list(grid.spans), grid.caption, grid.number,
            )  # fmt: skip
            self._tables.append(table)
            text = markdown(table.made())
            table.start, table.end = at, at + len(text)
            return text, table
        header = begun.rows[: begun.header_rows]
        repeated = _names(grid.rows[: begun.header_rows]) == _names(header)
        skip = begun.header_rows if repeated else 0
        rows = grid.rows[skip:]
        offset = len(begun.rows) - skip
        begun.spans += [
            Span(s.row + offset, s.column, s.rows, s.columns) for s in grid.spans if s.row >= skip
        ]
        begun.rows += rows
        begun.row_pages += [page] * len(rows)
        shown = SourceTable(rows=(*header, *rows), header_rows=begun.header_rows)
        return (markdown(shown) if rows else ""), begun


def _names(rows: Sequence[tuple[str, ...]]) -> list[list[str]]:
    return [["".join(text.casefold().split()) for text in row] for row in rows]
