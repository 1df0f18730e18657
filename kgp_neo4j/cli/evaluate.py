"""`kgp-neo4j evaluate`: retrieval and answers measured over a data set, with a report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from kgp_neo4j.cli._evaluation import tell_evaluation, tell_report
from kgp_neo4j.cli._language import chat_url_option, llm_option, opened_model
from kgp_neo4j.cli._output import echo_json, json_option, say
from kgp_neo4j.types.corpus import Setting
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.settings import (
    ALGORITHMS,
    EDGES,
    AgentSettings,
    TraversalSettings,
    default_of,
    traversal_settings,
)

if TYPE_CHECKING:
    from kgp_neo4j.evaluate.datasets import Dataset
    from kgp_neo4j.types.language import LanguageModel

_EPILOG = """
\b
Examples:
  kgp-neo4j evaluate --list
  kgp-neo4j evaluate demo
  kgp-neo4j evaluate data/musique --methods bm25,kgp,golden --sample 100
  kgp-neo4j evaluate hotpot_dev_distractor_v1.json --sample 500 --table 1 --llm gpt-4o-mini
  kgp-neo4j evaluate musique_dev.jsonl --sample 100 --figure 7 --algorithm paper
  kgp-neo4j evaluate data/musique --score other-system.jsonl
  kgp-neo4j evaluate genmedgpt5k.json --graph medical --table mindmap-2 --sample 100
  kgp-neo4j evaluate --ranks evaluation-hotpotqa --ranks evaluation-musique

\b
DATASET is one of
  demo      40 questions that come along
  a folder  with corpus.jsonl.gz (or corpus.json) and questions: one corpus for all of
            them; MultiHop-RAG is one, with --split MultiHopRAG
  a file    of HotpotQA, 2WikiMultihopQA, MuSiQue or IIRC (context_articles.json beside
            it): the corpus is made of the contexts of the questions drawn, as in KGP's
            paper, one for each question with --setting question; or of PDFTriage,
            with the PDFs beside it
  over a knowledge graph (--graph NAME, loaded by `kgp-neo4j load-kg`)
            a file of GenMedGPT-5k, CMCQA, ExplainCPE or PathQuestion, or of dialogues or
            questions in their form; a CSV table of published outputs is scored again
