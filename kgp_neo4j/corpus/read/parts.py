"""Answer each part of a question: two in one, and the difference of two dates or numbers.

"Who services the pump and when was the turbine built?" is asked as two questions, "How many years
after the dam was the turbine built?" as one for each date, which code then subtracts. A question
that only has two things or two verbs in it ("Who founded and led the club?") stays whole.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import date
from itertools import zip_longest
from typing import NamedTuple, TypeVar

from kgp_neo4j.environment.question import LONGEST_ASKED
from kgp_neo4j.text.values import NUMBERS, date_places
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.corpus import Answer, AnswerPart, Reading
from kgp_neo4j.types.tables import TypeDecision

_T = TypeVar("_T")
_AUX = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|might|must|should|will|would)"
_WH = r"(?:who|whom|whose|what|which|when|where|why|how)"
_ASKS = rf"(?:(?:at|by|for|from|in|of|on|to|until|with)\s+)?{_WH}\b"
_SUBJECT = (
    r"(?:the|an?|my|our|your|their|this|that|these|it|they|he|she|i|we|you|there|(?-i:[A-Z]))"
)
_JOINTS = re.compile(
    rf"\?\s+(?:and\s+)?(?={_ASKS}|(?-i:(?=[A-Z])){_AUX}\s+{_SUBJECT})"
    rf"|\s*[,;]?\s+and\s+(?:also\s+)?(?={_ASKS}|{_AUX}\s+{_SUBJECT})",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:please\s+)?(?:(?:can|could) you )?(?:tell me|do you know|i(?:'d like| want) to know)\s+",
    re.I,
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
    rf"(?P<sign>[$£€])?\s*(?P<number>\d[\d,]*(?:\.\d+)?|\b(?:{'|'.join(NUMBERS)})\b)"
    r"\s*(?P<unit>%|[^\W\d_]+)?",
    re.IGNORECASE,
)


class Parts(NamedTuple):
    """The questions of a question's parts; of a difference, the later or greater first."""

    questions: tuple[str, ...]
    differs: bool = False
    unit: str = ""


def _when(clause: str, aux: str = "was", verb: str = "") -> str:
    """Return the question for the time of a clause ("the room was opened"), or of a thing."""
    told = re.fullmatch(r"(.+?) (was|were|is|are|had) (.+)", clause, re.IGNORECASE)
    if told:
        return f"When {told[2]} {told[1]} {told[3]}?"
    return f"When {aux} {clause} {verb}".rstrip() + "?"


def _between_dates(found: re.Match[str]) -> Parts:
    """Return the parts of "how many years after A was B built"."""
    a, b, aux, verb = found["a"], found["b"], found["aux"], found["verb"]
    asked = [_when(b, aux, verb), _when(a) if aux == "did" else _when(a, aux, verb)]
    return Parts(
        tuple(asked[:: 1 if found["side"].lower() == "after" else -1]), True, found["unit"]
    )


def _compared(found: re.Match[str]) -> Parts:
    """Return the parts of "how much more does A cost than B"."""
    verb, of = found["verb"] or "", found["of"] or ""
    asks = f"How {'many' if of else 'much'}{of} {found['aux']}"
    asked = [f"{asks} {thing}{verb}?" for thing in (found["a"], found["b"])]
    return Parts(tuple(asked[:: 1 if found["more"].strip().lower() == "more" else -1]), True)


def _longer(found: re.Match[str]) -> Parts:
    """Return the parts of "how much longer is A than B"."""
    word = re.sub(r"(?<=[^aeiouls])i$", "y", found["longer"][:-2])
    word = re.sub(r"([bdgmnpt])\1$", r"\1", word)
    asked = tuple(f"How {word} {found['aux']} {found[thing]}?" for thing in "ab")
    return Parts(asked, True)


def _differing(found: re.Match[str]) -> Parts:
    """Return the parts of "what is the difference in height between A and B"."""
    of = f"the {found['of']} of " if found["of"] else ""
    return Parts(tuple(f"What is {of}{found[thing]}?" for thing in "ab"), True)


def _passing(found: re.Match[str]) -> Parts:
    """Return the parts of "how many years passed between A and B"."""
    return Parts((_when(found["b"]), _when(found["a"])), True, found["unit"])


