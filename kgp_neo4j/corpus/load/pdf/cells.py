"""Build a table's cells from its box on the page, its ruled lines, gaps and lines of text.

Boundaries are gathered first (ruled lines, gaps through the lines of text, lines of text), then
cells that nothing separates are merged, so that spans are the ones drawn.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from kgp_neo4j.corpus.load.pdf.letters import Box, Line, Word, lines_of, segments
from kgp_neo4j.corpus.load.pdf.rules import NEAR, Rule, clusters, column_gaps
from kgp_neo4j.text.values import typed
from kgp_neo4j.types.tables import Span

__all__ = ["PageTable", "has_value", "header_rows", "table_in"]

Rows = list[tuple[str, ...]]

#: Leader dots from one column to the next.
_LEADERS = re.compile(r"\s*(?:[.…_]\s*){4,}$|\s+(?:\.\s*){2,}$|^(?:\s*\.){4,}")
_MOST_CELLS = 50_000


@dataclass(slots=True, eq=False)
class PageTable:
    """A table as it is on one page; `edges` are the left and right ends of its columns."""

    box: Box
    rows: Rows
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
    def texts(self) -> list[str]:
        """Return the texts of all cells that have one, those of merged cells in each place."""
        return [text for row in self.rows for text in row if text]


def has_value(text: str) -> bool:
    """Return whether a cell has a number, a date or an amount."""
    return bool(text) and typed(text).type != "text"


def table_in(
    box: Box, words: Sequence[Word], across: Sequence[Rule], down: Sequence[Rule]
) -> PageTable | None:
    """Return the table within `box`, None where its text makes fewer than 2 x 2 cells."""
    inside = [word for word in words if box.holds(word)]
    lines = lines_of(word for word in inside if not word.turn)
    across = [r for r in across if _is_beside(r, (box.top, box.bottom), (box.x0, box.x1))]
    down = [r for r in down if _is_beside(r, (box.x0, box.x1), (box.top, box.bottom))]
    ruled_x = clusters([box.x0, box.x1, *(rule.at for rule in down)])
    ruled_y = clusters([box.top, box.bottom, *(rule.at for rule in across)])
    soft_x = column_gaps(lines, ruled_x)
    xs = sorted([*ruled_x, *soft_x])
    filled = sum(any(a <= w.x0 < b for line in lines for w in line.words)
                 for a, b in pairwise(ruled_x))  # fmt: skip
    soft_y = _row_bounds(lines, xs, ruled_y, is_ruled=filled > 1 and len(ruled_y) > 3)
    ys = sorted([*ruled_y, *soft_y])
    if not inside or len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > _MOST_CELLS:
        return None
    return _Cells(xs, ys, set(soft_x), set(soft_y), across, down, lines, inside).table(box)


def _is_beside(rule: Rule, at: tuple[float, float], along: tuple[float, float]) -> bool:
    is_near = at[0] - NEAR <= rule.at <= at[1] + NEAR
    return is_near and rule.end > along[0] + NEAR and rule.start < along[1] - NEAR


# --- Rows ---


def _row_bounds(
    lines: Sequence[Line], xs: Sequence[float], ys: Sequence[float], *, is_ruled: bool
) -> list[float]:
    """Return the heights that separate rows between the ruled lines at `ys`.

    In a table that is ruled all over, the space between two lines is one row, unless every column
    has a text on every line of it (as where each fifth row is ruled off). In others each line of
    text is a row, except those that continue the row above.
    """
    bounds: list[float] = []
    for at, (top, bottom) in enumerate(pairwise(ys)):
        between = [line for line in lines if top <= line.middle < bottom]
        numbers = range(1, len(between))
        cells = [_texts_by_column(line, xs) for line in between]
        if is_ruled:
            is_each = len(between) > 1 and _is_row_each(cells)
            starts = [n for n in numbers if is_each or _is_over(between[n - 1], between[n], xs)]
        elif at == 0 and len(ys) > 2 and len(between) <= 4 and not _are_mostly_values(cells):
            starts = [] if _is_one_header(between, xs) else list(numbers)
        else:
            starts = _rows_by_space(between, cells)
            if not starts:
                starts = [n for n in numbers if not _goes_on(n, between, cells)]
        bounds += [(between[n - 1].bottom + between[n].top) / 2 for n in starts]
    return bounds


def _texts_by_column(line: Line, xs: Sequence[float]) -> dict[int, str]:
    texts: dict[int, list[str]] = defaultdict(list)
    for word in line.words:
        texts[_index(xs, (word.x0 + word.x1) / 2)].append(word.text)
    return {column: " ".join(words) for column, words in texts.items()}


def _is_row_each(cells: Sequence[dict[int, str]]) -> bool:
    columns = set().union(*cells)
    if len(columns) < 3 or any(0 not in line for line in cells):
        return False
    full = sum(all(column in line for line in cells) for column in columns)
    texts = [text for line in cells for column, text in line.items() if column]
    is_values = sum(map(has_value, texts)) >= 0.4 * len(texts)
    return full >= 0.8 * len(columns) and (len(cells) >= 4 or is_values)


def _is_over(above: Line, below: Line, xs: Sequence[float]) -> bool:
    """Return whether a line names groups of columns and the one below it the columns themselves."""

    def crosses(line: Line) -> bool:
        return any(p.x0 < x - 1 and p.x1 > x + 1 for x in xs[1:-1] for p in segments(line, 0.3))

    return crosses(above) and not crosses(below)


def _are_mostly_values(cells: Sequence[dict[int, str]]) -> bool:
    values = [has_value(text) for line in cells for text in line.values()]
    return sum(values) >= 0.5 * len(values)


def _is_one_header(lines: Sequence[Line], xs: Sequence[float]) -> bool:
    """Return whether the lines above the first ruled line are one row of names over several
    lines.
    """
    for line in lines:
        for left, right in pairwise(line.words):
            is_between = any(left.x1 <= x <= right.x0 for x in xs[1:-1])
            if is_between and right.x0 - left.x1 < 0.5 * line.size:
                return False
        if any(word.x0 < x - 1 and word.x1 > x + 1 for word in line.words for x in xs[1:-1]):
            return False
    return True


def _rows_by_space(lines: Sequence[Line], cells: Sequence[dict[int, str]]) -> list[int]:
    """Return the lines that begin a row where rows are clearly further apart than their lines;
    none where they are not, or where lines close together are no row (several have text in most
    columns).
    """
    gaps = [b.top - a.bottom for a, b in pairwise(lines)]
    most = max(2, 0.6 * len(set().union(*cells)))
    for low, high in reversed(list(pairwise(sorted(gaps)))):
        if high - low < 0.25 * lines[0].size or low > 0.6 * lines[0].size:
            continue
        starts = [at for at, gap in enumerate(gaps, 1) if gap > (low + high) / 2]
        groups = pairwise([0, *starts, len(lines)])
        if all(b - a == 1 or sum(len(line) >= most for line in cells[a:b]) == 1 for a, b in groups):
            return starts
    return []


def _goes_on(at: int, lines: Sequence[Line], cells: Sequence[dict[int, str]]) -> bool:
    """Return whether a line continues the row of the line above it."""
    line, above, texts, before = lines[at], lines[at - 1], cells[at], cells[at - 1]
    if line.top - above.bottom >= 0.55 * line.size:
        return False
    if 0 in texts:
        is_lower = texts[0][0].islower() or texts[0][0] in "(&/"
        is_open = 0 in before and (is_lower or before[0].endswith(("-", ",", "&", " of", " and")))
        return is_open and len(texts) == 1
    return len(texts) == 1 or 2 * sum(map(has_value, texts.values())) < len(texts)


# --- Header rows ---

_MOST = 4


def header_rows(
    rows: Sequence[tuple[str, ...]],
    spans: Sequence[Span],
    bold: Sequence[bool],
    ruled_off: set[int],
    *,
    is_turned: bool,
) -> tuple[int, bool]:
    """Return the number of header rows at the top, and whether they are evident.

    `bold` is true for each row that is all bold, `ruled_off` has the rows with a line below them
    through the whole table (where not every row has one), `is_turned` is true where the first row
    has text on its side.
    """
    count, evident = 0, False
    bold = [is_bold and (at == 0 or sum(map(bool, row)) > 1)
            for at, (is_bold, row) in enumerate(zip(bold, rows, strict=True))]  # fmt: skip
    if bold[0] and not all(bold):
        count, evident = bold.index(False), True
    inner = min(ruled_off, default=-1)
    if (
        0 <= inner < min(_MOST, len(rows) - 1)
        and len(ruled_off) <= max(2, len(rows) // 2)
        and (bold[inner] or not _is_data(rows[inner]))
    ):
        count, evident = inner + 1, True
    if not evident:
        count = _rows_over_numbers(rows)
        evident = count > 0
    count, evident = max(count, 1), evident or is_turned
    if count > _MOST or count >= len(rows):
        count, evident = 1, False
    for span in spans:  # a name over several rows takes the rows beside it along
        if span.row < count and span.row + span.rows <= _MOST and span.columns < len(rows[0]):
            count = max(count, span.row + span.rows)
    groups = [span for span in spans if span.row == 0 and 1 < span.columns < len(rows[0])]
    if count == 1 and groups and len(rows) > 2 and not _is_data(rows[1]):
        count = 2  # names over groups of columns, then the columns' own
    if not evident and _is_data(rows[0]) and sum(map(_is_data, rows)) > len(rows) // 2:
        return 0, False
    return min(count, len(rows) - 1), evident


def _rows_over_numbers(rows: Sequence[tuple[str, ...]]) -> int:
    """Return the number of rows of words above columns of numbers, 0 where there are none."""
    columns = [at for at, column in enumerate(zip(*rows[1:], strict=True))
               if 2 * sum(map(has_value, column)) >= len(column)]  # fmt: skip
    if not columns:
        return 0
    first = (at for at, row in enumerate(rows) if any(has_value(row[c]) for c in columns))
    at = next(first, 0)
    return at if at <= _MOST else 0


def _is_data(row: tuple[str, ...]) -> bool:
    """Return whether a row has numbers, dates or amounts; years alone may be names of columns."""
    values = [text for text in row if has_value(text)]
    years = [text for text in values if len(text) == 4 and text.isdecimal()]
    return len(values) > len(years) and len(values) >= 0.25 * sum(map(bool, row))


# --- Cells ---


@dataclass(slots=True)
class _Cells:
    """The base cells between all boundaries; soft boundaries are gaps, the others are ruled."""

    xs: list[float]
    ys: list[float]
    soft_x: set[float]
    soft_y: set[float]
    across: Sequence[Rule]
    down: Sequence[Rule]
    lines: Sequence[Line]
    inside: list[Word]
    #: The pieces of the lines of each row, and the words of each base cell.
    pieces: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))
    words: dict[tuple[int, int], list[Word]] = field(default_factory=lambda: defaultdict(list))

    def table(self, box: Box) -> PageTable | None:
        for line in self.lines:
            self.pieces[_index(self.ys, line.middle)] += segments(line, 0.35)
        for word in self.inside:
            self.words[self._place(word)].append(word)
        height, width = len(self.ys) - 1, len(self.xs) - 1
        texts = [[""] * width for _ in range(height)]
        spans = []
        for top, left, bottom, right in self._groups(height, width):
            places = list(product(range(top, bottom + 1), range(left, right + 1)))
            text = _cell_text([word for place in places for word in self.words.get(place, ())])
            for r, c in places:
                texts[r][c] = text
            if text and len(places) > 1:
                spans.append(Span(top, left, bottom - top + 1, right - left + 1))
        # A row between double lines has no text of its own.
        down = [r for r in range(height) if any((r, c) in self.words for c in range(width))
                or (any(texts[r]) and self.ys[r + 1] - self.ys[r] > 6)]  # fmt: skip
        beside = [
            c for c in range(width) if any((r, c) in self.words for r in down)
            or (self.xs[c + 1] - self.xs[c] > 12 and sum(bool(row[c]) for row in texts) > 1)
        ]  # fmt: skip
        if len(down) < 2 or len(beside) < 2:
            return None
        rows = [tuple(texts[r][c] for c in beside) for r in down]
        spans = [span for each in spans for span in _span_among(each, down, beside)]
        return self._with_header(box, rows, spans, down, beside)

    def _with_header(
        self, box: Box, rows: Rows, spans: list[Span], down: list[int], beside: list[int]
    ) -> PageTable:
        words = [[self.words.get((r, c), []) for c in beside] for r in down]
        bold = [all(word.bold for cell in row for word in cell) and any(row) for row in words]
        ruled_off = {at for at, r in enumerate(down[:-1]) if self._is_ruled_below(r)}
        if len(self.down) >= 2 * (len(self.xs) - 1):
            ruled_off = set()
        is_turned = any(word.turn for cell in words[0] for word in cell)
        count, evident = header_rows(rows, spans, bold, ruled_off, is_turned=is_turned)
        walls = [
            {at for at, c in enumerate(beside) if self._is_ruled_left(r, c)} for r in down[:count]
        ]
        extents = [[_extent(cell) for cell in row] for row in words]
        rows, spans = _widened(rows, spans, count, extents, walls)
        edges = [(self.xs[c], self.xs[c + 1]) for c in beside]
        return PageTable(
            box=box._replace(x0=edges[0][0], x1=edges[-1][1]),
            rows=rows,
            edges=edges,
            bounds=[(self.ys[r], self.ys[r + 1]) for r in down],
            is_ruled=any(self.xs[c] not in self.soft_x for c in beside[1:]),
            spans=spans,
            header_rows=count,
            header_is_evident=evident,
            words=self.inside,
        )

    def _place(self, word: Word) -> tuple[int, int]:
        r, middle = _index(self.ys, (word.top + word.bottom) / 2), (word.x0 + word.x1) / 2
        c = _index(self.xs, middle)
        if not word.turn and c and self.xs[c] in self.soft_x:
            for piece in self.pieces[r]:
                if piece.x0 <= middle <= piece.x1 and piece.top <= word.bottom <= piece.bottom:
                    c = min(c, self._first_column(piece))
        return r, c

    def _first_column(self, piece: Box) -> int:
        """Return the column of a text that extends beyond it to the right, else the last one."""
        first = _index(self.xs, piece.x0 + 1)
        middle = _index(self.xs, (piece.x0 + piece.x1) / 2)
        return first if first == middle else len(self.xs) - 1

    def _groups(self, height: int, width: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the merged cells as (top, left, bottom, right), each base cell in one of them."""
        places = list(product(range(height), range(width)))
        right_of = {(r, c) for r, c in places if c + 1 < width and not self._is_parted_right(r, c)}
        below = {(r, c) for r, c in places if r + 1 < height and not self._is_parted_below(r, c)}
        done: set[tuple[int, int]] = set()
        for r, c in places:
            if (r, c) in done:
                continue
            bottom, right = r, c
            while (r, right) in right_of and (r, right + 1) not in done:
                right += 1
            while (
                all(
                    (bottom, at) in below
                    and (bottom + 1, at) not in done
                    and (at == right or (bottom + 1, at) in right_of)
                    for at in range(c, right + 1)
                )
                and not {(bottom + 1, right), (bottom + 1, c - 1)} & right_of
            ):
                bottom += 1
            done |= set(product(range(r, bottom + 1), range(c, right + 1)))
            yield r, c, bottom, right

    def _is_parted_right(self, r: int, c: int) -> bool:
        if self._is_ruled_left(r, c + 1):
            return True
        x, pieces = self.xs[c + 1], self.pieces[r]
        for piece in pieces:
            if piece.x0 < x - 1 and piece.x1 > x + 1:
                return x in self.soft_x and self._first_column(piece) <= c
        if x in self.soft_x:
            return True
        # A ruled column without its line here: one cell, unless both sides have text.
        left = any(self.xs[c] <= (p.x0 + p.x1) / 2 < x for p in pieces)
        right = any(x <= (p.x0 + p.x1) / 2 < self.xs[c + 2] for p in pieces)
        return left and right

    def _is_parted_below(self, r: int, c: int) -> bool:
        y = self.ys[r + 1]
        return y in self.soft_y or _is_covered(self.across, y, self.xs[c], self.xs[c + 1])

    def _is_ruled_left(self, r: int, c: int) -> bool:
        x = self.xs[c]
        return x not in self.soft_x and _is_covered(self.down, x, self.ys[r], self.ys[r + 1])

    def _is_ruled_below(self, r: int) -> bool:
        y, x0, x1 = self.ys[r + 1], self.xs[0], self.xs[-1]
        return y not in self.soft_y and _is_covered(self.across, y, x0, x1, 0.8)


