"""Read the sheets of Excel files, each as one table."""

import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, takewhile
from typing import Any
from xml.etree import ElementTree

from kgp_neo4j.corpus.load import contents
from kgp_neo4j.corpus.load.notation import bare
from kgp_neo4j.text.safe import seen
from kgp_neo4j.text.values import column_type
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import SourceTable, Span

#: Cells of one file at most, with the empty ones between others; columns of a sheet.
MOST_CELLS, _WIDEST = 10_000_000, 16_384
_SAMPLE = 200
#: Characters of a number format that are read; Excel keeps 255.
_FORMAT = 300
UNLOCK = "Give a copy that is saved without a password."
_YES = ("1", "true")


@dataclass(slots=True)
class Layout:
    """What a sheet has beside its texts, with the number of cells that show nothing."""

    merged: list[Span] = field(default_factory=list)
    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    cells: int = 0
    unsolved: int = 0
    has_colours: bool = False


def add_sheet(
    blocks: contents.Blocks, name: str, rows: contents.Rows = (), layout: Layout | None = None
) -> None:
    """Add a sheet, which is a table or several that are apart; of a hidden one, only that it is."""
    if layout is None:
        blocks.left_out.append(f'sheet "{name}" is hidden and left out')
        return
    merged, columns = layout.merged, layout.columns
    unseen = sum(any(row) for at, row in enumerate(rows) if at in layout.rows) + layout.cells
    unseen += len({at for row in rows for at in columns if any(row[at : at + 1])})
    if unseen:
        down = [at for at in range(len(rows)) if at not in layout.rows]
        across = [at for at in range(max(map(len, rows))) if at not in columns]
        rows, merged = contents.picked(rows, merged, down, across)
    for count, table in enumerate(_tables(*_compact(rows, merged)), 1):
        title = table.caption or (f"{count}" if count > 1 else "")
        blocks.add_table(replace(table, caption=f"{name}: {title}" if title else name))
    said = list(contents.hidden_parts(unseen))
    if layout.unsolved:
        how = "open and save it in a spreadsheet program"
        said.append(f"{layout.unsolved:,} formulas without a stored result ({how})")
    blocks.left_out += [f'sheet "{name}": {what}' for what in said]


def read_sheets(data: bytes, where: str) -> SourceDocument:
    """Return an .xlsx file's sheets as tables, values as shown, results as stored, none hidden."""
    from openpyxl import load_workbook

    blocks = contents.Blocks()
    visited = 0
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    white = {at for at, style in enumerate(book._cell_styles) if _is_white(book, style)}
    for sheet in book.worksheets:
        if sheet.sheet_state != "visible":
            add_sheet(blocks, sheet.title)
            continue
        sheet.reset_dimensions()  # the declared size may be wrong
        layout = _layout(sheet)
        unseen = set() if layout.has_colours else white
        rows: list[list[str]] = []
        for row in sheet.iter_rows():
            visited += len(row) + 1
            if visited > MOST_CELLS:
                raise too_large()
            rows.append([shown_value(c.value, c.number_format) for c in row])
            for at, cell in enumerate(row if unseen else ()):
                if rows[-1][at] and cell._style_id in unseen:
                    rows[-1][at] = ""
                    layout.cells += 1
        add_sheet(blocks, sheet.title, rows, layout)
    drawn = (name for name in book._archive.namelist() if re.match("xl/(drawings|charts)/", name))
    if texts := sum(book._archive.read(name).count(b"<a:t>") for name in drawn):
        blocks.left_out.append(f"{texts:,} texts of charts and text boxes are left out")
    return blocks.document(where)


def _is_white(book: Any, style: Any) -> bool:
    colour, fill = book._fonts[style.fontId].color, book._fills[style.fillId]
    is_white = colour and (colour.rgb == "FFFFFFFF" or (colour.theme == 0 and not colour.tint))
    return bool(is_white) and fill.fill_type in (None, "none")


