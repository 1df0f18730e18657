"""Normalises the names of entities and relations for comparison."""

from __future__ import annotations

import unicodedata

import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.text.safe import plain

__all__ = ["is_chinese", "plain", "same", "same_relation"]

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


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def is_chinese(text: str) -> bool:
    """Return whether a text has Chinese characters."""
    return _CHINESE.search(text) is not None
