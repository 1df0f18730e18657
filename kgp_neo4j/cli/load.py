"""`kgp-neo4j load`, `load-kg`, `connect`, `demo`: files to corpora and knowledge graphs."""

import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

import click
from click.exceptions import Exit

from kgp_neo4j.cli import _output
from kgp_neo4j.cli._options import corpus_option, default_option, graph_option, settings_options
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


@_output.result_command("load")
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
    with _output.opened_database() as database:
        account = load(database, paths, corpus, prune=removes, **options)
    _output.print_result(account, _print_load)
    if account.errors:
        raise Exit(1)


def _print_load(account: LoadReport) -> None:
    lost = account.characters_in - account.characters_out
    click.echo(_LOADED.format(account, lost=lost))
    if account.copies:
        click.echo(f"copies      {account.copies:,} (files with the contents of others)")
    _output.list_faults(account)
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


@_output.result_command("load-kg")
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
    with _output.opened_database() as database:
        if labels:
            account = adopt_graph(
                database, graph, labels=labels, name_property=name_property, **options
            )
        else:
            account = load_graph(database, paths, graph, mapping=mapping, **options)
    _output.print_result(account, _print_graph_load)
    if not no_embed and account.embedded < account.entities:
        _output.say(
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
    _output.list_faults(account, width=14)


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


@_output.result_command("connect")
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

    with _output.opened_database() as database:
        report = connect(database, corpus, edges=edges or EDGES, **chosen)
    _output.print_result(report, lambda report: _print_connection(report, corpus, edges or EDGES))


def _print_connection(report: ConnectReport, corpus: str, edges: tuple[GraphName, ...]) -> None:
    click.echo(f"{click.style('Connected', fg='green')} {corpus} in {report.seconds['all']:.1f} s")
    for graph, name, field in _COUNTS:
        if graph in edges:
            click.echo(f"  {name:20}  {getattr(report, field):>10,}")
    steps = ", ".join(f"{s} {took:.1f}" for s, took in report.seconds.items() if s != "all")
    click.echo(click.wrap_text(f"seconds: {steps}", 100, "  ", "    "))


@_output.result_command("demo")
@default_option("--corpus", "demo", "Where it is loaded.", metavar="NAME")
@click.option("--question", metavar="TEXT", help="Ask this instead of the demo's own question.")
def demo_command(corpus: str, question: str | None) -> None:
    """Load twenty-one short documents, connect them, and ask a question that needs two of them.

    Starts the database where none runs; the first time, it is fetched (170 MB).
    """
    from kgp_neo4j import demo
    from kgp_neo4j.corpus.pipeline import make_pipeline
    from kgp_neo4j.corpus.read.reader import load_reader
    from kgp_neo4j.models.encoder import load_encoder
    from kgp_neo4j.show.terminal import print_answer

    asked = demo.QUESTION if question is None else question
    pool = ThreadPoolExecutor(1)
    models = [pool.submit(load) for load in (load_encoder, load_reader)]
    with _output.opened_database() as database:
        for each in models:
            each.result()
        loaded, connected = demo.prepare(database, corpus)
        demo.prepare_graph(database, corpus)
        answer = make_pipeline(database, corpus, settings=demo.SETTINGS).ask(asked)
        embedded = database.connection.embedded
    name, limits = shlex.quote(corpus), demo.SUGGESTED
    further = [
        f'kgp-neo4j ask "{each}" --corpus {name} --seeds {limits.seeds} --budget {limits.budget}'
        for each in (*demo.QUESTIONS, demo.TABLE_QUESTION)
        if each != asked
    ]
    further.append(f'kgp-neo4j mindmap "{demo.SYMPTOMS}" --graph {name}')
    made = {"load": loaded, "connect": connected, "answer": answer, "next": further}
    if _output.gave_json(made):
        return
    done = "were connected already" if connected is None else "loaded and connected"
    click.echo(f"{loaded.documents} documents {done} in the corpus {corpus!r}.")
    click.echo(f"\n{click.style('Question', fg='cyan', bold=True)}\n  {asked}")
    print_answer(answer, show=3)
    click.echo("\n" + click.style("What to try next", fg="cyan", bold=True))
    for line in further:
        click.echo(f"  {line}")
    if embedded:
        click.echo("  kgp-neo4j server open --show-password   # Neo4j Browser; in it, run:")
        click.echo("                                          #   CALL custom.kgp.help()")
    click.echo("  kgp-neo4j load PATH... --corpus mine    # then: connect, ask")