def _layout(sheet: Any) -> Layout:
    """Return what openpyxl does not give of a sheet that is read row by row, as long ones must."""
    from openpyxl.utils import range_boundaries

    layout = Layout()
    with sheet._get_source() as file:
        for _, part in ElementTree.iterparse(file):
            name = bare(part.tag)
            if name == "mergeCell":
                if all(bounds := range_boundaries(part.get("ref", ""))):
                    left, top, right, bottom = bounds
                    size = (bottom - top + 1, right - left + 1)
                    layout.merged.append(Span(top - 1, left - 1, *size))
            elif name == "c":
                values = {bare(child.tag): child.text for child in part}
                layout.unsolved += "f" in values and not (values.get("v") or "").strip()
            elif name == "row" and (part.get("hidden") in _YES or part.get("ht") == "0"):
                layout.rows.add(int(part.get("r", 0)) - 1)
            elif name == "col" and (part.get("hidden") in _YES or part.get("width") == "0"):
                first, last = int(part.get("min", 1)), int(part.get("max", 1))
                layout.columns.update(range(first - 1, min(last, _WIDEST)))
            layout.has_colours |= name in ("tablePart", "conditionalFormatting")
            if name in ("c", "row"):
                part.clear()
    return layout


def read_old_sheets(data: bytes, where: str) -> SourceDocument:
    """Return text, tables and what was left out of an .xls file."""
    import xlrd

    try:
        # Files before Excel 97 do not show the formats.
        book = xlrd.open_workbook(file_contents=data, formatting_info=True, logfile=io.StringIO())
    except xlrd.XLRDError as error:
        if "encrypted" not in str(error).lower():
            raise InputError(f"this is no Excel file ({error})") from error
        raise InputError("the file is encrypted", hint=UNLOCK) from error
    blocks = contents.Blocks()
    for sheet in book.sheets():
        if sheet.visibility:
            add_sheet(blocks, sheet.name)
            continue
        rows = [[_old_value(book, cell) for cell in row] for row in sheet.get_rows()]
        merged = [Span(r, c, down - r, across - c) for r, down, c, across in sheet.merged_cells]
        hidden = {at for at, info in sheet.rowinfo_map.items() if info.hidden}
        columns = {at for at, info in sheet.colinfo_map.items() if info.hidden}
        add_sheet(blocks, sheet.name, rows, Layout(merged, hidden, columns))
    return blocks.document(where)


def _old_value(book: Any, cell: Any) -> str:
    import xlrd

    value, format_ = cell.value, ""
    if cell.xf_index is not None and cell.xf_index < len(book.xf_list):
        look = book.xf_list[cell.xf_index]
        if look.background.fill_pattern == 0 and book.font_list[look.font_index].colour_index == 9:
            return ""  # white
        format_ = getattr(book.format_map.get(look.format_key), "format_str", "")
    if cell.ctype == xlrd.XL_CELL_DATE and re.search(r"\[[hms]+\]", format_, re.IGNORECASE):
        value = dt.timedelta(value)  # in hours, minutes or seconds that go on beyond a day
    elif cell.ctype == xlrd.XL_CELL_DATE:
        with suppress(ValueError, OverflowError):  # a number formatted as a date that is none
            date = xlrd.xldate.xldate_as_datetime(value, book.datemode)
            value = date.time() if value < 1 else date
    elif cell.ctype == xlrd.XL_CELL_BOOLEAN:
        value = bool(value)
    elif cell.ctype == xlrd.XL_CELL_ERROR:
        value = xlrd.error_text_from_code.get(value, "#ERROR")
    return shown_value(value, format_)


# --- Tables of a sheet ---


def _compact(rows: contents.Rows, merged: Iterable[Span]) -> tuple[contents.Rows, list[Span]]:
    """Return a sheet as rows of one length, with one empty row or column in the place of several.

    A merged cell's text is in all its places, but a space in a column that is empty otherwise.
    """
    down = {at for at, row in enumerate(rows) if any(row)}
    across = _filled(rows)
    filled = [
        replace(s, rows=min(s.rows, len(rows) - s.row))
        for s in merged
        if s.row < len(rows) and s.column < len(rows[s.row]) and rows[s.row][s.column]
    ]
    if len(across) * (len(down) + sum(s.rows for s in filled)) > MOST_CELLS:
        raise too_large()
    down.update(at for s in filled for at in range(s.row, s.row + s.rows))
    lines = sorted(down | {at + 1 for at in down})
    columns = sorted(across | {at + 1 for at in across})
    grid, spans = contents.picked([*rows, []], filled, lines, columns)
    for s in spans:
        text, end = grid[s.row][s.column], s.column + s.columns
        texts = [text if at in across else " " for at in columns[s.column : end]]
        for row in grid[s.row : s.row + s.rows]:
            row[s.column : end] = texts
    return grid, spans


