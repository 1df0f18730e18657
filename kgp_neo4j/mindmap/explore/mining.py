"""Mines the reasoning graph of a question: link, explore, prune, aggregate (MindMap, I and II)."""

import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import exp
from typing import Any

from kgp_neo4j.environment.job import in_context, tell
from kgp_neo4j.mindmap.aggregate import merge_names, readable, routes
from kgp_neo4j.mindmap.explore.asked_paths import explore_relation_paths, spend
from kgp_neo4j.mindmap.explore.exploration import explore_neighbours, explore_paths, pairs_of, prune
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.load.graphs import StoredGraph
from kgp_neo4j.models.encoder import embed
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.mindmap import (
    EvidenceGraph,
    Lacking,
    LinkedEntity,
    ReasoningGraph,
    RelationPath,
    Triple,
)
from kgp_neo4j.types.settings import MiningSettings

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
    entities = [entity for entity in linked if entity.id and entity.status == "present"]
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
    explored = {i for e in (*paths, *near) for t in e.triples for i in (t.head_id, t.tail_id)}
    merged = merge_names(_entities(graph, triples, explored), [e.name for e in entities])
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
        neighbours = explore_neighbours(
            graph,
            entities,
            settings.exploration,
            # Twice as many as are kept, so that pruning has a choice.
            2 * settings.size,
            vector=vector,
            relations=weights,
            apart=not settings.paths,
        )
        paths = joining.result()
    if not settings.neighbours:
        neighbours = [each for each in neighbours if each.kind == "path"]
    return paths, neighbours


def _entities(
    graph: StoredGraph, triples: Sequence[Triple], explored: set[str]
) -> list[Mapping[str, Any]]:
    """Return the entities of triples: name, type, of those explored aliases and embedding too."""
    entities: dict[str, Mapping[str, Any]] = {}
    for triple in triples:
        entities[triple.head_id] = {"name": triple.head, "type": triple.head_type}
        entities[triple.tail_id] = {"name": triple.tail, "type": triple.tail_type}
    if ids := sorted(explored & entities.keys()):
        rows = graph.database.read("explore/entities", entities=ids)
        entities |= {row.pop("id"): row for row in rows}
    return [entities[id_] for id_ in sorted(entities)]


# --- What the question denies, or asks for by its absence ---


def _find_lacking(
    graph: StoredGraph, question: str, linked: Sequence[LinkedEntity], limit: int
) -> Lacking | None:
    """Return what the graph does not join to the entities asked for by their absence.

    It is a difference: of what has the relation asked for, without what has it to one of them. Of
    the relations of the first of these it is the one nearest to the question. None where no absence
    is asked for, or the graph joins these entities to nothing.
    """
    asked = [entity for entity in linked if entity.id and entity.status == "asked"]
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
    rows = graph.read(
        "explore/lacking",
        entities=[entity.id for entity in asked],
        others=[entity.id for entity in linked if entity.id and entity.status == "present"],
        relation=relation,
        forward=not outward,
        question=question,
        limit=limit,
    )
    return Lacking(
        relation=relation,
        entities=tuple(entity.name for entity in asked),
        found=tuple((row["id"], row["name"], row["type"]) for row in rows if row["related"]),
        unrelated=tuple(
            (row["id"], row["name"], row["type"]) for row in rows if not row["related"]
        ),
        total=rows[0]["total"] if rows else 0,
        among=rows[0]["among"] if rows else 0,
        triples=tuple(Triple(**edge) for row in rows for edge in row["edges"]),
    )


def _against(
    graph: StoredGraph, linked: Sequence[LinkedEntity], ids: Iterable[str]
) -> tuple[Triple, ...]:
    """Return the triples by which the question's denied entities are joined to those of `ids`."""
    denied = [entity.id for entity in linked if entity.id and entity.status == "denied"]
    rows = graph.read("explore/between", entities=sorted({*ids}), others=denied) if denied else []
    return tuple(dict.fromkeys(Triple(**row["edge"]) for row in rows))


def _without_denied(
    graph: StoredGraph, linked: Sequence[LinkedEntity], paths: Sequence[RelationPath]
) -> list[RelationPath]:
    """Return relation paths without the ends that are joined to what the question denies."""
    ends = {path.end_of(route)[0] for path in paths for route in path.routes}
    denied = {
        entity.id: entity.name for entity in linked if entity.id and entity.status == "denied"
    }
    speaking = _against(graph, linked, ends)
    barred = {end for triple in speaking for end in (triple.head_id, triple.tail_id)} | {*denied}
    if not ends & barred:
        return list(paths)
    kept = []
    for path in paths:
        there = {path.end_of(route)[0] for route in path.routes}
        if there & barred and there - barred:
            names = " or ".join(denied.values())
            left = replace(path.with_ends(there - barred), ends=path.ends - len(there & barred))
            path = replace(left, restricted=path.restricted or f"none joined to {names}")
        if not there <= barred:
            kept.append(path)
    return kept
