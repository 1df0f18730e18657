"""Finds names that are no document's title: capitalised phrases that a few passages share."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kgp_neo4j.corpus.connect.entities.spots import begins_sentence, continues_name
from kgp_neo4j.corpus.connect.entities.surface_forms import is_stop_word
from kgp_neo4j.text.words import Words, fold, words

__all__ = ["Phrase", "Phrases"]

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


class Phrases:
    """The phrases that a few passages share.

    A phrase is a run of up to five capitalised words and numbers; every part of one that begins and
    ends with such a word is a phrase too, since another text may have only the surname. A single
    word that occurs only at the beginning of sentences is no name. Scripts without capitals have no
    phrases. Time and memory are linear in the text: 16 bytes for a phrase of a passage.
    """

    def __init__(self, most: int = 100) -> None:
        self._most = most
        self._sure: set[str] = set()
        #: Of each phrase of each passage: a hash of its key, and its place, in the title where
        #: this is negative.
        self._hashes, self._starts, self._ends = array("q"), array("i"), array("i")
        self._sizes = array("i")

    def add(self, title: Words, text: Words) -> None:
        """Read the next passage."""
        first: dict[int, tuple[int, int]] = {}
        past = len(title.text) + 1
        for part, moved in ((title, past), (text, 0)):
            for key, start, end in _phrases(part, self._sure):
                first.setdefault(hash(key), (start - moved, end - moved))
        self._hashes.extend(first)
        for start, end in first.values():
            self._starts.append(start)
            self._ends.append(end)
        self._sizes.append(len(first))

    def shared(self, passages: Iterator[tuple[str, str]]) -> Iterator[list[Phrase]]:
        """Yield the phrases of each passage that 2 to `most` of them have, each once, in order.

        `passages` are the titles and texts that were read, in the same order.
        """
        _, number, count = np.unique(
            np.frombuffer(self._hashes, np.int64), return_inverse=True, return_counts=True
        )
        few = ((count >= 2) & (count <= self._most))[number.reshape(-1)]
        last = 0
        for (title, text), size in zip(passages, self._sizes, strict=True):
            here = last + np.flatnonzero(few[last : last + size])
            last += size
            found = (self._phrase(title, text, at) for at in here.tolist())
            yield [phrase for phrase in found if " " in phrase.key or phrase.key in self._sure]

    def _phrase(self, title: str, text: str, at: int) -> Phrase:
        start, end = self._starts[at], self._ends[at]
        if start >= 0:
            surface = text[start:end]
            return Phrase(_key(surface), surface, start, end)
        past = len(title) + 1
        surface = title[start + past : end + past]
        return Phrase(_key(surface), surface, None, None)


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
    first = -1
    for at, raw in enumerate(words.raw):
        named = raw[0].isupper() or raw[0].isdigit() or raw in _BETWEEN
        if first >= 0 and not (named and continues_name(words, at)):
            yield first, at
            first = -1
        if named and first < 0 and _may_end(words, at):
            first = at
    if first >= 0:
        yield first, len(words.raw)
