"""Read the sheets of Excel files, each as one table."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import IO, Any, NamedTuple

from kgp_neo4j.corpus.load.blocks import Blocks
from kgp_neo4j.corpus.load.grid import header_rows, is_value, number, titled, trimmed
from kgp_neo4j.text.values import column_type
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceTable, Span

__all__ = [
    "MOST_CELLS",
    "read_old_sheets",
    "read_sheets",
    "shown_value",
    "tables_of_sheet",
    "title_rows",
    "too_large",
]

#: Cells of one file at most, empty ones between others too: a cell in the last corner makes a sheet
#: large.
MOST_CELLS = 10_000_000
_SAMPLE = 200

Grid = list[list[str]]


def tables_of_sheet(
    rows: Sequence[Sequence[str]], merged: Iterable[Span]
) -> Iterator[tuple[Grid, tuple[Span, ...]]]:
    """Yield rows and merged cells of each table of a sheet, without empty rows and columns.

    A sheet is split into tables only where each has a header of words above a column of values; a
    note or a section below a table stays with it. Raises InputError for too large ones.
    """
    columns = sorted({at for row in rows for at, text in enumerate(row) if text})
    if len(columns) * sum(any(row) for row in rows) > MOST_CELLS:
        raise too_large()
    grid = [
        [row[at] if at < len(row) else "" for at in columns] if any(row) else [] for row in rows
    ]
    spans = list(_filled(grid, columns, merged))
    for top, bottom in _bands(grid):
        body = top + title_rows(grid[top:bottom])
        rows_below = [row for row in grid[body:bottom] if row]
        filled = [at for at in range(len(columns)) if any(row[at] for row in rows_below)]
        gaps = [(a + 1, b) for a, b in pairwise(filled) if columns[b] > columns[a] + 1]
        lefts = [filled[0], *(b for _, b in gaps)]
        rights = [*(a for a, _ in gaps), len(columns)]
        parts = [
            _part(grid, spans, top, bottom, *sides) for sides in zip(lefts, rights, strict=True)
        ]
        crossed = any(
            s.column < at < s.column + s.columns and body <= s.row < bottom
            for s in spans
            for _, at in gaps
        )
        if len(parts) > 1 and not crossed and all(_is_table(part) for part, _ in parts):
            yield from parts
        else:
            yield _part(grid, spans, top, bottom, 0, len(columns))


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows at the top with only one text, which may be merged over columns."""
    count = 0
    while count < len(rows) - 2 and _is_title(rows[count]):
        count += 1
    return count


def too_large() -> InputError:
    """Return the error for sheets of more cells than can be read."""
    what = f"the sheets have more than {MOST_CELLS:,} cells"
    return InputError(what, hint="Save the sheets as .csv files.")


def _is_title(row: Sequence[str]) -> bool:
    return bool(row) and bool(row[0]) and all(text in ("", row[0]) for text in row)


def _filled(grid: Grid, columns: Sequence[int], merged: Iterable[Span]) -> Iterator[Span]:
    """Write each merged cell's text in all its places; yield its place in the grid."""
    place = {column: at for at, column in enumerate(columns)}
    covered = 0
    for span in merged:
        first = place.get(span.column)
        if first is None or span.row >= len(grid) or not grid[span.row]:
            continue
        if not (text := grid[span.row][first]):
            continue
        last = first
        while last + 1 < len(columns) and columns[last + 1] < span.column + span.columns:
            last += 1
        bottom = min(span.row + span.rows, len(grid))
        covered += (bottom - span.row) * len(columns)
        if covered > MOST_CELLS:
            raise too_large()
        for at in range(span.row, bottom):
            grid[at] = grid[at] or [""] * len(columns)
            grid[at][first : last + 1] = [text] * (last + 1 - first)
        if bottom > span.row + 1 or last > first:
            yield Span(span.row, first, bottom - span.row, last + 1 - first)


