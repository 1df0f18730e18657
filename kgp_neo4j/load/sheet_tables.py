"""Finds the tables on a sheet: one, unless empty rows or columns evidently part several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from kgp_neo4j.errors import InputError
from kgp_neo4j.load.heads import is_value, trimmed
from kgp_neo4j.structures import Span
from kgp_neo4j.values import column_type

__all__ = ["MOST_CELLS", "tables_of_sheet", "title_rows", "too_large"]

#: Cells of one file, empty ones between others too: a cell in the last corner makes a sheet large.
MOST_CELLS = 10_000_000
_SAMPLE = 200

Grid = list[list[str]]


def tables_of_sheet(
    rows: Sequence[Sequence[str]], merged: Iterable[Span]
) -> Iterator[tuple[Grid, tuple[Span, ...]]]:
    """Yield rows and merged cells of each table of a sheet, without empty rows and columns.

    Parts of a sheet are tables of their own only where each has a header of words above a column of
    values; a note or a section below a table stays with it. Raises InputError for too large ones.
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
    """Return how many rows at the top are one text each, merged over some columns perhaps."""
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
    """Write each merged cell's text in all its places; yield where it lies in the grid."""
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
    """Return first row and end of each part of a sheet, cut at empty rows between two tables."""
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
    """Say whether rows are evidently a table: names in words above values."""
    rows, _ = trimmed([row for row in rows[: _SAMPLE + 1] if row], ())
    rows = rows[title_rows(rows) :]
    if len(rows) < 2 or len(rows[0]) < 2:
        return False
    names = [text for text in rows[0] if text]
    if len(names) < 2 or any(map(is_value, names)):
        return False
    below = zip(*rows[1:], strict=True)
    return any(column_type(column) != "text" for column in below)
