"""Finds the tables of a page that ruled lines show, all around or only above and below."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from kgp_neo4j.load.pdf.boxes import Box
from kgp_neo4j.load.pdf.gaps import gutters
from kgp_neo4j.load.pdf.grids import Grid, grid_of
from kgp_neo4j.load.pdf.headers import header_rows
from kgp_neo4j.load.pdf.letters import Line, Word, line_text, lines_of, segments
from kgp_neo4j.load.pdf.open_tables import is_running_text
from kgp_neo4j.load.pdf.rules import NEAR, Rule, Rules, components
from kgp_neo4j.values import typed

__all__ = ["ruled_tables"]

#: The beginning of a caption between two tables or figures.
_MARK = re.compile(r"(?:table|figure|fig\.)\s+\w", re.IGNORECASE)


def ruled_tables(words: Sequence[Word], rules: Rules) -> list[Grid]:
    """Return the tables of a page that ruled lines show, in no order.

    Where lines of both directions meet they make the cells. Where only level lines of one width lie
    one above the other (as printed in books), the gaps in the text between make the columns.
    """
    words = [w for w in words if not any(drawing.holds(w) for drawing in rules.drawings)]
    made: list[Grid] = []
    used: set[Rule] = set()
    for across, down in components(rules):
        if not across or not down:
            continue
        box = Box(
            min([*(r.start for r in across), *(r.at for r in down)]),
            min([*(r.at for r in across), *(r.start for r in down)]),
            max([*(r.end for r in across), *(r.at for r in down)]),
            max([*(r.at for r in across), *(r.end for r in down)]),
        )
        if len(across) + len(down) < 4 or box.height < 10:
            continue
        grid = _trimmed(grid_of(box, words, across, down))
        if grid is not None and _is_table(grid, len(across), len(down)):
            made.append(grid)
            used.update(across)
    rest = [r for r in rules.across if r not in used and not _is_inside(r, made)]
    made += _between_lines(words, rest, made)
    return _outermost(made)


def _between_lines(words: Sequence[Word], across: Sequence[Rule], made: list[Grid]) -> list[Grid]:
    """Return the tables between level lines of one width that lie one above the other."""
    stacks: list[list[Rule]] = []
    for rule in sorted(across, key=lambda rule: rule.at):
        if rule.length < 60:
            continue
        for stack in stacks:
            last = stack[-1]
            if abs(last.start - rule.start) < 4 and abs(last.end - rule.end) < 4:
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    found: list[Grid] = []
    for stack in stacks:
        found += _of_stack(words, stack, across, [*made, *found])
    return found


def _of_stack(
    words: Sequence[Word], stack: list[Rule], across: Sequence[Rule], made: list[Grid]
) -> list[Grid]:
    """Return the tables of one stack: the longest runs of its lines with columns between them."""
    x0, x1 = stack[0].start, stack[0].end
    found: list[Grid] = []
    start = 0
    while start < len(stack) - 1:
        end = start
        while end + 1 < len(stack) and _is_tabular(
            words, stack[end], stack[end + 1], is_first=end == start
        ):
            end += 1
        if end > start:
            box = Box(x0, stack[start].at, x1, stack[end].at)
            box = _outer_words(box, words)
            inner = [r for r in across if box.top - 1 <= r.at <= box.bottom + 1]
            grid = _trimmed(grid_of(box, words, inner, []))
            overlaps = any(_overlap(box, other.box) > 0.3 for other in made)
            if grid is not None and not overlaps and _is_open_table(grid):
                found.append(grid)
        start = end + 1 if end > start else start + 1
    return found


def _trimmed(grid: Grid | None) -> Grid | None:
    """Return a table without a heading in its first rows and without notes in its last ones."""
    if grid is None:
        return None
    columns = len(grid.rows[0])
    wide = {
        s.row for s in grid.spans if s.rows == 1 and s.columns >= max(3, 0.9 * columns)
        and sum(map(bool, grid.rows[s.row])) == s.columns
    }  # fmt: skip
    first, last = 0, len(grid.rows)
    heading: list[str] = []
    while first in wide and last - first > 3:
        heading.append(next(text for text in grid.rows[first] if text))
        first += 1
    while last - first > 3 and _is_note(grid, last - 1):
        last -= 1
    if first == 0 and last == len(grid.rows):
        return grid
    spans = [replace(s, row=s.row - first) for s in grid.spans
             if first <= s.row and s.row + s.rows <= last]  # fmt: skip
    header = max(grid.header_rows - first, 0)
    box = grid.box._replace(top=grid.bounds[first][0], bottom=grid.bounds[last - 1][1])
    rows = grid.rows[first:last]
    if first:
        header, grid.header_is_evident = header_rows(rows, spans, [False] * len(rows), set(), False)
    return replace(
        grid, box=box, rows=rows, bounds=grid.bounds[first:last], spans=spans,
        header_rows=header, heading=" ".join(heading),
        heading_box=grid.box._replace(bottom=box.top) if heading else None,
        words=[word for word in grid.words if box.holds(word)],
    )  # fmt: skip


def _is_note(grid: Grid, row: int) -> bool:
    """Say whether a row at the bottom is a note to the table or an address: no cells of its own."""
    texts = {text for text in grid.rows[row] if text}
    if any(typed(text).type != "text" for text in texts):
        return False
    wide = any(s.row == row and s.columns > 1 for s in grid.spans)
    words = sum(len(text.split()) for text in texts)
    if wide and words > 12 * len(grid.rows[0]) ** 0.5 and len(texts) <= 2:
        return True
    numbers = sum(any(typed(t).number is not None for t in r[1:]) for r in grid.rows)
    return (wide or len(texts) == 1) and len(texts) <= 2 and numbers > 0.5 * len(grid.rows)


def _outer_words(box: Box, words: Sequence[Word]) -> Box:
    """Return the box with words that stick out of it a little at the sides."""
    held = [w for w in words if box.top < (w.top + w.bottom) / 2 < box.bottom
            and box.x0 - 6 < w.x1 and w.x0 < box.x1 + 6]  # fmt: skip
    x0 = min([box.x0, *(w.x0 - 1 for w in held if w.x0 > box.x0 - 12)])
    x1 = max([box.x1, *(w.x1 + 1 for w in held if w.x1 < box.x1 + 12)])
    return Box(x0, box.top, x1, box.bottom)


def _is_tabular(words: Sequence[Word], above: Rule, below: Rule, *, is_first: bool) -> bool:
    """Say whether the text between two lines may be rows of a table, its first ones maybe."""
    box = Box(above.start, above.at, above.end, below.at)
    lines = lines_of(w for w in words if box.holds(w))
    if not lines:
        return box.height < 4 * NEAR
    if any(_MARK.match(line_text(line.words)) and len(segments(line, 0.9)) < 3 for line in lines):
        return False
    if lines[0].mono and sum(line.mono for line in lines) > 0.6 * len(lines):
        return False
    if len(lines) <= 2:
        # Text between a page's upper line and a table is no header.
        short = sum(len(line.words) for line in lines) <= 6
        return short or not is_first or any(len(segments(line, 0.9)) > 1 for line in lines)
    gaps = gutters(lines)
    return bool(gaps) and not _is_prose(lines, gaps)


def _is_prose(lines: Sequence[Line], gaps: Sequence[float]) -> bool:
    """Say whether columns hold running text: full lines of many words in each of them."""
    bounds = [-1e9, *gaps, 1e9]
    prose = 0
    for x0, x1 in itertools.pairwise(bounds):
        column = [[w for w in line.words if x0 <= (w.x0 + w.x1) / 2 < x1] for line in lines]
        column = [held for held in column if held]
        if len(column) < 8:
            continue
        left, right = min(c[0].x0 for c in column), max(c[-1].x1 for c in column)
        full = sum(c[-1].x1 - c[0].x0 > 0.85 * (right - left) for c in column)
        words = sum(len(c) for c in column) / len(column)
        prose += full > 0.55 * len(column) and words >= 4
    return prose == len(bounds) - 1


def _is_table(grid: Grid, across: int, down: int) -> bool:
    """Say whether what ruled lines enclose is a table, not a form, a diagram or a page's frame."""
    cells = len(grid.rows) * len(grid.rows[0])
    if grid.filled < 0.25 * cells or grid.filled < 4:
        return False
    least = 1 if grid.is_ruled and len(grid.rows) > 2 else 2
    counts = [sum(map(bool, column)) for column in zip(*grid.rows, strict=True)]
    if sum(count >= least for count in counts) < 2:
        return False
    longest = max(len(text) for row in grid.rows for text in row)
    texts = sum(len(word.text) for word in grid.words)
    if longest > 0.7 * texts and longest > 400:
        return False
    words = sum(len(text.split()) for text in {t for row in grid.rows for t in row if t})
    if words > 30 * len({t for row in grid.rows for t in row if t}):
        return False
    if not grid.is_ruled:
        return _is_open_table(grid)
    return not is_running_text(grid) or (across > 2 and down > 2)


