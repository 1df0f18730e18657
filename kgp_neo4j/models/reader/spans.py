"""The best spans of a window by its start and end logits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgp_neo4j.models.reader.windows import Window

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Candidate", "candidates_of"]

#: Word pieces that an answer has at most, and how many spans of a window are looked at.
_PIECES = 24
_BEST = 24


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span that may be the answer: characters `start` to `end` of a passage's title or text.

    `passage` is the passage's place in the list; `score` is the sum of both logits less that of the
    window's first piece, which stands for no answer.
    """

    passage: int
    in_title: bool
    start: int
    end: int
    score: float


def candidates_of(logits: NDArray[Any], window: Window) -> list[Candidate]:
    """Return the best spans of a window, best first; `logits` has the shape (pieces, 2).

    A span begins and ends in one passage's title or text, at whole words.
    """
    import numpy as np

    places = window.places
    inside = np.array([place is not None for place in places], dtype=bool)
    if not inside.any():
        return []
    # Which run of pieces of one title or text each belongs to; a span may not leave it.
    runs = np.zeros(len(places), dtype=np.int64)
    for at in range(1, len(places)):
        here, before = places[at], places[at - 1]
        same = here is not None and before is not None and here[:2] == before[:2]
        runs[at] = runs[at - 1] + (not same)
    begins = inside.copy()
    ends = inside.copy()
    for at, here in enumerate(places):
        after = places[at + 1] if at + 1 < len(places) else None
        if here is not None and after is not None and window.joined[at + 1]:
            ends[at] = begins[at + 1] = False
    null = float(logits[0].sum())
    starts = np.argsort(-np.where(begins, logits[:, 0], -np.inf), kind="stable")[:_BEST]
    made: dict[tuple[int, bool, int, int], Candidate] = {}
    for start in starts[begins[starts]]:
        last = min(int(start) + _PIECES, len(places))
        allowed = ends[start:last] & (runs[start:last] == runs[start])
        scores = np.where(allowed, logits[start:last, 1], -np.inf)
        for step in np.argsort(-scores, kind="stable")[:4]:
            if not allowed[step]:
                continue
            first, final = places[int(start)], places[int(start) + int(step)]
            if first is None or final is None:
                continue  # never: the question and the marks were ruled out
            score = float(logits[start, 0] + scores[step]) - null
            key = (first[0], first[1], first[2], final[3])
            if key not in made:
                made[key] = Candidate(*key, score)
    return sorted(made.values(), key=lambda c: (-c.score, c.passage, c.start, c.end))[:_BEST]
