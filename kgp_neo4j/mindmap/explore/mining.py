"""Mines the reasoning graph of a question: link, explore, prune, aggregate (MindMap, I and II)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import exp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.job import in_context, tell
from kgp_neo4j.environment.spans import span
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.aggregate import merge_names, readable, routes, sentences
from kgp_neo4j.mindmap.explore.asked_paths import explore_relation_paths, spend
from kgp_neo4j.mindmap.explore.exploration import Found, explore_neighbours, explore_paths
from kgp_neo4j.mindmap.explore.path_features import HOPS
from kgp_neo4j.mindmap.explore.pruning import prune
from kgp_neo4j.mindmap.explore.relevance import only_relevant
from kgp_neo4j.mindmap.explore.values import compared, outside
from kgp_neo4j.mindmap.link.linking import KnownGraph, graph_and_encoder, link
from kgp_neo4j.models.encoder import Encoder, embed
from kgp_neo4j.text.values import conditions
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, ReasoningGraph, RelationPath
from kgp_neo4j.types.settings import MiningSettings

__all__ = ["mine", "mine_from"]

#: How steeply a relation's weight grows with its similarity to the question; tuned on dev.
_STEEP = 4.0
#: Relation paths that are shown at most.
_ASKED = 5


def mine(
    database: Database,
    graph: str,
    question: str,
    settings: MiningSettings | None = None,
    write: Callable[[str], str] | None = None,
) -> ReasoningGraph:
    """Return the reasoning graph of a question: its entities, the evidence, routes and sentences.

    `write` is a language model that extracts the entities, in one call, and with `relevance` "llm"
    judges neighbours in another one.
    Raises GraphError when there is no such graph, ConfigurationError for text that is not Unicode.
    """
    chosen = settings or MiningSettings()
    began = time.perf_counter()
    known = graph_and_encoder(database, graph)
    with span("link", graph=graph):
        linked = link(database, graph, question, chosen.linking, write, known)
    tell("entities", lambda: linked)
    with span("explore", graph=graph):
        made = mine_from(
            database, graph, question, linked, chosen, write=write, began=began, known=known
        )
    tell("evidence", lambda: made)
    return made


def mine_from(
    database: Database,
    graph: str,
    question: str,
    linked: Sequence[LinkedEntity],
    settings: MiningSettings | None = None,
    *,
    write: Callable[[str], str] | None = None,
    began: float | None = None,
    known: KnownGraph | None = None,
) -> ReasoningGraph:
    """Return the reasoning graph of a question whose entities are linked already.

    `known` is what was read of the graph before, if it was.
    """
    chosen = settings or MiningSettings()
    began = time.perf_counter() if began is None else began
    known_graph = known or graph_and_encoder(database, graph)
    bounds = conditions(question) if chosen.paths and known_graph.encoder else []
    entities, bounds = outside([entity for entity in linked if entity.id], question, bounds)
    asked: list[RelationPath] = []
    if chosen.paths and entities:
        hops = min(chosen.exploration.hops, HOPS)
        asked = explore_relation_paths(
            database, graph, question, entities, known_graph, chosen.size, hops, bounds
        )
    # What several entities have in common, neighbours and shortest paths show best.
    share = 1.0 if len(entities) == 1 else chosen.path_share
    complete = spend(asked, int(chosen.size * share))
    comparison = None
    if chosen.paths and known_graph.encoder is not None:
        comparison = compared(database, graph, known_graph.encoder, question, entities)
    if comparison:
        complete = [
            EvidenceGraph("path", triple.head, (triple,), (triple.head, triple.tail))
            for triple in comparison.triples[: chosen.size]
        ]
    used = {frozenset((t.head_id, t.tail_id)) for each in complete for t in each.triples}
    left = chosen.size - len(used)
    paths, near = Found(), Found()
    if left and entities:
        paths, near = _explored(database, graph, question, entities, known_graph, chosen)
    if write is not None and chosen.relevance == "llm":
        near = only_relevant(near, question, entities, write)
    kept_paths, kept, left_out = prune(
        paths.evidence,
        near.evidence,
        left,
        path_share=chosen.path_share,
        sampling=chosen.sampling,
        seed=chosen.seed,
        known=used,
    )
    evidence = (*complete, *kept_paths, *kept)
    triples = tuple(dict.fromkeys(t for each in evidence for t in each.triples))
    shown = {i for t in triples for i in (t.head_id, t.tail_id)}
    properties: dict[str, Mapping[str, Any]] = {
        **{t.head_id: {"name": t.head, "type": t.head_type} for t in triples},
        **{t.tail_id: {"name": t.tail, "type": t.tail_type} for t in triples},
        **(paths.entities or {}),
        **(near.entities or {}),
    }
    round_about = sorted(shown & {*(paths.entities or ()), *(near.entities or ())})
    if known_graph.encoder is not None and round_about:
        for row in database.read("explore/embeddings", entities=round_about):
            properties[row["id"]] = {**properties[row["id"]], "embedding": row["embedding"]}
    merged = merge_names(
        [properties[i] for i in sorted(shown)], [entity.name for entity in entities]
    )
    return ReasoningGraph(
        entities=tuple(linked),
        evidence=evidence,
        triples=triples,
        routes=tuple(routes(evidence, merged)),
        sentences=tuple(sentences(triples, merged)),
        merged=merged,
        asked=tuple(asked[:_ASKED]),
        compared=comparison,
        left_out=left_out,
        seconds=time.perf_counter() - began,
    )


def _explored(
    database: Database,
    graph: str,
    question: str,
    entities: Sequence[LinkedEntity],
    known: KnownGraph,
    settings: MiningSettings,
) -> tuple[Found, Found]:
    exploration = settings.exploration
    vector = known.encoder.encode([question])[0] if known.encoder else None
    with ThreadPoolExecutor(1) as beside:
        # Both at once: between hubs, and before the server has planned them, each takes a while.
        joining = beside.submit(
            in_context(explore_paths),
            database,
            graph,
            entities if settings.paths else [],
            exploration,
        )
        near = explore_neighbours(
            database,
            graph,
            entities,
            exploration,
            # Twice as many as are kept, so that pruning has a choice.
            2 * settings.size,
            vector=vector.tolist() if vector is not None else None,
            relations=_weights(known.encoder, known.relations, vector),
            apart=not settings.paths,
        )
        paths = joining.result()
    if not settings.neighbours:
        between = tuple(each for each in near.evidence if each.kind == "path")
        near = Found(between, near.entities)
    return paths, near


def _weights(
    encoder: Encoder | None, relations: Sequence[str], vector: NDArray[np.float32] | None
) -> dict[str, float]:
    """Return the weight of each relation: the nearer its name to the question, the higher."""
    if encoder is None or vector is None or not relations:
        return {}
    vectors = embed(encoder, [readable(relation) for relation in relations])
    return {
        relation: exp(_STEEP * float(np.dot(embedding, vector)))
        for relation, embedding in zip(relations, vectors, strict=True)
    }
