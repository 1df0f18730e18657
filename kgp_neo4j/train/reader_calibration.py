"""Fit and measure the confidence of the offline reader, on questions it was not trained on."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kgp_neo4j.corpus.read.choosing import SIGNALS, Choice
from kgp_neo4j.corpus.read.reader import OfflineReader
from kgp_neo4j.models.reader.network import KINDS, OPERATIONS, Piece, Window, pieces_of, windows_of
from kgp_neo4j.text.words import cut
from kgp_neo4j.train.examples import Place, ReadingExample, Text
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


#: Windows that are sorted by length together, so that little is padded.
_SORTED = 384
#: Share of examples of one passage, and of several, without an answer in their window.
_NOTHING = {"one": 0.12, "several": 0.15}
#: Share of examples with passages of other questions beside their only one, and how many of these.
_BESIDE = 0.55
_STRANGERS = (1, 1, 2, 3, 4, 5)
#: Passages of others beside those of a question over several, at most, and the share without any.
_OTHERS = 8
_ALONE = 0.2
#: Share of examples whose right passages come first, in the reasoning's order; else in drawn order.
_IN_ORDER = 0.35
#: Tokens of a window that are left for the question.
_QUESTION = 70


@dataclass(frozen=True, slots=True)
class Laid:
    """A window with its labels.

    `marks` are the right tokens for each column of `network.PIECES`, (0,) where there are none; a
    missing column is unknown and not learned from. `support` is 0 or 1 for each token, empty where
    it is unknown; `operation` is -1 where it is unknown.
    """

    ids: list[int]
    types: list[int]
    kind: int
    marks: dict[str, list[int]]
    support: list[int] = field(default_factory=list)
    operation: int = -1


def lay_out(
    tokenizer: Any, examples: Sequence[ReadingExample], longest: int, draw: random.Random
) -> list[Laid]:
    """Return a window for each example, with drawn distractors and the passages in drawn order.

    Some lack the answer's passages, to learn that there may be none. What does not fit is left out.
    """
    laid = []
    for example in examples:
        kind, gold, others = _drawn(example, draw, examples)
        if kind == "none" and not others:
            continue
        #: Of each text its number among the example's passages; -1 for others.
        numbers = [*gold, *(-1 for _ in others)]
        parts = pieces_of(tokenizer, [example.passages[at] for at in gold] + others)
        chosen = [_part(parts[at], number, example) for at, number in enumerate(numbers)]
        pieces = chosen[: len(gold)]
        room = longest - _QUESTION - sum(len(piece.ids) + 1 for piece in pieces)
        for piece in chosen[len(gold) :]:
            if not pieces or len(piece.ids) < room:
                pieces.append(piece)
                room -= len(piece.ids) + 1
        if draw.random() > _IN_ORDER:
            draw.shuffle(pieces)
        window = windows_of(tokenizer, example.question, longest, pieces)[0]
        #: The place of each token, by the number of its passage.
        places = [None if at is None else (numbers[at[0]], *at[1:]) for at in window.places]
        if marks := _marks(window, places, example, kind):
            operation = OPERATIONS.index(example.program.operation) if example.program else -1
            spans = example.support
            support = [] if spans is None else [int(_is_within(at, spans)) for at in places]
            kind_at = KINDS.index(kind)
            laid.append(Laid(window.ids, window.types, kind_at, marks, support, operation))
    return laid


def _drawn(
    example: ReadingExample, draw: random.Random, examples: Sequence[ReadingExample]
) -> tuple[str, list[int], list[Text]]:
    """Return the kind of a window, which passages of its example it has, and those beside them."""
    kind, others = example.kind, list(example.others)
    every = list(range(len(example.passages)))
    gold, answer = every, example.answer.lower()

    def without_answer(texts: Sequence[Text]) -> list[Text]:
        return [text for text in texts if answer not in f"{text[0]} {text[1]}".lower()]

    if draw.random() < _NOTHING.get(example.group, 0.0):
        if len(every) == 1 and kind == "span":
            stranger = draw.choice(examples).passages
            if len(without_answer(stranger)) == len(stranger):
                gold, kind, others = [], "none", [stranger[0]]
        elif others and len(every) > 1:
            held = {place[0] for place in example.places} or {draw.choice(every)}
            gold, kind = [at for at in every if at not in held], "none"
    draw.shuffle(others)
    # Mostly others beside the right ones, now and then none.
    room = draw.randint(1, _OTHERS) if kind == "none" or draw.random() > _ALONE else 0
    if example.group == "one" and kind == "span":
        room = draw.choice(_STRANGERS) if draw.random() < _BESIDE else 0
        others = [draw.choice(examples).passages[0] for _ in range(room)]
    if kind == "none" or example.group == "one":
        others = without_answer(others)
    return kind, gold, others[:room]


def _marks(
    window: Window, places: Sequence[Place | None], example: ReadingExample, kind: str
) -> dict[str, list[int]] | None:
    """Return the right tokens of each column; None where the answer is not in the window."""
    starts, ends = _marked(places, example.places) if kind == "span" else ([0], [0])
    if not starts or not ends:
        return None
    marks = {"start": starts, "end": ends}
    program = example.program
    if program is None:
        return marks
    nothing = program.operation == "none"
    for at, value in enumerate(((), ()) if nothing else program.values, 1):
        starts, ends = _marked(places, value)
        whole = starts and ends
        marks |= {f"value {at} start": starts if whole else [0]}
        marks |= {f"value {at} end": ends if whole else [0]}
    for at, (first, last) in enumerate(((0, 0), (0, 0)) if nothing else program.options, 1):
        tokens = [n for n, (a, b) in enumerate(window.asked, 1) if a < last and b > first] or [0]
        marks |= {f"option {at} start": tokens[:1], f"option {at} end": tokens[-1:]}
    return marks


def _marked(places: Sequence[Place | None], spans: Sequence[Place]) -> tuple[list[int], list[int]]:
    """Return the tokens with which spans start, and those with which they end."""
    starts, ends = [], []
    for at, place in enumerate(places):
        for *where, start, end in spans:
            if place is not None and where == [*place[:2]]:
                if place[2] <= start < place[3]:
                    starts.append(at)
                if place[2] < end <= place[3]:
                    ends.append(at)
    return starts, ends


def _is_within(place: Place | None, spans: Sequence[Place]) -> bool:
    return place is not None and any(
        (*where,) == place[:2] and start <= place[2] and place[3] <= end
        for *where, start, end in spans
    )


def _part(parts: Sequence[Piece], number: int, example: ReadingExample) -> Piece:
    """Return the part of a long passage with the answer, else its first."""
    for passage, in_title, start, end in example.places:
        for part in parts if passage == number and not in_title else ():
            text = [span for span in part.offsets[part.title :] if span]
            if text and text[0][0] <= start and end <= text[-1][1]:
                return part
    return parts[0]


def batches(laid: Sequence[Laid], tokens: int, draw: random.Random) -> list[list[Laid]]:
    """Return batches of about `tokens` tokens, padding included, in drawn order."""
    order = list(laid)
    draw.shuffle(order)
    grouped: list[list[Laid]] = []
    for at in range(0, len(order), _SORTED):
        near: list[list[Laid]] = [[]]
        for one in sorted(order[at : at + _SORTED], key=lambda one: len(one.ids)):
            if near[-1] and (len(near[-1]) + 1) * len(one.ids) > tokens:
                near.append([])
            near[-1].append(one)
        draw.shuffle(near)
        grouped += near
    return grouped