def _bands(grid: Grid) -> list[tuple[int, int]]:
    """Return first row and end of each part of a sheet, split at empty rows between two tables."""
    made: list[tuple[int, int]] = []
    at = 0
    while at < len(grid):
        if not grid[at]:
            at += 1
            continue
        top = at
        while at < len(grid) and grid[at]:
            at += 1
        if made and not (_is_table(grid[made[-1][0] : made[-1][1]]) and _is_table(grid[top:at])):
            made[-1] = (made[-1][0], at)
        else:
            made.append((top, at))
    return made


def _part(
    grid: Grid, spans: Sequence[Span], top: int, bottom: int, left: int, right: int
) -> tuple[Grid, tuple[Span, ...]]:
    rows = [row[left:right] if row else [""] * (right - left) for row in grid[top:bottom]]
    inside = []
    for s in spans:
        first, last = max(s.column, left), min(s.column + s.columns, right)
        if top <= s.row < bottom and first < last:
            inside.append(Span(s.row - top, first - left, s.rows, last - first))
    return trimmed(rows, inside)


def _is_table(rows: Grid) -> bool:
    """Return whether rows are clearly a table: names in words above values."""
    rows, _ = trimmed([row for row in rows[: _SAMPLE + 1] if row], ())
    rows = rows[title_rows(rows) :]
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    names = [text for text in rows[0] if text]
    if len(names) < 2 or any(map(is_value, names)):
        return False
    below = zip(*rows[1:], strict=True)
    return any(column_type(column) != "text" for column in below)


# --- Number formats ---

#: Colours, conditions, padding and alignment of a number format, which show nothing.
_UNSEEN = re.compile(r"\[(?:[A-Za-z]+\d*|[<>=][^\]]*|\$-[^\]]*)\]|[_*].")
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')
_DIGITS = re.compile(r"[#0?,]*[#0?](?:\.(?P<decimals>[#0?]*))?(?P<exponent>E[+-]0+)?(?P<scale>,*)")


class _Format(NamedTuple):
    before: str
    after: str
    decimals: int
    least: int
    thousands: bool
    percent: bool
    exponent: bool
    scale: int
    digits: int


