"""Reads the sheets of Excel files, each as one table."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import IO, Any

from kgp_neo4j.errors import InputError
from kgp_neo4j.load.blocks import Blocks
from kgp_neo4j.load.heads import header_rows, number, titled
from kgp_neo4j.load.office_numbers import shown_value
from kgp_neo4j.load.sheet_tables import MOST_CELLS, tables_of_sheet, title_rows, too_large
from kgp_neo4j.structures import SourceTable, Span

__all__ = ["read_old_sheets", "read_sheets"]

Sheets = tuple[str, tuple[SourceTable, ...], tuple[str, ...]]

_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"([A-Z]+)(\d+):([A-Z]+)(\d+)\"")
_UNSOLVED = re.compile(
    rb"<(?:\w+:)?f\b[^>]*(?:/>|>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>|</(?:\w+:)?c>)"
)
_CHUNK = 1 << 20


def read_sheets(data: bytes) -> Sheets:
    """Return text, tables and what was left out of an .xlsx file.

    A sheet is a table that its name entitles; values are written as the sheet shows them, results
    of formulas as they were stored.
    """
    from openpyxl import load_workbook

    blocks, left_out = Blocks(), []
    visited = 0
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        parts = _sheet_parts(package)
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a file says of its size need not be so
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
        # Of files before Excel 97 the formats cannot be told.
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
        except (ValueError, OverflowError):  # a number that is no date, formatted as one
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
    """Add what a sheet holds: one table, or several where empty rows or columns part them."""
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
    """Return where in the file each sheet lies, by its title."""
    from openpyxl.reader.workbook import WorkbookParser

    part = "xl/workbook.xml"
    if part not in package.namelist():
        return {}
    parser = WorkbookParser(package, part, keep_links=False)
    parser.parse()
    return {sheet.name: rel.target for sheet, rel in parser.find_sheets()}


def _scanned(package: zipfile.ZipFile, part: str | None) -> tuple[list[Span], int]:
    """Return a sheet's merged cells and how many formulas have no result."""
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
