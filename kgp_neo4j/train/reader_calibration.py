"""Fit and measure the confidence of the offline reader, on questions it was not trained on."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgp_neo4j.corpus.read.choosing import SIGNALS, Choice
from kgp_neo4j.corpus.read.reader import OfflineReader
from kgp_neo4j.text.words import cut
from kgp_neo4j.types.corpus import Passage

_FEWEST = 20
#: Weight of a question read over another one's passages, beside one over its own: in use, most
#: questions can be answered.
_FOREIGN = 0.25
#: Share of right answers below the threshold, which are not given.
_LOST_SHARE = 0.02
#: Share of right answers among those that are stated.
_RIGHT_SHARE = 0.9
#: Least F1 of the words with a right answer.
_SAME_ANSWER = 0.8


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the passages to read, and its right answers."""

    question: str
    passages: tuple[Passage, ...]
    answers: tuple[str, ...]


def is_right(text: str, answers: Sequence[str]) -> bool:
    """Return whether an answer equals or contains a right one, or shares most words with one.

    Case, accents, marks and articles do not count; yes and no have to be equal.
    """
    answer_words = _words_of(text)
    for right in map(_words_of, answers):
        shared = 2 * (Counter(answer_words) & Counter(right)).total()
        alike = shared >= _SAME_ANSWER * max(1, len(answer_words) + len(right))
        within = f" {' '.join(right)} " in f" {' '.join(answer_words)} "
        if answer_words == right or alike or (within and right not in ([], ["yes"], ["no"])):
            return True
    return False


def _words_of(text: str) -> list[str]:
    """Return the words of an answer without case, accents, marks and articles."""
    return [word for word in cut(text).keys if word not in ("the", "a", "an")]


def fit_calibration(reader: OfflineReader, asked: Sequence[Asked]) -> dict[str, Any]:
    """Return bias, weights and threshold for the reader's card, with the figures they reach.

    Logistic regression of whether an answer is right on the signals of its choice. Each question is
    also read over another one's passages, so that the confidence is low where the evidence has no
    answer. Below the threshold there is no answer: one in fifty right answers is there. From
    `stated` on nine in ten answers are right. `error` and `right` are over the questions' own
    passages. Returns {} for too few questions, or where all answers are right or all wrong.
    """
    from sklearn.linear_model import LogisticRegression

    def read(one: Asked, other: Asked) -> list[tuple[Choice, bool]]:
        found = reader.candidates(one.question, other.passages)
        return [(c, is_right(c.text, one.answers)) for c in found if c.kind != "none"]

    rows = [row for one in asked for row in read(one, one)]
    right = [good for _, good in rows]
    if len(rows) < _FEWEST or len(set(right)) < 2:
        return {}
    foreign = [
        choice
        for one, other in zip(asked, [*asked[1:], *asked[:1]], strict=True)
        if not _occurs(one.answers, other.passages)
        for choice, _ in read(one, other)
    ]
    # Yes and no are right half of the time whatever the passages: nothing is learned from them.
    others = [choice for choice in foreign if choice.kind == "span"]
    both = [*(choice for choice, _ in rows), *others]
    used = [name for name in SIGNALS if any(choice.signals.get(name) for choice in both)]
    signals = [[choice.signals.get(name, 0.0) for name in used] for choice in both]
    model = LogisticRegression(C=1.0, max_iter=1000).fit(
        signals, right + [False] * len(others), [1.0] * len(rows) + [_FOREIGN] * len(others)
    )
    sure = [float(p) for p in model.predict_proba(signals)[:, 1]]
    confidences = sorted(p for p, good in zip(sure, right, strict=False) if good)
    threshold = confidences[int(_LOST_SHARE * len(confidences))]
    return {
        "bias": float(model.intercept_[0]),
        "weights": dict(zip(used, map(float, model.coef_[0]), strict=True)),
        "threshold": max(0.0, min(threshold, 0.5)),
        "stated": _stated_from(sure[: len(rows)], right),
        "questions": len(rows),
        "right": sum(right) / len(right),
        "error": calibration_error(sure[: len(rows)], right),
    }


def _stated_from(sure: Sequence[float], right: Sequence[bool]) -> float:
    """Return the lowest confidence above which nine in ten answers are right; 1 where none is."""
    best, good = 1.0, 0
    for at, (confidence, is_good) in enumerate(sorted(zip(sure, right, strict=True))[::-1], 1):
        good += is_good
        if at >= _FEWEST and good >= _RIGHT_SHARE * at:
            best = confidence
    return best


def _occurs(answers: Sequence[str], passages: Sequence[Passage]) -> bool:
    """Return whether a right answer occurs in some passages, which then may answer after all."""
    text = f" {' '.join(word for p in passages for word in _words_of(f'{p.title} {p.text}'))} "
    return any(f" {' '.join(_words_of(answer))} " in text for answer in answers)


def calibration_error(sure: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Return the expected calibration error (Naeini et al. 2015): the mean gap over the bins."""
    gaps = [0.0] * bins
    for confidence, good in zip(sure, right, strict=True):
        gaps[min(int(confidence * bins), bins - 1)] += confidence - good
    return sum(map(abs, gaps)) / max(1, len(sure))
