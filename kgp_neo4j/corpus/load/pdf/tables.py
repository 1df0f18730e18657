"""Find the tables of a page by ruled lines, all around or only above and below."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from kgp_neo4j.corpus.load.grid import caption_pattern
from kgp_neo4j.corpus.load.pdf.grids import Grid, grid_of, header_rows
from kgp_neo4j.corpus.load.pdf.letters import Box, Line, Word, line_text, lines_of, segments
from kgp_neo4j.corpus.load.pdf.rules import NEAR, Rule, Rules, components, gutters
from kgp_neo4j.text.values import typed

__all__ = [
    "CAPTION",
    "Caption",
    "aligned_tables",
    "caption_of",
    "contents",
    "is_continued",
    "is_running_text",
    "printed_number",
    "ruled_tables",
]

_DOTS = re.compile(r"(?:\s?[.…·]){4,}")
_PAGE = re.compile(r"(?:[.…·]\s*)*(\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d{1,3})")


def aligned_tables(lines: Sequence[Line], captions: Sequence[Box]) -> list[Grid]:
    """Return the tables among the lines of one column of text that have no ruled lines.

    At least three lines in sequence must fall into the same columns, two of them at least (with a
    caption beside them) or with numbers in one of them. Lists, code, leader dots and prose are
    excluded.
    """
    made: list[Grid] = []
    start = 0
    while start < len(lines):
        end = _run(lines, start)
        if end - start >= 3:
            part = lines[start:end]
            box = Box.around(part)
            near = any(
                min(abs(c.bottom - box.top), abs(box.bottom - c.top)) < 30
                and c.x0 < box.x1
                and c.x1 > box.x0
                for c in captions
            )
            words = [word for line in part for word in line.words]
            grid = grid_of(Box(box.x0 - 1, box.top - 1, box.x1 + 1, box.bottom + 1), words, [], [])
            if grid is not None and _is_aligned(grid, part, has_caption=near):
                made.append(grid)
                start = end
                continue
        start += 1 if end - start < 3 else end - start
    return made


def contents(lines: Sequence[Line]) -> Grid | None:
    """Return the table of contents whose entries have leader dots to page numbers, if any.

    At least five such lines must follow one another; other lines between them are parts of entries.
    """
    rows: list[tuple[str, ...]] = []
    held: list[Line] = []
    before: list[Line] = []
    for line in lines:
        text = " ".join(word.text for word in line.words)
        parts = _DOTS.split(text, maxsplit=1)
        page = _PAGE.fullmatch(parts[-1].strip()) if len(parts) == 2 else None
        if page is None:
            before.append(line)
            if len(before) > 2 and rows:
                break
            continue
        entry = parts[0].strip(" .")
        if rows and before:
            lead = " ".join(word.text for part in before for word in part.words)
            entry = f"{lead} {entry}".strip()
            held += before
        before = []
        if entry:
            rows.append((entry, page[1]))
            held.append(line)
    if len(rows) < 5:
        return None
    box = Box.around(held)
    return Grid(
        box, rows, [(box.x0, box.x1 - 20), (box.x1 - 20, box.x1)],
        header_rows=0, words=[word for line in held for word in line.words],
    )  # fmt: skip


def is_running_text(grid: Grid) -> bool:
    """Return whether rows are only lines of prose set in columns."""
    texts = [text for row in grid.rows for text in row if text]
    long = sum(len(text.split()) > 5 for text in texts)
    broken = sum(text[0].islower() for text in texts)
    return long > 0.5 * len(texts) and broken > 0.4 * len(texts)


def _run(lines: Sequence[Line], start: int) -> int:
    """Return the end of the lines from `start` on that may be one table's rows."""
    if len(segments(lines[start], 0.9)) < 2:
        return start + 1
    end = start + 1
    single = 0
    while end < len(lines):
        line, above = lines[end], lines[end - 1]
        if line.top - above.bottom > 2.2 * max(line.size, above.size):
            break
        if len(segments(line, 0.9)) < 2:
            single += 1
            if single > 1:
                break
        else:
            single = 0
        end += 1
    return end - single


def _is_aligned(grid: Grid, lines: Sequence[Line], *, has_caption: bool) -> bool:
    if sum(line.mono for line in lines) > 0.5 * len(lines):
        return False
    if sum(bool(_DOTS.search(line_text(line.words))) for line in lines) > 0.3 * len(lines):
        return False
    rows, columns = len(grid.rows), len(grid.rows[0])
    full = sum(sum(map(bool, row)) >= max(2, 0.7 * columns) for row in grid.rows)
    if full < 0.6 * rows or grid.filled < 0.6 * rows * columns or is_running_text(grid):
        return False
    texts = [text for row in grid.rows for text in row if text]
    if sum(len(text.split()) for text in texts) > 5 * len(texts):
        return False
    first = [row[0] for row in grid.rows]
    if columns == 2 and sum(text.strip(".()").isdecimal() for text in first) > 0.6 * rows:
        return False  # numbered lines
    values = max(
        sum(typed(row[at]).type != "text" for row in grid.rows if row[at]) / rows
        for at in range(1, columns)
    )
    return has_caption or (values >= 0.5 and rows >= 3)


# --- Ruled tables ---

#: The beginning of a caption between two tables or figures.
_MARK = re.compile(r"(?:table|figure|fig\.)\s+\w", re.IGNORECASE)


