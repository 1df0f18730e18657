"""Headers and footers: lines at the edges of pages that repeat, and page numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kgp_neo4j.load.pdf.letters import Line, Word, line_text, lines_of

__all__ = ["Edges", "edges_of", "furniture"]

#: Shares of a page's height in which headers and footers lie.
_TOP, _BOTTOM = 0.13, 0.88
_ROWS = 4
_DIGITS = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]{1,7}", re.IGNORECASE)
_ALONE = re.compile(
    r"(?:page|seite|p\.|página)?\s*[-–—|[(]*\s*(?P<number>\d{1,5}|[ivxlc]{1,7}|[A-Z]{1,2}-\d{1,4})"
    r"\s*[-–—|\])]*(?:\s*(?:of|von|de|/)\s*\d{1,5})?",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Edges:
    """The lines at the top and at the bottom of a page, the outermost first."""

    top: list[Line]
    bottom: list[Line]


def edges_of(words: Sequence[Word], height: float) -> Edges:
    """Return the lines of a page that may be its header and its footer."""
    lines = lines_of(word for word in words if not word.turn)
    top = [line for line in lines if line.bottom < _TOP * height][:_ROWS]
    bottom = [line for line in reversed(lines) if line.top > _BOTTOM * height][:_ROWS]
    return Edges(top, [line for line in bottom if line not in top])


def furniture(pages: Sequence[Edges], at: int) -> tuple[list[Line], list[Line], str]:
    """Return the header lines and footer lines of page `at` among its neighbours, and its number.

    A line counts that stands at the same height on another page with the same words (numbers
    aside), or that has a page number there at one end on both. On a lone page it counts where it
    is nothing but a page number, or ends in one far from the rest. What lies further out counts
    too.
    """
    others = [page for index, page in enumerate(pages) if index != at]
    header = _counted(pages[at].top, [page.top for page in others])
    footer = _counted(pages[at].bottom, [page.bottom for page in others])
    number = next((n for line in [*footer, *header] if (n := _number(line))), "")
    return header, footer[::-1], number


def _counted(lines: Sequence[Line], others: Sequence[Sequence[Line]]) -> list[Line]:
    last = 0
    for at, line in enumerate(lines):
        repeated = any(_is_like(line, other) for page in others for other in page)
        if repeated or (at < 2 and _is_evident(line, lines, at)):
            last = at + 1
        elif at >= last + 1:
            break
    return list(lines[:last])


def _is_like(line: Line, other: Line) -> bool:
    if abs(line.middle - other.middle) > 4 or abs(line.size - other.size) > 1.5:
        return False
    one, two = line_text(line.words), line_text(other.words)
    if _DIGITS.sub("#", one) == _DIGITS.sub("#", two):
        return any(letter.isalpha() for letter in one) or bool(_ALONE.fullmatch(one))
    number, other_number = _number(line), _number(other)
    if number and other_number and number != other_number:
        return True
    shared = {word.text for word in line.words} & {word.text for word in other.words}
    longer = max(len(line.words), len(other.words))
    return longer > 3 and len(shared) >= 0.75 * longer


def _number(line: Line) -> str:
    """Return the page number that a line is, or that stands at one of its ends, apart."""
    text = line_text(line.words)
    if found := _ALONE.fullmatch(text):
        return found["number"]
    if len(line.words) < 2:
        return ""
    for word, next_ in ((line.words[0], line.words[1]), (line.words[-1], line.words[-2])):
        is_number = (word.text.isdecimal() and len(word.text) < 6) or _ROMAN.fullmatch(word.text)
        gap = max(next_.x0 - word.x1, word.x0 - next_.x1)
        if is_number and gap > 0.8 * line.size:
            return word.text
    return ""


def _is_evident(line: Line, lines: Sequence[Line], at: int) -> bool:
    """Say whether a line is furniture by itself: a page number, alone or with a running title."""
    text = line_text(line.words)
    if _ALONE.fullmatch(text) and (any(c.isdigit() for c in text) or len(text) < 6):
        inner = lines[at + 1] if at + 1 < len(lines) else None
        return inner is None or abs(inner.middle - line.middle) > 1.6 * line.size
    number = _number(line)
    if not number or not number.isdecimal() or at:
        return False
    inner = lines[at + 1] if at + 1 < len(lines) else None
    return inner is None or abs(inner.middle - line.middle) > 1.8 * line.size
