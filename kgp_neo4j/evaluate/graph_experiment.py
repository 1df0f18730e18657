"""Run the rows of MindMap's tables: answers over a knowledge graph, all from as much evidence.

A row is a way to find evidence. All rows start from the same linked entities and get the same
number of triples. Without a language model their answers are composed from that evidence; with one,
MindMap's go through its prompt and check, and a baseline's reply counts as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from kgp_neo4j.evaluate.answers import answer_questions
from kgp_neo4j.evaluate.experiment import Method, keep_settings
from kgp_neo4j.evaluate.graph_baselines import (
    Bm25,
    Embeddings,
    as_reasoning,
    baseline_prompt,
    graph_documents,
)
from kgp_neo4j.evaluate.graph_questions import GraphQuestion
from kgp_neo4j.evaluate.grounding import grounding, known_names
from kgp_neo4j.evaluate.scores import Row, Run, read_rows
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.mindmap.answer.ask_graph import answer_from, is_medical
from kgp_neo4j.mindmap.answer.describe import describe
from kgp_neo4j.mindmap.answer.map_prompt import evidence_lines
from kgp_neo4j.mindmap.answer.options import read_choice, score_options
from kgp_neo4j.mindmap.answer.same_names import same
from kgp_neo4j.mindmap.explore.exploration import shortest_paths
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.link.name_forms import content_stems, forms, name_words
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.mindmap.load.graphs import require_graph
from kgp_neo4j.mindmap.stored_graph import open_graph
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.mindmap import LinkedEntity, MindMap, OptionScore, ReasoningGraph
from kgp_neo4j.types.settings import MiningSettings

__all__ = [
    "GRAPH_METHODS",
    "GRAPH_TABLES",
    "OURS",
    "GraphResult",
    "Holdings",
    "measure_answer",
    "measure_run",
    "run_graph_methods",
]

#: The row that the others are compared with.
OURS = "mindmap"
#: The rows by name, in the order of the tables.
GRAPH_METHODS: dict[str, Method] = {
    OURS: Method("paths between entities and their neighbours, our default"),
    "mindmap-paper": Method(
        "the same, neighbours judged and evidence described by the model", needs="model"
    ),
    "mindmap-no-paths": Method("without path-based evidence"),
    "mindmap-no-neighbours": Method("without neighbour-based evidence"),
    "mindmap-plain": Method("MindMap's evidence in a plain prompt", needs="model"),
    "kg-retriever": Method("the shortest path between each two entities"),
    "bm25-documents": Method("documents of triples by words (BM25)"),
    "embedding-documents": Method("documents of triples by their embeddings"),
    "model-alone": Method("no evidence: what the language model knows", needs="model"),
}
_MINED = tuple(name for name in GRAPH_METHODS if name.startswith(OURS))
#: The rows that answer by MindMap's prompt and check.
_OWN_PROMPT = frozenset(_MINED) - {"mindmap-plain"}
_PAPER = (OURS, "mindmap-paper", "kg-retriever", "bm25-documents", "embedding-documents",
          "model-alone")  # fmt: skip
#: The rows of the paper's tables: GenMedGPT-5k (2, 3), CMCQA (4, 5), ExplainCPE (6), ablations.
GRAPH_TABLES: dict[str, tuple[str, ...]] = {
    **{f"mindmap-{number}": _PAPER for number in (2, 3, 4, 5)},
    "mindmap-6": (*_PAPER, "mindmap-plain"),
    "mindmap-ablations": (OURS, "mindmap-no-paths", "mindmap-no-neighbours"),
}
#: Documents that the document retrievers read; the paper's read the best ones too.
_DOCUMENTS = 3


@dataclass(frozen=True, slots=True)
class GraphResult:
    """The scored runs by method, with their settings; `linking` is that of each question.

    `types` are for each question the types that its answer's entities have in the graph.
    """

    dataset: str
    settings: Mapping[str, Any]
    questions: tuple[GraphQuestion, ...]
    linking: Run
    runs: dict[str, Run]
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


# --- Measures ---


class Holdings:
    """The names that a graph holds with their types, by key and in any word form."""

    def __init__(self, types: Mapping[str, str] | None = None) -> None:
        self.types = types or {}
        self._keys: dict[str, str] = {}
        self._stems: dict[tuple[str, ...], str] = {}
        for name, type_ in self.types.items():
            key = key_of(name)
            self._keys[key] = type_
            for way in forms(name)[:1]:
                self._stems.setdefault(content_stems(way), key)
        self.known = known_names(self.types)

    @classmethod
    def of(cls, database: Database, graph: str) -> Holdings:
        """Return the names of a graph; raises GraphError where there is no such one."""
        require_graph(database, graph)
        rows = database.read("explore/all_names", graph=graph)
        return cls({row["name"]: row["type"] for row in rows})

    def exactly(self, listed: Iterable[str]) -> set[str]:
        """Return the keys of the listed names that the graph has letter by letter, case aside."""
        return {key_of(name) for name in listed} & self._keys.keys()

    def held(self, listed: Iterable[str]) -> set[str]:
        """Return the keys of the listed names that the graph has in any word form."""
        found = set()
        for name in listed:
            key = key_of(name)
            stems = content_stems(name_words(name))
            if key in self._keys:
                found.add(key)
            elif stems and stems in self._stems:
                found.add(self._stems[stems])
        return found

    def types_of_answer(self, asked: GraphQuestion) -> tuple[str, ...]:
        """Return the types of the entities in a question's answer: those listed, else those that
        the right option or the reference names.
        """
        keys = self.held(asked.answers)
        if not keys:
            text = asked.options.get(asked.choice, asked.reference)
            keys = {key_of(name) for name in grounding(text, (), self.known).named}
        return tuple(sorted({self._keys[key] for key in keys} - {""}))


def measure_answer(asked: GraphQuestion, row: Row, holdings: Holdings) -> dict[str, float]:
    """Return the measures of one answer, each from 0 to 1, `seconds` in seconds.

    A line that is missing has no choice, names nothing and reaches nothing.
    """
    said = str(row.get("answer") or "")
    made: dict[str, float] = {}
    if asked.choice:
        choice = row.get("choice")
        if choice is None:
            choice = read_choice(said, asked.options)
        made |= dict.fromkeys(("right", "wrong", "failed"), 0.0)
        outcome = "failed" if not choice else "right" if choice == asked.choice else "wrong"
        made[outcome] = 1.0
        if "supported" in row:
            made["by evidence"] = float(bool(row["supported"]))
            if row["supported"]:
                made["right by evidence"] = made["right"]
        if "counted" in row:
            made["as counted"] = float(row["counted"] == outcome)
            made["counted right"] = float(row["counted"] == "right")
    wanted = holdings.held(asked.answers)
    triples = row.get("triples") or ()
    reached = {key_of(str(name)) for triple in triples for name in (triple[0], triple[-1])}
    if wanted:
        if "triples" in row or not row:
            made["coverage"] = len(wanted & reached) / len(wanted)
        if row.get("first") is not None or not row:
            made["hits@1"] = float(key_of(str(row.get("first") or "")) in wanted)
    if not asked.choice and holdings.known:
        names = [name for triple in triples for name in (triple[0], triple[-1])]
        found = grounding(said, names, holdings.known, asked.text)
        if found.share is not None and "triples" in row:
            made["carried"] = found.share
        named = {key_of(name) for name in grounding(asked.reference, (), holdings.known).named}
        if named := named or wanted:
            told = {key_of(name) for name in found.named}
            made["named"] = len(named & told) / len(named)
    if isinstance(row.get("seconds"), int | float):
        made["seconds"] = float(row["seconds"])
    return made


def measure_run(
    rows: Mapping[str, Row], questions: Sequence[GraphQuestion], holdings: Holdings
) -> Run:
    """Return the measures of a run's lines; a question that it lacks counts as wrong."""
    return Run(
        {asked.id: measure_answer(asked, rows.get(asked.id, {}), holdings) for asked in questions},
        tuple(asked.id for asked in questions if asked.id not in rows),
    )


