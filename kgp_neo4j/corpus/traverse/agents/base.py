"""The protocol of traversal agents."""

from __future__ import annotations

from typing import Protocol

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import NextEvidence, ReasoningPath
from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["Agent"]


class Agent(Protocol):
    """Walks the graph for a question: by Algorithm 1 (`NextEvidenceAgent`), or in its own way."""

    name: str

    def begin(self, question: str) -> NextEvidence:
        """Return the query of the seed search."""

    def walk(
        self, database: Database, corpus: str, question: str, settings: TraversalSettings
    ) -> list[ReasoningPath]:
        """Return one reasoning path to each retrieved passage, the best passage first."""
