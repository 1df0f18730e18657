"""A corpus in Python: load, connect, inspect and ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.connect.graphs import EDGES, connect
from kgp_neo4j.corpus.load.delete import delete_corpus, list_documents, list_passages, list_tables
from kgp_neo4j.corpus.load.export_corpus import export_corpus, import_corpus
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.pipeline import Answerer, Pipeline, Reader, Retriever, make_pipeline
from kgp_neo4j.corpus.projection import projected
from kgp_neo4j.corpus.traverse.agents.base import Agent
from kgp_neo4j.graphdb.store import Store
from kgp_neo4j.llm.call import find_model
from kgp_neo4j.types.corpus import (
    AgentName,
    Answer,
    ConnectReport,
    Document,
    Form,
    GraphName,
    LoadReport,
    Method,
    Passage,
    QuestionType,
    Rerank,
    Retrieval,
    Trace,
)
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.settings import (
    AgentSettings,
    EntitySettings,
    KeywordSettings,
    MdrSettings,
    SimilaritySettings,
    TraversalSettings,
)
from kgp_neo4j.types.tables import TableSummary
from kgp_neo4j.types.transfer import Transfer

if TYPE_CHECKING:
    from graphdatascience import Graph, GraphDataScience

__all__ = ["Corpus"]


class Corpus(Store):
    """A named corpus in Neo4j; opens the database itself, when it is first needed.

    >>> with Corpus("mine") as corpus:
    ...     corpus.load(["docs/"])
    ...     corpus.connect()
    ...     print(corpus.ask("Who built the lighthouse?").text)
    """

    _kept: tuple[tuple[object, ...], Pipeline] | None = None

    def load(
        self,
        paths: Sequence[str | Path],
        *,
        passage_size: int | None = None,
        language: str | None = None,
        keep_going: bool = False,
    ) -> LoadReport:
        """Load files, folders and globs; `passage_size` in characters, `language` as "german"."""
        return load(
            self.database,
            [str(p) for p in paths],
            self.name,
            passage_size=passage_size,
            language=language,
            keep_going=keep_going,
        )

    def connect(
        self,
        *,
        edges: Sequence[GraphName] = EDGES,
        keywords: KeywordSettings | None = None,
        entities: EntitySettings | None = None,
        similarity: SimilaritySettings | None = None,
        mdr: MdrSettings | None = None,
        anew: bool = False,
        whole: bool = False,
    ) -> ConnectReport:
        """Make the named graphs; of those that are there, write what has changed.

        With `anew` everything is written again. A few new documents are joined into a large corpus
        with what was counted in the others; `whole` counts in all texts.
        `knn-mdr` needs an encoder that you trained, named in `mdr`; the others are made by default.
        """
        self._kept = None
        return connect(
            self.database,
            self.name,
            edges=edges,
            keywords=keywords,
            entities=entities,
            similarity=similarity,
            mdr=mdr,
            anew=anew,
            whole=whole,
        )

    def documents(self) -> list[Document]:
        """Return the documents by title; raises CorpusError where the corpus does not exist."""
        return list_documents(self.database, self.name)

    def passages(self, document: str | None = None, *, limit: int = 1000) -> list[Passage]:
        """Return the passages in order; with `document`, only those of the one with this id or
        title.
        """
        return list_passages(self.database, self.name, document, limit)

    def tables(self, document: str | None = None) -> list[TableSummary]:
        """Return the tables in order; with `document`, only those of the one with this id
        or title.
        """
        return list_tables(self.database, self.name, document)

    def traces(self, *, limit: int = 1000) -> list[Trace]:
        """Return the stored traversals, the latest first (`kgp-neo4j ask --trace` stores them)."""
        from kgp_neo4j.corpus.answer.traces import traces

        return traces(self.database, self.name, limit=limit)

    def pipeline(
        self,
        *,
        method: Method = "kgp",
        agent: AgentName | Agent | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
        model: LanguageModel | str | None = None,
        form: Form = "short",
        reader: Reader | str | None = None,
        rerank: Rerank = "none",
    ) -> Pipeline:
        """Return a pipeline with these options; the same options return the one loaded before.

        `model` is a language model, or the name of one (`local:FOLDER`, or a chat server's), and
        `reader` an offline reader, or the folder of one. With `rerank="llm"` the model also puts
        the passages in order before they are read, with `rerank="mdr"` an MDR encoder does.
        """
        key = (method, agent, settings, agent_settings, model, form, reader, rerank)
        if self._kept is None or self._kept[0] != key:
            made = make_pipeline(
                self.database,
                self.name,
                method=method,
                agent=agent,
                settings=settings,
                agent_settings=agent_settings,
                model=find_model(model),
                form=form,
                reader=reader,
                rerank=rerank,
            )
            self._kept = (key, made)
        return self._kept[1]

    def ask(
        self,
        question: str,
        *,
        type_: QuestionType | None = None,
        on_text: Callable[[str], None] | None = None,
        retriever: Retriever | None = None,
        answerer: Answerer | None = None,
        method: Method = "kgp",
        agent: AgentName | Agent | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
        model: LanguageModel | str | None = None,
        form: Form = "short",
        reader: Reader | str | None = None,
        rerank: Rerank = "none",
    ) -> Answer:
        """Answer a question from pages and tables or from passages, with its evidence.

        The offline reader answers, or `model` in a `form`, with each sentence checked; `on_text` is
        called with the pieces of its reply, unchecked, while it is written. `type_` overrides the
        question type that is assumed. `retriever` and `answerer` replace the built-in ones; the
        other options are those of `pipeline`.
        """
        pipeline = self.pipeline(
            method=method,
            agent=agent,
            settings=settings,
            agent_settings=agent_settings,
            model=model,
            form=form,
            reader=reader,
            rerank=rerank,
        )
        if retriever is not None or answerer is not None:
            pipeline = Pipeline(
                self.database,
                self.name,
                retriever or pipeline.retriever,
                answerer or pipeline.answerer,
                meter=pipeline.meter,
            )
        return pipeline.ask(question, type_=type_, on_text=on_text)

    def retrieve(
        self,
        question: str,
        *,
        method: Method = "kgp",
        agent: AgentName | Agent | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
        model: LanguageModel | str | None = None,
        rerank: Rerank = "none",
    ) -> Retrieval:
        """Return the passages for a question, best first, and the paths that led to them."""
        return self.pipeline(
            method=method,
            agent=agent,
            settings=settings,
            agent_settings=agent_settings,
            model=model,
            rerank=rerank,
        ).retrieve(question)

    def export(
        self, path: str | Path, *, vectors: bool = True, overwrite: bool = False
    ) -> Transfer:
        """Write the corpus into one file, which is there whole or not at all."""
        return export_corpus(self.database, self.name, path, vectors=vectors, overwrite=overwrite)

    def import_(self, path: str | Path, *, replace: bool = False) -> Transfer:
        """Import a file of `export` as this corpus; with `replace`, in place of what it has."""
        self._kept = None
        return import_corpus(self.database, path, name=self.name, replace=replace)

    @contextmanager
    def gds(self, edges: Sequence[str] = ()) -> Iterator[tuple[GraphDataScience, Graph]]:
        """Project the corpus for Graph Data Science; yields its client and the projected graph.

        The graph has the passages and the edges of these types between them (`SHARES_KEYWORD`,
        `SIMILAR_ST`..., all when empty), undirected, each with a `weight`. It is dropped at the end
        of the `with` block. Needs the extra `gds`.
        """
        with projected(self.database, self.name, edges) as made:
            yield made

    def delete(self) -> None:
        """Delete the corpus with everything in it."""
        self._kept = None
        delete_corpus(self.database, self.name)
