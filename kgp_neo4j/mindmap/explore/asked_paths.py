"""Explores a knowledge graph along the relation paths that a question asks for.

MindMap (section 3.1) explores paths between entities and their neighbours; what the question says
of relations is not used there. Here the relation paths that begin at an entity are found in the
database and scored against the whole question, and the evidence is spent on complete paths, best
first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.explore.path_features import Step, read_question
from kgp_neo4j.mindmap.explore.path_scorer import load_path_scorer
from kgp_neo4j.mindmap.link.linking import KnownGraph
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, RelationPath, Triple

__all__ = ["explore_relation_paths", "spend"]

#: Relation paths that are walked to their ends, and entities that paths begin at.
_WALKED = 8
_STARTS = 3
#: Ends that are compared with those of another entity's paths.
_COMPARED = 1_000
#: A path less probable than this is no evidence.
_LEAST = 0.02


def explore_relation_paths(
    database: Database,
    graph: str,
    question: str,
    entities: Sequence[LinkedEntity],
    known: KnownGraph,
    size: int,
    hops: int,
) -> list[RelationPath]:
    """Return the relation paths that a question may ask for, most probable first.

    Each has up to `size` routes to its ends; those of a path that other entities of the question
    confirm are the ones that all of them reach. The list is empty where none explains what
    the question says, and for a graph without an encoder.
    """
    starts = [entity for entity in entities if entity.surface in question][:_STARTS]
    if known.encoder is None or not starts:
        return []
    scorer = load_path_scorer()
    names = [readable(relation) for relation in known.relations]
    place = {relation: at for at, relation in enumerate(known.relations)}
    mentions = [(at, at + len(e.surface)) for e in starts for at in [question.index(e.surface)]]
    found: list[tuple[float, LinkedEntity, tuple[Step, ...]]] = []
    for entity, mention in zip(starts, mentions, strict=True):
        others = [other for other in mentions if other != mention]
        words = read_question(known.encoder, question, [mention], names, others)
        rows = database.read_packed(
            "explore/relation_paths",
            entity=entity.id,
            graph=graph,
            weights=dict(zip(known.relations, words.weights().tolist(), strict=True)),
            hops=hops,
        )
        paths = [tuple(zip(row["relations"], row["forward"], strict=True)) for row in rows]
        paths = [path for path in paths if all(relation in place for relation, _ in path)]
        if not paths:
            continue
        scores = scorer.scores(words, paths, place) / scorer.temperature
        if words.explained([place[relation] for relation, _ in paths[int(scores.argmax())]]):
            scores = np.exp(scores - scores.max())
            found += [
                (float(score), entity, path)
                for score, path in zip(scores / scores.sum(), paths, strict=True)
            ]
    found.sort(key=lambda each: -each[0])
    walked = _walked(database, graph, found, starts, size)
    walked.sort(key=lambda path: -path.score)
    return walked


def _walked(
    database: Database,
    graph: str,
    found: Sequence[tuple[float, LinkedEntity, tuple[Step, ...]]],
    starts: Sequence[LinkedEntity],
    size: int,
) -> list[RelationPath]:
    """Walk relation paths to their ends; with several entities, keep the ends that they share."""
    compare = len(starts) > 1
    walked: list[tuple[RelationPath, frozenset[str]]] = []
    by_entity: dict[str, list[tuple[float, LinkedEntity, tuple[Step, ...]]]] = {}
    for each in found:
        if each[0] >= _LEAST or not by_entity:
            by_entity.setdefault(each[1].id, []).append(each)
    for entity_id, group in by_entity.items():
        rows = database.read(
            "explore/relation_path_ends",
            entity=entity_id,
            graph=graph,
            paths=[
                {"relations": [r for r, _ in path], "forward": [f for _, f in path]}
                for _, _, path in group[:_WALKED]
            ],
            limit=size,
            listed=_COMPARED if compare else 0,
        )
        for row in rows:
            if row["ends"]:
                score, entity, steps = group[row["path"]]
                routes = tuple(
                    tuple(Triple(**triple) for triple in route) for route in row["routes"]
                )
                ids = frozenset(row["ids"])
                others = tuple(e.name for e in starts if e.id in ids and e.id != entity.id)
                ends = row["ends"]
                path = RelationPath(entity.name, entity.id, steps, score, ends, routes, others)
                walked.append((path, ids))
    if compare:
        walked = [_confirmed(path, ids, walked) for path, ids in walked]
    return [path for path, _ in walked if path.routes]


def _confirmed(
    path: RelationPath, ids: frozenset[str], others: Sequence[tuple[RelationPath, frozenset[str]]]
) -> tuple[RelationPath, frozenset[str]]:
    """Return a path with the ends alone that the best path of another entity reaches too."""
    for other, reached in sorted(others, key=lambda each: -each[0].score):
        both = ids & reached
        if other.entity_id != path.entity_id and both and path.entity_id not in both:
            routes = tuple(route for route in path.routes if path.end_of(route)[0] in both)
            if routes:
                both_score = (path.score + other.score) / 2
                return replace(path, routes=routes, ends=len(both), score=both_score), both
    return path, ids


def spend(paths: Sequence[RelationPath], size: int) -> list[EvidenceGraph]:
    """Return routes of `size` triples at most: complete ones, those of the best path first.

    After the most probable path comes the one by which a triple is most probably needed: of two
    paths as likely, the one with few ends.
    """
    if size < 1:
        return []
    used: set[frozenset[str]] = set()
    chosen: list[EvidenceGraph] = []
    order = sorted(
        paths[1:], key=lambda path: -path.score / min(path.ends + len(path.steps) - 1, size)
    )
    for path in (*paths[:1], *order):
        for route in path.routes:
            pairs = {frozenset((t.head_id, t.tail_id)) for t in route} - used
            if pairs and len(used) + len(pairs) <= size:
                used |= pairs
                chosen.append(
                    EvidenceGraph(
                        kind="path",
                        entity=path.entity,
                        triples=route,
                        nodes=path.nodes_of(route),
                        score=path.score,
                    )
                )
    return chosen
