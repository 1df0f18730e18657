"""Extracts the keywords of each passage: n-grams and titles (KGP, TF-IDF graph)."""

from __future__ import annotations

import itertools
import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.text.words import STOP_WORDS, title_words, words
from kgp_neo4j.types.settings import KeywordSettings

__all__ = ["KeywordLink", "PassageWords", "extract_keywords"]

_LONGEST_TITLE = 12


@dataclass(frozen=True, slots=True)
class PassageWords:
    """A passage to extract from; `title` is its document's, for the first passage only."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class KeywordLink:
    """A keyword of a passage: its normalised TF-IDF weight, and how it relates to titles.

    `owned` means the keyword is the title of this passage's document, `named` that it is some
    document's title.
    """

    text: str
    tfidf: float
    owned: bool
    named: bool
    frequency: int


def extract_keywords(
    passages: Sequence[PassageWords], settings: KeywordSettings
) -> Iterator[list[KeywordLink]]:
    """Yield each passage's keywords, in the order of `passages` (KGP, section 3 and 8.5).

    Candidates are word n-grams that occur in two passages or more and neither begin nor end with a
    stop word, and all document titles. Time and memory are linear in the text: an n-gram is counted
    only where both of its (n-1)-grams are frequent enough.
    """
    titles = _Titles(passages)
    vocabulary: dict[str, int] = defaultdict(lambda: len(vocabulary))
    numbers = array("q")
    sizes = array("q")
    named: list[dict[str, int]] = []
    for passage in passages:
        cased = words(passage.text)
        low = [word.lower() for word in cased]
        numbers.extend(map(vocabulary.__getitem__, low))
        sizes.append(len(low))
        named.append(titles.found(cased, low))
    frequency = Counter[str]()
    for found, passage in zip(named, passages, strict=True):
        frequency.update(found.keys() | titles.of(passage))
    grams = _best_grams(
        np.frombuffer(numbers, dtype=np.int64),
        np.frombuffer(sizes, dtype=np.int64),
        list(vocabulary),
        frequency,
        settings,
    )
    for passage, found in zip(passages, named, strict=True):
        yield _linked(next(grams), found, titles.of(passage), frequency, len(passages))


def _linked(
    grams: list[tuple[str, float, int]],
    named: Mapping[str, int],
    owned: Sequence[str],
    title_frequency: Mapping[str, int],
    passages: int,
) -> list[KeywordLink]:
    """Return one passage's n-grams (text, weight, frequency) and all its titles, normalised."""
    titles = {**named, **dict.fromkeys(owned, 1)}
    chosen = grams + [
        (text, _tfidf(max(named.get(text, 0), 1), title_frequency[text], passages),
         title_frequency[text])
        for text in titles
    ]  # fmt: skip
    norm = math.sqrt(sum(weight * weight for _, weight, _ in chosen)) or 1.0
    return [
        KeywordLink(text, weight / norm, text in owned, text in titles, frequency)
        for text, weight, frequency in chosen
    ]


def _tfidf(count: int, frequency: int, passages: int) -> float:
    return (1.0 + math.log(count)) * (math.log((1 + passages) / (1 + frequency)) + 1.0)


class _Titles:
    """Finds the titles of all documents in running text."""

    def __init__(self, passages: Sequence[PassageWords]) -> None:
        #: The keywords that name a document, by its title.
        self._keywords: dict[str, list[str]] = {}
        #: The lengths in words of the titles that begin with a word, the longest first.
        self._lengths: dict[str, list[int]] = defaultdict(list)
        self._cased: dict[tuple[str, ...], bool] = {}
        for title in dict.fromkeys(passage.title for passage in passages if passage.title):
            forms = [f for f in title_words(title) if _worth_naming(f)]
            lower = [tuple(w.lower() for w in form) for form in forms]
            self._keywords[title] = list(dict.fromkeys(" ".join(low) for low in lower))
            for form, low in zip(forms, lower, strict=True):
                self._lengths[low[0]].append(len(low))
                # A one-word title that is also a common word ("It") must have its capital.
                self._cased[low] = self._cased.get(low, True) and form[0] != low[0]
        for first, lengths in self._lengths.items():
            self._lengths[first] = sorted(set(lengths), reverse=True)

    def of(self, passage: PassageWords) -> list[str]:
        """Return the keywords that name this passage's own document."""
        return self._keywords.get(passage.title, [])

    def found(self, cased: Sequence[str], low: Sequence[str]) -> dict[str, int]:
        """Return the titles in a text and how often each occurs; of overlapping ones the longest.

        `low` are its words in lower case.
        """
        counts: dict[str, int] = {}
        until = 0
        for at, first in enumerate(low):
            if first not in self._lengths or at < until:
                continue
            for length in self._lengths[first]:
                form = tuple(low[at : at + length])
                if form not in self._cased:
                    continue
                if length == 1 and self._cased[form] and cased[at] == first:
                    continue
                text = " ".join(form)
                counts[text] = counts.get(text, 0) + 1
                until = at + length
                break
        return counts


def _worth_naming(form: tuple[str, ...]) -> bool:
    if len(form) > _LONGEST_TITLE:
        return False
    low = [w.lower() for w in form]
    return len(low) > 1 or (len(low[0]) > 1 and low[0] not in STOP_WORDS)


