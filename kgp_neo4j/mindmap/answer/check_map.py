"""Checks every edge of a mind map against the evidence.

What contradicts, and what does not, is decided for any graph alike:

- The same two entities joined by the relation named, or by any where none of the graph's is named:
  grounded. A relation in the model's own words says that the two are joined, and they are.
- The relation named joins them the other way round, and it is not one that goes both ways:
  contradicts.
- The graph joins the two, but by another relation than the one named: contradicts. The inverse of
  one that is there (the evidence shows both between some pair) is grounded.
- The edge denies ("does not", 不) what the graph says of the two: contradicts.
- Anything else is the model's own: a graph says nothing of what it does not hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.outline_reply import RawEdge
from kgp_neo4j.mindmap.answer.same_names import same, same_relation
from kgp_neo4j.types.mindmap import GroundedShare, MapEdge, ReasoningGraph, Status, Triple

__all__ = ["Checker", "carried"]

_DENIES = regex.compile(
    r"\b(?:not|no|never|cannot|can't|isn't|doesn't|don't|without|unrelated|excludes?)\b"
    r"|不|没有|无关|并非|未|排除",
    regex.IGNORECASE,
)
#: Who asks: a mind map may begin with them, and no graph holds them.
_ASKER = frozenset(
    map(same, ("patient", "the patient", "question", "query", "user", "I", "me", "person", "case",
               "symptoms", "患者", "病人", "问题", "用户", "我", "症状"))
)  # fmt: skip
#: Relations that say the same in both directions, by name.
_BOTH_WAYS = regex.compile(
    r"\b(?:related|associated|similar|same|equal|connected|adjacent|neighbou?r|borders?|interacts?|"
    r"spouse|married|sibling|synonym|co ?occurs?|linked)\b|相关|相似|并发|伴随|相互|同义|相邻|配偶",
    regex.IGNORECASE,
)

_Pair = tuple[str, str]


class Checker:
    """The evidence, ready to be compared with: by names that say the same.

    `beyond` are further triples of the graph that the model was not shown: they ground an edge too,
    and its note says so.
    """

    def __init__(self, reasoning: ReasoningGraph, beyond: Iterable[Triple] = ()) -> None:
        linked = [entity for entity in reasoning.entities if entity.id]
        self._merged = {same(e.surface): same(e.name) for e in linked}
        # What is an entity by its own name stands for itself.
        for triple in reasoning.triples:
            self._merged.pop(same(triple.head), None)
            self._merged.pop(same(triple.tail), None)
        self._merged |= {same(a): same(b) for a, b in reasoning.merged.items()}
        self._asked = {self._key(e.name) for e in linked}
        self._shown = {triple.id for triple in reasoning.triples}
        self._between: defaultdict[_Pair, list[Triple]] = defaultdict(list)
        self.entities: set[str] = {e for e in self._asked if e} | set(self._merged)
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
        """Return the relations seen to go both ways, and the pairs seen to be inverses."""
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
        """Return whether the evidence holds an entity of this name."""
        return self._key(name) in self.entities

    def check(self, edges: Sequence[RawEdge]) -> tuple[MapEdge, ...]:
        """Return the edges with what the evidence says of each, in their order."""
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
            return self._joined(edge, relation, there, back)
        if (head in _ASKER and tail in self._asked) or (tail in _ASKER and head in self._asked):
            return _made(edge, "question", (), "the question says so")
        return _made(edge, "model", (), self._why(edge, head, tail))

    def _why(self, edge: RawEdge, head: str, tail: str) -> str:
        missing = [
            name for name, key in ((edge.head, head), (edge.tail, tail)) if key not in self.entities
        ]
        if missing:
            return f"the evidence holds no {' and no '.join(repr(name) for name in missing)}"
        return "the evidence holds both, but does not join them"

    def _joined(
        self, edge: RawEdge, relation: str, there: list[Triple], back: list[Triple]
    ) -> MapEdge:
        """Check an edge between two entities that the graph joins in some way."""
        joining = [*there, *back]
        said = relation if relation in self.relations else None
        if _DENIES.search(edge.relation) and said is None:
            return _made(edge, "contradicts", joining, f"the graph says: {_told(joining)}")
        if said is None:  # in the model's own words, or with no relation at all
            note = "" if not relation else "the relation is in the model's words"
            return self._carried(edge, joining, note)
        if exact := [t for t in there if same_relation(t.relation) == said]:
            return self._carried(edge, exact, "")
        turned = [t for t in back if same_relation(t.relation) == said]
        if turned and said in self._both_ways:
            return self._carried(edge, turned, "")
        if turned:
            note = f"the other way round: {_told(turned)}"
            return _made(edge, "contradicts", turned, note)
        inverse = [t for t in back if (same_relation(t.relation), said) in self._inverses]
        if inverse:
            return self._carried(edge, inverse, f"as the inverse of: {_told(inverse)}")
        return _made(edge, "contradicts", joining, f"the graph says: {_told(joining)}")

    def _carried(self, edge: RawEdge, triples: Sequence[Triple], note: str) -> MapEdge:
        if not any(t.id in self._shown for t in triples):
            beyond = "the graph says so, beyond the evidence shown"
            note = f"{note}; {beyond}" if note else beyond
        return _made(edge, "grounded", triples, note)


def _made(edge: RawEdge, status: Status, triples: Sequence[Triple], note: str) -> MapEdge:
    ids = tuple(dict.fromkeys(t.id for t in triples))
    return MapEdge(edge.head, edge.relation, edge.tail, status, ids, edge.evidence, note)


def _told(triples: Sequence[Triple]) -> str:
    return "; ".join(f"{t.head} – {readable(t.relation)} → {t.tail}" for t in triples[:3])


def carried(edges: Sequence[MapEdge], checker: Checker) -> GroundedShare:
    """Return how much of a mind map the evidence carries; what the question says is no claim."""
    claims = [edge for edge in edges if edge.status != "question"]
    names = {same(name): name for edge in claims for name in (edge.head, edge.tail)}
    return GroundedShare(
        edges=len(claims),
        grounded=sum(edge.status == "grounded" for edge in claims),
        contradicted=sum(edge.status == "contradicts" for edge in claims),
        names=len(names),
        known=sum(checker.known(name) for name in names.values()),
    )
