"""Ruled lines and gaps of a page, and a table's cells built from them and its lines of text."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise, product
from typing import Any, NamedTuple, TypeAlias

from pdfplumber.utils.clustering import cluster_list, cluster_objects

from kgp_neo4j.corpus.load.contents import CAPTION, Rows, header_rows, picked, places_of
from kgp_neo4j.corpus.load.pdf import cells
from kgp_neo4j.corpus.load.pdf.drawing import PageObjects
from kgp_neo4j.corpus.load.pdf.letters import Box, Line, Word, center, is_leftward, lines_of
from kgp_neo4j.text.values import typed
from kgp_neo4j.types.tables import Span

#: Points within which two ruled lines are one, and within which they meet.
NEAR = 3.0
#: Lines of a page with tables at most; more make a drawing, or a table too large to read.
_MOST = 6000


class Rule(NamedTuple):
    """A ruled line: `at` is its height (if level) or its distance from the left."""

    at: float
    start: float
    end: float

    @property
    def across(self) -> Box:
        """Return the line as a box, if it is level."""
        return Box(self.start, self.at, self.end, self.at)


#: The level and the upright lines of a page, and the boxes of its drawings (charts).
Rules: TypeAlias = tuple[list[Rule], list[Rule], list[Box]]


def rules_of(page: PageObjects, lines: Sequence[Line]) -> Rules:
    """Return the ruled lines of a page, without underlines and those in drawings."""
    if len(page.shapes) + len(page.slanted) > _MOST:
        return [], [], []
    drawings = _drawings(page)
    across, down = list[Rule](), list[Rule]()
    for box in page.shapes:
        is_frame = box.width > 0.98 * page.width and box.height > 0.98 * page.height
        if is_frame or any(drawing.holds(box) for drawing in drawings):
            continue
        is_thin = min(box.width, box.height) <= NEAR
        if not is_thin or box.width > box.height:
            heights = [(box.top + box.bottom) / 2] if is_thin else [box.top, box.bottom]
            across += [Rule(y, box.x0, box.x1) for y in heights]
        if not is_thin or box.height > box.width:
            places = [(box.x0 + box.x1) / 2] if is_thin else [box.x0, box.x1]
            down += [Rule(x, box.top, box.bottom) for x in places]
    across = [rule for rule in _merged(across) if not _is_underline(rule, lines)]
    return across, _merged(down), drawings


def components(across: Sequence[Rule], down: Sequence[Rule]) -> list[tuple[list[Rule], set[Rule]]]:
    """Return the groups of ruled lines that meet, level and upright ones of each."""
    groups: list[tuple[list[Rule], set[Rule]]] = []
    for a in across:
        met = {
            d for d in down
            if a.start - NEAR <= d.at <= a.end + NEAR and d.start - NEAR <= a.at <= d.end + NEAR
        }  # fmt: skip
        level = [a]
        for group in [group for group in groups if group[1] & met]:
            groups.remove(group)
            level += group[0]
            met |= group[1]
        groups.append((level, met))
    return groups


def _drawings(page: PageObjects) -> list[Box]:
    """Return the outermost frames around a large curve that take no more than half of the page."""
    large = [box for box in page.slanted if max(box.width, box.height) > 20][:500]
    most = 0.5 * page.width * page.height
    frames = [box for box in {*page.shapes} if 900 <= box.width * box.height <= most]
    return outermost(frame for frame in frames if any(map(frame.holds, large)))


def outermost(boxes: Iterable[Box]) -> list[Box]:
    """Return the boxes that are in no larger one of them, the largest first."""
    found: list[Box] = []
    for box in sorted(boxes, key=lambda box: -box.width * box.height):
        if not any(other.holds(box) for other in found):
            found.append(box)
    return found


def _merged(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules with those joined that are on one line and touch."""
    merged: list[Rule] = []
    levels: list[Any] = cluster_objects(list(rules), lambda rule: rule[0], 0.7 * NEAR)
    for level in levels:
        at = sum(rule.at for rule in level) / len(level)
        end = float("-inf")
        for rule in sorted(level, key=lambda rule: rule.start):
            if rule.start <= end + NEAR:
                rule = Rule(at, merged.pop().start, max(end, rule.end))
            merged.append(rule._replace(at=at))
            end = rule.end
    return merged


