"""A corpus for programs that await: the calls of `Corpus`, side by side."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.corpus import Corpus
from kgp_neo4j.environment.job import Job, tell
from kgp_neo4j.graphdb.async_store import AsyncStore
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import (
    Answer,
    ConnectReport,
    Document,
    LoadReport,
    Passage,
    Retrieval,
    Trace,
)
from kgp_neo4j.types.tables import TableSummary

__all__ = ["AsyncCorpus"]


class AsyncCorpus(AsyncStore[Corpus]):
    """A named corpus in Neo4j, as `Corpus`; a cancelled call ends its statement on the server.

    >>> async with AsyncCorpus("mine", seconds=10) as corpus:
    ...     answer = await corpus.ask("Who built the lighthouse?")
    ...     async for event, told in corpus.stream("Who built it?"):
    ...         print(event, told)

    Named options are those of `Corpus`. `ask`, `stream` and `retrieve` raise StoppedError after
    `seconds`.
    """

    def _made(self, name: str, database: Database | None) -> Corpus:
        return Corpus(name, database=database)

    async def ask(self, question: str, **options: Any) -> Answer:
        """Return the answer to a question, with its evidence."""
        return await self._do(lambda corpus: corpus.ask(question, **options), Job(self.seconds))

    def stream(self, question: str, **options: Any) -> AsyncGenerator[tuple[str, Any]]:
        """Yield what is found while it is found, and the answer at the end.

        Each is a pair: `hop` with the passages reached, `passages` with the Retrieval, `text` with
        a piece of a model's reply, unchecked, `answer` with the Answer.
        """
        return self._stream(
            lambda corpus: corpus.ask(
                question, on_text=lambda text: tell("text", lambda: text), **options
            )
        )

    async def retrieve(self, question: str, **options: Any) -> Retrieval:
        """Return the passages for a question, best first, and the paths that led to them."""
        return await self._do(
            lambda corpus: corpus.retrieve(question, **options), Job(self.seconds)
        )

    async def load(self, paths: Sequence[str | Path], **options: Any) -> LoadReport:
        """Load files, folders and globs."""
        return await self._do(lambda corpus: corpus.load(paths, **options))

    async def connect(self, **options: Any) -> ConnectReport:
        """Make the graphs between the passages."""
        return await self._do(lambda corpus: corpus.connect(**options))

    async def documents(self) -> list[Document]:
        """Return the documents by title."""
        return await self._do(Corpus.documents)

    async def passages(self, document: str | None = None, *, limit: int = 1000) -> list[Passage]:
        """Return the passages in order, of one document where it is named."""
        return await self._do(lambda corpus: corpus.passages(document, limit=limit))

    async def tables(self, document: str | None = None) -> list[TableSummary]:
        """Return the tables in order, of one document where it is named."""
        return await self._do(lambda corpus: corpus.tables(document))

    async def traces(self, *, limit: int = 1000) -> list[Trace]:
        """Return the stored traversals, the latest first."""
        return await self._do(lambda corpus: corpus.traces(limit=limit))

    async def delete(self) -> None:
        """Delete the corpus with everything in it."""
        await self._do(Corpus.delete)
