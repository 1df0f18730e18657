"""One interface over the methods: full text, vector, their fusion, and the graph traversal."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import regex

from kgp_neo4j.corpus.answer import model as prompt
from kgp_neo4j.corpus.answer.check import without_citations
from kgp_neo4j.corpus.connect.embedding_graph import choose_encoder
from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.read.by_sentence import is_in_latin_script
from kgp_neo4j.corpus.traverse.agents.learned import LearnedAgent
from kgp_neo4j.corpus.traverse.algorithm import Agent, find_seeds, read_passages, seed_steps
from kgp_neo4j.environment.configuration import check_question
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import reply_with_passages, without_reasoning
from kgp_neo4j.models.encoder import Encoder, load_encoder, load_mdr
from kgp_neo4j.plugins import load_plugin
from kgp_neo4j.text.safe import neutral
from kgp_neo4j.text.words import DEFAULT_LANGUAGE
from kgp_neo4j.types.corpus import (
    LanguageModel,
    Passage,
    Question,
    ReasoningPath,
    Rerank,
    Retrieval,
    Step,
)
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, no_corpus
from kgp_neo4j.types.settings import AgentSettings, MdrSettings, TraversalSettings, check_choice

#: The traversal, and its baselines.
METHODS = ("kgp", "bm25", "dense", "hybrid")
#: The graph of each edge type that `connect` makes.
_GRAPHS = {
    "SHARES_KEYWORD": "keywords",
    "SHARES_ENTITY": "entities",
    "SIMILAR_ST": "similarity",
    "SIMILAR_MDR": "mdr",
}
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
        method: str = "kgp",
        agent: str | Agent | None = None,
        settings: TraversalSettings | None = None,
        agent_settings: AgentSettings | None = None,
    ) -> None:
        check_choice("method", method, METHODS)
        self._database = database
        self.corpus = corpus
        self.method = method
        self.settings = settings or TraversalSettings()
        self._requested_agent = agent
        self._kind = load_plugin("agent", agent) if isinstance(agent, str) else agent
        self._agent_settings = agent_settings or AgentSettings()
        self._encoder: Encoder | None = None
        self._agent: Agent | None = None
        self._complete, self._language = True, ""
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
        self._complete, self._language = state["complete"], state["language"]
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
            is_whole = {*LearnedAgent.graphs} <= {*connected}
            best = "learned" if default and is_whole else "knn"
            agent = best if self._encoder else "tfidf"
        if isinstance(agent, str):
            if "mdr" in getattr(self._kind, "graphs", ()):  # it has to be of our encoder
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
        known = self._language == DEFAULT_LANGUAGE and is_in_latin_script(question.text)
        if isinstance(agent, LearnedAgent) and known:
            paths = agent.rank_by_sentences(question.text, paths, passages)
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
        if self.method != "kgp":
            return () if self.method == "bm25" else ("similarity",)
        if self.settings.algorithm == "paper":
            return [_GRAPHS[edge] for edge in self.settings.edges[:1] if edge in _GRAPHS]
        if self._kind is None:
            return () if "similarity" in connected else ("keywords",)
        return getattr(self._kind, "graphs", ())


def make_agent(name: str, encoder: Encoder | None, settings: AgentSettings) -> Agent:
    """Return the agent of that name; ConfigurationError for settings that do not suit it."""
    make: Callable[..., Agent] = load_plugin("agent", name)
    if settings.model is not None and not getattr(make, "takes_model", False):
        hint = "Leave --model out, or choose another --agent."
        raise ConfigurationError(f"the agent {name} takes no model", hint=hint)
    if encoder is None and getattr(make, "needs_encoder", False):
        hint = "Run `kgp-neo4j connect` with similarity edges, or use --agent tfidf."
        raise ConfigurationError(f"the agent {name} needs a corpus with embeddings", hint=hint)
    return make(encoder, settings)


def find_passages(
    database: Database,
    corpus: str,
    *,
    model: LanguageModel | None = None,
    rerank: Rerank = "none",
    **options: Any,
) -> PassageRetriever:
    """Return the retriever of a traversal or a baseline, whose passages `rerank` may put in order.

    Raises ConfigurationError where the language model that this takes is not named.
    """
    if rerank == "none":
        return PassageRetriever(database, corpus, **options)
    choose = partial(rank_by_mdr, database, corpus)
    if rerank == "llm":
        choose = partial(select, _needed(model, "this reranking is done"))
    return Reranked(rerank, choose, database, corpus, **options)


def reason_and_find(
    database: Database,
    corpus: str,
    *,
    model: LanguageModel | None = None,
    rerank: Rerank = "none",
    settings: TraversalSettings | None = None,
    **_: Any,
) -> "Ircot":
    """Return IRCoT's retriever; raises ConfigurationError without a model, and with a `rerank`."""
    model = _needed(model, "IRCoT reasons")
    if rerank != "none":
        hint = "Leave --rerank out, or choose another method."
        raise ConfigurationError("IRCoT's passages are in the order of its thoughts", hint=hint)
    return Ircot(PassageRetriever(database, corpus, method="bm25", settings=settings), model)


