"""Words of a text with their places in it, as the entity linker compares them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import regex

from kgp_neo4j.words import MAX_WORD

__all__ = ["Words", "cut", "fold"]

_SINGLE = "々-〇ぁ-ゖゝ-ヺー-ヿ㐀-䶿一-鿿豈-﫿"
#: The words of `kgp_neo4j.words`, as one set of characters: many times faster to search for.
_WORD = regex.compile(rf"[{_SINGLE}]|[[\p{{L}}\p{{N}}\p{{M}}]--[{_SINGLE}]]+", regex.V1)
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
#: What NFKC may put together to one character stays together here.
_CLUSTER = regex.compile(r".[\p{M}\uff9e\uff9f\u1160-\u11ff]*", regex.DOTALL)
_ACCENTS = re.compile("[\u0300-\u036f]+")


@dataclass(slots=True)
class Words:
    """The words of a text: as written (NFKC), as compared, and where each begins and ends.

    Places count characters of the text as it was given. `text` is that text.
    """

    text: str
    raw: list[str]
    keys: list[str]
    starts: list[int]
    ends: list[int]


def cut(text: str) -> Words:
    """Return the words of `text`, in time linear in its length."""
    if text.isascii():
        return _cut(text, text, _ASCII_WORD, None)
    if unicodedata.is_normalized("NFKC", text):
        return _cut(text, text, _WORD, None)
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    for found in _CLUSTER.finditer(text):
        part = unicodedata.normalize("NFKC", found[0])
        parts.append(part)
        places += [found.span()] * len(part)
    return _cut(text, "".join(parts), _WORD, places)


def _cut(
    text: str,
    normal: str,
    pattern: re.Pattern[str],
    places: list[tuple[int, int]] | None,
) -> Words:
    spans = [
        span
        for span in (found.span() for found in pattern.finditer(normal))
        if span[1] - span[0] <= MAX_WORD
    ]
    raw = [normal[start:end] for start, end in spans]
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    if places:
        starts, ends = [places[at][0] for at in starts], [places[at - 1][1] for at in ends]
    return Words(text, raw, list(map(fold, raw)), starts, ends)


@lru_cache(maxsize=1 << 18)
def fold(word: str) -> str:
    """Return a word without its case and without the accents of Latin, Greek and Cyrillic letters.

    Other scripts keep their marks, which are vowels there.
    """
    low = word.lower()
    if low.isascii():
        return low
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", low))
    return unicodedata.normalize("NFC", bare) or low
