"""Run the rows of the papers' tables over a data set, all with the same budget and answerer.

A data set of documents (KGP, Tables 1 and 2) has questions with their gold, and a corpus that holds
their passages; one over a graph (MindMap, Tables 2 to 6) has questions about its entities.
"""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import msgspec

from kgp_neo4j.corpus.answer.model import answer_with_model
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.split import DEFAULT_SIZE
from kgp_neo4j.corpus.load.stored import batches, language_of, list_documents, list_passages, write
from kgp_neo4j.corpus.pipeline import Pipeline, make_pipeline
from kgp_neo4j.demo import DOCUMENTS, SETTINGS, prepare
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.job import bar
from kgp_neo4j.evaluate import scores
from kgp_neo4j.evaluate.scores import Row, Run, draw, read_gold, read_run
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import MeteredModel, writer
from kgp_neo4j.mindmap.answer.ask_graph import (
    answer_from,
    as_question,
    describe,
    evidence_lines,
    is_of_asker,
)
from kgp_neo4j.mindmap.answer.compose import path_meant
from kgp_neo4j.mindmap.explore.mining import mine, shortest_paths
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.link.name_forms import content_stems, key_of, name_words, same
from kgp_neo4j.mindmap.load.graphs import open_graph, require_graph
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import (
    Answer,
    LanguageModel,
    Passage,
    Question,
    QuestionType,
    Retrieval,
    SourceDocument,
    Statement,
    Usage,
)
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.mindmap import LinkedEntity, MindMap, ReasoningGraph
from kgp_neo4j.types.settings import AgentSettings, MiningSettings, TraversalSettings, check_choice