def _best_grams(
    numbers: NDArray[np.int64],
    sizes: NDArray[np.int64],
    vocabulary: Sequence[str],
    titles: Collection[str],
    settings: KeywordSettings,
) -> Iterator[list[tuple[str, float, int]]]:
    """Yield each passage's n-grams of the highest weight without titles: text, weight, frequency.

    `numbers` are the words of all passages as indices of the `vocabulary`, `sizes` the number of
    words of each passage.
    """
    passage = np.repeat(np.arange(sizes.size), sizes)
    texts: list[str] = []
    frequencies = [np.zeros(0, dtype=np.int64)]
    # Of each n-gram of each passage: the passage, the n-gram and how often it stands there.
    found = [np.zeros((3, 0), dtype=np.int64)]
    for size, (grams, frequency) in enumerate(
        _levels(numbers, sizes, passage, vocabulary, settings.longest), 1
    ):
        at = np.flatnonzero(grams >= 0)
        first = np.full(frequency.size, -1)
        first[grams[at]] = at
        kept = np.flatnonzero(first >= 0)
        number = np.full(frequency.size, -1)
        number[kept] = np.arange(len(texts), len(texts) + kept.size)
        here, count = np.unique(passage[at] * frequency.size + grams[at], return_counts=True)
        found.append(np.stack((here // frequency.size, number[here % frequency.size], count)))
        frequencies.append(frequency[kept])
        texts += [
            " ".join([vocabulary[n] for n in numbers[start : start + size].tolist()])
            for start in first[kept].tolist()
        ]
    place, gram, count = np.concatenate(found, axis=1)
    frequency = np.concatenate(frequencies)
    untitled = np.array([text not in titles for text in texts], dtype=bool)[gram]
    place, gram, count = place[untitled], gram[untitled], count[untitled]
    weight = (1.0 + np.log(count)) * (np.log((1 + sizes.size) / (1 + frequency[gram])) + 1.0)
    alphabetical = np.empty(len(texts), dtype=np.int64)
    alphabetical[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
    order = np.lexsort((alphabetical[gram], -weight, place))
    ends = np.searchsorted(place[order], np.arange(sizes.size + 1))
    for start, end in itertools.pairwise(ends.tolist()):
        best = order[start : min(end, start + settings.keywords)]
        chosen = gram[best]
        yield [
            (texts[n], w, f)
            for n, w, f in zip(
                chosen.tolist(), weight[best].tolist(), frequency[chosen].tolist(), strict=True
            )
        ]


def _levels(
    numbers: NDArray[np.int64],
    sizes: NDArray[np.int64],
    passage: NDArray[np.int64],
    vocabulary: Sequence[str],
    longest: int,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield, for one word, two and so on: the n-gram at each position (-1 for none), frequencies.

    `passage` is the one that each position belongs to.
    """
    stop = np.array([w in STOP_WORDS or (len(w) < 2 and w.isascii()) for w in vocabulary], bool)
    stopped = stop[numbers]
    room = np.repeat(np.cumsum(sizes), sizes) - np.arange(numbers.size)
    shorter: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    grams = numbers
    for size in range(1, longest + 1):
        if size > 1:
            grams = _pairs(grams, room >= size)
        grams, frequency = _frequent(grams, passage)
        kept = np.where((grams >= 0) & ~stopped & ~np.roll(stopped, 1 - size), grams, -1)
        if shorter:
            yield _maximal(*shorter, kept, frequency), shorter[1]
        shorter = kept, frequency
    if shorter:
        yield shorter


def _pairs(grams: NDArray[np.int64], fits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Join the (n-1)-grams at neighbouring positions to n-grams, numbered afresh."""
    following = np.roll(grams, -1)
    joined = np.where(
        (grams >= 0) & (following >= 0) & fits,
        grams * (int(grams.max(initial=0)) + 1) + following,
        -1,
    )
    _, numbered = np.unique(joined, return_inverse=True)
    # `unique` sorts, so that the -1 of "no n-gram" has number 0 wherever it occurs.
    missing = int((joined < 0).any())
    return np.asarray(numbered.reshape(-1) - missing, dtype=np.int64)


def _maximal(
    shorter: NDArray[np.int64],
    shorter_frequency: NDArray[np.int64],
    longer: NDArray[np.int64],
    longer_frequency: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Drop n-grams that occur only within one longer n-gram ("chi minh" in "ho chi minh")."""
    out = shorter.copy()
    for shift in (0, 1):  # the longer one begins here, or one word before
        around = np.roll(longer, shift)
        inside = (out >= 0) & (around >= 0)
        same = shorter_frequency[np.maximum(out, 0)] == longer_frequency[np.maximum(around, 0)]
        out = np.where(inside & same, -1, out)
    return out


def _frequent(
    grams: NDArray[np.int64], passage: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the n-grams that occur in two passages or more (-1 for others), and frequencies."""
    different = int(grams.max(initial=0)) + 1
    here = grams >= 0
    pairs = np.unique(passage[here] * different + grams[here])
    frequency = np.bincount(pairs % different, minlength=different)
    return np.where(here & (frequency[np.maximum(grams, 0)] >= 2), grams, -1), frequency
