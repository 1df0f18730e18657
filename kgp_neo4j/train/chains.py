"""Sort supporting facts in the order in which they lead from a question to its answer.

HotpotQA lists the supporting facts of a question in no particular order; an agent that predicts the
next evidence has to learn from them in the order of the reasoning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgp_neo4j.text.words import title_words, words

__all__ = ["SupportingFact", "chained", "is_named"]


@dataclass(frozen=True, slots=True)
class SupportingFact:
    """The part of one passage that a question needs.

    `text` is the passage's supporting sentences, `passage_text` all of it (the same where a data
    set gives only the sentences); `title` is empty where it is unknown.
    """

    title: str
    text: str
    passage_text: str


def chained(question: str, answer: str, facts: Sequence[SupportingFact]) -> list[SupportingFact]:
    """Return the facts of a bridge question in the order of its reasoning.

    Facts named in the question come first, then those named by earlier facts, and last the one with
    the answer: the order in which HotpotQA's bridge questions were written (Yang et al., 2018,
    section 2). Ties keep their order.
    """
    question_words = _lowered(question)
    left = list(facts)
    ordered: list[SupportingFact] = []
    while left:
        scores = [_priority(fact, ordered, left, question_words, _lowered(answer)) for fact in left]
        ordered.append(left.pop(scores.index(max(scores))))
    return ordered


def is_named(title: str, text: str) -> bool:
    """Return whether a text names a title, whole or without its "(disambiguator)"."""
    return _names(_lowered(text), title)


def _priority(
    fact: SupportingFact,
    before: Sequence[SupportingFact],
    left: Sequence[SupportingFact],
    question_words: Sequence[str],
    answer: Sequence[str],
) -> float:
    """Return the priority of a fact to come next, before the others of `left`."""
    others = [other for other in left if other is not fact]
    score = 2.0 * _share(fact.title or fact.text, question_words)
    if any(_names(_lowered(other.text), fact.title) for other in before):
        score += 2.0
    # A fact that another one names comes after it, unless they name each other.
    score += sum(_names(_lowered(fact.text), other.title) for other in others)
    score -= sum(_names(_lowered(other.text), fact.title) for other in others)
    text = _lowered(fact.text)
    if _contains(text, answer) and not all(
        _contains(_lowered(other.text), answer) for other in others
    ):
        score -= 1.0
    if answer and any(answer == [w.lower() for w in form] for form in title_words(fact.title)):
        score -= 2.0
    return score


def _share(title: str, question_words: Sequence[str]) -> float:
    """Return the share of a title's words that the question has; 1 where it names it."""
    if _names(question_words, title):
        return 1.0
    forms = title_words(title)
    if not forms:
        return 0.0
    wanted = {word.lower() for word in forms[-1]}
    return 0.5 * len(wanted & set(question_words)) / len(wanted)


def _names(text: Sequence[str], title: str) -> bool:
    return any(_contains(text, [w.lower() for w in form]) for form in title_words(title))


def _contains(text: Sequence[str], wanted: Sequence[str]) -> bool:
    size = len(wanted)
    return size > 0 and any(
        list(text[at : at + size]) == list(wanted) for at in range(len(text) - size + 1)
    )


def _lowered(text: str) -> list[str]:
    return [word.lower() for word in words(text)]
