"""Scores texts by the terms that they share with a question."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable

__all__ = ["TermIndex"]

_LENGTH = 0.75


class TermIndex:
    """Okapi BM25 (Robertson and Zaragoza 2009) over texts, each given as its terms.

    `saturation` is its constant k1; b is 0.75.
    """

    def __init__(self, texts: Iterable[Iterable[str]], saturation: float = 1.5) -> None:
        self._saturation = saturation
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for at, terms in enumerate(texts):
            counts = Counter(terms)
            self._lengths.append(counts.total())
            for term, count in counts.items():
                self._postings[term].append((at, count))
        self._mean = sum(self._lengths) / max(1, len(self._lengths))

    def highest(self, terms: Iterable[str]) -> float:
        """Return what no text's score for these terms exceeds."""
        return (self._saturation + 1) * sum(self._rarity(term) for term in dict.fromkeys(terms))

    def scores(self, terms: Iterable[str]) -> dict[int, float]:
        """Return the scores of the texts with some of these terms, by the texts' places."""
        scores: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(terms):
            rare = self._rarity(term)
            for at, count in self._postings.get(term, ()):
                length = 1 - _LENGTH + _LENGTH * self._lengths[at] / self._mean
                scores[at] += (
                    rare * count * (self._saturation + 1) / (count + self._saturation * length)
                )
        return scores

    def _rarity(self, term: str) -> float:
        frequency = len(self._postings.get(term, ()))
        return math.log(1 + (len(self._lengths) - frequency + 0.5) / (frequency + 0.5))
