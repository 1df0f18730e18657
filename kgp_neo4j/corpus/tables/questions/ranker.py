"""The learned ranker: the likeliest reading of a question, and its confidence.

A small network scores each plan by the question's words, the plan's form, the headers of its
columns and how all of them fit (`features`); boosted trees tell how often its best answer is right.
"""

import json
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from kgp_neo4j.corpus.tables.questions.candidates import Candidate
from kgp_neo4j.corpus.tables.questions.features import FEATURES, Example
from kgp_neo4j.models.trees import Trees

#: Words of a header that are used at most.
HEADER_WORDS = 6
#: Inputs of the confidence: these, and the features of the best plan.
CONFIDENCE = (
    "share", "margin", "score", "plan share", "candidates", "answers", "question words",
    "unknown words", *FEATURES,
)  # fmt: skip


class Ranker:
    """The network's weights and vocabularies as arrays; runs with numpy alone."""

    def __init__(self, weights: dict[str, NDArray[Any]], card: dict[str, Any]) -> None:
        self.weights = weights
        self.grams, self.signatures, self.headers = (
            {name: at for at, name in enumerate(card[kind], 1)}
            for kind in ("grams", "signatures", "headers")
        )
        self.trees = Trees(CONFIDENCE, card["confidence"])
        self.threshold = float(card["threshold"])
        #: Slope and shift that make a probability of the trees' log odds.
        self.calibration: tuple[float, float] = tuple(card["calibration"])

    def scores(self, example: Example) -> NDArray[np.float64]:
        """Return a score for each candidate; their softmax is the network's probability of each."""
        w = self.weights
        known = [self.grams[g] for g in example.grams if g in self.grams]
        question = w["grams"][known].sum(axis=0) * (1.5 / max(len(known), 1) ** 0.5)
        shapes = [self.signatures.get(s, 0) for s in example.signatures]
        shape = w["signatures"][shapes]
        fit = (shape @ (w["turn.weight"] @ question))[:, None]
        headers = np.stack(
            [[self._header(words) for words in part] for part in zip(*example.headers, strict=True)]
        )
        asked = (w["ask.weight"] @ question + w["ask.bias"]).reshape(headers.shape[0], -1)
        fits = (headers * asked[:, None, :]).sum(axis=2).T
        bias = w["bias"][shapes]
        rows = (example.features - w["mean"]) / w["scale"]
        flat = headers.transpose(1, 0, 2).reshape(len(shapes), -1)
        extra = np.concatenate([fit, fits, bias], axis=1)
        first = (
            rows @ w["features.weight"].T
            + w["features.bias"]
            + question @ w["question.weight"].T
            + shape @ w["shape.weight"].T
            + flat @ w["header.weight"].T
            + extra @ w["extra.weight"].T
        )
        second = np.maximum(first, 0) @ w["second.weight"].T + w["second.bias"]
        last = np.maximum(second, 0) @ w["last.weight"].T + w["last.bias"]
        return np.asarray((last + fit + fits.sum(axis=1, keepdims=True) + bias)[:, 0])

    def _header(self, words: tuple[str, ...]) -> NDArray[Any]:
        known = [self.headers.get(word, 0) for word in words[:HEADER_WORDS]]
        return np.asarray(self.weights["headers"][known].sum(axis=0))

    def judge(self, example: Example, readings: list[Candidate]) -> tuple[Candidate, float]:
        """Return the plan whose answer has the highest probability, summed over the plans that give
        it, and the probability that this answer is right.
        """
        # Plans with one answer are one group.
        answers = [tuple(sorted(v.casefold() for v in each.result.values)) for each in readings]
        number = {answer: at for at, answer in enumerate(dict.fromkeys(answers))}
        groups = np.array([number[answer] for answer in answers])
        scores = self.scores(example)
        belief = np.exp(scores - scores.max())
        belief /= belief.sum()
        shares = np.bincount(groups, weights=belief)
        top = int(shares.argmax())
        best = int(np.where(groups == top, scores, -np.inf).argmax())
        margin = shares[top] - np.delete(shares, top).max(initial=0.0)
        words = [g for g in example.grams if g.startswith("u:")]
        unknown = sum(word not in self.grams for word in words)
        sure = (shares[top], margin, scores[best], belief[best])
        row = [*sure, len(groups), len(shares), len(words), unknown, *example.features[best]]
        score = float(self.trees.scores(np.array([row], dtype=np.float32))[0])
        slope, shift = self.calibration
        return readings[best], float(1.0 / (1.0 + np.exp(-slope * score - shift)))


@cache
def load_ranker() -> Ranker:
    """Read the ranker that comes with the package (once)."""
    folder = resources.files("kgp_neo4j.corpus.tables.questions")
    weights = load(folder.joinpath("ranker.safetensors").read_bytes())
    card = json.loads(folder.joinpath("ranker.json").read_text(encoding="utf-8"))
    return Ranker({name: array.astype("float32") for name, array in weights.items()}, card)
