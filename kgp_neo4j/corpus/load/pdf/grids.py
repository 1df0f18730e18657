"""Build a table's grid from its box on the page, its ruled lines, gaps and lines of text.

Boundaries are gathered first (ruled lines, gaps through the lines of text, lines of text), then
cells that nothing separates are merged, so that spans are the ones drawn.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgp_neo4j.corpus.load.pdf.letters import Box, Line, Word, line_text, lines_of, segments
from kgp_neo4j.corpus.load.pdf.rules import NEAR, Rule, clusters, column_gaps
from kgp_neo4j.text.values import typed
from kgp_neo4j.types.tables import Span

__all__ = ["Grid", "grid_of", "header_rows", "row_bounds", "widened"]


def row_bounds(
    lines: Sequence[Line], xs: Sequence[float], ys: Sequence[float], *, is_ruled: bool
) -> list[float]:
    """Return the heights that separate rows between the ruled lines at `ys`.

    In a table that is ruled all over, the space between two lines is one row, unless every column
    has a text on every line of it (as where each fifth row is ruled off). In others each line of
    text is a row, except those that continue the row above.
    """
    made: list[float] = []
    for at, (top, bottom) in enumerate(itertools.pairwise(ys)):
        held = [line for line in lines if top <= line.middle < bottom]
        if len(held) < 2:
            continue
        cells = [_cells(line, xs) for line in held]
        if is_ruled:
            is_each = _is_row_each(cells, is_first=at == 0)
            starts = [
                n for n in range(1, len(held)) if is_each or _is_over(held[n - 1], held[n], xs)
            ]
        elif at == 0 and len(ys) > 2 and len(held) <= 4 and not _is_mostly_values(cells):
            starts = [] if _is_one_header(held, xs) else list(range(1, len(held)))
        else:
            apart = _by_space(held, cells)
            each = [n for n in range(1, len(held)) if not _goes_on(n, held, cells)]
            starts = each if apart is None else apart
        made += [(held[n - 1].bottom + held[n].top) / 2 for n in starts]
    return made


def _cells(line: Line, xs: Sequence[float]) -> dict[int, str]:
    """Return the text of a line in each column."""
    made: dict[int, list[str]] = {}
    for word in line.words:
        middle = (word.x0 + word.x1) / 2
        column = sum(middle >= x for x in xs[1:-1])
        made.setdefault(column, []).append(word.text)
    return {column: " ".join(texts) for column, texts in made.items()}


def _is_row_each(cells: Sequence[dict[int, str]], *, is_first: bool) -> bool:
    columns = set().union(*cells)
    if len(columns) < 3 or 0 not in columns or any(0 not in line for line in cells):
        return False
    if is_first and len(cells) < 4:
        return False
    full = sum(all(column in line for line in cells) for column in columns)
    texts = [text for line in cells for column, text in line.items() if column]
    values = sum(typed(text).type != "text" for text in texts)
    return full >= 0.8 * len(columns) and (len(cells) >= 4 or values >= 0.4 * len(texts))


def _is_over(above: Line, below: Line, xs: Sequence[float]) -> bool:
    """Return whether a line names groups of columns and the one below it the columns themselves."""
    crossed = [sum(p.x0 < x - 1 and p.x1 > x + 1 for x in xs[1:-1] for p in segments(line, 0.3))
               for line in (above, below)]  # fmt: skip
    return crossed[0] > 0 and not crossed[1] and len(segments(below)) > 2 * len(segments(above))


def _is_mostly_values(cells: Sequence[dict[int, str]]) -> bool:
    values = [typed(text).type != "text" for line in cells for text in line.values()]
    return sum(values) >= 0.5 * len(values)


def _is_one_header(lines: Sequence[Line], xs: Sequence[float]) -> bool:
    """Return whether the lines above the first ruled line are one row of names over several
    lines.
    """
    for line in lines:
        for x in xs[1:-1]:
            if any(word.x0 < x - 1 and word.x1 > x + 1 for word in line.words):
                return False
            around = [w for w in line.words if w.x1 <= x][-1:] + [
                w for w in line.words if w.x0 >= x
            ][:1]
            if len(around) == 2 and around[1].x0 - around[0].x1 < 0.5 * line.size:
                return False
    return True


def _by_space(lines: Sequence[Line], cells: Sequence[dict[int, str]]) -> list[int] | None:
    """Return the lines that begin a row where rows are clearly further apart than their lines.

    None where they are not, or where lines close together are no row: several lines with text in
    most columns.
    """
    gaps = [b.top - a.bottom for a, b in itertools.pairwise(lines)]
    size = lines[0].size
    columns = len(set().union(*cells))
    for low, high in reversed(list(itertools.pairwise(sorted(gaps)))):
        if high - low < 0.25 * size or low > 0.6 * size:
            continue
        limit = (low + high) / 2
        starts = [at for at, gap in enumerate(gaps, 1) if gap > limit]
        groups = itertools.pairwise([0, *starts, len(lines)])
        if all(end - start == 1 or _is_row(cells[start:end], columns) for start, end in groups):
            return starts
    return None


def _is_row(cells: Sequence[dict[int, str]], columns: int) -> bool:
    """Return whether lines are one row: only one of them has text in most columns."""
    return sum(len(line) >= max(2, 0.6 * columns) for line in cells) == 1


def _goes_on(at: int, lines: Sequence[Line], cells: Sequence[dict[int, str]]) -> bool:
    """Return whether a line continues the row of the line above it."""
    line, above = lines[at], lines[at - 1]
    here, before = cells[at], cells[at - 1]
    tight = line.top - above.bottom < 0.55 * line.size
    first = min(here)
    text = here[first]
    if first == 0:
        if len(here) > 1 or not tight:
            return False
        lower = text[0].islower() or text[0] in "(&/"
        return 0 in before and (lower or before[0].endswith(("-", ",", "&", " of", " and")))
    values = sum(typed(text).type != "text" for text in here.values())
    if len(here) > 1 and 2 * values >= len(here):
        return False
    return tight


# --- Header rows ---

_MOST = 4


def header_rows(
    rows: Sequence[tuple[str, ...]],
    spans: Sequence[Span],
    bold: Sequence[bool],
    ruled_off: set[int],
    turned: bool,
) -> tuple[int, bool]:
    """Return the number of header rows at the top, and whether they are evident.

    `bold` is true for each row that is all bold, `ruled_off` has the rows with a line below them
    through the whole table (where not every row has one), `turned` is true where the first row has
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
    for span in spans:  # a name over several rows takes the rows beside it along
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
    """Return rows and spans with names spread over the columns above which they are centred.

    Above the last row of a header, a name with empty places beside it names as many of the columns
    below as extend evenly to both sides of it. `extents` has the beginning and end of each cell's
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
    """Return whether a place belongs to a merged cell that begins elsewhere."""
    return any(
        (s.row, s.column) != (row, column)
        and s.row <= row < s.row + s.rows
        and s.column <= column < s.column + s.columns
        for s in spans.values()
    )


def _over_numbers(rows: Sequence[tuple[str, ...]]) -> tuple[int, bool]:
    """Return the number of rows of words above columns of numbers, and whether there are such."""
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
    """Return whether a row has numbers, dates or amounts; years alone may be names of columns."""
    values = [text for text in row if _is_value(text)]
    years = [text for text in values if len(text) == 4 and text.isdecimal()]
    return len(values) > len(years) and len(values) >= 0.25 * sum(map(bool, row))


def _is_value(text: str) -> bool:
    return bool(text) and typed(text).type != "text"


# --- The grid ---

#: Leader dots from one column to the next.
_LEADERS = re.compile(r"\s*(?:[.…_]\s*){4,}$|\s+(?:\.\s*){2,}$|^(?:\s*\.){4,}")


@dataclass(slots=True)
class Grid:
    """A table as it was found on one page; `edges` are the left and right ends of its columns."""

    box: Box
    rows: list[tuple[str, ...]]
    edges: list[tuple[float, float]]
    #: The upper and lower end of each row.
    bounds: list[tuple[float, float]] = field(default_factory=list)
    #: Ruled lines, not gaps alone, separate the columns.
    is_ruled: bool = False
    spans: list[Span] = field(default_factory=list)
    header_rows: int = 1
    #: The header is evident (bold, ruled off, names over numbers), not only assumed.
    header_is_evident: bool = False
    words: list[Word] = field(default_factory=list)
    #: A heading within the table's frame, and its place.
    heading: str = ""
    heading_box: Box | None = None
    caption: str = ""
    number: str = ""
    continued: bool = False

    @property
    def filled(self) -> int:
        """Return the number of cells with text."""
        return sum(bool(text) for row in self.rows for text in row)


def grid_of(
    box: Box, words: Sequence[Word], across: Sequence[Rule], down: Sequence[Rule]
) -> Grid | None:
    """Return the grid of a table within `box`, None where its text makes fewer than 2 x 2 cells."""
    inside = [word for word in words if box.holds(word)]
    upright = [word for word in inside if not word.turn]
    if not inside:
        return None
    across = [r for r in across if box.top - NEAR <= r.at <= box.bottom + NEAR
              and r.end > box.x0 + NEAR and r.start < box.x1 - NEAR]  # fmt: skip
    down = [r for r in down if box.x0 - NEAR <= r.at <= box.x1 + NEAR
            and r.end > box.top + NEAR and r.start < box.bottom - NEAR]  # fmt: skip
    hard_x = clusters([box.x0, box.x1, *(rule.at for rule in down)])
    hard_y = clusters([box.top, box.bottom, *(rule.at for rule in across)])
    lines = lines_of(upright)
    soft_x = column_gaps(lines, hard_x)
    xs = sorted([*hard_x, *soft_x])
    parts = sum(any(a <= w.x0 < b for w in upright) for a, b in itertools.pairwise(hard_x))
    soft_y = row_bounds(lines, xs, hard_y, is_ruled=parts > 1 and len(hard_y) > 3)
    ys = sorted([*hard_y, *soft_y])
    if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > 50_000:
        return None
    return _Cells(xs, ys, set(soft_x), set(soft_y), across, down).grid(box, inside, lines)


class _Cells:
    """The base cells between all boundaries, and those that are merged."""

    def __init__(
        self,
        xs: list[float],
        ys: list[float],
        soft_x: set[float],
        soft_y: set[float],
        across: Sequence[Rule],
        down: Sequence[Rule],
    ) -> None:
        self.xs, self.ys = xs, ys
        self.soft_x, self.soft_y = soft_x, soft_y
        self.across, self.down = across, down
        self.columns, self.rows = len(xs) - 1, len(ys) - 1

    def grid(self, box: Box, words: Sequence[Word], lines: Sequence[Line]) -> Grid | None:
        pieces = self._pieces(lines)
        held = self._words(words, pieces)
        groups = self._groups(pieces)
        texts = [[""] * self.columns for _ in range(self.rows)]
        spans = []
        for top, left, bottom, right in groups:
            text = _cell_text(
                [w for r in range(top, bottom + 1) for c in range(left, right + 1)
                 for w in held.get((r, c), ())]
            )  # fmt: skip
            if not text:
                continue
            for r in range(top, bottom + 1):
                for c in range(left, right + 1):
                    texts[r][c] = text
            if bottom > top or right > left:
                spans.append(Span(top, left, bottom - top + 1, right - left + 1))
        keep_rows = [r for r in range(self.rows) if self._is_row(r, texts, held, groups)]
        keep_columns = [c for c in range(self.columns) if any((r, c) in held for r in keep_rows)
                        or self._is_column(c, texts)]  # fmt: skip
        if len(keep_rows) < 2 or len(keep_columns) < 2:
            return None
        ruled_off = {at for at, r in enumerate(keep_rows[:-1]) if self._is_ruled_below(r)}
        rows = [tuple(texts[r][c] for c in keep_columns) for r in keep_rows]
        kept = [s for s in (_kept(span, keep_rows, keep_columns) for span in spans) if s]
        bold = [self._is_bold(r, held) for r in keep_rows]
        turned = any(word.turn for c in keep_columns for word in held.get((keep_rows[0], c), ()))
        count, evident = header_rows(
            rows, kept, bold, ruled_off if len(self.down) < 2 * self.columns else set(), turned
        )
        extents = [[_extent(held.get((r, c), ())) for c in keep_columns] for r in keep_rows]
        walls = [
            {
                at
                for at, c in enumerate(keep_columns)
                if self.xs[c] not in self.soft_x
                and _covered(self.down, self.xs[c], self.ys[r], self.ys[r + 1])
            }
            for r in keep_rows[:count]
        ]
        rows, kept = widened(rows, kept, count, extents, walls)
        edges = [(self.xs[c], self.xs[c + 1]) for c in keep_columns]
        is_ruled = len({self.xs[c] for c in keep_columns[1:]} - self.soft_x) > 0
        bounds = [(self.ys[r], self.ys[r + 1]) for r in keep_rows]
        box = box._replace(x0=edges[0][0], x1=edges[-1][1])
        return Grid(box, rows, edges, bounds, is_ruled, kept, count, evident, list(words))

    def _words(
        self, words: Sequence[Word], pieces: dict[int, list[Box]]
    ) -> dict[tuple[int, int], list[Word]]:
        held: dict[tuple[int, int], list[Word]] = defaultdict(list)
        for word in words:
            r = _index(self.ys, (word.top + word.bottom) / 2)
            middle = (word.x0 + word.x1) / 2
            c = _index(self.xs, middle)
            if not word.turn and c and self.xs[c] in self.soft_x:
                for piece in pieces[r]:
                    if piece.x0 <= middle <= piece.x1 and piece.top <= word.bottom <= piece.bottom:
                        c = min(c, self._home(piece))
            held[r, c].append(word)
        return held

    def _home(self, piece: Box) -> int:
        """Return the column of a text that extends beyond it to the right, else the last one."""
        first = _index(self.xs, piece.x0 + 1)
        middle = _index(self.xs, (piece.x0 + piece.x1) / 2)
        return first if first == middle else self.columns

    def _pieces(self, lines: Sequence[Line]) -> dict[int, list[Box]]:
        made: dict[int, list[Box]] = defaultdict(list)
        for line in lines:
            made[_index(self.ys, line.middle)] += segments(line, 0.35)
        return made

    def _groups(self, pieces: dict[int, list[Box]]) -> list[tuple[int, int, int, int]]:
        """Return the merged cells as (top, left, bottom, right), each base cell in one of them."""
        right_of: dict[tuple[int, int], bool] = {}
        below: dict[tuple[int, int], bool] = {}
        for r in range(self.rows):
            for c in range(self.columns):
                right_of[r, c] = c + 1 < self.columns and not self._parted_right(r, c, pieces[r])
                below[r, c] = r + 1 < self.rows and not self._parted_below(r, c)
        done: set[tuple[int, int]] = set()
        groups = []
        for r in range(self.rows):
            for c in range(self.columns):
                if (r, c) in done:
                    continue
                right = c
                while right_of[r, right] and (r, right + 1) not in done:
                    right += 1
                bottom = r
                while all(
                    below[bottom, at]
                    and (bottom + 1, at) not in done
                    and (at == right or right_of[bottom + 1, at])
                    for at in range(c, right + 1)
                ) and not (right_of[bottom + 1, right] or (c and right_of[bottom + 1, c - 1])):
                    bottom += 1  # fmt: skip
                done |= {(y, x) for y in range(r, bottom + 1) for x in range(c, right + 1)}
                groups.append((r, c, bottom, right))
        return groups

    def _parted_right(self, r: int, c: int, pieces: Sequence[Box]) -> bool:
        x, top, bottom = self.xs[c + 1], self.ys[r], self.ys[r + 1]
        if x not in self.soft_x and _covered(self.down, x, top, bottom):
            return True
        for piece in pieces:
            if piece.x0 < x - 1 and piece.x1 > x + 1:
                return x in self.soft_x and self._home(piece) <= c
        if x in self.soft_x:
            return True
        # A ruled column without its line here: one cell, unless both sides have text.
        left = any(self.xs[c] <= (p.x0 + p.x1) / 2 < x for p in pieces)
        right = any(x <= (p.x0 + p.x1) / 2 < self.xs[c + 2] for p in pieces)
        return left and right

    def _parted_below(self, r: int, c: int) -> bool:
        y = self.ys[r + 1]
        return y in self.soft_y or _covered(self.across, y, self.xs[c], self.xs[c + 1])

    def _is_ruled_below(self, r: int) -> bool:
        y, x0, x1 = self.ys[r + 1], self.xs[0], self.xs[-1]
        return y not in self.soft_y and _covered(self.across, y, x0, x1, 0.8)

    def _is_row(
        self,
        r: int,
        texts: list[list[str]],
        held: dict[tuple[int, int], list[Word]],
        groups: list[tuple[int, int, int, int]],
    ) -> bool:
        """Return whether a row has text; one between double lines has none."""
        if any((r, c) in held for c in range(self.columns)):
            return True
        starts = {top for top, *_ in groups if top == r}
        return bool(starts) and any(texts[r]) and self.ys[r + 1] - self.ys[r] > 6

    def _is_column(self, c: int, texts: list[list[str]]) -> bool:
        return self.xs[c + 1] - self.xs[c] > 12 and sum(bool(row[c]) for row in texts) > 1

    def _is_bold(self, r: int, held: dict[tuple[int, int], list[Word]]) -> bool:
        words = [word for c in range(self.columns) for word in held.get((r, c), ())]
        return bool(words) and all(word.bold for word in words)


def _extent(words: Sequence[Word]) -> tuple[float, float] | None:
    """Return the start and end of a cell's words."""
    if not words:
        return None
    return min(word.x0 for word in words), max(word.x1 for word in words)


