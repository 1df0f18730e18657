"""The letters, drawn shapes and pictures of a page, as pdfminer lays them out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kgp_neo4j.load.pdf.boxes import Box

__all__ = ["Letter", "PageObjects", "Shape", "objects_of"]


class Letter(NamedTuple):
    """A letter where it stands; `turn` is 90 where it is read upwards, 270 downwards."""

    text: str
    box: Box
    size: float
    font: str
    turn: int


class Shape(NamedTuple):
    """A drawn `line`, `rect` or `curve` with its corners."""

    kind: str
    box: Box
    points: Sequence[tuple[float, float]]


@dataclass(slots=True)
class PageObjects:
    """What is on a page, counted in points from its top left corner."""

    width: float
    height: float
    letters: list[Letter] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    pictures: int = 0


def objects_of(page: Any) -> PageObjects:
    """Return what is on a page of pdfplumber's; letters and shapes outside of it are left out."""
    from pdfminer.layout import LTChar, LTContainer, LTCurve, LTImage, LTLine, LTRect

    made = PageObjects(float(page.width), float(page.height))
    # pdfplumber's own lists copy some forty attributes of each letter, which takes as long as
    # everything else together.
    waiting: list[Any] = list(reversed(page.layout._objs))
    while waiting:
        found = waiting.pop()
        if isinstance(found, LTChar):
            box = _box(found, made)
            if box is not None:
                font = found.fontname
                name = font.decode("latin-1") if isinstance(font, bytes) else str(font)
                turn = _turn(found.matrix)
                made.letters.append(Letter(found.get_text(), box, float(found.size), name, turn))
        elif isinstance(found, LTContainer):
            waiting += reversed(list(found))
        elif isinstance(found, LTCurve):
            box = _box(found, made)
            if box is not None:
                kind = "line" if isinstance(found, LTLine) else "curve"
                kind = "rect" if isinstance(found, LTRect) else kind
                made.shapes.append(Shape(kind, box, found.pts))
        elif isinstance(found, LTImage):
            made.pictures += 1
    return made


def _box(found: Any, page: PageObjects) -> Box | None:
    """Return an object's place, None where its middle is outside the page."""
    x0, top, x1, bottom = found.x0, page.height - found.y1, found.x1, page.height - found.y0
    x, y = (x0 + x1) / 2, (top + bottom) / 2
    # Says no to what is not a number, too.
    if not (-2 <= x <= page.width + 2 and -2 <= y <= page.height + 2):
        return None
    if not math.isfinite(x1 - x0 + bottom - top):
        return None
    return Box(
        max(x0, -page.width), max(top, -page.height),
        min(x1, 2 * page.width), min(bottom, 2 * page.height),
    )  # fmt: skip


def _turn(matrix: tuple[float, ...]) -> int:
    a, b = matrix[0], matrix[1]
    if abs(b) <= abs(a):
        return 0 if a >= 0 else 180
    return 90 if b > 0 else 270