def too_large() -> InputError:
    """Return the error for sheets of more cells than are read."""
    what = f"the sheets have more than {MOST_CELLS:,} cells"
    return InputError(what, hint="Save the sheets as .csv files.")


def _tables(grid: contents.Rows, spans: Sequence[Span]) -> Iterator[SourceTable]:
    """Yield the tables of a sheet: it is split where words above values, or a title, begin one."""
    for top, bottom in _parts(grid, lambda top, end: _is_table(grid[top:end], grid[:top])):
        shifted = [replace(s, row=s.row - top) for s in spans]
        yield from _side_by_side(grid[top:bottom], shifted)


def _side_by_side(rows: contents.Rows, spans: Iterable[Span]) -> Iterator[SourceTable]:
    """Yield the tables that begin in the same row."""
    columns = list(zip(*rows[_title_rows(rows) :], strict=True))
    sides = _parts(columns, lambda start, end: _is_table([row[start:end] for row in rows]))
    for left, right in sides if len(sides) > 1 else [(0, len(columns))]:
        moved = [replace(s, column=s.column - left) for s in spans]
        part, shifted = contents.trimmed([row[left:right] for row in rows], moved)
        width = len(part[0])
        count = _title_rows(part) if width > 2 or _is_table(part) else 0
        titles = [Span(at, 0, 1, width) for at in range(count)]
        if table := contents.table_of(part, (*titles, *shifted)):
            yield table


def _parts(lines: contents.Rows, is_table: Callable[[int, int], bool]) -> list[tuple[int, int]]:
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


def _title_rows(rows: contents.Rows) -> int:
    """Return the number of rows at the top with only one text, which may be merged over columns."""
    texts = ((row[0], {text.strip() for text in row}) for row in rows[:-2])
    return len(list(takewhile(lambda row: row[0] and row[1] <= {"", row[0]}, texts)))


def _is_table(rows: contents.Rows, above: contents.Rows | None = None) -> bool:
    """Return whether rows are clearly a table: names in words, above values or below a title.

    Below a title the names are enough in other columns than those of what is `above`.
    """
    places = _filled(rows)
    rows, _ = contents.trimmed([row for row in rows[: _SAMPLE + 1] if any(row)], ())
    titles = _title_rows(rows)
    names, *below = rows[titles:] or [[]]
    names = list(filter(None, names))
    if len(names) < 2 or any(map(contents.is_value, names)):
        return False
    is_titled = titles > 0 and len(set(names)) == len(names)
    is_apart = above is not None and is_titled and places != _filled(above)
    return is_apart or any(column_type(c) != "text" for c in zip(*below, strict=True))


def _filled(rows: contents.Rows) -> set[int]:
    """Return the columns that have a text."""
    return {at for row in rows for at, text in enumerate(row) if text}


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
    """Return a value in its number format ("45.3%"), else in 15 digits; dates in ISO form."""
    if value is None or format_ == ";;;":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        minutes, seconds = divmod(abs(round(value.total_seconds())), 60)
        sign = "-" if value < dt.timedelta(0) else ""
        return f"{sign}{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    if not isinstance(value, int | float):
        return seen(str(value)).strip()
    if parsed := _parsed(format_):
        before, digits, after, decimals, times = parsed
        shown = float(f"{abs(value) * times:.15g}")
        # Python rounds a float's exact value; a spreadsheet rounds the value that it shows.
        text = format(round(shown + shown * 1e-15, decimals), digits)
        sign = "-" if value < 0 and text.strip("0.,") else ""
        return f"{sign}{before}{text}{after}"
    is_short = isinstance(value, float) and abs(value) < 1e15
    return f"{value:.15g}" if is_short else repr(value)


@lru_cache(maxsize=1000)
def _parsed(format_: str) -> tuple[str, str, str, int, int] | None:
    """Return what a number format shows before a positive number, its digits as Python formats
    them, what comes after, the decimals, and the factor; None where it is plain, or rare.
    """
    # A quoted semicolon ends no section.
    section = re.split(r';(?=(?:[^"]*"[^"]*")*[^"]*$)', format_[:_FORMAT], maxsplit=1)[0].strip()
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
    times = 100 if "%" in bare else 1
    return around[0].lstrip(), f"{grouping}.{decimals}f", around[1].rstrip(), decimals, times