def _measure_linking(
    rows: Mapping[str, Row], questions: Sequence[GraphQuestion], holdings: Holdings
) -> Run:
    """Return how many entities were linked, and of those listed how many rightly."""
    made: dict[str, dict[str, float]] = {}
    for asked in questions:
        row = rows[asked.id]
        linked = {key_of(each["name"]) for each in row["entities"] if each["id"]}
        made[asked.id] = {"linked": float(len(linked)), "seconds": float(row["seconds"])}
        if asked.entities:
            listed = holdings.held(asked.entities)
            made[asked.id] |= {"listed": len(listed), "right": len(linked & listed)}
    return Run(made, ())


# --- Rows ---


def run_graph_methods(
    database: Database,
    dataset: str,
    questions: Sequence[GraphQuestion],
    graph: str,
    names: Sequence[str],
    out: Path,
    *,
    budget: int,
    model: LanguageModel | None = None,
    echo: Callable[[str], object] = lambda _: None,
) -> GraphResult:
    """Answer every question by every method from `budget` triples at most, and score the runs.

    A line is written to `out`/METHOD.jsonl for each question at once, and the linked entities to
    `out`/linking.jsonl, so that a run that was stopped goes on where it was. Raises GraphError
    without the graph, InputError where `out` has a run of other settings.
    """
    holdings = Holdings.of(database, graph)
    settings = {
        "dataset": dataset,
        "graph": graph,
        "questions": [asked.id for asked in questions],
        "budget": budget,
        "answers": model.name if model else "composed from the evidence",
    }
    keep_settings(out, settings)
    answers = _Answers(database, graph, names, {asked.id: asked for asked in questions}, budget,
                       model)  # fmt: skip
    asked = [each.question for each in questions]
    echo("linking")
    linking = {
        row["id"]: row
        for row in answer_questions(asked, answers.link, out / "linking.jsonl", resume=True)
    }
    runs = {}
    for name in names:
        echo(f"{name}: {GRAPH_METHODS[name].text}")
        file = out / f"{name}.jsonl"
        answer_questions(asked, answers.by(name, linking), file, resume=True)
        runs[name] = measure_run(read_rows(file), questions, holdings)
    linked = _measure_linking(linking, questions, holdings)
    types = {asked.id: holdings.types_of_answer(asked) for asked in questions}
    return GraphResult(dataset, settings, tuple(questions), linked, runs, types)


