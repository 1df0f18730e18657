"""Dates in running text, and what happened on them: births, deaths, releases, foundings."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgp_neo4j.values import MONTHS, typed

__all__ = ["Dated", "birth_and_death", "dates_in", "event_date"]

_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:{_MONTH})\.?,?\s+\d{{4}}"
    rf"|(?:{_MONTH})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\s*,?\s+\d{{4}}"
    rf"|(?:{_MONTH})\.?,?\s+\d{{4}}"
    # Also a year that another number was run into, as in "18 May 189024 July 1957".
    r"|(?:1\d{3}|20\d{2}))(?=\D|\d{1,2}\s|$)",
    re.IGNORECASE,
)
#: The parentheses after a name at the beginning of a text.
_LIFE = re.compile(r"^.{0,200}?\(([^()]*\d{4}[^()]*)\)", re.DOTALL)
_REACH = 90


@dataclass(frozen=True, slots=True)
class Dated:
    """A date as ISO text, as far as it is known, and the characters where it stands."""

    iso: str
    start: int
    end: int


def dates_in(text: str) -> list[Dated]:
    """Return the dates and years of a text in their order."""
    made = []
    for found in _DATE.finditer(text):
        value = typed(found[0])
        iso = value.date or (found[0] if found[0].isdigit() else None)
        if iso and iso[:1].isdigit():
            made.append(Dated(iso, *found.span()))
    return made


def birth_and_death(text: str) -> tuple[Dated | None, Dated | None]:
    """Return when the person a text begins with was born and died, None where it does not tell."""
    born = died = None
    if life := _LIFE.match(text):
        inside = [d for d in dates_in(text) if life.start(1) <= d.start and d.end <= life.end(1)]
        said = life[1].lower()
        ended = re.search(r"\bdied\b|\bd\.\s", said)
        began = re.search(r"\bborn\b|\bb\.\s", said)
        if ended and not began:
            died = inside[-1] if inside else None
        elif began and not ended and not re.search(r"\d{4}\D*[–—]|\d{4}\s*-\s", said):
            born = inside[0] if inside else None
        elif inside:
            born, died = inside[0], inside[-1] if len(inside) > 1 else None
    return (
        born or event_date(text, ("born",), only_after=True),
        died or event_date(text, ("died", "death", "killed", "passed away"), only_after=True),
    )


def event_date(text: str, words: tuple[str, ...], *, only_after: bool = False) -> Dated | None:
    """Return the date that stands nearest after one of the words, else nearest before it.

    Without any of the words in the text it is None.
    """
    found = dates_in(text)
    best: tuple[int, Dated] | None = None
    for word in re.finditer(rf"\b(?:{'|'.join(words)})\b", text, re.IGNORECASE):
        for date in found:
            if date.start >= word.end():
                distance = date.start - word.end()
            elif only_after:
                continue
            else:
                distance = word.start() - date.end + _REACH // 3
            near = 0 <= distance <= _REACH
            if near and (best is None or distance < best[0]):
                best = (distance, date)
    return best[1] if best else None
