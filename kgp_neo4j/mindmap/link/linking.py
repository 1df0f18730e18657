"""Links a question to the entities of a knowledge graph that it names."""

import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import regex

from kgp_neo4j.environment.configuration import check_question
from kgp_neo4j.environment.files import read_toml
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.mindmap.explore.asked_paths import asks_yes_or_no
from kgp_neo4j.mindmap.link.name_forms import (
    QUANTITY,
    Match,
    Names,
    Phrase,
    agree,
    content_stems,
    content_words,
    is_han,
    key_of,
    likeness,
    most_slips,
    name_words,
    phrases,
    readable,
    spans,
)
from kgp_neo4j.mindmap.load.graphs import StoredGraph
from kgp_neo4j.models.engine import DEFAULT_ENCODER
from kgp_neo4j.text.safe import plain
from kgp_neo4j.text.words import MAX_WORD, WORD, stem
from kgp_neo4j.types.corpus import Write
from kgp_neo4j.types.mindmap import LinkedEntity, Mentioned
from kgp_neo4j.types.settings import LinkSettings

#: What stands before a word for what is looked for.
_WHICH = regex.compile(r"\b(?:which|what|how\s+many)\s+$", regex.I)
#: Phrases that are embedded for one question.
_EMBEDDED = 24
_LONGEST_EMBEDDED = 5
#: Most terms of the full-text query, far below Lucene's limit of clauses.
_TERMS = 200
#: Least letters of a stem that is searched as a prefix.
_PREFIX = 4
_ALTERNATIVES = 3
#: Least similarity of a name with more words than the phrase: it may name a narrower thing.
_NARROWER = 0.93
#: Least similarity of a name that shares some of the phrase's words, or has others as near.
_LOOK_ALIKE = 0.87
_FAR_AHEAD = 0.11
#: Least similarity to a relation of words that mean it, and how much above those of an entity.
_RELATION, _NEARER = 0.55, 0.2
#: Least similarity of a name that is listed as an alternative.
_WORTH_SHOWING = 0.5


def link(
    graph: StoredGraph,
    question: str,
    settings: LinkSettings | None = None,
    write: Write | None = None,
) -> list[LinkedEntity]:
    """Return the entities of a graph that a question names, in the question's order.

    With a model to `write`, it extracts the mentions by in-context examples, and each is linked to
    its nearest entity (MindMap, section 3.1); a mention too far from all entities has no id.
    Without a model, or when its reply is unusable, the question's phrases are matched with the
    graph's names and aliases in any word form, longest first, and the remaining ones by embeddings.
    Where nothing is linked, the nearest phrases are returned without an id, with alternatives.
    Each has its `status`. Raises ConfigurationError for a question too long or not Unicode.
    """
    check_question(question)
    linker = _Linker(graph, settings or LinkSettings())
    entities: list[LinkedEntity] = []
    if write is not None and (names := _extracted(question, write)):
        entities = linker.link_names(names)
    if not any(entity.id for entity in entities):
        entities = linker.link_question(question)

    def nearer(cued: str, bare: str, name: str) -> bool:
        first, second = graph.similarity([cued, bare], [name])[:, 0].tolist()
        return bool(first > second)

    return read_statuses(question, entities, nearer)


