"""`kgp-neo4j evaluate` over a knowledge graph: MindMap's tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kgp_neo4j.cli._evaluation import tell_evaluation
from kgp_neo4j.cli._language import opened_model
from kgp_neo4j.cli._output import say
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.settings import MiningSettings, default_of

if TYPE_CHECKING:
    from kgp_neo4j.evaluate.scores import Row

__all__ = ["evaluate_graph"]

#: About what a triple has in tokens.
_TRIPLE_TOKENS = 15
#: Calls of a judge for an answer at most: four axes and a rank, each in both orders.
_JUDGED = 10


def evaluate_graph(
    file: Path,
    graph: str | None,
    *,
    methods: list[str],
    table: str | None,
    budget: int | None,
    sample: int | None,
    seed: int,
    llm: str | None,
    chat_url: str | None,
    judge: str | None,
    bert: Path | None,
    out: Path,
    other: tuple[Path, ...],
    compare: Path | None,
    wrong_facts: bool,
    as_json: bool,
) -> None:
    """Answer the questions of a file over a graph by each method, or score published outputs."""
    from kgp_neo4j.environment.configuration import language_settings
    from kgp_neo4j.evaluate.experiment import check_methods, plan
    from kgp_neo4j.evaluate.graph_experiment import (
        GRAPH_METHODS,
        GRAPH_TABLES,
        GraphResult,
        Holdings,
        measure_run,
        run_graph_methods,
    )
    from kgp_neo4j.evaluate.graph_judge import add_bert_scores, judge_methods
    from kgp_neo4j.evaluate.graph_questions import (
        read_graph_questions,
        read_published,
        with_wrong_facts,
    )
    from kgp_neo4j.evaluate.questions import draw
    from kgp_neo4j.evaluate.report import graph_lines, graph_tables, machine_line
    from kgp_neo4j.evaluate.scores import Run, read_rows
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.llm.call import writer

    lines: dict[str, Mapping[str, Row]] = {}
    published = file.name.lower().removesuffix(".gz").endswith(".csv")
    if published:
        found, outputs = read_published(file)
        lines |= outputs
    elif graph is None:
        raise ConfigurationError(
            "these questions are asked over a knowledge graph",
            hint="Name it: --graph NAME (`kgp-neo4j load-kg` loads one).",
        )
    else:
        found = read_graph_questions(file)
    questions = draw(found, sample, seed)
    if wrong_facts and graph is not None and not published:
        with open_database(echo=say) as database:
            types = Holdings.of(database, graph).types
        questions = with_wrong_facts(questions, types, seed)
        if not questions:
            raise InputError("none of the questions names an entity of the graph", where=str(file))
    ids = {asked.id for asked in questions}
    lines |= {each.stem: read_rows(each, ids) for each in other}
    before = {
        each.stem: read_rows(each, ids)
        for each in sorted(compare.glob("*.jsonl") if compare else ())
    }
    size = budget or int(default_of(MiningSettings, "size"))
    model = None if published else opened_model(llm, chat_url)
    names: list[str] = []
    if not published and (methods or table or not other):
        names = check_methods(
            methods,
            within=GRAPH_TABLES[table] if table else tuple(GRAPH_METHODS),
            model=model is not None,
            known=GRAPH_METHODS,
        )
    name = f"{file.resolve().parent.name} {file.name.split('.')[0]}"
    result = GraphResult(
        name, {"graph": graph, "budget": size, "answers": "their own"}, tuple(questions),
        Run({}, ()), {},
    )  # fmt: skip
    holdings = Holdings()
    if graph is not None:
        with open_database(echo=say) as database:
            holdings = Holdings.of(database, graph)
            if names:
                settings = language_settings(model=llm, url=chat_url) if model else None
                judging = language_settings(model=judge, url=chat_url) if judge else None
                planned = plan(
                    names,
                    len(questions),
                    size,
                    settings,
                    judging,
                    each=_TRIPLE_TOKENS,
                    judged=_JUDGED,
                    once=1,
                )
                say(f"{planned}, kept in {out}")
                result = run_graph_methods(
                    database, name, questions, graph, names, out, budget=size, model=model, echo=say
                )
    for system, rows in lines.items():
        result.runs[system] = measure_run(rows, questions, holdings)
    earlier = {key: measure_run(rows, questions, holdings) for key, rows in before.items()}
    pairs = None
    answered = {name: read_rows(out / f"{name}.jsonl") for name in names} | lines
    if bert is not None:
        add_bert_scores(bert, questions, answered, result.runs)
    if judge and (judging_model := opened_model(judge, chat_url)):
        pairs = judge_methods(
            writer(judging_model), questions, answered, result.runs, out / "judged"
        )
    about = graph_lines(result, machine_line())
    tables = graph_tables(result, earlier, pairs)
    tell_evaluation(result, about, tables, out if names else None, as_json=as_json)