_MADE = (_between_dates, _passing, _compared, _longer, _differing)


def parts_of(question: str) -> Parts | None:
    """Return the parts of a question that has several, each a question; else None."""
    text = " ".join(question.split())
    if len(text) > LONGEST_ASKED:
        return None
    text = text[len(lead[0]) :] if (lead := _LEAD.match(text)) else text
    bare = text.rstrip(" ?.!")
    for made, pattern in zip(_MADE, _DIFFERENCES, strict=True):
        if found := pattern.fullmatch(bare):
            return made(found)
    cuts = [0, *(match.end() for match in _JOINTS.finditer(text))]
    if not 1 < len(cuts) <= _MOST or not _BEGINS.match(text):
        return None
    ends = [match.start() for match in _JOINTS.finditer(text)]
    parts = [text[a:b].rstrip(" ?.!,;") for a, b in zip(cuts, [*ends, len(text)], strict=True)]
    whole = text[ends[0]] == "?"
    first = _BEGINS.match(parts[0])
    for part in parts:
        begins = _BEGINS.match(part)
        if whole and part is parts[0]:
            continue
        if begins is None or (len(part.split()) < _SHORTEST and not _ALONE.fullmatch(part)):
            return None
        # "Is A older and is B ...": yes or no beside yes or no alone.
        if not whole and bool(begins["asks"]) != bool(first and first["asks"]):
            return None
        if not whole and _WITHIN.search(part, begins.end()):
            return None
    if len(parts[0].split()) < _SHORTEST:
        return None
    return Parts(tuple(f"{part[0].upper()}{part[1:]}?" for part in parts))


def joined(question: str, asked: Parts, answers: Sequence[Answer]) -> Answer:
    """Return one answer of those to the parts, in their order, each with its passages."""
    parts = tuple(
        AnswerPart(part, one.text, one.tier, one.rests_on, _said(part, one))
        for part, one in zip(asked.questions, answers, strict=True)
    )
    found = [one for one in answers if one.tier in ("stated", "probable")]
    difference = _difference(asked, found) if asked.differs and len(found) == 2 else ""
    text = "; ".join(part.said for part in parts)
    if difference:
        text = difference
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
    for row in zip_longest(*lists):
        for each in row:
            if each is not None:
                found.setdefault(key(each), each)
    return tuple(found.values())


def _difference(asked: Parts, answers: Sequence[Answer]) -> str:
    """Return the difference of two answers with its unit; empty where it is not sure."""
    texts = [answer.text for answer in answers]
    if asked.unit:
        dates = [date_places(text) for text in texts]
        if not all(len(places) == 1 for places in dates):
            return ""
        passed = _passed(dates[1][0][0], dates[0][0][0], asked.unit.rstrip("s").lower())
        return "" if passed is None else f"{passed:,} {asked.unit}"
    values = [_NUMBER.search(text) for text in texts]
    if not all(values) or any(len(_NUMBER.findall(text)) > 1 for text in texts):
        return ""
    one, other = (
        (found["sign"] or "", _value(found["number"]), found["unit"] or "")
        for found in values
        if found
    )
    units = {stem(unit.lower()) for _, _, unit in (one, other) if unit}
    if len(units) > 1 or len({one[0], other[0]}) > 1:
        return ""
    decimals = max(len(str(found["number"]).partition(".")[2]) for found in values if found)
    return f"{one[0]}{one[1] - other[1]:,.{decimals}f} {one[2] or other[2]}".strip()


def _value(number: str) -> float:
    return float(NUMBERS.get(number.lower(), 0) or number.replace(",", ""))


def _passed(start: tuple[int, int, int], end: tuple[int, int, int], unit: str) -> int | None:
    """Return the whole years, months, weeks or days from one date to another, if both tell."""
    if unit in ("day", "week"):
        if not (all(start) and all(end)):
            return None
        return (date(*end) - date(*start)).days // (7 if unit == "week" else 1)
    # Of years alone, and of months alone, the difference is meant as they are written.
    months = bool(start[1] and end[1])
    early = bool(start[2] and end[2]) and end[2] < start[2]
    passed = 12 * (end[0] - start[0]) + (end[1] - start[1] - early if months else 0)
    if unit == "month":
        return passed if months else None
    return passed // 12 if months else end[0] - start[0]
