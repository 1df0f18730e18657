"""Explores a graph round a question's entities, and prunes to a size (MindMap, section 3.1)."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, combinations, pairwise, zip_longest

from kgp_neo4j.mindmap.load.graphs import StoredGraph
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, Triple
from kgp_neo4j.types.settings import ExplorationSettings


def explore_paths(
    graph: StoredGraph, linked: Sequence[LinkedEntity], settings: ExplorationSettings
) -> list[EvidenceGraph]:
    """Return the paths from each entity through the others, shortest first.

    From each entity a path goes on to the nearest unvisited one within `hops`; where none is
    within reach, a new path begins.
    """
    if len(linked) < 2:
        return []
    rows = graph.read(
        "procedures/paths",
        entities=[entity.id for entity in linked],
        maxHops=settings.hops,
        limit=settings.paths,
        timeout=int(settings.seconds * 1000),
    )
    return [
        EvidenceGraph(
            kind="path",
            entity=row["path"][0]["name"],
            triples=tuple(Triple(**edge) for edge in row["edges"]),
            nodes=tuple(dict.fromkeys(node["name"] for node in row["path"])),
            score=row["score"],
        )
        for row in rows
    ]


def explore_neighbours(
    graph: StoredGraph,
    linked: Sequence[LinkedEntity],
    settings: ExplorationSettings,
    size: int,
    *,
    vector: Sequence[float] = (),
    relations: Mapping[str, float] | None = None,
    apart: bool = False,
) -> list[EvidenceGraph]:
    """Return the triples around the entities as `size` sub-graphs of one triple each, best first.

    `vector` is the question's embedding, `relations` a weight for each relationship type. A triple
    between two of the entities is of the kind `path`. With `apart` each entity is explored on its
    own, and their results are interleaved.
    """
    groups = [[entity] for entity in linked] if apart else [linked] if linked else []
    rows_by_group = [
        graph.read(
            "procedures/evidence",
            entities=[entity.id for entity in group],
            limit=size,
            expand=settings.expand,
            fan=settings.fan,
            weights=[entity.score for entity in group],
            vector=list(vector),
            relations=dict(relations or {}),
        )
        for group in groups
    ]
    return [
        EvidenceGraph(
            kind=row["kind"],
            entity=row["entity"]["name"],
            triples=(Triple(**row["edge"]),),
            nodes=(row["source"]["name"], row["neighbour"]["name"]),
            score=row["score"],
        )
        for row in chain.from_iterable(zip_longest(*rows_by_group))
        if row is not None
    ]


def shortest_paths(
    graph: StoredGraph, linked: Sequence[LinkedEntity], size: int
) -> list[EvidenceGraph]:
    """Return the shortest path of each two entities, shortest first: appendix C's KG retriever."""
    settings = replace(ExplorationSettings(), paths=1)
    pairs = combinations([entity for entity in linked if entity.id], 2)
    paths = [path for pair in pairs for path in explore_paths(graph, pair, settings)]
    paths.sort(key=lambda path: (len(path.triples), path.nodes))
    return prune(paths, [], size, path_share=1.0)[0]


def pairs_of(triples: Iterable[Triple]) -> set[frozenset[str]]:
    """Return the pairs of entities, by id, that triples join."""
    return {frozenset((triple.head_id, triple.tail_id)) for triple in triples}


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
    groups: dict[str, dict[str, list[EvidenceGraph]]] = {"path": {}, "neighbour": {}}
    for single in neighbours:
        if len(pairs) < size and (new := pairs_of(single.triples) - pairs):
            pairs |= new
            at = single.nodes[-1] if single.kind == "path" else single.entity
            groups[single.kind].setdefault(at, []).append(single)
    for singles in groups["path"].values():
        # Triples that lead to one neighbour are paths between question entities.
        chosen += [
            _joined(pair, pair[0].score + pair[1].score) for pair in pairwise(singles)
        ] or singles
    for singles in groups["neighbour"].values():
        chosen.append(_joined(singles, max(single.score for single in singles)))
    return chosen, len(pairs_of(t for each in (*paths, *neighbours) for t in each.triples) - pairs)


def _joined(singles: Sequence[EvidenceGraph], score: float) -> EvidenceGraph:
    triples = tuple(triple for single in singles for triple in single.triples)
    nodes = tuple(dict.fromkeys(name for single in singles for name in single.nodes))
    return EvidenceGraph(singles[0].kind, singles[0].entity, triples, nodes, score)
