"""Finds names that are no document's title: capitalised phrases that a few passages share."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgp_neo4j.corpus.connect.entities.spots import begins_sentence, continues_name
from kgp_neo4j.corpus.connect.entities.surface_forms import is_stop_word
from kgp_neo4j.text.words import Words, cut

__all__ = ["Phrase", "shared_phrases"]

#: Words of the longest phrase, and small words that may stand inside one ("Bank of England").
_LONGEST = 5
_BETWEEN = frozenset(("of", "the", "and", "de", "la", "del", "di", "da", "van", "von", "for"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a passage: its key for comparison, and its place in characters."""

    key: str
    start: int
    end: int


def shared_phrases(texts: Sequence[str], most: int = 100) -> Iterator[list[Phrase]]:
    """Yield the phrases of each text that occur in 2 to `most` of the texts, each once, in order.

    A phrase is a run of up to five capitalised words and numbers; every part of one that begins and
    ends with such a word is a phrase too, since another text may have only the surname. A single
    word that occurs only at the beginning of sentences is no name. Scripts without capitals have no
    phrases. Time and memory are linear in the text.
    """
    numbers: dict[str, int] = defaultdict(lambda: len(numbers))
    sure: set[str] = set()
    # Of each phrase of each text: its number and its place.
    found, starts, ends, sizes = array("q"), array("q"), array("q"), array("q")
    for text in texts:
        first: dict[int, tuple[int, int]] = {}
        for key, start, end in _phrases(text, sure):
            first.setdefault(numbers[key], (start, end))
        found.extend(first)
        for start, end in first.values():
            starts.append(start)
            ends.append(end)
        sizes.append(len(first))
    frequency = Counter(found)
    keys = list(numbers)
    wanted = [
        2 <= frequency[number] <= most and (" " in key or key in sure)
        for number, key in enumerate(keys)
    ]
    end_of_text = 0
    for size in sizes:
        here = range(end_of_text, end_of_text + size)
        end_of_text += size
        yield [Phrase(keys[found[at]], starts[at], ends[at]) for at in here if wanted[found[at]]]


def _phrases(text: str, sure: set[str]) -> Iterator[tuple[str, int, int]]:
    """Yield every phrase of a text with its place, by start, the longest first.

    `sure` collects the numbers, and the single words that have a capital inside a sentence.
    """
    words = cut(text)
    for first, last in _runs(words):
        edges = [_may_end(words, at) for at in range(first, last)]
        for at in range(first, last):
            if not edges[at - first]:
                continue
            for until in range(min(last, at + _LONGEST), at, -1):
                if not edges[until - 1 - first]:
                    continue
                key = " ".join(words.keys[at:until])
                if until == at + 1:
                    if len(key) < 2:
                        continue
                    if key not in sure and (key[0].isdigit() or not begins_sentence(words, at)):
                        sure.add(key)
                yield key, words.starts[at], words.ends[until - 1]


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
