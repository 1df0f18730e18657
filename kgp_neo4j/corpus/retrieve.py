"""One interface over the methods: full text, vector, their fusion, and the graph traversal."""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import get_args

from kgp_neo4j.corpus.connect.embedding_graph import choose_encoder
from kgp_neo4j.corpus.traverse.agents.generating import ChatAgent, LlamaAgent
from kgp_neo4j.corpus.traverse.agents.learned import LearnedAgent
from kgp_neo4j.corpus.traverse.agents.search import KnnAgent, MdrAgent, RandomAgent, TfidfAgent
from kgp_neo4j.corpus.traverse.algorithm import Agent, find_seeds, read_passages, seed_steps
from kgp_neo4j.environment.configuration import check_question
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.types.corpus import AgentName, Method, Question, ReasoningPath, Retrieval, Step
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, no_corpus
from kgp_neo4j.types.settings import AgentSettings, MdrSettings, TraversalSettings, check_choice

#: The choices of `retrieve --method`; `kgp` is the traversal, the others are its baselines.
METHODS = tuple(method for method in get_args(Method) if method != "ircot")
#: The names `--agent` takes, and those of agents that take a model.
AGENTS, _TAKERS = get_args(AgentName), ("learned", "llama", "chat")
#: The graphs whose signals the learned agent uses.
_ALL = ("keywords", "entities", "similarity")
#: The graph of each edge type that `connect` makes.
_GRAPHS = {
    "SHARES_KEYWORD": "keywords",
    "SHARES_ENTITY": "entities",
    "SIMILAR_ST": "similarity",
    "SIMILAR_MDR": "mdr",
}
#: What agents need; the others need the keywords.
_NEEDED = {"learned": _ALL, "knn": ("similarity",), "mdr": ("mdr",)}
_UNMADE = "is not connected yet"
_UNCONNECTED = (
    "what came after the corpus was connected may be missed; run `kgp-neo4j connect` to join it in."
)