@dataclass(frozen=True, slots=True)
class _Linker:
    graph: StoredGraph
    settings: LinkSettings

    def link_question(self, question: str) -> list[LinkedEntity]:
        """Link the phrases of a question by name, and the remaining ones by embedding."""
        mentions = phrases(question)
        candidates = self._candidates(mentions, question)
        named = Names(candidates).match(mentions)
        named += self._by_spelling(mentions, named, candidates)
        near, suggestions = self._by_embedding(mentions, named, question)
        matches = [*named, *near]
        if not matches:
            return suggestions
        matches = self._without_relations(self._written_as_names(matches, question), question)
        best: dict[str, LinkedEntity] = {}
        for match in sorted(matches, key=lambda match: match.phrase.places[0]):
            entity = _linked(match)
            if entity.id not in best or entity.score > best[entity.id].score:
                # Assignment keeps the key's position, that of the first mention.
                best[entity.id] = entity
        return list(best.values())[: self.settings.entities]

    def _without_relations(self, matches: Sequence[Match], question: str) -> list[Match]:
        """Return the matches without phrases that mean a relation, not an entity of that name."""
        written = [m for m in matches if _is_written_as_name(m.phrase, question)]
        doubtful = [m for m in matches if m not in written and not is_han(m.phrase.text)]
        texts = [match.phrase.text.casefold() for match in doubtful]
        relations = [readable(name) for name in self.graph.relations]
        near = self.graph.similarity(texts, relations).max(axis=1, initial=0.0).tolist()
        least = max(_RELATION, min(near, default=0.0) + _NEARER)
        # An encoder does not see the "+" of A+.
        meant = [
            m
            for m, n in zip(doubtful, near, strict=True)
            if n >= least and agree(m.phrase.text, "")
        ]
        return [match for match in matches if match not in meant]

    def _written_as_names(self, matches: Sequence[Match], question: str) -> list[Match]:
        """Return the matches without words in small letters for names that are never written so.

        "Which mountains" names none either, where something else is named.
        That is told by other names in the question with capitals, and by names of its type.
        """
        written = [match for match in matches if _is_written_as_name(match.phrase, question)]
        # What stands behind "which" is looked for.
        asked = [m for m in matches if _WHICH.search(question[: m.phrase.places[0][0]])]
        matches = [m for m in matches if m in written or m not in asked] or matches
        small = [m for m in matches if written and m not in written and m.phrase.text.islower()]
        doubtful = [match for match in small if match.entities[0]["name"][:1].isupper()]
        names = self.graph.read("explore/written_names") if doubtful else []
        titled = {row["type"]: _are_titles(row["names"]) for row in names}
        rest = _are_titles([name for row in names for name in row["names"]])
        left = [m for m in doubtful if titled.get(m.entities[0]["type"], rest)]
        return [match for match in matches if match not in left]

    def link_names(self, names: Sequence[str]) -> list[LinkedEntity]:
        """Link the names that a model extracted."""
        mentions = [Phrase(name, name_words(name), ((0, len(name)),)) for name in names]
        mentions = [phrase for phrase in mentions if phrase.words]
        candidates = self._candidates(mentions, " . ".join(names))
        known = Names(candidates)
        matched = [match for phrase in mentions for match in known.match([phrase])]
        matched += self._by_spelling(mentions, matched, candidates)
        whole = {match.phrase.text: match for match in matched}
        near = self._nearest([phrase for phrase in mentions if phrase.text not in whole])
        linked: dict[str, LinkedEntity] = {}
        for phrase in mentions:
            found = whole.get(phrase.text)
            rows = found.entities if found else near.get(phrase.text, [])
            likely = rows and rows[0]["score"] >= self.settings.threshold - 0.1
            if likely and (found or agree(phrase.text, rows[0]["name"])):
                by = "spelling" if found and found.by == "spelling" else "model"
                entity = _linked(Match(phrase, rows, by))
            else:
                entity = _suggested(phrase, rows, "model")
            linked.setdefault(entity.id or f"?{phrase.text}", entity)
        return list(linked.values())[: self.settings.entities]

    def _candidates(self, mentions: Sequence[Phrase], text: str) -> list[Row]:
        keys = sorted({key_of(phrase.text) for phrase in mentions})
        return self.graph.read("explore/named_entities", keys=keys, terms=_terms(text))

    def _by_spelling(
        self, mentions: Sequence[Phrase], matches: Sequence[Match], known: Sequence[Row]
    ) -> list[Match]:
        """Return the phrases that are one name of the graph but for a letter or two.

        Words of names found as they are written are no such slips, nor are short ones.
        """
        taken = {word for match in matches for word in content_words(match.phrase.words)}
        used = taken | {word for row in known for word in name_words(row["name"])}
        rest = [p for p in mentions if p.plain and not p.whole]
        slips = {word for p in rest for word in p.words if most_slips(word) and word not in used}
        rest = [p for p in rest if slips & {*p.words}]
        if not rest:
            return []
        terms = " ".join(f"{word}~{most_slips(word)}" for word in sorted(slips)[:_TERMS])
        rows = self.graph.read("explore/named_entities", keys=[], terms=terms)
        found = []
        for phrase in rest:
            scored = [(score, row) for row in rows if (score := likeness(phrase, row, slips))]
            best = max((score for score, _ in scored), default=0.0)
            entities = [row | {"score": score} for score, row in scored if score == best]
            if len(entities) == 1:
                found.append(Match(phrase, entities, "spelling"))
        found.sort(key=lambda match: (-len(match.phrase.words), -match.score))
        return _without_common_words(found, taken)

    def _by_embedding(
        self, mentions: Sequence[Phrase], matches: Sequence[Match], question: str
    ) -> tuple[list[Match], list[LinkedEntity]]:
        """Return the phrases that mean an entity, and the nearest others with alternatives."""
        used = {word for match in matches for word in content_words(match.phrase.words)}
        rest = [p for p in mentions if p.plain and not p.whole and not used & {*p.words}]
        rest = [phrase for phrase in rest if self._can_embed(phrase)]
        near = self._nearest(rest[:_EMBEDDED])
        question_stems = {stem(word) for run in spans(question) for word, _, _ in run}
        ranked = [Match(p, near[p.text], "embedding") for p in rest if near.get(p.text)]
        ranked.sort(key=lambda match: (-match.score, match.phrase.text))
        accepted = [match for match in ranked if self._accepts(match, question_stems)]
        refused = [m for m in ranked if m.score >= _WORTH_SHOWING and m not in accepted]
        suggestions = _without_common_words(refused, set())[:_ALTERNATIVES]
        suggested = [_suggested(m.phrase, m.entities, m.by) for m in suggestions]
        return _without_common_words(accepted, used), suggested

    def _can_embed(self, phrase: Phrase) -> bool:
        if is_han(phrase.text):
            # The default encoder was not trained on Chinese.
            known = self.graph.encoder_name not in (None, DEFAULT_ENCODER)
            return known and 2 <= len(phrase.words) <= 8 and not QUANTITY.fullmatch(phrase.text)
        return len(phrase.words) <= _LONGEST_EMBEDDED and len(phrase.text) > 2

    def _accepts(self, match: Match, question_stems: set[str]) -> bool:
        rows, score = match.entities, match.score
        if not agree(match.phrase.text, rows[0]["name"]):
            return False
        ahead = score - (float(rows[1]["score"]) if len(rows) > 1 else 0.0)
        phrase_stems = {*content_stems(match.phrase.words)}
        name_stems = {*content_stems(name_words(rows[0]["name"]))}
        needed = self.settings.threshold
        if phrase_stems & name_stems:
            if name_stems - phrase_stems - question_stems or (
                len(phrase_stems) == 1 and name_stems != phrase_stems
            ):
                return score >= (_NARROWER if len(name_stems) > len(phrase_stems) else _LOOK_ALIKE)
            needed += 0.05 if len(phrase_stems) > 1 else 0.0
        elif len(phrase_stems) == 1 < len(name_stems):
            needed += 0.05
        if score >= needed:
            return ahead >= self.settings.margin or score >= _LOOK_ALIKE
        # A name far ahead of all others may score lower: few write "insomnia" for bad sleep.
        return ahead >= _FAR_AHEAD and score >= needed - (0.17 if len(phrase_stems) > 1 else 0.05)

    def _nearest(self, mentions: Sequence[Phrase]) -> dict[str, list[Row]]:
        encoder = self.graph.encoder
        if not mentions or encoder is None:
            return {}
        texts = [phrase.text for phrase in mentions]
        vectors = zip(texts, encoder.encode(texts).tolist(), strict=True)
        asked = [{"text": text, "vector": vector} for text, vector in vectors]
        most = _ALTERNATIVES + 1
        near: dict[str, list[Row]] = {}
        for row in self.graph.read("explore/nearest_entities", phrases=asked, limit=most):
            near.setdefault(row["phrase"], []).append(row)
        for phrase, found in near.items():
            near[phrase] = [row for row in found if agree(phrase, row["name"])] or found
        return near


