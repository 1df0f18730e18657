"""Composes an answer from the evidence alone: it says nothing that a triple does not say."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.same_names import listed, same
from kgp_neo4j.mindmap.link.name_forms import is_han
from kgp_neo4j.types.mindmap import (
    Candidate,
    Facts,
    LinkedEntity,
    MapEdge,
    ReasoningGraph,
    Support,
    Triple,
)

__all__ = ["composed_edges", "composed_text", "rank_candidates", "route_text"]

_MOST_CANDIDATES = 5
_MOST_NAMES = 8
#: Least score of a candidate, as a share of the best one's.
_SCORE_SHARE = 0.5
#: Question entities further away do not support a candidate.
_MOST_HOPS = 2
#: Least share of triples with an end of one type, for candidates to be of that type.
_TYPE_SHARE = 0.9

#: Triples by the keys of their ends.
_Links = Mapping[str, Sequence[Triple]]
#: Names and types of entities by their keys, in the order of the evidence.
_Names = Mapping[str, tuple[str, str]]


def rank_candidates(
    reasoning: ReasoningGraph, limit: int = _MOST_CANDIDATES
) -> tuple[Candidate, ...]:
    """Return the entities that the question's entities lead to, best first, with their facts.

    Candidates are of the type that nearly all triples have at one end (the diseases of a medical
    graph); where there is no such type, the fewest entities that together touch all triples. Each
    is scored by the question entities within two hops. No rule depends on the graph's vocabulary.
    """
    triples = _with_merged_names(reasoning)
    links: dict[str, list[Triple]] = defaultdict(list)
    names: dict[str, tuple[str, str]] = {}
    for triple in triples:
        links[_head(triple)].append(triple)
        links[_tail(triple)].append(triple)
        names.setdefault(_head(triple), (triple.head, triple.head_type))
        names.setdefault(_tail(triple), (triple.tail, triple.tail_type))
    weights = _question_entities(reasoning.entities, names)
    routes = {entity: _routes(entity, links) for entity in weights}
    scores: dict[str, float] = {}
    for key in _possible(triples, names, weights):
        reached = [entity for entity in weights if key in routes[entity]]
        scores[key] = sum(weights[e][1] / max(len(routes[e][key]), 1) ** 2 for e in reached)
    order = list(names)
    best = max(scores.values(), default=0.0)
    ranked = sorted(
        (key for key, score in scores.items() if score > 0 and score >= _SCORE_SHARE * best),
        key=lambda key: (-scores[key], -len(links[key]), order.index(key)),
    )
    return tuple(
        Candidate(
            name=names[key][0],
            id=key,
            type=names[key][1],
            score=round(scores[key], 4),
            support=_support(key, weights, routes),
            facts=_facts(key, links[key], set(weights)),
        )
        for key in ranked[:limit]
    )


def _with_merged_names(reasoning: ReasoningGraph) -> list[Triple]:
    """Return the triples with merged entities under their representative's name and id."""
    ends = {t.head: (t.head_id, t.head_type) for t in reasoning.triples}
    ends |= {t.tail: (t.tail_id, t.tail_type) for t in reasoning.triples}
    renamed = []
    for triple in reasoning.triples:
        head = reasoning.merged.get(triple.head, triple.head)
        tail = reasoning.merged.get(triple.tail, triple.tail)
        if head in ends and head != triple.head:
            triple = replace(triple, head=head, head_id=ends[head][0], head_type=ends[head][1])
        if tail in ends and tail != triple.tail:
            triple = replace(triple, tail=tail, tail_id=ends[tail][0], tail_type=ends[tail][1])
        if _head(triple) != _tail(triple):
            renamed.append(triple)
    return renamed


def _head(triple: Triple) -> str:
    return triple.head_id or same(triple.head)


def _tail(triple: Triple) -> str:
    return triple.tail_id or same(triple.tail)


def _question_entities(
    entities: Sequence[LinkedEntity], names: _Names
) -> dict[str, tuple[str, float]]:
    """Return the question's entities that are in the evidence: name and weight by key."""
    weights: dict[str, tuple[str, float]] = {}
    for entity in entities:
        key = entity.id if entity.id in names else same(entity.name)
        if entity.name and key in names:
            weights.setdefault(key, (entity.name, max(min(entity.score, 1.0), 0.1)))
    return weights


def _routes(entity: str, links: _Links) -> dict[str, tuple[Triple, ...]]:
    """Return the shortest route from an entity to each one within reach."""
    routes: dict[str, tuple[Triple, ...]] = {entity: ()}
    queue = deque([entity])
    while queue:
        here = queue.popleft()
        for triple in links.get(here, ()) if len(routes[here]) < _MOST_HOPS else ():
            other = _tail(triple) if _head(triple) == here else _head(triple)
            if other not in routes:
                routes[other] = (*routes[here], triple)
                queue.append(other)
    return routes