class _Answers:
    """The evidence and the answer of each method."""

    def __init__(
        self,
        database: Database,
        graph: str,
        names: Sequence[str],
        questions: Mapping[str, GraphQuestion],
        budget: int,
        model: LanguageModel | None,
    ) -> None:
        self._graph, self._budget = open_graph(database, graph), budget
        self._questions = questions
        self._metered = MeteredModel(model) if model is not None else None
        self._write = writer(self._metered) if self._metered is not None else None
        wanted = [name for name in names if name.endswith("-documents")]
        documents = graph_documents(database, graph) if wanted else []
        self._retrievers: dict[str, Bm25 | Embeddings] = {}
        for name in wanted:
            if name == "bm25-documents":
                self._retrievers[name] = Bm25(documents)
                continue
            encoder = self._graph.encoder or load_encoder()
            self._retrievers[name] = Embeddings(documents, encoder)

    def link(self, question: Question) -> dict[str, Any]:
        """Return the entities that all methods have of a question, by the model where one is."""
        found = link(self._graph, question.text, None, self._write)
        return {"entities": [asdict(entity) for entity in found], **self._usage()}

    def by(
        self, name: str, linking: Mapping[str, Mapping[str, Any]]
    ) -> Callable[[Question], dict[str, Any]]:
        """Return what answers a question by a method, from its linked entities."""

        def answered(question: Question) -> dict[str, Any]:
            asked = self._questions[question.id]
            linked = [LinkedEntity(**entity) for entity in linking[question.id]["entities"]]
            reasoning = self._evidence(name, asked.text, linked)
            made = self._answer(name, asked, reasoning)
            return {
                "answer": made.text,
                **({"choice": made.choice, "supported": made.supported} if asked.options else {}),
                "first": _first(made) if self._write is None or name in _OWN_PROMPT else None,
                "triples": [[t.head, t.relation, t.tail] for t in reasoning.triples],
                **self._usage(),
            }

        return answered

    def _evidence(self, name: str, question: str, linked: Sequence[LinkedEntity]) -> ReasoningGraph:
        if name in self._retrievers:
            found = self._retrievers[name].retrieve(question, _DOCUMENTS)
            return as_reasoning([document for document, _ in found], linked, self._budget)
        if name == "model-alone":
            return ReasoningGraph(tuple(linked), (), ())
        if name == "kg-retriever":
            paths = shortest_paths(self._graph, linked, self._budget)
            triples = tuple(dict.fromkeys(t for path in paths for t in path.triples))
            return ReasoningGraph(tuple(linked), tuple(paths), triples)
        by_model = name == "mindmap-paper"
        settings = MiningSettings(
            size=self._budget,
            paths=name != "mindmap-no-paths",
            neighbours=name != "mindmap-no-neighbours",
            relevance="llm" if by_model else "ranked",
        )
        made = mine(self._graph, question, settings, self._write, linked)
        return describe(made, question, self._write) if by_model and self._write else made

    def _answer(self, name: str, asked: GraphQuestion, reasoning: ReasoningGraph) -> MindMap:
        if self._write is None or name in _OWN_PROMPT:
            scores = self._scores(name, asked, reasoning) if asked.options else ()
            return answer_from(asked.text, self._graph.name, reasoning, scores, write=self._write)
        lines = evidence_lines(reasoning)
        if name in self._retrievers:
            found = self._retrievers[name].retrieve(asked.text, _DOCUMENTS)
            lines = [document.text for document, _ in found]
        said = self._write(baseline_prompt(asked.text, lines, asked.options))
        made = answer_from(asked.text, self._graph.name, reasoning)
        return replace(made, text=said, choice=read_choice(said, asked.options), supported=False)

    def _scores(
        self, name: str, asked: GraphQuestion, reasoning: ReasoningGraph
    ) -> tuple[OptionScore, ...]:
        """Score options: of a baseline by the document or the names that it retrieves for them."""
        if name in (OURS, "mindmap-paper"):
            return score_options(self._graph, reasoning, asked.options, asked.text)
        made = []
        names = {same(name) for t in reasoning.triples for name in (t.head, t.tail)}
        for label, text in asked.options.items():
            if name in self._retrievers:
                found = self._retrievers[name].retrieve(f"{asked.text} {text}", 1)
                score = found[0][1] if found else 0.0
            else:
                own = same(text)
                score = float(sum(each in own for each in names) if own else 0)
            made.append(OptionScore(label, text, score))
        return tuple(made)

    def _usage(self) -> dict[str, Any]:
        if self._metered is None:
            return {}
        usage = self._metered.take_usage()
        return {"calls": usage.calls, "tokens": [usage.prompt_tokens, usage.reply_tokens]}


def _first(made: MindMap) -> str:
    """Return the entity that a composed answer names first: the end of the relation path that the
    question asks for, else the likeliest candidate.
    """
    asked = made.reasoning.asked
    if asked and asked[0].routes and not is_medical(made.reasoning, made.question):
        return asked[0].end_of(asked[0].routes[0])[1]
    return made.candidates[0].name if made.candidates else ""
