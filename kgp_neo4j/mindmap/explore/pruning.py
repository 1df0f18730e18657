"""Prunes the evidence that exploration found to a size (MindMap, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise

from kgp_neo4j.types.mindmap import EvidenceGraph, Triple

__all__ = ["prune"]


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
    neighbours kept are joined to one sub-graph for each entity that they begin at. `known` are
    pairs that other evidence has: they are left out.
    """
    pairs = set(known)
    size += len(pairs)
    kept: list[EvidenceGraph] = []
    for path in paths:
        new = {_pair(triple) for triple in path.triples} - pairs
        # The first path may use the whole size; a path that adds no pair is left out.
        if new and len(pairs | new) <= (size * path_share if kept else size):
            pairs |= new
            kept.append(path)
    #: Triples between question entities by where they lead, others by where they begin.
    between: dict[str, list[EvidenceGraph]] = {}
    around: dict[str, list[EvidenceGraph]] = {}
    for single in neighbours:
        pair = _pair(single.triples[0])
        if len(pairs) < size and pair not in pairs:
            pairs.add(pair)
            if single.kind == "path":
                between.setdefault(single.nodes[-1], []).append(single)
            else:
                around.setdefault(single.entity, []).append(single)
    for singles in between.values():
        # Triples that lead to one neighbour are paths between question entities.
        paths_of_two = [
            _joined("path", [one, other], one.score + other.score)
            for one, other in pairwise(singles)
        ]
        kept += paths_of_two or singles
    kept += [
        _joined("neighbour", singles, max(single.score for single in singles))
        for singles in around.values()
    ]
    everything = {_pair(triple) for each in (*paths, *neighbours) for triple in each.triples}
    return kept, len(everything - pairs)


def _joined(kind: str, singles: Sequence[EvidenceGraph], score: float) -> EvidenceGraph:
    triples = tuple(triple for single in singles for triple in single.triples)
    nodes = tuple(dict.fromkeys(name for single in singles for name in single.nodes))
    return EvidenceGraph(kind, singles[0].entity, triples, nodes, score)


def _pair(triple: Triple) -> frozenset[str]:
    return frozenset((triple.head_id, triple.tail_id))
