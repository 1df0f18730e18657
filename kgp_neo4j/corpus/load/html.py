"""Extract the readable text of an HTML page; nothing in it is ever run."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bs4 import BeautifulSoup
from bs4.element import CData, NavigableString, PreformattedString, Tag
from bs4.exceptions import ParserRejectedMarkup

from kgp_neo4j.corpus.load.grid import captioned, header_rows, markdown, number, titled, trimmed
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceSection, SourceTable, Span

__all__ = ["HtmlCell", "HtmlTable", "Page", "TooLargeError", "read_page", "source_table"]

#: Cells of a page at most: a few bytes can ask for a billion (colspan="1000" rowspan="65534").
_MOST_CELLS = 2_000_000
_WIDEST = 1000


class TooLargeError(Exception):
    """A table whose merged cells unfold into too many cells."""


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
    # A title over all columns is removed below; it must not count as the header.
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


# --- Text ---


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DROPPED = frozenset(("head", "noscript", "script", "style", "template"))
_PARAGRAPHS = _words(
    "address article aside blockquote body details div dl fieldset figure footer form h1 h2 h3 h4 "
    "h5 h6 header hr main nav ol p pre section table ul"
)
_LINES = _words("br caption dd dt figcaption li option summary tr")
_HEADINGS = _words("h1 h2 h3 h4 h5 h6")
_CELLS = frozenset(("td", "th"))
_SECTIONS = {"thead": 0, "tbody": 1, "tfoot": 2}
_SPACE = re.compile(r"[ \t\r\n\f]+")


class _Lines:
    """Collect words and line breaks the way a browser lays them out."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self._breaks = 0
        self._space = ""

    def end_line(self, breaks: int) -> None:
        self._breaks = max(self._breaks, breaks)
        self._space = ""

    def cell(self) -> None:
        if self._parts and not self._breaks:
            self._space = "\t"

    def add(self, text: str, *, preformatted: bool) -> None:
        if preformatted:
            if text:
                self._append(text)
            return
        words = _SPACE.sub(" ", text)
        if words.startswith(" ") and not self._space:
            self._space = " "
        if bare := words.strip(" "):
            self._append(bare)
            self._space = " " if words.endswith(" ") else ""

    def _append(self, text: str) -> None:
        if self._parts:
            self._parts.append("\n" * self._breaks or self._space)
            self.length += len(self._parts[-1])
        self._parts.append(text)
        self.length += len(text)
        self._breaks, self._space = 0, ""

    def place(self) -> tuple[int, int]:
        """Return where the next text will begin: among the parts, and in the text."""
        return len(self._parts), self.length + (self._breaks if self._parts else 0)

    def since(self, place: tuple[int, int]) -> str:
        """Return the text from a place on, as one line."""
        return " ".join("".join(self._parts[place[0] :]).split())

    def text(self) -> str:
        return "".join(self._parts).strip()

    def stripped(self) -> int:
        """Return the number of characters that `text` leaves out at the start."""
        start = "".join(self._parts)
        return len(start) - len(start.lstrip())


@dataclass(frozen=True, slots=True)
class Page:
    """The contents of a page: title, text, tables and sections, and what could not be used."""

    title: str
    text: str
    tables: tuple[SourceTable, ...] = ()
    left_out: tuple[str, ...] = ()
    sections: tuple[SourceSection, ...] = ()


def read_page(markup: str, where: str) -> Page:
    """Return the contents of a page; paragraphs end in an empty line, data tables are Markdown.

    The title is the `<h1>` that `<title>` begins with, else the first one, else `<title>`, else the
    first heading of any level. Scripts and styles are left out. A table with fewer than two rows or
    columns, or with others in it, is layout: its cells end in a tab. Raises InputError for a page
    that cannot be parsed.
    """
    try:
        page = BeautifulSoup(markup, "html.parser")
        tables, left_out = _data_tables(page)
        text, placed, sections = _laid_out(page, tables)
        title = _title(page, sections)
        return Page(title, text, captioned(text, placed), tuple(left_out), sections)
    except (ParserRejectedMarkup, RecursionError) as error:
        raise InputError("not HTML that can be read", where=where) from error


