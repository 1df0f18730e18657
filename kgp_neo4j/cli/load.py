"""`kgp-neo4j load`, `load-kg` and `connect`: files to corpora and knowledge graphs."""

import sys
from collections.abc import Sequence
from typing import Any, get_args

import click
from click.exceptions import Exit

from kgp_neo4j.cli._options import corpus_option, default_option, graph_option, settings_options
from kgp_neo4j.cli._output import list_faults, opened_database, print_result, result_command, say
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types import settings
from kgp_neo4j.types.corpus import ConnectReport, GraphName, LoadReport
from kgp_neo4j.types.mindmap import GraphLoadReport

#: Files that are named before a question at most.
_NAMED = 10
_LOADED = """\
corpus      {0.corpus}
files       {0.files:,}
documents   {0.documents:,} ({0.new:,} new, {0.unchanged:,} unchanged, {0.replaced:,} replaced)
passages    {0.passages:,}
language    {0.language}
pages       {0.pages:,} ({0.recognised:,} recognised)
tables      {0.tables:,} ({0.cells:,} cells)
characters  {0.characters_in:,} in, {0.characters_out:,} out, {lost:,} lost
time        {0.seconds:.1f} s"""


@result_command("load")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@corpus_option()
@click.option(
    "--passage-size",
    type=click.IntRange(min=1),
    metavar="CHARACTERS",
    help="Split everything into passages of at most this many characters.",
)
@click.option(
    "--language",
    metavar="NAME",
    help="What full-text search stems: english, german, ...; guessed from a new corpus's text.",
)
@click.option("--strict", is_flag=True, help="Stop at the first file or line that is bad.")
@click.option("--prune", is_flag=True, help="Remove what a folder had when loaded before.")
@click.option("--follow-links", is_flag=True, help="Follow links that lead out of a folder, too.")
@click.option("--yes", is_flag=True, help="Remove it without asking, also of an empty folder.")
def load_command(
    paths: tuple[str, ...], corpus: str, prune: bool, yes: bool, **options: Any
) -> None:
    """Load files, folders and globs into a corpus and account for every character.

    Each document is stored wholly or not at all. The account names each file that is not loaded,
    with the reason; the exit code is 1 where one of them should have been.
    """
    from kgp_neo4j.corpus.load.loading import load, start_reading

    def removes(gone: Sequence[str], is_empty: bool) -> bool:
        if yes or is_empty or not prune or not sys.stdin.isatty():
            return prune and (yes or not is_empty)
        names = "".join(f"  {plain(name)}\n" for name in gone[:_NAMED])
        more = f"  and {len(gone) - _NAMED:,} more\n" if len(gone) > _NAMED else ""
        question = f"Gone from the folder:\n{names}{more}Remove what they have in {corpus!r}?"
        return click.confirm(question, err=True)

    start_reading()
    with opened_database() as database:
        account = load(database, paths, corpus, prune=removes, **options)
    print_result(account, _print_load)
    if account.errors:
        raise Exit(1)


def _print_load(account: LoadReport) -> None:
    lost = account.characters_in - account.characters_out
    click.echo(_LOADED.format(account, lost=lost))
    if account.copies:
        click.echo(f"copies      {account.copies:,} (files with the contents of others)")
    list_faults(account)
    if account.gone:
        click.echo("            (still in the corpus; loading again with --prune removes them)")


_GRAPH_LOADED = """\
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
def load_kg_command(
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
    from kgp_neo4j.mindmap.load.load_graph import adopt_graph, load_graph, parse_type, start_reading

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
    print_result(account, _print_graph_load)
    if not no_embed and account.embedded < account.entities:
        say(
            f"Note: {account.entities - account.embedded:,} names have characters that the encoder "
            "does not know and got no embedding; full-text search finds them, and --encoder takes "
            "a model of their language."
        )
    if account.errors:
        raise Exit(1)


def _print_graph_load(account: GraphLoadReport) -> None:
    counts = {
        name: "".join(f"\n  {each}: {count:,}" for each, count in getattr(account, name).items())
        for name in ("types", "relations")
    }
    click.echo(_GRAPH_LOADED.format(account, **counts))
    list_faults(account, width=14)


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
def connect_command(corpus: str, edges: tuple[GraphName, ...], **chosen: Any) -> None:
    """Make the keyword (TF-IDF), entity (TAGME) and similarity (KNN) graphs of a corpus."""
    from kgp_neo4j.corpus.connect.graphs import EDGES, connect

    with opened_database() as database:
        report = connect(database, corpus, edges=edges or EDGES, **chosen)
    print_result(report, lambda report: _print_connection(report, corpus, edges or EDGES))


def _print_connection(report: ConnectReport, corpus: str, edges: tuple[GraphName, ...]) -> None:
    click.echo(f"{click.style('Connected', fg='green')} {corpus} in {report.seconds['all']:.1f} s")
    for graph, name, field in _COUNTS:
        if graph in edges:
            click.echo(f"  {name:20}  {getattr(report, field):>10,}")
    steps = ", ".join(f"{s} {took:.1f}" for s, took in report.seconds.items() if s != "all")
    click.echo(click.wrap_text(f"seconds: {steps}", 100, "  ", "    "))
