"""Tell questions that a few words answer from those that only sentences answer."""

from __future__ import annotations

import regex

__all__ = ["asks_for_an_account", "is_in_latin_script"]

#: "How many" and "how old" ask for a few words.
_ACCOUNT = regex.compile(
    r"^\W*(?:(?:and|so|but)\s+)?(?:why|explain|describe|for what reason|in what way|what happened|"
    r"how\s+(?:do|does|did|is|are|was|were|can|could|will|would|has|have|had|come|to)|"
    r"what (?:is|was) the (?:reason|purpose|cause)\b)|,\s*(?:and\s+)?(?:why|how) d(?:oes|id|o)\b",
    regex.IGNORECASE,
)


def asks_for_an_account(question: str) -> bool:
    """Return whether a question asks why or how: a sentence answers it, and a few words do not."""
    return _ACCOUNT.search(question) is not None


def is_in_latin_script(question: str) -> bool:
    """Return whether most letters of a question are Latin."""
    letters = regex.findall(r"\p{L}", question)
    latin = regex.findall(r"\p{Latin}", question)
    return not letters or 2 * len(latin) >= len(letters)
