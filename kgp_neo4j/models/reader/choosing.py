"""Chooses the answer among what the reader's network found."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgp_neo4j.models.reader.attributes import attribute
from kgp_neo4j.models.reader.comparing import compare, options_of
from kgp_neo4j.models.reader.hops import ROLE, Hop, Mention, bare, mentions, plain
from kgp_neo4j.models.reader.spans import Candidate
from kgp_neo4j.records import Passage
from kgp_neo4j.values import MONTHS

__all__ = ["SIGNALS", "Choice", "choose", "settled", "words_of"]

#: What a choice's confidence is judged by.
SIGNALS = (
    "score", "margin", "date", "nation", "life", "both", "described", "shared", "told", "hop",
    "option", "yes or no",
)  # fmt: skip
# Fitted on training questions that the reader was not trained on, rounded by development questions:
# benchmarks/README.md.
_FITS = 1.0
_AGAIN = 0.5
#: What has a passage of its own among those read is worth asking for.
_TITLED = 1.0
#: What a span loses for each passage before its own but one: the first two, the ends of a step, are
#: alike, and the rest were found with less confidence.
_RANK = 2.5
#: What it loses for each word beyond six.
_LONG = 0.8
_WORDS = 6
_YEAR = re.compile(r"\b(?:what|which)\s+year\b|\byear\s+(?:was|did|of)\b", re.IGNORECASE)
_ENDED = re.compile(r"[^\s.]{3,}[.!?]\s+\w")

#: A question about one thing alone, without anything between it and what is asked.
_ASKS_ALONE = re.compile(
    r"^(?:when|what year|in what year|what (?:is|was) the date|which country|what nationality)\b"
    r"(?:\W+[\w'’.-]+){1,9}\W*$",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^(?:are|is|was|were|do|does|did|have|has|had|can|could|will|would)\b", re.IGNORECASE
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand"
    r"|million|billion|once|twice|half|several|no|none)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    rf"\d|\b(?:{'|'.join(m for m in MONTHS if len(m) > 3)}|century)\b", re.IGNORECASE
)
#: What a question asks for, by its words, and what an answer of that sort looks like.
_SORTS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    ("time", re.compile(r"\bwhen\b|\b(?:what|which|in what)\s+(?:\w+\s+)?(?:year|date|day|decade|"
     r"century|month)\b|\b(?:date|year) of\b", re.I), _TIME),
    ("number", re.compile(r"\bhow\s+(?:many|much|old|long|far|tall|high|large|big)\b|"
     r"\bwhat\s+(?:is|was)\s+the\s+(?:population|number|height|length|area)\b", re.I), _NUMBER),
    ("name", re.compile(r"\b(?:who|whom|whose|where)\b|\b(?:what|which)\s+(?:\w+\s+)?"
     r"(?:city|country|state|county|person|actor|actress|director|band|company|team|place)\b",
     re.I),
     re.compile(r"[A-Z]|[^\W\d_]*[^\x00-\x7f]")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """The answer chosen: `spans` are (passage id, start, end); `signals` say how sure it is."""

    kind: str
    text: str = ""
    spans: tuple[tuple[str, int, int], ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict)


def settled(question: str, passages: Sequence[Passage], hop: Hop | None) -> Choice | None:
    """Return the answer that the passages say in so many words; None where reading is needed.

    That of a comparison, and when the person that a question means was born or died, or whence
    they are.
    """
    if compared := compare(question, passages):
        return Choice(compared.kind, compared.text, compared.places, {compared.how: 1.0})
    named = mentions(question, passages)
    asked = hop.question if hop else question
    about = hop.passage if hop else named[0].passage if len(named) == 1 else None
    if about is None or not (hop or (_ASKS_ALONE.match(question) and not ROLE.search(question))):
        return None
    if hop and re.fullmatch(rf"who\s+(?:is|was)\s+{re.escape(bare(about.title))}\W*", asked, re.I):
        at = plain(hop.before.text).find(plain(bare(about.title)))
        if at >= 0:
            text = hop.before.text[at : at + len(bare(about.title))]
            return Choice("span", text, ((hop.before.id, at, at + len(text)),), {"told": 1.0})
    if (place := attribute(asked, about)) is None:
        return None
    text = about.text[slice(*place)]
    return Choice("span", text, ((about.id, *place),), {"told": 1.0})


def choose(
    question: str,
    passages: Sequence[Passage],
    spans: Sequence[Candidate],
    kinds: Sequence[Sequence[float]],
) -> Choice:
    """Return the answer to a question, of kind `none` where nothing was found at all.

    A question of yes or no by its form is answered so; else the best span by the network's score,
    by whether it is of the sort that is asked for, by its passage's place, and by how often it was
    found.
    """
    if not passages:
        return Choice("none")
    if _YES_NO.match(question.strip()) and kinds and not re.search(r"\bor\b", question):
        return _yes_or_no(passages, kinds)
    options = options_of(question, passages)
    if options and not re.search(r"\bor\b", question[options[0].end : options[1].start]):
        options = None
    ranked = _ranked(question, passages, spans, options)
    if not ranked:
        return Choice("none")
    score, first, text = ranked[0]
    signals = {
        "score": score,
        "margin": score - (ranked[1][0] if len(ranked) > 1 else score - 5),
        "option": float(options is not None),
    }
    return Choice("span", text, _places(passages, first, text), signals)


def _ranked(
    question: str,
    passages: Sequence[Passage],
    spans: Sequence[Candidate],
    options: tuple[Mention, Mention] | None,
) -> list[tuple[float, Candidate, str]]:
    """Return score, candidate and text of each different answer, best first."""
    asked = f" {' '.join(words_of(question))} "
    titles = {" ".join(words_of(passage.title)) for passage in passages}
    wanted = [" ".join(words_of(option.text)) for option in options or ()]
    groups: dict[str, list[tuple[float, Candidate, str]]] = {}
    for candidate in spans:
        text = _text(question, passages, candidate)
        words = words_of(text)
        key = " ".join(words)
        if not key or _ENDED.search(text):
            continue
        if wanted:
            named = [w for w in wanted if w in key or key in w]
            if len(named) != 1:
                continue
            key = named[0]
            text = next(o.text for o in options or () if " ".join(words_of(o.text)) == key)
        elif f" {key} " in asked:
            continue
        score = candidate.score + _FITS * _fits(question, text) + _TITLED * (key in titles)
        score -= _RANK * max(0, candidate.passage - 1) + _LONG * max(0, len(words) - _WORDS)
        groups.setdefault(key, []).append((score, candidate, text))
    made = []
    for found in groups.values():
        found.sort(key=lambda one: -one[0])
        score, candidate, text = found[0]
        again = len({c.passage for _, c, _ in found}) - 1
        made.append((score + _AGAIN * math.log1p(again), candidate, text))
    return sorted(made, key=lambda one: (-one[0], one[1].passage, one[1].start))


def _fits(question: str, text: str) -> float:
    """Return 1 where an answer is of the sort that is asked for, -1 where it is of another, 0."""
    for name, asks, looks in _SORTS:
        if asks.search(question):
            good = bool(looks.search(text))
            if name == "name":
                good = good and not re.match(r"\W*\d", text)
            return 1.0 if good else -1.0
    return 0.0


def _yes_or_no(passages: Sequence[Passage], kinds: Sequence[Sequence[float]]) -> Choice:
    yes, no = (sum(row[at] for row in kinds) + 1e-6 for at in (1, 2))
    kind = "yes" if yes >= no else "no"
    margin = abs(math.log(yes / no))
    text = passages[0].text
    end = re.search(r"[.!?](?:\s|$)", text)
    place = (passages[0].id, 0, end.end() if end else len(text))
    return Choice(kind, kind, (place,), {"yes or no": 1.0, "margin": margin})


def words_of(text: str) -> list[str]:
    """Return the words by which answers are compared: without case, accents, marks, articles."""
    return [w for w in re.findall(r"\w+", plain(text)) if w not in ("the", "a", "an")]


def _text(question: str, passages: Sequence[Passage], candidate: Candidate) -> str:
    """Return what a span says: of a date the year where that is asked for, no half quotation."""
    passage = passages[candidate.passage]
    said = passage.title if candidate.in_title else passage.text
    text = said[candidate.start : candidate.end].strip()
    if _YEAR.search(question) and (years := re.findall(r"\b(?:1\d{3}|20\d{2})\b", text)):
        return str(years[0]) if len(set(years)) == 1 else text
    if text.count('"') % 2:
        text = text.strip('"').strip()
    return text


def _places(
    passages: Sequence[Passage], candidate: Candidate, text: str
) -> tuple[tuple[str, int, int], ...]:
    """Return where an answer stands in its passage's text; nowhere where only the title has it."""
    passage = passages[candidate.passage]
    first = 0 if candidate.in_title else candidate.start
    at = passage.text.find(text, first)
    return ((passage.id, at, at + len(text)),) if at >= 0 else ()
