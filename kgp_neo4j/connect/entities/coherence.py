"""Relatedness of two entities by what mentions them (Milne and Witten), as TAGME votes with it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["Links", "Voter"]

#: Candidates of a mention (entity, commonness) that vote for those of another.
Voter = Sequence[tuple[int, float]]


class Links:
    """Which passages mention each entity; a document's own passages mention it too.

    `votes` counts the votes cast.
    """

    def __init__(self, passages: int) -> None:
        self._passages = max(passages, 2)
        self._of: dict[int, set[int]] = {}
        self._known: dict[tuple[int, int], float] = {}
        self.votes = 0

    def add(self, entity: int, passage: int) -> None:
        """Write down that a passage mentions an entity."""
        self._of.setdefault(entity, set()).add(passage)

    def frequency(self, entity: int) -> int:
        """Return in how many passages an entity is mentioned."""
        return len(self._of.get(entity, ()))

    def relatedness(self, a: int, b: int) -> float:
        """Return how related two entities are, 0 to 1 (Milne and Witten 2008)."""
        if a == b:
            return 1.0
        pair = (a, b) if a < b else (b, a)
        known = self._known.get(pair)
        if known is None:
            known = self._known[pair] = self._compare(*pair)
        return known

    def _compare(self, a: int, b: int) -> float:
        first, second = self._of.get(a), self._of.get(b)
        if not first or not second:
            return 0.0
        common = len(first & second)
        if not common:
            return 0.0
        few, many = sorted((len(first), len(second)))
        apart = math.log(many) - math.log(common)
        return max(0.0, 1 - apart / (math.log(self._passages) - math.log(few) + 1e-9))

    def vote(self, entity: int, voters: Iterable[Voter]) -> float:
        """Return the mean of what the other mentions of a passage give to an entity (TAGME)."""
        total = number = 0.0
        for candidates in voters:
            number += 1
            self.votes += len(candidates)
            total += sum(self.relatedness(entity, e) * c for e, c in candidates) / len(candidates)
        return total / number if number else 0.0
