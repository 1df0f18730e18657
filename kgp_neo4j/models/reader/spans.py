"""Find the best spans of a window by the logits of their starts and ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.models.reader.network import PIECES, Logits
from kgp_neo4j.models.reader.windows import Window

#: Tokens of a span at most, starts that are tried, and ends tried for each.
_PIECES = 30
_STARTS = 12
_ENDS = 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span of a passage's title or text, the passage's index, the probability of its ends."""

    passage: int
    in_title: bool
    start: int
    end: int
    score: float


def probabilities(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probabilities of logits, over the last axis."""
    likely = np.exp(logits - logits.max(axis=-1, keepdims=True), dtype=np.float64)
    return np.asarray(likely / likely.sum(axis=-1, keepdims=True))


def spans_of(logits: Logits, window: Window, name: str = "") -> list[Candidate]:
    """Return the likeliest spans of a window, best first: answers, or those of a value by its name.

    A span starts and ends in one passage's title or text, at whole words. The window's first token
    stands for "no such span", so the probabilities of all spans may be small.
    """
    places = window.places
    inside = np.array([place is not None for place in places], dtype=bool)
    if not inside.any():
        return []
    joined = np.array(window.joined, dtype=bool)
    # The title or text that each token belongs to; a span may not leave it.
    changes = [
        at > 0 and (here is None or before is None or here[:2] != before[:2])
        for at, (here, before) in enumerate(zip(places, [None, *places], strict=False))
    ]
    runs = np.cumsum(changes)
    allowed = inside.copy()
    allowed[0] = True
    start, end = _columns(logits, name, allowed)
    start = np.where(inside & ~joined, start, 0.0)
    end = np.where(inside & ~np.append(joined[1:], False), end, 0.0)
    spans = []
    for first in np.argsort(-start, kind="stable")[:_STARTS]:
        stop = min(int(first) + _PIECES, len(places))
        scores = start[first] * end[first:stop] * (runs[first:stop] == runs[first])
        for step in np.argsort(-scores, kind="stable")[:_ENDS]:
            opened, closed = places[int(first)], places[int(first) + int(step)]
            if scores[step] > 0 and opened is not None and closed is not None:
                spans.append(Candidate(*opened[:3], closed[3], float(scores[step])))
    return sorted(spans, key=lambda c: (-c.score, c.passage, c.start, c.end))


def option_of(logits: Logits, window: Window, name: str) -> tuple[int, int, float]:
    """Return the characters of the question that name an option, and their probability."""
    count = len(window.asked)
    allowed = np.arange(len(window.places)) <= count
    start, end = (column[1 : count + 1] for column in _columns(logits, name, allowed))
    if not count:
        return 0, 0, 0.0
    first = int(start.argmax())
    last = first + int(end[first:].argmax())
    return window.asked[first][0], window.asked[last][1], float(start[first] * end[last])


def _columns(
    logits: Logits, name: str, allowed: NDArray[np.bool_]
) -> Sequence[NDArray[np.float64]]:
    """Return the probabilities of start and end of a named span, over the allowed tokens."""
    names = (f"{name} start".strip(), f"{name} end".strip())
    return [
        probabilities(np.where(allowed, logits.pieces[:, PIECES.index(one)], -1e9)) for one in names
    ]
