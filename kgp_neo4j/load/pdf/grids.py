"""A table's grid from its place on the page, its ruled lines, gaps and lines of text.

Boundaries are gathered first (ruled lines, gaps that go through the lines of text, lines of text),
then cells that nothing parts are merged, so that spans come out as they are drawn.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgp_neo4j.load.pdf.boxes import Box
from kgp_neo4j.load.pdf.gaps import column_gaps
from kgp_neo4j.load.pdf.headers import header_rows, widened
from kgp_neo4j.load.pdf.letters import Line, Word, line_text, lines_of, segments
from kgp_neo4j.load.pdf.row_bounds import row_bounds
from kgp_neo4j.load.pdf.rules import NEAR, Rule, clusters
from kgp_neo4j.structures import Span

__all__ = ["Grid", "grid_of"]

#: Dots that lead the eye from one column to the next.
_LEADERS = re.compile(r"\s*(?:[.…_]\s*){4,}$|\s+(?:\.\s*){2,}$|^(?:\s*\.){4,}")


@dataclass(slots=True)
class Grid:
    """A table as it was found on one page; `edges` are the left and right ends of its columns."""

    box: Box
    rows: list[tuple[str, ...]]
    edges: list[tuple[float, float]]
    #: The upper and lower end of each row.
    bounds: list[tuple[float, float]] = field(default_factory=list)
    #: Ruled lines, not gaps alone, part the columns.
    is_ruled: bool = False
    spans: list[Span] = field(default_factory=list)
    header_rows: int = 1
    #: The header is plain to see (bold, ruled off, names over numbers), not only assumed.
    header_is_evident: bool = False
    words: list[Word] = field(default_factory=list)
    #: A heading within the table's frame, and where it stands.
    heading: str = ""
    heading_box: Box | None = None
    caption: str = ""
    number: str = ""
    continued: bool = False

    @property
    def filled(self) -> int:
        """How many cells hold text."""
        return sum(bool(text) for row in self.rows for text in row)


def grid_of(
    box: Box, words: Sequence[Word], across: Sequence[Rule], down: Sequence[Rule]
) -> Grid | None:
    """Return the grid of a table within `box`, None where its text makes less than 2 x 2 cells."""
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
    """The base cells between all boundaries, and which of them are one."""

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
        """Return the column of a text that sticks out of it to the right, else the last one."""
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
        # A ruled column without its line here: one cell, unless both sides hold text of their own.
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
        """Say whether a row has a text of its own; one between double lines has not."""
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
    """Return where the words of a cell begin and end."""
    if not words:
        return None
    return min(word.x0 for word in words), max(word.x1 for word in words)


def _covered(
    rules: Sequence[Rule], at: float, start: float, end: float, share: float = 0.6
) -> bool:
    """Say whether ruled lines at one place cover most of a stretch."""
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
    """Return the text of a cell: its lines joined by spaces, turned text read its own way."""
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
