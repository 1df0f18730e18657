"""Rectangles of a page, and how they lie once the page is turned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

__all__ = ["Box", "Placed", "turned"]


class Placed(Protocol):
    """Anything with a place on a page: a word, a line, a box."""

    @property
    def x0(self) -> float:
        """The left edge."""

    @property
    def top(self) -> float:
        """The upper edge."""

    @property
    def x1(self) -> float:
        """The right edge."""

    @property
    def bottom(self) -> float:
        """The lower edge."""


class Box(NamedTuple):
    """A rectangle of a page in points, counted from the top left corner."""

    x0: float
    top: float
    x1: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    def holds(self, other: Placed, slack: float = 0.0) -> bool:
        """Say whether the middle of `other` lies inside."""
        x, y = (other.x0 + other.x1) / 2, (other.top + other.bottom) / 2
        return (
            self.x0 - slack <= x <= self.x1 + slack and self.top - slack <= y <= self.bottom + slack
        )

    @staticmethod
    def around(parts: Iterable[Placed]) -> Box:
        """Return the smallest box around some words, lines or boxes."""
        found = list(parts)
        return Box(
            min(p.x0 for p in found),
            min(p.top for p in found),
            max(p.x1 for p in found),
            max(p.bottom for p in found),
        )


def turned(box: Box, turn: int, width: float, height: float) -> Box:
    """Return a box of a page as it lies once the page is turned so that its text is upright."""
    x0, top, x1, bottom = box
    if turn == 90:
        return Box(height - bottom, x0, height - top, x1)
    if turn == 270:
        return Box(top, width - x1, bottom, width - x0)
    if turn == 180:
        return Box(width - x1, height - bottom, width - x0, height - top)
    return box
