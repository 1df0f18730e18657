"""Numbers, ordinals and quotations in questions, and the words that questions are made of."""

from __future__ import annotations

import re

__all__ = ["COUNT", "NUMBER", "ORDINAL", "STOP", "WHICH", "content", "number_of", "ordinal_of"]

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_NUMBERS = (
    {word: at for at, word in enumerate(_UNITS)}
    | {word: 10 * at for at, word in enumerate(_TENS, 2)}
    | {
        f"{ten}{join}{unit}": 10 * at + value
        for at, ten in enumerate(_TENS, 2)
        for value, unit in enumerate(_UNITS[:10])
        if value
        for join in ("-", " ")
    }
)
_IRREGULAR = {
    "first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12,
    "opening": 1, "initial": 1, "last": -1, "final": -1, "closing": -1, "penultimate": -2,
    "second to last": -2, "second-to-last": -2, "next to last": -2, "next-to-last": -2,
    "second last": -2, "second-last": -2, "last but one": -2, "third to last": -3,
    "third-to-last": -3, "third last": -3,
}  # fmt: skip


def _ordinals() -> dict[str, int]:
    made = {}
    for word, value in _NUMBERS.items():
        if value < 1:
            continue
        head, join, tail = re.fullmatch(r"(?:(\w+?)([- ]))?(\w+)", word).groups("")  # type: ignore[union-attr]
        ending = next((o for o, v in _IRREGULAR.items() if v == _NUMBERS[tail] and v > 0), "")
        if not ending or _NUMBERS[tail] in (0,):
            ending = f"{tail[:-1]}ieth" if tail.endswith("y") else f"{tail}th"
        made[f"{head}{join}{ending}"] = value
    return made | _IRREGULAR


_ORDINALS = _ordinals()


def _alternatives(words: dict[str, int]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


#: A number in digits or words; an ordinal ("3rd", "third", "last", "next-to-last").
NUMBER = rf"(?:\d+|{_alternatives(_NUMBERS)})"
ORDINAL = rf"(?:\d+(?:st|nd|rd|th)|{_alternatives(_ORDINALS)})"
#: What asks for a count, and what asks for one of several.
COUNT = r"(?:how many|number of|(?:total|overall) (?:number|count)|count|tally)"
WHICH = r"(?:which|what|list|name|give|show|tell|every|all|any|enumerate|identify|find)"


def number_of(text: str) -> int:
    """Return the number that `NUMBER` matched."""
    text = " ".join(text.casefold().split())
    return int(text) if text.isdigit() else _NUMBERS[text]


def ordinal_of(text: str) -> int:
    """Return the number that `ORDINAL` matched; the last is -1, the one before it -2."""
    text = " ".join(text.casefold().split())
    found = re.match(r"\d+", text)
    return int(found[0]) if found else _ORDINALS[text]


#: Words that say nothing of what is asked for once pages and tables are taken out.
STOP = frozenset(
    "a about according all also altogether an and any appear appears are as at be been being by "
    "can complete contain contained containing contains content contents could count counting "
    "data did display displayed displays do does each entire every everything exactly excluding "
    "find for found from full get give given had has have header headers how i if in include "
    "included includes including inside into is it it's its just know let like list listed "
    "lists located look looks made make many me much name not number of on one ones only or out "
    "overall please present print printed provide quote read reads return s said say says see "
    "show shown shows so some stand stands state tell text that the there these this those to "
    "total up us use used using value values want was we were what whats where which who whole "
    "with within without would write written you ".split()
)
_WORD = re.compile(r"[^\W_]+(?:[-'’.][^\W_]+)*")


def content(text: str) -> list[str]:
    """Return the words of a text in lower case that are not stop words."""
    found = (word.casefold() for word in _WORD.findall(text))
    return [word for word in found if word not in STOP]
