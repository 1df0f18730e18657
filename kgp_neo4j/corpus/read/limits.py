"""Decide yes or no where a sentence sets a limit and the question gives a value for it.

"Up to 18 kg may be lifted by one person": may 24 kg be lifted? A network of this size hardly
compares numbers, but it knows whether a sentence is about the question. Nothing is decided where
one speaks of what is needed and the other of what is allowed, or where there are two limits.
"""

import operator
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgp_neo4j.corpus.read.choosing import Choice
from kgp_neo4j.text.values import COMPARING, MONTHS, NUMBERS, ORDINALS
from kgp_neo4j.text.words import FUNCTION_WORDS, stem
from kgp_neo4j.types.corpus import Passage

#: Sentences that are looked at: those that say most.
_SENTENCES = 3
#: Least log odds that the passages are about the question, by the reader's "nothing here".
_ABOUT = 2.0
_TOKEN = re.compile(r"[£$€%°]|\d{1,2}:\d\d\b|\d+(?:st|nd|rd|th)\b|\d[\d,]*(?:\.\d+)?|[^\W\d_]+")
_ASKS = re.compile(
    r"(?i)(?:^\W*+|[,.;:?!–-][^\w,.;:?!–-]*+)(?:am|are|can|could|did|do|does|had|has|have|is|may|"
    r"might|must|need|should|was|were|will|would)\b"
)
#: Units of one kind, each in the first one's measure. Five working days are a week.
UNITS = {
    name: (kind, size)
    for kind, units in {
        "time": "minute 1 min 1 hour 60 h 60 day 1440 week 10080 month 43800 year 525600",
        "length": "mm 1 millimetre 1 millimeter 1 cm 10 centimetre 10 centimeter 10 m 1000"
        " metre 1000 meter 1000 km 1e6 kilometre 1e6 kilometer 1e6",
        "weight": "g 1 gram 1 kg 1e3 kilo 1e3 kilogram 1e3 t 1e6 tonne 1e6",
        "data": "kb 1 kilobyte 1 mb 1e3 megabyte 1e3 gb 1e6 gigabyte 1e6 tb 1e9 terabyte 1e9",
        "money £": "£ 1 pound 1 gbp 1",
        "money €": "€ 1 euro 1 eur 1",
        "money $": "$ 1 dollar 1 usd 1",
        "share": "% 1 percent 1 per 1",
        "degree": "° 1 degree 1",
    }.items()
    for name, size in zip(units.split()[::2], map(float, units.split()[1::2]), strict=True)
}
_WORKING = ("working", "business")
_NAMED = NUMBERS | ORDINALS
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6}
_HOLDS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
_NEVER = "(?!)"
#: What limits beside the words that compare: before a number, and after it.
_MORE = {
    ">=": (r"(?:small|low|short|light)est|least", r"on(?:wards?)?"),
    "<=": (r"(?:great|larg|high|long|heavi|bigg|tall)est|limited to", _NEVER),
}
_LIMITING = {op: (*words, *_MORE.get(op, (_NEVER, _NEVER))) for op, words in COMPARING.items()}
_PATTERNS = {
    op: (re.compile(rf"\b(?:{ahead}|{more})\b"), re.compile(rf"(?:{behind or _NEVER}|{after})\b"))
    for op, (ahead, behind, more, after) in _LIMITING.items()
}
#: What denies: words, and verbs that mean a "not"; "too long" is not short enough.
_VERBS = (
    r"reject\w*|refus\w*|forbid\w*|prohibit\w*|den(?:y|ies|ied)|bann?(?:ed|s)?|exclud\w*|unable|"
    r"los(?:e|es)|ends|ended|expir\w*|too \w+"
)
_NOT = re.compile(
    rf"(?:n['’]t|\b(?:never|without|cannot|not|no(?! (?:\w+er|more|less) than\b)|{_VERBS}))(?!\w)"
)
_NEEDED = re.compile(
    r"\b(?:need(?:s|ed)?|requir(?:e|es|ed)|obliged|necessary|must(?! not\b)|"
    r"(?:ha(?:ve|s)(?: \w+)?|is|are) to)\b"
)
#: What turns a sentence about what is needed or allowed round; "at no charge" is something else.
_DENIES = re.compile(
    r"\b(?:no \w+ (?:is|are) (?:needed|required|necessary)|(?:need|require)(?:s|d)? no|"
    r"(?:may|must|can|do|does|need|shall|should)(?: ?not)|\w+n['’]t|"
    rf"never|no longer|{_VERBS})\b|^no(?:body)? "
)
#: "No later than two days before" is earlier, not less; what is off may be wanted off.
_UNCLEAR = re.compile(
    r"\b(?:later|earlier) than\b(?:(?!\b(?:later|earlier) than\b).)*"
    r"\b(?:before|ahead|prior|in advance)|\boff\b"
)
_ALLOWED = re.compile(r"\b(?:may|can|could|might|allowed|permitted|must not)\b")


