"""`kgp-neo4j retrieve`: many questions, one run file."""

from pathlib import Path
from typing import Any, get_args

import click

from kgp_neo4j.cli._language import llm_option, opened_model
from kgp_neo4j.cli._options import corpus_option, default_option, result_command, retriever_options
from kgp_neo4j.cli._output import opened_database, print_result
from kgp_neo4j.types.corpus import Method


@result_command("retrieve")
@click.argument("questions", type=click.Path(path_type=Path))
@corpus_option()
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Where the run is written."
)
@default_option(
    "--method",
    "kgp",
    "Full text, vectors, both fused, or the graph traversal.",
    type=click.Choice([method for method in get_args(Method) if method != "ircot"]),
)
@retriever_options
@llm_option("puts the passages in order with --rerank llm")
def command(
    questions: Path,
    corpus: str,
    out: Path,
    method: Method,
    llm: str | None,
    **retriever: Any,
) -> None:
    """Retrieve passages for every question of a file, with the same budget for every method."""
    from kgp_neo4j.corpus.pipeline import make_retriever
    from kgp_neo4j.evaluate.questions import read_questions
    from kgp_neo4j.evaluate.runs import retrieve_questions

    by_model = retriever["rerank"] == "llm"
    model = opened_model(llm, retriever["agent_settings"].url) if by_model else None
    asked = read_questions(questions)
    with opened_database() as database:
        chosen = make_retriever(database, corpus, method=method, model=model, **retriever)
        seconds = sorted(retrieve_questions(chosen, asked, out))
    p50, p95 = seconds[len(seconds) // 2], seconds[int(len(seconds) * 0.95)]
    record = {"questions": len(asked), "out": out, "p50": p50, "p95": p95}
    counts = f"{len(asked)} questions, {method}, p50 {p50:.3f} s, p95 {p95:.3f} s"
    print_result(record, f"{counts}, written to {out}")
