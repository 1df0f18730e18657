"""Tells who waits for an answer how the traversal goes on, hop by hop."""

from __future__ import annotations

from collections.abc import Iterable

from kgp_neo4j.environment.job import tell
from kgp_neo4j.types.corpus import ReasoningPath

__all__ = ["tell_hop"]


def tell_hop(hop: int, paths: Iterable[ReasoningPath]) -> None:
    """Tell which passages a hop has reached (0: the seeds): each with the one before and its score.

    Raises StoppedError where nobody waits any longer.
    """
    tell(
        "hop",
        lambda: {
            "hop": hop,
            "reached": [
                {
                    "passage": path.last,
                    "before": path.steps[-2].passage if len(path.steps) > 1 else None,
                    "score": round(path.steps[-1].score, 4),
                }
                for path in paths
            ],
        },
    )
