"""The Python API in one class: a corpus that can be loaded, connected and asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from kgp_neo4j.answer import ask
from kgp_neo4j.connect import (
    EDGES,
    EntitySettings,
    KeywordSettings,
    MdrSettings,
    SimilaritySettings,
    connect,
)
from kgp_neo4j.database import Database
from kgp_neo4j.evidence import Retriever
from kgp_neo4j.installation import open_database
from kgp_neo4j.load import delete_corpus, load
from kgp_neo4j.records import Account, Answer, ConnectReport, Question, Retrieval
from kgp_neo4j.traverse import AgentSettings, TraversalSettings

__all__ = ["Corpus"]


class Corpus:
    """A named corpus in Neo4j; opens the database itself unless it is given one.

    >>> with Corpus("mine") as corpus:
    ...     corpus.load(["docs/"])
    ...     corpus.connect()
    ...     print(corpus.ask("Who built the lighthouse?").text)
    """

    def __init__(self, name: str, *, database: Database | None = None) -> None:
        self.name = name
        self._own = database is None
        self.database = database or open_database()
        self._retrievers: dict[
            tuple[str, str | None, TraversalSettings, AgentSettings], Retriever
        ] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the database, unless it was given."""
        if self._own:
            self.database.close()

    def load(
        self,
        paths: Sequence[str | Path],
        *,
        passage_size: int | None = None,
        keep_going: bool = False,
    ) -> Account:
        """Load files, folders and globs; `passage_size` in characters."""
        return load(
            self.database,
            [str(p) for p in paths],
            self.name,
            passage_size=passage_size,
            keep_going=keep_going,
        )

    def connect(
        self,
        *,
        edges: Sequence[str] = EDGES,
        keywords: KeywordSettings | None = None,
        entities: EntitySettings | None = None,
        similarity: SimilaritySettings | None = None,
        mdr: MdrSettings | None = None,
    ) -> ConnectReport:
        """Make the graphs named, replacing those of the same name that were there.

        `knn-mdr` needs an encoder of your training, named in `mdr`; the others are made by default.
        """
        self._retrievers.clear()
        return connect(
            self.database,
            self.name,
            edges=edges,
            keywords=keywords,
            entities=entities,
            similarity=similarity,
            mdr=mdr,
        )

    def ask(
        self,
        question: str,
        *,
        agent: str | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
        type_: str | None = None,
        write: Callable[[str], str] | None = None,
    ) -> Answer:
        """Answer a question from pages and tables or from passages, with all that shows it.

        `type_` (`structural`, `content` or `both`) overrides what the question is taken to be;
        `write`, a language model that takes a prompt, decides it and answers from structure.
        """
        return ask(
            self.database,
            self.name,
            question,
            lambda: self._retriever("kgp", agent, settings, agent_settings),
            type_=type_,
            write=write,
        )

    def retrieve(
        self,
        question: str,
        *,
        method: str = "kgp",
        agent: str | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
    ) -> Retrieval:
        """Return the passages for a question, best first (`bm25`, `dense`, `hybrid` or `kgp`)."""
        retriever = self._retriever(method, agent, settings, agent_settings)
        return retriever.retrieve(Question("", question))

    def delete(self) -> None:
        """Delete the corpus with everything that hangs on it."""
        self._retrievers.clear()
        delete_corpus(self.database, self.name)

    def _retriever(
        self,
        method: str,
        agent: str | None,
        settings: TraversalSettings | None,
        agent_settings: AgentSettings | None,
    ) -> Retriever:
        key = (method, agent, settings or TraversalSettings(), agent_settings or AgentSettings())
        if key not in self._retrievers:
            self._retrievers[key] = Retriever(
                self.database,
                self.name,
                method=method,
                agent=agent,
                settings=key[2],
                agent_settings=key[3],
            )
        return self._retrievers[key]
