"""Mines the reasoning graph of a question: link, explore, prune, aggregate (MindMap, I and II)."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, combinations, pairwise, zip_longest
from math import exp

from kgp_neo4j.environment.job import in_context, tell
from kgp_neo4j.mindmap.explore.asked_paths import explore_relation_paths, pairs_of, spend
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.link.name_forms import merge_names, readable, routes
from kgp_neo4j.mindmap.load.graphs import StoredGraph
from kgp_neo4j.models.encoder import embed
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.corpus import Write
from kgp_neo4j.types.mindmap import (
    EvidenceGraph,
    Lacking,
    LinkedEntity,
    Mentioned,
    ReasoningGraph,
    RelationPath,
    Triple,
)
from kgp_neo4j.types.settings import ExplorationSettings, MiningSettings

#: How steeply a relation's weight grows with its similarity to the question; tuned on dev.
_STEEP = 4.0


def mine(
    graph: StoredGraph,
    question: str,
    settings: MiningSettings | None = None,
    write: Write | None = None,
    linked: Sequence[LinkedEntity] | None = None,
) -> ReasoningGraph:
    """Return the reasoning graph of a question: its entities, the evidence and its routes.

    `write` is a model that extracts the entities, in one call, unless they are `linked` already.
    Raises ConfigurationError for text that is not Unicode.
    """
    chosen, began = settings or MiningSettings(), time.perf_counter()
    if linked is None:
        linked = link(graph, question, chosen.linking, write)
    tell("entities", lambda: linked)
    lacking = _find_lacking(graph, question, linked, chosen.size)
    entities = _of_status("present", linked)
    if lacking:
        shown = lacking.triples[: chosen.size]
        complete = [EvidenceGraph("neighbour", t.head, (t,), (t.head, t.tail)) for t in shown]
        asked, entities = [], []
    else:
        asked = explore_relation_paths(graph, question, entities, chosen) if chosen.paths else []
        asked = _without_denied(graph, linked, asked)
        # What several entities have in common, neighbours and shortest paths show best.
        share = 1.0 if len(entities) == 1 else chosen.path_share
        complete = spend(asked, int(chosen.size * share))
    known = pairs_of(t for each in complete for t in each.triples)
    left = chosen.size - len(known)
    paths, near = _around(graph, question, entities, chosen) if entities and left > 0 else ([], [])
    pruned, left_out = prune(paths, near, left, path_share=chosen.path_share, known=known)
    evidence = (*complete, *pruned)
    triples = tuple(dict.fromkeys(t for each in evidence for t in each.triples))
    names = {i: n for t in triples for i, n in ((t.head_id, t.head), (t.tail_id, t.tail))}
    explored = {i for e in (*paths, *near) for t in e.triples for i in (t.head_id, t.tail_id)}
    ids = sorted(explored & names.keys())
    rows = graph.database.read("explore/entities", entities=ids) if ids else []
    aliases = {row["id"]: row["aliases"] for row in rows}
    found = [{"name": names[i], "aliases": aliases.get(i, ())} for i in sorted(names)]
    merged = merge_names(found, [entity.name for entity in entities])
    reasoning = ReasoningGraph(
        entities=tuple(linked),
        evidence=evidence,
        triples=triples,
        routes=tuple(routes(evidence, merged)),
        merged=merged,
        asked=tuple(asked[:5]),  # more are not shown
        against=_against(graph, linked, (i for t in triples for i in (t.head_id, t.tail_id))),
        lacking=lacking,
        left_out=left_out,
        seconds=time.perf_counter() - began,
    )
    tell("evidence", lambda: reasoning)
    return reasoning


def _around(
    graph: StoredGraph, question: str, entities: Sequence[LinkedEntity], settings: MiningSettings
) -> tuple[list[EvidenceGraph], list[EvidenceGraph]]:
    """Return the paths between entities and the triples around them."""
    vector: list[float] = []
    weights = {}
    if encoder := graph.encoder:
        vector = embed(encoder, [question])[0].tolist()
        near = graph.similarity([readable(name) for name in graph.relations], [question])[:, 0]
        cosines = zip(graph.relations, near.tolist(), strict=True)
        weights = {relation: exp(_STEEP * cosine) for relation, cosine in cosines}
    with ThreadPoolExecutor(1) as beside:
        # Both at once: between hubs, and before the server has planned them, each takes a while.
        starts = entities if settings.paths else []
        joining = beside.submit(in_context(explore_paths), graph, starts, settings.exploration)
        # Without paths each on its own, in turn; twice as many as are kept, to have a choice.
        groups = [entities] if settings.paths else [[entity] for entity in entities]
        limits = settings.exploration, 2 * settings.size
        around = [
            explore_neighbours(graph, group, *limits, vector, weights) for group in groups if group
        ]
        paths = joining.result()
    neighbours = [each for each in chain.from_iterable(zip_longest(*around)) if each]
    if not settings.neighbours:
        neighbours = [each for each in neighbours if each.kind == "path"]
    return paths, neighbours


def explore_paths(
    graph: StoredGraph, linked: Sequence[LinkedEntity], settings: ExplorationSettings
) -> list[EvidenceGraph]:
    """Return the paths from each entity through the others, shortest first.

    A path goes on to the nearest unvisited entity within `hops`; without one, another begins.
    """
    if len(linked) < 2:
        return []
    ids, milliseconds = [entity.id for entity in linked], int(settings.seconds * 1000)
    limits = {"maxHops": settings.hops, "limit": settings.paths, "timeout": milliseconds}
    paths = []
    for row in graph.read("procedures/paths", entities=ids, **limits):
        triples = tuple(Triple(**edge) for edge in row["edges"])
        nodes = tuple(dict.fromkeys(node["name"] for node in row["path"]))
        paths.append(EvidenceGraph("path", nodes[0], triples, nodes, row["score"]))
    return paths


def explore_neighbours(
    graph: StoredGraph,
    linked: Sequence[LinkedEntity],
    settings: ExplorationSettings,
    size: int,
    vector: Sequence[float] = (),
    relations: Mapping[str, float] | None = None,
) -> list[EvidenceGraph]:
    """Return the triples around the entities as `size` sub-graphs of one triple each, best first.

    `vector` is the question's embedding, `relations` a weight for each relationship type. A triple
    between two of the entities is of the kind `path`.
    """
    asked = {"entities": [each.id for each in linked], "weights": [each.score for each in linked]}
    asked |= {"vector": list(vector), "relations": dict(relations or {})}
    limits = {"limit": size, **parts(settings, "expand", "fan")}
    found = []
    for row in graph.read("procedures/evidence", **asked, **limits):
        entity, source, near = (row[at]["name"] for at in ("entity", "source", "neighbour"))
        triple = Triple(**row["edge"])
        found.append(EvidenceGraph(row["kind"], entity, (triple,), (source, near), row["score"]))
    return found


def shortest_paths(
    graph: StoredGraph, linked: Sequence[LinkedEntity], size: int
) -> list[EvidenceGraph]:
    """Return the shortest path of each two entities, shortest first: appendix C's KG retriever."""
    settings = replace(ExplorationSettings(), paths=1)
    pairs = combinations([entity for entity in linked if entity.id], 2)
    paths = [path for pair in pairs for path in explore_paths(graph, pair, settings)]
    paths.sort(key=lambda path: (len(path.triples), path.nodes))
    return prune(paths, [], size, path_share=1.0)[0]