def _are_titles(names: Sequence[str]) -> bool:
    """Return whether most names have a capital in each word, as those of people and works."""
    titles = []
    for _, *rest in map(str.split, names):
        words = [word for word in rest if word[:1].isalpha() and content_words([word.lower()])]
        titles += [all(word[:1].isupper() for word in words)] if words else []
    return 2 * sum(titles) > len(titles)


def _is_written_as_name(phrase: Phrase, question: str) -> bool:
    """Return whether a phrase has capitals or numbers, and not for beginning a sentence alone."""
    words = [word for word in phrase.text.split() if word.lower() in content_words([word.lower()])]
    begins = not regex.search(r"[^\s.?!]", question[: phrase.places[0][0]])
    cased = not question.islower()
    named = all(word[:1].isupper() or (cased and word[:1].isdigit()) for word in words)
    return named and (len(words) > begins or phrase.text[:1].isdigit())


def _without_common_words(matches: Sequence[Match], used: set[str]) -> list[Match]:
    """Return the first of the matches that share a content word with each other or with `used`."""
    apart = []
    for match in matches:
        words = content_words(match.phrase.words)
        if not used & words:
            used |= words
            apart.append(match)
    return apart


def _linked(match: Match) -> LinkedEntity:
    best, *others = match.entities
    named, score = (best["id"], best["name"], best["type"]), min(1.0, round(best["score"], 4))
    return LinkedEntity(match.phrase.text, *named, score, match.by, _alternatives(others))


