"""Extract the readable text of an HTML page; nothing in it is ever run."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import compress, takewhile
from typing import TypeAlias

from bs4 import BeautifulSoup
from bs4.element import CData, NavigableString, PreformattedString, Tag
from bs4.exceptions import ParserRejectedMarkup

from kgp_neo4j.corpus.load import contents
from kgp_neo4j.corpus.load.notation import PAGE_FORMATS, POWER, in_format
from kgp_neo4j.corpus.load.page_tree import PARAGRAPHS, page_tree, take_out_hidden
from kgp_neo4j.text.safe import seen
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceSection, SourceTable, Span

_DROPPED = frozenset("head script style".split())
_LINES = frozenset("br caption dd dt figcaption li option summary tr".split())
#: A table with so many others in one another is layout.
_DEEPEST = 4
#: Characters of a cell at most in a table that has others in its cells, unless it has headers.
_LONGEST_CELL = 300
_LISTS = frozenset("li menu ol ul".split())
#: Fields without a value that a reader sees, or with one that is no part of what is said.
_NO_FIELDS = frozenset("button hidden image file password reset submit".split())
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_CELLS = ("td", "th")
#: The parts of a table in the order in which their rows are shown.
_SECTIONS = {"thead": 0, "tbody": 1, "tfoot": 2}
_SPACE = re.compile(r"[ \t\r\n\f]+")


def read_page(markup: str, where: str) -> SourceDocument:
    """Return the contents of a page; paragraphs end in an empty line, data tables are Markdown.

    Scripts, styles and what is hidden are left out. A table with fewer than two rows or columns,
    with an `<h1>` in it, or mostly of other tables, is layout: its cells end in a tab. A data table
    in a cell of another one follows it. Raises InputError for a page that cannot be parsed.
    """
    try:
        page = page_tree(markup)
        tables: dict[int, list[SourceTable]] = {}
        left_out = list(contents.hidden_parts(take_out_hidden(page)))
        for tag in page.find_all("sup"):
            if POWER.fullmatch(tag.get_text()) and _ends_in_word(tag):
                begin, end = ("[", "]") if tag.find("a") else ("^", "")
                tag.insert(0, begin)
                tag.append(end)
        _fill_in(page)
        depths = Counter[int]()
        for count, tag in reversed([*enumerate(page.find_all("table"), 1)]):  # inner ones first
            around = id(tag.find_parent("table"))
            depths[around] = max(depths[around], depths[id(tag)] + 1)
            try:
                if depths[id(tag)] < _DEEPEST and (found := _data_table(tag, tables)):
                    tables[id(tag)] = found
            except InputError as error:
                left_out.append(f"table {count} has {error.what} and is kept as text only")
        return replace(_laid_out(page, tables, where), left_out=tuple(left_out))
    except (ParserRejectedMarkup, RecursionError) as error:
        raise InputError("not HTML that can be read", where=where) from error


# --- Text ---


class _Lines:
    """Collect words and line breaks the way a browser lays them out."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self._breaks = 0
        self._space = ""
        self._mark = ""
        #: How many tags with text as it stands are open.
        self._pre = 0
        #: The lists that are open: the number of their next item, and its format.
        self._lists: list[tuple[int, str]] = []

    def read(self, node: Tag | NavigableString, opens: bool) -> None:
        """Add a text, or the break, tab or number that a tag makes where it begins or ends."""
        if isinstance(node, NavigableString):
            (self.add_preformatted if self._pre > 0 else self.add)(str(node))
            return
        if node.name == "pre":
            self._pre += 1 if opens else -1
        if node.name in PARAGRAPHS:
            self.end_line(2)
        elif node.name in _LINES:
            self.end_line(1)
        elif node.name in _CELLS and opens and self._parts and not self._breaks:
            self._space = "\t"
        if node.name in _LISTS:
            self._list(node, opens)

    def _list(self, tag: Tag, opens: bool) -> None:
        """Begin or end a list, or an item of one."""
        self._mark = ""
        if tag.name == "li":
            if opens and self._lists and self._lists[-1][1]:
                number, format_ = self._lists.pop()
                number = contents.counted(tag, "value") if tag.has_attr("value") else number
                self._mark = f"{in_format(number, format_)}. "
                self._lists.append((number + 1, format_))
        elif opens:
            is_shown = tag.name == "ol" and "none" not in str(tag.get("style", ""))
            is_shown = is_shown and not tag.has_attr("reversed")  # counts down, to a start not told
            format_ = PAGE_FORMATS.get(str(tag.get("type")), "decimal") if is_shown else ""
            self._lists.append((contents.counted(tag, "start"), format_))
        elif self._lists:
            self._lists.pop()

    def end_line(self, breaks: int) -> None:
        self._breaks = max(self._breaks, breaks)
        self._space = ""

    def add(self, text: str) -> None:
        words = _SPACE.sub(" ", seen(text))
        if words.startswith(" ") and not self._space:
            self._space = " "
        if bare := words.strip(" "):
            self.add_preformatted(bare)
            self._space = " " if words.endswith(" ") else ""

    def add_preformatted(self, text: str) -> None:
        text = seen(text) if self._parts else seen(text).lstrip()
        if not text:
            return
        text, self._mark = self._mark + text, ""
        gap = "\n" * self._breaks or self._space if self._parts else ""
        self._parts += (gap, text)
        self.length += len(gap) + len(text)
        self._breaks, self._space = 0, ""

    def place(self) -> tuple[int, int]:
        """Return where the next text will begin: among the parts, and in the text."""
        return len(self._parts), self.length + (self._breaks if self._parts else 0)

    def text(self, first: int = 0) -> str:
        """Return the text from a part on."""
        return "".join(self._parts[first:])

    def one_line(self, first: int = 0) -> str:
        """Return the text from a part on as one line."""
        return " ".join(self.text(first).split())


