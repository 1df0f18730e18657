"""Seed: from a question to the passages a traversal starts from."""

from __future__ import annotations

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import NextEvidence, Step

__all__ = ["find_seeds"]


def find_seeds(
    database: Database, corpus: str, begin: NextEvidence, limit: int, *, named: float = 0.3
) -> list[Step]:
    """Return the seeds of a question, best first, as the first steps of reasoning paths.

    Full text, the vector where the agent gives one, and titles the question names are fused by
    reciprocal rank; `named` is what a named title adds to a seed's score (0: titles play no part).
    """
    rows = database.read(
        "traverse/hybrid_seeds",
        question=begin.text,
        vector=list(begin.vector or ()),
        corpus=corpus,
        limit=limit,
        named=named,
    )
    return [
        Step(passage=row["passage"]["id"], edge="seed", match=row["score"], reason=row["reason"])
        for row in rows
    ]
