"""`kgp-neo4j load-kg`: triples to a knowledge graph."""

from typing import Any

import click
from click.exceptions import Exit

from kgp_neo4j.cli._options import default_option, graph_option, result_command
from kgp_neo4j.cli._output import list_faults, opened_database, print_result, say
from kgp_neo4j.types.mindmap import GraphLoadReport

_ACCOUNT = """\
graph          {0.graph}
files          {0.files:,}
triples        {0.triples:,} ({0.new:,} new, {0.duplicates:,} duplicates, {0.skipped:,} without a \
value skipped)
entities       {0.entities:,} ({0.embedded:,} embedded){types}
relationships  {0.relationships:,}{relations}
time           {0.seconds:.1f} s"""


@result_command("load-kg")
@click.argument("paths", nargs=-1, metavar="FILE...")
@graph_option()
@click.option("--mapping", metavar="TOML|NAME", help="How a table becomes triples.")
@click.option(
    "--types",
    multiple=True,
    metavar="RELATION=HEAD:TAIL",
    help="Types of the head and tail of a relation; can be repeated. By default a relation such as "
    "has_symptom says the type of its tail.",
)
@click.option(
    "--missing",
    multiple=True,
    metavar="TEXT",
    help="A text that is no value, exactly so; can be repeated (default: an empty one alone).",
)
@click.option(
    "--from-label",
    "labels",
    multiple=True,
    metavar="LABEL",
    help="Copy the nodes of this label from the database instead; can be repeated.",
)
@default_option("--name-property", "name", "The property that holds their names.", metavar="KEY")
@click.option(
    "--encoder",
    metavar="NAME",
    help="Embeds the names (default: the offline one for their language).",
)
@click.option("--no-embed", is_flag=True, help="Leave the embeddings out; loading again adds them.")
@click.option("--keep-going", is_flag=True, help="Load the rest when a file or line is bad.")
def command(
    paths: tuple[str, ...],
    graph: str,
    mapping: str | None,
    types: tuple[str, ...],
    labels: tuple[str, ...],
    name_property: str,
    no_embed: bool,
    **options: Any,
) -> None:
    """Load triples, tables, RDF or a stored graph into a knowledge graph; account for every row.

    Entities get a label of their type, an embedding, and their place in a full-text index. With
    --keep-going the account says what was not loaded, and the exit code is still 1.
    """
    if bool(paths) == bool(labels):
        raise click.UsageError("give either files or --from-label")
    if labels and mapping:
        raise click.UsageError("--mapping is for files")
    from kgp_neo4j.mindmap.load.gather import parse_type
    from kgp_neo4j.mindmap.load.load_graph import adopt_graph, load_graph, start_reading

    options |= {"types": dict(map(parse_type, types)), "embed": not no_embed}
    if paths:
        start_reading()
    with opened_database() as database:
        if labels:
            account = adopt_graph(
                database, graph, labels=labels, name_property=name_property, **options
            )
        else:
            account = load_graph(database, paths, graph, mapping=mapping, **options)
    print_result(account, _print)
    if not no_embed and account.embedded < account.entities:
        say(
            f"Note: {account.entities - account.embedded:,} names have characters that the encoder "
            "does not know and got no embedding; full-text search finds them, and --encoder takes "
            "a model of their language."
        )
    if account.errors:
        raise Exit(1)


def _print(account: GraphLoadReport) -> None:
    counts = {
        name: "".join(f"\n  {each}: {count:,}" for each, count in getattr(account, name).items())
        for name in ("types", "relations")
    }
    click.echo(_ACCOUNT.format(account, **counts))
    list_faults(account, width=14)
