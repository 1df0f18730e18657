"""Tells what a question mentions as absent, past, of somebody else, or asked for by its absence.

Cues with a reach, in the manner of NegEx and ConText (Chapman et al. 2001, Harkema et al. 2009).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import regex

from kgp_neo4j.environment.files import read_toml
from kgp_neo4j.mindmap.explore.asked_paths import asks_yes_or_no
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.mindmap import LinkedEntity, Mentioned

_FILE = resources.files("kgp_neo4j.mindmap.link") / "cues.toml"
#: Stands for each character of a mention, so that no cue is found in a name.
_MENTION = "\ue000"
_NOT = r"(?:not|(?:do|does|did|have|has|had|is|are|was|were)n['’]?t)"
#: A cue is a whole word where it begins or ends with a Latin letter.
_BEGIN = r"(?:(?<![\p{Latin}\d])|(?!\p{Latin}))"
_END = r"(?:(?![\p{Latin}\d])|(?<!\p{Latin}))"
_SENTENCE = regex.compile(r"(?:[^.!?;。！？；\n]|[.](?=\S))+[.!?;。！？；\n]*")
_WORD = regex.compile(r"\p{L}+")
#: What may stand between a cue that negates the next word and that word, and in a row of mentions.
_AT_ONCE = regex.compile(r"\s*(?:(?:a|an|any|the|my|his|her|of|from)\s+)?")
_OF_ONE = regex.compile(r"(?:is|was|has)\b", regex.I)
_IN_A_ROW = regex.compile(rf"(?:{_MENTION}|[\s,、]|\b(?:and|or|the)\b|和|及)*", regex.I)


class _Cue(NamedTuple):
    status: Mentioned
    begin: int
    end: int


@lru_cache
def _patterns() -> dict[str, regex.Pattern[str]]:
    """Return the cues of the file by section and name, each as one pattern."""
    _, sections = read_toml(_FILE, "It comes with the package.")
    found = {}
    for section, cues_by_name in sections.items():
        for name, cues in cues_by_name.items():
            text = "|".join(cues).replace("NOT", _NOT).replace("X+", f"{_MENTION}+")
            text = regex.sub(" ([*+]?)", lambda space: rf"\s{space[1] or '+'}", text)
            found[f"{section} {name}"] = regex.compile(f"{_BEGIN}(?:{text}){_END}", regex.I)
    return found


def read_statuses(
    question: str, entities: Sequence[LinkedEntity], nearer: Callable[[str, str, str], bool]
) -> list[LinkedEntity]:
    """Return the entities with what the question says of each (`status`).

    One that is present in a sentence is present. Where nothing is, the question is about what is
    past or of somebody else. `nearer` tells whether the first of two texts is nearer to a name:
    "no appetite" than "appetite" to a loss of appetite, which it does not deny.
    """
    places = list(_places(question, entities))
    said: dict[int, list[tuple[Mentioned, bool]]] = {}
    carried = False
    for match in _SENTENCE.finditer(question):
        first, after = match.span()
        within = [(a - first, min(b, after) - first, n) for a, b, n in places if first <= a < after]
        sentence = _Sentence(match.group(), within, carried)
        carried = sentence.goes_on
        for number, status, cued in sentence.statuses():
            entity = entities[number]
            if cued and entity.by in ("embedding", "model") and status in ("denied", "past"):
                status = "present" if nearer(cued, entity.surface, entity.name) else status
            said.setdefault(number, []).append((status, sentence.tells))
    own = any(("present", True) in several for several in said.values())
    result = []
    for number, entity in enumerate(entities):
        statuses = [status for status, _ in said.get(number, [("present", False)])]
        is_there = "present" in statuses or (statuses[0] == "other" and not own)
        result.append(replace(entity, status="present" if is_there else statuses[0]))
    if not any(e.id and e.status in ("present", "asked") for e in result):
        result = [e if e.status == "denied" else replace(e, status="present") for e in result]
    return result


def _places(question: str, entities: Sequence[LinkedEntity]) -> Iterator[tuple[int, int, int]]:
    """Yield where entities (by number) are mentioned, none of them within a longer mention."""
    found = []
    for number, entity in enumerate(entities):
        pattern = _BEGIN + regex.escape(entity.surface) + _END
        spans = [match.span() for match in regex.finditer(pattern, question, regex.I)]
        if not spans:  # a model names it in words of its own
            stems = {stem(word) for word in _WORD.findall(entity.surface.casefold())}
            words = _WORD.finditer(question)
            spans = [word.span() for word in words if stem(word.group().casefold()) in stems]
        for begin, end in spans:
            cue = _patterns()["denied before"].match(question[begin:end])
            # "no fever" may be linked by its meaning: its cue is none of the name.
            shift = cue.end() if cue and entity.by in ("embedding", "model") else 0
            found.append((begin + shift * (shift < end - begin), end, number))
    for begin, end, number in found:
        if not any(a <= begin and end <= b and (a, b) != (begin, end) for a, b, _ in found):
            yield begin, end, number


class _Sentence:
    """A sentence with its mentions; `carried` where "he" in it may be somebody else.

    `tells`: it tells something that is so; `goes_on`: "he" in the next one may be somebody else.
    """

    def __init__(self, text: str, places: Sequence[tuple[int, int, int]], carried: bool) -> None:
        self.text, self.places, self.cues, self.masked = text, places, _patterns(), text
        for begin, end, _ in places:
            hidden = _MENTION * (end - begin)
            self.masked = self.masked[:begin] + hidden + self.masked[end:]
        is_letter = self._find("forms letter") is not None
        asks = self._find("forms asks") or self.cues["forms subject"].match(self.masked)
        #: Where a question for a set begins; what it denies behind that is asked for.
        self.asks = None if is_letter or not asks else asks.start()
        self.only_asks = asks_yes_or_no(text) and not is_letter and not asks
        asking = self._find("forms asks") or text.rstrip().endswith(("?", "？"))
        self.tells = not asking and not self._find("forms opinion")
        self.carried = carried and self.cues["forms carried"].match(text) is not None
        other = self._find("other before")
        mine = other and other.group().casefold().startswith(("my", "our", "我"))
        self.goes_on = bool(mine) or self.carried

    def _find(self, name: str, end: int | None = None) -> regex.Match[str] | None:
        return self.cues[name].search(self.masked, 0, end)

    def statuses(self) -> Iterator[tuple[int, Mentioned, str]]:
        """Yield each mention's entity, what is said of it, and its text with the cue in front."""
        before, after = self._speaking()
        if self.only_asks:  # all but its conditions
            before, after = [c for c in before if self._find("forms given", c.begin)], []
        for begin, end, number in self.places:
            in_front = [c for c in before if self._reaches(c, begin)]
            behind = [c for c in after if self._reaches_back(c, end)]
            cue = max(in_front, key=lambda c: c.end, default=None)
            back = min(behind, key=lambda c: c.begin, default=None)
            if back and (cue is None or cue.status == "other"):
                yield number, back.status, ""
            elif cue is None:
                yield number, "other" if self.carried else "present", ""
            else:
                asked = self.asks is not None and (
                    self.asks <= cue.begin or "的" in self.text[end : self.asks]
                )
                asked &= cue.status == "denied" and not self._excepts(cue)
                near = self.text[cue.begin : end] if begin - cue.begin <= 20 else ""
                yield number, "asked" if asked else cue.status, near

    def _speaking(self) -> tuple[list[_Cue], list[_Cue]]:
        """Return the cues that speak of what follows them, and of what is in front of them."""
        all_kinds: tuple[Mentioned, ...] = ("denied", "past", "other")
        kinds = all_kinds if self.asks is None else all_kinds[:1]
        nothing = [match.span() for match in self.cues["reach nothing"].finditer(self.masked)]

        def find(*names: str) -> list[_Cue]:
            patterns = [(kind, self.cues.get(f"{kind} {name}")) for name in names for kind in kinds]
            cues = [_Cue(s, *m.span()) for s, p in patterns if p for m in p.finditer(self.masked)]
            return [c for c in cues if not any(a <= c.begin < b for a, b in nothing)]

        before = find("before", "except") + (find("verb") if self.asks is not None else [])
        for cue in find("had"):
            until = self._end(cue.end)
            if self._find("past times", until) and not self._find("past present", until):
                before.append(cue)
        begins = {begin for begin, *_ in self.places}
        for cue in find("next"):
            if {cue.end, _AT_ONCE.match(self.masked, cue.end).end()} & begins:
                before.append(cue)
        return before, find("after")

    def _end(self, begin: int, of_other: bool = False) -> int:
        """Return where the reach of a cue ends that ends at `begin`."""
        if of_other:
            mine = self.cues["reach mine"].search(self.masked, begin)
            return mine.start() if mine else len(self.masked)
        hard = self.cues["reach ends"].search(self.masked, begin)
        end = hard.start() if hard else len(self.masked)
        article = self.cues["reach articles"].search(self.masked, begin, end)
        if article and not regex.search(r"\bn?or\b", self.masked[article.end() : end], regex.I):
            end = article.start()
        return int(end)

    def _excepts(self, cue: _Cue) -> bool:
        return self.cues["denied except"].match(self.masked, cue.begin) is not None

    def _reaches(self, cue: _Cue, begin: int) -> bool:
        word, between = self.masked[cue.begin : cue.end], self.masked[cue.end : begin]
        # Where each thing has a "no" of its own, the next one without it is there.
        again = "," in between and self.masked[:begin].casefold().split().count(word.casefold()) > 1
        row = not self._excepts(cue) or _IN_A_ROW.fullmatch(between) is not None
        return cue.end <= begin <= self._end(cue.end, cue.status == "other") and row and not again

    def _reaches_back(self, cue: _Cue, end: int) -> bool:
        between = self.masked[end : cue.begin]
        ended = self.cues["reach ends"].search(between) or self.cues["reach back"].search(between)
        one = _MENTION in between and _OF_ONE.match(self.masked, cue.begin)
        return end <= cue.begin and not ended and not one
