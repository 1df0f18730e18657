"""Read the sheets of Excel files, each as one table."""

from __future__ import annotations

import datetime as dt
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple
from xml.etree import ElementTree

from kgp_neo4j.corpus.load.contents import Blocks
from kgp_neo4j.corpus.load.grid import header_rows, is_value, number, titled, trimmed
from kgp_neo4j.text.values import column_type
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceTable, Span

__all__ = ["MOST_CELLS", "read_old_sheets", "read_sheets", "shown_value"]

#: Cells of one file at most, empty ones between others too: a cell in the last corner makes a sheet
#: large.
MOST_CELLS = 10_000_000
_SAMPLE = 200

Rows = list[list[str]]


def read_sheets(data: bytes, where: str) -> SourceDocument:
    """Return text, tables and what was left out of an .xlsx file.

    A sheet is a table with the sheet's name as its title; values are written as the sheet shows
    them, results of formulas as they were stored.
    """
    from openpyxl import load_workbook

    blocks, left_out = Blocks(), []
    visited = 0
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # the declared size may be wrong
        rows = []
        for row in sheet.iter_rows():
            visited += len(row) + 1
            if visited > MOST_CELLS:
                raise _too_large()
            rows.append([shown_value(c.value, _format(c)) for c in row])
        merged, unsolved = _merged_cells(sheet)
        _add_sheet(blocks, sheet.title, rows, merged)
        if unsolved:
            left_out.append(
                f'sheet "{sheet.title}": {unsolved:,} formulas without a stored result (open '
                "and save it in a spreadsheet program)"
            )
    return SourceDocument(
        "", blocks.text, where, tables=tuple(blocks.tables), left_out=tuple(left_out)
    )


def _format(cell: Any) -> str:
    return str(cell.number_format) if isinstance(cell.value, int | float) else ""


def _merged_cells(sheet: Any) -> tuple[list[Span], int]:
    """Return a sheet's merged cells and the number of formulas without a result.

    openpyxl gives neither of a sheet that is read row by row, as large ones must be.
    """
    from openpyxl.utils import range_boundaries

    merged: list[Span] = []
    unsolved = 0
    with sheet._get_source() as file:
        for _, part in ElementTree.iterparse(file):
            name = part.tag.rpartition("}")[2]
            if name == "mergeCell":
                left, top, right, bottom = range_boundaries(part.get("ref", ""))
                if left and top and right and bottom:
                    merged.append(Span(top - 1, left - 1, bottom - top + 1, right - left + 1))
            elif name == "c":
                values = {child.tag.rpartition("}")[2]: child.text for child in part}
                unsolved += "f" in values and not (values.get("v") or "").strip()
            if name in ("c", "row"):
                part.clear()
    return merged, unsolved


def read_old_sheets(data: bytes, where: str) -> SourceDocument:
    """Return text and tables of an .xls file."""
    import xlrd

    try:
        # Files before Excel 97 do not show the formats.
        book = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        if "encrypted" not in str(error).lower():
            raise InputError(f"this is no Excel file ({error})") from error
        hint = "Give a copy that is saved without a password."
        raise InputError("the file is encrypted", hint=hint) from error
    blocks = Blocks()
    for sheet in book.sheets():
        rows = [[_old_value(book, cell) for cell in row] for row in sheet.get_rows()]
        merged = [
            Span(top, left, bottom - top, right - left)
            for top, bottom, left, right in sheet.merged_cells
        ]
        _add_sheet(blocks, sheet.name, rows, merged)
    return SourceDocument("", blocks.text, where, tables=tuple(blocks.tables))


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
        known = book.format_map.get(book.xf_list[cell.xf_index].format_key)
        format_ = known.format_str if known else ""
    return shown_value(value, format_)


# --- Tables of a sheet ---


def _add_sheet(blocks: Blocks, name: str, rows: Rows, merged: Iterable[Span]) -> None:
    """Add the contents of a sheet, a table or several that are apart."""
    for count, (part, spans) in enumerate(_tables_of_sheet(rows, merged), 1):
        table = _table(part, spans)
        title = table.caption or (f"{count}" if count > 1 else "")
        blocks.add_table(replace(table, caption=f"{name}: {title}" if title else name))


def _table(rows: Rows, spans: tuple[Span, ...]) -> SourceTable:
    count = _title_rows(rows) if len(rows[0]) > 2 else 0
    title = ". ".join(row[0].rstrip(".") for row in rows[:count])
    table = titled(
        SourceTable(
            rows=tuple(map(tuple, rows[count:])),
            header_rows=0,
            caption=title,
            number=number(title),
            spans=tuple(replace(s, row=s.row - count) for s in spans if s.row >= count),
        )
    )
    return replace(table, header_rows=header_rows(table.rows, table.spans))


def _tables_of_sheet(
    rows: Sequence[Sequence[str]], merged: Iterable[Span]
) -> Iterator[tuple[Rows, tuple[Span, ...]]]:
    """Yield rows and merged cells of each table of a sheet, without empty rows and columns.

    A sheet is split into tables only where each has a header of words above a column of values; a
    note or a section below a table stays with it. Raises InputError for too large ones.
    """
    columns = sorted({at for row in rows for at, text in enumerate(row) if text})
    if len(columns) * sum(any(row) for row in rows) > MOST_CELLS:
        raise _too_large()
    grid = [
        [row[at] if at < len(row) else "" for at in columns] if any(row) else [] for row in rows
    ]
    spans = list(_filled(grid, columns, merged))
    for top, bottom in _bands(grid):
        body = top + _title_rows(grid[top:bottom])
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


