"""Choose the answer from the network's logits of each window, with its confidence."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.models.reader import network as light
from kgp_neo4j.text.values import compare
from kgp_neo4j.text.words import content_words
from kgp_neo4j.types.corpus import Passage

#: Inputs of a choice's confidence: the log odds of the answer, of "nothing here" and of the second
#: reading, how the answer was found, and its length in tens of words.
SIGNALS = (
    "answer", "nothing", "yes or no", "operation", "answer if yes or no", "answer if operation",
    "words", "verified", "verified if yes or no",
)  # fmt: skip
_SUPPORT = light.PIECES.index("support")
#: Least probability of an operation, and of the values that it compares, for it to be used.
_OPERATION = 0.5
_VALUES = 0.1
#: Least confidence for an answer to be stated, where a card gives none.
_STATED = 0.8
#: Least sum for the passages to be about the question: half of the agent's log odds for the best
#: one, the reader's for its answer, and so many times the best match of a passage. Of 192 plain
#: questions of eight kinds of documents 6 are below, asked in other words than theirs; of 170 about
#: other things 139 are, or name what is nowhere (benchmarks/README.md).
_ABOUT, _MATCHES = 4.0, 13
_LONGEST = 12
#: Confidence of yes or no by a limit: 20 of 28 were right on questions that had not been seen, and
#: two kinds of those that were not are mended.
_DECIDED = 0.75
#: Words of a sentence at least.
_SHORTEST = 2


#: What was read of each window.
_Windows = Sequence[tuple[light.Window, light.Logits]]
#: (score, passage's index, start, end), the most relevant to the question first.
_Sentences = tuple[tuple[float, int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer chosen: `spans` are (passage id, start, end), `signals` tell its confidence."""

    kind: str
    text: str = ""
    spans: tuple[tuple[str, int, int], ...] = ()
    signals: dict[str, float] = field(default_factory=dict)
    sentences: _Sentences = ()

    def verified(self, odds: float) -> Self:
        """Return the choice with the log odds of its second reading."""
        more = {"verified": odds}
        if "yes or no" in self.signals:
            more["verified if yes or no"] = odds
        return replace(self, signals=self.signals | more)


def choose(question: str, passages: Sequence[Passage], windows: _Windows) -> Choice:
    """Return the answer, `none` where nothing was read, and the sentences most relevant to it.

    The window with the lowest probability of "nothing" gives the kind of the answer. A span is the
    likeliest of all windows. Where that window asks for a comparison, the network reads the two
    values and the options of the question that they belong to, and the values are compared exactly;
    where that is impossible, the answer is the one read without comparing.
    """
    sentences = _by_support(question, passages, windows)
    return replace(_chosen(question, passages, windows, sentences), sentences=sentences)


def _chosen(
    question: str, passages: Sequence[Passage], windows: _Windows, supporting: _Sentences
) -> Choice:
    kinds = [light.probabilities(logits.kinds) for _, logits in windows]
    read = zip(kinds, (light.spans_of(logits, window) for window, logits in windows), strict=True)
    scored = [(span.score * kind[0], span) for kind, spans in read for span in spans]
    if not scored:
        return Choice("none")
    fullest = min(range(len(windows)), key=lambda at: kinds[at][light.KINDS.index("none")])
    span, yes, no, nothing = map(float, kinds[fullest])
    if compared := _compared(question, passages, windows, fullest):
        text, values, score = compared
        places = sum((_place(passages, value) for value in values), ())
        return Choice("span", text, places, _signals(score, nothing, "operation", text))
    if max(yes, no) > span:
        kind = "yes" if yes > no else "no"
        signals = _signals(max(yes, no), nothing, "yes or no", kind)
        here = windows[fullest][0].passages
        first = [(passages[at].id, a, b) for _, at, a, b in supporting if at in here][:1]
        return Choice(kind, kind, tuple(first), signals)
    score, best = max(scored, key=lambda one: one[0])
    chosen = span_choice(passages, best)
    if not chosen.text:
        return Choice("none")
    return replace(chosen, signals=_signals(score, nothing, "", chosen.text))


def span_choice(passages: Sequence[Passage], candidate: light.Candidate) -> Choice:
    """Return a span as a choice: its text, and where it stands; it does not leave its line."""
    text = _text(passages, candidate)
    if "\n" in text and len(lines := sentences(text)) > 1:
        # Up to the end of the paragraph, heading or item of a list that it begins in.
        first = text[: lines[0][1]].rstrip(" \n.:;,")
        candidate = replace(candidate, end=candidate.start + len(first))
    return Choice("span", _text(passages, candidate), _place(passages, candidate))


