"""`kgp-neo4j evaluate`: retrieval and answers measured over a data set, with a report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import get_args

import click

from kgp_neo4j.cli._language import chat_url_option, llm_option, opened_model
from kgp_neo4j.cli._output import echo_json, json_option, say, write_file
from kgp_neo4j.types.corpus import Setting
from kgp_neo4j.types.settings import (
    ALGORITHMS,
    EDGES,
    TraversalSettings,
    default_of,
    traversal_settings,
)

_EPILOG = """
\b
Examples:
  kgp-neo4j evaluate --list
  kgp-neo4j evaluate demo
  kgp-neo4j evaluate data/musique --methods bm25,kgp,golden --sample 100
  kgp-neo4j evaluate hotpot_dev_distractor_v1.json --sample 500 --table 1 --llm gpt-4o-mini
  kgp-neo4j evaluate data/musique --score other-system.jsonl

\b
DATASET is one of
  demo      40 questions that come along
  a folder  with corpus.jsonl.gz (or corpus.json) and questions: one corpus for all of
            them; MultiHop-RAG is one, with --split MultiHopRAG
  a file    of HotpotQA, 2WikiMultihopQA, MuSiQue or IIRC (context_articles.json beside
            it): the corpus is made of the contexts of the questions drawn, as in KGP's
            paper, one for each question with --setting question; or of PDFTriage,
            with the PDFs beside it
