"""The paper's baseline: the shortest path between each two entities of a question (appendix C)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.explore.exploration import explore_paths
from kgp_neo4j.mindmap.explore.pruning import prune
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity
from kgp_neo4j.types.settings import ExplorationSettings

__all__ = ["shortest_paths"]


def shortest_paths(
    database: Database,
    graph: str,
    linked: Sequence[LinkedEntity],
    size: int,
    settings: ExplorationSettings | None = None,
) -> list[EvidenceGraph]:
    """Return the shortest path between each pair of entities, shortest first, `size` triples."""
    chosen = replace(settings or ExplorationSettings(), paths=1)
    entities = [entity for entity in linked if entity.id]
    found = [
        path
        for pair in combinations(entities, 2)
        for path in explore_paths(database, graph, pair, chosen).evidence
    ]
    found.sort(key=lambda path: (len(path.triples), path.nodes))
    kept, _, _ = prune(found, [], size, path_share=1.0)
    return kept
