"""Normalises the names of entities and relations for comparison."""

import unicodedata
from collections.abc import Sequence

import regex

from kgp_neo4j.mindmap.aggregate import readable

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
    is_plural = len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is"))
    return word[:-1] if is_plural else word


def listed(names: Sequence[str], most: int = 20, count: int = 0) -> str:
    """Return names in a row, "A, B and C"; of `count` names with how many more there are."""
    shown = list(names[:most])
    if more := max(count, len(names)) - len(shown):
        shown.append(f"{more} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