def _needed(model: LanguageModel | None, what: str) -> LanguageModel:
    if model is None:
        hint = "Name one (--llm NAME), or choose another --method or --rerank."
        raise ConfigurationError(f"{what} with a language model, and none is named", hint=hint)
    return model


_Choose = Callable[[str, Sequence[Passage]], Sequence[int]]
#: Passages by id, each with the path that led to it.
_Gathered = dict[str, tuple[Passage, ReasoningPath]]
_NONE = "The language model selected no passage; they stay in the order of the retrieval."
#: Passages that an MDR encoder puts in order, those of them that the next one is expected after,
#: and the exponent of its rank beside the retriever's; R@5 is about the same for 30 passages, for 3
#: to 8 of them, and for 0.2 to 0.5.
_JUDGED, _BEFORE, _SHARE = 20, 2, 0.3
_ANSWERS = regex.compile(r"\b(?:the|final)\s+answer\s+is\b|答案是", regex.IGNORECASE)
_NUMBER = regex.compile(r"(?<![\p{L}\p{N}])\d{1,4}(?![\p{L}\p{N}])")


class Reranked(PassageRetriever):
    """A retriever whose passages are put in order: `choose`, named `by`, gives the first places."""

    def __init__(self, by: Rerank, choose: _Choose, *corpus: Any, **options: Any) -> None:
        super().__init__(*corpus, **options)
        self.by = by
        self.choose = choose

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages that are chosen, in their order, then the others in theirs.

        Where none is chosen, the order stays and a note says so. `seconds` includes the choice.
        Raises ModelError where a language model cannot be used at all.
        """
        retrieval = super().retrieve(question)
        passages, paths = retrieval.passages, retrieval.paths
        if len(passages) < 2:
            return retrieval
        began = time.perf_counter()
        first = self.choose(question.text, passages)
        order = list(dict.fromkeys((*first, *range(len(passages)))))
        return replace(
            retrieval,
            passages=tuple(passages[at] for at in order),
            paths=tuple(paths[at] for at in order),
            seconds=retrieval.seconds + time.perf_counter() - began,
            settings={**retrieval.settings, "rerank": self.by},
            notes=retrieval.notes if first else (*retrieval.notes, _NONE),
        )


def select(model: LanguageModel, question: str, passages: Sequence[Passage]) -> list[int]:
    """Return the places of the passages that a model selects, the most useful first."""
    make, tokens = partial(prompt.selection_prompt, question), prompt.TOKENS["selection"]
    blocks = [prompt.passage_block(number, passage) for number, passage in enumerate(passages, 1)]
    reply, shown = reply_with_passages(model, prompt.TASK, make, blocks, tokens=tokens)
    if reply.finish in ("refused", "empty"):
        return []
    numbers = map(int, _NUMBER.findall(without_reasoning(reply.text)))
    return list(dict.fromkeys(n - 1 for n in numbers if 1 <= n <= shown))


def rank_by_mdr(
    database: Database, corpus: str, question: str, passages: Sequence[Passage]
) -> list[int]:
    """Return the places of the first passages, ordered by the MDR encoder's ranks too.

    A passage's likeness is the greatest to the question with one of the first passages before it;
    its place is by (1 + rank) * (1 + rank by likeness) ** 0.3. Vectors of this encoder that the
    corpus has are read.
    """
    stored = database.read("inspect/encoder", corpus=corpus, graph="mdr")
    encoder = load_mdr()
    texts = {passage.id: (passage.title, passage.text) for passage in passages[:_JUDGED]}
    vectors: dict[str, Sequence[float]] = {}
    if stored and stored[0]["fingerprint"] == encoder.fingerprint:
        rows = database.read_packed("traverse/mdr_vectors", ids=list(texts))
        vectors = {row["id"]: row["vector"] for row in rows}
    new = [passage for passage in texts if passage not in vectors]
    encoded = encoder.encode_passages([texts[passage] for passage in new])
    vectors |= dict(zip(new, encoded, strict=True))
    matrix = np.array([vectors[passage] for passage in texts], np.float32)
    first = list(texts.values())[:_BEFORE]
    likeness = encoder.encode_queries([(question, [text]) for text in first]) @ matrix.T
    np.fill_diagonal(likeness, -1.0)  # no passage comes after itself
    rank = np.argsort(np.argsort(-likeness.max(axis=0), kind="stable"))
    place = np.log1p(np.arange(len(texts))) + _SHARE * np.log1p(rank)
    return [int(at) for at in np.argsort(place, kind="stable")]


@dataclass(frozen=True, slots=True)
class Ircot:
    """Retrieve by at most `turns` thoughts, `each` passages for one, in the retriever's budget."""

    name: ClassVar[str] = "ircot"
    retriever: PassageRetriever
    model: LanguageModel
    turns: int = 4
    each: int = 6

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the passages, None where there is none."""
        return self.retriever.encoder

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages retrieved by question and thoughts, in that order, with paths.

        A path's first step names the thought that retrieved it; `seconds` includes the model's
        calls. Raises ModelError where the model cannot be used at all.
        """
        began = time.perf_counter()
        gathered: _Gathered = {}
        self._fetch(question.text, "", gathered)
        thoughts: list[str] = []
        while gathered and len(thoughts) < self.turns:
            sentence = self._think(question.text, gathered, thoughts)
            if not sentence or sentence in thoughts or _ANSWERS.search(sentence):
                break
            thoughts.append(sentence)
            self._fetch(sentence, f"thought {len(thoughts)}", gathered)
            if len(gathered) >= self.retriever.settings.budget:
                break
        return Retrieval(
            question=question,
            passages=tuple(passage for passage, _ in gathered.values()),
            paths=tuple(path for _, path in gathered.values()),
            seconds=time.perf_counter() - began,
            settings={"method": self.name, **asdict(self.retriever.settings)},
        )

    def _fetch(self, query: str, reason: str, gathered: _Gathered) -> None:
        """Add the best new passages for a query, `each` of them at most."""
        retrieval = self.retriever.retrieve(Question("", query))
        most = min(len(gathered) + self.each, self.retriever.settings.budget)
        for passage, path in zip(retrieval.passages, retrieval.paths, strict=True):
            if len(gathered) >= most:
                break
            if reason:
                first = path.steps[0]
                told = replace(first, reason=f"{reason}: {first.reason}".rstrip(": "))
                path = ReasoningPath((told, *path.steps[1:]))
            gathered.setdefault(passage.id, (passage, path))

    def _think(self, question: str, gathered: _Gathered, thoughts: list[str]) -> str:
        """Return the next sentence of the reasoning; empty where the model writes none."""
        make, tokens = partial(prompt.thought_prompt, question, thoughts), prompt.TOKENS["thought"]
        read = (passage for passage, _ in gathered.values())
        blocks = [prompt.passage_block(number, passage) for number, passage in enumerate(read, 1)]
        reply, _ = reply_with_passages(self.model, prompt.TASK, make, blocks, tokens=tokens)
        text = without_citations(neutral(without_reasoning(reply.text))).strip(" -*>\t\n")
        line = text.split("\n")[0].rstrip(" -*>\t")
        if not line or reply.finish in ("refused", "empty"):
            return ""
        # A model may write more sentences, but the next one has to use what this one retrieves.
        start, end = sentences(line)[0]
        return line[start:end].strip()
