"""The caption of a table: the lines above or below it that say "Table 3", or head it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgp_neo4j.load.heads import caption_pattern
from kgp_neo4j.load.pdf.boxes import Box
from kgp_neo4j.load.pdf.grids import Grid
from kgp_neo4j.load.pdf.letters import Line, Word, line_text

__all__ = ["CAPTION", "Caption", "caption_of", "is_continued", "printed_number"]

#: A printed caption may have a comma after its number; a line of other files with one is prose.
CAPTION = caption_pattern(",")
_CONTINUED = re.compile(
    r"\bcont(?:inued|inuation|['’]d|d)?\b\.?|\bsuite\b|\bfortsetzung\b", re.IGNORECASE
)


class Caption:
    """The lines of a caption, and whether they stand above the table."""

    def __init__(self, lines: Sequence[Line], *, above: bool) -> None:
        self.lines = list(lines)
        self.above = above
        self.text = " ".join(line_text(line.words) for line in self.lines)


def printed_number(text: str) -> str:
    """Return the number in a caption: "2" of "Table 2. Results"; empty where there is none."""
    found = CAPTION.match(text.strip())
    return found["number"].strip("-–.") if found else ""


def is_continued(text: str) -> bool:
    """Say whether a caption is that of a table begun before."""
    return bool(_CONTINUED.search(text[:40]) or _CONTINUED.search(text[-30:]))


def caption_of(grid: Grid, lines: Sequence[Line], others: Sequence[Grid]) -> Caption | None:
    """Return the caption of a table among the lines around it.

    A line with a number ("Table 3") counts up to ten lines away from the table as long as the
    lines between belong to it. Without one a short heading right above counts: a bold one, one in
    capitals, or one in the middle.
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
    """Return the part of a line that lies over a table, cut at wide gaps between columns."""
    parts: list[list[Word]] = [[]]
    for word in line.words:
        if parts[-1] and word.x0 - parts[-1][-1].x1 > 1.4 * line.size:
            parts.append([])
        parts[-1].append(word)
    held = [w for part in parts for w in part if part[0].x0 < box.x1 and part[-1].x1 > box.x0]
    return Line(held) if held else None
