"""Composes an answer from the evidence alone: it says nothing that a triple does not say."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.same_names import is_chinese, same
from kgp_neo4j.types.mindmap import (
    Candidate,
    Facts,
    LinkedEntity,
    MapEdge,
    ReasoningGraph,
    Support,
    Triple,
)

__all__ = ["composed_edges", "composed_text", "rank_candidates", "route_text", "with_merged_names"]

_MOST_CANDIDATES = 5
_MOST_NAMES = 8
#: Least score of a candidate, as a share of the best one's.
_SCORE_SHARE = 0.5
#: Question entities further away do not support a candidate.
_MOST_HOPS = 2
#: Least share of triples with an end of one type, for candidates to be of that type.
_TYPE_SHARE = 0.9

_Links = Mapping[str, Sequence[Triple]]


def rank_candidates(
    reasoning: ReasoningGraph, limit: int = _MOST_CANDIDATES
) -> tuple[Candidate, ...]:
    """Return the entities that the question's entities lead to, best first, with their facts.

    Candidates are of the type that nearly all triples have at one end (the diseases of a medical
    graph); where there is no such type, the fewest entities that together touch all triples. Each
    is scored by the question entities within two hops. No rule depends on the graph's vocabulary.
    """
    triples = with_merged_names(reasoning)
    if not triples:
        return ()
    links: dict[str, list[Triple]] = defaultdict(list)
    names: dict[str, tuple[str, str]] = {}
    for triple in triples:
        links[_head(triple)].append(triple)
        links[_tail(triple)].append(triple)
        names.setdefault(_head(triple), (triple.head, triple.head_type))
        names.setdefault(_tail(triple), (triple.tail, triple.tail_type))
    question_entities = _question_entities(reasoning.entities, names)
    routes = {entity: _routes(entity, links) for entity in question_entities}
    order = {key: at for at, key in enumerate(names)}
    ranking: list[tuple[float, int, int, str]] = []
    for key in _possible(triples, names, question_entities):
        score = 0.0
        for entity, (_, weight) in question_entities.items():
            if key in routes[entity]:
                score += weight / max(len(routes[entity][key]), 1) ** 2
        if score > 0:
            ranking.append((-score, -len(links[key]), order[key], key))
    ranking.sort()
    best = -ranking[0][0] if ranking else 0.0
    chosen = [(key, -score) for score, _, _, key in ranking if -score >= _SCORE_SHARE * best][
        :limit
    ]
    return tuple(
        Candidate(
            name=names[key][0],
            id=key,
            type=names[key][1],
            score=round(score, 4),
            support=_support(key, question_entities, routes),
            facts=_facts(key, links[key], set(question_entities)),
        )
        for key, score in chosen
    )


def with_merged_names(reasoning: ReasoningGraph) -> tuple[Triple, ...]:
    """Return the triples with merged entities under their representative's name and id."""
    ends = {t.head: (t.head_id, t.head_type) for t in reasoning.triples}
    ends |= {t.tail: (t.tail_id, t.tail_type) for t in reasoning.triples}
    renamed: list[Triple] = []
    for triple in reasoning.triples:
        head = reasoning.merged.get(triple.head, triple.head)
        tail = reasoning.merged.get(triple.tail, triple.tail)
        if head in ends and head != triple.head:
            triple = replace(triple, head=head, head_id=ends[head][0], head_type=ends[head][1])
        if tail in ends and tail != triple.tail:
            triple = replace(triple, tail=tail, tail_id=ends[tail][0], tail_type=ends[tail][1])
        if _head(triple) != _tail(triple):
            renamed.append(triple)
    return tuple(renamed)


def _head(triple: Triple) -> str:
    return triple.head_id or same(triple.head)


def _tail(triple: Triple) -> str:
    return triple.tail_id or same(triple.tail)


def _question_entities(
    entities: Sequence[LinkedEntity], names: Mapping[str, tuple[str, str]]
) -> dict[str, tuple[str, float]]:
    """Return the question's entities that are in the evidence: name and weight by key."""
    found: dict[str, tuple[str, float]] = {}
    for entity in entities:
        key = entity.id if entity.id in names else same(entity.name)
        if entity.name and key in names and key not in found:
            found[key] = entity.name, max(min(entity.score, 1.0), 0.1)
    return found


def _routes(entity: str, links: _Links) -> dict[str, tuple[Triple, ...]]:
    """Return the shortest route from an entity to each one within reach."""
    found: dict[str, tuple[Triple, ...]] = {entity: ()}
    left = deque([entity])
    while left:
        here = left.popleft()
        if len(found[here]) == _MOST_HOPS:
            continue
        for triple in links.get(here, ()):
            other = _tail(triple) if _head(triple) == here else _head(triple)
            if other not in found:
                found[other] = (*found[here], triple)
                left.append(other)
    return found


