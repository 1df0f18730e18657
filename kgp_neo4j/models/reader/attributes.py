"""What a passage says of the person it is about: when born, when died, from which country."""

from __future__ import annotations

import re

from kgp_neo4j.models.reader.dated import birth_and_death
from kgp_neo4j.models.reader.nations import nations_in
from kgp_neo4j.records import Passage

__all__ = ["attribute", "nations_of", "sentence_end"]

_WHEN = re.compile(
    r"\b(?:when|what (?:year|date|day)|which year|date of|year of|birthday)\b", re.IGNORECASE
)
_BORN = re.compile(r"\b(?:born|birth|birthday)\b", re.IGNORECASE)
_DIED = re.compile(r"\b(?:die|died|death|passed away)\b", re.IGNORECASE)
_FROM = re.compile(
    r"\b(?:what|which)\s+(?:(?:is|was)\s+the\s+)?nationality\b|\b(?:which|what)\s+country\b.*\bfrom\b|\bfrom\s+(?:which|what)\s+country\b"
    r"|\bcountry of citizenship\b",
    re.IGNORECASE,
)


def attribute(question: str, passage: Passage) -> tuple[int, int] | None:
    """Return where a passage tells what is asked of whom it is about, None where it does not.

    Known are the dates of birth and death, and the country that someone is from.
    """
    if _WHEN.search(question):
        born, died = birth_and_death(passage.text)
        wanted = (_BORN.search(question) is not None, _DIED.search(question) is not None)
        date = {(True, False): born, (False, True): died}.get(wanted)
        return (date.start, date.end) if date else None
    if _FROM.search(question) and (found := nations_of(passage)):
        return found[0][1:]
    return None


def nations_of(passage: Passage) -> list[tuple[str, int, int]]:
    """Return the countries that a passage's first sentences say its thing is from."""
    text = passage.text
    verb = re.search(r"\b(?:is|was|are|were)\b", text)
    start = verb.end() if verb else 0
    for end in (sentence_end(text, start), len(text)):
        found = [(name, start + a, start + b) for name, a, b in nations_in(text[start:end])]
        if found:
            # "an American film director" says it at once; a place is told at its sentence's end.
            near = [f for f in found if f[1] - start < 40]
            return near[:2] or found[-1:]
    return []


def sentence_end(text: str, start: int) -> int:
    """Return where the sentence at a place ends, with the white space after it."""
    found = re.compile(r"[.!?]\s+(?=[A-Z])").search(text, start + 1)
    return found.end() if found else len(text)