def _suggested(phrase: Phrase, rows: Sequence[Row], by: str) -> LinkedEntity:
    """Return a phrase that is not linked, with the entities nearest to it."""
    return LinkedEntity(phrase.text, by=by, alternatives=_alternatives(rows))


def _alternatives(rows: Sequence[Row]) -> tuple[tuple[str, float], ...]:
    return tuple((row["name"], round(row["score"], 3)) for row in rows[:_ALTERNATIVES])


def _terms(text: str) -> str:
    """Return the terms of a full-text query: words, prefixes, and pairs of Chinese characters."""
    terms: dict[str, None] = {}
    for run in spans(text):
        words = [word for word, _, _ in run]
        for word, following in zip(words, [*words[1:], ""], strict=True):
            if is_han(word):
                if is_han(following):
                    terms[word + following] = None
                continue
            for part in regex.findall(WORD, word):
                if content_words([part]):
                    terms[part] = None
                    # The index does not stem: a prefix makes "weak" find "weakness".
                    if _PREFIX <= len(start := stem(part)) <= MAX_WORD:
                        terms[f"{start}*^0.2"] = None
    return " ".join(list(terms)[:_TERMS])


# --- Names from a model ---

_PROMPTS = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))
_LIST = regex.compile(r"\[[^\[\]]*\]")
_BULLET = regex.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
#: A model that names more, or longer ones, has not done what it was asked.
_MOST_NAMES = 20
_LONGEST_NAME = 100


def _extracted(question: str, write: Write) -> list[str]:
    """Return the entities that a model names in a question (MindMap, section 3.1): one call.

    They are those of the last list in brackets in its reply, or of lines with bullets. Any other
    reply has none, so that the caller can match names instead.
    """
    reply = write(_PROMPTS["entities"].format(question=" ".join(question.split())))
    for text in reversed(_LIST.findall(reply)):
        try:
            values = json.loads(text)
        except ValueError:
            values = [part.strip().strip("\"'“”‘’") for part in text[1:-1].split(",")]
        if names := _usable(values):
            return names
    return _usable([_BULLET.sub("", line) for line in reply.splitlines() if _BULLET.match(line)])


def _usable(values: Sequence[object]) -> list[str]:
    texts = [plain(value).strip(".。") for value in values if isinstance(value, str)]
    names = list(dict.fromkeys(text for text in texts if 0 < len(text) <= _LONGEST_NAME))
    return names if len(names) <= _MOST_NAMES else []


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
