"""Composes an answer from the evidence alone: it says nothing that a triple does not say."""

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import regex

from kgp_neo4j.mindmap.explore.asked_paths import asks_yes_or_no
from kgp_neo4j.mindmap.link.name_forms import is_han, listed, readable, same
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.mindmap import (
    Candidate,
    Facts,
    Lacking,
    LinkedEntity,
    MapEdge,
    ReasoningGraph,
    RelationPath,
    Support,
    Triple,
)

_MOST_CANDIDATES = 5
_MOST_NAMES = 8
#: Least score of a candidate, as a share of the best one's.
_SCORE_SHARE = 0.5
#: What an entity that the question denies takes from the score of a candidate that it speaks of.
_AGAINST = 0.75
#: Question entities further away do not support a candidate.
_MOST_HOPS = 2
#: Least share of triples with an end of one type, for candidates to be of that type.
_TYPE_SHARE = 0.9
#: What answers say, by language.
_TEXTS = msgspec.toml.decode(
    Path(__file__).with_name("texts.toml").read_bytes(), type=dict[str, dict[str, str]]
)


def said(name: str, chinese: bool, *values: object, **named: object) -> str:
    """Return a text of `texts.toml` in English or in Chinese, with the values in it."""
    return _TEXTS["zh" if chinese else "en"][name].format(*values, **named)


def rank_candidates(reasoning: ReasoningGraph) -> tuple[Candidate, ...]:
    """Return the entities that the question's entities lead to, best first, with their facts.

    Candidates are of the type that nearly all triples have at one end (the diseases of a medical
    graph); where there is no such type, the fewest entities that together touch all triples. Each
    is scored by the question entities within two hops; what the question denies of it counts
    against it. No rule depends on the graph's vocabulary.
    """
    if reasoning.lacking:
        found = (*reasoning.lacking.found, *reasoning.lacking.unrelated)[:_MOST_CANDIDATES]
        return tuple(Candidate(name, id_, type_, 1.0, ()) for id_, name, type_ in found)
    triples = _with_merged_names(reasoning)
    links: dict[str, list[Triple]] = defaultdict(list)
    #: Names and types of the entities by id, in the order of the evidence.
    names: dict[str, tuple[str, str]] = {}
    for triple in triples:
        links[triple.head_id].append(triple)
        links[triple.tail_id].append(triple)
        names.setdefault(triple.head_id, (triple.head, triple.head_type))
        names.setdefault(triple.tail_id, (triple.tail, triple.tail_type))
    asked = {e.id: e for e in reasoning.entities if e.id in names and e.status == "present"}
    denied = {e.id: e.name for e in reasoning.entities if e.status == "denied"}
    #: The question's entities that lead to an entity, each with its route.
    ways: dict[str, list[tuple[LinkedEntity, tuple[Triple, ...]]]] = defaultdict(list)
    for id_, entity in asked.items():
        for key, route in _routes(id_, links).items():
            ways[key].append((entity, route))
    scores = {
        key: sum(max(min(e.score, 1.0), 0.1) / max(len(route), 1) ** 2 for e, route in ways[key])
        for key in _possible(triples, names, asked)
        if key not in denied
    }
    speaking: dict[str, list[Support]] = defaultdict(list)
    for triple in reasoning.against:
        for id_, key in ((triple.head_id, triple.tail_id), (triple.tail_id, triple.head_id)):
            name = denied.get(id_)
            if name and not any(support.entity == name for support in speaking[key]):
                speaking[key].append(_support(name, (triple,)))
    least = _SCORE_SHARE * max(scores.values(), default=0.0)
    ranked = [key for key in names if scores.get(key, 0.0) > 0 and scores[key] >= least]
    # What speaks against a candidate is told, and ranks it lower.
    scores = {key: score - _AGAINST * len(speaking[key]) for key, score in scores.items()}
    ranked.sort(key=lambda key: (-scores[key], -len(links[key])))
    candidates = []
    for key in ranked[:_MOST_CANDIDATES]:
        name, type_ = names[key]
        nearest_first = sorted(ways[key], key=lambda way: len(way[1]))
        support = tuple(_support(entity.name, route) for entity, route in nearest_first)
        facts, against = _facts(key, links[key], asked), tuple(speaking[key])
        score = round(scores[key], 4)
        candidates.append(Candidate(name, key, type_, score, support, facts, against))
    return tuple(candidates)


def _with_merged_names(reasoning: ReasoningGraph) -> list[Triple]:
    """Return the triples with merged entities under their representative's name and id."""
    ends = {t.head: (t.head_id, t.head_type) for t in reasoning.triples}
    ends |= {t.tail: (t.tail_id, t.tail_type) for t in reasoning.triples}
    renamed = []
    for triple in reasoning.triples:
        if (head := reasoning.merged.get(triple.head, "")) in ends:
            triple = replace(triple, head=head, head_id=ends[head][0], head_type=ends[head][1])
        if (tail := reasoning.merged.get(triple.tail, "")) in ends:
            triple = replace(triple, tail=tail, tail_id=ends[tail][0], tail_type=ends[tail][1])
        if triple.head_id != triple.tail_id:
            renamed.append(triple)
    return renamed