def _title_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows at the top with only one text, which may be merged over columns."""
    count = 0
    while count < len(rows) - 2 and _is_title(rows[count]):
        count += 1
    return count


def _too_large() -> InputError:
    what = f"the sheets have more than {MOST_CELLS:,} cells"
    return InputError(what, hint="Save the sheets as .csv files.")


def _is_title(row: Sequence[str]) -> bool:
    return bool(row) and bool(row[0]) and all(text in ("", row[0]) for text in row)


def _filled(grid: Rows, columns: Sequence[int], merged: Iterable[Span]) -> Iterator[Span]:
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
            raise _too_large()
        for at in range(span.row, bottom):
            grid[at] = grid[at] or [""] * len(columns)
            grid[at][first : last + 1] = [text] * (last + 1 - first)
        if bottom > span.row + 1 or last > first:
            yield Span(span.row, first, bottom - span.row, last + 1 - first)


def _bands(grid: Rows) -> list[tuple[int, int]]:
    """Return first row and end of each part of a sheet, split at empty rows between two tables."""
    bands: list[tuple[int, int]] = []
    for is_filled, rows in groupby(enumerate(grid), key=lambda row: bool(row[1])):
        if is_filled:
            places = [at for at, _ in rows]
            top, bottom = places[0], places[-1] + 1
            if bands and not (_is_table(grid[slice(*bands[-1])]) and _is_table(grid[top:bottom])):
                top = bands.pop()[0]
            bands.append((top, bottom))
    return bands


def _part(
    grid: Rows, spans: Sequence[Span], top: int, bottom: int, left: int, right: int
) -> tuple[Rows, tuple[Span, ...]]:
    rows = [row[left:right] if row else [""] * (right - left) for row in grid[top:bottom]]
    inside = []
    for s in spans:
        first, last = max(s.column, left), min(s.column + s.columns, right)
        if top <= s.row < bottom and first < last:
            inside.append(Span(s.row - top, first - left, s.rows, last - first))
    return trimmed(rows, inside)


def _is_table(rows: Rows) -> bool:
    """Return whether rows are clearly a table: names in words above values."""
    rows, _ = trimmed([row for row in rows[: _SAMPLE + 1] if row], ())
    rows = rows[_title_rows(rows) :]
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    names = [text for text in rows[0] if text]
    if len(names) < 2 or any(map(is_value, names)):
        return False
    below = zip(*rows[1:], strict=True)
    return any(column_type(column) != "text" for column in below)


# --- Number formats ---

#: The parts of a number format: text in quotes or after a backslash, a currency, what shows nothing
#: (colours, conditions, padding, alignment), the digits, and other characters.
_PARTS = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|(?P<unseen>\[(?:[A-Za-z]+\d*|[<>=][^\]]*)\]|[_*].)"
    r"|(?P<digits>(?P<whole>[#0?,]*[#0?])(?:\.(?P<decimals>[#0?]*))?(?P<exponent>E[+-]0+)?(?P<scale>,*))"
    r"|(?P<other>.)",
    re.DOTALL,
)


class _Format(NamedTuple):
    before: str
    after: str
    decimals: int = 0
    least: int = 0
    thousands: bool = False
    percent: bool = False
    exponent: bool = False
    scale: int = 0
    digits: int = 1


def shown_value(value: Any, format_: str = "") -> str:
    """Return a cell's value as its number format shows it: "45.3%", "$1,200.00", "3 kg".

    Dates and times come in ISO form, numbers of no special format with up to 15 digits.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        is_midnight = value.time().replace(microsecond=0) == dt.time()
        return value.date().isoformat() if is_midnight else value.isoformat(" ", "seconds")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if not isinstance(value, int | float):
        return str(value).strip()
    if parsed := _parsed(format_):
        return _number(value, parsed)
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
        whole, point, rest = text.partition(".")
        if format_.digits > 1 and not grouping:  # a postcode or another code
            whole = whole.zfill(format_.digits)
        if format_.decimals > format_.least:
            rest = rest[: format_.least] + rest[format_.least :].rstrip("0")
        text = f"{whole}{point}{rest}" if rest else whole
    if not text.strip("0.,"):
        sign = ""
    return f"{sign}{format_.before}{text}{format_.after}"


@lru_cache(maxsize=1000)
def _parsed(format_: str) -> _Format | None:
    """Return the effect of a number format on a positive number; None where it is a plain one."""
    # A quoted semicolon ends no section.
    section = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', format_, maxsplit=1)[0].strip()[:200]
    if section in ("0", "#"):
        return _Format("", "")
    if not section or section.lower() in ("general", "@"):
        return None
    around, bare, digits = ["", ""], "", None
    for part in _PARTS.finditer(section):
        if part["digits"]:
            if digits:
                return None  # a fraction, or a format in several parts
            digits = part
        else:
            literal = part["quoted"] or part["escaped"] or part["currency"] or part["other"] or ""
            around[digits is not None] += literal
            bare += part["other"] or " "
    if not digits or re.search(r"[/A-Za-z@]", re.sub(r"[A-Z]{3}", "", bare)):
        return None  # a date
    before, after = around
    if before.strip().startswith("(") and after.strip().startswith(")"):
        before, after = before.replace("(", "", 1), after.replace(")", "", 1)
    decimals = digits["decimals"] or ""
    return _Format(
        before=before.lstrip(),
        after=after.rstrip(),
        decimals=min(len(decimals), 30),
        least=min(len(decimals.rstrip("#?")), 30),
        thousands="," in digits["whole"],
        percent="%" in bare,
        exponent=bool(digits["exponent"]),
        scale=min(len(digits["scale"]), 9),
        digits=min(digits["whole"].count("0"), 30),
    )