class PassageRetriever:
    """Retrieve passages of one corpus, by the traversal or one of its baselines.

    Encoder and agent are loaded at the first question, or by `open`, and stay loaded. `agent` is a
    name or an object; without it, the agent is `learned` where the corpus has all its graphs, `knn`
    where it has embeddings, and `tfidf` elsewhere. A corpus that is not connected is searched by
    words, which a note says, unless a graph is asked for.
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
        self._requested_agent = agent
        self._agent_settings = agent_settings or AgentSettings()
        self._encoder: Encoder | None = None
        self._agent: Agent | None = None
        self._complete = True
        #: Why passages are searched by words alone, where they are.
        self._by_words = ""

    @property
    def name(self) -> str:
        """Return the retriever's name, as answers give it: its agent, or the baseline."""
        agent = self.open().name
        return "bm25" if self._by_words else agent if self.method == "kgp" else self.method

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the corpus's passages; None without vectors, or if not needed."""
        self.open()
        return self._encoder

    def open(self) -> Agent:
        """Load encoder and agent, once, and return the agent.

        Raises CorpusError where the corpus does not exist, or lacks the graph that is needed.
        """
        if self._agent is not None and not self._by_words:  # it may be connected since
            return self._agent
        states = self._database.read("inspect/state", corpus=self.corpus)
        if not states:
            raise no_corpus(self.corpus)
        state = states[0]
        self._complete = state["complete"]
        connected: Sequence[str] = state["connected"]
        agent = self._requested_agent
        default = self.method == "kgp" and agent is None and self.settings.algorithm == "beam"
        missing = [each for each in self._required_graphs(connected) if each not in connected]
        self._by_words = ""
        if missing and default:
            how = "is being connected, or that was cut short" if state["begun"] else _UNMADE
            self._by_words = (
                f"The corpus {how}: passages were found by their words alone; run "
                f"`kgp-neo4j connect --corpus {self.corpus}` for all."
            )
        elif missing:
            edges = " --edges knn-mdr" if missing[0] == "mdr" else ""
            hint = f"Run `kgp-neo4j connect --corpus {self.corpus}{edges}`."
            lacks = f"the corpus {self.corpus!r} has no {missing[0]} graph yet"
            raise CorpusError(lacks, hint=hint)
        if "similarity" in connected and self.method != "bm25" and agent != "tfidf":
            self._encoder = load_encoder(state["encoder"])
        if agent is None:
            best = "learned" if default and set(_ALL) <= set(connected) else "knn"
            agent = best if self._encoder else "tfidf"
        if isinstance(agent, str):
            if agent == "mdr":  # whose graph has to be of our encoder
                choose_encoder(self._database, self.corpus, MdrSettings())
            agent = make_agent(agent, self._encoder, self._agent_settings)
        self._agent = agent
        return agent

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages for a question, best first, at most the budget, and their paths.

        A note says where passages may have come since the corpus was connected. Raises
        ConfigurationError for a question that is too long or not Unicode text.
        """
        check_question(question.text)
        agent = self.open()
        began = time.perf_counter()
        method = "bm25" if self._by_words else self.method
        if not question.text.strip():
            paths = []
        elif method == "kgp":
            paths = agent.walk(self._database, self.corpus, question.text, self.settings)
        else:
            paths = [ReasoningPath((step,)) for step in self._search(question.text, method)]
        passages = read_passages(self._database, [path.last for path in paths])
        # A passage deleted since the search is left out, with the path that leads to it.
        paths = [path for path in paths if path.last in passages]
        seconds = time.perf_counter() - began
        if not self._complete:  # asked again until it is
            state = self._database.read("inspect/state", corpus=self.corpus)
            self._complete = bool(state and state[0]["complete"])
        return Retrieval(
            question=question,
            passages=tuple(replace(passages[p.last], score=p.steps[-1].score) for p in paths),
            paths=tuple(paths),
            seconds=seconds,
            settings={"method": method, **asdict(self.settings)},
            notes=() if self._complete else (self._by_words or _UNCONNECTED,),
        )

    def _search(self, question: str, method: str) -> list[Step]:
        """Return what a baseline retrieves, best first."""
        budget = self.settings.budget
        within = {"corpus": self.corpus, "limit": budget}
        if method == "bm25":
            rows = self._database.read("procedures/seeds", question=question, **within)
            return seed_steps(rows, method)
        begin = self.open().begin(question)
        if method == "hybrid":
            return find_seeds(self._database, self.corpus, begin, budget, named=0.0)
        vector = list(begin.vector or ())
        rows = self._database.read("procedures/seeds_by_vector", vector=vector, **within)
        return seed_steps(rows, method)

    def _required_graphs(self, connected: Sequence[str]) -> Sequence[str]:
        """Return the graphs that the method needs."""
        agent = self._requested_agent if isinstance(self._requested_agent, str) else None
        if self.method != "kgp":
            return () if self.method == "bm25" else ("similarity",)
        if self.settings.algorithm == "paper":
            return [_GRAPHS[edge] for edge in self.settings.edges[:1] if edge in _GRAPHS]
        if agent is None and "similarity" in connected:
            return ()
        return _NEEDED.get(agent or "", ("keywords",))


def make_agent(name: str, encoder: Encoder | None, settings: AgentSettings) -> Agent:
    """Return the agent of that name; ConfigurationError for settings that do not suit it."""
    if settings.model is not None and name not in _TAKERS:
        hint = f"Leave --model out, or choose --agent {', '.join(_TAKERS)}."
        raise ConfigurationError(f"the agent {name} takes no model", hint=hint)
    match name:
        case "tfidf":
            return TfidfAgent()
        case "random":
            return RandomAgent(encoder, settings.seed)
        case "mdr":
            return MdrAgent(encoder)
        case "chat":
            return ChatAgent(settings, encoder)
        case "llama":
            return LlamaAgent(settings, encoder)
    if encoder is None:
        hint = "Run `kgp-neo4j connect` with similarity edges, or use --agent tfidf."
        raise ConfigurationError(f"the agent {name} needs a corpus with embeddings", hint=hint)
    return LearnedAgent(encoder, settings.model) if name == "learned" else KnnAgent(encoder)
