"""`kgp-neo4j connect`: the edges between passages."""

from typing import Any, get_args

import click

from kgp_neo4j.cli._options import corpus_option, result_command, settings_options
from kgp_neo4j.cli._output import opened_database, print_result
from kgp_neo4j.types import settings
from kgp_neo4j.types.corpus import ConnectReport, GraphName

#: The lines of a report: the graph of each, what is counted, and the field of the count.
_COUNTS = (
    ("tfidf", "keywords", "keywords"),
    ("tfidf", "shared-keyword edges", "shared_keyword_edges"),
    ("entity", "mentions", "mentions"),
    ("entity", "entities", "entities"),
    ("entity", "shared-entity edges", "shared_entity_edges"),
    ("knn-st", "passages embedded", "embedded"),
    ("knn-st", "similarity edges", "similarity_edges"),
    ("knn-mdr", "embedded by MDR", "mdr_embedded"),
    ("knn-mdr", "MDR edges", "mdr_edges"),
)


@result_command("connect")
@corpus_option()
@click.option(
    "--edges",
    multiple=True,
    type=click.Choice(get_args(GraphName)),
    help="Which graphs to make; can be repeated (default: tfidf, entity and knn-st).",
)
@settings_options(
    keywords=settings.KeywordSettings,
    entities=settings.EntitySettings,
    similarity=settings.SimilaritySettings,
    mdr=settings.MdrSettings,
)
@click.option("--all", "anew", is_flag=True, help="Write every edge again, not only changed ones.")
def command(corpus: str, edges: tuple[GraphName, ...], **chosen: Any) -> None:
    """Make the keyword (TF-IDF), entity (TAGME) and similarity (KNN) graphs of a corpus."""
    from kgp_neo4j.corpus.connect.graphs import EDGES, connect

    with opened_database() as database:
        report = connect(database, corpus, edges=edges or EDGES, **chosen)
    print_result(report, lambda report: _print(report, corpus, edges or EDGES))


def _print(report: ConnectReport, corpus: str, edges: tuple[GraphName, ...]) -> None:
    click.echo(f"{click.style('Connected', fg='green')} {corpus} in {report.seconds['all']:.1f} s")
    for graph, name, field in _COUNTS:
        if graph in edges:
            click.echo(f"  {name:20}  {getattr(report, field):>10,}")
    steps = ", ".join(f"{s} {took:.1f}" for s, took in report.seconds.items() if s != "all")
    click.echo(click.wrap_text(f"seconds: {steps}", 100, "  ", "    "))