def _possible(triples: Sequence[Triple], names: _Names, weights: Mapping[str, object]) -> list[str]:
    """Return the keys of the entities that can be candidates."""
    sizes = Counter(type_ for _, type_ in names.values() if type_)
    covered = {t: sum(t in (x.head_type, x.tail_type) for x in triples) for t in sizes}
    covering = [t for t in sizes if covered[t] >= _TYPE_SHARE * len(triples)]
    if covering:
        fewest = min(covering, key=lambda type_: (sizes[type_], type_))
        return [key for key, (_, type_) in names.items() if type_ == fewest]
    # Chosen greedily until they touch all triples; those not in the question first.
    pairs = {(_head(t), _tail(t)) for t in triples}
    order = {key: at for at, key in enumerate(names)}
    cover: list[str] = []
    while pairs:
        counts = Counter(key for pair in pairs for key in pair)
        best = max(counts, key=lambda key: (counts[key], key not in weights, -order[key]))
        cover.append(best)
        pairs = {pair for pair in pairs if best not in pair}
    return cover


def _support(
    key: str,
    weights: Mapping[str, tuple[str, float]],
    routes: Mapping[str, Mapping[str, tuple[Triple, ...]]],
) -> tuple[Support, ...]:
    supports = [
        Support(name, routes[entity][key], route_text(name, routes[entity][key]))
        for entity, (name, _) in weights.items()
        if key in routes[entity]
    ]
    return tuple(sorted(supports, key=lambda support: len(support.route)))


def route_text(start: str, route: Sequence[Triple]) -> str:
    """Write a route for people: `Fatigue – possible disease → Anemia`."""
    parts, here = [start], same(start)
    for triple in route:
        phrase = readable(triple.relation)
        forward = same(triple.head) == here
        here = same(triple.tail if forward else triple.head)
        parts.append(f" – {phrase} → {triple.tail}" if forward else f" ← {phrase} – {triple.head}")
    return "".join(parts)


def _facts(key: str, triples: Sequence[Triple], question_entities: set[str]) -> tuple[Facts, ...]:
    """Group a candidate's triples by relation; a pair joined both ways is listed outwards only."""
    outward = {_tail(t) for t in triples if _head(t) == key}
    groups: dict[tuple[str, bool], list[Triple]] = {}
    for triple in triples:
        inward = _head(triple) != key
        other = _head(triple) if inward else _tail(triple)
        if other not in question_entities and not (inward and other in outward):
            groups.setdefault((triple.relation, inward), []).append(triple)
    return tuple(
        Facts(
            relation=relation,
            phrase=readable(relation),
            names=tuple(dict.fromkeys(t.head if inward else t.tail for t in group)),
            triples=tuple(dict.fromkeys(t.id for t in group)),
            inward=inward,
        )
        for (relation, inward), group in groups.items()
    )


# --- In words ---


def composed_text(question: str, reasoning: ReasoningGraph, candidates: Sequence[Candidate]) -> str:
    """Return the answer in words, in the language of the question."""
    chinese = is_han(question)
    if not candidates:
        nothing = "知识图谱中没有与问题相关的内容。"
        return nothing if chinese else "The graph holds nothing on this question."
    linked = sum(1 for e in reasoning.entities if e.id)
    support = len(candidates[0].support)
    top = [c.name for c in candidates if c.score == candidates[0].score]
    lines = [
        f"证据最支持：{'、'.join(top)}（问题中的 {linked} 个实体里有 {support} 个指向它）。"
        if chinese
        else f"The evidence points most to {listed(top)} ({support} of {linked} entities of the "
        f"question speak for {'it' if len(top) == 1 else 'each'})."
    ]
    label, named = ("依据", "问题中提到") if chinese else ("supported by", "named in the question")
    for number, candidate in enumerate(candidates, 1):
        type_ = f" ({readable(candidate.type)})" if candidate.type else ""
        lines.append(f"{number}. {candidate.name}{type_}")
        lines += [f"   {label}: {s.text}" if s.route else f"   {named}" for s in candidate.support]
        for facts in candidate.facts:
            arrow = f"{facts.phrase} ←" if facts.inward else facts.phrase
            lines.append(f"   {arrow}: {_first_names(facts.names, chinese)}")
    return "\n".join(lines)


def _first_names(names: Sequence[str], chinese: bool) -> str:
    shown = ("、" if chinese else ", ").join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    if more <= 0:
        return shown
    return f"{shown} 等 {len(names)} 项" if chinese else f"{shown} and {more} more"


# --- As a mind map ---


def composed_edges(
    candidates: Sequence[Candidate], reasoning: ReasoningGraph
) -> tuple[MapEdge, ...]:
    """Return the mind map of a composed answer: the routes to the candidates, and their facts."""
    ids = [t.id for c in candidates for support in c.support for t in support.route]
    ids += [id_ for c in candidates for facts in c.facts for id_ in facts.triples]
    by_id = {triple.id: triple for triple in _with_merged_names(reasoning)}
    return tuple(
        MapEdge(t.head, t.relation, t.tail, "grounded", (t.id,))
        for t in (by_id[i] for i in dict.fromkeys(ids) if i in by_id)
    )
