"""Tells what a question mentions as absent, past, of somebody else, or asked for by its absence.

Cues with a reach, in the manner of NegEx and ConText (Chapman et al. 2001, Harkema et al. 2009).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from itertools import chain

import regex

from kgp_neo4j.environment.files import read_toml
from kgp_neo4j.mindmap.explore.asked_paths import asks_yes_or_no
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.mindmap import LinkedEntity, Mentioned

#: Where a mention stands in a text, and the number of its entity.
_Place = tuple[int, int, int]
#: Two texts and a name: whether the first is nearer to it.
Nearer = Callable[[str, str, str], bool]

_FILE = resources.files("kgp_neo4j.mindmap.link") / "cues.toml"
#: Stands for each character of a mention, so that no cue is found in a name.
_MENTION = "\ue000"
_NOT = r"(?:not|(?:do|does|did|have|has|had|is|are|was|were)n['’]?t)"
#: A cue is a whole word where it begins or ends with a Latin letter.
_BEGIN = r"(?:(?<![\p{Latin}\d])|(?!\p{Latin}))"
_END = r"(?:(?![\p{Latin}\d])|(?<!\p{Latin}))"
_SENTENCE = regex.compile(r"(?:[^.!?;。！？；\n]|[.](?=\S))+[.!?;。！？；\n]*")
#: Any denial of the verb of a question: "do not deliver", "aren't trained on", 不供应.
_DENIED_VERB = regex.compile(r"\b(?:not|never|cannot|\p{L}+n['’]t|lack(?:s|ing)?)\b|不", regex.I)
#: Suppliers without ..., employees who never ...: a question by its subject alone.
_SUBJECT = regex.compile(
    r"\W*(?:(?:all|the|any|those|every|each)\s+)?(?!(?:there|this|that|it)\b)\p{L}+(?:\s\p{L}+)?\s+"
    r"(?:who|that|which|without|with|not|never|lacking|(?:do|does|did|is|are|ha[sd]|have)n['’]t)\b",
    regex.I,
)
_AT_ONCE = regex.compile(r"\s*(?:(?:a|an|any|the|my|his|her|of|from)\s+)?")
_IN_A_ROW = regex.compile(rf"(?:{_MENTION}|[\s,、]|\b(?:and|or|the)\b|和|及)*", regex.I)
_CARRIED_ON = regex.compile(r"\W*(?:he|she|they|his|her|their)\b", regex.I)
_ONE = regex.compile(r"(?:is|was|has)\b", regex.I)


@lru_cache
def _patterns() -> dict[str, regex.Pattern[str]]:
    """Return the cues of the file by section and name, each as one pattern."""
    _, sections = read_toml(_FILE, "It comes with the package.")
    found = {}
    for section, value in sections.items():
        for name, cues in value.items() if isinstance(value, dict) else [("", value)]:
            text = "|".join(cues).replace("NOT", _NOT).replace("X+", f"{_MENTION}+")
            text = regex.sub(" ([*+]?)", lambda space: rf"\s{space[1] or '+'}", text)
            key = f"{section} {name}".strip()
            found[key] = regex.compile(f"{_BEGIN}(?:{text}){_END}", regex.I)
    return found


def read_statuses(
    question: str, entities: Sequence[LinkedEntity], nearer: Nearer
) -> list[LinkedEntity]:
    """Return the entities with what the question says of each: `Mentioned`.

    One that is mentioned as present somewhere is present. Where nothing is, the question is about
    what is past or of somebody else. By `nearer`, "no appetite" is told from a denial where it
    rather means the entity, such as a loss of appetite.
    """
    places = list(_places(question, entities))
    said: dict[int, list[tuple[Mentioned, bool]]] = {number: [] for *_, number in places}
    carried = False
    for match in _SENTENCE.finditer(question):
        within = [
            (max(a, match.start()) - match.start(), min(b, match.end()) - match.start(), number)
            for a, b, number in places
            if match.start() <= a < match.end()
        ]
        sentence = _Sentence(match.group(), within, carried)
        for place, status, cued in sentence.statuses():
            entity = entities[place[2]]
            of_meaning = entity.by in ("embedding", "model") and status in ("denied", "past")
            if of_meaning and cued and nearer(cued, entity.surface, entity.name):
                status = "present"
            said[place[2]].append((status, sentence.tells))
        carried = sentence.is_of_other()
    own = any(status == "present" and tells for each in said.values() for status, tells in each)
    result = []
    for number, entity in enumerate(entities):
        statuses = [status for status, _ in said.get(number, ())]
        status = "present" if "present" in statuses or not statuses else statuses[0]
        result.append(replace(entity, status="present" if status == "other" and not own else status))
    if not any(e.id and e.status in ("present", "asked") for e in result):
        result = [replace(e, status="present") if e.status != "denied" else e for e in result]
    return result


def _places(question: str, entities: Sequence[LinkedEntity]) -> Iterator[_Place]:
    """Yield where the entities are mentioned, none within a longer mention."""
    found: list[_Place] = []
    for number, entity in enumerate(entities):
        pattern = _BEGIN + regex.escape(entity.surface) + _END
        spans = [match.span() for match in regex.finditer(pattern, question, regex.I)]
        if not spans:  # a model names it in words of its own
            stems = set(map(stem, regex.findall(r"\p{L}+", entity.surface.casefold())))
            words = regex.finditer(r"\p{L}+", question)
            spans = [word.span() for word in words if stem(word.group().casefold()) in stems]
        found += [(begin, end, number) for begin, end in spans]
    for begin, end, number in found:
        longer = (a <= begin and end <= b and (a, b) != (begin, end) for a, b, _ in found)
        if not any(longer):
            yield begin, end, number


@dataclass(frozen=True, slots=True)
class _Cue:
    status: Mentioned
    begin: int
    end: int


class _Sentence:
    """A sentence with its mentions; `carried` where it may go on about somebody else."""

    def __init__(self, text: str, places: Sequence[_Place], carried: bool) -> None:
        self.patterns = _patterns()
        # A cue that begins a mention linked by its meaning, as in "no fever", is none of its name.
        denied = self.patterns["denied before"]
        self.places = [
            (begin + (cue.end() if (cue := denied.match(text[begin:end])) else 0), end, number)
            for begin, end, number in places
        ]
        self.text = text
        masked = list(text)
        for begin, end, _ in self.places:
            masked[begin:end] = _MENTION * (end - begin)
        self.masked = "".join(masked)
        letter = self.patterns["forms letter"].search(self.masked) is not None
        asks = self.patterns["forms asks"].search(self.masked)
        phrase = _SUBJECT.match(self.masked)
        self.asked_from = None if letter else asks.start() if asks else 0 if phrase else None
        self.is_question = asks is not None or text.rstrip().endswith(("?", "？"))
        self.only_asks = asks_yes_or_no(self.text) and not letter
        #: Whether it tells something that is so.
        self.tells = not self.is_question and not self.patterns["forms opinion"].search(self.masked)
        self.carried = carried and _CARRIED_ON.match(text) is not None

    def is_of_other(self) -> bool:
        """Return whether the next sentence's "he" or "she" may be somebody else."""
        cue = self.patterns["other before"].search(self.masked)
        mine = cue is not None and cue.group().casefold().startswith(("my", "our", "我"))
        return mine or self.carried

    def statuses(self) -> Iterator[tuple[_Place, Mentioned, str]]:
        """Yield each mention with what is said of it, and its text with the cue in front."""
        before, after = ([], []) if self.only_asks else self._cues()
        for place in self.places:
            begin, end, _ = place
            forward = [cue for cue in before if cue.end <= begin and self._reaches(cue, begin)]
            back = [cue for cue in after if cue.begin >= end and self._reaches_back(cue, end)]
            cue = max(forward, key=lambda cue: cue.end, default=None)
            if cue and cue.status == "other" and back:
                cue = None
            cue = cue or min(back, key=lambda cue: cue.begin, default=None)
            status: Mentioned = cue.status if cue else "other" if self.carried else "present"
            if status == "denied" and cue in forward and self._is_asked(cue, end):
                status = "asked"
            near = cue is not None and begin - 20 <= cue.begin < begin
            yield place, status, self.text[cue.begin : end] if cue and near else ""

    def _is_asked(self, cue: _Cue, end: int) -> bool:
        """Return whether a question asks for what the cue denies; 没有 ... 的 ... 有哪些 too."""
        if self.asked_from is None or self.patterns["denied except"].match(self.text, cue.begin):
            return False
        return self.asked_from <= cue.begin or "的" in self.text[end : self.asked_from]

    def _cues(self) -> tuple[list[_Cue], list[_Cue]]:
        """Return the cues that speak of what follows them, and of what is in front of them."""
        find = self._find
        before = [*find("denied", "before"), *find("denied", "except")]
        after = [*find("denied", "after")]
        direct = [*find("denied", "next")]
        if self.asked_from is None:
            before += [*find("past", "before"), *find("other", "before")]
            after += [*find("past", "after"), *find("other", "after")]
            direct += find("past", "next")
            for cue in find("past", "had"):
                until = self._end(cue.end)
                if self.patterns["past times"].search(
                    self.masked[:until]
                ) and not self.patterns["past present"].search(self.masked[:until]):
                    was = self.masked[cue.begin : cue.end].casefold().startswith("w")
                    (direct if was else before).append(cue)
        else:
            verbs = _DENIED_VERB.finditer(self.masked)
            before += [_Cue("denied", *match.span()) for match in verbs]
        begins = {begin for begin, *_ in self.places}
        before += [
            cue for cue in direct if {cue.end, _AT_ONCE.match(self.masked, cue.end).end()} & begins
        ]
        nothing = [match.span() for match in self.patterns["nothing"].finditer(self.masked)]
        return tuple(
            [c for c in cues if not any(a <= c.begin < b for a, b in nothing)]
            for cues in (before, after)
        )

    def _find(self, status: Mentioned, name: str) -> Iterator[_Cue]:
        for match in self.patterns[f"{status} {name}"].finditer(self.masked):
            yield _Cue(status, *match.span())

    def _end(self, begin: int) -> int:
        """Return where the reach of a cue ends that ends at `begin`."""
        hard = self.patterns["ends"].search(self.masked, begin)
        end = hard.start() if hard else len(self.masked)
        article = self.patterns["articles"].search(self.masked, begin, end)
        if article and not regex.search(r"\bn?or\b", self.masked[article.end() : end], regex.I):
            return int(article.start())
        return int(end)

    def _reaches(self, cue: _Cue, begin: int) -> bool:
        word, between = self.masked[cue.begin : cue.end], self.masked[cue.end : begin]
        if self.patterns["denied except"].fullmatch(word) and not _IN_A_ROW.fullmatch(between):
            return False
        # Where each thing has a "no" of its own, the next one without it is there.
        if "," in between and word in self.masked[: cue.begin].split():
            return False
        return begin <= self._end(cue.end)

    def _reaches_back(self, cue: _Cue, end: int) -> bool:
        between = self.masked[end : cue.begin]
        if self.patterns["ends"].search(between) or self.patterns["back"].search(between):
            return False
        return not (_MENTION in between and _ONE.match(self.masked, cue.begin))