def prune(
    paths: Sequence[EvidenceGraph],
    neighbours: Sequence[EvidenceGraph],
    size: int,
    *,
    path_share: float = 0.2,
    known: Set[frozenset[str]] = frozenset(),
) -> tuple[list[EvidenceGraph], int]:
    """Keep `size` triples at most; return paths and neighbourhoods, and the number left out.

    Triples of the same pair of entities count once. Whole paths take `path_share` of the size, the
    rest goes to the single triples of `neighbours` by rank (the paper draws a random sample). The
    neighbours chosen are joined to one sub-graph for each entity that they begin at. `known` are
    pairs that other evidence has: they are left out.
    """
    pairs = set(known)
    size += len(pairs)
    chosen: list[EvidenceGraph] = []
    for path in paths:
        new = pairs_of(path.triples) - pairs
        # The first path may use the whole size; a path that adds no pair is left out.
        if new and len(pairs | new) <= (size * path_share if chosen else size):
            pairs |= new
            chosen.append(path)
    #: Triples between question entities by where they lead, others by where they begin.
    between, around = (defaultdict[str, list[EvidenceGraph]](list) for _ in range(2))
    for single in neighbours:
        if len(pairs) < size and (new := pairs_of(single.triples) - pairs):
            pairs |= new
            is_path = single.kind == "path"
            (between[single.nodes[-1]] if is_path else around[single.entity]).append(single)
    for singles in between.values():
        # Triples that lead to one neighbour are paths between question entities.
        chosen += [
            _joined(pair, sum(x.score for x in pair)) for pair in pairwise(singles)
        ] or singles
    chosen += [_joined(singles, max(x.score for x in singles)) for singles in around.values()]
    return chosen, len(pairs_of(t for each in (*paths, *neighbours) for t in each.triples) - pairs)


