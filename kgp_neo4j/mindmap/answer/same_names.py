"""Normalises the names of entities and relations for comparison."""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Sequence

import regex

from kgp_neo4j.mindmap.aggregate import readable

__all__ = ["listed", "names_within", "same", "same_relation"]

#: Separators between words; symbols (C++, β-, 5%) are part of a name.
_OTHER = regex.compile(r"[^\p{L}\p{N}\p{M}\p{S}#%&@]+")


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


def names_within(text: str, known: Container[str], longest: int) -> list[str]:
    """Return the names of `known` in a text, both as `same` makes them: in order, each once.

    The longest name counts, of `longest` characters at most, not the shorter ones within it.
    """
    names: dict[str, None] = {}
    at = 0
    while at < len(text):
        ends = range(min(len(text), at + longest), at, -1)
        end = next((e for e in ends if text[at:e] in known and _is_whole(text, at, e)), at + 1)
        if text[at:end] in known and _is_whole(text, at, end):
            names[text[at:end]] = None
        at = end
    return list(names)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether a span of a text is not part of a longer word in letters."""
    borders = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return not any(len(pair) == 2 and all(map(_is_letter, pair)) for pair in borders)


def _is_letter(character: str) -> bool:
    return character.isalnum() and ord(character) < 0x2E80


def listed(names: Sequence[str], most: int = 20, count: int = 0) -> str:
    """Return names in a row, "A, B and C"; of `count` names with how many more there are."""
    shown = list(names[:most])
    if more := max(count, len(names)) - len(shown):
        shown.append(f"{more} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
