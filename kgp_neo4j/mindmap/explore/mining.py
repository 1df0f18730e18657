"""Mines the reasoning graph of a question: link, explore, prune, aggregate (MindMap, I and II)."""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import exp
from typing import Any

from kgp_neo4j.environment.job import in_context, tell
from kgp_neo4j.mindmap.aggregate import merge_names, readable, routes
from kgp_neo4j.mindmap.explore.absence import against, find_lacking, without_denied
from kgp_neo4j.mindmap.explore.asked_paths import explore_relation_paths, spend
from kgp_neo4j.mindmap.explore.exploration import explore_neighbours, explore_paths, pairs_of, prune
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.stored_graph import StoredGraph
from kgp_neo4j.models.encoder import embed
from kgp_neo4j.types.language import Write
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, ReasoningGraph, Triple
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
    lacking = find_lacking(graph, question, linked, chosen.size)
    entities = [entity for entity in linked if entity.id and entity.status == "present"]
    if lacking:
        shown = lacking.triples[: chosen.size]
        complete = [EvidenceGraph("neighbour", t.head, (t,), (t.head, t.tail)) for t in shown]
        asked, entities = [], []
    else:
        asked = explore_relation_paths(graph, question, entities, chosen) if chosen.paths else []
        asked = without_denied(graph, linked, asked)
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
        against=against(graph, linked, (i for t in triples for i in (t.head_id, t.tail_id))),
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
