"""Which rows of a table name its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgp_neo4j.structures import Span
from kgp_neo4j.values import typed

__all__ = ["header_rows", "widened"]

_MOST = 4


def header_rows(
    rows: Sequence[tuple[str, ...]],
    spans: Sequence[Span],
    bold: Sequence[bool],
    ruled_off: set[int],
    turned: bool,
) -> tuple[int, bool]:
    """Return how many rows at the top are the header, and whether that is plain to see.

    `bold` says of each row whether it is all bold, `ruled_off` has the rows with a line below them
    through the whole table (where not every row has one), `turned` says whether the first row has
    text on its side.
    """
    count, evident = 0, False
    bold = [is_bold and (at == 0 or sum(map(bool, row)) > 1)
            for at, (is_bold, row) in enumerate(zip(bold, rows, strict=True))]  # fmt: skip
    if bold[0] and not all(bold):
        count = bold.index(False)
        evident = True
    inner = min(ruled_off, default=-1)
    few = len(ruled_off) <= max(2, len(rows) // 2)
    if (
        few
        and 0 <= inner < min(_MOST, len(rows) - 1)
        and (bold[inner] or not _is_data(rows[inner]))
    ):
        count, evident = max(count if count <= inner + 1 else 0, inner + 1), True
    if not evident:
        count, evident = _over_numbers(rows)
    if turned:
        count, evident = max(count, 1), True
    if count > _MOST or count >= len(rows):
        count, evident = 1, False
    for span in spans:  # a name that reaches down takes the rows beside it along
        if span.row < count and span.row + span.rows <= _MOST and span.columns < len(rows[0]):
            count = max(count, span.row + span.rows)
    first = [span for span in spans if span.row == 0 and 1 < span.columns < len(rows[0])]
    if count == 1 and first and len(rows) > 2 and not _is_data(rows[1]):
        count = 2  # names over groups of columns, then the columns' own
    if count >= len(rows):
        count = 1
    if not evident and _is_data(rows[0]) and sum(map(_is_data, rows)) > len(rows) // 2:
        return 0, False
    return max(count, 1), evident


def widened(
    rows: list[tuple[str, ...]],
    spans: list[Span],
    header: int,
    extents: Sequence[Sequence[tuple[float, float] | None]],
    walls: Sequence[set[int]],
) -> tuple[list[tuple[str, ...]], list[Span]]:
    """Return rows and spans with names spread over the columns that they stand in the middle of.

    Above the last row of a header, a name with empty places beside it names as many of the columns
    below as lie evenly to both sides of it. `extents` has the beginning and end of each cell's
    words, `walls` the columns of each header row with a ruled line at their left.
    """
    grid = [list(row) for row in rows]
    made = {(s.row, s.column): s for s in spans}
    for r in range(header - 1):
        below = extents[r + 1]
        for c in range(len(grid[r])):
            span = made.get((r, c), Span(r, c))
            own = [e for e in extents[r][c : c + span.columns] if e]
            if not grid[r][c] or span.rows > 1 or not own or _is_covered(made, r, c):
                continue
            middle = (min(e[0] for e in own) + max(e[1] for e in own)) / 2
            best = (span.column, span.column + span.columns - 1)
            for left in range(c, -1, -1):
                if left < c and (grid[r][left] or left + 1 in walls[r]):
                    break
                for right in range(c + span.columns - 1, len(grid[r])):
                    new = right >= c + span.columns
                    if new and (grid[r][right] or right in walls[r]):
                        break
                    first, last = below[left], below[right]
                    if first is None or last is None or right - left <= best[1] - best[0]:
                        continue
                    off = abs((first[0] + last[1]) / 2 - middle)
                    if off < 0.12 * (last[1] - first[0]):
                        best = (left, right)
            if best[1] - best[0] + 1 > span.columns:
                made.pop((r, c), None)
                made[r, best[0]] = Span(r, best[0], 1, best[1] - best[0] + 1)
                grid[r][best[0] : best[1] + 1] = [grid[r][c]] * (best[1] - best[0] + 1)
    return [tuple(row) for row in grid], list(made.values())


def _is_covered(spans: Mapping[tuple[int, int], Span], row: int, column: int) -> bool:
    """Say whether a place belongs to a merged cell that begins elsewhere."""
    return any(
        (s.row, s.column) != (row, column)
        and s.row <= row < s.row + s.rows
        and s.column <= column < s.column + s.columns
        for s in spans.values()
    )


def _over_numbers(rows: Sequence[tuple[str, ...]]) -> tuple[int, bool]:
    """Return the rows of words at the top of columns that hold numbers."""
    below = rows[1:]
    columns = [
        at
        for at in range(len(rows[0]))
        if below and sum(_is_value(row[at]) for row in below) >= 0.5 * len(below)
    ]
    if not columns:
        return 1, False
    for at, row in enumerate(rows[: _MOST + 1]):
        if any(_is_value(row[c]) for c in columns):
            return (at, True) if at else (1, False)
    return 1, False


def _is_data(row: tuple[str, ...]) -> bool:
    """Say whether a row has numbers, dates or amounts; years alone may be names of columns."""
    values = [text for text in row if _is_value(text)]
    years = [text for text in values if len(text) == 4 and text.isdecimal()]
    return len(values) > len(years) and len(values) >= 0.25 * sum(map(bool, row))


def _is_value(text: str) -> bool:
    return bool(text) and typed(text).type != "text"
