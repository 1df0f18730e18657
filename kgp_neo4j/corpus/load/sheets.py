"""Read the sheets of Excel files, each as one table."""

from __future__ import annotations

import datetime as dt
import io
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple
from xml.etree import ElementTree

from kgp_neo4j.corpus.load.contents import Blocks
from kgp_neo4j.corpus.load.grid import is_value, table_of, trimmed
from kgp_neo4j.text.values import column_type
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceTable, Span

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
            rows.append([shown_value(c.value, c.number_format) for c in row])
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
        with suppress(ValueError, OverflowError):  # a number formatted as a date that is none
            date = xlrd.xldate.xldate_as_datetime(value, book.datemode)
            value = date.time() if value < 1 else date
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
    for count, table in enumerate(_tables(*_compact(rows, merged)), 1):
        title = table.caption or (f"{count}" if count > 1 else "")
        blocks.add_table(replace(table, caption=f"{name}: {title}" if title else name))


def _compact(rows: Rows, merged: Iterable[Span]) -> tuple[Rows, list[Span]]:
    """Return a sheet as rows of one length, with one empty row or column in the place of several.

    A merged cell's text is in all its places, but a space in a column that is empty otherwise.
    Raises InputError for a sheet that is too large.
    """
    down = {at for at, row in enumerate(rows) if any(row)}
    across = {at for row in rows for at, text in enumerate(row) if text}
    filled = [
        replace(s, rows=min(s.rows, len(rows) - s.row))
        for s in merged
        if s.row < len(rows) and s.column < len(rows[s.row]) and rows[s.row][s.column]
    ]
    if len(across) * (len(down) + sum(s.rows for s in filled)) > MOST_CELLS:
        raise _too_large()
    down.update(at for s in filled for at in range(s.row, s.row + s.rows))
    lines = sorted(down | {at + 1 for at in down})
    columns = sorted(across | {at + 1 for at in across})
    rows = [*rows, []]
    grid = [[rows[at][c] if c < len(rows[at]) else "" for c in columns] for at in lines]
    spans = []
    for s in filled:
        top, left = bisect_left(lines, s.row), bisect_left(columns, s.column)
        right = bisect_left(columns, s.column + s.columns)
        texts = [grid[top][left] if at in across else " " for at in columns[left:right]]
        for row in grid[top : top + s.rows]:
            row[left:right] = texts
        spans.append(Span(top, left, s.rows, right - left))
    return grid, spans


def _too_large() -> InputError:
    what = f"the sheets have more than {MOST_CELLS:,} cells"
    return InputError(what, hint="Save the sheets as .csv files.")


def _tables(grid: Rows, spans: Sequence[Span]) -> Iterator[SourceTable]:
    """Yield the tables of a sheet.

    A sheet is split only between tables that have a header of words above a column of values; a
    note or a section below a table stays with it.
    """
    for top, bottom in _parts(grid, lambda start, end: _is_table(grid[start:end])):
        shifted = [replace(s, row=s.row - top) for s in spans]
        yield from _side_by_side(grid[top:bottom], shifted)


def _side_by_side(rows: Rows, spans: Iterable[Span]) -> Iterator[SourceTable]:
    """Yield the tables that begin in the same row."""
    columns = list(zip(*rows[_title_rows(rows) :], strict=True))
    sides = _parts(columns, lambda start, end: _is_table([row[start:end] for row in rows]))
    for left, right in sides if len(sides) > 1 else [(0, len(columns))]:
        part, shifted = trimmed(
            [row[left:right] for row in rows], [replace(s, column=s.column - left) for s in spans]
        )
        width = len(part[0])
        titles = [Span(at, 0, 1, width) for at in range(_title_rows(part))] if width > 2 else []
        if table := table_of(part, (*titles, *shifted)):
            yield table


def _parts(
    lines: Sequence[Sequence[str]], is_table: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    """Return start and end of each part of a sheet, cut at empty lines between two tables."""
    parts: list[tuple[int, int]] = []
    for is_filled, run in groupby(range(len(lines)), key=lambda at: any(lines[at])):
        if is_filled:
            places = list(run)
            start, end = places[0], places[-1] + 1
            if parts and not (is_table(*parts[-1]) and is_table(start, end)):
                start = parts.pop()[0]
            parts.append((start, end))
    return parts


def _title_rows(rows: Rows) -> int:
    """Return the number of rows at the top with only one text, which may be merged over columns."""
    count = 0
    for row in rows[:-2]:
        if not row[0] or not {text.strip() for text in row} <= {"", row[0]}:
            break
        count += 1
    return count


def _is_table(rows: Rows) -> bool:
    """Return whether rows are clearly a table: names in words above values."""
    rows, _ = trimmed([row for row in rows[: _SAMPLE + 1] if any(row)], ())
    names, *below = rows[_title_rows(rows) :] or [[]]
    names = list(filter(None, names))
    is_named = len(names) > 1 and not any(map(is_value, names))
    return is_named and any(column_type(column) != "text" for column in zip(*below, strict=True))


# --- Number formats ---

#: The parts of a number format: text in quotes or after a backslash, a currency, what shows nothing
#: (colours, conditions, padding, alignment), the digits, and other characters.
_PARTS = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]'
    r"|(?P<unseen>\[[^\]]*\]|[_*].)"
    r"|(?P<whole>[#0,]*[#0])(?:\.(?P<decimals>0*))?|(?P<other>.)",
    re.DOTALL,
)


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
    if shape := _parsed(format_):
        shown = float(f"{abs(value) * (100 if shape.is_share else 1):.15g}")
        # Python rounds a float's exact value; a spreadsheet rounds the value that it shows.
        text = format(round(shown + shown * 1e-15, shape.decimals), shape.digits)
        sign = "-" if value < 0 and text.strip("0.,") else ""
        return f"{sign}{shape.before}{text}{shape.after}"
    if isinstance(value, int):
        return str(value)
    return f"{value:.15g}" if value == value and abs(value) < 1e15 else repr(value)


class _Format(NamedTuple):
    """What a number format shows before and after the digits, and these as Python formats them."""

    before: str
    after: str
    digits: str
    decimals: int
    is_share: bool


@lru_cache(maxsize=1000)
def _parsed(format_: str) -> _Format | None:
    """Return the effect of a number format on a positive number.

    None where it is plain, and for what is rare: fractions, exponents, thousands left out.
    """
    # A quoted semicolon ends no section.
    section = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', format_, maxsplit=1)[0].strip()[:200]
    around, bare, digits = ["", ""], "", None
    for part in _PARTS.finditer(section):
        if part["whole"]:
            if digits:
                return None
            digits = part
        else:
            literal = part["quoted"] or part["escaped"] or part["currency"] or part["other"] or ""
            around[digits is not None] += literal
            bare += part["other"] or " "
    if not digits or re.search(r"[/?,(A-Za-z@]", re.sub(r"[A-Z]{3}", "", bare)):
        return None
    whole, decimals = digits["whole"], min(len(digits["decimals"] or ""), 30)
    # A postcode or another code has zeros in front.
    grouping = "," if "," in whole else f"0{min(whole.count('0'), 30) + decimals + bool(decimals)}"
    before, after = around[0].lstrip(), around[1].rstrip()
    return _Format(before, after, f"{grouping}.{decimals}f", decimals, "%" in bare)
