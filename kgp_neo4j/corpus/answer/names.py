"""Asks passages for the names of a claim, to see whether it has a wrong one.

A claim with a gap for a name is a question ("The Hesk Bridge was designed by what?"), which the
offline reader answers from the passages. Where it finds another name, the claim's is likely wrong;
where it finds nothing for any of several names, they do not say what the claim says of them.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import regex

from kgp_neo4j.text.language import is_in_another
from kgp_neo4j.text.safe import cut
from kgp_neo4j.text.words import STOP_WORDS, content_words, words
from kgp_neo4j.types.corpus import Passage

#: `OfflineReader.likeliest`, where there is a reader.
Ask = Callable[[str, Sequence[Passage]], tuple[list[tuple[str, float]], float]] | None
#: What stands for a name in a question.
_GAP = "what"
#: Names and characters of a claim, and passages that it cites, that are read at most.
_MOST, _READ, _TOGETHER = 6, 220, 4
#: Least probability of another name, and how many times that of the claim's own it has to be.
_LIKELY, _TIMES = 0.1, 20
#: From this probability on the passages have a name in its place.
_AFFIRMED = 0.1
#: Names that are all less likely, while "nothing" is more likely, have not to do with each other.
_UNRELATED, _NOTHING = 0.02, 0.2
_WORD = r"(?:\p{Lu}[\p{L}\p{M}\p{N}'’-]*|\d[\d.,]*(?<![.,]))"
#: Words with a capital, and numbers among them.
_RUN = regex.compile(
    rf"(?<![\p{{L}}\p{{N}}]){_WORD}"
    rf"(?:(?: |(?<=\b\p{{Lu}})\. |, (?=\d{{4}})| of | of the ){_WORD})*(?<!['’]s)(?<!['’-])"
)


class _Asked(NamedTuple):
    """A name, its probability, that of nothing, and another that stands in its place, if any."""

    titled: bool
    name: str
    own: float
    nothing: float
    other: str


def wrong_name(claim: str, passages: Sequence[Passage], ask: Ask) -> str:
    """Return a note where passages have another name in place of a claim's, in English alone."""
    known = "\n".join(passage.text for passage in passages)
    both = (claim, known)
    if ask is None or len(passages) > _TOGETHER or any(is_in_another(text, "") for text in both):
        return ""
    titles, texts = word_run("\n".join(passage.heading for passage in passages)), word_run(known)
    asked = list[_Asked]()
    for start, end in islice(_names(claim), _MOST):
        name, rest = claim[start:end], (claim[:start], claim[end:])
        if word_run(name) not in titles + texts or not content_words(" ".join(rest)):
            continue
        spans, nothing = ask(_GAP.join(rest).rstrip(" .") + "?", passages)
        own = max((score for text, score in spans if _same(text, name)), default=0.0)
        others = ((score, text) for text, score in spans if not _same(text, name))
        likely, other = max(others, default=(0.0, ""))
        new = any(map(str.isupper, other)) and set(content_words(other)) - set(content_words(claim))
        titled = word_run(name) in titles
        own_run, left, right = (word_run(part).split() for part in (name, *rest))
        runs = ([*left[-2:], *own_run], [*left[-1:], *own_run, *right[:1]], [*own_run, *right[:2]])
        repeated = (" ".join(run) for run in runs if len(run) == len(own_run) + 2)
        # What is repeated, or what a sole passage is about, stays as it is.
        told = any(f" {run} " in texts for run in repeated) or (titled and len(passages) == 1)
        wrong = new and not told and likely >= max(_LIKELY, _TIMES * own)
        other = other.strip(" .,;:\"'") if wrong else ""
        asked.append(_Asked(titled, name, own, nothing, other))
    best = max((one.own for one in asked), default=0.0)
    # The subject is asked for badly ("The director of what is"): only if no name is found.
    subjects = [one for one in asked if one.titled] or asked[:1]
    for one in sorted(asked):
        if one.other and not (one in subjects and best >= _AFFIRMED):
            return f"they rather say “{cut(one.other, 60)}” than “{one.name}”"
    if len(asked) > 1 and best < _UNRELATED and min(one.nothing for one in asked) > _NOTHING:
        return f"they do not say this of “{asked[0].name}” and “{asked[1].name}”"
    return ""


def _names(claim: str) -> Iterator[tuple[int, int]]:
    """Yield the places of a claim's names; numbers and dates are none."""
    for run in _RUN.finditer(claim, endpos=_READ):
        first = regex.match(r"[\p{L}\p{M}]+ ", run[0])
        start = first.end() if first and first[0].strip().lower() in STOP_WORDS else 0
        if not regex.search(r"\d", run[0]) and set(words(run[0].lower())) - STOP_WORDS:
            yield run.start() + start, run.end()


def word_run(text: str) -> str:
    """Return the words of a text in lower case, with spaces between and around them."""
    return f" {' '.join(words(text.casefold()))} "


def _same(one: str, other: str) -> bool:
    """Return whether two names share the first letters of a word, as "America" and "American"."""
    return not {w[:4] for w in content_words(one)}.isdisjoint(w[:4] for w in content_words(other))
