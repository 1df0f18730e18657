"""One interface over the methods: full text, vector, their fusion, and the graph traversal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError, CorpusError, EncoderError, no_corpus
from kgp_neo4j.load.ids import is_storable
from kgp_neo4j.models import Encoder, load_encoder, load_mdr
from kgp_neo4j.records import Question, ReasoningPath, Retrieval, Step
from kgp_neo4j.seed import find_seeds
from kgp_neo4j.traverse import (
    Agent,
    AgentSettings,
    TraversalSettings,
    make_agent,
    read_passages,
    traverse,
)

__all__ = ["METHODS", "Retriever"]

#: What `retrieve --method` takes; `kgp` is the traversal, the others are its baselines.
METHODS = ("bm25", "dense", "hybrid", "kgp")
#: The graphs whose signals the learned agent judges by.
_ALL = ("keywords", "entities", "similarity")


class Retriever:
    """Retrieves passages of one corpus; keeps its encoder, so make one and ask many questions.

    Without `agent`, the agent is `learned` where the corpus has all its graphs, `knn` where it has
    embeddings, and `tfidf` elsewhere.
    Raises CorpusError when the corpus is not there, is empty, or lacks the graph that the method
    needs.
    """

    def __init__(
        self,
        database: Database,
        corpus: str,
        *,
        method: str = "kgp",
        agent: str | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
    ) -> None:
        if method not in METHODS:
            raise ConfigurationError(
                f"there is no method named {method!r}", hint=f"Choose one of {', '.join(METHODS)}."
            )
        found = database.read("inspect/corpus", corpus=corpus)
        if not found:
            raise no_corpus(corpus)
        self._database = database
        self.corpus = corpus
        self.method = method
        self.settings = settings or TraversalSettings()
        #: Passages that came after the corpus was connected, and are reached by search alone.
        self.unconnected: int = found[0]["unconnected"]
        connected: Sequence[str] = found[0]["connected"]
        self._require(method, agent, connected)
        embedded = "similarity" in connected
        lexical = method == "bm25" or agent == "tfidf"
        self.encoder: Encoder | None = None
        if embedded and not lexical:
            self.encoder = load_encoder(found[0]["encoder"])
        if agent == "mdr":
            agent_settings = self._with_mdr(agent_settings or AgentSettings())
        if agent is None:
            agent = "knn" if self.encoder else "tfidf"
            if self.encoder and method == "kgp" and set(_ALL) <= set(connected):
                agent = "learned"
        self.agent: Agent = make_agent(agent, self.encoder, agent_settings)

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages for a question, best first, at most the budget, and their paths.

        `seconds` is the time from question to passages, text included. Raises ConfigurationError
        for a question that is not Unicode text.
        """
        if not is_storable(question.text):
            raise ConfigurationError("the question is not valid Unicode", hint="Use UTF-8.")
        began = time.perf_counter()
        paths = self._paths(question.text) if question.text.strip() else []
        passages = read_passages(self._database, [path.last for path in paths])
        # A passage deleted since it was found is left out, with the path that leads to it.
        paths = [path for path in paths if path.last in passages]
        return Retrieval(
            question=question,
            passages=tuple(
                replace(passages[path.last], score=path.steps[-1].score) for path in paths
            ),
            paths=tuple(paths),
            seconds=time.perf_counter() - began,
        )

    def _paths(self, question: str) -> list[ReasoningPath]:
        if self.method == "kgp":
            return traverse(self._database, self.corpus, question, self.agent, self.settings)
        budget = self.settings.budget
        if self.method == "hybrid":
            begin = self.agent.begin(question)
            steps = find_seeds(self._database, self.corpus, begin, budget, named=0.0)
            return [ReasoningPath((step,)) for step in steps]
        if self.method == "bm25":
            rows = self._database.read(
                "procedures/seeds", question=question, corpus=self.corpus, limit=budget
            )
        else:
            rows = self._database.read(
                "procedures/seeds_by_vector",
                vector=list(self.agent.begin(question).vector or ()),
                corpus=self.corpus,
                limit=budget,
            )
        return [
            ReasoningPath((Step(row["passage"]["id"], "seed", row["score"], reason=self.method),))
            for row in rows
        ]

    def _require(self, method: str, agent: str | None, connected: Sequence[str]) -> None:
        wanted = {"kgp": "keywords", "dense": "similarity", "hybrid": "similarity"}.get(method)
        if method == "kgp" and agent == "knn":
            wanted = "similarity"
        if method == "kgp" and agent == "mdr":
            wanted = "mdr"
        if method == "kgp" and agent == "learned":
            wanted = next((graph for graph in _ALL if graph not in connected), "similarity")
        if method == "kgp" and agent is None and "similarity" in connected:
            return
        if wanted and wanted not in connected:
            raise CorpusError(
                f"the corpus {self.corpus!r} has no {wanted} graph yet",
                hint=f"Run `kgp-neo4j connect --corpus {self.corpus}"
                f"{' --edges knn-mdr --mdr-model FOLDER' if wanted == 'mdr' else ''}`.",
            )

    def _with_mdr(self, settings: AgentSettings) -> AgentSettings:
        """Return the settings with the corpus's MDR encoder, which no other may stand in for."""
        known = self._database.read("inspect/mdr_encoder", corpus=self.corpus)
        if not known:
            return settings
        model = settings.model or known[0]["encoder"]
        if load_mdr(model).fingerprint != known[0]["fingerprint"]:
            raise EncoderError(
                f"the KNN-MDR graph of the corpus {self.corpus!r} was made with other weights",
                where=model,
                hint="Make it anew: `kgp-neo4j connect --edges knn-mdr --mdr-model FOLDER "
                "--replace-embeddings`.",
            )
        return replace(settings, model=model)
