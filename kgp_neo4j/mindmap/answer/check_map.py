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

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import regex

from kgp_neo4j.mindmap.aggregate import readable, same, same_relation
from kgp_neo4j.types.mindmap import GroundedShare, MapEdge, ReasoningGraph, Status, Triple

_WORDS = tomllib.loads(Path(__file__).with_name("relations.toml").read_text("utf-8"))
_DENIES = regex.compile(_WORDS["denies"], regex.IGNORECASE | regex.VERBOSE)
_BOTH_WAYS = regex.compile(_WORDS["both_ways"], regex.IGNORECASE | regex.VERBOSE)
_ASKER = frozenset(map(same, _WORDS["asker"]))

_Pair = tuple[str, str]
#: An edge's status, the triples that tell, and why.
_Verdict = tuple[Status, Sequence[Triple], str]


class Checker:
    """Compares edges with the evidence, by normalised names.

    Triples of the graph `beyond` what the model was shown ground an edge too; its note says so.
    """

    def __init__(self, reasoning: ReasoningGraph, beyond: Iterable[Triple] = ()) -> None:
        linked = [entity for entity in reasoning.entities if entity.id]
        # A name that is an entity of its own is no alias.
        own = {same(name) for t in reasoning.triples for name in (t.head, t.tail)}
        self._merged = {same(e.surface): same(e.name) for e in linked if same(e.surface) not in own}
        self._merged |= {same(a): same(b) for a, b in reasoning.merged.items()}
        self._question_keys = {self._key(e.name) for e in linked}
        self._shown = {triple.id for triple in reasoning.triples}
        self._between: defaultdict[_Pair, list[Triple]] = defaultdict(list)
        for triple in {t.id: t for t in (*beyond, *reasoning.triples)}.values():
            self._between[self._key(triple.head), self._key(triple.tail)].append(triple)
        pairs = self._between
        names = {name for pair in pairs for name in pair}
        self.entities = (self._question_keys | self._merged.keys() | names) - {""}
        relations = {pair: {same_relation(t.relation) for t in pairs[pair]} for pair in pairs}
        self.relations: set[str] = set().union(*relations.values())
        self._both_ways = {r for r in self.relations if _BOTH_WAYS.search(r)}
        self._inverses: set[_Pair] = set()
        for (head, tail), forward in relations.items():
            back = relations.get((tail, head), set())
            self._both_ways |= forward & back
            self._inverses |= {(a, b) for a in forward for b in back if a != b}

    def _key(self, name: str) -> str:
        key = same(name)
        return self._merged.get(key, key)

    def check(self, edges: Sequence[MapEdge]) -> tuple[MapEdge, ...]:
        """Return the edges in their order, each with its status and a note."""
        checked = []
        for edge in edges:
            status, triples, note = self._verdict(edge)
            ids = tuple(dict.fromkeys(t.id for t in triples))
            if status == "grounded" and not self._shown.intersection(ids):
                beyond = "the graph says so, beyond the evidence shown"
                note = f"{note}; {beyond}" if note else beyond
            checked.append(replace(edge, status=status, triples=ids, note=note))
        return tuple(checked)

    def _verdict(self, edge: MapEdge) -> _Verdict:
        head, tail = self._key(edge.head), self._key(edge.tail)
        forward = self._between.get((head, tail), [])
        back = self._between.get((tail, head), [])
        joining = [*forward, *back]
        if not joining:
            return self._not_joined(edge, head, tail)
        said = f"the graph says: {_triples_text(joining)}"
        contradiction: _Verdict = ("contradicts", joining, said)
        relation = same_relation(edge.relation)
        if relation not in self.relations:  # in the model's own words, or with no relation at all
            if _DENIES.search(edge.relation):
                return contradiction
            return "grounded", joining, "the relation is in the model's words" if relation else ""
        if exact := [t for t in forward if same_relation(t.relation) == relation]:
            return "grounded", exact, ""
        if turned := [t for t in back if same_relation(t.relation) == relation]:
            if relation in self._both_ways:
                return "grounded", turned, ""
            return "contradicts", turned, f"the other way round: {_triples_text(turned)}"
        if inverse := [t for t in back if (same_relation(t.relation), relation) in self._inverses]:
            return "grounded", inverse, f"as the inverse of: {_triples_text(inverse)}"
        return contradiction

    def _not_joined(self, edge: MapEdge, head: str, tail: str) -> _Verdict:
        asked = self._question_keys
        if (head in _ASKER and tail in asked) or (tail in _ASKER and head in asked):
            return "question", (), "the question says so"
        ends = {edge.head: head, edge.tail: tail}
        missing = [repr(name) for name, key in ends.items() if key not in self.entities]
        if missing:
            return "model", (), f"the evidence holds no {' and no '.join(missing)}"
        return "model", (), "the evidence holds both, but does not join them"


def grounded_share(edges: Sequence[MapEdge]) -> GroundedShare:
    """Return how much of a mind map is grounded, without edges that restate the question."""
    counts = Counter(edge.status for edge in edges)
    return GroundedShare(len(edges) - counts["question"], counts["grounded"], counts["contradicts"])


def _triples_text(triples: Sequence[Triple]) -> str:
    return "; ".join(f"{t.head} – {readable(t.relation)} → {t.tail}" for t in triples[:3])
