"""Works out comparisons of two things from what their passages say (HotpotQA's and 2Wiki's kind).

Which of two came first, last, lived longer; whether two are from the same country; whether both
are something. "The director of film A" is followed to the person's own passage. Where a passage
does not tell, nothing is concluded and the network's reading stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgp_neo4j.models.reader.alike import common, share_of, stems
from kgp_neo4j.models.reader.attributes import nations_of, sentence_end
from kgp_neo4j.models.reader.dated import Dated, birth_and_death, dates_in, event_date
from kgp_neo4j.models.reader.hops import ROLE, Mention, follow, mentions
from kgp_neo4j.models.reader.nations import nations_in
from kgp_neo4j.records import Passage

__all__ = ["Compared", "compare", "options_of"]

Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Compared:
    """What a comparison came to: `kind` span, yes or no; `how` names the rule; where it is told."""

    kind: str
    text: str
    how: str
    places: tuple[Place, ...]


_AUXILIARY = re.compile(
    r"^(?:and\s+)?(?:are|is|was|were|do|does|did|have|has|had|can|could)\b", re.IGNORECASE
)
_EVENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"found|form|establish|start|creat|open|built|incorporat|launch|began|begun|introduc",
     ("founded", "formed", "established", "started", "created", "opened", "built", "since",
      "incorporated", "launched", "began", "introduced", "founding", "completed")),
    (r"publish|magazine|print|newspaper|journal",
     ("published", "founded", "established", "launched", "first issue", "publication", "began",
      "magazine", "journal")),
    (r"releas|c[ao]me out|premier|air|produced|made|debut|film|movie|album|song|first",
     ("released", "premiered", "published", "aired", "film", "album", "release")),
)  # fmt: skip
_COMMON = re.compile(
    r"\b(?:in common|shared?)\b|\bboth\b.*\b(?:what|which)\b"
    r"|\b(?:what|which)\s+(?:kind|type|genre|sport|profession|occupation|career|nationality)s?\b",
    re.IGNORECASE | re.DOTALL,
)
_MORE = re.compile(r"\b(?:more|most|fewer|less|least|than|best|worst|\w{3,}er|\w{3,}est)\b", re.I)
_EARLY = re.compile(r"\b(?:first|earlier|earliest|older|oldest|elder|before)\b", re.IGNORECASE)
_LATE = re.compile(
    r"\b(?:later|latest|last|younger|youngest|newer|newest|after|(?:most|more) recent(?:ly)?)\b",
    re.IGNORECASE,
)


def compare(question: str, passages: Sequence[Passage]) -> Compared | None:
    """Return what a comparison of two things comes to, None where it is none or cannot be told."""
    options = options_of(question, passages)
    if options is None:
        return None
    rest = question[: options[0].start] + " " + question[options[1].end :]
    between = question[options[0].end : options[1].start].casefold()
    told = [_followed(option, rest, passages) for option in options]
    if _AUXILIARY.match(question.strip()) and not re.search(r"\bor\b", between):
        return _same(rest, options, told)
    if not re.search(r"\b(?:or|and)\b", between):
        return None
    if re.search(r"\bor\b", between):
        return _earlier(rest, options, told) or _described(rest, options)
    return _shared(rest, options) if _COMMON.search(rest) else None


# --- The two things -------------------------------------------------------------------------------


def options_of(question: str, passages: Sequence[Passage]) -> tuple[Mention, Mention] | None:
    """Return the two things that a question names and asks to compare, None where it does not."""
    if not re.search(r"\b(?:or|and)\b", question, re.IGNORECASE):
        return None
    kept = mentions(question, passages)
    for one, other in pairwise(kept):
        between = question[one.end : other.start]
        if len(between) <= 60 and re.search(r"\b(?:or|and)\b|,", between, re.IGNORECASE):
            return one, other
    return None


def _followed(option: Mention, rest: str, passages: Sequence[Passage]) -> Passage | None:
    """Return whose passage tells what is asked: the thing's own, or of its director and the like.

    None where the question goes by way of a person whose passage is not there.
    """
    role = ROLE.search(rest)
    if not role or _is_person(option.passage):
        return option.passage
    return follow(role[1], option.passage, passages)


def _is_person(passage: Passage) -> bool:
    return birth_and_death(passage.text)[0] is not None and not re.search(
        r"\b(?:directed|composed|written|performed|recorded)\s+by\b", passage.text[:300]
    )


# --- Which of two ---------------------------------------------------------------------------------


def _earlier(
    rest: str, options: tuple[Mention, Mention], told: Sequence[Passage | None]
) -> Compared | None:
    low = rest.casefold()
    longer = re.search(r"\b(?:lived?\s+longer|longer\s+li[fv]e|lived\s+a\s+longer)", low)
    late, early = _LATE.search(low), _EARLY.search(low)
    if not longer and bool(late) == bool(early):
        return None
    dates = [_date(low, passage) if passage else None for passage in told]
    if longer:
        return _longer(options, told)
    one, other = dates
    if one is None or other is None or told[0] is None or told[1] is None:
        return None
    size = min(len(one.iso), len(other.iso))
    if one.iso[:size] == other.iso[:size]:
        return None
    first = one.iso < other.iso
    chosen = options[0 if first == bool(early) else 1]
    places = (
        (told[0].id, one.start, one.end),
        (told[1].id, other.start, other.end),
    )
    return Compared("span", chosen.text, "date", places)


def _date(low: str, passage: Passage) -> Dated | None:
    """Return the date of a passage that a question in lower case asks about."""
    text = passage.text
    if re.search(r"\b(?:died|dead|death|dies|die|passed away)\b", low):
        return birth_and_death(text)[1]
    if re.search(r"\b(?:born|birth|older|younger|oldest|youngest|elder)\b", low):
        return birth_and_death(text)[0]
    for pattern, words in _EVENTS:
        if re.search(rf"\b(?:{pattern})", low):
            found = event_date(text, words)
            return found or next(iter(dates_in(text)), None)
    return None


def _longer(options: tuple[Mention, Mention], told: Sequence[Passage | None]) -> Compared | None:
    spans = []
    places: list[Place] = []
    for passage in told:
        born, died = birth_and_death(passage.text) if passage else (None, None)
        if passage is None or born is None or died is None:
            return None
        spans.append(int(died.iso[:4]) - int(born.iso[:4]))
        places.append((passage.id, born.start, died.end))
    if spans[0] == spans[1]:
        return None
    return Compared("span", options[0 if spans[0] > spans[1] else 1].text, "life", tuple(places))


# --- Whether both ---------------------------------------------------------------------------------


def _same(
    rest: str, options: tuple[Mention, Mention], told: Sequence[Passage | None]
) -> Compared | None:
    low = rest.casefold()
    one, other = told
    if one is None or other is None:
        return None
    if re.search(r"\b(?:countr(?:y|ies)|nationalit(?:y|ies)|nation)\b", low):
        if "same" not in low and "shar" not in low:
            return None
        found = [nations_of(passage) for passage in (one, other)]
        if not found[0] or not found[1]:
            return None
        alike = {n for n, _, _ in found[0]} & {n for n, _, _ in found[1]}
        places = tuple(
            (passage.id, start, end)
            for passage, names in zip((one, other), found, strict=True)
            for _, start, end in names[:1]
        )
        return Compared("yes" if alike else "no", "yes" if alike else "no", "nation", places)
    return _both(rest, options)


def _both(rest: str, options: tuple[Mention, Mention]) -> Compared | None:
    """Return whether both things are what a question says they both are."""
    wanted = stems(re.sub(r"[^\w\s'’-]", " ", rest))
    if not wanted or re.search(r"\b(?:same|shar|more|less|before|after|not)", rest.casefold()):
        return None
    shares = [share_of(wanted, f"{o.passage.title}. {o.passage.text}") for o in options]
    said = "yes" if min(shares) == 1.0 else "no"
    if said == "no" and min(shares) > 0.5:
        return None
    places = tuple((o.passage.id, 0, sentence_end(o.passage.text, 0)) for o in options)
    return Compared(said, said, "both", places)


def _described(rest: str, options: tuple[Mention, Mention]) -> Compared | None:
    """Return which of two things has more of the words that the question describes it by."""
    wanted = stems(rest)
    shares = [share_of(wanted, f"{o.passage.title}. {o.passage.text}") for o in options]
    if not wanted or shares[0] == shares[1] or _MORE.search(rest):
        return None
    chosen = options[0 if shares[0] > shares[1] else 1]
    end = sentence_end(chosen.passage.text, 0)
    return Compared("span", chosen.text, "described", ((chosen.passage.id, 0, end),))


def _shared(rest: str, options: tuple[Mention, Mention]) -> Compared | None:
    """Return the trait that the first sentences on two things share."""
    one, other = (option.passage for option in options)
    found = common(one.text, other.text, rest)
    if re.search(r"\b(?:nationality|country)\b", rest.casefold()):
        found = [f for f in found if nations_in(f[0])]
    else:
        found = [f for f in found if not nations_in(f[0])] or found
    if not found:
        return None
    text, start, end = found[0]
    return Compared("span", text, "shared", ((one.id, start, end),))
