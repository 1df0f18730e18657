"""Explores what a question denies: what lacks it, and what of the evidence has it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.stored_graph import StoredGraph
from kgp_neo4j.types.mindmap import Lacking, LinkedEntity, RelationPath, Triple


def find_lacking(
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


def against(
    graph: StoredGraph, linked: Sequence[LinkedEntity], ids: Iterable[str]
) -> tuple[Triple, ...]:
    """Return the triples by which the question's denied entities are joined to those of `ids`."""
    denied = [entity.id for entity in linked if entity.id and entity.status == "denied"]
    rows = graph.read("explore/between", entities=sorted({*ids}), others=denied) if denied else []
    return tuple(dict.fromkeys(Triple(**row["edge"]) for row in rows))


def without_denied(
    graph: StoredGraph, linked: Sequence[LinkedEntity], paths: Sequence[RelationPath]
) -> list[RelationPath]:
    """Return relation paths without the ends that are joined to what the question denies."""
    ends = {path.end_of(route)[0] for path in paths for route in path.routes}
    denied = {
        entity.id: entity.name for entity in linked if entity.id and entity.status == "denied"
    }
    speaking = against(graph, linked, ends)
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