def _possible(
    triples: Sequence[Triple],
    names: Mapping[str, tuple[str, str]],
    question_entities: Mapping[str, object],
) -> list[str]:
    """Return the keys of the entities that can be candidates."""
    types = {kind for _, kind in names.values() if kind}
    covered = {t: sum(t in (x.head_type, x.tail_type) for x in triples) for t in types}
    covering = [t for t in types if covered[t] >= _TYPE_SHARE * len(triples)]
    if covering:
        size = {t: sum(kind == t for _, kind in names.values()) for t in covering}
        kind = min(covering, key=lambda t: (size[t], t))
        return [key for key, (_, type_) in names.items() if type_ == kind]
    return _cover(triples, names, question_entities)


def _cover(
    triples: Sequence[Triple],
    names: Mapping[str, tuple[str, str]],
    question_entities: Mapping[str, object],
) -> list[str]:
    """Choose entities greedily until they touch all triples; those not in the question first."""
    left = {(_head(t), _tail(t)) for t in triples}
    order = {key: at for at, key in enumerate(names)}
    cover: list[str] = []
    while left:
        counts: dict[str, int] = defaultdict(int)
        for pair in left:
            for key in set(pair):
                counts[key] += 1
        best = max(counts, key=lambda key: (counts[key], key not in question_entities, -order[key]))
        cover.append(best)
        left = {pair for pair in left if best not in pair}
    return cover


def _support(
    key: str,
    question_entities: Mapping[str, tuple[str, float]],
    routes: Mapping[str, Mapping[str, tuple[Triple, ...]]],
) -> tuple[Support, ...]:
    supports = [
        Support(name, routes[entity][key], route_text(name, routes[entity][key]))
        for entity, (name, _) in question_entities.items()
        if key in routes[entity]
    ]
    return tuple(sorted(supports, key=lambda support: len(support.route)))


def route_text(start: str, route: Sequence[Triple]) -> str:
    """Write a route for people: `Fatigue – possible disease → Anemia`."""
    parts, here = [start], same(start)
    for triple in route:
        phrase = readable(triple.relation)
        if same(triple.head) == here:
            parts.append(f" – {phrase} → {triple.tail}")
            here = same(triple.tail)
        else:
            parts.append(f" ← {phrase} – {triple.head}")
            here = same(triple.head)
    return "".join(parts)


def _facts(key: str, triples: Sequence[Triple], question_entities: set[str]) -> tuple[Facts, ...]:
    """Group a candidate's triples by relation; a pair joined both ways is listed outwards only."""
    outward = {_tail(t) for t in triples if _head(t) == key}
    groups: dict[tuple[str, bool], list[Triple]] = {}
    for triple in triples:
        inward = _head(triple) != key
        other = _head(triple) if inward else _tail(triple)
        if other in question_entities or (inward and other in outward):
            continue
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
    """Return the answer in words, in the language of the question; empty without evidence."""
    if not candidates:
        return ""
    chinese = is_chinese(question)
    linked = sum(1 for e in reasoning.entities if e.id)
    first, blocks = candidates[0], []
    top = [c.name for c in candidates if c.score == first.score]
    if chinese:
        head = f"证据最支持：{'、'.join(top)}"
        head += f"（问题中的 {linked} 个实体里有 {len(first.support)} 个指向它）。"
    else:
        head = (
            f"The evidence points most to {_joined(top)} "
            f"({len(first.support)} of {linked} entities of the question speak for "
            f"{'it' if len(top) == 1 else 'each'})."
        )
    for number, candidate in enumerate(candidates, 1):
        blocks.append(f"{number}. {candidate.name}{_type_note(candidate)}")
        for support in candidate.support:
            if support.route:
                label = "依据" if chinese else "supported by"
                blocks.append(f"   {label}: {support.text}")
            else:
                blocks.append("   问题中提到" if chinese else "   named in the question")
        for facts in candidate.facts:
            names = _first_names(facts.names, chinese)
            arrow = f"{facts.phrase} ←" if facts.inward else facts.phrase
            blocks.append(f"   {arrow}: {names}")
    return "\n".join([head, *blocks])


def _type_note(candidate: Candidate) -> str:
    return f" ({readable(candidate.type)})" if candidate.type else ""


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _first_names(names: Sequence[str], chinese: bool) -> str:
    shown = ("、" if chinese else ", ").join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    if more <= 0:
        return shown
    return f"{shown} 等 {len(names)} 项" if chinese else f"{shown} and {more} more"


# --- As a mind map ---


def composed_edges(
    candidates: Sequence[Candidate], triples: Sequence[Triple]
) -> tuple[MapEdge, ...]:
    """Return the mind map of a composed answer: the routes to the candidates, and their facts."""
    by_id = {triple.id: triple for triple in triples}
    ids: dict[str, None] = {}
    for candidate in candidates:
        for support in candidate.support:
            ids |= dict.fromkeys(t.id for t in support.route)
    for candidate in candidates:
        for facts in candidate.facts:
            ids |= dict.fromkeys(facts.triples)
    return tuple(
        MapEdge(t.head, t.relation, t.tail, "grounded", (t.id,))
        for t in (by_id[i] for i in ids if i in by_id)
    )