Extent = tuple[float, float] | None


def _widened(
    rows: Rows,
    spans: Sequence[Span],
    header: int,
    extents: Sequence[Sequence[Extent]],
    walls: Sequence[set[int]],
) -> tuple[Rows, list[Span]]:
    """Return rows and spans with names spread over the columns above which they are centred.

    Above the last row of a header, a name with empty places beside it names as many of the columns
    below as extend evenly to both sides of it. `extents` has the beginning and end of each cell's
    words, `walls` the columns of each header row with a ruled line at their left.
    """
    cells = [list(row) for row in rows]
    by_place = {(s.row, s.column): s for s in spans}
    covered = {
        place
        for s in spans
        for place in product(range(s.row, s.row + s.rows), range(s.column, s.column + s.columns))
    } - by_place.keys()
    for r, c in product(range(header - 1), range(len(rows[0]))):
        span = by_place.get((r, c), Span(r, c))
        own = [extent for extent in extents[r][c : c + span.columns] if extent]
        if not cells[r][c] or span.rows > 1 or not own or (r, c) in covered:
            continue
        middle = (min(start for start, _ in own) + max(end for _, end in own)) / 2
        first, last = _evenly_around(middle, span, cells[r], extents[r + 1], walls[r])
        if last - first + 1 > span.columns:
            by_place.pop((r, c), None)
            by_place[r, first] = Span(r, first, 1, last - first + 1)
            cells[r][first : last + 1] = [cells[r][c]] * (last - first + 1)
            covered |= {(r, at) for at in range(first + 1, last + 1)}
    return [tuple(row) for row in cells], list(by_place.values())