def _laid_out(
    page: Tag, tables: dict[int, SourceTable]
) -> tuple[str, list[SourceTable], tuple[SourceSection, ...]]:
    """Return the text, and the tables and sections with their places in it."""
    lines = _Lines()
    placed, sections = [], []
    heading = lines.place()
    inside_pre = 0
    for node, opens in _events(page, tables):
        if isinstance(node, NavigableString):
            lines.add(str(node), preformatted=inside_pre > 0)
            continue
        if node.name == "pre":
            inside_pre += 1 if opens else -1
        if node.name in _PARAGRAPHS:
            lines.end_line(2)
        elif node.name in _LINES:
            lines.end_line(1)
        elif node.name in _CELLS and opens:
            lines.cell()
        if opens and node.name in _HEADINGS:
            heading = lines.place()
        elif node.name in _HEADINGS and (title := lines.since(heading)):
            sections.append(SourceSection(title, int(node.name[1]), heading[1]))
        if opens and (table := tables.get(id(node))):
            if table.caption:
                lines.add(table.caption, preformatted=False)
                lines.end_line(2)
            lines.add(shown := markdown(table), preformatted=True)
            placed.append(replace(table, start=lines.length - len(shown), end=lines.length))
    shift = lines.stripped()
    return (
        lines.text(),
        [replace(t, start=t.start - shift, end=t.end - shift) for t in placed],
        tuple(replace(s, start=max(s.start - shift, 0)) for s in sections),
    )


def _data_tables(page: Tag) -> tuple[dict[int, SourceTable], list[str]]:
    """Return the data tables by their tags' identity, and the notes on those left out."""
    made: dict[int, SourceTable] = {}
    left_out = []
    for count, tag in enumerate(page.find_all("table"), 1):
        try:
            read = _read_table(tag)
            if read and (table := source_table(read)):
                made[id(tag)] = table
        except TooLargeError:
            left_out.append(f"table {count} has too many merged cells and is kept as text only")
    return made, left_out


def _read_table(table: Tag) -> HtmlTable | None:
    """Return the cells of a table, or None where it is only layout.

    Rows and cells begin with their tags, so that unclosed ones are read as in browsers.
    """
    if table.get("role") in ("presentation", "none"):
        return None
    made = HtmlTable()
    section = 1
    lines, cell, caption = _Lines(), HtmlCell(""), _Lines()

    def close() -> None:
        cell.text = " ".join(lines.text().split())

    for node, opens in _events(table):
        if isinstance(node, NavigableString):
            lines.add(str(node), preformatted=False)
        elif node is table:
            continue
        elif node.name == "table":
            return None
        elif node.name in _SECTIONS:
            section = _SECTIONS[node.name] if opens else 1
        elif node.name == "caption":
            lines = caption if opens else _Lines()
        elif node.name == "tr" and opens:
            close()
            cell, lines = HtmlCell(""), _Lines()
            made.rows.append((section, []))
        elif node.name in _CELLS and opens:
            close()
            if not made.rows:
                made.rows.append((section, []))
            cell, lines = _cell(node), _Lines()
            made.rows[-1][1].append(cell)
        elif node.name in _PARAGRAPHS or node.name in _LINES:
            lines.end_line(1)
    close()
    made.caption = " ".join(caption.text().split())
    return made


def _cell(tag: Tag) -> HtmlCell:
    def count(name: str) -> int:
        value = str(tag.get(name, "")).strip()
        return int(value) if value.isdecimal() and len(value) < 7 else 1

    return HtmlCell("", tag.name == "th", count("rowspan"), max(count("colspan"), 1))


def _events(page: Tag, closed: Container[int] = ()) -> Iterator[tuple[Tag | NavigableString, bool]]:
    """Yield every tag as it opens and closes, and the text between, without recursion.

    The contents of a tag whose identity is in `closed` are skipped.
    """
    waiting: list[tuple[Tag | NavigableString, bool]] = [(page, True)]
    while waiting:
        node, opens = waiting.pop()
        if isinstance(node, Tag):
            if node.name in _DROPPED:
                continue
            yield node, opens
            if opens:
                waiting.append((node, False))
                if id(node) in closed:
                    continue
                waiting += [
                    (child, True)
                    for child in reversed(node.contents)
                    if isinstance(child, Tag | NavigableString)
                ]
        elif not isinstance(node, PreformattedString) or isinstance(node, CData):
            yield node, True


def _title(page: BeautifulSoup, sections: Sequence[SourceSection]) -> str:
    found = page.find("title")
    named = _SPACE.sub(" ", found.get_text()).strip() if found else ""
    first = [section.title for section in sections if section.level == 1]
    # A site's name may be a heading of level one above that of the page.
    meant = [title for title in first if named.casefold().startswith(title.casefold())]
    every = [*meant, *first, named, *(section.title for section in sections)]
    return next(filter(None, every), "")
