"""How likely words of a question are a name in a graph: a logistic function of a few features."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from math import exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.mindmap.link.name_forms import name_words, spans
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.words import FUNCTION_WORDS

__all__ = ["FEATURES", "Mention", "are_names", "mention_features"]

FEATURES = (
    "rare for the graph", "rarest for the graph", "words for the graph", "capitals", "no capitals",
    "a relation", "before s", "after which", "after a preposition", "at the end",
)  # fmt: skip
#: Words that ask for a kind of thing: what stands behind is that kind.
_ASKING = frozenset({"what", "which", "many", "whose"})
_PREPOSITIONS = frozenset("of by in on at for with to from about between than".split())
#: Of so few names it cannot be told what is usual.
_FEW = 20
#: How likely a name is at least, as a share of the likeliest one in the question.
_BESIDE = 0.15
#: The first and last characters of a mention in a question.
Mention = tuple[int, int]


@lru_cache(maxsize=50_000)
def _rarity(encoder: Encoder, word: str) -> float:
    """Return how rare a word is, by its place in the encoder's vocabulary, which is ordered."""
    if word in FUNCTION_WORDS:
        return 1.0
    ids = encoder.tokenizer.encode(word, add_special_tokens=False).ids
    return max(log(max(ids, default=1)) + 0.5 * (len(ids) - 1) - 6.0, 0.2)


def _name_features(encoder: Encoder, words: Sequence[str]) -> tuple[float, float, float]:
    """Return the sum and the most of the words' rarity, and how many words there are."""
    rarities = [_rarity(encoder, word) for word in words] or [0.0]
    return sum(rarities), max(rarities), float(len(rarities))


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
    usual = np.array(
        [_name_features(encoder, name_words(name)) for name in names] or [(0.0, 0.0, 0.0)]
    )
    spread = (usual.std(axis=0) + 0.5) * (1 + _FEW / len(usual))
    runs = list(spans(question))
    words = [each for run in runs for each in run]
    # A capital letter tells nothing at the begin of a sentence, nor that of "I".
    begins = {run[0][1] for run in runs} | {b for w, b, _ in words if len(w) == 1}
    rows = np.zeros((len(mentions), len(FEATURES)), np.float32)
    for row, (begin, end), near in zip(rows, mentions, closeness, strict=True):
        inside = [(w, b) for w, b, e in words if begin <= b and e <= end]
        others = [(w, b) for w, b, e in words if not (begin <= b and e <= end) and b not in begins]
        mention = _name_features(encoder, [w.removesuffix("'s") for w, _ in inside])
        first = [question[b] for w, b in inside if w not in FUNCTION_WORDS]
        other_first = [question[b] for w, b in others if w not in FUNCTION_WORDS]
        cased = any(c.isupper() for c in other_first) and any(c.isalpha() for c in first)
        upper = sum(c.isupper() for c in first) / max(len(first), 1)
        around = sum(c.isupper() for c in other_first) / max(len(other_first), 1)
        before = next((w for w, _, e in reversed(words) if e <= begin), "")
        after = next((w for w, b, _ in words if b >= end), "")
        row[:] = (
            *np.clip((np.array(mention) - usual.mean(axis=0)) / spread, -4, 2),
            upper * (1 - around), cased and not upper, near,
            after == "s" or question[begin:end].endswith(("'s", "’s")),
            before in _ASKING, before in _PREPOSITIONS, not after,
        )  # fmt: skip
    return rows


@lru_cache(maxsize=1)
def _model() -> dict[str, Any]:
    file = resources.files("kgp_neo4j.mindmap.link") / "name_scorer.json"
    model: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return model


def are_names(features: NDArray[np.float32]) -> list[bool]:
    """Return which mentions are likely enough to be names, also beside the likeliest one."""
    model = _model()
    weights = np.array([model["weights"][name] for name in FEATURES], np.float32)
    scores = [1 / (1 + exp(-float(value))) for value in features @ weights + model["bias"]]
    least = max(model["threshold"], _BESIDE * max(scores, default=0.0))
    return [score >= least for score in scores]
