"""Reads the edges of reasoning paths, and passages by id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import Passage, ReasoningPath
from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["read_passages", "with_edges"]


def with_edges(
    database: Database, paths: Sequence[ReasoningPath], settings: TraversalSettings
) -> list[ReasoningPath]:
    """Return the paths with the edge and the reason of each step, by one call of the database."""
    pairs = {
        (before.passage, step.passage)
        for path in paths
        for before, step in zip(path.steps, path.steps[1:], strict=False)
    }
    if not pairs:
        return list(paths)
    rows = database.read_packed(
        "traverse/path_edges",
        pairs=[list(pair) for pair in sorted(pairs)],
        edges=list(settings.edges),
    )
    known = {(row["source"], row["target"]): (row["edge"], row["reason"]) for row in rows}
    complete = []
    for path in paths:
        steps = list(path.steps)
        for at in range(1, len(steps)):
            edge, reason = known.get((steps[at - 1].passage, steps[at].passage), ("MENTIONS", ""))
            steps[at] = replace(steps[at], edge=edge, reason=reason)
        complete.append(ReasoningPath(tuple(steps)))
    return complete


def read_passages(
    database: Database, ids: Iterable[str], corpus: str | None = None
) -> dict[str, Passage]:
    """Return the passages with these ids, by id; deleted ones are left out.

    Ids from outside need `corpus`, so that they give no passage of another one.
    """
    rows = database.read_packed("inspect/passages", ids=list(dict.fromkeys(ids)), corpus=corpus)
    return {row["id"]: Passage(**row | {"columns": tuple(row["columns"])}) for row in rows}
