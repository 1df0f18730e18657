"""How likely words of a question are a name in a graph: a logistic function of a few features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.mindmap.link.name_forms import name_words, spans
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.words import FUNCTION_WORDS

__all__ = ["FEATURES", "Mention", "NameScorer", "load_scorer", "mention_features"]

FEATURES = (
    "rare for the graph", "rarest for the graph", "words for the graph", "capitals", "no capitals",
    "a relation", "before s", "after which", "after a preposition", "at the end",
)  # fmt: skip
#: Words that ask for a kind of thing: what stands behind is that kind.
_ASKING = frozenset({"what", "which", "many", "whose"})
_PREPOSITIONS = frozenset("of by in on at for with to from about between than".split())

_FEW = 20
#: How likely a name is at least, as a share of the likeliest one in the question.
_BESIDE = 0.15
#: The first and last characters of a mention in a question.
Mention = tuple[int, int]


def rarity(encoder: Encoder, word: str) -> float:
    """Return how rare a word is, by its place in the encoder's vocabulary, which is ordered."""
    if word in FUNCTION_WORDS:
        return 1.0
    ids = encoder.tokenizer.encode(word, add_special_tokens=False).ids
    return log(max(ids, default=1)) + 0.5 * (len(ids) - 1) - 6.0


_rarity = lru_cache(maxsize=50_000)(rarity)


def _of_name(encoder: Encoder, words: Sequence[str]) -> tuple[float, float, float]:
    """Return the sum and the most of the words' rarity, and how many words there are."""
    rare = [max(_rarity(encoder, word), 0.2) for word in words] or [0.0]
    return sum(rare), max(rare), float(len(rare))


def mention_features(
    encoder: Encoder,
    question: str,
    mentions: Sequence[Mention],
    names: Sequence[str],
    closeness: Sequence[float],
) -> NDArray[np.float32]:
    """Return an array of shape (mentions, FEATURES).

    `names` are a sample of the graph's names, `closeness` is the cosine of each mention with the
    nearest name of a relation.
    """
    usual = np.array([_of_name(encoder, name_words(name)) for name in names] or [(0.0, 0.0, 0.0)])
    mean = usual.mean(axis=0)
    # Of few names it cannot be told what is usual.
    spread = (usual.std(axis=0) + 0.5) * (1 + _FEW / len(usual))
    runs = list(spans(question))
    words = [each for run in runs for each in run]
    # A capital letter tells nothing at the begin of a sentence, nor that of "I".
    begins = {run[0][1] for run in runs} | {b for w, b, _ in words if len(w) == 1}
    found = []
    for begin, end in mentions:
        inside = [w for w, b, e in words if begin <= b and e <= end]
        found.append(_of_name(encoder, [w.removesuffix("'s") for w in inside]))
    rows = np.zeros((len(mentions), len(FEATURES)), np.float32)
    for row, (begin, end), of, near in zip(rows, mentions, found, closeness, strict=True):
        apart = (np.array(of) - mean) / spread
        inside = [
            question[b] for w, b, e in words if begin <= b and e <= end and w not in FUNCTION_WORDS
        ]
        others = [
            question[b]
            for w, b, e in words
            if not (begin <= b and e <= end) and b not in begins and w not in FUNCTION_WORDS
        ]
        cased = any(c.isupper() for c in others) and any(c.isalpha() for c in inside)
        upper = sum(c.isupper() for c in inside) / max(len(inside), 1)
        around = sum(c.isupper() for c in others) / max(len(others), 1)
        before = [w for w, _, e in words if e <= begin][-2:]
        after = [w for w, b, _ in words if b >= end][:1]
        row[:] = (
            np.clip(apart[0], -4, 2), np.clip(apart[1], -4, 2), np.clip(apart[2], -4, 2),
            upper * (1 - around), cased and not upper, near,
            after == ["s"] or question[begin:end].endswith(("'s", "’s")),
            before[-1:] != [] and before[-1] in _ASKING,
            any(w in _PREPOSITIONS for w in before[-1:] or ()), not after,
        )  # fmt: skip
    return rows


class NameScorer:
    """Weighs the features of mentions; reads its weights from `name_scorer.json`."""

    def __init__(self, weights: Sequence[float], bias: float, threshold: float) -> None:
        self._weights = np.array(weights, np.float32)
        self._bias = bias
        self._threshold = threshold

    def likely(self, rows: NDArray[np.float32]) -> list[bool]:
        """Return which mentions are likely enough to be names, also beside the likeliest one."""
        scores = [1 / (1 + exp(-float(value))) for value in rows @ self._weights + self._bias]
        least = max(self._threshold, _BESIDE * max(scores, default=0.0))
        return [score >= least for score in scores]


@lru_cache(maxsize=1)
def load_scorer() -> NameScorer:
    """Return the scorer that comes with the package."""
    file = resources.files("kgp_neo4j.mindmap.link") / "name_scorer.json"
    made = json.loads(file.read_text(encoding="utf-8"))
    weights = [made["weights"][name] for name in FEATURES]
    return NameScorer(weights, made["bias"], made["threshold"])
