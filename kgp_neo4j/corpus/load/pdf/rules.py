"""The ruled lines of a page: drawn lines, thin boxes, and the edges of boxes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from kgp_neo4j.corpus.load.pdf.letters import Box, Line, PageObjects, segments, turned

__all__ = ["NEAR", "Rule", "Rules", "clusters", "column_gaps", "components", "gutters", "rules_of"]

#: Points within which two ruled lines are one, and within which they meet.
NEAR = 3.0
#: Lines of a page with tables at most; more make a drawing, or a table too large to read.
_MOST = 6000


@dataclass(frozen=True, slots=True)
class Rule:
    """A ruled line: `at` is its height (if horizontal) or its distance from the left."""

    at: float
    start: float
    end: float

    @property
    def length(self) -> float:
        """From start to end."""
        return self.end - self.start

    @property
    def across(self) -> Box:
        """Return the line as a box, if it is horizontal."""
        return Box(self.start, self.at, self.end, self.at)

    @property
    def down(self) -> Box:
        """Return the line as a box, if it is vertical."""
        return Box(self.at, self.start, self.at, self.end)


@dataclass(slots=True)
class Rules:
    """The ruled lines of a page, and the boxes of its drawings (charts, diagrams)."""

    across: list[Rule]
    down: list[Rule]
    drawings: list[Box]


def rules_of(page: PageObjects, lines: Sequence[Line], turn: int) -> Rules:
    """Return the ruled lines of a page, underlines left out.

    Lines in a frame around a curve or a slanted line belong to a drawing and are left out.
    """
    across: list[Rule] = []
    down: list[Rule] = []
    frames: list[Box] = []
    slanted: list[Box] = []
    if len(page.shapes) > _MOST:
        return Rules([], [], [])
    width, height = page.width, page.height
    for kind, flat, points in page.shapes:
        box = turned(flat, turn, width, height)
        if kind == "curve" and not _is_square(points):
            slanted.append(box)
        elif min(box.width, box.height) <= NEAR:
            if box.width > box.height:
                across.append(Rule((box.top + box.bottom) / 2, box.x0, box.x1))
            elif box.height > box.width:
                down.append(Rule((box.x0 + box.x1) / 2, box.top, box.bottom))
        elif kind == "line":
            slanted.append(box)
        elif flat.width < 0.98 * width or flat.height < 0.98 * height:
            frames.append(box)
            across += [Rule(y, box.x0, box.x1) for y in (box.top, box.bottom)]
            down += [Rule(x, box.top, box.bottom) for x in (box.x0, box.x1)]
    drawings = _drawings(frames, slanted, width * height)
    across = _merged(rule for rule in across if not _is_in(rule.across, drawings))
    down = _merged(rule for rule in down if not _is_in(rule.down, drawings))
    across = [rule for rule in across if rule.length > 5 and not _is_underline(rule, lines)]
    return Rules(across, [rule for rule in down if rule.length > 5], drawings)


def clusters(values: Iterable[float]) -> list[float]:
    """Return the middles of groups of values each of which is near the next one."""
    groups: list[list[float]] = []
    for value in sorted(values):
        if groups and value - groups[-1][-1] <= NEAR and value - groups[-1][0] <= 2 * NEAR:
            groups[-1].append(value)
        else:
            groups.append([value])
    return [sum(group) / len(group) for group in groups]


def components(rules: Rules) -> list[tuple[list[Rule], list[Rule]]]:
    """Return the groups of ruled lines that meet, horizontal and vertical ones of each."""
    both = [*rules.across, *rules.down]
    first = len(rules.across)
    parent = list(range(len(both)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    for i, a in enumerate(rules.across):
        for j, d in enumerate(rules.down, first):
            if a.start - NEAR <= d.at <= a.end + NEAR and d.start - NEAR <= a.at <= d.end + NEAR:
                parent[root(j)] = root(i)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = defaultdict(lambda: ([], []))
    for at, rule in enumerate(both):
        groups[root(at)][at >= first].append(rule)
    return list(groups.values())


def _is_square(points: Sequence[tuple[float, float]]) -> bool:
    """Return whether all sides of a polygon are level or upright."""
    return 2 <= len(points) <= 12 and all(
        abs(a[0] - b[0]) < 1 or abs(a[1] - b[1]) < 1 for a, b in pairwise(points)
    )


def _drawings(frames: Sequence[Box], slanted: Sequence[Box], page: float) -> list[Box]:
    """Return the frames of drawings: those around a curve, the widest ones first.

    A frame that takes most of the page is no drawing's. Small curves (round corners, bullets) make
    none.
    """
    large = [box for box in slanted if max(box.width, box.height) > 20][:500]
    drawings: list[Box] = []
    for frame in sorted(set(frames), key=lambda box: -box.area):
        if not 900 <= frame.area <= 0.5 * page or _is_in(frame, drawings):
            continue
        if any(frame.holds(box) and box.area < frame.area for box in large):
            drawings.append(frame)
    return drawings


def _is_in(box: Box, outer: Sequence[Box]) -> bool:
    return any(box.within(each, 1) for each in outer)


def _merged(rules: Iterable[Rule]) -> list[Rule]:
    """Return rules with those joined that are on one line and touch."""
    levels: list[list[Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if levels and rule.at - levels[-1][0].at <= 0.7 * NEAR:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    merged: list[Rule] = []
    for level in levels:
        at = sum(rule.at for rule in level) / len(level)
        parts: list[Rule] = []
        for rule in sorted(level, key=lambda rule: rule.start):
            if parts and rule.start <= parts[-1].end + NEAR:
                parts[-1] = Rule(at, parts[-1].start, max(parts[-1].end, rule.end))
            else:
                parts.append(Rule(at, rule.start, rule.end))
        merged += parts
    return merged


def _is_underline(rule: Rule, lines: Sequence[Line]) -> bool:
    """Return whether a rule is right below words, along their whole length."""
    for line in lines:
        if not line.top < rule.at < line.bottom + line.size:
            continue
        above = [w for w in line.words if w.x1 > rule.start + 1 and w.x0 < rule.end - 1]
        bottom = max((word.bottom for word in above), default=0.0)
        if -0.5 * line.size <= rule.at - bottom <= 0.25 * line.size and (
            abs(above[0].x0 - rule.start) < 2.5 and abs(above[-1].x1 - rule.end) < 2.5
        ):
            return True
    return False


# --- Gaps ---


def gutters(lines: Sequence[Line], least: float = 0.6) -> list[float]:
    """Return the places of the white gaps through nearly all of some lines of text.

    One line in seven may cross a gap (a spanning header, a note). Both sides must have text in two
    lines at least. `least` is the width of a gap in sizes of the letters.
    """
    if len(lines) < 2:
        return []
    size = sorted(line.size for line in lines)[len(lines) // 2]
    allowed = 0 if len(lines) < 4 else max(1, len(lines) // 7)
    width = (least if len(lines) >= 4 else max(least, 1.0)) * size
    pieces = [segments(line, least * 0.9) for line in lines]
    # How many pieces begin less how many end at each place; their sum is how many cover it.
    changes: dict[float, int] = defaultdict(int)
    for piece in (piece for line in pieces for piece in line):
        changes[piece.x0] += 1
        changes[piece.x1] -= 1
    places = sorted(changes)
    covered = list(accumulate(changes[x] for x in places))
    gaps: list[float] = []
    start: float | None = None
    for at, x in enumerate(places):
        if covered[at] > allowed and start is not None:
            if x - start >= width:
                gaps.append((start + x) / 2)
            start = None
        elif covered[at] <= allowed and start is None and at:
            start = x
    return [x for x in gaps if _has_both_sides(x, pieces)]


def _has_both_sides(x: float, pieces: Sequence[Sequence[Box]]) -> bool:
    left = sum(any(piece.x1 <= x for piece in line) for line in pieces)
    right = sum(any(piece.x0 >= x for piece in line) for line in pieces)
    return min(left, right) >= min(2, len(pieces))


def column_gaps(lines: Sequence[Line], ruled: Sequence[float]) -> list[float]:
    """Return the gaps that divide ruled columns further; hardly any where all columns are ruled."""
    gaps: list[float] = []
    is_ruled = len(ruled) > 4
    for x0, x1 in pairwise(ruled):
        parts = ([w for w in line.words if x0 <= (w.x0 + w.x1) / 2 < x1] for line in lines)
        column = [Line(words) for words in parts if words]
        if is_ruled and (len(column) < 5 or x1 - x0 < 40):
            continue
        between = gutters(column, 1.5 if is_ruled else 0.6)
        gaps += [x for x in between if not _is_beside_marks(x, column)]
    return gaps


def _is_beside_marks(x: float, lines: Sequence[Line]) -> bool:
    """Return whether a gap separates a list's bullets or numbers from its items."""
    left = [[w for w in line.words if w.x1 <= x] for line in lines]
    marks = [words[-1].text for words in left if words]
    lists = sum(bool(re.fullmatch(r"[^\w\s]|\(?\w{1,2}[.)]|o", mark)) for mark in marks)
    return lists >= 0.6 * max(len(marks), 1)
