"""`kgp-neo4j evaluate`, `retrieve` and `train`: many questions, to measure or to learn from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli import _options, _output
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types import settings
from kgp_neo4j.types.corpus import LanguageModel

if TYPE_CHECKING:
    from kgp_neo4j.evaluate.scores import Result


#: Of KGP's paper, and after it of MindMap's (`evaluate/experiment.py`).
_TABLES = ("1", "2", "structure", *(f"mindmap-{n}" for n in (2, 3, 4, 5, 6, "ablations")))


@_output.result_command("evaluate")
@click.argument("dataset", required=False)
@click.option("--list", "listed", is_flag=True, help="Print the methods and tables there are.")
@click.option(
    "--table",
    type=click.Choice(_TABLES),
    help="The rows of a table of KGP's paper, or over a graph of MindMap's.",
)
@click.option("--graph", metavar="NAME", help="The knowledge graph that the questions are about.")
@click.option(
    "--methods", metavar="A,B", help="Rows of your choice (default: all that can be run)."
)
@click.option(
    "--agent-model",
    "agent_models",
    multiple=True,
    metavar="METHOD=FOLDER",
    help="The model of kgp-llama or kgp.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 500),
    help="Passages at most (default: 30; demo: 8), over a graph triples (40).",
)
@_options.settings_options(
    without=("budget", "seeds", "hops"), build=dict, traversal=settings.TraversalSettings
)
@click.option(
    "--corpus", metavar="NAME", help="The name of the corpus that is made (default: evaluate-...)."
)
@_options.default_option("--split", "dev", "Which questions of a folder.")
@click.option("--sample", type=click.IntRange(1), help="Draw so many questions (default: all).")
@_options.default_option("--seed", 0, "Draws the same again.")
@_options.llm_option("answers (without one, the offline reader)")
@_options.chat_url_option
@click.option(
    "--judge",
    metavar="NAME",
    help="A language model that judges every answer too (KGP's Acc), in both orders of the texts.",
)
@_options.default_option(
    "--out",
    Path("evaluation"),
    "The folder for runs and report.",
    type=click.Path(file_okay=False, path_type=Path),
)
@click.option(
    "--score",
    "other",
    multiple=True,
    type=_options.FILE,
    help="A run that another system wrote, scored beside the methods chosen.",
)
def evaluate_command(
    dataset: str | None,
    listed: bool,
    table: str | None,
    graph: str | None,
    methods: str | None,
    agent_models: tuple[str, ...],
    llm: str | None,
    chat_url: str | None,
    judge: str | None,
    **options: Any,
) -> None:
    """Measure retrieval and answers over DATASET: recall, SF-EM, exact match, F1, time.

    Each method answers every question with the same budget, by the offline reader or the language
    model. Runs and report.md are written to --out.
    """
    from kgp_neo4j.evaluate.experiment import GRAPH_TABLES, TABLES

    if listed:
        _print_methods()
        return
    if dataset is None:
        raise click.MissingParameter(param_hint="'DATASET' or '--list'", param_type="argument")
    if table and methods:
        raise click.UsageError("Choose one of --table and --methods.")
    if table and table.startswith("mindmap") != bool(graph):
        where = "documents: leave --graph out" if graph else "a graph: add --graph NAME"
        raise click.UsageError(f"--table {table} is of questions over {where}.")
    names = [name for name in (methods or "").split(",") if name]
    asked_of = set(names) or (TABLES | GRAPH_TABLES).get(table or "", ())
    named = Counter([*asked_of, *(file.stem for file in options["other"])])
    if twice := [name for name, count in named.items() if count > 1]:
        raise click.UsageError(f"Two runs would be named {twice[0]!r}: rename a file of --score.")
    model = _options.opened_model(llm, chat_url)
    weights = dict(map(_agent_model, agent_models))
    if model is not None:
        weights.setdefault("kgp-chat", settings.AgentSettings(model=llm, url=chat_url))
    judging = _options.opened_model(judge, chat_url) if judge and not graph else None
    runs_methods = bool(names or table or not options["other"])
    chosen = names if runs_methods else None
    result = _evaluate(dataset, graph, table, chosen, model, weights, judging, **options)
    _show(result, options["out"] if runs_methods else None)


def _evaluate(
    dataset: str,
    graph: str | None,
    table: str | None,
    names: list[str] | None,
    model: LanguageModel | None,
    weights: dict[str, settings.AgentSettings],
    judge: LanguageModel | None,
    *,
    traversal: dict[str, Any],
    corpus: str | None,
    split: str,
    budget: int | None,
    sample: int | None,
    seed: int,
    out: Path,
    other: tuple[Path, ...],
) -> Result:
    """Answer the questions by each method, or by none (None), and score these and other runs."""
    from kgp_neo4j.environment.files import expanded
    from kgp_neo4j.evaluate import experiment
    from kgp_neo4j.evaluate.experiment import (
        Holdings,
        measure_answer,
        open_dataset,
        read_graph_questions,
    )
    from kgp_neo4j.evaluate.scores import draw, judge_run, measure, read_run

    run: Callable[..., Result]
    measured: Callable[..., dict[str, float]]
    if graph:
        file = expanded(dataset)
        questions = draw(read_graph_questions(file), sample, seed)
        title = f"{file.resolve().parent.name} {file.name.split('.')[0]}"
        data: Any = experiment.GraphDataset(title, graph, tuple(questions))
        size = budget or settings.MiningSettings().size
        result = experiment.describe_graph_questions(data, size, "their own")
        known = experiment.GRAPH_METHODS
        within = experiment.GRAPH_TABLES[table] if table else tuple(known)
        run = partial(experiment.run_graph_methods, budget=size)
    else:
        data = open_dataset(dataset, split=split, sample=sample, seed=seed)
        if corpus is not None:
            data = replace(data, corpus=corpus)
        walk = settings.traversal_settings(budget=budget or data.budget, **traversal)
        result = experiment.describe_questions(data, walk, (), None)
        known, within = experiment.METHODS, experiment.TABLES[table or "1"]
        run = partial(experiment.run_methods, traversal=walk, agent_models=weights)
        measured = partial(measure, budget=walk.budget)
    if names is not None:
        has_model, is_judged = model is not None, judge is not None
        names = experiment.check_methods(
            names, within=within, model=has_model, agent_models=weights, known=known
        )
        planned = experiment.plan(names, len(data.questions), model=has_model, judge=is_judged)
        _output.say(f"{planned}; runs are kept in {out}")
    with _output.opened_database() if graph or names is not None else nullcontext() as database:
        if names is not None:
            result = run(database, data, names, out, model=model, echo=_output.say)
        if graph and other and database is not None:
            measured = partial(measure_answer, holdings=Holdings.of(database, graph))
        for each in other:
            result.runs[each.stem] = read_run(each, data.questions, measured)
    if judge is not None:
        for name, scored in result.runs.items():
            judged = out / "judged" / f"{name}.jsonl"
            result.runs[name] = judge_run(judge, data.questions, scored, judged)
    return result


def _show(result: Result, out: Path | None) -> None:
    """Print a report or its means, and write both to the folder of the runs, if any."""
    from kgp_neo4j.evaluate.scores import report

    means = {name: run.means() for name, run in result.runs.items()}
    missing = {name: list(run.missing) for name, run in result.runs.items() if run.missing}
    scores = {"asked": result.asked, "methods": means, "missing": missing}
    text = report(result)
    if out is not None:
        _output.write_file(out / "scores.json", json.dumps(scores, indent=1) + "\n")
        _output.write_file(out / "report.md", text)
    _output.print_result(scores, text.removesuffix("\n"))


def _print_methods() -> None:
    from kgp_neo4j.evaluate.experiment import GRAPH_METHODS, GRAPH_TABLES, METHODS, TABLES

    needs = {"model": " (needs --llm)", "agent model": " (needs --agent-model)"}
    records, lines = [], []
    for over, methods in (("documents", METHODS), ("a graph", GRAPH_METHODS)):
        lines.append(f"Over {over}:")
        for name, method in methods.items():
            records.append({"name": name, "over": over} | parts(method, "text", "needs"))
            lines.append(f"  {name:22}  {method.text}{needs.get(method.needs, '')}")
    for number, names in (TABLES | GRAPH_TABLES).items():
        lines.append(f"--table {number}: {', '.join(names)}")
    _output.print_result(records, "\n".join(lines))


def _agent_model(text: str) -> tuple[str, settings.AgentSettings]:
    name, sign, folder = text.partition("=")
    if not (sign and folder):
        raise click.BadParameter(f"{text!r} is not METHOD=FOLDER", param_hint="'--agent-model'")
    return name, settings.AgentSettings(model=folder)


@_output.result_command("retrieve")
@click.argument("questions", type=click.Path(path_type=Path))
@_options.corpus_option()
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Where the run is written."
)
@_options.default_option(
    "--method",
    "kgp",
    "Full text, vectors, both fused, the graph traversal, or IRCoT.",
    type=_options.PartName("retriever"),
)
@_options.retriever_options
@_options.llm_option("orders the passages (--rerank llm), or reasons (ircot)")
def retrieve_command(
    questions: Path, corpus: str, out: Path, method: str, llm: str | None, **retriever: Any
) -> None:
    """Retrieve passages for every question of a file, with the same budget for every method."""
    from kgp_neo4j.corpus.pipeline import make_retriever
    from kgp_neo4j.evaluate.scores import read_questions, retrieve_questions

    by_model = retriever["rerank"] == "llm" or method == "ircot"
    model = _options.opened_model(llm, retriever["agent_settings"].url) if by_model else None
    asked = read_questions(questions)
    with _output.opened_database() as database:
        chosen = make_retriever(database, corpus, method=method, model=model, **retriever)
        seconds = sorted(retrieve_questions(chosen, asked, out))
    p50, p95 = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.95)]
    record = {"questions": len(asked), "out": out, "p50": p50, "p95": p95}
    counts = f"{len(asked)} questions, {method}, p50 {p50:.3f} s, p95 {p95:.3f} s"
    _output.print_result(record, f"{counts}, written to {out}")


_PATH = click.Path(path_type=Path)


@click.group("train", cls=_output.ResultGroup)
def train_command() -> None:
    """Fine-tune a model on questions and their supporting facts."""


_FILES = click.argument("files", nargs=-1, required=True, type=_PATH)
_OUT = click.option("--out", required=True, type=_PATH, help="The folder of what comes out.")
_SEED = _options.default_option("--seed", 0, "Makes runs repeat.")
_OVERWRITE = click.option(
    "--overwrite", is_flag=True, help="Train anew where --out holds another training."
)


@train_command.command("llama")
@_FILES
@_OUT
@_options.default_option(
    "--model", "huggyllama/llama-7b", "The checkpoint to begin with: a folder or a hub name."
)
@_options.default_option("--epochs", 3, "Passes over FILES.")
@_options.default_option("--batch", 4, "Pairs a step.")
@_options.default_option("--rate", 3e-4, "Learning rate at most.")
@_SEED
@_OVERWRITE
def llama(files: tuple[Path, ...], out: Path, overwrite: bool, **given: Any) -> None:
    """Train LoRA adapters on LLaMA or any other causal checkpoint for --agent llama.

    The defaults are the paper's. The adapters name the model they belong to. It runs on a GPU when
    one is there.
    """
    from kgp_neo4j.train.llama import LlamaSettings, train_llama

    report = train_llama(files, out, LlamaSettings(**given), overwrite=overwrite)
    text = (
        f"{report.pairs} pairs of {report.questions} questions, {report.steps} steps on "
        f"{report.device}, loss {report.loss:.4f}, {report.seconds:.0f} s\n"
        f'Ask with it: kgp-neo4j ask "..." --corpus NAME --agent llama --model {out}'
    )
    _output.print_result(report, text)


@train_command.command("scorer")
@click.option(
    "--set",
    "sets",
    multiple=True,
    required=True,
    metavar="CORPUS=FILE",
    help="A connected corpus and its training questions.",
)
@_OUT
@_SEED
@_OVERWRITE
def scorer(sets: tuple[str, ...], out: Path, seed: int, overwrite: bool) -> None:
    """Train the trees by which the learned agent judges passages."""
    from kgp_neo4j.train.scorer import train_scorer

    files = {}
    for each in sets:
        corpus, _, file = each.partition("=")
        if not (corpus and file):
            raise click.BadParameter(f"{each!r} is not CORPUS=FILE", param_hint="--set")
        files[corpus] = Path(file)
    with _output.opened_database() as database:
        report = train_scorer(database, files, out, seed=seed, overwrite=overwrite)
    lines = []
    for corpus, number in report.questions.items():
        left = report.left_out[corpus]
        lines.append(
            f"{corpus}: {number:,} questions, R@5 {100 * report.reached[corpus]:.1f} in "
            "cross-validation" + (f" ({left} without their facts in the corpus)" if left else "")
        )
    lines.append(f"Ask with it: kgp-neo4j ask QUESTION --agent learned --model {out}")
    _output.print_result(report, "\n".join(lines))


@train_command.command("reader")
@_FILES
@_OUT
@_options.default_option("--epochs", 5, "Passes over the questions of several passages.")
@_options.default_option("--batch", 4096, "Word pieces a step.")
@click.option(
    "--further",
    is_flag=False,
    flag_value="",
    metavar="[FOLDER]",
    help="Begin with a reader instead of the encoder (without FOLDER: the bundled one).",
)
@click.option("--rate", type=float, help="Learning rate (default: 2.5e-4, with --further 1e-4).")
@_SEED
@_OVERWRITE
def reader(
    files: tuple[Path, ...], out: Path, further: str | None, overwrite: bool, **given: Any
) -> None:
    """Train the reader that answers without a language model."""
    from kgp_neo4j.corpus.read.reader import SHIPPED
    from kgp_neo4j.environment.files import expanded
    from kgp_neo4j.train.reader import ReaderSettings, train_reader

    # What is not given has the default of the settings.
    options = {name: value for name, value in given.items() if value is not None}
    if further is not None:
        options["further"] = expanded(further) if further else SHIPPED
        options.setdefault("rate", 1e-4)
    report = train_reader(files, out, ReaderSettings(**options), overwrite=overwrite)
    lines = [
        f"{report.examples} examples, {report.steps} steps on {report.device}, "
        f"loss {report.loss:.4f}, {report.seconds:.0f} s"
    ]
    if report.figures:
        lines.append(f"Held out: {report.figures}")
    lines.append(f'Ask with it: kgp-neo4j ask "..." --corpus NAME --reader {out}')
    _output.print_result(report, "\n".join(lines))