def _evenly_around(
    middle: float, span: Span, row: Sequence[str], below: Sequence[Extent], walls: set[int]
) -> tuple[int, int]:
    """Return the first and last of the most columns below that a name is in the middle of."""
    first, last = span.column, span.column + span.columns - 1
    lefts, rights = [first], [last]
    while lefts[-1] and not row[lefts[-1] - 1] and lefts[-1] not in walls:
        lefts.append(lefts[-1] - 1)
    while rights[-1] + 1 < len(row) and not row[rights[-1] + 1] and rights[-1] + 1 not in walls:
        rights.append(rights[-1] + 1)
    for left, right in product(lefts, rights):
        start, end = below[left], below[right]
        if start and end and right - left > last - first:
            off = abs((start[0] + end[1]) / 2 - middle)
            if off < 0.12 * (end[1] - start[0]):
                first, last = left, right
    return first, last


def _extent(words: Sequence[Word]) -> Extent:
    """Return the start and end of a cell's words."""
    return (min(w.x0 for w in words), max(w.x1 for w in words)) if words else None


def _is_covered(
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
    return bisect_right(bounds, at, 1, len(bounds) - 1) - 1


def _span_among(span: Span, rows: Sequence[int], columns: Sequence[int]) -> list[Span]:
    """Return a span counted in the rows and columns that stay; none where one cell is left."""
    r = [at for at, row in enumerate(rows) if span.row <= row < span.row + span.rows]
    c = [at for at, col in enumerate(columns) if span.column <= col < span.column + span.columns]
    return [Span(r[0], c[0], len(r), len(c))] if len(r) * len(c) > 1 else []


def _cell_text(words: Sequence[Word]) -> str:
    """Return the text of a cell: its lines joined by spaces, turned text in its own direction."""
    texts = [line.text for line in lines_of(w for w in words if not w.turn)]
    upwards = [word for word in words if word.turn == 90]
    texts += [w.text for w in sorted(upwards, key=lambda w: (round(w.x0 / 4), -w.bottom))]
    downwards = [word for word in words if word.turn == 270]
    texts += [w.text for w in sorted(downwards, key=lambda w: (-round(w.x0 / 4), w.top))]
    texts += [word.text for word in words if word.turn == 180]
    return _LEADERS.sub("", " ".join(filter(None, texts))).strip()