def _is_underline(rule: Rule, lines: Sequence[Line]) -> bool:
    """Return whether a rule is right below words, along their whole length."""
    for line in lines:
        above = [w for w in line.words if w.x1 > rule.start + 1 and w.x0 < rule.end - 1]
        if above and abs(above[0].x0 - rule.start) < 2.5 and abs(above[-1].x1 - rule.end) < 2.5:
            off = rule.at - max(word.bottom for word in above)
            if -0.5 * line.size <= off <= 0.25 * line.size:
                return True
    return False


#: The width of a gap between columns in sizes of the letters.
_GAP = 0.6


def gutters(lines: Sequence[Line]) -> list[float]:
    """Return the white gaps through nearly all, six in seven, of some lines of text."""
    if len(lines) < 2:
        return []
    width = _GAP * sorted(line.size for line in lines)[len(lines) // 2]
    pieces = [line.segments(0.9 * _GAP) for line in lines]
    # How many pieces begin less how many end at each place; their sum is how many cover it.
    changes = Counter(piece.x0 for line in pieces for piece in line)
    changes.subtract(piece.x1 for line in pieces for piece in line)
    places = sorted(changes)
    gaps: list[float] = []
    start = float("inf")
    for x, covered in zip(places, accumulate(changes[x] for x in places), strict=True):
        if covered > max(1, len(lines) // 7):
            if x - start >= width:
                gaps.append((start + x) / 2)
            start = float("inf")
        elif x > places[0]:
            start = min(start, x)
    # Both sides have text in two lines.
    least, most = sorted(line[0].x1 for line in pieces)[1], sorted(line[-1].x0 for line in pieces)
    return [x for x in gaps if least <= x <= most[-2]]


#: Leader dots from one column to the next.
_LEADERS = re.compile(
    r"(?<![\s.…_])\s*+(?:[.…_]\s*+){4,}+$|(?<!\s)\s++(?:\.\s*+){2,3}+$|^(?:\s*+\.){4,}+"
)
_MOST_CELLS = 50_000


@dataclass(slots=True, eq=False)
class PageTable:
    """A table as it is on one page; `edges` are the left and right ends of its columns."""

    box: Box
    rows: list[tuple[str, ...]]
    edges: list[tuple[float, float]]
    #: Ruled lines, not gaps alone, separate the columns.
    is_ruled: bool = False
    spans: list[Span] = field(default_factory=list)
    header_rows: int = 0
    words: list[Word] = field(default_factory=list)
    #: A heading within the table's frame.
    heading: str = ""
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
    box: Box, words: Sequence[Word], across: Iterable[Rule] = (), down: Iterable[Rule] = ()
) -> PageTable | None:
    """Return the table within `box`, None where its text makes fewer than 2 x 2 cells."""
    inside = [word for word in words if box.holds(word)]
    lines = lines_of(word for word in inside if not word.turn)
    across = [r for r in across if _is_beside(r, (box.top, box.bottom), (box.x0, box.x1))]
    down = [r for r in down if _is_beside(r, (box.x0, box.x1), (box.top, box.bottom))]
    ruled_x, ruled_y = (
        [sum(group) / len(group) for group in cluster_list([*ends, *(r.at for r in rules)], NEAR)]
        for ends, rules in ((box[::2], down), (box[1::2], across))
    )
    soft_x: list[float] = []
    for x0, x1 in pairwise(ruled_x if len(ruled_x) <= 4 else []):
        parts = ([w for w in line.words if x0 <= center(w) < x1] for line in lines)
        soft_x += gutters([Line(part) for part in parts if part])
    xs = sorted([*ruled_x, *soft_x])
    soft_y = _row_bounds(lines, xs, ruled_x, ruled_y)
    ys = sorted([*ruled_y, *soft_y])
    if not inside or min(len(xs), len(ys)) < 3 or len(xs) * len(ys) > _MOST_CELLS:
        return None
    return _Cells(xs, ys, set(soft_x), set(soft_y), across, down).table(box, lines, inside)


def _is_beside(rule: Rule, at: tuple[float, float], along: tuple[float, float]) -> bool:
    is_near = at[0] - NEAR <= rule.at <= at[1] + NEAR
    return is_near and rule.end > along[0] + NEAR and rule.start < along[1] - NEAR


def _row_bounds(
    lines: Sequence[Line], xs: Sequence[float], ruled_x: Sequence[float], ys: Sequence[float]
) -> list[float]:
    """Return the heights that separate rows between the ruled lines at `ys`.

    In a table that is ruled all over, and in a header, the space between two lines is one row,
    unless every column has a text on every line of it (as where each fifth row is ruled off).
    """
    words = [word for line in lines for word in line.words]
    filled = sum(any(a <= word.x0 < b for word in words) for a, b in pairwise(ruled_x))
    is_ruled = filled > 1 and len(ys) > 3
    bounds: list[float] = []
    for at, (top, bottom) in enumerate(pairwise(ys)):
        between = [line for line in lines if top <= line.middle < bottom]
        cells = [_texts_by_column(line, xs) for line in between]
        starts: Iterable[int] = range(1, len(between))
        if is_ruled or (at == 0 and len(ys) > 2 and len(between) <= 4):
            if not is_ruled or not _is_row_each(cells):
                starts = [n for n in starts if _is_over(between[n - 1], between[n], xs)]
        else:
            by_space = _rows_by_space(between, cells)
            starts = by_space or [n for n in starts if not _goes_on(cells[n - 1], cells[n])]
        bounds += [(between[n - 1].bottom + between[n].top) / 2 for n in starts]
    return bounds


def _texts_by_column(line: Line, xs: Sequence[float]) -> dict[int, str]:
    texts: dict[int, list[str]] = defaultdict(list)
    for word in line.words:
        texts[_index(xs, center(word))].append(word.text)
    return {column: " ".join(words) for column, words in texts.items()}


def _is_row_each(cells: Sequence[dict[int, str]]) -> bool:
    columns = set().union(*cells)
    full = set(columns).intersection(*cells)
    return len(columns) >= 3 and 0 in full and len(full) >= 0.8 * len(columns)


def _is_over(above: Line, below: Line, xs: Sequence[float]) -> bool:
    """Return whether a line names groups of columns and the one below it the columns themselves."""

    def crosses(line: Line) -> bool:
        return any(p.x0 < x - 1 and p.x1 > x + 1 for x in xs[1:-1] for p in line.segments(0.3))

    return crosses(above) and not crosses(below)


def _rows_by_space(lines: Sequence[Line], cells: Sequence[dict[int, str]]) -> list[int]:
    """Return the lines that begin a row where rows are clearly further apart than their lines.

    Lines close together are no row where several have text in most columns, with numbers if any.
    """
    values = [any(map(has_value, line.values())) for line in cells]
    has_values = any(values[1:])
    gaps = [b.top - a.bottom for a, b in pairwise(lines)]
    most = max(2, 0.6 * len(set().union(*cells)))
    full = [len(line) >= most and v >= has_values for line, v in zip(cells, values, strict=True)]
    for low, high in reversed(list(pairwise(sorted(gaps)))):
        if high - low < 0.25 * lines[0].size or low > 0.6 * lines[0].size:
            continue
        starts = [at for at, gap in enumerate(gaps, 1) if gap > (low + high) / 2]
        groups = pairwise([0, *starts, len(lines)])
        if all(b - a == 1 or sum(full[a:b]) == 1 or (has_values and not a) for a, b in groups):
            return starts
    return []


def _goes_on(above: dict[int, str], texts: dict[int, str]) -> bool:
    """Return whether a line continues the row of the line above it."""
    if 0 not in texts:
        return 2 * sum(map(has_value, texts.values())) < len(texts)
    is_lower = texts[0][0].islower() or texts[0][0] in "(&/"
    is_open = is_lower or above.get(0, "").endswith(("-", ",", "&", " of", " and"))
    return 0 in above and is_open and len(texts) == 1


@dataclass(slots=True)
class _Cells:
    """The base cells between all boundaries; soft boundaries are gaps, the others are ruled."""

    xs: list[float]
    ys: list[float]
    soft_x: set[float]
    soft_y: set[float]
    across: Sequence[Rule]
    down: Sequence[Rule]
    #: The pieces of the lines of each row, and the words of each base cell.
    pieces: dict[int, list[Box]] = field(default_factory=lambda: defaultdict(list))
    words: dict[tuple[int, int], list[Word]] = field(default_factory=lambda: defaultdict(list))

    def table(self, box: Box, lines: Sequence[Line], inside: Sequence[Word]) -> PageTable | None:
        for line in lines:
            self.pieces[_index(self.ys, line.middle)] += line.segments(0.35)
        for word in inside:
            self.words[self._place(word)].append(word)
        texts = {}
        merged = list(self._merged())
        for span in merged:
            covered = list(places_of(span))
            words = [word for place in covered for word in self.words.get(place, ())]
            parts: list[Line | Word] = [*lines_of(word for word in words if not word.turn)]
            parts += [word for word in words if word.turn]
            text = _LEADERS.sub("", " ".join(part.text for part in parts)).strip()
            texts.update(dict.fromkeys(covered, text))
        down, beside = (sorted({place[axis] for place in self.words}) for axis in (0, 1))
        if len(down) < 2 or len(beside) < 2:
            return None
        across = range(len(self.xs) - 1)
        grid = [[texts[r, c] for c in across] for r in range(len(self.ys) - 1)]
        rows, spans = picked(grid, merged, down, beside)
        if is_leftward(inside):  # the first column is on the right
            beside.reverse()
            rows = [row[::-1] for row in rows]
            spans = [replace(s, column=len(beside) - s.column - s.columns) for s in spans]
        first, last = _body(rows, spans)
        bottom = self.ys[down[last - 1] + 1]
        edges = [(self.xs[c], self.xs[c + 1]) for c in beside]
        table = PageTable(
            box=Box(min(edges)[0], self.ys[down[first]], max(edges)[1], bottom),
            rows=[tuple(row) for row in rows[first:last]],
            edges=edges,
            is_ruled=any(self.xs[c] not in self.soft_x for c in beside[1:]),
            spans=[replace(s, row=s.row - first) for s in spans if first <= s.row < last],
            words=[word for word in inside if (word.top + word.bottom) / 2 <= bottom],
            heading=" ".join(next(filter(None, row)) for row in rows[:first]),
        )
        table.header_rows = header_rows(table.rows, table.spans)
        is_grouped = any(s.row == 0 and 1 < s.columns < len(beside) for s in table.spans)
        if table.header_rows < 2 and is_grouped and not any(map(has_value, table.rows[1])):
            table.header_rows = min(2, len(table.rows) - 1)
        return table

    def _place(self, word: Word) -> tuple[int, int]:
        r = _index(self.ys, (word.top + word.bottom) / 2)
        c = _index(self.xs, center(word))
        for piece in self.pieces[r] if not word.turn and self.xs[c] in self.soft_x else []:
            if piece.x0 <= center(word) <= piece.x1 and piece.top <= word.bottom <= piece.bottom:
                c = min(c, self._first_column(piece))
        return r, c

    def _first_column(self, piece: Box) -> int:
        """Return the column of a text that extends beyond it to the right, else the last one."""
        first = _index(self.xs, piece.x0 + 1)
        return first if first == _index(self.xs, center(piece)) else len(self.xs) - 1

    def _merged(self) -> Iterator[Span]:
        """Yield the cells that nothing parts, so that each base cell is in one of them."""
        height, width = len(self.ys) - 1, len(self.xs) - 1
        base = list(product(range(height), range(width)))
        right_of = {(r, c) for r, c in base if c + 1 < width and not self._is_parted_right(r, c)}
        below = {
            (r, c) for r, c in base
            if r + 1 < height
            and (y := self.ys[r + 1]) not in self.soft_y
            and not _is_covered(self.across, y, self.xs[c], self.xs[c + 1])
        }  # fmt: skip
        done: set[tuple[int, int]] = set()
        for r, c in base:
            if (r, c) in done:
                continue
            bottom, right = r, c
            while (r, right) in right_of and (r, right + 1) not in done:
                right += 1
            while all(
                (bottom, at) in below
                and (bottom + 1, at) not in done
                and (at == right or (bottom + 1, at) in right_of)
                for at in range(c, right + 1)
            ):
                bottom += 1
            span = Span(r, c, bottom - r + 1, right - c + 1)
            done.update(places_of(span))
            yield span

    def _is_parted_right(self, r: int, c: int) -> bool:
        x, pieces = self.xs[c + 1], self.pieces[r]
        if x not in self.soft_x and _is_covered(self.down, x, self.ys[r], self.ys[r + 1]):
            return True
        for piece in pieces:
            if piece.x0 < x - 1 and piece.x1 > x + 1:
                return x in self.soft_x and self._first_column(piece) <= c
        if x in self.soft_x:
            return True
        # A ruled column without its line here: one cell, unless both sides have text.
        sides = pairwise(self.xs[c : c + 3])
        return all(any(a <= center(piece) < b for piece in pieces) for a, b in sides)


def _is_covered(rules: Sequence[Rule], at: float, start: float, end: float) -> bool:
    """Return whether ruled lines at one place cover most of a stretch."""
    near = [rule for rule in rules if abs(rule.at - at) <= NEAR]
    length = sum(max(0.0, min(rule.end, end) - max(rule.start, start)) for rule in near)
    return length >= 0.6 * (end - start)


def _index(bounds: Sequence[float], at: float) -> int:
    return bisect_right(bounds, at, 1, len(bounds) - 1) - 1


def _body(rows: Rows, spans: Sequence[Span]) -> tuple[int, int]:
    """Return where the rows begin and end without a heading above and notes below them."""
    columns = len(rows[0])
    single = [span for span in spans if span.rows == 1]
    wide = {s.row for s in single if s.columns >= max(3, 0.9 * columns)
            and sum(map(bool, rows[s.row])) == s.columns}  # fmt: skip
    merged = {span.row for span in single if span.columns > 1}
    numbers = sum(any(typed(text).number is not None for text in row[1:]) for row in rows)
    first, last = 0, len(rows)
    while first in wide and last - first > 3:
        first += 1
    while last - first > 3 and 2 * numbers > len(rows):
        texts = {text for text in rows[last - 1] if text}
        is_note = len(texts) == 1 or (len(texts) == 2 and last - 1 in merged)
        if not is_note or any(map(has_value, texts)):
            break
        last -= 1
    return first, last


_DOTS = re.compile(r"(?:\s?[.…·]){4,}")
_PAGE = re.compile(r"(?:[.…·]\s*)*(\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d{1,3})")


def aligned_tables(lines: Sequence[Line]) -> list[PageTable]:
    """Return the tables among the lines of one column of text that have no ruled lines.

    They have a caption beside them or numbers in a column. Tables of contents are found too.
    """
    if listed := _contents(lines):
        first, last, contents = listed
        return [*aligned_tables(lines[:first]), contents, *aligned_tables(lines[last:])]
    captions = [line for line in lines if CAPTION.match(line.text)]
    tables: list[PageTable] = []
    start = 0
    while start < len(lines):
        end = _end_of_columns(lines, start)
        if end - start < 3:
            start += 1
            continue
        box = Box.around(lines[start:end])
        around = Box(box.x0, box.top - 30, box.x1, box.bottom + 30)
        words = [word for line in lines[start:end] for word in line.words]
        table = table_in(Box(box.x0 - 1, box.top - 1, box.x1 + 1, box.bottom + 1), words)
        if table is not None and not _is_code(words):
            columns = list(zip(*table.rows, strict=True))[1:]
            values = max(sum(map(has_value, column)) for column in columns)
            if 2 * values >= len(table.rows) or any(map(around.holds, captions)):
                tables.append(table)
        start = end
    return tables


def _end_of_columns(lines: Sequence[Line], start: int) -> int:
    """Return the end of the lines from `start` on that may be one table's rows."""
    end, single = start, 0 if len(lines[start].segments(0.9)) > 1 else 2
    left = lines[start].x0
    while end < len(lines) and single < 2:
        line, left = lines[end], min(left, lines[end].x0)
        # A lone text close below the line above, right of the first column, goes on in its cell.
        is_cell = line.x0 > left + line.size and line.top - lines[end - 1].bottom < 0.5 * line.size
        single = single + 1 if len(line.segments(0.9)) < 2 and not is_cell else 0
        end += 1
    return end - single


def _contents(lines: Sequence[Line]) -> tuple[int, int, PageTable] | None:
    """Return the first and the end of the lines of a table of contents, and the table, if any."""
    rows: list[tuple[str, ...]] = []
    first = last = 0
    for at, line in enumerate(lines):
        entry, *rest = _DOTS.split(" ".join(word.text for word in line.words), maxsplit=1)
        page = _PAGE.fullmatch(rest[0].strip()) if rest else None
        if page is not None:
            first = first if rows else at
            before = [part.text for part in lines[last:at]] if rows else []
            rows.append((" ".join([*before, entry.strip(" .")]), page[1]))
            last = at + 1
        elif rows and at - last > 1:
            break
    if len(rows) < 5:
        return None
    heading = lines[first - 1].text if first and len(lines[first - 1].words) < 6 else ""
    first -= bool(heading)
    box = Box.around(lines[first:last])
    words = [word for line in lines[first:last] for word in line.words]
    edges = [(box.x0, box.x1 - 20), (box.x1 - 20, box.x1)]
    return first, last, PageTable(box, rows, edges, words=words, heading=heading)


def _is_code(words: Sequence[Word]) -> bool:
    lines = lines_of(word for word in words if not word.turn)
    return sum(line.mono for line in lines) > 0.6 * len(lines)


#: The beginning of a caption between two tables or figures.
_MARK = re.compile(r"(?:table|figure|fig\.)\s+\w", re.IGNORECASE)


def ruled_tables(words: Sequence[Word], rules: cells.Rules) -> list[PageTable]:
    """Return the tables of a page that have ruled lines, in no order.

    Lines of both directions that meet make the cells. Where there are only level lines of one
    width (as printed in books), the gaps in the text between make the columns.
    """
    levels, uprights, drawings = rules
    words = [w for w in words if not any(drawing.holds(w) for drawing in drawings)]
    tables: list[PageTable] = []
    used: set[Rule] = set()
    for across, down in cells.components(levels, uprights):
        upright = (Box(rule.at, rule.start, rule.at, rule.end) for rule in down)
        box = Box.around([*(rule.across for rule in across), *upright])
        table = table_in(box, words, across, down) if down else None
        # A form or a frame has long texts.
        texts = set(table.texts) if table else set()
        if table is None or sum(len(text.split()) for text in texts) > 30 * len(texts):
            continue
        if table.is_ruled or _is_open_table(table):
            tables.append(table)
            used.update(r for r in levels if r in across or box.holds(r.across))
    rest = [rule for rule in levels if rule not in used]
    for stack in _stacks(rest):
        tables += _tables_of_stack(words, stack, rest)
    by_box = {table.box: table for table in reversed(tables)}
    return [by_box[box] for box in cells.outermost(by_box)]


def _stacks(across: Sequence[Rule]) -> list[list[Rule]]:
    """Return the level lines of one width, one above the other."""
    stacks: list[list[Rule]] = []
    for rule in sorted(across):
        for stack in stacks:
            if abs(stack[-1].start - rule.start) < 4 and abs(stack[-1].end - rule.end) < 4:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    return stacks


def _tables_of_stack(
    words: Sequence[Word], stack: list[Rule], across: Sequence[Rule]
) -> Iterator[PageTable]:
    """Yield the tables of one stack: the longest runs of its lines with columns between them."""
    start = 0
    while start < len(stack) - 1:
        end = start
        while end + 1 < len(stack) and _is_tabular(words, stack[end], stack[end + 1]):
            end += 1
        if end > start:
            top = _top_of_header(words, stack[start : end + 1])
            box = Box(stack[0].start, top, stack[0].end, stack[end].at)
            inner = [r for r in across if box.top - 1 <= r.at <= box.bottom + 1]
            table = table_in(box, words, inner)
            if table is not None and _is_open_table(table) and not _is_part(table, words):
                yield table
        start = end + 1


def _top_of_header(words: Sequence[Word], stack: Sequence[Rule]) -> float:
    """Return the top of the line of column names right above the first level line, else its top."""
    top, box = stack[0].at, Box(stack[0].start, stack[0].at, stack[0].end, stack[-1].at)
    above = Box(box.x0 - NEAR, top - 30, box.x1 + NEAR, top)
    lines, inside = (lines_of(w for w in words if b.holds(w) and not w.turn) for b in (above, box))
    if not lines or not inside or top - lines[-1].bottom > lines[-1].size:
        return top
    columns, pieces = gutters(inside), lines[-1].segments(0.9)
    places = {sum(x < center(p) for x in columns) for p in pieces}
    is_header = 1 < len(pieces) == len(places) and len(places) >= len(columns)
    return lines[-1].top - 1 if is_header else top


def _is_part(table: PageTable, words: Sequence[Word]) -> bool:
    """Return whether a table of numbers has its rows' names on its left: its lines are of sums."""
    if not all(map(has_value, filter(None, (row[0] for row in table.rows)))):
        return False
    rows = lines_of(word for word in table.words if not word.turn)
    bottoms = [word.bottom for word in words if word.x1 < table.box.x0 + NEAR]
    return all(any(abs(bottom - row.bottom) < 1 for bottom in bottoms) for row in rows[1:])


def _is_tabular(words: Sequence[Word], above: Rule, below: Rule) -> bool:
    """Return whether the text between two lines may be rows of a table."""
    box = Box(above.start, above.at, above.end, below.at)
    lines = lines_of(w for w in words if box.holds(w))
    if not lines:
        return box.height < 4 * NEAR
    if any(_MARK.match(line.text) and len(line.segments(0.9)) < 3 for line in lines):
        return False
    return len(lines) <= 2 or bool(gutters(lines))


def _is_open_table(table: PageTable) -> bool:
    """Return whether rows and columns made by gaps are a table's, not code's or running text's."""
    several = sum(sum(map(bool, row)) > 1 for row in table.rows)
    is_short = sum(len(text.split()) for text in table.texts) <= 9 * len(table.texts)
    return several >= 0.5 * len(table.rows) and is_short and not _is_code(table.words)
