"""Reasoning paths: the seeds where they begin, the edges and passages that they visit."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, starmap

from kgp_neo4j.environment.job import tell
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath, Step


def find_seeds(
    database: Database, corpus: str, begin: NextEvidence, limit: int, *, named: float
) -> list[Step]:
    """Return the seeds of a question, best first, as the first steps of reasoning paths.

    Full text, the vector where the agent gives one, and titles named in the question are fused by
    reciprocal rank; `named` is added to the score of a seed with a named title (0 ignores titles).
    """
    asked = {"question": begin.text, "vector": list(begin.vector or ()), "named": named}
    rows = database.read("traverse/hybrid_seeds", corpus=corpus, limit=limit, **asked)
    return seed_steps(rows)


def seed_steps(rows: Iterable[Row], reason: str = "") -> list[Step]:
    """Return passages of rows (passage, score, and reason unless it is given) as first steps."""
    # A passage deleted since the search has no properties any longer, and is left out.
    return [
        Step(row["passage"]["id"], "seed", row["score"], reason=reason or row["reason"])
        for row in rows
        if "id" in row["passage"]
    ]


def with_edges(
    database: Database, paths: Sequence[ReasoningPath], edges: Sequence[str]
) -> list[ReasoningPath]:
    """Return the paths with the edge and the reason of each step, by one call of the database."""
    pairs = {(a.passage, b.passage) for path in paths for a, b in pairwise(path.steps)}
    if not pairs:
        return list(paths)
    rows = database.read_packed(
        "traverse/path_edges", pairs=[list(pair) for pair in sorted(pairs)], edges=list(edges)
    )
    known = {(row["source"], row["target"]): (row["edge"], row["reason"]) for row in rows}

    def told(before: Step, step: Step) -> Step:
        edge, reason = known.get((before.passage, step.passage), ("MENTIONS", ""))
        return replace(step, edge=edge, reason=reason)

    return [ReasoningPath((path.steps[0], *starmap(told, pairwise(path.steps)))) for path in paths]


def read_passages(
    database: Database, ids: Iterable[str], corpus: str | None = None
) -> dict[str, Passage]:
    """Return the passages with these ids, if there; those from outside need a `corpus`, too."""
    rows = database.read_packed("inspect/passages", ids=list(dict.fromkeys(ids)), corpus=corpus)
    return {row["id"]: passage_of(row) for row in rows}


def passage_of(row: Row) -> Passage:
    """Return the passage of a row of `include/passage`."""
    return Passage(**row | {"columns": tuple(row["columns"])})


def tell_hop(hop: int, paths: Iterable[ReasoningPath]) -> None:
    """Tell who waits which passages a hop has reached (0: seeds); StoppedError if nobody does."""

    def reached(path: ReasoningPath) -> dict[str, object]:
        *before, last = path.steps
        came = before[-1].passage if before else None
        return {"passage": last.passage, "before": came, "score": round(last.score, 4)}

    tell("hop", lambda: {"hop": hop, "reached": list(map(reached, paths))})