def shown_value(value: Any, format_: str = "") -> str:
    """Return a cell's value as its number format shows it: "45.3%", "$1,200.00", "3 kg".

    Dates and times come in ISO form, numbers of no special format with up to 15 digits.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
        return value.date().isoformat() if midnight else value.isoformat(" ", "seconds")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if not isinstance(value, int | float):
        return str(value).strip()
    found = _parsed(format_)
    return _number(value, found) if found else _plain(value)


def _plain(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return f"{value:.15g}" if value == value and abs(value) < 1e15 else repr(value)


def _number(value: float, format_: _Format) -> str:
    sign = "-" if value < 0 else ""
    value = abs(value) * (100 if format_.percent else 1) / 1000**format_.scale
    if format_.exponent:
        text = f"{value:.{format_.decimals}E}"
    else:
        # Python rounds a float's exact value; a spreadsheet rounds the value that it shows.
        value = float(f"{value:.15g}")
        grouping = "," if format_.thousands else ""
        text = f"{round(value + value * 1e-15, format_.decimals):{grouping}.{format_.decimals}f}"
        if format_.digits > 1 and not grouping:  # a postcode or another code
            whole, point, rest = text.partition(".")
            text = f"{whole.zfill(format_.digits)}{point}{rest}"
        if format_.decimals > format_.least:
            whole, _, rest = text.partition(".")
            rest = rest[: format_.least] + rest[format_.least :].rstrip("0")
            text = f"{whole}.{rest}" if rest else whole
    if not text.strip("0.,"):
        sign = ""
    return f"{sign}{format_.before}{text}{format_.after}"


@lru_cache(maxsize=1000)
def _parsed(format_: str) -> _Format | None:
    """Return the effect of a number format on a positive number; None where it is a plain one."""
    section = _sections(format_)
    if not section or section.lower() in ("general", "@", "0", "#"):
        return _Format("", "", 0, 0, False, False, False, 0, 1) if section in ("0", "#") else None
    section = _CURRENCY.sub(lambda m: f'"{m[1]}"' if m[1] else "", section)
    section = _UNSEEN.sub("", section)
    quoted: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quoted.append(found[1] if found[1] is not None else found[2])
        return chr(0xE000 + len(quoted) - 1)

    bare = _QUOTED.sub(keep, section)
    digits = _DIGITS.search(bare)
    if not digits or len(quoted) > 100:
        return None
    around = [bare[: digits.start()], bare[digits.end() :]]
    if re.search(r"[#0?/A-Za-z@]", re.sub(r"[A-Z]{3}", "", "".join(around))):
        return None  # a fraction, a date, or a format in several parts
    percent = any("%" in part for part in around)
    before, after = (
        "".join(quoted[ord(c) - 0xE000] if 0 <= ord(c) - 0xE000 < len(quoted) else c for c in part)
        for part in around
    )
    if before.strip().startswith("(") and after.strip().startswith(")"):
        before, after = before.replace("(", "", 1), after.replace(")", "", 1)
    decimals = digits["decimals"] or ""
    core = digits[0].rstrip(",") if digits["scale"] else digits[0]
    return _Format(
        before=before.lstrip(),
        after=after.rstrip(),
        decimals=min(len(decimals), 30),
        least=min(len(decimals.rstrip("#?")), 30),
        thousands="," in core.partition(".")[0],
        percent=percent,
        exponent=bool(digits["exponent"]),
        scale=min(len(digits["scale"]), 9),
        digits=min(core.partition(".")[0].count("0"), 30),
    )


def _sections(format_: str) -> str:
    """Return the first section of a format; a quoted semicolon ends none."""
    return re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', format_, maxsplit=1)[0].strip()[:200]


# --- Sheets ---

Sheets = tuple[str, tuple[SourceTable, ...], tuple[str, ...]]

_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]+)(\d+):([A-Z]+)(\d+)\"")
_UNSOLVED = re.compile(
    rb"<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>|</(?:\w+:)?c>)"
)
_CHUNK = 1 << 20


def read_sheets(data: bytes) -> Sheets:
    """Return text, tables and what was left out of an .xlsx file.

    A sheet is a table with the sheet's name as its title; values are written as the sheet shows
    them, results of formulas as they were stored.
    """
    from openpyxl import load_workbook

    blocks, left_out = Blocks(), []
    visited = 0
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        parts = _sheet_parts(package)
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # the declared size may be wrong
            rows = []
            for row in sheet.iter_rows():
                visited += len(row) + 1
                if visited > MOST_CELLS:
                    raise too_large()
                rows.append([shown_value(c.value, _format(c)) for c in row])
            merged, unsolved = _scanned(package, parts.get(sheet.title))
            _add_sheet(blocks, sheet.title, rows, merged)
            if unsolved:
                left_out.append(
                    f'sheet "{sheet.title}": {unsolved:,} formulas without a stored result (open '
                    "and save it in a spreadsheet program)"
                )
    return blocks.text, tuple(blocks.tables), tuple(left_out)


def read_old_sheets(data: bytes) -> Sheets:
    """Return text, tables and what was left out of an .xls file."""
    import xlrd

    try:
        # Files before Excel 97 do not show the formats.
        book = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        encrypted = "encrypted" in str(error).lower()
        what = "the file is encrypted" if encrypted else f"this is no Excel file ({error})"
        hint = "Give a copy that is saved without a password." if encrypted else None
        raise InputError(what, hint=hint) from error
    blocks = Blocks()
    for sheet in book.sheets():
        rows = [
            [_old_value(book, sheet.cell(row, column)) for column in range(sheet.row_len(row))]
            for row in range(sheet.nrows)
        ]
        merged = [
            Span(top, left, bottom - top, right - left)
            for top, bottom, left, right in sheet.merged_cells
        ]
        _add_sheet(blocks, sheet.name, rows, merged)
    return blocks.text, tuple(blocks.tables), ()


def _old_value(book: Any, cell: Any) -> str:
    import xlrd

    value = cell.value
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            value = xlrd.xldate.xldate_as_datetime(value, book.datemode)
            if cell.value < 1:
                value = value.time()
        except (ValueError, OverflowError):  # a number formatted as a date that is none
            value = cell.value
    elif cell.ctype == xlrd.XL_CELL_BOOLEAN:
        value = bool(value)
    elif cell.ctype == xlrd.XL_CELL_ERROR:
        value = xlrd.error_text_from_code.get(value, "#ERROR")
    format_ = ""
    if cell.xf_index is not None and cell.xf_index < len(book.xf_list):
        found = book.format_map.get(book.xf_list[cell.xf_index].format_key)
        format_ = found.format_str if found else ""
    return shown_value(value, format_)


def _format(cell: Any) -> str:
    return str(cell.number_format) if isinstance(cell.value, int | float) else ""


def _add_sheet(
    blocks: Blocks, name: str, rows: Sequence[Sequence[str]], merged: Iterable[Span]
) -> None:
    """Add the contents of a sheet: one table, or several where empty rows or columns
    separate them.
    """
    for count, (part, spans) in enumerate(tables_of_sheet(rows, merged), 1):
        table = _table(part, spans)
        title = table.caption or (f"{count}" if count > 1 else "")
        blocks.add_table(replace(table, caption=f"{name}: {title}" if title else name))


def _table(rows: list[list[str]], spans: tuple[Span, ...]) -> SourceTable:
    count = title_rows(rows) if len(rows[0]) > 2 else 0
    title = ". ".join(row[0].rstrip(".") for row in rows[:count])
    rows = rows[count:]
    spans = tuple(replace(s, row=s.row - count) for s in spans if s.row >= count)
    made = titled(
        SourceTable(
            rows=tuple(map(tuple, rows)),
            header_rows=0,
            caption=title,
            number=number(title),
            spans=spans,
        )
    )
    return replace(made, header_rows=header_rows(made.rows, made.spans))


def _sheet_parts(package: zipfile.ZipFile) -> dict[str, str]:
    """Return where in the file each sheet is, by its title."""
    from openpyxl.reader.workbook import WorkbookParser

    part = "xl/workbook.xml"
    if part not in package.namelist():
        return {}
    parser = WorkbookParser(package, part, keep_links=False)
    parser.parse()
    return {sheet.name: rel.target for sheet, rel in parser.find_sheets()}


def _scanned(package: zipfile.ZipFile, part: str | None) -> tuple[list[Span], int]:
    """Return a sheet's merged cells and the number of formulas without a result."""
    merged: list[Span] = []
    unsolved = 0
    if part is None or part not in package.namelist():
        return merged, unsolved
    with package.open(part) as file:
        for piece in _pieces(file):
            unsolved += len(_UNSOLVED.findall(piece))
            for left, top, right, bottom in _MERGED.findall(piece):
                row, column = int(top) - 1, _column(left)
                merged.append(Span(row, column, int(bottom) - row, _column(right) - column + 1))
    return merged, unsolved


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a sheet's XML in pieces that end between two cells."""
    rest = b""
    while chunk := file.read(_CHUNK):
        cut = chunk.rfind(b"><") + 1
        while cut and not chunk.startswith((b"<c ", b"<row", b"<mergeCell "), cut):
            cut = chunk.rfind(b"><", 0, cut - 1) + 1
        if cut:
            yield rest + chunk[:cut]
            rest = chunk[cut:]
        else:
            rest += chunk
    yield rest


def _column(letters: bytes) -> int:
    made = 0
    for letter in letters:
        made = made * 26 + letter - 64
    return made - 1
