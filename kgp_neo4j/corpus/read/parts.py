"""Answer each part of a question: two in one, and the difference of two dates or numbers.

"Who services the pump and when was the turbine built?" is asked as two questions, "How many years
after the dam was the turbine built?" as one for each date, which code then subtracts.
"""

import operator
import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, zip_longest
from typing import NamedTuple, TypeVar

from kgp_neo4j.corpus.read.choosing import Choice
from kgp_neo4j.environment.configuration import LONGEST_ASKED
from kgp_neo4j.text.values import COMPARING, MONTHS, NUMBERS, ORDINALS, date_places
from kgp_neo4j.text.words import FUNCTION_WORDS, stem
from kgp_neo4j.types.corpus import Answer, AnswerPart, Passage, Reading
from kgp_neo4j.types.tables import TypeDecision

_T = TypeVar("_T")
_AUX = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)"
_WH = r"(?:who|whom|whose|what|which|when|where|why|how)"
_ASKS = rf"(?:(?:at|by|for|from|in|of|on|to|until|with)\s+)?{_WH}\b"
_SUBJECT = (
    r"(?:the|an?|my|our|your|their|this|that|these|it|they|he|she|i|we|you|there|(?-i:[A-Z]))"
)
_JOINTS = re.compile(
    rf"(?i)\?\s+(?:and\s+)?(?={_ASKS}|(?-i:(?=[A-Z])){_AUX}\s+{_SUBJECT})"
    rf"|\s*[,;]?\s+and\s+(?:also\s+)?(?={_ASKS}|{_AUX}\s+{_SUBJECT})"
)
_LEAD = re.compile(
    r"(?i)(?:please\s+)?(?:c(?:an|ould) you )?(?:tell me|do you know|i(?:'d like| want) to know)\s+"
)
_BEGINS = re.compile(rf"(?P<asks>{_ASKS})|{_AUX}\b", re.IGNORECASE)
#: A clause within a question: what follows an "and" behind it may belong to it.
_WITHIN = re.compile(rf"(?<=\s)(?:{_WH}|that|whether|if)\b", re.IGNORECASE)
#: Words of a part at least, but for "and when?", and parts at most.
_SHORTEST, _MOST = 3, 3
_ALONE = re.compile(r"(?:by whom|when|where|why)", re.IGNORECASE)
_UNIT = r"(?P<unit>years?|months?|weeks?|days?)"
_VERB = r"(?P<verb>(?:\w+\s+)?(?:up|out|off|down)|\w+)"
_DIFFERENCES = tuple(
    re.compile(pattern + r"\W*", re.IGNORECASE)
    for pattern in (
        rf"how many {_UNIT}(?: \w+)? (?P<side>after|before) (?P<a>.+) (?P<aux>was|were|did) "
        rf"(?P<b>.+?) {_VERB}",
        rf"how many {_UNIT} (?:(?:have |had )?passed|elapsed|lie|lay|went by|(?:are|were) there) "
        r"between (?P<a>.+) and (?P<b>.+)",
        rf"how (?:much|many)(?P<more> more| less| fewer)(?P<of> .+?)?? (?P<aux>{_AUX}) (?P<a>.+?)"
        r"(?P<verb> (?!than)\w+)? than (?:for )?(?P<b>.+)",
        r"how (?:much|many \w+) (?P<longer>\w+er) (?P<aux>is|are|was|were) (?P<a>.+) "
        r"than (?P<b>.+)",
        r"what(?: is| was|'s) the difference (?:in (?P<of>\w+) )?between (?P<a>.+) and (?P<b>.+)",
    )
)
_NUMBER = re.compile(
    rf"(?i)(?P<sign>[$£€])?\s*(?P<number>\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(NUMBERS)})\b)"
    r"\s*(?P<unit>%|[^\W\d_]+)?"
)


class Parts(NamedTuple):
    """The questions of a question's parts; of a difference, the later or greater first."""

    questions: tuple[str, ...]
    differs: bool = False
    unit: str = ""


def _when(clause: str, aux: str = "was", verb: str = "") -> str:
    """Return the question for the time of a clause ("the room was opened"), or of a thing."""
    if told := re.fullmatch(r"(?i)(.+?) (was|were|is|are|had) (.+)", clause):
        return f"When {told[2]} {told[1]} {told[3]}?"
    return f"When {aux} {clause} {verb}".rstrip() + "?"


def _differing(found: re.Match[str]) -> Parts:
    """Return the parts of what one of `_DIFFERENCES` has found."""
    said = {"aux": "was"} | {name: value or "" for name, value in found.groupdict().items()}
    a, b, aux, of, verb = (said.get(name, "") for name in ("a", "b", "aux", "of", "verb"))
    order = 1
    if "unit" in said:
        asked = [_when(b, aux, verb), _when(a) if aux == "did" else _when(a, aux, verb)]
        order = 1 if said.get("side", "after").lower() == "after" else -1
    elif "more" in said:
        asked = [f"How {'many' if of else 'much'}{of} {aux} {thing}{verb}?" for thing in (a, b)]
        order = 1 if said["more"].strip().lower() == "more" else -1
    elif "longer" in said:
        word = re.sub(r"(?<=[^aeiouls])i$", "y", said["longer"][:-2])
        word = re.sub(r"([bdgmnpt])\1$", r"\1", word)
        asked = [f"How {word} {aux} {thing}?" for thing in (a, b)]
    else:
        asked = [f"What is {f'the {of} of ' if of else ''}{thing}?" for thing in (a, b)]
    return Parts(tuple(asked[::order]), True, said.get("unit", ""))