def _other(triple: Triple, key: str) -> str:
    return triple.tail_id if triple.head_id == key else triple.head_id


def _routes(entity: str, links: Mapping[str, Sequence[Triple]]) -> dict[str, tuple[Triple, ...]]:
    """Return the shortest route from an entity to each one within reach."""
    routes: dict[str, tuple[Triple, ...]] = {entity: ()}
    queue = [entity]
    for here in queue:
        for triple in links[here] if len(routes[here]) < _MOST_HOPS else ():
            if (other := _other(triple, here)) not in routes:
                routes[other] = (*routes[here], triple)
                queue.append(other)
    return routes


def _possible(
    triples: Sequence[Triple], names: Mapping[str, tuple[str, str]], asked: Container[str]
) -> list[str]:
    """Return the ids of the entities that can be candidates."""
    sizes = Counter(type_ for _, type_ in names.values() if type_)
    covered = {t: sum(t in (x.head_type, x.tail_type) for x in triples) for t in sizes}
    covering = [t for t in sizes if covered[t] >= _TYPE_SHARE * len(triples)]
    if covering:
        fewest = min(covering, key=lambda type_: (sizes[type_], type_))
        return [key for key, (_, type_) in names.items() if type_ == fewest]
    # Chosen greedily until they touch all triples; those not in the question first.
    pairs = {(t.head_id, t.tail_id) for t in triples}
    cover: list[str] = []
    while pairs:
        counts = Counter(key for pair in pairs for key in pair)
        best = max(names, key=lambda key: (counts[key], key not in asked))
        cover.append(best)
        pairs = {pair for pair in pairs if best not in pair}
    return cover


def _support(entity: str, route: tuple[Triple, ...]) -> Support:
    return Support(entity, route, _route_text(entity, route))


def _route_text(start: str, route: Sequence[Triple]) -> str:
    """Write a route for people: `Fatigue – possible disease → Anemia`."""
    parts, here = [start], same(start)
    for triple in route:
        phrase = readable(triple.relation)
        forward = same(triple.head) == here
        here = same(triple.tail if forward else triple.head)
        parts.append(f" – {phrase} → {triple.tail}" if forward else f" ← {phrase} – {triple.head}")
    return "".join(parts)


def _facts(key: str, triples: Sequence[Triple], asked: Container[str]) -> tuple[Facts, ...]:
    """Group a candidate's triples by relation; a pair joined both ways is listed outwards only."""
    outward = {t.tail_id for t in triples if t.head_id == key}
    #: The names and the ids of the triples, by relation and direction.
    groups: dict[tuple[str, bool], tuple[dict[str, None], dict[str, None]]]
    groups = defaultdict(lambda: ({}, {}))
    for triple in triples:
        inward, other = triple.head_id != key, _other(triple, key)
        if other not in asked and not (inward and other in outward):
            names, ids = groups[triple.relation, inward]
            names[triple.head if inward else triple.tail] = ids[triple.id] = None
    return tuple(
        Facts(relation, readable(relation), tuple(names), tuple(ids), inward)
        for (relation, inward), (names, ids) in groups.items()
    )


def composed_text(question: str, reasoning: ReasoningGraph, candidates: Sequence[Candidate]) -> str:
    """Return the answer in words, in the language of the question."""
    chinese = is_han(question)
    if reasoning.lacking:
        return _lacking_text(reasoning.lacking, chinese)
    if not candidates:
        return said("nothing", chinese)
    linked = sum(1 for e in reasoning.entities if e.id and e.status == "present")
    top = [c.name for c in candidates if c.score == candidates[0].score]
    names, each = _listed(top, chinese), "it" if len(top) == 1 else "each"
    support = len(candidates[0].support)
    lines = [said("points", chinese, names=names, support=support, linked=linked, each=each)]
    label, named, denied = (said(x, chinese) for x in ("supported", "named", "denied_but"))
    for number, candidate in enumerate(candidates, 1):
        type_ = f" ({readable(candidate.type)})" if candidate.type else ""
        lines.append(f"{number}. {candidate.name}{type_}")
        lines += [f"   {label}: {s.text}" if s.route else f"   {named}" for s in candidate.support]
        lines += [f"   {denied}: {support.text}" for support in candidate.against]
        for facts in candidate.facts:
            arrow = f"{facts.phrase} ←" if facts.inward else facts.phrase
            lines.append(f"   {arrow}: {_first_names(facts.names, chinese)}")
    return "\n".join(lines)


def _lacking_text(lacking: Lacking, chinese: bool) -> str:
    """Write what the graph does not join to what the question asks for by its absence."""
    unrelated = [name for _, name, _ in lacking.unrelated]
    names = [*(name for _, name, _ in lacking.found), *unrelated]
    shown = _listed(names, chinese, lacking.total) if names else said("none_lacks", chinese)
    values = parts(lacking, "among", "total") | {"relation": readable(lacking.relation)}
    text = said("lacking", chinese, names=shown, absent=listed(lacking.entities), **values)
    if unrelated:
        text += said("unrelated", chinese, unrelated=listed(unrelated), **values)
    return text