#: The data set that comes along: 40 questions over the demo's documents.
DEMO = "demo"
_ENDS = (".jsonl.gz", ".jsonl", ".json.gz", ".json")


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions and the corpus that holds their passages.

    `made_of` says what the corpus is made of: `corpus_file`, the documents beside the questions'
    `file` that they name (each a corpus), or their contexts; `budget` is the default one.
    """

    name: str
    questions: tuple[scores.GoldQuestion, ...]
    corpus: str
    made_of: str
    file: Path
    corpus_file: Path | None = None
    budget: int = TraversalSettings().budget

    def corpus_of(self, document: str) -> str:
        """Return the name of the corpus that questions which name this document are asked over."""
        return f"{self.corpus}-{document}" if document else self.corpus

    def prepare_all(self, database: Database, *, mdr: bool = False) -> None:
        """Load and connect every corpus, as far as that is not done; with `mdr` by MDR too."""
        documents = dict.fromkeys(asked.document for asked in self.questions)
        with bar("corpora", len(documents)) as shown:
            for document in documents:
                corpus = self.corpus_of(document)
                if self.name == DEMO:
                    prepare(database, corpus)
                else:
                    self._load(database, corpus, document)
                    connect(database, corpus)
                if mdr:
                    connect(database, corpus, edges=["knn-mdr"])
                shown.update()

    def _load(self, database: Database, corpus: str, document: str) -> None:
        # A fact may be a whole passage: then nothing is split.
        parts = any(fact.part for asked in self.questions for fact in asked.facts)
        size = DEFAULT_SIZE if parts else None
        if file := self.corpus_file or (self.file.with_name(document) if document else None):
            load(database, [str(file)], corpus, passage_size=size, strict=True)
            return
        source = self.file.name.split(".")[0]
        contexts = dict.fromkeys(each for asked in self.questions for each in asked.contexts)
        documents = [
            SourceDocument(title, text, source, f"{title} {text_hash(text)}", whole=size is None)
            for title, text in contexts
        ]
        language = language_of(database, corpus, None, documents)
        for batch in batches(corpus, documents):
            write(database, corpus, batch, size, language)


def open_dataset(name: str, *, split: str, sample: int | None, seed: int) -> Dataset:
    """Open `demo`, a folder with a corpus and questions, or a published file of questions.

    A folder has `corpus.jsonl` (or .json) and `SPLIT.jsonl`, both also as .gz: one large corpus for
    all questions. Of a published file, the contexts of the questions that are drawn make the
    corpus, as in KGP's paper; PDFs that questions name are a corpus each. `seed` draws a `sample`.
    """
    if name == DEMO:
        file = DOCUMENTS.with_name("questions.jsonl")
        drawn, made_of = tuple(draw(read_gold(file), sample, seed)), "the demo's documents"
        return Dataset(DEMO, drawn, "evaluate-demo", made_of, file, budget=SETTINGS.budget)
    path = expanded(name)
    if path.is_file():
        return _from_contexts(path, sample, seed)
    corpus_file, questions = (
        next((file for end in _ENDS if (file := path / f"{stem}{end}").is_file()), None)
        for stem in ("corpus", split)
    )
    if questions is None:
        hint = f"Give {DEMO}, a folder with corpus.jsonl.gz and {split}.jsonl.gz, or a file."
        lacks = f"the folder has no {split}.jsonl.gz" if path.exists() else ""
        raise InputError(lacks or "there is no such data set", where=name, hint=hint)
    if corpus_file is None:
        return _from_contexts(questions, sample, seed)
    drawn, folder = tuple(draw(read_gold(questions), sample, seed)), path.resolve().name
    made_of = "one corpus for all questions"
    return Dataset(
        f"{folder} {split}", drawn, f"evaluate-{folder}", made_of, questions, corpus_file
    )


def _from_contexts(path: Path, sample: int | None, seed: int) -> Dataset:
    every = read_gold(path)
    if every[0].document:
        every = [asked for asked in every if path.with_name(asked.document).is_file()]
        if not every:
            problem = "none of the documents that the questions name is there"
            hint = "Put the PDFs beside the questions, under the names of their addresses."
            raise InputError(problem, where=str(path.parent), hint=hint)
    drawn = tuple(draw(every, sample, seed))
    if not any(asked.contexts or asked.document for asked in drawn):
        problem = "the questions have no contexts to make a corpus of"
        hint = "Give a folder with corpus.jsonl.gz beside the questions."
        raise InputError(problem, where=str(path), hint=hint)
    made_of = "one corpus for each document"
    if not drawn[0].document:
        facts = [(asked, fact) for asked in drawn for fact in asked.facts]
        lost = sum(not any(fact.is_in(*held) for held in asked.contexts) for asked, fact in facts)
        without = f" ({lost} of {len(facts)} supporting facts are not in them)" if lost else ""
        made_of = f"the contexts of these questions{without}"
    stem = path.name.split(".")[0]
    # Of other files and other questions the corpus has another name.
    ids = [asked.id for asked in drawn if not asked.document]
    mark = text_hash("\n".join((str(path.resolve()), *ids)))[:8]
    name = f"{path.resolve().parent.name} {stem}"
    return Dataset(name, drawn, f"evaluate-{stem}-{mark}", made_of, path)


@dataclass(frozen=True, slots=True)
class Method:
    """A row of the table: how passages are found, and what it needs that is not always there.

    `agent` is the traversal's; `needs` is `model` for a language model, `agent model` for weights
    named by `--agent-model NAME=FOLDER`, else empty.
    """

    text: str
    method: str = "kgp"
    agent: str | None = None
    needs: str = ""


#: The row that answers questions about pages and tables from passages too.
_NO_STRUCTURE = "no-structure"
#: The rows by name, over documents and over a graph.
ROWS = msgspec.toml.decode(
    Path(__file__).with_name("methods.toml").read_bytes(), type=dict[str, dict[str, Method]]
)
METHODS = ROWS["documents"]
#: The rows of the paper's tables: the methods and Struct-EM (Table 1), the agents (Table 2).
TABLES: dict[str, tuple[str, ...]] = {
    "1": tuple(name for name in METHODS if name != _NO_STRUCTURE),
    "2": tuple(name for name in METHODS if name.startswith("kgp")),
    "structure": ("none", _NO_STRUCTURE, "kgp"),
}


def check_methods(
    names: Sequence[str],
    *,
    within: Sequence[str],
    model: bool,
    agent_models: Container[str] = (),
    known: Mapping[str, Method] = METHODS,
) -> list[str]:
    """Return the names of the rows; where none are given, all of `within` that can be run."""

    def option(name: str) -> str:
        """Return the option that gives a method the model that it lacks; empty where it has it."""
        if known[name].needs == "agent model":
            return "" if name in agent_models else f"--agent-model {name}=FOLDER"
        return "--llm NAME" if known[name].needs and not model else ""

    if not names:
        return [name for name in within if not option(name)]
    for name in names:
        check_choice("method", name, known)
        if missing := option(name):
            raise ConfigurationError(f"{name} needs a model", hint=f"Name it: {missing}.")
    return list(dict.fromkeys(names))


def run_methods(
    database: Database,
    dataset: Dataset,
    names: Sequence[str],
    out: Path,
    *,
    traversal: TraversalSettings,
    model: LanguageModel | None = None,
    agent_models: Mapping[str, AgentSettings],
    echo: Callable[[str], object] = lambda _: None,
) -> scores.Result:
    """Answer every question by every method, and score the runs.

    A line is written to `out`/METHOD.jsonl for each question at once, so that a run that was
    stopped goes on where it was. Of `traversal` the learned agent has the budget alone. Raises
    InputError where `out` has a run of other settings, or another evaluation writes there.
    """
    settings = {
        "version": version("kgp-neo4j"),
        "dataset": dataset.name,
        "corpus": [dataset.corpus, dataset.made_of],
        "questions": {question.id: question.text for question in dataset.questions},
        "contexts": text_hash(repr([question.contexts for question in dataset.questions])),
        **asdict(traversal),
        "answers": model.name if model else "offline reader",
    }
    agents = {name: getattr(agent_models.get(name), "model", None) for name in names}
    runs = {}
    with scores.own_folder(out, settings, agents):
        dataset.prepare_all(database, mdr="kgp-mdr" in names)
        for name in names:
            echo(f"{name}: {METHODS[name].text}")
            file = out / f"{name}.jsonl"
            answered = answering(database, dataset, name, traversal, model, agent_models.get(name))
            scores.answer_questions(dataset.questions, answered, file)
            runs[name] = read_run(file, dataset.questions, scores.measure)
    dataset = replace(dataset, made_of=dataset.made_of + _lacking(database, dataset))
    return replace(describe_questions(dataset, traversal, names, model), runs=runs)


def _lacking(database: Database, dataset: Dataset) -> str:
    """Return how many supporting facts are of titles that the corpus lacks; empty for none."""
    facts = [fact for asked in dataset.questions for fact in asked.facts if not asked.contexts]
    held = {each.title for each in list_documents(database, dataset.corpus)} if facts else ()
    lost = sum(fact.title not in held for fact in facts)
    return f" ({lost} of {len(facts)} supporting facts are of titles that it lacks)" if lost else ""


#: The measures of a run in the order of the table; `{cut}` is the last cut within the budget.
_TITLES = {name: name for name in ("Struct-EM", "Acc", "EM", "F1")}
_TITLES |= {
    "recall@5": "R@5",
    f"recall@{scores.CUTS[-1]}": "R@{cut}",
    f"all@{scores.CUTS[-1]}": "SF-EM@{cut}",
}
_TITLES |= {"precision@5": "P@5", "given": "F1 given"}
_TITLES |= {name: name for name in ("by model", "carried", "silent", "stated")}


def describe_questions(
    data: Dataset, traversal: TraversalSettings, names: Sequence[str], model: LanguageModel | None
) -> scores.Result:
    """Return what a report says of questions over documents, asked by the methods `names`."""
    budget = traversal.budget
    by = (model.name if model else "offline reader") if names else "their own"
    walk = ""
    if any(name.startswith("kgp-") for name in names):
        how = {"paper": "the paper's Algorithm 1", "beam": "our beam"}[traversal.algorithm]
        walk = (
            f"; rows kgp-... walk by {how}, with a branching factor of {traversal.branching}, "
            f"along {', '.join(traversal.edges) or 'all edges'}"
        )
    cut = min(budget, scores.CUTS[-1])  # a run has no more than its budget
    return scores.Result(
        f"{len(data.questions)} questions of {data.name}; corpus: {data.made_of}; budget "
        f"{budget} passages; answers: {by}{walk}",
        "EM and F1 are SQuAD's, in per cent, of a language model's own answers where there is one; "
        "`F1 given` is of what `ask` gives, the model's or the reader's; Struct-EM is the share of "
        "questions about pages and tables that got the values asked for and no others; R, P and "
        "SF-EM count supporting facts among the first passages; `silent` is the share of questions "
        "without an answer that got none; `stated`, where the answers are not known, the share "
        "that got a sure one.",
        {name: title.format(cut=cut) for name, title in _TITLES.items()},
        "kgp",
        ("F1", "Struct-EM", "silent", "stated"),
        {question.id: question.kind for question in data.questions},
    )


#: Calls of the language model for an answer, beyond the answer itself: thoughts, hops.
_FURTHER_CALLS = {"ircot": 4, "kgp-chat": 12, "mindmap-paper": 2}


def plan(names: Sequence[str], questions: int, *, model: bool, judge: bool = False) -> str:
    """Return in a line how much is to be done, and the calls of language models that it takes."""
    calls = questions * sum(1 + _FURTHER_CALLS.get(name, 0) for name in names) if model else 0
    calls += 2 * questions * len(names) if judge else 0
    line = f"{questions} questions by {len(names)} methods"
    return f"{line}, {calls:,} calls of a language model or fewer" if calls else line


def answering(
    database: Database,
    dataset: Dataset,
    name: str,
    traversal: TraversalSettings,
    model: LanguageModel | None,
    agent: AgentSettings | None,
) -> scores.Answering[scores.GoldQuestion]:
    """Return what answers a question by a method."""
    if name == "none":
        assert model is not None
        metered = MeteredModel(model)
        return lambda asked: _row(
            "", (), answer_with_model(asked.text, (), metered).statements, metered.take_usage()
        )
    chosen = METHODS[name]
    if chosen.agent == "learned":  # it walks in a way of its own
        traversal = TraversalSettings(budget=traversal.budget)

    @cache
    def pipeline(corpus: str) -> Pipeline:
        return make_pipeline(
            database,
            corpus,
            method=chosen.method or "bm25",
            agent=chosen.agent,
            settings=traversal,
            agent_settings=agent if chosen.agent else None,
            model=model,
        )

    def answered(question: scores.GoldQuestion) -> dict[str, Any]:
        corpus = dataset.corpus_of(question.document)
        if name == "golden":
            held = {
                passage.id: passage
                for fact in question.facts
                for passage in list_passages(database, corpus, fact.title)
                if fact.is_in(passage.title, passage.text)
            }
            answer = pipeline(corpus).answer(Retrieval(question, tuple(held.values())))
        else:
            type_: QuestionType | None = "content" if name == _NO_STRUCTURE else None
            answer = pipeline(corpus).ask(question.text, type_=type_)
        return _answer_row(pipeline(corpus), answer)

    return answered


def _answer_row(pipeline: Pipeline, answer: Answer) -> dict[str, Any]:
    text, usage = answer.text, answer.usage
    about: dict[str, Any] = {"by": answer.by}
    if answer.by == "structure" and answer.structural and not answer.statements:
        values = answer.structural.values
        if answer.structural.sure:
            about |= {"values": list(values), "found": answer.structural.found}
        text = ", ".join(values) or text
    if pipeline.meter:
        usage = usage or pipeline.meter.take_usage()  # it has that of an answer from given passages
        about["given"] = answer.statements[0].text if answer.statements else text
    said = answer.statements or answer.overruled
    return _row(text, answer.passages, said, usage) | about | {"stated": answer.stated}


def _row(
    text: str, passages: Sequence[Passage], statements: Sequence[Statement], usage: Usage | None
) -> dict[str, Any]:
    """Return a line of the run but its id; its answer is a model's first statement, if there."""
    return {
        "answer": statements[0].text if statements else text,
        "retrieved": [{"title": p.title, "text": p.text} for p in passages],
        "carried": [statement.carried for statement in statements],
        "calls": usage.calls if usage else 0,
        "tokens": [usage.prompt_tokens, usage.reply_tokens] if usage else [0, 0],
    }


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
    return scores.by_id(path, lambda *record: [_read(*record)], _HINT, object)


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
) -> scores.Result:
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
    with scores.own_folder(out, settings, {}):
        echo("linking")
        linked = scores.answer_questions(questions, rows.link, out / "linking.jsonl")
        linking = {row["id"]: row for row in linked}
        for name in names:
            echo(f"{name}: {GRAPH_METHODS[name].text}")
            file = out / f"{name}.jsonl"
            scores.answer_questions(questions, partial(rows.answered, name, linking), file)
            runs[name] = read_run(file, questions, partial(measure_answer, holdings=holdings))
    scored = holdings.linking(linking, questions)
    return replace(describe_graph_questions(dataset, budget, by), linking=scored, runs=runs)


def describe_graph_questions(dataset: GraphDataset, budget: int, answers: str) -> scores.Result:
    """Return what a report says of questions over a graph (MindMap, Tables 2 to 6)."""
    return scores.Result(
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