def parts_of(question: str) -> Parts | None:
    """Return the parts of a question that has several, each a question; else None."""
    text = " ".join(question.split())
    if len(text) > LONGEST_ASKED:
        return None
    text = text[len(lead[0]) :] if (lead := _LEAD.match(text)) else text
    bare = text.rstrip(" ?.!")
    for pattern in _DIFFERENCES:
        if found := pattern.fullmatch(bare):
            return _differing(found)
    parts = [part.rstrip(" ?.!,;") for part in _JOINTS.split(text)]
    joint, first = _JOINTS.search(text), _BEGINS.match(text)
    if not (joint and first) or len(parts) > _MOST or len(parts[0].split()) < _SHORTEST:
        return None
    whole = joint[0].startswith("?")
    for part in parts[1:] if whole else parts:
        begins = _BEGINS.match(part)
        if begins is None or (len(part.split()) < _SHORTEST and not _ALONE.fullmatch(part)):
            return None
        # "Is A older and is B ...": yes or no beside yes or no alone.
        unlike = bool(begins["asks"]) != bool(first["asks"])
        if not whole and (unlike or _WITHIN.search(part, begins.end())):
            return None
    return Parts(tuple(f"{part[0].upper()}{part[1:]}?" for part in parts))


def joined(question: str, asked: Parts, answers: Sequence[Answer]) -> Answer:
    """Return one answer of those to the parts, in their order, each with its passages."""
    told = zip(asked.questions, answers, strict=True)
    parts = tuple(AnswerPart(p, a.text, a.tier, a.rests_on, _said(p, a)) for p, a in told)
    found = [one for one in answers if one.tier in ("stated", "probable")]
    difference = _difference(asked, found) if asked.differs and len(found) == 2 else ""
    text = difference or "; ".join(part.said for part in parts)
    sure = [one.reading.confidence if one.reading else 1.0 for one in found]
    confidence = min(sure, default=0.0)
    if asked.differs:
        confidence = confidence * max(sure) if difference else 0.0
    whole = len(found) == len(answers) and all(one.stated for one in found)
    passages = _merged([one.passages for one in answers], lambda passage: passage.id)
    sentences = _merged([one.sentences for one in answers], lambda each: (each.passage, each.start))
    spans = tuple(span for one in found if one.reading for span in one.reading.spans)
    stated = whole and (bool(difference) or not asked.differs)
    reading = Reading(
        text if found else "", "parts" if found else "none", confidence, spans, stated, sentences
    )
    return replace(
        answers[0],
        question=question,
        type=TypeDecision("content"),
        structural=None,
        queries=tuple(query for one in answers for query in one.queries),
        text=reading.text,
        stated=stated,
        reading=reading,
        sentences=sentences,
        passages=passages,
        paths=_merged([one.paths for one in answers], lambda path: path.last),
        seconds=sum(one.seconds for one in answers),
        notes=_merged([one.notes for one in answers], str),
        missing=_merged([one.missing for one in answers], str),
        parts=parts,
    )


def _said(part: str, answer: Answer) -> str:
    """Return what is said of a part: its answer, or the part and that there is none."""
    if answer.tier in ("stated", "probable"):
        return answer.text
    summary = answer.summary
    return f"{part.rstrip('?')}: {summary[0].lower()}{summary[1:]}"


def _merged(lists: Sequence[Sequence[_T]], key: Callable[[_T], Hashable]) -> tuple[_T, ...]:
    """Return the elements of lists, the first of each before the second of any, each once."""
    found: dict[Hashable, _T] = {}
    for each in chain.from_iterable(zip_longest(*lists)):
        if each is not None:
            found.setdefault(key(each), each)
    return tuple(found.values())


def _difference(asked: Parts, answers: Sequence[Answer]) -> str:
    """Return the difference of two answers with its unit; empty where it is not sure."""
    texts = [answer.text for answer in answers]
    found = [date_places(text) if asked.unit else _NUMBER.findall(text) for text in texts]
    if not all(len(places) == 1 for places in found):
        return ""
    if asked.unit:
        passed = _passed(found[1][0][0], found[0][0][0], asked.unit.rstrip("s").lower())
        return "" if passed is None else f"{passed:,} {asked.unit}"
    signs, numbers, units = zip(*(each[0] for each in found), strict=True)
    if len(set(signs)) > 1 or len({stem(unit.lower()) for unit in units if unit}) > 1:
        return ""
    decimals = max(len(number.partition(".")[2]) for number in numbers)
    values = [float(NUMBERS.get(n.lower(), 0) or n.replace(",", "")) for n in numbers]
    return f"{signs[0]}{values[0] - values[1]:,.{decimals}f} {units[0] or units[1]}".strip()


def _passed(start: tuple[int, int, int], end: tuple[int, int, int], unit: str) -> int | None:
    """Return the whole years, months, weeks or days from one date to another, if both tell."""
    if unit in ("day", "week"):
        days = (date(*end) - date(*start)).days if all(start) and all(end) else None
        return days if days is None or unit == "day" else days // 7
    # Of years alone, and of months alone, the difference is meant as they are written.
    months = bool(start[1] and end[1])
    early = bool(start[2] and end[2]) and end[2] < start[2]
    passed = 12 * (end[0] - start[0]) + (end[1] - start[1] - early if months else 0)
    if unit == "month":
        return passed if months else None
    return passed // 12 if months else end[0] - start[0]


#: Sentences that are looked at: those that say most.
_SENTENCES = 3
#: Least log odds that the passages are about the question, by the reader's "nothing here".
_ABOUT = 2.0
_TOKEN = re.compile(r"[£$€%°]|\d{1,2}:\d\d\b|\d+(?:st|nd|rd|th)\b|\d[\d,]*(?:\.\d+)?|[^\W\d_]+")
_ASKS_LIMIT = re.compile(
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
    if not _ASKS_LIMIT.search(question) or choice.signals.get("nothing", 0.0) > -_ABOUT:
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