A stopped evaluation goes on where it was.
"""

#: Of KGP's paper, and after it of MindMap's (`evaluate/graph_experiment.py`).
_OF_KGP = ("1", "2", "structure")
_TABLES = (*_OF_KGP, *(f"mindmap-{n}" for n in (2, 3, 4, 5, 6, "ablations")))


@click.command("evaluate", epilog=_EPILOG)
@click.argument("dataset", required=False)
@click.option("--list", "listed", is_flag=True, help="Print the methods and tables there are.")
@click.option(
    "--table",
    type=click.Choice(_TABLES),
    help="The rows of a table of KGP's paper, or over a graph of MindMap's.",
)
@click.option("--graph", metavar="NAME", help="The knowledge graph that the questions are about.")
@click.option(
    "--figure",
    type=click.Choice(["5", "6", "7"]),
    help="A figure of KGP's paper instead of a table: graphs by density (5, 6), branching and size "
    "(7).",
)
@click.option(
    "--methods", metavar="A,B", help="Rows of your choice (default: all that can be run)."
)
@click.option(
    "--agent-model",
    "agent_models",
    multiple=True,
    metavar="METHOD=FOLDER",
    help="Weights of mdr, kgp-mdr, kgp-t5 or kgp-llama; the encoders QUESTIONS,PASSAGES of dpr.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 500),
    help="Passages at most (default: 30; demo: 8), over a graph triples (40).",
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
    "--judge",
    metavar="NAME",
    help="A language model that judges every answer too (Acc; over a graph pairs and ranks), both "
    "orders of the texts asked.",
)
@click.option(
    "--bert-score",
    "bert",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Over a graph: BERTScore by the checkpoint in this folder.",
)
@click.option(
    "--wrong-facts",
    is_flag=True,
    help="Over a graph: ask each question again with an entity that it names replaced by another "
    "of its type, drawn by --seed.",
)
@click.option(
    "--ranks",
    multiple=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Print the mean rank over the evaluations in these folders instead.",
)
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
    graph: str | None,
    figure: str | None,
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
    judge: str | None,
    bert: Path | None,
    wrong_facts: bool,
    ranks: tuple[Path, ...],
    out: Path,
    other: tuple[Path, ...],
    compare: Path | None,
    as_json: bool,
) -> None:
    """Measure retrieval and answers over DATASET: recall, SF-EM, exact match, F1, time.

    Each method answers every question with the same budget, by the offline reader or the language
    model. Runs, report.md and report.html are written to --out.
    """
    from kgp_neo4j.evaluate.experiment import TABLES

    if listed:
        _print_methods()
        return
    if ranks:
        _print_ranks(ranks, as_json)
        return
    if dataset is None:
        raise click.MissingParameter(param_hint="'DATASET' or '--list'", param_type="argument")
    if sum(each is not None for each in (table, methods if figure is None else None, figure)) > 1:
        raise click.UsageError("Choose one of --table, --methods and --figure.")
    from kgp_neo4j.evaluate.graph_questions import is_over_graph

    file = Path(dataset).expanduser()
    if graph is not None or (file.is_file() and is_over_graph(file)):
        from kgp_neo4j.cli._evaluate_graph import evaluate_graph

        if figure is not None or table in _OF_KGP:
            raise click.UsageError("Over a graph there are --table mindmap-... and --methods.")
        evaluate_graph(
            file,
            graph,
            methods=[name for name in (methods or "").split(",") if name],
            table=table,
            budget=budget,
            sample=sample,
            seed=seed,
            llm=llm,
            chat_url=chat_url,
            judge=judge,
            bert=bert,
            out=out,
            other=other,
            compare=compare,
            wrong_facts=wrong_facts,
            as_json=as_json,
        )
        return
    if bert is not None or wrong_facts:
        given = "--wrong-facts" if wrong_facts else "--bert-score"
        raise click.UsageError(f"{given} is of questions over a graph: add --graph NAME.")
    if table not in (None, *_OF_KGP):
        raise click.UsageError(f"--table {table} is of questions over a graph: add --graph NAME.")
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.evaluate.datasets import open_dataset
    from kgp_neo4j.evaluate.experiment import Result, check_methods, plan, run_methods
    from kgp_neo4j.evaluate.judge import judge_run
    from kgp_neo4j.evaluate.report import machine_line, settings_lines, tables_of
    from kgp_neo4j.evaluate.scores import read_run
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.llm.call import writer

    model = opened_model(llm, chat_url)
    weights = {
        name: AgentSettings(model=folder)
        for name, folder in (_named(each) for each in agent_models)
    }
    if model is not None:
        weights.setdefault("kgp-chat", AgentSettings(model=llm, url=chat_url))

    def opened_with(more: int) -> Any:
        made = open_dataset(
            dataset, split=split, sample=sample, seed=seed, setting=setting, more=more
        )
        return made if corpus is None else replace(made, corpus=corpus + (f"-{more}" * bool(more)))

    opened = opened_with(0)
    traversal = traversal_settings(
        algorithm, budget=budget or opened.budget, branching=branching, edges=edges
    )
    names: list[str] = []
    if methods or table or not (other or figure):
        names = check_methods(
            [name for name in (methods or "").split(",") if name],
            within=TABLES[table or "1"],
            model=model is not None,
            agent_models=weights,
        )
    if figure is not None:
        sizes = (0, len(opened.questions), 3 * len(opened.questions)) if figure == "7" else (0,)
        grown = {each.corpus: each for each in map(opened_with, sizes)}
        _make_figure(
            figure, list(grown.values()), out, names, traversal, model, weights, as_json=as_json
        )
        return
    earlier = {
        file.stem: read_run(file, opened.questions)
        for file in sorted(compare.glob("*.jsonl") if compare else ())
    }
    settings = language_settings(model=llm, url=chat_url) if model else None
    judging = language_settings(model=judge, url=chat_url) if judge else None
    if names:
        planned = plan(names, len(opened.questions), traversal.budget, settings, judging)
        say(f"{planned}, kept in {out}")
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
        theirs = {"budget": traversal.budget, "answers": "their own"}
        result = Result(opened.name, opened.setting, theirs, opened.questions, {})
    files = {name: out / f"{name}.jsonl" for name in names} | {file.stem: file for file in other}
    for file in other:
        result.runs[file.stem] = read_run(file, opened.questions)
    if judge and (judging_model := opened_model(judge, chat_url)):
        write = writer(judging_model)
        for name, file in files.items():
            kept = out / "judged" / file.name
            result.runs[name] = judge_run(write, opened.questions, result.runs[name], file, kept)
    about = settings_lines(result, machine_line())
    tables = tables_of(result, earlier)
    tell_evaluation(result, about, tables, out if names else None, as_json=as_json)


def _make_figure(
    figure: str,
    grown: Sequence[Dataset],
    out: Path,
    names: Sequence[str],
    traversal: TraversalSettings,
    model: LanguageModel | None,
    weights: Mapping[str, AgentSettings],
    *,
    as_json: bool,
) -> None:
    """Measure and draw a figure, and tell it with its points."""
    from kgp_neo4j.evaluate.experiment import Result
    from kgp_neo4j.evaluate.figures import FIGURES, draw_figure, make_figure
    from kgp_neo4j.evaluate.report import figure_table, machine_line, settings_lines
    from kgp_neo4j.graphdb.open import open_database

    folder = out / f"figure-{figure}"
    with open_database(echo=say) as database:
        points = make_figure(
            figure,
            database,
            grown,
            folder,
            methods=names,
            traversal=traversal,
            model=model,
            agent_models=weights,
            echo=say,
        )
    title = f"Figure {figure}: {FIGURES[figure]}"
    picture = folder / "figure.svg"
    draw_figure(points, title, picture)
    first = grown[0]
    told = Result(first.name, first.setting, _told(traversal, model, figure), first.questions, {})
    tell_report(
        settings_lines(told, machine_line()),
        figure_table(points, title),
        folder,
        picture=picture.read_text(encoding="utf-8"),
        as_json=points if as_json else None,
    )


def _told(traversal: TraversalSettings, model: LanguageModel | None, figure: str) -> dict[str, Any]:
    """Return the settings that the report of a figure tells."""
    names = ("budget", "algorithm", "edges", "branching")
    told = {name: getattr(traversal, name) for name in names}
    told["answers"] = model.name if model is not None else "offline reader"
    return told | ({} if figure == "7" else {"edges": ("the graph of each line",)})


def _print_ranks(folders: tuple[Path, ...], as_json: bool) -> None:
    """Print the table of several evaluations, by what each one's scores.json holds."""
    from kgp_neo4j.evaluate.report import markdown_report, rank_table

    evaluations = []
    for folder in folders:
        try:
            evaluations.append(json.loads((folder / "scores.json").read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            raise InputError(
                "the folder holds no finished evaluation",
                where=str(folder),
                hint="Give the --out of an evaluation that came to its end.",
            ) from error
    table = rank_table(evaluations)
    if as_json:
        echo_json([dict(zip(table[1], row, strict=True)) for row in table[2]])
    else:
        click.echo(markdown_report([], [table]), nl=False)


def _print_methods() -> None:
    from kgp_neo4j.evaluate.experiment import METHODS, TABLES
    from kgp_neo4j.evaluate.figures import FIGURES
    from kgp_neo4j.evaluate.graph_experiment import GRAPH_METHODS, GRAPH_TABLES

    for title, methods in (("", METHODS), ("Over a graph (--graph NAME):", GRAPH_METHODS)):
        if title:
            click.echo(title)
        width = max(map(len, methods))
        for name, made in methods.items():
            needs = {"model": " (needs --llm)", "agent model": " (needs --agent-model)"}
            click.echo(f"{name:{width}}  {made.text}{needs.get(made.needs, '')}")
    for number, names in (TABLES | GRAPH_TABLES).items():
        click.echo(f"--table {number}: {', '.join(names)}")
    for number, text in FIGURES.items():
        click.echo(f"--figure {number}: {text}")


def _named(text: str) -> tuple[str, str]:
    name, sign, folder = text.partition("=")
    if not (sign and folder):
        raise click.BadParameter(f"{text!r} is not METHOD=FOLDER", param_hint="'--agent-model'")
    return name, folder
