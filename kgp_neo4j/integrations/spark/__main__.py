"""The Spark jobs as commands: `python -m kgp_neo4j.integrations.spark` or by `spark-submit`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import cast

import click

from kgp_neo4j.types.corpus import GraphName
from kgp_neo4j.types.errors import KgpError

_FORMATS = ("parquet", "csv", "json", "orc", "table")


@click.group()
def main() -> None:
    """Load, connect and ask a corpus by Apache Spark (docs/spark.md)."""


_master = click.option("--master", help="Where Spark runs; by default what spark-submit says.")
_format = click.option(
    "--format", "kind", type=click.Choice(_FORMATS), help="Read PATHS as a frame of this kind."
)


@main.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--corpus", required=True)
@_format
@click.option("--language", help="What full-text search stems; guessed by default.")
@click.option("--passage-size", type=click.IntRange(1), help="Characters of a passage at most.")
@click.option("--keep-going", is_flag=True, help="Leave out what cannot be read.")
@_master
def load(
    paths: tuple[str, ...],
    corpus: str,
    kind: str | None,
    language: str | None,
    passage_size: int | None,
    keep_going: bool,
    master: str | None,
) -> None:
    """Load files, or with --format a frame with the columns key, title and text."""
    from kgp_neo4j.integrations import spark

    session = spark.make_session(master)
    if kind is None:
        documents = spark.read_documents(session, paths)
    else:
        documents = spark.documents_of(spark.read_frame(session, kind, paths), paths[0])
    done = spark.load(
        documents, corpus, language=language, passage_size=passage_size, keep_going=keep_going
    )
    for error in done.errors:
        click.echo(error, err=True)
    click.echo(
        f"{done.corpus}: {done.documents:,} documents ({done.new:,} new, {done.unchanged:,} "
        f"unchanged), {done.passages:,} passages in {done.seconds:.0f} s."
    )


@main.command()
@click.option("--corpus", required=True)
@click.option("--edges", default="tfidf,entity,knn-st", show_default=True)
@_master
def connect(corpus: str, edges: str, master: str | None) -> None:
    """Make the graphs of a corpus; the executors embed its passages."""
    from kgp_neo4j.integrations import spark

    names = cast(Sequence[GraphName], [name.strip() for name in edges.split(",")])
    done = spark.connect(spark.make_session(master), corpus, edges=names)
    click.echo(
        f"{done.corpus}: {done.keywords:,} keywords, {done.shared_keyword_edges:,} shared-keyword, "
        f"{done.shared_entity_edges:,} shared-entity and {done.similarity_edges:,} similarity "
        f"edges in {done.seconds['all']:.0f} s."
    )


@main.command("load-kg")
@click.argument("paths", nargs=-1, required=True)
@click.option("--graph", required=True)
@click.option("--format", "kind", type=click.Choice(_FORMATS), default="parquet")
@click.option("--keep-going", is_flag=True, help="Leave out what cannot be read.")
@_master
def load_kg(
    paths: tuple[str, ...], graph: str, kind: str, keep_going: bool, master: str | None
) -> None:
    """Load a frame with the columns head, relation and tail into a knowledge graph."""
    from kgp_neo4j.integrations import spark

    frame = spark.read_frame(spark.make_session(master), kind, paths)
    done = spark.load_kg(frame, graph, keep_going=keep_going)
    click.echo(f"{done.graph}: {done.entities:,} entities, {done.relationships:,} relationships.")


@main.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--corpus", required=True)
@click.option("--format", "kind", type=click.Choice(_FORMATS), default="parquet")
@click.option("--out", required=True, help="A folder for Parquet files; it must not exist.")
@click.option("-k", type=click.IntRange(1), default=10, show_default=True)
@_master
def retrieve(
    paths: tuple[str, ...], corpus: str, kind: str, out: str, k: int, master: str | None
) -> None:
    """Write the passages for a frame of questions (columns id and question) as Parquet."""
    from kgp_neo4j.integrations import spark

    frame = spark.read_frame(spark.make_session(master), kind, paths)
    with spark.plain_errors():
        spark.retrieve(frame, corpus, k=k).write.parquet(out)
    click.echo(out)


if __name__ == "__main__":
    try:
        main.main(standalone_mode=True)
    except KgpError as error:
        sys.exit(f"Error: {error}")