def _joined(singles: Sequence[EvidenceGraph], score: float) -> EvidenceGraph:
    triples = tuple(triple for single in singles for triple in single.triples)
    nodes = tuple(dict.fromkeys(name for single in singles for name in single.nodes))
    return EvidenceGraph(singles[0].kind, singles[0].entity, triples, nodes, score)


# --- What the question denies, or asks for by its absence ---


def _find_lacking(
    graph: StoredGraph, question: str, linked: Sequence[LinkedEntity], limit: int
) -> Lacking | None:
    """Return what the graph does not join to the entities asked for by their absence.

    It is a difference: of what has the relation asked for, without what has it to one of them. Of
    the relations of the first of these it is the one nearest to the question. None where no absence
    is asked for, or the graph joins these entities to nothing.
    """
    asked = _of_status("asked", linked)
    if not asked:
        return None
    rows = graph.read("explore/relation_paths", entity=asked[0].id, weights={}, hops=1)
    if not rows:
        return None
    steps = [(row["relations"][0], row["forward"][0]) for row in rows]
    words = question
    for entity in linked:
        words = words.replace(entity.surface, " ")
    near = graph.similarity([readable(relation) for relation, _ in steps], [words])[:, 0]
    relation, outward = steps[int(near.argmax())]
    ids, others = ([each.id for each in of] for of in (asked, _of_status("present", linked)))
    wanted = {"relation": relation, "forward": not outward, "question": question, "limit": limit}
    rows = graph.read("explore/lacking", entities=ids, others=others, **wanted)
    found, unrelated = (
        tuple((row["id"], row["name"], row["type"]) for row in rows if row["related"] is related)
        for related in (True, False)
    )
    total, among = (rows[0]["total"], rows[0]["among"]) if rows else (0, 0)
    triples = tuple(Triple(**edge) for row in rows for edge in row["edges"])
    names = tuple(entity.name for entity in asked)
    return Lacking(relation, names, found, unrelated, total, among, triples)


def _against(
    graph: StoredGraph, linked: Sequence[LinkedEntity], ids: Iterable[str]
) -> tuple[Triple, ...]:
    """Return the triples by which the question's denied entities are joined to those of `ids`."""
    denied = [entity.id for entity in _of_status("denied", linked)]
    rows = graph.read("explore/between", entities=sorted({*ids}), others=denied) if denied else []
    return tuple(dict.fromkeys(Triple(**row["edge"]) for row in rows))


def _without_denied(
    graph: StoredGraph, linked: Sequence[LinkedEntity], paths: Sequence[RelationPath]
) -> list[RelationPath]:
    """Return relation paths without the ends that are joined to what the question denies."""
    ends_of = [{path.end_of(route)[0] for route in path.routes} for path in paths]
    ends, denied = set().union(*ends_of), _of_status("denied", linked)
    speaking = _against(graph, linked, ends)
    barred = {end for triple in speaking for end in (triple.head_id, triple.tail_id)}
    barred |= {entity.id for entity in denied}
    if not ends & barred:
        return list(paths)
    why = f"none joined to {' or '.join(entity.name for entity in denied)}"
    kept = []
    for path, there in zip(paths, ends_of, strict=True):
        if left := there - barred:
            if left != there:
                ends_left = path.ends - len(there & barred)
                restricted = path.restricted or why
                path = replace(path.with_ends(left), ends=ends_left, restricted=restricted)
            kept.append(path)
    return kept


def _of_status(status: Mentioned, linked: Sequence[LinkedEntity]) -> list[LinkedEntity]:
    return [entity for entity in linked if entity.id and entity.status == status]