def _ends_in_word(tag: Tag) -> bool:
    """Return whether a letter or digit stands right before a tag; not looking into all of it."""
    before = tag.previous_sibling
    while isinstance(before, Tag) and before.contents:
        before = before.contents[-1]
    return type(before) is NavigableString and before[-1:].isalnum()


def _fill_in(page: BeautifulSoup) -> None:
    """Put the values of a page's fields and choices into its text, as a reader sees them."""
    for tag in page.find_all("input"):
        kind, value = str(tag.get("type", "text")).lower(), str(tag.get("value", ""))
        if kind in ("checkbox", "radio"):
            tag.insert(0, " ☒ " if tag.has_attr("checked") else " ☐ ")
        elif kind not in _NO_FIELDS:
            tag.insert(0, f" {value} ")
    options = [(tag, tag.find_parent("select")) for tag in page.find_all("option")]
    chosen = {id(around) for tag, around in options if tag.has_attr("selected")}
    for tag, around in options:
        if around and id(around) in chosen:
            tag.insert(0, "☒ " if tag.has_attr("selected") else "☐ ")


def _laid_out(page: Tag, tables: dict[int, list[SourceTable]], where: str) -> SourceDocument:
    lines = _Lines()
    placed, sections = [], []
    heading = lines.place()
    for node, opens in _events(page, tables):
        lines.read(node, opens)
        if opens and node.name in _HEADINGS:
            heading = lines.place()
        elif node.name in _HEADINGS and (title := lines.one_line(heading[0])):
            sections.append(SourceSection(title, int(node.name[1]), heading[1]))
        for table in tables.get(id(node), ()) if opens else ():
            lines.end_line(2)
            if table.caption:
                lines.add(table.caption)
                lines.end_line(2)
            lines.add_preformatted(shown := contents.markdown(table))
            placed.append(replace(table, start=lines.length - len(shown), end=lines.length))
    text = lines.text().rstrip()
    title, found = _title(page, sections), contents.captioned(text, placed)
    return SourceDocument(title, text, where, tables=found, sections=tuple(sections))


def _title(page: Tag, sections: Sequence[SourceSection]) -> str:
    tag = page.find("title")
    said = contents.named(_SPACE.sub(" ", seen(tag.get_text())).strip()) if tag else ""
    first = [section.title for section in sections if section.level == 1]
    # A site's name may be a heading of level one above that of the page.
    begins = [title for title in first if said.casefold().startswith(title.casefold())]
    every = [*begins, *first, said, *(section.title for section in sections)]
    return next(filter(None, every), "")


def _events(page: Tag, closed: Container[int] = ()) -> Iterator[tuple[Tag | NavigableString, bool]]:
    """Yield tags as they open and close, and the text between; not what is in `closed` ones."""
    waiting: list[tuple[Tag | NavigableString, bool]] = [(page, True)]
    while waiting:
        node, opens = waiting.pop()
        if isinstance(node, Tag):
            if node.name in _DROPPED:
                continue
            yield node, opens
            if opens:
                waiting.append((node, False))
                if id(node) not in closed:
                    children = reversed(node.contents)
                    waiting += [(c, True) for c in children if isinstance(c, Tag | NavigableString)]
        elif not isinstance(node, PreformattedString) or isinstance(node, CData):
            yield node, True


# --- Tables ---

#: Cells of a table at most: a few bytes can ask for a billion (colspan="1000" rowspan="65534").
_MOST_CELLS = 2_000_000
_WIDEST = 1000

#: A `td` or `th`, and its text.
_Cell: TypeAlias = tuple[Tag, _Lines]
#: The place of a row's section (`thead`, `tbody`, `tfoot`), and its cells.
_Row: TypeAlias = tuple[int, list[_Cell]]


