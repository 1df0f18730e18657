"""Matches the names and aliases of entities with the phrases of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.mindmap.link.name_forms import Phrase, content_stems, forms, is_han, name_words
from kgp_neo4j.types.mindmap import LinkedEntity

__all__ = ["Match", "Names", "begin_alike", "compound", "inflected"]

#: The score of a match, by its kind.
_SCORE = {"name": 1.0, "alias": 1.0, "words": 0.95}
#: Least share of a Chinese name, and least characters of it, that the question must have.
_HAN_PART = 0.75
_HAN_LEAST = 3
_ALTERNATIVES = 3


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase and the entities that it names, best first, with the kind and score of the match."""

    phrase: Phrase
    entities: tuple[Row, ...]
    by: str
    score: float

    def linked(self, by: str = "") -> LinkedEntity:
        """Return the match as a linked entity."""
        best, *others = self.entities
        return LinkedEntity(
            surface=self.phrase.text,
            id=best["id"],
            name=best["name"],
            type=best["type"],
            score=round(self.score, 4),
            by=by or self.by,
            alternatives=tuple((o["name"], round(self.score, 3)) for o in others[:_ALTERNATIVES]),
        )


class Names:
    """Looks up entities by the words, word forms and parts of their names."""

    def __init__(self, entities: Sequence[Row]) -> None:
        self._exact: dict[tuple[str, ...], list[tuple[int, str, Row]]] = {}
        self._stems: dict[tuple[str, ...], list[tuple[int, str, Row]]] = {}
        self._parts: dict[tuple[str, ...], list[tuple[float, Row]]] = {}
        # Of entities with the same name, the one with more relationships comes first.
        for entity in sorted(entities, key=lambda e: (-e["degree"], e["key"])):
            for name in (entity["name"], *entity["aliases"]):
                self._add(entity, name, name == entity["name"])

    def _add(self, entity: Row, name: str, own: bool) -> None:
        whole = name_words(name)
        for form in forms(name):
            by = ("name" if own else "alias") if form == whole else "words"
            rank = 0 if by == "name" else 1 if by == "alias" else 2
            self._exact.setdefault(form, []).append((rank, by, entity))
            if not is_han("".join(form)) and (stems := content_stems(form)):
                self._stems.setdefault(stems, []).append((rank, "words", entity))
        if is_han(name) and len(whole) > _HAN_LEAST:
            least = max(_HAN_LEAST, -int(-_HAN_PART * len(whole) // 1))
            for first in range(len(whole)):
                for after in range(first + least, len(whole) + 1):
                    part = whole[first:after]
                    if len(part) < len(whole):
                        share = len(part) / len(whole)
                        self._parts.setdefault(part, []).append((share, entity))

    def match(self, phrases: Sequence[Phrase]) -> list[Match]:
        """Return the phrases that name an entity, the longest ones where they overlap."""
        found = [match for phrase in phrases if (match := self._match_phrase(phrase))]
        # Phrases of the question come before those put together from two parts of it.
        found.sort(
            key=lambda m: (-m.score if m.score < 0.9 else -1.0, -len(m.phrase.words),
                           not m.phrase.places, -m.score, m.phrase.words)
        )  # fmt: skip
        matches: list[Match] = []
        for match in found:
            if not any(_covers(matches, match.phrase)):
                matches.append(match)
        return matches

    def _match_phrase(self, phrase: Phrase) -> Match | None:
        stems = content_stems(phrase.words)
        if phrase.places and {"and", "or"} & {*phrase.words}:
            stems = ()  # two things, as in "back pain and low back pain"
        if phrase.whole:
            stems = ()
        for rows in (self._exact.get(phrase.words), self._stems.get(stems) if stems else None):
            if rows:
                rows = sorted(rows, key=lambda row: row[0])
                entities = list({row[2]["id"]: row[2] for row in rows}.values())
                return Match(phrase, tuple(entities), rows[0][1], _SCORE[rows[0][1]])
        if parts := self._parts.get(phrase.words):
            parts = sorted(parts, key=lambda part: -part[0])
            entities = list({entity["id"]: entity for _, entity in parts}.values())
            return Match(phrase, tuple(entities), "words", parts[0][0])
        return None


def _covers(matches: Sequence[Match], phrase: Phrase) -> list[bool]:
    """Return for each match whether it and those before it cover a phrase completely."""
    if not phrase.places:
        return [
            {*content_stems(phrase.words)} <= {*content_stems(match.phrase.words)}
            for match in matches
        ]
    left = list(phrase.places)
    han = is_han(phrase.text)
    covered = []
    for match in matches:
        for begin, end in match.phrase.places:
            left = [
                (a, b)
                for a, b in left
                # In Chinese a character belongs to one name; English names may share a word.
                if not (a < end and begin < b if han else begin <= a and b <= end)
            ]
        covered.append(not left)
    return covered


# --- Similar words ---


def begin_alike(words: set[str], other_words: set[str]) -> bool:
    """Return whether a word of one name begins with the same five letters as one of the other."""
    return any(a[:5] == b[:5] for a in words for b in other_words if min(len(a), len(b)) >= 5)


def compound(words: set[str], other_words: set[str]) -> bool:
    """Return whether a word of one name is the start of a longer one: "tooth" of "toothache"."""
    return any(
        len(a) >= 3 and abs(len(a) - len(b)) >= 3 and (b.startswith(a) or a.startswith(b))
        for a in words
        for b in other_words
    )


def inflected(words: set[str], other_words: set[str]) -> bool:
    """Return whether two single words differ in their endings only ("nauseous", "nausea")."""
    if len(words) != 1 or len(other_words) != 1:
        return False
    (a,), (b,) = words, other_words
    return a[: min(len(a), len(b)) - 1] == b[: min(len(a), len(b)) - 1]
