"""Explores a knowledge graph round the entities of a question (MindMap, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, Triple
from kgp_neo4j.types.settings import ExplorationSettings

__all__ = ["Found", "explore_neighbours", "explore_paths"]


@dataclass(frozen=True, slots=True)
class Found:
    """Evidence graphs, and the properties of their entities by id, without embeddings."""

    evidence: tuple[EvidenceGraph, ...] = ()
    entities: Mapping[str, Mapping[str, Any]] | None = None


def explore_paths(
    database: Database, graph: str, linked: Sequence[LinkedEntity], settings: ExplorationSettings
) -> Found:
    """Return the paths from each entity through the others, shortest first.

    From each entity a path goes on to the nearest unvisited one within `hops`; where none is
    within reach, a new path begins.
    """
    if len(linked) < 2:
        return Found()
    rows = database.read_packed(
        "procedures/paths",
        entities=[entity.id for entity in linked],
        graph=graph,
        maxHops=settings.hops,
        limit=settings.paths,
        timeout=int(settings.seconds * 1000),
    )
    entities: dict[str, Mapping[str, Any]] = {}
    found = []
    for row in rows:
        nodes = row["path"]
        entities.update((node["id"], node) for node in nodes)
        found.append(
            EvidenceGraph(
                kind="path",
                entity=nodes[0]["name"],
                triples=tuple(Triple(**edge) for edge in row["edges"]),
                nodes=tuple(dict.fromkeys(node["name"] for node in nodes)),
                score=row["score"],
            )
        )
    return Found(tuple(found), entities)


def explore_neighbours(
    database: Database,
    graph: str,
    linked: Sequence[LinkedEntity],
    settings: ExplorationSettings,
    size: int,
    *,
    vector: Sequence[float] | None = None,
    relations: Mapping[str, float] | None = None,
    apart: bool = False,
) -> Found:
    """Return the triples around the entities as `size` sub-graphs of one triple each, best first.

    `vector` is the question's embedding, `relations` a weight for each relationship type. A triple
    between two of the entities is of the kind `path`. With `apart` each entity is explored on its
    own, and their results are interleaved.
    """
    groups = [[entity] for entity in linked] if apart else [list(linked)]
    entities: dict[str, Mapping[str, Any]] = {}
    lists = []
    for group in groups if linked else []:
        rows = database.read_packed(
            "procedures/evidence",
            entities=[entity.id for entity in group],
            graph=graph,
            limit=size,
            expand=settings.expand,
            fan=settings.fan,
            weights=[entity.score for entity in group],
            vector=list(vector or ()),
            relations=dict(relations or {}),
        )
        for row in rows:
            entities.update((row[end]["id"], row[end]) for end in ("source", "target"))
        lists.append([_single(row) for row in rows])
    longest = max((len(each) for each in lists), default=0)
    turns = [each[at] for at in range(longest) for each in lists if at < len(each)]
    return Found(tuple(turns), entities)


def _single(row: Row) -> EvidenceGraph:
    return EvidenceGraph(
        kind=row["kind"],
        entity=row["entity"]["name"],
        triples=(Triple(**row["edge"]),),
        nodes=(row["source"]["name"], row["target"]["name"]),
        score=row["score"],
    )
