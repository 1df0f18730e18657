"""Answers a question by the entities at the end of the relation path that it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import regex

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.compose import route_text
from kgp_neo4j.mindmap.answer.same_names import listed
from kgp_neo4j.mindmap.explore.asked_paths import asks_yes_or_no
from kgp_neo4j.types.mindmap import Comparison, MapEdge, ReasoningGraph, RelationPath, Triple

__all__ = ["answer_by_path", "path_text"]

#: Below the first probability no path counts as the one asked for, below the second it does not
#: for certain; chosen on development questions of PathQuestion and of a film graph.
_LEAST = 0.2
_CERTAIN = 0.5
_MOST_ROUTES = 5
_COUNTS = regex.compile(r"^\W*(?:how many|what number of|what is the number of|count)\b", regex.I)

#: An answer in words with the edges of its mind map; no edges where the graph does not say.
PathAnswer = tuple[str, tuple[MapEdge, ...]]
_UNKNOWN: PathAnswer = ("The graph does not say.", ())


def answer_by_path(question: str, reasoning: ReasoningGraph) -> PathAnswer | None:
    """Return the answer at the end of the most probable relation path; None where none was scored.

    A comparison is answered by the entities that it chose, "how many" by their number. A question
    for yes or no is answered where the path from one of its entities leads to another one, or fits
    and leads elsewhere.
    """
    if reasoning.compared:
        return _compared(reasoning.compared)
    if not reasoning.asked:
        return None
    best = reasoning.asked[0]
    if asks_yes_or_no(question) and sum(1 for e in reasoning.entities if e.id) > 1:
        best = max(reasoning.asked, key=lambda path: (bool(path.reaches), path.score))
        if best.score < _LEAST:
            return _UNKNOWN
        if not best.reaches:
            return _answer("No, by what the graph holds.", best)
        if routes := tuple(r for r in best.routes if best.end_of(r)[1] in best.reaches):
            best = replace(best, routes=routes, ends=len(routes))
        return _answer(f"Yes: {listed(best.reaches)}.", best)
    if best.score < _LEAST or (best.unknown and not best.routes):
        return _UNKNOWN
    if not best.routes:
        return _answer(f"None: the graph knows of no {best.restricted} there.", best)
    names = listed(
        list(dict.fromkeys(best.end_of(route)[1] for route in best.routes)), count=best.ends
    )
    return _answer(f"{best.ends}: {names}." if _COUNTS.search(question) else f"{names}.", best)


def _compared(comparison: Comparison) -> PathAnswer:
    if not comparison.chosen:
        return _UNKNOWN
    lines = [f"{listed(comparison.chosen)}, by {readable(comparison.relation)}:"]
    for name, value in zip(comparison.entities, comparison.values, strict=True):
        lines.append(f"   {name}: {value}")
    return "\n".join(lines), _edges(comparison.triples)


def path_text(path: RelationPath) -> str:
    """Write a relation path for people: `Iron Lake – directed by → … ← written by – …`."""
    steps = (
        f" – {readable(relation)} → …" if forward else f" ← {readable(relation)} – …"
        for relation, forward in path.steps
    )
    restricted = f", with {path.restricted}" if path.restricted else ""
    return path.entity + "".join(steps) + restricted


def _answer(text: str, path: RelationPath) -> PathAnswer:
    lines = [text if path.score >= _CERTAIN else f"Not certain: {text}"]
    lines.append(f"By the relation path {path_text(path)} ({path.score:.0%} likely):")
    lines += [f"   {route_text(path.entity, route)}" for route in path.routes[:_MOST_ROUTES]]
    if path.ends > _MOST_ROUTES:
        lines.append(f"   and {path.ends - _MOST_ROUTES} more")
    if path.unknown:
        lines.append(f"   The graph does not say it of {path.unknown} more.")
    triples = dict.fromkeys(triple for route in path.routes for triple in route)
    return "\n".join(lines), _edges((*triples, *path.facts[:_MOST_ROUTES]))


def _edges(triples: Sequence[Triple]) -> tuple[MapEdge, ...]:
    return tuple(MapEdge(t.head, t.relation, t.tail, "grounded", (t.id,)) for t in triples)
