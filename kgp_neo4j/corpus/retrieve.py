"""One interface over the methods: full text, vector, their fusion, and the graph traversal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import get_args

from kgp_neo4j.corpus.seed import find_seeds, seed_steps
from kgp_neo4j.corpus.traverse.agents.base import Agent
from kgp_neo4j.corpus.traverse.agents.choice import AGENTS, make_agent
from kgp_neo4j.corpus.traverse.path_edges import read_passages
from kgp_neo4j.environment.question import check_question
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr import load_mdr
from kgp_neo4j.types.checks import check_choice
from kgp_neo4j.types.corpus import Method, Question, ReasoningPath, Retrieval
from kgp_neo4j.types.errors import CorpusError, EncoderError, no_corpus
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings

__all__ = ["METHODS", "PassageRetriever"]

#: The choices of `retrieve --method`; `kgp` is the traversal, the others are its baselines.
METHODS = tuple(method for method in get_args(Method) if method != "ircot")
#: The graphs whose signals the learned agent uses.
_ALL = ("keywords", "entities", "similarity")
#: The graph of each edge type that `connect` makes.
_GRAPHS = {
    "SHARES_KEYWORD": "keywords",
    "SHARES_ENTITY": "entities",
    "SIMILAR_ST": "similarity",
    "SIMILAR_MDR": "mdr",
}


class PassageRetriever:
    """Retrieve passages of one corpus, by the traversal or one of its baselines.

    Encoder and agent are loaded at the first question, or by `open`, and stay loaded; so make one
    and ask many questions. `agent` is a name or an object; without it, the agent is `learned` where
    the corpus has all its graphs, `knn` where it has embeddings, and `tfidf` elsewhere.
    """

    def __init__(
        self,
        database: Database,
        corpus: str,
        *,
        method: Method = "kgp",
        agent: str | Agent | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
    ) -> None:
        check_choice("method", method, METHODS)
        if isinstance(agent, str):
            check_choice("agent", agent, AGENTS)
        self._database = database
        self.corpus = corpus
        self.method = method
        self.settings = settings or TraversalSettings()
        self._asked_agent = agent
        self._agent_settings = agent_settings or AgentSettings()
        self._encoder: Encoder | None = None
        self._agent: Agent | None = None
        self._complete = True

    @property
    def name(self) -> str:
        """Return the retriever's name, as answers give it: its agent, or the baseline."""
        return self.agent.name if self.method == "kgp" else self.method

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the corpus's passages; None where it has no vectors, or
        needs none.
        """
        self.open()
        return self._encoder

    @property
    def agent(self) -> Agent:
        """Return the agent that chooses the evidence."""
        return self.open()

    @property
    def complete(self) -> bool:
        """Return whether all passages are known to be in the graphs; asked again until they are."""
        self.open()
        if not self._complete:
            found = self._database.read("inspect/state", corpus=self.corpus)
            self._complete = bool(found and found[0]["complete"])
        return self._complete

    def open(self) -> Agent:
        """Load encoder and agent, once, and return the agent.

        Raises CorpusError where the corpus does not exist, is empty, or lacks the graph that the
        method needs.
        """
        if self._agent is not None:
            return self._agent
        found = self._database.read("inspect/state", corpus=self.corpus)
        if not found:
            raise no_corpus(self.corpus)
        self._complete = found[0]["complete"]
        connected: Sequence[str] = found[0]["connected"]
        agent = self._asked_agent
        self._require(agent if isinstance(agent, str) else None, connected)
        if "similarity" in connected and self.method != "bm25" and agent != "tfidf":
            self._encoder = load_encoder(found[0]["encoder"])
        if agent is None:
            agent = "knn" if self._encoder else "tfidf"
            default = self.method == "kgp" and self.settings.algorithm == "beam"
            if self._encoder and default and set(_ALL) <= set(connected):
                agent = "learned"
        if isinstance(agent, str):
            settings = self._agent_settings
            if agent == "mdr":
                settings = self._with_mdr(settings)
            agent = make_agent(agent, self._encoder, settings)
        self._agent = agent
        return agent

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages for a question, best first, at most the budget, and their paths.

        `seconds` is the time from question to passages, with their text. Raises ConfigurationError
        for a question that is too long or not Unicode text.
        """
        check_question(question.text)
        self.open()
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
            settings={"method": self.method, **asdict(self.settings)},
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        """Return a note where passages may have come since; to count them takes seconds in a large
        corpus.
        """
        if self.complete:
            return ()
        return (
            "what came after the corpus was connected may be missed; "
            "run `kgp-neo4j connect` to join it in.",
        )

    def _paths(self, question: str) -> list[ReasoningPath]:
        if self.method == "kgp":
            return self.agent.walk(self._database, self.corpus, question, self.settings)
        budget = self.settings.budget
        if self.method == "hybrid":
            begin = self.agent.begin(question)
            steps = find_seeds(self._database, self.corpus, begin, budget, named=0.0)
        elif self.method == "bm25":
            rows = self._database.read(
                "procedures/seeds", question=question, corpus=self.corpus, limit=budget
            )
            steps = seed_steps(rows, self.method)
        else:
            rows = self._database.read(
                "procedures/seeds_by_vector",
                vector=list(self.agent.begin(question).vector or ()),
                corpus=self.corpus,
                limit=budget,
            )
            steps = seed_steps(rows, self.method)
        return [ReasoningPath((step,)) for step in steps]

    def _require(self, agent: str | None, connected: Sequence[str]) -> None:
        method = self.method
        wanted = {"kgp": "keywords", "dense": "similarity", "hybrid": "similarity"}.get(method)
        if method == "kgp" and agent == "knn":
            wanted = "similarity"
        if method == "kgp" and agent == "mdr":
            wanted = "mdr"
        if method == "kgp" and agent == "learned":
            wanted = next((graph for graph in _ALL if graph not in connected), "similarity")
        if method == "kgp" and self.settings.algorithm == "paper":
            wanted = _GRAPHS.get(self.settings.edges[0])
        elif method == "kgp" and agent is None and "similarity" in connected:
            return
        if wanted and wanted not in connected:
            raise CorpusError(
                f"the corpus {self.corpus!r} has no {wanted} graph yet",
                hint=f"Run `kgp-neo4j connect --corpus {self.corpus}"
                f"{' --edges knn-mdr' if wanted == 'mdr' else ''}`.",
            )

    def _with_mdr(self, settings: AgentSettings) -> AgentSettings:
        """Return the settings with the corpus's MDR encoder, since no other fits its vectors."""
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
