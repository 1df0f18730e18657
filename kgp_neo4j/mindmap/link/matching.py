"""Matches the names and aliases of entities with the phrases of a question."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import ceil

from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.mindmap.link.name_forms import (
    Phrase,
    content_stems,
    forms,
    is_han,
    name_words,
    spelling,
)

#: The score of a name or alias as it is, and of one in another form or order.
_EXACT, _IN_WORDS = 1.0, 0.95
#: Least share of a Chinese name, and least characters of it, that the question must have.
_HAN_PART = 0.75
_HAN_LEAST = 3
#: Letters of a name that may be wrong at most, and letters of it at least.
_MOST_SLIPS, _LEAST_LETTERS = 2, 7


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase and the entities that it names, best first, each with its `score`."""

    phrase: Phrase
    entities: Sequence[Row]
    by: str

    @property
    def score(self) -> float:
        """The score of the best entity."""
        return float(self.entities[0]["score"])


class Names:
    """Looks up entities by the words, word forms and parts of their names."""

    def __init__(self, entities: Sequence[Row]) -> None:
        #: By words, by stems, and by parts of a Chinese name: score, kind of match and entity.
        self._exact: dict[tuple[str, ...], list[tuple[float, str, Row]]] = {}
        self._stems: dict[tuple[str, ...], list[tuple[float, str, Row]]] = {}
        self._parts: dict[tuple[str, ...], list[tuple[float, str, Row]]] = {}
        # Of entities with the same name, the one with more relationships comes first.
        for entity in sorted(entities, key=lambda e: (-e["degree"], e["key"])):
            for name in (entity["name"], *entity["aliases"]):
                self._add(entity, name)

    def _add(self, entity: Row, name: str) -> None:
        whole = name_words(name)
        for form in forms(name):
            by = "name" if name == entity["name"] else "alias"
            match = (_EXACT, by, entity) if form == whole else (_IN_WORDS, "words", entity)
            self._exact.setdefault(form, []).append(match)
            if not is_han("".join(form)) and (stems := content_stems(form)):
                self._stems.setdefault(stems, []).append((_IN_WORDS, "words", entity))
        if is_han(name) and len(whole) > _HAN_LEAST:
            least = max(_HAN_LEAST, ceil(_HAN_PART * len(whole)))
            for first in range(len(whole)):
                for after in range(first + least, len(whole) + 1):
                    share = (after - first) / len(whole)
                    # What is not Chinese, as B12 of 维生素B12, is never left out.
                    if share < 1 and all(map(is_han, (*whole[:first], *whole[after:]))):
                        part = self._parts.setdefault(whole[first:after], [])
                        part.append((share, "words", entity))

    def match(self, phrases: Sequence[Phrase]) -> list[Match]:
        """Return the phrases that name an entity, the longest ones where they overlap."""

        def rank(match: Match) -> tuple[float, int, float, tuple[str, ...]]:
            score, words = match.score, match.phrase.words
            return -score if score < 0.9 else -1.0, -len(words), -score, words

        matches: list[Match] = []
        for match in sorted(filter(None, map(self._match_phrase, phrases)), key=rank):
            if not _is_covered(match.phrase, [other.phrase for other in matches]):
                matches.append(match)
        return matches

    def _match_phrase(self, phrase: Phrase) -> Match | None:
        words, own = phrase.words, spelling(phrase.text)
        # Two things, as in "back pain and low back pain", are not one name in another order.
        is_one = not phrase.whole and not {"and", "or"} & {*words}
        stems = content_stems(words) if is_one else ()
        rows = self._exact.get(words) or self._stems.get(stems) or self._parts.get(words)
        if not rows:
            return None
        rows = sorted(rows, key=lambda r: (-r[0], spelling(r[2]["name"]) != own, r[1] == "alias"))
        score, by, _ = rows[0]
        entities = {entity["id"]: {**entity, "score": score} for *_, entity in rows}
        return Match(phrase, tuple(entities.values()), by)


def _is_covered(phrase: Phrase, others: Sequence[Phrase]) -> bool:
    places = [place for other in others for place in other.places]
    if is_han(phrase.text):  # a Chinese character belongs to one name; English ones share words
        return all(any(a < end and begin < b for begin, end in places) for a, b in phrase.places)
    return all(any(begin <= a and b <= end for begin, end in places) for a, b in phrase.places)


# --- Slips of spelling ---


def most_slips(word: str) -> int:
    """Return how many letters of a word may be wrong: none of a short one, a number or a symbol."""
    return 0 if len(word) < 5 or not word.isalpha() or is_han(word) else 1 if len(word) < 9 else 2


def likeness(phrase: Phrase, entity: Row, slips: Collection[str]) -> float:
    """Return the share of a phrase's letters that an entity's name or alias has, in its order.

    It is 0 unless all words are the same but for `slips`, which may have slips of spelling.
    """
    letters, least = sum(map(len, phrase.words)), _MOST_SLIPS + 1
    for words in (form for name in (entity["name"], *entity["aliases"]) for form in forms(name)):
        if len(words) == len(phrase.words):
            pairs = zip(phrase.words, words, strict=True)
            least = min(least, sum(_apart(given, own, slips) for given, own in pairs))
    return 1 - least / letters if least <= _MOST_SLIPS and letters >= _LEAST_LETTERS else 0.0


def _apart(given: str, own: str, slips: Collection[str]) -> int:
    """Return by how many letters two words differ, or more than may be where these are too many."""
    if given == own:
        return 0
    if given not in slips or not own.isalpha() or given[0] != own[0]:
        return _MOST_SLIPS + 1
    steps = SequenceMatcher(None, given, own, autojunk=False).get_opcodes()
    apart = sum(max(b - a, d - c) for step, a, b, c, d in steps if step != "equal")
    if apart == 2 and sorted(given) == sorted(own):
        apart = 1  # two letters are swapped
    return apart if apart <= most_slips(given) else _MOST_SLIPS + 1