def _data_table(tag: Tag, inner: dict[int, list[SourceTable]]) -> list[SourceTable]:
    """Return a table and those in its cells; none where it is layout, or not two rows and columns.

    `inner` has the tables within others by their identity; they go where this one keeps them.
    """
    if tag.get("role") in ("presentation", "none") or tag.find("h1"):
        return []
    caption, table_rows = _rows(tag, inner)
    own = {id(cell): (cell, lines) for _, row in table_rows for cell, lines in row}
    held: dict[int, list[SourceTable]] = {}
    for part in tag.find_all("table"):
        around = takewhile(lambda each: each is not tag, part.parents)
        holder = next((id(each) for each in around if id(each) in own), 0)
        held.setdefault(holder, []).extend(inner.get(id(part), ()))
    texts = {name: lines.one_line() for name, (_, lines) in own.items()}
    for name, tables in held.items():
        if name in own and not texts[name]:  # a text of its own tells which cell it is
            own[name][1].add("; ".join(" ".join(row) for each in tables for row in each.rows))
    if held and not caption and all(cell.name == "td" for cell, _ in own.values()):
        longest = max((len(lines.one_line()) for _, lines in own.values()), default=0)
        is_wide = longest > _LONGEST_CELL or 2 * len(held) > sum(map(bool, texts.values()))
        if is_wide or tag.find(["caption", "th"]):
            return []
    grid, spans = _placed([cells for _, cells in table_rows])
    table = contents.table_of(grid, spans, caption)
    if table is None or len(table.rows) < 2 or len(table.rows[0]) < 2:
        return []
    filled = [any(map(str.strip, texts)) for texts in grid]
    below = list(compress(table_rows, filled))[-len(table.rows) :]
    heads = sum(section == 0 for section, _ in below)
    heads = heads or len(list(takewhile(lambda row: _names_of(row) == {"th"}, below)))
    if heads or _names_of(below[0]) != {"td"}:
        table = replace(table, header_rows=heads if heads < len(below) else 1)
    found = [table]
    for row, (_, cells) in zip(grid, table_rows, strict=True):
        for cell, _ in cells:
            first = row[0] if cells[0][0] is not cell else ""
            place = ", ".join(dict.fromkeys(filter(None, (first, texts[id(cell)]))))
            for each in held.get(id(cell), ()):
                names = filter(None, (table.caption, place, each.caption))
                found.append(replace(each, caption=". ".join(names)))
    for part in tag.find_all("table"):
        inner.pop(id(part), None)
    return found


def _names_of(row: _Row) -> set[str]:
    """Return the names of a row's tags that have a text: `th`, `td` or both."""
    return {tag.name for tag, lines in row[1] if lines.one_line()}


def _rows(table: Tag, inner: Container[int]) -> tuple[str, list[_Row]]:
    """Return a table's caption and rows, which begin with their tags, as browsers read them.

    What is in the tables of `inner` is left out; another table in a cell is text of it.
    """
    rows: list[_Row] = []
    section, depth = 1, 0
    lines, caption = _Lines(), _Lines()
    for node, opens in _events(table, inner):
        depth += (1 if opens else -1) * (node.name == "table")
        if depth > 1:
            lines.read(node, opens)
        elif node.name in _SECTIONS:
            section = _SECTIONS[node.name] if opens else 1
        elif node.name == "caption":
            lines = caption if opens else _Lines()
        elif opens and (node.name == "tr" or node.name in _CELLS):
            lines = _Lines()
            if node.name == "tr" or not rows:
                rows.append((section, []))
            if node.name in _CELLS:
                rows[-1][1].append((node, lines))
        else:
            lines.read(node, opens)
    return caption.one_line(), sorted(rows, key=lambda row: row[0])


def _placed(rows: Sequence[Sequence[_Cell]]) -> tuple[list[list[str]], list[Span]]:
    """Return each row's texts and the merged cells; raises InputError for too many of them."""
    grid: list[dict[int, str]] = [{} for _ in rows]
    spans = []
    count = 0
    for at, row in enumerate(rows):
        column = 0
        for tag, lines in row:
            while column in grid[at]:
                column += 1
            down = min(contents.counted(tag, "rowspan") or len(rows), len(rows) - at)
            most = min(contents.counted(tag, "colspan"), _WIDEST)
            across = 1
            while across < most and column + across not in grid[at]:
                across += 1
            count += down * across
            if count > _MOST_CELLS:
                raise InputError("too many merged cells")
            text = lines.one_line()
            for below in grid[at : at + down]:
                for beside in range(column, column + across):
                    below.setdefault(beside, text)
            if down > 1 or across > 1:
                spans.append(Span(at, column, down, across))
            column += across
    width = max((max(row) + 1 for row in grid if row), default=0)
    if width * len(rows) > _MOST_CELLS:
        raise InputError("too many merged cells")
    return [[row.get(column, "") for column in range(width)] for row in grid], spans
