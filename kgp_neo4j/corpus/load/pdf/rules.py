"""The ruled lines of a page: drawn lines, thin boxes, and the edges of boxes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeAlias

from pdfplumber.utils.clustering import cluster_objects

from kgp_neo4j.corpus.load.pdf.drawing import PageObjects
from kgp_neo4j.corpus.load.pdf.letters import Box, Line, segments

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

    @property
    def down(self) -> Box:
        """Return the line as a box, if it is upright."""
        return Box(self.at, self.start, self.at, self.end)


#: The level and the upright lines of a page, and the boxes of its drawings (charts).
Rules: TypeAlias = tuple[list[Rule], list[Rule], list[Box]]


def rules_of(page: PageObjects, lines: Sequence[Line]) -> Rules:
    """Return the ruled lines of a page, without underlines and those in drawings."""
    if len(page.shapes) + len(page.slanted) > _MOST:
        return [], [], []
    drawings = _drawings(page)
    across: list[Rule] = []
    down: list[Rule] = []
    for box in page.shapes:
        if _is_in(box, drawings) or min(box.width / page.width, box.height / page.height) > 0.98:
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
    """Return the frames of drawings: those around a large curve, the widest ones first.

    A frame that takes most of the page is no drawing's.
    """
    large = [box for box in page.slanted if max(box.width, box.height) > 20][:500]
    drawings: list[Box] = []
    for frame in sorted(set(page.shapes), key=lambda box: -box.area):
        is_fitting = 900 <= frame.area <= 0.5 * page.width * page.height
        if large and is_fitting and not _is_in(frame, drawings) and any(map(frame.holds, large)):
            drawings.append(frame)
    return drawings


def _is_in(box: Box, drawings: Sequence[Box]) -> bool:
    return any(drawing.holds(box) for drawing in drawings)


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


# --- Gaps ---

#: The width of a gap between columns in sizes of the letters.
_GAP = 0.6


def gutters(lines: Sequence[Line]) -> list[float]:
    """Return the places of the white gaps through nearly all of some lines of text.

    One line in seven may cross a gap (a spanning header, a note). Both sides must have text in two
    lines at least.
    """
    if len(lines) < 2:
        return []
    width = _GAP * sorted(line.size for line in lines)[len(lines) // 2]
    pieces = [segments(line, 0.9 * _GAP) for line in lines]
    # How many pieces begin less how many end at each place; their sum is how many cover it.
    changes: Counter[float] = Counter()
    for piece in (piece for line in pieces for piece in line):
        changes[piece.x0] += 1
        changes[piece.x1] -= 1
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
    return [
        x for x in gaps
        if sum(line[0].x1 <= x for line in pieces) >= 2
        and sum(line[-1].x0 >= x for line in pieces) >= 2
    ]  # fmt: skip


def column_gaps(lines: Sequence[Line], ruled: Sequence[float]) -> list[float]:
    """Return the gaps that divide columns further; none where more than three are ruled."""
    gaps: list[float] = []
    for x0, x1 in pairwise(ruled if len(ruled) <= 4 else []):
        parts = ([w for w in line.words if x0 <= (w.x0 + w.x1) / 2 < x1] for line in lines)
        gaps += gutters([Line(words) for words in parts if words])
    return gaps