def _compared(
    question: str, passages: Sequence[Passage], windows: _Windows, fullest: int
) -> tuple[str, tuple[light.Candidate, ...], float] | None:
    """Return what the operation that a window asks for chose: the option, both values, a score."""
    window, logits = windows[fullest]
    likely = light.probabilities(logits.operations)
    at = int(likely.argmax())
    operation = light.OPERATIONS[at]
    if likely[at] < _OPERATION or operation in ("none", "same"):
        return None
    values = []
    for name in ("value 1", "value 2"):
        read = [
            best for held, outputs in windows for best in light.spans_of(outputs, held, name)[:1]
        ]
        if not read:
            return None
        values.append(max(read, key=lambda held: held.score))
    product = math.prod(value.score for value in values)
    # A value that was not read decides nothing.
    chosen = compare(operation, *(_text(passages, value) for value in values))
    if chosen is None or product <= _VALUES:
        return None
    start, end, named = light.option_of(logits, window, f"option {chosen + 1}")
    ordered, score = (values[chosen], values[1 - chosen]), product * float(likely[at]) * named
    return (question[start:end], ordered, score) if question[start:end].strip() else None


def _signals(answer: float, nothing: float, how: str, text: str) -> dict[str, float]:
    odds, length = _log_odds(answer), min(len(text.split()), _LONGEST) / 10
    signals = {"answer": odds, "nothing": _log_odds(nothing), "words": length}
    return signals | ({how: 1.0, f"answer if {how}": odds} if how else {})


def _log_odds(probability: float) -> float:
    bounded = max(min(probability, 1 - 1e-4), 1e-4)
    return math.log(bounded / (1 - bounded))


def _text(passages: Sequence[Passage], candidate: light.Candidate) -> str:
    passage = passages[candidate.passage]
    source = passage.heading if candidate.in_title else passage.text
    return source[candidate.start : candidate.end].strip()


def _place(
    passages: Sequence[Passage], candidate: light.Candidate
) -> tuple[tuple[str, int, int], ...]:
    """Return the span's place in its passage's text; nothing where only the title has it."""
    passage = passages[candidate.passage]
    text = _text(passages, candidate)
    at = passage.text.find(text, 0 if candidate.in_title else candidate.start)
    return ((passage.id, at, at + len(text)),) if at >= 0 else ()


def _by_support(question: str, passages: Sequence[Passage], windows: _Windows) -> _Sentences:
    """Return the sentences by the network's support and the share of the question's words."""
    pieces: dict[int, list[tuple[int, int, float]]] = defaultdict(list)
    for window, logits in windows:
        for place, support in zip(window.places, logits.pieces[:, _SUPPORT], strict=True):
            if place is not None and not place[1]:
                pieces[place[0]].append((place[2], place[3], float(support)))
    asked = set(content_words(question))
    ranked = []
    for at, places in pieces.items():
        text = passages[at].text
        for start, end in sentences(text):
            supports = [support for a, b, support in places if start <= a and b <= end]
            if not supports or text.startswith("#", start):  # a heading is no sentence
                continue
            content = content_words(text[start:end])
            if len(content) >= _SHORTEST:
                shared = len(asked.intersection(content)) / max(1, len(asked))
                ranked.append((float(np.mean(supports)) + shared, at, start, end))
    return tuple(sorted(ranked, key=lambda one: (-one[0], *one[1:])))


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic function of a choice's signals.

    From `stated` on nine in ten answers are right; below `threshold` there is none, unless the
    agent says how likely the passages belong to the question.
    """

    bias: float = 0.0
    weights: tuple[tuple[str, float], ...] = (("answer", 1.0),)
    threshold: float = 0.0
    stated: float = _STATED

    @classmethod
    def of(cls, card: Mapping[str, Any]) -> Self:
        """Return a card's calibration, else an untrained one; raises ValueError for others."""
        if not card:
            return cls()
        weights = tuple((str(name), float(w)) for name, w in card["weights"].items())
        if unknown := {name for name, _ in weights} - set(SIGNALS):
            raise ValueError(f"unknown signals {', '.join(sorted(unknown))}")
        stated = float(card.get("stated", _STATED))
        return cls(float(card["bias"]), weights, float(card["threshold"]), stated)

    def confidence(self, choice: Choice) -> float:
        """Return the probability that a choice is right."""
        if "decided" in choice.signals:
            return _DECIDED
        score = self.bias + sum(w * choice.signals.get(name, 0.0) for name, w in self.weights)
        return 1.0 / (1.0 + math.exp(-max(min(score, 30.0), -30.0)))

    def is_answer(self, confidence: float, judged: float | None, match: float) -> bool:
        """Return whether there is an answer, and not passages about something else alone.

        `judged` is the agent's probability that the best passage belongs to the question, if it
        gives one; `match` is the best `Step.match` of a passage.
        """
        if judged is None:
            return confidence >= self.threshold
        return _log_odds(judged) / 2 + _log_odds(confidence) + _MATCHES * match >= _ABOUT
