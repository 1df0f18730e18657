"""A knowledge graph for programs that await: the calls of `KnowledgeGraph`, side by side."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.job import Job
from kgp_neo4j.graphdb.async_store import AsyncStore
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.knowledge_graph import KnowledgeGraph
from kgp_neo4j.types.mindmap import GraphLoadReport, LinkedEntity, MindMap, ReasoningGraph

__all__ = ["AsyncKnowledgeGraph"]


class AsyncKnowledgeGraph(AsyncStore[KnowledgeGraph]):
    """A named knowledge graph, as `KnowledgeGraph`; a cancelled call ends its statement.

    Named options are those of `KnowledgeGraph`; questions raise StoppedError after `seconds`.
    """

    def _made(self, name: str, database: Database | None) -> KnowledgeGraph:
        return KnowledgeGraph(name, database=database)

    async def ask(self, question: str | Sequence[str], **options: Any) -> MindMap:
        """Answer a question, or the turns of a dialogue, with a mind map that was checked."""
        return await self._do(lambda graph: graph.ask(question, **options), Job(self.seconds))

    def stream(
        self, question: str | Sequence[str], **options: Any
    ) -> AsyncGenerator[tuple[str, Any]]:
        """Yield `entities` (the linked ones), `evidence` (a ReasoningGraph) and `answer`."""
        return self._stream(lambda graph: graph.ask(question, **options))

    async def link(self, question: str, **options: Any) -> list[LinkedEntity]:
        """Return the entities that a question names, with alternatives."""
        return await self._do(lambda graph: graph.link(question, **options), Job(self.seconds))

    async def mine(self, question: str, **options: Any) -> ReasoningGraph:
        """Return the reasoning graph of a question, without an answer."""
        return await self._do(lambda graph: graph.mine(question, **options), Job(self.seconds))

    async def load(self, paths: Sequence[str | Path], **options: Any) -> GraphLoadReport:
        """Load files of triples, or tables with a mapping."""
        return await self._do(lambda graph: graph.load(paths, **options))

    async def delete(self) -> None:
        """Delete the graph with its entities and relationships."""
        await self._do(KnowledgeGraph.delete)