def _covered(
    rules: Sequence[Rule], at: float, start: float, end: float, share: float = 0.6
) -> bool:
    """Return whether ruled lines at one place cover most of a stretch."""
    length = sum(
        max(0.0, min(rule.end, end) - max(rule.start, start))
        for rule in rules
        if abs(rule.at - at) <= NEAR
    )
    return length >= share * (end - start)


def _index(bounds: Sequence[float], at: float) -> int:
    for index in range(len(bounds) - 2, 0, -1):
        if at >= bounds[index]:
            return index
    return 0


def _kept(span: Span, rows: Sequence[int], columns: Sequence[int]) -> Span | None:
    """Return a span counted in the rows and columns that were kept; None where one cell is left."""
    r = [at for at, row in enumerate(rows) if span.row <= row < span.row + span.rows]
    c = [at for at, col in enumerate(columns) if span.column <= col < span.column + span.columns]
    return Span(r[0], c[0], len(r), len(c)) if r and c and len(r) * len(c) > 1 else None


def _cell_text(words: Sequence[Word]) -> str:
    """Return the text of a cell: its lines joined by spaces, turned text in its own direction."""
    parts = [line_text(line.words) for line in lines_of(w for w in words if not w.turn)]
    for turn in (90, 180, 270):
        turned = [word for word in words if word.turn == turn]
        if turn == 90:
            turned.sort(key=lambda word: (round(word.x0 / 4), -word.bottom))
        elif turn == 270:
            turned.sort(key=lambda word: (-round(word.x0 / 4), word.top))
        parts += [word.text for word in turned]
    text = " ".join(part for part in parts if part)
    return _LEADERS.sub("", text).strip()
