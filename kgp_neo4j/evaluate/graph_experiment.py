"""Run the rows of MindMap's tables: answers over a knowledge graph, all from as much evidence.

A row is a way to find evidence. All rows start from the same linked entities and get the same
number of triples. Without a language model their answers are composed from that evidence; with one,
MindMap's go through its prompt and check, and a baseline's reply counts as it stands. Questions are
read from files; scored is what evidence reaches and answers name.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from kgp_neo4j.evaluate.experiment import ROWS
from kgp_neo4j.evaluate.questions import by_id
from kgp_neo4j.evaluate.scores import Result, Row, Run, answer_questions, own_folder, read_run
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import MeteredModel, writer
from kgp_neo4j.mindmap.aggregate import same
from kgp_neo4j.mindmap.answer.ask_graph import answer_from, as_question, is_of_asker
from kgp_neo4j.mindmap.answer.compose import path_meant
from kgp_neo4j.mindmap.answer.model import describe, evidence_lines
from kgp_neo4j.mindmap.explore.mining import mine, shortest_paths
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.link.name_forms import content_stems, name_words
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.mindmap.load.graphs import open_graph, require_graph
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.language import LanguageModel
from kgp_neo4j.types.mindmap import LinkedEntity, MindMap, ReasoningGraph
from kgp_neo4j.types.settings import MiningSettings

_TURNS = ("dialogue", "messages", "conversation", "turns")
_HINT = (
    'A record has "question" and "answer" ("options" and "explanation" with it) or '
    '"answer_entities", "input" and "output", or a list of turns with "role" and "content".'
)


@dataclass(frozen=True, slots=True)
class GraphQuestion(Question):
    """A question and its reference: an answer, a doctor's turns, or the explanation of a choice.

    `options` are those of a multiple choice question by label, and `choice` the right label.
    `entities` and `answers` are those that the data set lists for both; `kind` is its own.
    """

    reference: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    choice: str = ""
    entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    kind: str = ""

    @property
    def as_asked(self) -> str:
        """Return the question as a language model is asked it, with its options."""
        if not self.options:
            return self.text
        options = [f"{label}: {plain(text)}" for label, text in self.options.items()]
        return "\n".join((self.text, *options, "Begin with the letter of the one best option."))


def read_graph_questions(path: Path) -> list[GraphQuestion]:
    """Return the questions of a `.json` or `.jsonl` file (also `.gz`), in their order.

    The forms, told by a record's keys, are those of GenMedGPT-5k, CMCQA and ExplainCPE (MindMap,
    appendix A), and of PathQuestion. Of a dialogue the asker's turns are the question, the others
    the reference. A record without an id has its number. Raises InputError for another form.
    """
    return by_id(path, lambda *record: [_read(*record)], _HINT, object)


def _read(record: Any, where: str, at: int) -> GraphQuestion:
    if isinstance(record, list):
        record = {"turns": record}
    keys: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
    number = str(keys.get("id", keys.get("_id", at)))
    turns = next((keys[key] for key in _TURNS if key in keys), None)
    if turns is not None:
        return _of_dialogue(turns, number, where)
    question = keys.get("question", keys.get("input"))
    answers = _names(keys.get("answer_entities"))
    answer = keys.get("answer", keys.get("output", "" if answers else None))
    options = _labelled(keys.get("options") or {})
    if not isinstance(question, str) or not isinstance(answer, str) or options is None:
        raise InputError("not a question with its answer", where=where, hint=_HINT)
    entities = _names(keys.get("question_entities", keys.get("question_kg")))
    if options:
        explained, choice = str(keys.get("explanation") or ""), answer.strip().upper()
        return GraphQuestion(number, question, explained, options, choice, entities)
    kind = f"{keys['hops']} hops" if "hops" in keys else ""
    return GraphQuestion(number, question, answer, entities=entities, answers=answers, kind=kind)


def _of_dialogue(turns: Any, number: str, where: str) -> GraphQuestion:
    asked: list[str] = []
    replies: list[str] = []
    for turn in turns if isinstance(turns, list) else [None]:
        if not isinstance(turn, Mapping) or not isinstance(turn.get("content"), str):
            raise InputError("a turn of the dialogue has no content", where=where, hint=_HINT)
        (asked if is_of_asker(turn) else replies).append(turn["content"])
    return GraphQuestion(number, as_question(asked), as_question(replies))


def _names(listed: Any) -> tuple[str, ...]:
    """Return the names of a list, or of a text with commas, each once."""
    names = listed.split(",") if isinstance(listed, str) else listed or ()
    return tuple(dict.fromkeys(name for each in names if (name := str(each).strip())))


def _labelled(options: Any) -> dict[str, str] | None:
    """Return options by label: a list gets A, B, C; None for anything else."""
    if isinstance(options, Mapping):
        return {str(label).upper(): str(text) for label, text in options.items()}
    if isinstance(options, list):
        return {chr(ord("A") + at): str(text) for at, text in enumerate(options)}
    return None


def read_choice(reply: str, options: Mapping[str, str]) -> str:
    """Return the label that a reply sets apart, or that of the option it names; empty for none."""
    labels = "|".join(map(re.escape, options))
    first = re.search(rf"(?<![A-Za-z0-9])({labels})(?=\s*(?:[.:),;：，、。]|$))", reply)
    if first:
        return first[1]
    named = [label for label, text in options.items() if text in reply]
    return named[0] if len(named) == 1 else ""


class Holdings:
    """The names that a graph holds, found in any word form and in texts."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        #: The keys of names by themselves, and by the stems of their words.
        self._forms: dict[str | tuple[str, ...], str] = {}
        #: The keys of names by the form in which names in texts are compared.
        self.known: dict[str, str] = {}
        for name in names:
            key = key_of(name)
            self._forms[key] = key
            self._forms.setdefault(content_stems(name_words(name)), key)
            self.known.setdefault(same(name), key)
        self._longest = max(map(len, self.known), default=0)

    @classmethod
    def of(cls, database: Database, graph: str) -> Self:
        """Return the names of a graph; raises GraphError where there is no such one."""
        require_graph(database, graph)
        return cls(row["name"] for row in database.read("explore/entities", graph=graph))

    def held(self, listed: Iterable[str]) -> set[str]:
        """Return the keys of the listed names that the graph has in any word form."""
        forms = ((key_of(name), content_stems(name_words(name))) for name in listed)
        found = (self._forms.get(key) or self._forms.get(stems or key) for key, stems in forms)
        return {key for key in found if key}

    def named(self, text: str) -> list[str]:
        """Return the names that a text names, in the form that `same` makes: in order, each once.

        The longest name counts, none within it; names not in Chinese have to be whole words.
        """
        text, at = same(text), 0
        names: dict[str, None] = {}
        while at < len(text):
            ends = range(min(len(text), at + self._longest), at, -1)
            is_name = (e for e in ends if text[at:e] in self.known and _is_whole(text, at, e))
            if end := next(is_name, 0):
                names[text[at:end]] = None
            at = end or at + 1
        return list(names)

    def keys_named(self, text: str) -> set[str]:
        """Return the keys of the names that a text names."""
        return {self.known[name] for name in self.named(text)}

    def carried(self, answer: str, evidence: Iterable[str], question: str = "") -> float | None:
        """Return the share of an answer's names that evidence or question has (MindMap, section 4).

        1 minus it is hallucinated. None where the answer names none.
        """
        names = self.named(answer)
        supported = {same(name) for name in evidence} | set(self.named(question))
        return sum(name in supported for name in names) / len(names) if names else None

    def linking(self, rows: Mapping[str, Row], questions: Sequence[GraphQuestion]) -> Run:
        """Return how many entities were linked, and of those listed how many rightly."""
        measures: dict[str, dict[str, float]] = {}
        for asked in questions:
            row = rows[asked.id]
            linked = {key_of(each["name"]) for each in row["entities"] if each["id"]}
            measures[asked.id] = {"linked": float(len(linked)), "seconds": float(row["seconds"])}
            if asked.entities:
                listed = self.held(asked.entities)
                measures[asked.id] |= {"listed": len(listed), "right": len(linked & listed)}
        return Run(measures)