class _Quantity(NamedTuple):
    """A number in the first measure of its unit's kind, and how it limits."""

    value: float
    kind: str
    limits: list[str]


def decide(question: str, passages: Sequence[Passage], choice: Choice) -> Choice | None:
    """Return yes or no by the first of the best sentences with a limit for the value, else None."""
    if not _ASKS.search(question) or choice.signals.get("nothing", 0.0) > -_ABOUT:
        return None
    given = list(_quantities(question))
    for _, at, start, end in choice.sentences[:_SENTENCES]:
        text = passages[at].text[start:end]
        limits = [q for q in _quantities(text) if q.limits]
        pairs = [(one, limit) for one in given for limit in limits if one.kind == limit.kind]
        if not pairs:
            continue
        one, limit = pairs[0]
        both = (question.lower(), text.lower())
        if len(pairs) > 1 or len(limit.limits) > 1 or _differ(*both) or _differ(*both[::-1]):
            return None
        holds = _HOLDS[limit.limits[0]](one.value, limit.value)
        turned = sum(len(_NOT.findall(one)) for one in both) % 2 == 1
        if _UNCLEAR.search(both[1]) or (turned and not any(map(_DENIES.search, both))):
            return None
        kind = "yes" if holds != turned else "no"
        place = (passages[at].id, start, end)
        return Choice(kind, kind, (place,), {"decided": 1.0}, choice.sentences)
    return None


def _differ(one: str, other: str) -> bool:
    """Return whether one text speaks of what is needed, and the other of what is allowed alone."""
    needed = bool(_NEEDED.search(one)) and not _NEEDED.search(other)
    return needed and _ALLOWED.search(other) is not None


def _quantities(text: str) -> Iterator[_Quantity]:
    words, at = [token.lower() for token in _TOKEN.findall(text)], 0
    while at < len(words):
        first = at
        value, at = _number(words, at)
        if at == first:
            at += 1
            continue
        name, after = "".join(words[at : at + 1]), at + 1
        if first and words[first - 1] in "£$€":
            name, after = words[first - 1], at
            first -= 1
        elif name in _WORKING:
            value *= 7 / 5
            name, after = "".join(words[at + 1 : at + 2]), at + 2
        elif ":" in words[first] and name not in ("am", "pm"):
            name, after = "am", at
        if not name or (name in FUNCTION_WORDS and name not in UNITS):
            continue
        if name in MONTHS:
            kind, value = "date", 31 * MONTHS[name] + value
        elif name in ("am", "pm"):
            kind, value = "clock", value % 12 + 12 * (name == "pm") if value <= 12 else value
        else:
            known = UNITS.get(name) or UNITS.get(name.removesuffix("s"))
            kind, size = known or (stem(name), 1.0)
            value *= size
        before = " ".join(words[max(0, first - 4) : first])
        behind = " ".join(words[after : after + 3])
        limits = [op for op, (a, b) in _PATTERNS.items() if a.search(before) or b.match(behind)]
        yield _Quantity(value, kind, limits)


def _number(words: Sequence[str], at: int) -> tuple[float, int]:
    """Return the number that begins at a word, and where its words end: `at` where none does."""
    word = words[at]
    if word[0].isdecimal() and word[-1].isdecimal():
        hours, _, minutes = word.replace(",", "").partition(":")
        value = float(hours) + float(minutes or 0) / 60
    elif word in _NAMED:
        value = float(_NAMED[word])
    else:
        return 0.0, at
    at += 1
    while at < len(words) and words[at] in _SCALES:
        value *= _SCALES[words[at]]
        at += 1
    half = list(words[at : at + 3]) == ["and", "a", "half"]
    return value + 0.5 * half, at + 3 * half
