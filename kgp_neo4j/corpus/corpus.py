"""A corpus in Python: load, connect, inspect and ask it."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from kgp_neo4j.corpus.answer.traces import traces
from kgp_neo4j.corpus.connect.graphs import EDGES, GraphSettings, connect, connect_small
from kgp_neo4j.corpus.load import stored
from kgp_neo4j.corpus.load.loading import Prune, load
from kgp_neo4j.corpus.pipeline import Answerer, Pipeline, PipelineOptions, Retriever, make_pipeline
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.graphdb.database import Store
from kgp_neo4j.types import corpus as types
from kgp_neo4j.types.errors import CapabilityError, CorpusError
from kgp_neo4j.types.settings import EDGES as EDGE_TYPES
from kgp_neo4j.types.settings import TraversalSettings
from kgp_neo4j.types.tables import TableSummary

if TYPE_CHECKING:
    from graphdatascience import Graph, GraphDataScience

#: The share of the server's heap that GDS may take at the least, by its own estimate: it takes more
#: while it reads the graph, and a server whose heap is full ends.
_MOST_HEAP = 0.8


class Corpus(Store):
    """A named corpus in Neo4j; opens the database itself, when it is first needed.

    >>> with Corpus("mine") as corpus:
    ...     corpus.load(["docs/"])
    ...     corpus.connect()
    ...     print(corpus.ask("Who built the lighthouse?").text)
    """

    #: The pipeline of the last options, with these.
    _loaded: tuple[PipelineOptions, Pipeline] | None = None

    def load(
        self,
        paths: Sequence[str | Path],
        *,
        passage_size: int | None = None,
        language: str | None = None,
        strict: bool = False,
        prune: Prune = False,
        follow_links: bool = False,
    ) -> types.LoadReport:
        """Load files, folders and globs; `passage_size` in characters, `language` as "german".

        The report lists what is not loaded; `strict` raises InputError at the first bad file.
        `prune` removes what a folder had when it was loaded before; a function in its place gets
        the names, and whether a folder is empty, and returns whether to. `follow_links` follows
        links that lead out of a folder.
        """
        return load(
            self.database,
            [str(p) for p in paths],
            self.name,
            passage_size=passage_size,
            language=language,
            strict=strict,
            prune=prune,
            follow_links=follow_links,
        )

    def connect(
        self,
        *,
        edges: Sequence[types.GraphName] = EDGES,
        anew: bool = False,
        **settings: Unpack[GraphSettings],
    ) -> types.ConnectReport:
        """Make the named graphs; of those that are there, write what has changed.

        With `anew` everything is written again. `knn-mdr` is made only where it is named.
        """
        self._loaded = None
        return connect(self.database, self.name, edges=edges, anew=anew, **settings)

    def documents(self) -> list[types.Document]:
        """Return the documents by title; raises CorpusError where the corpus does not exist."""
        return stored.list_documents(self.database, self.name)

    def passages(self, document: str | None = None, *, limit: int = 1000) -> list[types.Passage]:
        """Return the passages in order: all, or those of the `document` with this id or title."""
        return stored.list_passages(self.database, self.name, document, limit)

    def tables(self, document: str | None = None) -> list[TableSummary]:
        """Return the tables in order: all, or those of the `document` with this id or title."""
        return stored.list_tables(self.database, self.name, document)

    def traces(self, *, limit: int = 1000) -> list[types.Trace]:
        """Return the stored traversals, the latest first (`kgp-neo4j ask --trace` stores them)."""
        return traces(self.database, self.name, limit=limit)

    def pipeline(self, **options: Unpack[PipelineOptions]) -> Pipeline:
        """Return a pipeline of `PipelineOptions`; the same ones return the one loaded before.

        A small corpus that is not connected yet is connected first, unless only words are searched.
        """
        if self._loaded is None or self._loaded[0] != options:
            if options.get("method") != "bm25":
                connect_small(self.database, self.name)
            self._loaded = (options, make_pipeline(self.database, self.name, **options))
        return self._loaded[1]

    def ask(
        self,
        question: str,
        *,
        type_: types.QuestionType | None = None,
        on_text: Callable[[str], None] | None = None,
        retriever: Retriever | None = None,
        answerer: Answerer | None = None,
        **options: Unpack[PipelineOptions],
    ) -> types.Answer:
        """Answer a question from pages and tables or from passages, with its evidence.

        The offline reader answers, or the `model`, with each sentence checked; `on_text` is called
        with the pieces of its reply, unchecked, while it is written. `type_` overrides the type of
        question assumed, `retriever` and `answerer` the built-in ones. For options see `pipeline`.
        """
        loaded = self.pipeline(**options)
        chosen = (retriever or loaded.retriever, answerer or loaded.answerer)
        pipeline = Pipeline(self.database, self.name, *chosen, meter=loaded.meter)
        return pipeline.ask(question, type_=type_, on_text=on_text)

    def retrieve(self, question: str, **options: Unpack[PipelineOptions]) -> types.Retrieval:
        """Return the passages for a question, best first, and the paths that led to them."""
        return self.pipeline(**options).retrieve(question)

    def export(self, path: str | Path, *, overwrite: bool = False) -> types.Transfer:
        """Write the corpus into one file, which is there whole or not at all."""
        return stored.export_corpus(self.database, self.name, path, overwrite=overwrite)

    def import_(self, path: str | Path, *, replace: bool = False) -> types.Transfer:
        """Import a file of `export` as this corpus; with `replace`, in place of what it has."""
        self._loaded = None
        return stored.import_corpus(self.database, path, name=self.name, replace=replace)

    @contextmanager
    def gds(self, edges: Sequence[str] = ()) -> Iterator[tuple["GraphDataScience", "Graph"]]:
        """Project the corpus for Graph Data Science; yields its client and the projected graph.

        The graph has the passages and the edges of these types (`SHARES_KEYWORD`..., all when
        empty), undirected, each with a `weight`; it is dropped at the end of the `with` block.
        Raises ConfigurationError for another type or without the extra `gds`, CorpusError where
        there are no passages, and CapabilityError where the server has no Graph Data Science, or
        not enough memory for it.
        """
        chosen = list(TraversalSettings(edges=tuple(edges)).edges or EDGE_TYPES)
        with needs("gds", "the graph of Graph Data Science"):
            from graphdatascience import GraphDataScience
        # A unique name, so that several can be open at once.
        name = f"kgp-{uuid.uuid4().hex}"
        database, corpus = self.database, self.name
        (needed,) = database.read("gds/graph_memory", corpus=corpus, edges=chosen)
        if needed["share"] > _MOST_HEAP:
            raise CapabilityError(
                f"the graph of the corpus {corpus!r} needs {needed['least'] / 2**30:,.1f} GiB of "
                f"the server's heap, {100 * needed['share']:,.0f} % of all that it has",
                hint="Give the server more memory (`kgp-neo4j server stop`, then `server start "
                "--memory SIZE`; a server of your own: server.memory.heap.max_size).",
            )
        try:
            (made,) = database.read("gds/project", graph=name, corpus=corpus, edges=chosen)
            if not made["nodes"]:
                hint = "`kgp-neo4j corpora` lists the corpora; `kgp-neo4j load` fills one."
                raise CorpusError(f"there are no passages in a corpus named {corpus!r}", hint=hint)
            within = database.connection.database
            client = GraphDataScience(
                database.driver, database=within, arrow=False, show_progress=False
            )
            yield client, client.graph.get(name)
        finally:
            database.read("gds/drop", graph=name)

    def delete(self) -> None:
        """Delete the corpus with everything in it."""
        self._loaded = None
        stored.delete_corpus(self.database, self.name)