A stopped evaluation goes on where it was.
"""


@click.command("evaluate", epilog=_EPILOG)
@click.argument("dataset", required=False)
@click.option("--list", "listed", is_flag=True, help="Print the methods and tables there are.")
@click.option("--table", type=click.Choice(["1", "2"]), help="The rows of a table of KGP's paper.")
@click.option(
    "--methods", metavar="A,B", help="Rows of your choice (default: all that can be run)."
)
@click.option(
    "--agent-model",
    "agent_models",
    multiple=True,
    metavar="METHOD=FOLDER",
    help="The weights of kgp-mdr, kgp-t5 or kgp-llama.",
)
@click.option(
    "--budget", type=click.IntRange(1, 1000), help="Passages at most (default: 30; demo: 8)."
)
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    default=default_of(TraversalSettings, "algorithm"),
    show_default=True,
    help="How the agents of rows kgp-... walk: our beam, or Algorithm 1 of the paper.",
)
@click.option(
    "--branching",
    type=click.IntRange(1, 100),
    help="Their branching factor (default: 5; paper: 3).",
)
@click.option(
    "--edges",
    multiple=True,
    type=click.Choice(EDGES),
    help="Edge types they go along (default: all; of the algorithm paper SHARES_ENTITY).",
)
@click.option(
    "--corpus", metavar="NAME", help="The name of the corpus that is made (default: evaluate-...)."
)
@click.option(
    "--setting",
    type=click.Choice(get_args(Setting)),
    default="corpus",
    show_default=True,
    help="One corpus of all contexts, or one of each question's own.",
)
@click.option("--split", default="dev", show_default=True, help="Which questions of a folder.")
@click.option("--sample", type=click.IntRange(1), help="Draw so many questions (default: all).")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the same again.")
@llm_option("answers (without one, the offline reader)")
@chat_url_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("evaluation"),
    show_default=True,
    help="The folder for runs and report.",
)
@click.option(
    "--score",
    "other",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A run that another system wrote, scored beside the methods chosen.",
)
@click.option(
    "--compare",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of an earlier evaluation, to compare with.",
)
@json_option
def command(
    dataset: str | None,
    listed: bool,
    table: str | None,
    methods: str | None,
    agent_models: tuple[str, ...],
    budget: int | None,
    algorithm: str,
    branching: int | None,
    edges: tuple[str, ...],
    corpus: str | None,
    setting: Setting,
    split: str,
    sample: int | None,
    seed: int,
    llm: str | None,
    chat_url: str | None,
    out: Path,
    other: tuple[Path, ...],
    compare: Path | None,
    as_json: bool,
) -> None:
    """Measure retrieval and answers over DATASET: recall, SF-EM, exact match, F1, time.

    Each method answers every question with the same budget, by the offline reader or the language
    model. Runs, report.md and report.html are written to --out.
    """
    from kgp_neo4j.evaluate.experiment import METHODS, TABLES

    if listed:
        _print_methods()
        return
    if dataset is None:
        raise click.MissingParameter(param_hint="'DATASET' or '--list'", param_type="argument")
    if table is not None and methods is not None:
        raise click.UsageError("Choose one of --table and --methods.")
    from kgp_neo4j.evaluate.datasets import open_dataset
    from kgp_neo4j.evaluate.experiment import Result, check_methods, run_methods
    from kgp_neo4j.evaluate.report import machine_line, markdown_report, page_report, tables_of
    from kgp_neo4j.evaluate.scores import read_run

    weights = dict(_named(each) for each in agent_models)
    opened = open_dataset(dataset, split=split, sample=sample, seed=seed, setting=setting)
    if corpus is not None:
        opened = replace(opened, corpus=corpus)
    model = opened_model(llm, chat_url)
    names: list[str] = []
    if methods or table or not other:
        names = check_methods(
            [name for name in (methods or "").split(",") if name],
            within=TABLES[table] if table else tuple(METHODS),
            model=model is not None,
            agent_models=weights,
        )
    traversal = traversal_settings(
        algorithm, budget=budget or opened.budget, branching=branching, edges=edges
    )
    earlier = {
        file.stem: read_run(file, opened.questions)
        for file in sorted(compare.glob("*.jsonl") if compare else ())
    }
    if names:
        from kgp_neo4j.graphdb.install import open_database

        say(_plan(len(opened.questions), len(names), model is not None, out))
        with open_database(echo=say) as database:
            result = run_methods(
                database,
                opened,
                names,
                out,
                traversal=traversal,
                model=model,
                agent_models=weights,
                echo=say,
            )
    else:
        settings = {"budget": traversal.budget, "answers": "their own"}
        result = Result(opened.name, opened.setting, settings, opened.questions, {})
    for file in other:
        result.runs[file.stem] = read_run(file, opened.questions)
    tables = tables_of(result, earlier)
    machine = machine_line()
    report = markdown_report(result, tables, machine)
    if names:
        write_file(out / "report.md", report)
        write_file(out / "report.html", page_report(result, tables, machine))
    if as_json:
        means = {name: run.means() for name, run in result.runs.items()}
        missing = {name: list(run.missing) for name, run in result.runs.items() if run.missing}
        echo_json({"dataset": result.dataset, "methods": means, "missing": missing})
    else:
        click.echo(report, nl=False)


def _print_methods() -> None:
    from kgp_neo4j.evaluate.experiment import METHODS, TABLES

    width = max(map(len, METHODS))
    for name, made in METHODS.items():
        needs = {"model": " (needs --llm)", "agent model": " (needs --agent-model)"}
        click.echo(f"{name:{width}}  {made.text}{needs.get(made.needs, '')}")
    for number, names in TABLES.items():
        click.echo(f"--table {number}: {', '.join(names)}")


def _named(text: str) -> tuple[str, str]:
    name, sign, folder = text.partition("=")
    if not (sign and folder):
        raise click.BadParameter(f"{text!r} is not METHOD=FOLDER", param_hint="'--agent-model'")
    return name, folder


def _plan(questions: int, methods: int, by_model: bool, out: Path) -> str:
    answers = questions * methods
    each, whose = (5.0, "calls of the language model") if by_model else (0.3, "answers")
    minutes = max(1, round(answers * each / 60))
    return (
        f"{questions} questions by {methods} methods: {answers} {whose} or more, about {minutes} "
        f"min, kept in {out}"
    )
