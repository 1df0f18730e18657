"""Fits and measures how sure the offline reader is, on questions that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgp_neo4j.models.reader import Reader
from kgp_neo4j.models.reader.choosing import SIGNALS, Choice, words_of
from kgp_neo4j.records import Passage, ReasoningPath

__all__ = ["Asked", "calibration_error", "fit_calibration", "is_right", "reliability"]

_FEWEST = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with what was retrieved for it, and its right answers."""

    question: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...]
    paths: tuple[ReasoningPath, ...] = ()


def is_right(text: str, answers: Sequence[str]) -> bool:
    """Say whether an answer is one of the right ones, without case, accents, marks and articles."""
    return any(words_of(text) == words_of(answer) for answer in answers)


def fit_calibration(reader: Reader, asked: Sequence[Asked]) -> dict[str, Any]:
    """Return bias, weights and threshold for the reader's card, with the figures they reach.

    Logistic regression of whether an answer is right on the signals of its choice. Below the
    threshold nothing is stated: it is as high as costs none of the right answers there.
    Returns {} for too few questions, or where all answers are right or all wrong.
    """
    from sklearn.linear_model import LogisticRegression

    choices: list[Choice] = []
    right: list[bool] = []
    for one in asked:
        choice = reader.choose(reader.find(one.question, one.passages, one.paths))
        if choice.kind != "none":
            choices.append(choice)
            right.append(is_right(choice.text, one.answers))
    if len(choices) < _FEWEST or len(set(right)) < 2:
        return {}
    used = [name for name in SIGNALS if any(choice.signals.get(name) for choice in choices)]
    rows = [[choice.signals.get(name, 0.0) for name in used] for choice in choices]
    model = LogisticRegression(C=1.0, max_iter=1000).fit(rows, right)
    sure = [float(p) for p in model.predict_proba(rows)[:, 1]]
    threshold = min(p for p, good in zip(sure, right, strict=True) if good) - 1e-6
    return {
        "bias": float(model.intercept_[0]),
        "weights": dict(zip(used, map(float, model.coef_[0]), strict=True)),
        "threshold": max(0.0, min(threshold, 0.5)),
        "questions": len(choices),
        "right": sum(right) / len(right),
        "error": calibration_error(sure, right),
    }


def reliability(
    sure: Sequence[float], right: Sequence[bool], bins: int = 10
) -> list[Mapping[str, float]]:
    """Return for each tenth of confidence that has answers how many, how sure, and how many right.

    `sure` and `right` there are means.
    """
    made: list[Mapping[str, float]] = []
    for at in range(bins):
        low, high = at / bins, (at + 1) / bins
        inside = [i for i, p in enumerate(sure) if low <= p < high or (p == 1.0 and at == bins - 1)]
        if inside:
            made.append(
                {
                    "from": low,
                    "number": len(inside),
                    "sure": sum(sure[i] for i in inside) / len(inside),
                    "right": sum(right[i] for i in inside) / len(inside),
                }
            )
    return made


def calibration_error(sure: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Return the expected calibration error (Naeini et al. 2015): the mean gap over the bins."""
    rows = reliability(sure, right, bins)
    total = sum(row["number"] for row in rows) or 1
    return sum(row["number"] * abs(row["sure"] - row["right"]) for row in rows) / total
