"""Keyword extraction: the n-grams and titles that stand for each passage (KGP, TF-IDF graph)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.words import title_words, words

__all__ = ["KeywordLink", "KeywordSettings", "PassageWords", "extract_keywords"]

_LONGEST_TITLE = 12


@dataclass(frozen=True, slots=True)
class KeywordSettings:
    """How dense the keyword graph becomes.

    `keywords` n-grams (of up to `longest` words) are kept for a passage, the paper's density knob;
    titles that stand in it come on top. Two passages are joined by keywords that stand in at most
    `max_frequency` passages, each to its `neighbours` closest.
    """

    keywords: int = 30
    longest: int = 4
    max_frequency: int = 50
    neighbours: int = 10


@dataclass(frozen=True, slots=True)
class PassageWords:
    """What extraction needs of a passage; `title` is its document's, on the first passage only."""

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

    Candidates are word n-grams that stand in two passages or more and neither begin nor end with a
    stop word, and all document titles. Time and memory grow linearly with the text: an n-gram is
    counted only where both of its halves are frequent enough themselves.
    """
    cased = [words(p.text) for p in passages]
    titles = _Titles(passages)
    grams = _Grams([[w.lower() for w in ws] for ws in cased], settings.longest)
    named = [titles.found(ws) for ws in cased]
    frequency: dict[str, int] = defaultdict(int)
    for index, passage in enumerate(passages):
        for text in named[index].keys() | titles.of(passage):
            frequency[text] += 1
    for index, passage in enumerate(passages):
        yield _weighted(
            grams.top(index), named[index], titles.of(passage), frequency, len(passages), settings
        )


def _weighted(
    grams: Sequence[tuple[str, int, int]],
    named: dict[str, int],
    owned: Sequence[str],
    title_frequency: dict[str, int],
    passages: int,
    settings: KeywordSettings,
) -> list[KeywordLink]:
    """Weigh one passage's candidates by tf x idf and keep the best, all titles included."""
    weights: dict[str, tuple[float, int]] = {}
    for text, count, frequency in grams:
        if text not in title_frequency:
            weights[text] = (_tfidf(count, frequency, passages), frequency)
    best = sorted(weights, key=lambda text: (-weights[text][0], text))[: settings.keywords]
    chosen = {text: weights[text] for text in best}
    for text in {**named, **dict.fromkeys(owned, 1)}:
        frequency = title_frequency[text]
        count = max(named.get(text, 0), 1)
        chosen[text] = (_tfidf(count, frequency, passages), frequency)
    norm = float(np.sqrt(sum(w * w for w, _ in chosen.values()))) or 1.0
    return [
        KeywordLink(text, weight / norm, text in owned, text in title_frequency, frequency)
        for text, (weight, frequency) in chosen.items()
    ]


def _tfidf(count: int, frequency: int, passages: int) -> float:
    return (1.0 + float(np.log(count))) * (float(np.log((1 + passages) / (1 + frequency))) + 1.0)


class _Titles:
    """The titles of all documents, found in running text."""

    def __init__(self, passages: Sequence[PassageWords]) -> None:
        self._forms: dict[str, list[tuple[str, ...]]] = {}
        # By first word, so that a text is read once whatever the number of titles.
        self._by_first: dict[str, set[int]] = defaultdict(set)
        self._cased: dict[tuple[str, ...], bool] = {}
        for passage in passages:
            if not passage.title:
                continue
            forms = [f for f in title_words(passage.title) if _worth_naming(f)]
            self._forms[passage.title] = forms
            for form in forms:
                low = tuple(w.lower() for w in form)
                self._by_first[low[0]].add(len(low))
                # A one-word title that is also a common word ("It") counts only as it is written.
                self._cased[low] = self._cased.get(low, True) and form[0] != low[0]

    def of(self, passage: PassageWords) -> list[str]:
        """Return the keywords that name this passage's own document."""
        forms = self._forms.get(passage.title, [])
        return list(dict.fromkeys(" ".join(w.lower() for w in f) for f in forms))

    def found(self, cased: Sequence[str]) -> dict[str, int]:
        """Return the titles in a text and how often each stands there, the longest first."""
        low = [w.lower() for w in cased]
        counts: dict[str, int] = defaultdict(int)
        at = 0
        while at < len(low):
            step = 1
            for length in sorted(self._by_first.get(low[at], ()), reverse=True):
                form = tuple(low[at : at + length])
                if form not in self._cased:
                    continue
                if length == 1 and self._cased[form] and cased[at] == low[at]:
                    continue
                counts[" ".join(form)] += 1
                step = length
                break
            at += step
        return dict(counts)


def _worth_naming(form: tuple[str, ...]) -> bool:
    if len(form) > _LONGEST_TITLE:
        return False
    low = [w.lower() for w in form]
    return len(low) > 1 or (len(low[0]) > 1 and low[0] not in _stop_words())


class _Grams:
    """Word n-grams with their document frequencies, counted level by level in arrays."""

    def __init__(self, texts: Sequence[Sequence[str]], longest: int) -> None:
        self._texts = texts
        index: dict[str, int] = {}
        flat = np.fromiter(
            (index.setdefault(w, len(index)) for ws in texts for w in ws), dtype=np.int64
        )
        sizes = np.array([len(ws) for ws in texts], dtype=np.int64)
        self._starts = np.concatenate(([0], np.cumsum(sizes)))
        passage = np.repeat(np.arange(len(texts)), sizes)
        stop = np.array(
            [w in _stop_words() or (len(w) < 2 and w.isascii()) for w in index] or [False]
        )
        stopped = stop.astype(bool)[flat] if flat.size else np.zeros(0, dtype=bool)
        room = np.concatenate(
            [np.arange(size, 0, -1, dtype=np.int64) for size in sizes] or [np.zeros(0, np.int64)]
        )
        #: Per level: the n-gram at each position (-1 where there is none), and frequencies.
        self._levels: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        grams = flat
        for size in range(1, longest + 1):
            if size > 1:
                grams = _pairs(grams, room >= size)
            grams, frequency = _frequent(grams, passage)
            ends = np.roll(stopped, 1 - size)
            kept = np.where((grams >= 0) & ~stopped & ~ends, grams, -1)
            if self._levels:
                shorter, before = self._levels[-1]
                self._levels[-1] = (_maximal(shorter, before, kept, frequency), before)
            self._levels.append((kept, frequency))

    def top(self, passage: int) -> list[tuple[str, int, int]]:
        """Return the n-grams of one passage as (text, count in it, passages that have it)."""
        start, end = int(self._starts[passage]), int(self._starts[passage + 1])
        made: list[tuple[str, int, int]] = []
        for size, (grams, frequency) in enumerate(self._levels, 1):
            here = grams[start:end]
            found, first, count = np.unique(here, return_index=True, return_counts=True)
            for gram, at, n in zip(found, first, count, strict=True):
                if gram >= 0:
                    text = " ".join(self._texts[passage][at : at + size])
                    made.append((text, int(n), int(frequency[gram])))
        return made


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
    """Drop n-grams that stand only inside one longer n-gram ("chi minh" in "ho chi minh")."""
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
    """Return the n-grams that stand in two passages or more (-1 for others), and frequencies."""
    if not grams.size:
        return grams, np.zeros(1, dtype=np.int64)
    here = grams >= 0
    pairs = np.unique(np.stack((grams[here], passage[here])), axis=1)
    frequency = np.bincount(pairs[0], minlength=int(grams.max(initial=0)) + 1)
    return np.where(here & (frequency[np.maximum(grams, 0)] >= 2), grams, -1), frequency


@cache
def _stop_words() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)