def ruled_tables(words: Sequence[Word], rules: Rules) -> list[Grid]:
    """Return the tables of a page that have ruled lines, in no order.

    Lines of both directions that meet make the cells. Where there are only level lines of one
    width, one above the other (as printed in books), the gaps in the text between make the columns.
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
    """Return the tables between level lines of one width, one above the other."""
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
    """Return whether a row at the bottom is a note to the table or an address, without cells."""
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
    """Return the box extended by words that project a little at the sides."""
    held = [w for w in words if box.top < (w.top + w.bottom) / 2 < box.bottom
            and box.x0 - 6 < w.x1 and w.x0 < box.x1 + 6]  # fmt: skip
    x0 = min([box.x0, *(w.x0 - 1 for w in held if w.x0 > box.x0 - 12)])
    x1 = max([box.x1, *(w.x1 + 1 for w in held if w.x1 < box.x1 + 12)])
    return Box(x0, box.top, x1, box.bottom)


def _is_tabular(words: Sequence[Word], above: Rule, below: Rule, *, is_first: bool) -> bool:
    """Return whether the text between two lines may be rows of a table (with `is_first`, its
    first).
    """
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
    """Return whether columns have running text: full lines of many words in each of them."""
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
    """Return whether ruled lines enclose a table, not a form, a diagram or a page's frame."""
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
    """Return whether rows and columns made by gaps are a table's, not code's or running text's."""
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
    """Return tables without those inside another one."""
    made: list[Grid] = []
    for grid in sorted(grids, key=lambda g: -g.box.width * g.box.height):
        if all(_overlap(grid.box, other.box) < 0.3 for other in made):
            made.append(grid)
    return made


# --- Captions ---

#: A printed caption may have a comma after its number; in other files such a line is prose.
CAPTION = caption_pattern(",")
_CONTINUED = re.compile(
    r"\bcont(?:inued|inuation|['’]d|d)?\b\.?|\bsuite\b|\bfortsetzung\b", re.IGNORECASE
)


class Caption:
    """The lines of a caption, and whether they are above the table."""

    def __init__(self, lines: Sequence[Line], *, above: bool) -> None:
        self.lines = list(lines)
        self.above = above
        self.text = " ".join(line_text(line.words) for line in self.lines)


def printed_number(text: str) -> str:
    """Return the number in a caption: "2" of "Table 2. Results"; empty where there is none."""
    found = CAPTION.match(text.strip())
    return found["number"].strip("-–.") if found else ""


def is_continued(text: str) -> bool:
    """Return whether a caption is that of a table begun before."""
    return bool(_CONTINUED.search(text[:40]) or _CONTINUED.search(text[-30:]))


def caption_of(grid: Grid, lines: Sequence[Line], others: Sequence[Grid]) -> Caption | None:
    """Return the caption of a table among the lines around it.

    A line with a number ("Table 3") counts up to ten lines away from the table as long as the lines
    between belong to it. Without one a short heading right above counts: a bold one, one in
    capitals, or a centred one.
    """
    box = grid.box
    found: list[tuple[float, Caption]] = []
    above = _near(box, [line for line in lines if line.middle < box.top + 2], others, up=True)
    for at, line in enumerate(above):
        if CAPTION.match(line_text(line.words)):
            held = list(reversed(above[: at + 1]))
            found.append((box.top - held[-1].bottom, Caption(held, above=True)))
            break
    below = _near(box, [line for line in lines if line.middle > box.bottom - 2], others, up=False)
    if below and CAPTION.match(line_text(below[0].words)):
        end = 1
        while end < len(below) and abs(below[end].size - below[0].size) < 0.3:
            if below[end].top - below[end - 1].bottom > 0.4 * below[0].size:
                break
            end += 1
        found.append((below[0].top - box.bottom, Caption(below[:end], above=False)))
    if found:
        return min(found, key=lambda pair: pair[0])[1]
    return None if grid.heading else _heading(box, above)


def _heading(box: Box, above: Sequence[Line]) -> Caption | None:
    if not above:
        return None
    line = above[0]
    text = line_text(line.words)
    letters = [letter for letter in text if letter.isalpha()]
    if (
        len(letters) < 3
        or len(text.split()) > 12
        or text.endswith((".", ":", ",", ";"))
        or box.top - line.bottom > 1.3 * line.size
    ):
        return None
    upper = sum(letter.isupper() for letter in letters) > 0.8 * len(letters)
    middle = abs((line.x0 + line.x1) / 2 - (box.x0 + box.x1) / 2) < 0.03 * box.width
    if line.bold or upper or is_continued(text) or (middle and line.x1 - line.x0 < 0.7 * box.width):
        return Caption([line], above=True)
    return None


def _near(box: Box, lines: Sequence[Line], others: Sequence[Grid], *, up: bool) -> list[Line]:
    """Return up to ten lines next to a table, nearest first, each close to the one before."""
    made: list[Line] = []
    ordered = sorted(lines, key=lambda line: -line.bottom if up else line.top)
    edge = box.top if up else box.bottom
    for line in ordered:
        part = _beside(line, box)
        if part is None:
            continue
        gap = edge - part.bottom if up else part.top - edge
        if gap > (2.2 if not made else 0.8) * part.size or len(made) == 10:
            break
        between = Box(box.x0, min(edge, part.top), box.x1, max(edge, part.bottom))
        if any(
            o.box.top < between.bottom - 3
            and o.box.bottom > between.top + 3
            and o.box.x0 < box.x1
            and o.box.x1 > box.x0
            and o.box != box
            for o in others
        ):
            break  # fmt: skip
        made.append(part)
        edge = part.top if up else part.bottom
    return made


def _beside(line: Line, box: Box) -> Line | None:
    """Return the part of a line that is over a table, cut at wide gaps between columns."""
    parts: list[list[Word]] = [[]]
    for word in line.words:
        if parts[-1] and word.x0 - parts[-1][-1].x1 > 1.4 * line.size:
            parts.append([])
        parts[-1].append(word)
    held = [w for part in parts for w in part if part[0].x0 < box.x1 and part[-1].x1 > box.x0]
    return Line(held) if held else None
