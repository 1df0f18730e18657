"""The Python API in one class: a corpus that can be loaded, connected and asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from kgp_neo4j.answer import ask, with_method
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
from kgp_neo4j.language import LanguageModel
from kgp_neo4j.load import delete_corpus, load
from kgp_neo4j.opened import Opened
from kgp_neo4j.records import Account, Answer, ConnectReport, Question, Retrieval
from kgp_neo4j.traverse import AgentSettings, TraversalSettings

__all__ = ["Corpus"]


class Corpus(Opened):
    """A named corpus in Neo4j; opens the database itself unless it is given one.

    >>> with Corpus("mine") as corpus:
    ...     corpus.load(["docs/"])
    ...     corpus.connect()
    ...     print(corpus.ask("Who built the lighthouse?").text)
    """

    def __init__(self, name: str, *, database: Database | None = None) -> None:
        super().__init__(name, database=database)
        self._retrievers: dict[
            tuple[str, str | None, TraversalSettings, AgentSettings], Retriever
        ] = {}

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
        method: str = "kgp",
        model: LanguageModel | str | None = None,
        form: str = "short",
        on_text: Callable[[str], None] | None = None,
        reader: str | None = None,
    ) -> Answer:
        """Answer a question from pages and tables or from passages, with all that shows it.

        The offline reader answers (`reader` is the folder of another one), or `model`: a language
        model, or the name of one (`local:FOLDER`, or a chat server's), in a `form`, `short` or
        `long`, with each sentence checked. `on_text` is given its reply, unchecked, while it is
        written. `type_` (`structural`, `content`, `both`, or `model`: the language model decides)
        overrides what the question is taken to be. `method` is one of `retrieve`'s, or `ircot`,
        which needs a model.
        """
        opened = self._model(model)
        return ask(
            self.database,
            self.name,
            question,
            lambda: with_method(
                lambda name: self._retriever(name, agent, settings, agent_settings), method, opened
            ),
            type_=type_,
            model=opened,
            form=form,
            on_text=on_text,
            reader=reader,
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
