"""Checks every edge of a mind map against the evidence.

The rules are the same for every graph:

- The graph joins the two entities by the named relation: grounded. Where the model names none of
  the graph's relations, any relation between the two grounds the edge.
- The named relation joins them in the other direction only, and is not symmetric: contradicts.
- The graph joins the two by another of its relations: contradicts, unless it is the inverse of the
  named one (the evidence has both between some pair): grounded.
- The edge denies ("does not", 不) a relation that the graph has between the two: contradicts.
- Anything else is the model's own: an edge that the graph lacks is not a contradiction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.outline_reply import RawEdge
from kgp_neo4j.mindmap.answer.same_names import same, same_relation
from kgp_neo4j.types.mindmap import GroundedShare, MapEdge, ReasoningGraph, Status, Triple

__all__ = ["DENIES", "Checker", "grounded_share"]

#: Words that deny a relation.
DENIES = regex.compile(
    r"\b(?:not|no|never|cannot|can't|isn't|doesn't|don't|without|unrelated|excludes?)\b"
    r"|不|没有|无关|并非|未|排除",
    regex.IGNORECASE,
)
#: Names of the user: a mind map may begin with them, and no graph has them.
_ASKER = frozenset(
    map(same, ("patient", "the patient", "question", "query", "user", "I", "me", "person", "case",
               "symptoms", "患者", "病人", "问题", "用户", "我", "症状"))
)  # fmt: skip
#: Names of symmetric relations.
_BOTH_WAYS = regex.compile(
    r"\b(?:related|associated|similar|same|equal|connected|adjacent|neighbou?r|borders?|interacts?|"
    r"spouse|married|sibling|synonym|co ?occurs?|linked)\b|相关|相似|并发|伴随|相互|同义|相邻|配偶",
    regex.IGNORECASE,
)

_Pair = tuple[str, str]


class Checker:
    """Compares edges with the evidence, by normalised names.

    `beyond` are further triples of the graph that the model was not shown: they ground an edge too,
    and its note says so.
    """

    def __init__(self, reasoning: ReasoningGraph, beyond: Iterable[Triple] = ()) -> None:
        linked = [entity for entity in reasoning.entities if entity.id]
        self._merged = {same(e.surface): same(e.name) for e in linked}
        # A name that is an entity of its own is no alias.
        for triple in reasoning.triples:
            self._merged.pop(same(triple.head), None)
            self._merged.pop(same(triple.tail), None)
        self._merged |= {same(a): same(b) for a, b in reasoning.merged.items()}
        self._question_keys = {self._key(e.name) for e in linked}
        self._shown = {triple.id for triple in reasoning.triples}
        self._between: defaultdict[_Pair, list[Triple]] = defaultdict(list)
        self.entities: set[str] = {e for e in self._question_keys if e} | set(self._merged)
        self.relations: set[str] = set()
        seen: set[str] = set()
        for triple in (*reasoning.triples, *beyond):
            if triple.id not in seen:
                seen.add(triple.id)
                self._add(triple)
        self._both_ways, self._inverses = self._directions()

    def _add(self, triple: Triple) -> None:
        pair = self._key(triple.head), self._key(triple.tail)
        self._between[pair].append(triple)
        self.entities.update(pair)
        self.relations.add(same_relation(triple.relation))

    def _key(self, name: str) -> str:
        key = same(name)
        return self._merged.get(key, key)

    def _directions(self) -> tuple[set[str], set[_Pair]]:
        """Return the symmetric relations, and the pairs of relations that are inverses."""
        both: set[str] = set()
        inverses: set[_Pair] = set()
        for (head, tail), triples in self._between.items():
            there = {same_relation(t.relation) for t in triples}
            back = {same_relation(t.relation) for t in self._between.get((tail, head), ())}
            both |= there & back
            inverses |= {(a, b) for a in there for b in back if a != b}
        both |= {r for r in self.relations if _BOTH_WAYS.search(r)}
        return both, inverses

    def known(self, name: str) -> bool:
        """Return whether the evidence has an entity of this name."""
        return self._key(name) in self.entities

    def check(self, edges: Sequence[RawEdge]) -> tuple[MapEdge, ...]:
        """Return the edges in their order, each with its status and a note."""
        return tuple(map(self._checked, edges))

    def _checked(self, edge: RawEdge) -> MapEdge:
        head, tail, relation = (
            self._key(edge.head),
            self._key(edge.tail),
            same_relation(edge.relation),
        )
        there = self._between.get((head, tail), [])
        back = self._between.get((tail, head), [])
        if there or back:
            return self._check_joined(edge, relation, there, back)
        if (head in _ASKER and tail in self._question_keys) or (
            tail in _ASKER and head in self._question_keys
        ):
            return _edge_with(edge, "question", (), "the question says so")
        return _edge_with(edge, "model", (), self._ungrounded_note(edge, head, tail))

    def _ungrounded_note(self, edge: RawEdge, head: str, tail: str) -> str:
        missing = [
            name for name, key in ((edge.head, head), (edge.tail, tail)) if key not in self.entities
        ]
        if missing:
            return f"the evidence holds no {' and no '.join(repr(name) for name in missing)}"
        return "the evidence holds both, but does not join them"

    def _check_joined(
        self, edge: RawEdge, relation: str, there: list[Triple], back: list[Triple]
    ) -> MapEdge:
        """Check an edge between two entities that the graph joins in some way."""
        joining = [*there, *back]
        known_relation = relation if relation in self.relations else None
        if DENIES.search(edge.relation) and known_relation is None:
            return _edge_with(
                edge, "contradicts", joining, f"the graph says: {_triples_text(joining)}"
            )
        if known_relation is None:  # in the model's own words, or with no relation at all
            note = "" if not relation else "the relation is in the model's words"
            return self._grounded(edge, joining, note)
        if exact := [t for t in there if same_relation(t.relation) == known_relation]:
            return self._grounded(edge, exact, "")
        turned = [t for t in back if same_relation(t.relation) == known_relation]
        if turned and known_relation in self._both_ways:
            return self._grounded(edge, turned, "")
        if turned:
            note = f"the other way round: {_triples_text(turned)}"
            return _edge_with(edge, "contradicts", turned, note)
        inverse = [t for t in back if (same_relation(t.relation), known_relation) in self._inverses]
        if inverse:
            return self._grounded(edge, inverse, f"as the inverse of: {_triples_text(inverse)}")
        return _edge_with(edge, "contradicts", joining, f"the graph says: {_triples_text(joining)}")

    def _grounded(self, edge: RawEdge, triples: Sequence[Triple], note: str) -> MapEdge:
        if not any(t.id in self._shown for t in triples):
            beyond = "the graph says so, beyond the evidence shown"
            note = f"{note}; {beyond}" if note else beyond
        return _edge_with(edge, "grounded", triples, note)


def _edge_with(edge: RawEdge, status: Status, triples: Sequence[Triple], note: str) -> MapEdge:
    ids = tuple(dict.fromkeys(t.id for t in triples))
    return MapEdge(edge.head, edge.relation, edge.tail, status, ids, edge.evidence, note)


def _triples_text(triples: Sequence[Triple]) -> str:
    return "; ".join(f"{t.head} – {readable(t.relation)} → {t.tail}" for t in triples[:3])


def grounded_share(edges: Sequence[MapEdge], checker: Checker) -> GroundedShare:
    """Return how much of a mind map is grounded; edges that only restate the question count not."""
    claims = [edge for edge in edges if edge.status != "question"]
    names = {same(name): name for edge in claims for name in (edge.head, edge.tail)}
    return GroundedShare(
        edges=len(claims),
        grounded=sum(edge.status == "grounded" for edge in claims),
        contradicted=sum(edge.status == "contradicts" for edge in claims),
        names=len(names),
        known=sum(checker.known(name) for name in names.values()),
    )