def _first_names(names: Sequence[str], chinese: bool) -> str:
    shown, count = ("、" if chinese else ", ").join(names[:_MOST_NAMES]), len(names)
    if count <= _MOST_NAMES:
        return shown
    return said("first", chinese, names=shown, count=count, more=count - _MOST_NAMES)


def _listed(names: Sequence[str], chinese: bool, count: int = 0) -> str:
    return _first_names(names, chinese) if chinese else listed(names, count=count)


def composed_edges(
    candidates: Sequence[Candidate], reasoning: ReasoningGraph
) -> tuple[MapEdge, ...]:
    """Return the mind map of a composed answer: the routes to the candidates, and their facts."""
    ids = [t.id for c in candidates for support in c.support for t in support.route]
    ids += [id_ for c in candidates for facts in c.facts for id_ in facts.triples]
    if reasoning.lacking:
        ids = [triple.id for triple in reasoning.triples]
    by_id = {triple.id: triple for triple in _with_merged_names(reasoning)}
    return _edges([by_id[i] for i in dict.fromkeys(ids) if i in by_id])


# --- At the end of a relation path ---

#: Below the first probability no path counts as the one asked for, below the second it does not
#: for certain; chosen on development questions of PathQuestion and of a film graph.
_LEAST = 0.2
_CERTAIN = 0.5
#: A path so nearly as likely as the best says the same.
_ALIKE = 0.85
_MOST_ROUTES = 5
_COUNTS = regex.compile(
    r"^\W*(?:how many|what number of|what is the number of|count)\b|多少|几[个位家种名]", regex.I
)
#: An answer in words with the edges of its mind map; no edges where the graph does not say.
PathAnswer = tuple[str, tuple[MapEdge, ...]]


def answer_by_path(
    question: str, reasoning: ReasoningGraph, candidates: Sequence[Candidate]
) -> PathAnswer | None:
    """Return the answer at the end of the most probable relation path; None where none is meant.

    "How many" is answered by the number of ends. A question for yes or no is answered where the
    path from one of its entities leads to another one, or fits and leads elsewhere.
    """
    if (lacking := reasoning.lacking) and _COUNTS.search(question):
        return f"{lacking.total}: {_lacking_text(lacking, chinese=False)}", ()
    best = path_meant(reasoning, candidates)
    if best is None:
        return None
    yes_or_no = asks_yes_or_no(question) and sum(1 for e in reasoning.entities if e.id) > 1
    if yes_or_no:
        # Of the paths that say the same, one that leads to the other entity.
        least = _ALIKE * best.score
        alike = [path for path in reasoning.asked if path.score >= least]
        order = [entity.id for entity in reasoning.entities]
        best = max(alike, key=lambda p: (bool(p.reaches), -order.index(p.entity_id), p.score))
    chinese = is_han(question)
    if best.score < _LEAST or not (best.ends or yes_or_no):
        return said("silent", chinese), ()
    if not yes_or_no:
        ends = list(dict.fromkeys(best.end_of(route)[1] for route in best.routes))
        names = _listed(ends, chinese, best.ends)
        if _COUNTS.search(question):
            return _answer(said("counted", chinese, best.ends, names), best, chinese)
        return _answer(said("found", chinese, names), best, chinese)
    if not best.reaches:
        return _answer(said("no", chinese), best, chinese)
    if routes := tuple(r for r in best.routes if best.end_of(r)[1] in best.reaches):
        best = replace(best, routes=routes, ends=len(routes))
    return _answer(said("yes", chinese, _listed(best.reaches, chinese)), best, chinese)


def path_meant(reasoning: ReasoningGraph, candidates: Sequence[Candidate]) -> RelationPath | None:
    """Return the path that an answer follows; none if unsure, and entities agree on a candidate."""
    best = next(iter(reasoning.asked), None)
    agree = bool(candidates) and len(candidates[0].support) > 1
    return None if best and agree and best.score < _CERTAIN else best


def path_text(path: RelationPath) -> str:
    """Write a relation path for people: `Iron Lake – directed by → … ← written by – …`."""
    steps = (
        f" – {readable(relation)} → …" if forward else f" ← {readable(relation)} – …"
        for relation, forward in path.steps
    )
    restricted = f", with {path.restricted}" if path.restricted else ""
    return path.entity + "".join(steps) + restricted


def _answer(text: str, path: RelationPath, chinese: bool) -> PathAnswer:
    lines = [text if path.score >= _CERTAIN else said("doubted", chinese, text)]
    lines.append(said("path", chinese, path_text(path), path.score))
    lines += [f"   {_route_text(path.entity, route)}" for route in path.routes[:_MOST_ROUTES]]
    if path.ends > _MOST_ROUTES:
        lines.append(said("more", chinese, path.ends - _MOST_ROUTES))
    triples = dict.fromkeys(triple for route in path.routes for triple in route)
    return "\n".join(lines), _edges((*triples, *path.facts[:_MOST_ROUTES]))


def _edges(triples: Sequence[Triple]) -> tuple[MapEdge, ...]:
    return tuple(MapEdge(t.head, t.relation, t.tail, "grounded", (t.id,)) for t in triples)
