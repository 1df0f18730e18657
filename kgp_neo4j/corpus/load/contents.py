"""What files hold, as their readers give it: text in blocks, tables as grids, captions, titles."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

from kgp_neo4j.text.values import column_type, typed
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourceTable, Span

_NORM = re.compile(r"[\W_]+")


def column_names(table: SourceTable) -> list[str]:
    """Return each column's name: its header texts from the top down, joined by " / "."""
    header = list(table.rows[: table.header_rows])
    if len(header) > 1 and not table.spans:
        header[0] = tuple(_spread(header[0], header[1]))
    columns = zip(*header, strict=True)
    names = [" / ".join(dict.fromkeys(filter(None, map(_spaced, texts)))) for texts in columns]
    return names or [""] * len(table.rows[0] if table.rows else ())


def _spread(groups: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Yield each column's group: that of the column before where it has a name and no group."""
    group = ""
    for own, name in zip(groups, names, strict=True):
        group = (own if name else "") if own or not name else group
        yield own or group


def markdown(table: SourceTable, limit: int | None = None) -> str:
    """Return the table as Markdown, under one header row, with at most `limit` data rows."""
    names = column_names(table)
    rows = table.rows[table.header_rows :][:limit]
    return "\n".join([_line(names), "|" + " --- |" * len(names), *map(_line, rows)])


def section_rows(table: SourceTable) -> frozenset[int]:
    """Return the rows that head those below: one cell over all columns, or the first cell alone.

    The row below the first such one must be full: elsewhere a lone cell may be a row with gaps.
    """
    width = len(table.rows[0]) if table.rows else 0
    whole = {s.row for s in table.spans if s.rows == 1 and s.columns == width > 1}
    found: set[int] = set()
    for at, (row, below) in enumerate(pairwise(table.rows)):
        is_lone = width > 2 and bool(row[0].strip()) and not any(map(str.strip, row[1:]))
        filled = sum(bool(text.strip()) for text in below)
        is_heading = is_lone and not is_value(row[0]) and filled > (1 if found else width - 1)
        if at >= table.header_rows and (at in whole or is_heading):
            found.add(at)
    return frozenset(found)


def normal(text: str) -> str:
    """Return a text in the form in which names are compared: lower case, words and numbers only."""
    return _NORM.sub(" ", text.casefold()).strip()


def _line(texts: Iterable[str]) -> str:
    escaped = (_spaced(text).replace("\\", "\\\\").replace("|", "\\|") for text in texts)
    return "| " + " | ".join(escaped) + " |"


def _spaced(text: str) -> str:
    return " ".join(text.split())


def places_of(span: Span) -> Iterable[tuple[int, int]]:
    """Return row and column of each place that a merged cell covers."""
    columns = range(span.column, span.column + span.columns)
    return product(range(span.row, span.row + span.rows), columns)


def cell_count(tables: Sequence[SourceTable]) -> int:
    """Return the number of cells of the tables, header cells and covered ones too."""
    return sum(len(row) for table in tables for row in table.rows)


# --- Captions, title rows and header rows ---

_LONGEST = 600
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|[*_`])(?=\S)(.+?)(?<=\S)\1(?!\w)")
_BARE_NUMBER = re.compile(r"\(?[-+−–]?[\d.,\s]+\)?")
_SAMPLE = 200
_DEEPEST = 5

Rows = Sequence[Sequence[str]]

#: The start of a caption that is no sentence about a table.
CAPTION = re.compile(
    r"(?:supplementary |supplemental |appendix |annex )?"
    r"(?:table|tab\.|tableau|tabelle|tabla|tabela|tabella|tabel|таблица|表)\s*(?:no\.?\s*)?"
    r"(?-i:(?P<number>[A-Z]{0,2}[.\-–]?\d{1,4}(?:[.\-–]\d{1,4})*[a-z]?"
    r"|[IVXL]{1,6}(?![A-Za-z])|[A-Z](?![A-Za-z])))"
    r"(?=[\s.:;()\[\]—–-]|$)"
    r"(?!\s+(?:shows?|lists?|gives?|presents?|summari[sz]es|describes?|compares?|contains?|"
    r"provides?|reports?|details?|illustrates?|demonstrates?|and|or|is|are|was|were|in|on|we|"
    r"the|below|above|also|can|has|have|to|with)\b)",
    re.IGNORECASE,
)


def number(caption: str) -> str:
    """Return the number that a caption gives its table ("2", "A.1", "IV"), else an empty text."""
    start = CAPTION.match(_bare(caption))
    return start["number"].strip("-–.") if start else ""


def header_rows(rows: Rows, spans: Sequence[Span] = ()) -> int:
    """Return the number of header rows at the top: 0 where the first row looks like data."""
    if not rows or _is_data(rows[0], rows[1 : _SAMPLE + 1]):
        return 0
    if len(rows) > 3 and not spans and _names_groups(rows):
        return 2
    width = len(rows[0])
    top = [min(s.rows, _DEEPEST) for s in spans if s.row == 0 and s.rows < len(rows)]
    depth = max(top, default=1)
    while depth < min(len(rows) - 1, _DEEPEST):
        above = [s for s in spans if s.row + s.rows == depth and 1 < s.columns < width]
        if not above or _is_data(rows[depth], rows[depth + 1 : depth + _SAMPLE]):
            break
        free = set(range(width)) - {column for s in above for _, column in places_of(s)}
        if any(rows[depth][at].strip() and rows[depth][at] != rows[depth - 1][at] for at in free):
            break  # a text below a name that is not merged is a value
        depth += 1
    return depth


def _names_groups(rows: Rows) -> bool:
    """Return whether a first row with gaps names groups of the columns that the second names."""
    groups, names, *below = (list(map(str.strip, row)) for row in rows[: _SAMPLE + 2])
    under = [at for at, group in enumerate(groups) if at and not group]
    words = [name for name in names if name]
    return (
        bool(under)
        and len(set(words)) == len(words)
        and all(any(map(str.isalpha, word)) and not is_value(word) for word in words)
        and all(names[at] and column_type(row[at] for row in below) != "text" for at in under)
    )


def table_of(rows: Rows, spans: Iterable[Span], caption: str = "") -> SourceTable | None:
    """Return a table without empty rows and columns, titles as its caption; None if all are."""
    rows, merged = trimmed(rows, spans)
    if not rows:
        return None
    over_all = {s.row: s.rows for s in merged if s.columns == len(rows[0]) > 1}
    count = 0
    while count in over_all and count + over_all[count] < len(rows) - 1:
        count += over_all[count]
    texts = list(dict.fromkeys(_spaced(row[0]) for row in rows[:count]))
    parts = texts if caption in texts else [caption, *texts]
    below = tuple(map(tuple, rows[count:]))
    merged = [replace(s, row=s.row - count) for s in merged if s.row >= count]
    return SourceTable(
        below,
        header_rows(below, merged),
        ". ".join(part.rstrip(".") for part in parts if part) if count else caption,
        next(filter(None, map(number, (caption, *texts))), ""),
        spans=tuple(merged),
    )


def trimmed(rows: Rows, spans: Iterable[Span]) -> tuple[list[list[str]], list[Span]]:
    """Return rows and the merged cells in them without empty rows and columns."""
    down = [at for at, row in enumerate(rows) if any(text.strip() for text in row)]
    across = sorted({at for row in rows for at, text in enumerate(row) if text.strip()})
    return picked(rows, spans, down, across)


def picked(
    rows: Rows, spans: Iterable[Span], down: Sequence[int], across: Sequence[int]
) -> tuple[list[list[str]], list[Span]]:
    """Return some of the rows and columns, with the merged cells in them, which keep their text."""
    grid = [[rows[at][c] if c < len(rows[at]) else "" for c in across] for at in down]
    merged = []
    for s in spans:
        top, bottom = bisect_left(down, s.row), bisect_left(down, s.row + s.rows)
        left, right = bisect_left(across, s.column), bisect_left(across, s.column + s.columns)
        row, column = max(s.row, 0), max(s.column, 0)
        if top < bottom and left < right and column < len(rows[row]):
            grid[top][left] = rows[row][column]
            if (bottom - top) * (right - left) > 1 and grid[top][left].strip():
                merged.append(Span(top, left, bottom - top, right - left))
    return grid, merged


def captioned(text: str, tables: Sequence[SourceTable]) -> tuple[SourceTable, ...]:
    """Return the tables with the captions right above or below them in the text."""
    ends = [0, *(table.end for table in tables)]
    starts = [*(table.start for table in tables), len(text)]
    own = [*(table.caption for table in tables), ""]  # is above its table in the text
    above, below = [], []  # at i: the last and the first line of the gap before table i
    for start, end, caption in zip(ends, starts, own, strict=True):
        before = text[max(start, end - 2 * _LONGEST) : end].rstrip()
        above.append(_title_line(before.removesuffix(caption), -1))
        below.append(_title_line(text[start : min(end, start + 2 * _LONGEST)], 0))
    is_below = not above[0] and bool(below[-1])
    for at in range(1, len(tables)):
        if above[at] == below[at]:  # a lone line is for the table on whose side captions are
            (above if is_below else below)[at] = ""
    named = []
    for table, over, under in zip(tables, above, below[1:], strict=False):
        line = (under or over) if is_below else (over or under)
        if line and not table.number:
            parts = [line.rstrip("."), table.caption] if table.caption else [line]
            table = replace(table, caption=". ".join(parts), number=number(line))
        named.append(table)
    return tuple(named)


def _title_line(text: str, at: int) -> str:
    """Return the first or last line of a text if it is a caption."""
    lines = text.strip().splitlines()
    line = _bare(lines[at]) if lines else ""
    return line if len(line) <= _LONGEST and CAPTION.match(line) else ""


def _bare(text: str) -> str:
    """Return a line without Markdown's marks around it and at the caption's number."""
    bare = text.strip().lstrip("#> \t")
    for _ in range(2):  # bold italics
        bare = _EMPHASIS.sub(r"\2", bare)
    return " ".join(bare.rstrip("# ").split())


def is_value(text: str) -> bool:
    """Return whether a text is a bare number, a date or so; "1990s" and "2nd" name columns."""
    type_ = typed(text).type
    return type_ != "text" and (type_ != "number" or bool(_BARE_NUMBER.fullmatch(text.strip())))


def _is_data(first: Sequence[str], rest: Rows) -> bool:
    """Return whether a first row has values like those below it rather than names."""
    cells = [(at, text) for at, text in enumerate(first) if text.strip()]
    if not cells:
        return True
    # Where a later row has most of its texts, the first row is a repeated header.
    if any(2 * sum(row[at] == text for at, text in cells) > len(cells) for row in rest):
        return False
    words = [(at, text) for at, text in cells if not is_value(text)]
    again = sum(any(row[at] == text for row in rest) for at, text in words)
    values = [(at, text) for at, text in cells if is_value(text)]
    if 2 * again > len(words):
        return True
    # Two numbers may be years of data; above a column of labels they are names.
    is_header = bool(words) or len(values) > 2 or not first[0].strip()
    if not values or (is_header and _are_names([text for _, text in values])):
        return False
    return not words or any(
        typed(text).type == column_type(row[at] for row in rest) and not _are_names([text])
        for at, text in values
    )


def _are_names(texts: Sequence[str]) -> bool:
    """Return whether numbers in a first row may name columns: years, or 1, 2, 3."""
    if not all(text.isdecimal() and len(text) < 9 for text in texts):
        return False
    numbers = list(map(int, texts))
    counted = [list(range(first, first + len(numbers))) for first in (0, 1)]
    return numbers in counted or all(1000 <= value <= 2100 for value in numbers)


# --- Blocks of text, and titles ---

_GAP = "\n\n"
#: Titles that programs give a file: what they are, a part of it, a file's name, a number.
_MADE_UP = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel)|powerpoint|untitled)\b.*|.{0,20} powerpoint"
    r"|(?:word |excel )?(?:document|presentation|workbook|book|slide|print|layout)[ _-]?\d*"
    r"|.*\.[a-z]\w{1,3}|(?=[\w-]*?\d{4})[\w-]++",
    re.IGNORECASE,
)
#: Words in the place of a title, also alone in brackets, as "(anonymous)".
_PLACEHOLDER = re.compile(
    r"[(\[<{].*[)\]>}]|\W*|(?:anonymous|no|none|null|nil|title|unknown|unnamed|untitled"
    r"|unspecified|unbenannt|ohne titel|sans titre|sin t[ií]tulo|sem t[ií]tulo|senza titolo"
    r"|zonder titel|無題|无标题)(?: (?:document|title|\d+))?",
    re.IGNORECASE,
)


class Blocks:
    """Join paragraphs and tables with an empty line between; tables are written as Markdown."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.length = 0
        self.tables: list[SourceTable] = []
        self.left_out: list[str] = []

    @property
    def text(self) -> str:
        """Return the text so far; the last block ends it."""
        return "".join(self._parts).removesuffix(_GAP)

    def add(self, text: str) -> None:
        """Add a paragraph; an empty one adds nothing."""
        if text := text.strip():
            self._parts += (text, _GAP)
            self.length += len(text) + len(_GAP)

    def add_table(self, table: SourceTable) -> None:
        """Add a table: its caption, unless it is the text just before, and its Markdown."""
        if table.caption and table.caption not in self._parts[-2:]:
            self.add(table.caption)
        shown = markdown(table)
        self.tables.append(replace(table, start=self.length, end=self.length + len(shown)))
        self.add(shown)

    def document(self, where: str, title: str = "", **more: Any) -> SourceDocument:
        """Return a document of all that was added and left out."""
        more |= {"tables": tuple(self.tables), "left_out": tuple(self.left_out)}
        return SourceDocument(title, self.text, where, **more)


def counted(element: Any, name: str) -> int:
    """Return the number that an attribute gives, 1 where there is none."""
    value = str(element.get(name, "")).strip()
    return int(value) if value.isdecimal() and len(value) < 13 else 1


def hidden_parts(count: int) -> tuple[str, ...]:
    """Return what is said of hidden parts that are left out of a document, nothing for none."""
    return (f"{count:,} hidden part{' is' if count == 1 else 's are'} left out",) if count else ()


def named(title: str) -> str:
    """Return a title, an empty text for one that only holds its place."""
    return "" if _PLACEHOLDER.fullmatch(title.strip()) else title


def given_title(said: object) -> str:
    """Return the title in a file's properties, empty for none and for one that a program made."""
    title = " ".join(str(said or "").replace("\x00", "").split())
    is_title = title.isprintable() and len(title) <= 300 and not _MADE_UP.fullmatch(title)
    return named(title) if is_title else ""
