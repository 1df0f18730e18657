"""Seed: from a question to the passages where a traversal starts."""

from __future__ import annotations

from collections.abc import Iterable

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.corpus import NextEvidence, Step

__all__ = ["find_seeds", "seed_steps"]


def find_seeds(
    database: Database, corpus: str, begin: NextEvidence, limit: int, *, named: float = 0.3
) -> list[Step]:
    """Return the seeds of a question, best first, as the first steps of reasoning paths.

    Full text, the vector where the agent gives one, and titles named in the question are fused by
    reciprocal rank; `named` is added to the score of a seed with a named title (0 ignores titles).
    """
    rows = database.read(
        "traverse/hybrid_seeds",
        question=begin.text,
        vector=list(begin.vector or ()),
        corpus=corpus,
        limit=limit,
        named=named,
    )
    return seed_steps(rows)


def seed_steps(rows: Iterable[Row], reason: str = "") -> list[Step]:
    """Return the passages of rows (passage, score, and reason unless it is given) as first steps.

    A passage deleted since it was found has no properties any longer, and is left out.
    """
    return [
        Step(row["passage"]["id"], "seed", row["score"], reason=reason or row["reason"])
        for row in rows
        if "id" in row["passage"]
    ]
