"""Run the rows of MindMap's tables: answers over a knowledge graph, all from as much evidence.

A row is a way to find evidence. All rows start from the same linked entities and get the same
number of triples. Without a language model their answers are composed from that evidence; with one,
MindMap's go through its prompt and check, and a baseline's reply counts as it stands.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kgp_neo4j.evaluate.experiment import ROWS
from kgp_neo4j.evaluate.graph_questions import GraphQuestion, Holdings, measure_answer
from kgp_neo4j.evaluate.runs import answer_questions, own_folder, read_run
from kgp_neo4j.evaluate.scores import Result
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.mindmap.answer.ask_graph import answer_from
from kgp_neo4j.mindmap.answer.compose import path_meant
from kgp_neo4j.mindmap.answer.map_prompt import describe, evidence_lines
from kgp_neo4j.mindmap.explore.mining import mine, shortest_paths
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.load.graphs import open_graph
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.mindmap import LinkedEntity, MindMap, ReasoningGraph
from kgp_neo4j.types.settings import MiningSettings

#: The row that the others are compared with.
OURS = "mindmap"
GRAPH_METHODS = ROWS["graph"]
#: The rows that answer by MindMap's prompt and check.
_OWN_PROMPT = {name for name in GRAPH_METHODS if name.startswith(OURS)} - {"mindmap-plain"}
_PAPER = (OURS, "mindmap-paper", "kg-retriever", "model-alone")
#: The rows of the paper's tables: GenMedGPT-5k (2, 3), CMCQA (4, 5), ExplainCPE (6), ablations.
GRAPH_TABLES: dict[str, tuple[str, ...]] = {
    **{f"mindmap-{number}": _PAPER for number in (2, 3, 4, 5)},
    "mindmap-6": (*_PAPER, "mindmap-plain"),
    "mindmap-ablations": (OURS, "mindmap-no-paths", "mindmap-no-neighbours"),
}


@dataclass(frozen=True, slots=True)
class GraphDataset:
    """Questions, and the name of the graph that they are asked over."""

    name: str
    graph: str
    questions: tuple[GraphQuestion, ...]


def run_graph_methods(
    database: Database,
    dataset: GraphDataset,
    names: Sequence[str],
    out: Path,
    *,
    budget: int,
    model: LanguageModel | None = None,
    echo: Callable[[str], object] = lambda _: None,
) -> Result:
    """Answer every question by every method from `budget` triples at most, and score the runs.

    Lines are written as by `run_methods`, and those of the linked entities to `out`/linking.jsonl.
    Raises ConfigurationError for multiple choice without a model.
    """
    questions, graph = dataset.questions, dataset.graph
    if model is None and any(asked.options for asked in questions):
        what = "multiple choice questions need a language model"
        raise ConfigurationError(what, hint="Name one: --llm NAME.")
    holdings = Holdings.of(database, graph)
    by = model.name if model else "composed from the evidence"
    settings = {
        "version": version("kgp-neo4j"),
        "dataset": dataset.name,
        "graph": graph,
        "questions": {asked.id: asked.as_asked for asked in questions},
        "budget": budget,
        "answers": by,
    }
    rows, runs = _Rows(database, graph, budget, model), {}
    with own_folder(out, settings, {}):
        echo("linking")
        linked = answer_questions(questions, rows.link, out / "linking.jsonl")
        linking = {row["id"]: row for row in linked}
        for name in names:
            echo(f"{name}: {GRAPH_METHODS[name].text}")
            file = out / f"{name}.jsonl"
            answer_questions(questions, partial(rows.answered, name, linking), file)
            runs[name] = read_run(file, questions, partial(measure_answer, holdings=holdings))
    scored = holdings.linking(linking, questions)
    return replace(describe_graph_questions(dataset, budget, by), linking=scored, runs=runs)


def describe_graph_questions(dataset: GraphDataset, budget: int, answers: str) -> Result:
    """Return what a report says of questions over a graph (MindMap, Tables 2 to 6)."""
    return Result(
        f"{len(dataset.questions)} questions of {dataset.name} over the graph {dataset.graph}; "
        f"budget {budget} triples; answers: {answers}",
        "In per cent: `coverage`, of the entities that the data set lists for an answer and the "
        "graph holds, those that the evidence reaches; `hits@1`, first answers that are one of "
        "them; `named`, entities of the reference that the answer names; `carried`, entities of "
        "the answer that the evidence or the question has; of multiple choice `right`, `wrong` "
        "and `failed` (no choice).",
        {each: each for each in "coverage hits@1 named carried right wrong failed".split()},
        OURS,
        ("coverage", "right", "named"),
        {asked.id: asked.kind for asked in dataset.questions},
    )


class _Rows:
    """The evidence and the answer of each method."""

    def __init__(
        self, database: Database, graph: str, budget: int, model: LanguageModel | None
    ) -> None:
        self._graph, self._budget = open_graph(database, graph), budget
        self._metered = MeteredModel(model) if model is not None else None
        self._write = writer(self._metered) if self._metered is not None else None

    def link(self, question: Question) -> dict[str, Any]:
        """Return the entities that all methods have of a question, by the model where one is."""
        entities = link(self._graph, question.text, None, self._write)
        return {"entities": [asdict(entity) for entity in entities], **self._usage()}

    def answered(
        self, name: str, linking: Mapping[str, Mapping[str, Any]], asked: GraphQuestion
    ) -> dict[str, Any]:
        """Return the answer to a question by a method, from its linked entities."""
        entities = [LinkedEntity(**entity) for entity in linking[asked.id]["entities"]]
        reasoning, write = self._evidence(name, asked.text, entities), self._write
        if write is None or name in _OWN_PROMPT:
            answer = answer_from(asked.as_asked, self._graph.name, reasoning, write=write)
            row: dict[str, Any] = {"answer": answer.text, "first": _first(answer)}
        else:
            # The reply is the answer as it stands: no check, no repair and no fallback follows.
            row = {"answer": write(_baseline_prompt(asked.as_asked, reasoning)), "first": None}
        row["triples"] = [[t.head, t.relation, t.tail] for t in reasoning.triples]
        return row | self._usage()

    def _evidence(self, name: str, text: str, entities: Sequence[LinkedEntity]) -> ReasoningGraph:
        if name == "model-alone":
            return ReasoningGraph(tuple(entities), (), ())
        if name == "kg-retriever":
            shortest = shortest_paths(self._graph, entities, self._budget)
            triples = tuple(dict.fromkeys(t for path in shortest for t in path.triples))
            return ReasoningGraph(tuple(entities), tuple(shortest), triples)
        paths, neighbours = name != "mindmap-no-paths", name != "mindmap-no-neighbours"
        settings = MiningSettings(size=self._budget, paths=paths, neighbours=neighbours)
        mined = mine(self._graph, text, settings, self._write, entities)
        if name == "mindmap-paper" and self._write is not None:
            return describe(mined, text, self._write)
        return mined

    def _usage(self) -> dict[str, Any]:
        if self._metered is None:
            return {}
        usage = self._metered.take_usage()
        return {"calls": usage.calls, "tokens": [usage.prompt_tokens, usage.reply_tokens]}


def _first(answer: MindMap) -> str:
    """Return what a composed answer names first: a meant path's end, else the first candidate."""
    path = path_meant(answer.reasoning, answer.candidates)
    if path and path.routes:
        return path.end_of(path.routes[0])[1]
    return answer.candidates[0].name if answer.candidates else ""


def _baseline_prompt(question: str, reasoning: ReasoningGraph) -> str:
    """Return the prompt of a baseline: the question and what was retrieved (appendix C)."""
    parts = ["Answer the question in its language, as an expert of its field.", question.strip()]
    if evidence := evidence_lines(reasoning):
        parts.append("\n".join(("Knowledge that may help:", *evidence)))
    return "\n\n".join((*parts, "Answer:"))