def _is_open_table(grid: Grid) -> bool:
    """Say whether rows and columns that gaps make are a table's, not code's or running text's."""
    lines = lines_of(w for w in grid.words if not w.turn)
    if sum(line.mono for line in lines) > 0.6 * len(lines):
        return False
    cells = len(grid.rows) * len(grid.rows[0])
    several = sum(sum(map(bool, row)) > 1 for row in grid.rows)
    if sum(len(text.split()) for row in grid.rows for text in row) > 9 * grid.filled:
        return False
    return (
        grid.filled >= 0.4 * cells and several >= 0.5 * len(grid.rows) and not is_running_text(grid)
    )


def _is_inside(rule: Rule, grids: Sequence[Grid]) -> bool:
    return any(
        g.box.x0 - NEAR <= rule.start
        and rule.end <= g.box.x1 + NEAR
        and g.box.top - NEAR <= rule.at <= g.box.bottom + NEAR
        for g in grids
    )


def _overlap(one: Box, two: Box) -> float:
    width = min(one.x1, two.x1) - max(one.x0, two.x0)
    height = min(one.bottom, two.bottom) - max(one.top, two.top)
    least = min(one.width * one.height, two.width * two.height)
    return max(width, 0) * max(height, 0) / max(least, 1.0)


def _outermost(grids: Sequence[Grid]) -> list[Grid]:
    """Return tables without those that lie in another one."""
    made: list[Grid] = []
    for grid in sorted(grids, key=lambda g: -g.box.width * g.box.height):
        if all(_overlap(grid.box, other.box) < 0.3 for other in made):
            made.append(grid)
    return made
