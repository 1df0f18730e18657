"""Normalises the names of entities and relations for comparison."""

from __future__ import annotations

import unicodedata
from collections.abc import Container

import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.text.safe import plain

__all__ = ["is_chinese", "names_within", "plain", "same", "same_relation"]

#: Separators between words; symbols (C++, β-, 5%) are part of a name.
_OTHER = regex.compile(r"[^\p{L}\p{N}\p{M}\p{S}#%&@]+")
_CHINESE = regex.compile(r"\p{Han}")


def same(name: str) -> str:
    """Return a name without case, punctuation and plural endings, for comparison."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(_singular(word) for word in _OTHER.sub(" ", text).split()) or text.strip()


def same_relation(relation: str) -> str:
    """Return a relation's name for comparison: equal for `hasSymptom` and `has symptoms`."""
    return same(readable(relation))


def names_within(text: str, known: Container[str], longest: int) -> list[str]:
    """Return the names of `known` in a text, both as `same` makes them: in order, each once.

    The longest name counts, of `longest` characters at most, not the shorter ones within it.
    """
    found: dict[str, None] = {}
    at = 0
    while at < len(text):
        for end in range(min(len(text), at + longest), at, -1):
            key = text[at:end]
            if key in known and _whole(text, at, end):
                found[key] = None
                at = end
                break
        else:
            at += 1
    return list(found)


def _whole(text: str, start: int, end: int) -> bool:
    """Return whether a span of a text is not part of a longer word in letters."""

    def joins(a: str, b: str) -> bool:
        return a.isalnum() and b.isalnum() and ord(a) < 0x2E80 and ord(b) < 0x2E80

    before = start > 0 and joins(text[start - 1], text[start])
    after = end < len(text) and joins(text[end - 1], text[end])
    return not before and not after


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters."""
    return _CHINESE.search(text) is not None
