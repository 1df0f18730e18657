"""Names that no document is about: capitalised phrases that a few passages share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgp_neo4j.connect.entities.names import is_stop_word
from kgp_neo4j.connect.entities.spots import begins_sentence, goes_on
from kgp_neo4j.connect.entities.text import Words, cut

__all__ = ["Phrase", "shared_phrases"]

#: Words of the longest phrase, and small words that may stand inside one ("Bank of England").
_LONGEST = 5
_BETWEEN = frozenset(("of", "the", "and", "de", "la", "del", "di", "da", "van", "von", "for"))


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase of a passage: what it is compared by, and where it stands, in characters."""

    key: str
    start: int
    end: int


def shared_phrases(texts: Sequence[str], most: int = 100) -> Iterator[list[Phrase]]:
    """Yield the phrases of each text that 2 to `most` of the texts have, each once, in order.

    A phrase is a run of up to five capitalised words and numbers; every part of one that begins and
    ends with such a word is a phrase too, since another text may have only the surname. A single
    word that only ever begins a sentence is no name. Scripts without capitals have none. Time and
    memory grow linearly with the text.
    """
    frequency: Counter[str] = Counter()
    sure: set[str] = set()
    same: dict[str, str] = {}
    candidates: list[dict[str, tuple[int, int]]] = []
    for text in texts:
        found: dict[str, tuple[int, int]] = {}
        for key, start, end in _phrases(text, sure, same):
            found.setdefault(key, (start, end))
        frequency.update(found.keys())
        candidates.append(found)
    del same
    wanted = {
        key
        for key, number in frequency.items()
        if 2 <= number <= most and (" " in key or key in sure)
    }
    for at, found in enumerate(candidates):
        candidates[at] = {}
        yield [Phrase(key, *place) for key, place in found.items() if key in wanted]


def _phrases(text: str, sure: set[str], same: dict[str, str]) -> Iterator[tuple[str, int, int]]:
    """Yield every phrase of a text with its place, by start, the longest first.

    `sure` collects the numbers, and the single words that have a capital inside a sentence; `same`
    holds each phrase once.
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
                yield same.setdefault(key, key), words.starts[at], words.ends[until - 1]


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
        if first >= 0 and not (named and goes_on(words, at)):
            yield first, at
            first = -1
        if named and first < 0 and _may_end(words, at):
            first = at
    if first >= 0:
        yield first, len(words.raw)
