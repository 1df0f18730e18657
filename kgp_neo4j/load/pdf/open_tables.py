"""Finds the tables that no ruled line shows: aligned columns, and tables of contents."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgp_neo4j.load.pdf.boxes import Box
from kgp_neo4j.load.pdf.grids import Grid, grid_of
from kgp_neo4j.load.pdf.letters import Line, line_text, segments
from kgp_neo4j.values import typed

__all__ = ["aligned_tables", "contents", "is_running_text"]

_DOTS = re.compile(r"(?:\s?[.…·]){4,}")
_PAGE = re.compile(r"(?:[.…·]\s*)*(\d{1,4}|[ivxlc]{1,7}|[A-Z]-\d{1,3})")


def aligned_tables(lines: Sequence[Line], captions: Sequence[Box]) -> list[Grid]:
    """Return the tables among the lines of one column of text that no ruled line shows.

    At least three lines one below the other must fall into the same columns, two of them at least
    (with a caption beside them) or with numbers in one of them. Lists, code, leader dots and prose
    are none.
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
    """Return the table of entries and pages that dotted lines to page numbers make, if any.

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
    """Say whether rows are only lines of prose set in columns."""
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
