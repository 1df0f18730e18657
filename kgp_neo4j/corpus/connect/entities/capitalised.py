"""Finds names that are no document's title: capitalised phrases that a few passages share."""

from __future__ import annotations

import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.entities.spots import begins_sentence, continues_name, rows_of
from kgp_neo4j.corpus.connect.entities.surface_forms import is_stop_word
from kgp_neo4j.text.words import Words, fold, words

__all__ = ["Phrase", "PhraseCounts", "Phrases", "place_of"]

#: Words of the longest phrase, and small words that may stand inside one ("Bank of England").
_LONGEST = 5
_BETWEEN = frozenset(("of", "the", "and", "de", "la", "del", "di", "da", "van", "von", "for"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a passage: its key for comparison, as written, and its place in characters.

    A phrase of the title has no place.
    """

    key: str
    surface: str
    start: int | None
    end: int | None

    @classmethod
    def at(cls, title: str, text: str, start: int, end: int) -> Phrase:
        """Return the phrase at a place of a text, or of its title where the place is negative."""
        whole, first, last = place_of(title, text, start, end)
        surface = whole[first:last]
        if start < 0:
            return cls(_key(surface), surface, None, None)
        return cls(_key(surface), surface, start, end)


def place_of(title: str, text: str, start: int, end: int) -> tuple[str, int, int]:
    """Return the text that a place is in, as `Phrase.at` takes it, with start and end there."""
    past = len(title) + 1
    return (text, start, end) if start >= 0 else (title, start + past, end + past)


@dataclass(frozen=True, slots=True)
class PhraseCounts:
    """Phrases by hash, how many passages have each, and whether it is a name for certain.

    A single word that occurs only at the beginning of sentences is none.
    """

    hashes: NDArray[np.int64]
    count: NDArray[np.int64]
    sure: NDArray[np.bool_]

    def shared(self, most: int) -> NDArray[np.int64]:
        """Return the hashes of the names that 2 to `most` passages have."""
        return self.hashes[(self.count >= 2) & (self.count <= most) & self.sure]


class Phrases:
    """The phrases of passages, in their order.

    A phrase is a run of up to five capitalised words and numbers; every part of one that begins and
    ends with such a word is a phrase too, since another text may have only the surname. Scripts
    without capitals have no phrases. Time and memory are linear in the text: 17 bytes for a phrase
    of a passage.
    """

    def __init__(self) -> None:
        self._sure: set[str] = set()
        #: Of each phrase of each passage: a hash of its key, whether it is one word, and its place,
        #: in the title where this is negative.
        self._hashes, self._single = array("q"), array("b")
        self._starts, self._ends = array("i"), array("i")
        self._sizes = array("q")

    def add(self, title: Words, text: Words) -> None:
        """Read the next passage."""
        first: dict[str, tuple[int, int]] = {}
        past = len(title.text) + 1
        for part, moved in ((title, past), (text, 0)):
            whole = unicodedata.is_normalized("NFKC", part.text)
            for key, start, end in _phrases(part, self._sure):
                # In NFKC "7⅓" is "71" and "3", of which each has both characters.
                name = key if whole else _key(part.text[start:end])
                first.setdefault(name, (start - moved, end - moved))
        self._hashes.extend(map(hash, first))
        self._single.extend(" " not in key for key in first)
        self._starts.extend(start for start, _ in first.values())
        self._ends.extend(end for _, end in first.values())
        self._sizes.append(len(first))

    def counted(self) -> PhraseCounts:
        """Return how many of the passages have each phrase."""
        sure = np.fromiter(map(hash, self._sure), np.int64, len(self._sure))
        hashes, first, count = np.unique(
            np.concatenate((np.frombuffer(self._hashes, np.int64), sure)),
            return_index=True,
            return_counts=True,
        )
        inside = np.isin(hashes, sure)
        single = np.concatenate((np.frombuffer(self._single, np.int8), np.ones(sure.size, np.int8)))
        return PhraseCounts(hashes, count - inside, inside | (single[first] == 0))

    def shared(self, wanted: NDArray[np.int64]) -> Iterator[list[tuple[int, int, bool]]]:
        """Yield those phrases of each passage whose hash is in `wanted`, each once, in order.

        These are the places, as `Phrase.at` takes them, and whether the passage is the first with
        that phrase.
        """
        hashes = np.frombuffer(self._hashes, np.int64)
        places = np.flatnonzero(np.isin(hashes, wanted))
        new = np.zeros(places.size, bool)
        new[np.unique(hashes[places], return_index=True)[1]] = True
        passage = np.repeat(np.arange(len(self._sizes)), np.frombuffer(self._sizes, np.int64))
        starts, ends = (np.frombuffer(at, np.int32)[places] for at in (self._starts, self._ends))
        sizes = np.bincount(passage[places], minlength=len(self._sizes))
        yield from rows_of((starts, ends, new), sizes)


def _key(surface: str) -> str:
    return " ".join(map(fold, words(surface)))


def _phrases(text: Words, sure: set[str]) -> Iterator[tuple[str, int, int]]:
    """Yield every phrase of a text with its place, by start, the longest first.

    `sure` collects the numbers, and the single words that have a capital inside a sentence.
    """
    for first, last in _runs(text):
        edges = [_may_end(text, at) for at in range(first, last)]
        for at in range(first, last):
            if not edges[at - first]:
                continue
            for until in range(min(last, at + _LONGEST), at, -1):
                if not edges[until - 1 - first]:
                    continue
                key = " ".join(text.keys[at:until])
                if until == at + 1:
                    if len(key) < 2:
                        continue
                    if key not in sure and (key[0].isdigit() or not begins_sentence(text, at)):
                        sure.add(key)
                yield key, text.starts[at], text.ends[until - 1]


def _may_end(words: Words, at: int) -> bool:
    raw = words.raw[at]
    if is_stop_word(words.keys[at]):
        return False
    return raw[0].isupper() or raw[0].isdigit()


def _runs(words: Words) -> Iterator[tuple[int, int]]:
    """Yield the runs of name words, as [first, last)."""
    named = [
        at
        for at, raw in enumerate(words.raw)
        if raw[0].isupper() or raw[0].isdigit() or raw in _BETWEEN
    ]
    first = last = -1
    for at in named:
        if first < 0 or at > last + 1 or not continues_name(words, at):
            if first >= 0:
                yield first, last + 1
            first = at if _may_end(words, at) else -1
        last = at
    if first >= 0:
        yield first, last + 1