def _is_whole(text: str, start: int, end: int) -> bool:
    borders = (text[max(start - 1, 0) : start + 1], text[end - 1 : end + 1])
    return not any(len(p) == 2 and all(c.isalnum() and ord(c) < 0x2E80 for c in p) for p in borders)


def measure_answer(asked: GraphQuestion, row: Row, holdings: Holdings) -> dict[str, float]:
    """Return the measures of an answer, 0 to 1, and `seconds`; a missing line reaches nothing."""
    answer = str(row.get("answer") or "")
    measures: dict[str, float] = {}
    if asked.choice:
        choice = read_choice(answer, asked.options)
        outcome = "failed" if not choice else "right" if choice == asked.choice else "wrong"
        measures = {name: float(name == outcome) for name in ("right", "wrong", "failed")}
    names = [str(name) for t in row.get("triples") or () for name in (t[0], t[-1])]
    wanted = holdings.held(asked.answers)
    if wanted and ("triples" in row or not row):
        measures["coverage"] = len(wanted & set(map(key_of, names))) / len(wanted)
    if wanted and (row.get("first") is not None or not row):
        measures["hits@1"] = float(key_of(str(row.get("first") or "")) in wanted)
    if not asked.choice and holdings.known:
        carried = holdings.carried(answer, names, asked.text)
        if carried is not None and "triples" in row:
            measures["carried"] = carried
        if expected := holdings.keys_named(asked.reference) or wanted:
            measures["named"] = len(expected & holdings.keys_named(answer)) / len(expected)
    if isinstance(row.get("seconds"), int | float):
        measures["seconds"] = float(row["seconds"])
    return measures


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
