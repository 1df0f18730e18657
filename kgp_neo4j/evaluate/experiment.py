"""Run the rows of KGP's Table 1 over a data set: every method with the same budget and answerer.

A data set has questions with their gold, and a corpus that holds their passages.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
from kgp_neo4j.evaluate.questions import GoldQuestion, draw, read_gold
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import MeteredModel
from kgp_neo4j.types.corpus import (
    Answer,
    Passage,
    QuestionType,
    Retrieval,
    SourceDocument,
    Statement,
)
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.language import LanguageModel, Usage
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings, check_choice

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
    questions: tuple[GoldQuestion, ...]
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
            runs[name] = scores.read_run(file, dataset.questions, scores.measure)
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
) -> scores.Answering[GoldQuestion]:
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
            method=chosen.method or "bm25",  # type: ignore[arg-type]
            agent=chosen.agent,  # type: ignore[arg-type]
            settings=traversal,
            agent_settings=agent if chosen.agent else None,
            model=model,
        )

    def answered(question: GoldQuestion) -> dict[str, Any]:
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
