"""`load`, `load-kg`, `connect`, `demo`, `corpora`, `delete`, `export`, `import`: what is stored."""

import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import click
from click.core import ParameterSource
from click.exceptions import Exit

from kgp_neo4j.cli import _output
from kgp_neo4j.cli._options import (
    FILE,
    corpus_option,
    default_option,
    graph_option,
    settings_options,
)
from kgp_neo4j.cli._output import gave_json, opened_database, print_result, result_command
from kgp_neo4j.text.safe import parts, plain
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
    from kgp_neo4j.mindmap.load.graphs import adopt_graph, load_graph, parse_type, start_reading

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


@result_command("corpora")
@click.option("--documents", metavar="CORPUS", help="List the documents of this corpus instead.")
@click.option("--graphs", "only_graphs", is_flag=True, help="List the knowledge graphs alone.")
def corpora_command(documents: str | None, only_graphs: bool) -> None:
    """List the corpora, what is in them, and what `connect` has not seen yet.

    Knowledge graphs are listed below them; as JSON, with --graphs instead.
    """
    from kgp_neo4j.corpus.load.stored import corpora, list_documents
    from kgp_neo4j.mindmap.load.graphs import graphs

    if documents is not None and only_graphs:
        raise click.UsageError("give either --documents or --graphs")

    with opened_database() as database:
        if documents is not None:
            listed = list_documents(database, documents)
            lines = (f"{each.id}  {each.title}  ({', '.join(each.sources)})" for each in listed)
            print_result(listed, "\n".join(lines))
            return
        summaries = [] if only_graphs else corpora(database)
        known = graphs(database)
    if gave_json(known if only_graphs else summaries):
        return
    if not (summaries or only_graphs):
        click.echo("No corpus yet. Try: kgp-neo4j load PATH --corpus NAME")
    elif not (summaries or known):
        click.echo("No knowledge graph yet. Try: kgp-neo4j load-kg FILE --graph NAME")
    counts = ("documents", "passages", "pages", "tables", "keywords")
    rows: list[list[str | int]] = [
        [c.name, *parts(c, *counts).values(), f"{c.encoder} ({c.dimension})" if c.encoder else "-"]
        for c in summaries
    ]
    _print_table(("corpus", *counts, "encoder"), rows)
    for corpus in summaries:
        if left := ", ".join(
            f"{n:,} without {edge}" for edge, n in corpus.unconnected.items() if n
        ):
            click.echo(f"  {left}: kgp-neo4j connect --corpus {shlex.quote(corpus.name)}")
    if summaries and known:
        click.echo()
    graphs_: list[list[str | int]] = [
        [g.name, g.entities, g.relationships, g.encoder or "-"] for g in known
    ]
    _print_table(("knowledge graph", "entities", "relationships", "encoder"), graphs_)


def _print_table(head: Sequence[str], rows: Sequence[Sequence[str | int]]) -> None:
    """Print rows, if there are any, below the names of their columns; numbers to the right."""
    if not rows:
        return
    texts = [[f"{c:,}" if isinstance(c, int) else c for c in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
    sides = [">" if isinstance(cell, int) else "<" for cell in rows[0]]
    for row in (head, *texts):
        cells = zip(row, sides, widths, strict=True)
        click.echo("  ".join(f"{text:{side}{width}}" for text, side, width in cells).rstrip())


@result_command("delete")
@corpus_option(required=False)
@click.option("--graph", metavar="NAME", help="A knowledge graph instead of a corpus.")
@click.option(
    "--document",
    metavar="ID|TITLE|SOURCE",
    help="Only this document; a source (a file, a data set) stands for all of its documents.",
)
@click.option("--yes", is_flag=True, help="Do not ask. Required where nobody can be asked.")
@click.pass_context
def delete_command(
    ctx: click.Context, corpus: str | None, graph: str | None, document: str | None, yes: bool
) -> None:
    """Delete a document or a whole corpus, with its passages, keywords and edges.

    A document with further sources of the same contents stays where one of them is named.
    With --graph, a knowledge graph with its entities and relationships; nodes that it was copied
    from stay.
    """
    if graph is not None and document is not None:
        raise click.UsageError("a knowledge graph has no documents")
    if graph is not None and ctx.get_parameter_source("corpus") == ParameterSource.COMMANDLINE:
        raise click.UsageError("give either --corpus or --graph")
    if graph is None and corpus is None:
        raise click.UsageError("give --corpus or --graph")
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask on; give --yes to delete")
    from kgp_neo4j.corpus.load.stored import delete_corpus, delete_document, find_documents
    from kgp_neo4j.mindmap.load.graphs import delete_graph, require_graph

    def ask(what: str) -> None:
        if not yes:
            click.confirm(f"Delete {what}?", abort=True, err=True)

    with opened_database() as database:
        if graph is not None:
            entities = require_graph(database, graph).entities
            ask(f"the knowledge graph {graph!r} with {entities:,} entities")
            gone = delete_graph(database, graph)
            counts = f"{gone.entities:,} entities and {gone.relationships:,} relationships"
            print_result(gone, f"Deleted {counts} of {gone.name}.")
            return
        assert corpus is not None
        if document is None:
            ask(f"the corpus {corpus!r} and everything in it")
            done = delete_corpus(database, corpus)
        else:
            first, *more = find_documents(database, corpus, document)
            others = ", ".join(source for source in first.sources if source != first.source)
            also = f", which is also {others}" if others else ""
            one = f"{first.title!r} ({first.source}){also}"
            ask(f"{1 + len(more):,} documents of {first.source}" if more else one)
            done = delete_document(database, corpus, document)
    counts = f"{done.documents:,} documents and {done.passages:,} passages"
    stay = f" {done.shared:,} with other sources stay." if done.shared else ""
    print_result(done, f"Deleted {counts} from {done.corpus}.{stay}")


@result_command("export")
@click.argument("name")
@click.argument("file", type=FILE)
@click.option("--graph", is_flag=True, help="NAME is a knowledge graph, not a corpus.")
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def export_command(name: str, file: Path, graph: bool, overwrite: bool) -> None:
    """Write a corpus with everything in it into one file, for `import` here or elsewhere.

    The file is there whole or not at all. The corpus stays.
    """
    from kgp_neo4j.corpus.load.stored import export_corpus
    from kgp_neo4j.mindmap.load.graphs import export_graph

    write = export_graph if graph else export_corpus
    with opened_database() as database:
        done = write(database, name, file, overwrite=overwrite)
    counts = f"{done.nodes:,} nodes and {done.relationships:,} relationships of {done.name}"
    print_result(done, f"{done.file}: {counts}, {done.bytes / 1e6:,.1f} MB.")


@result_command("import")
@click.argument("file", type=FILE)
@click.option("--replace", is_flag=True, help="Delete what has the name now, if the file is good.")
def import_command(file: Path, replace: bool) -> None:
    """Import a corpus or knowledge graph from a file that `export` wrote.

    The file is checked before anything is written, and what is imported is visible once it is
    whole. If it is interrupted, import again.
    """
    from kgp_neo4j.corpus.load.stored import import_corpus
    from kgp_neo4j.graphdb.export_files import read_manifest
    from kgp_neo4j.mindmap.load.graphs import import_graph

    read = import_corpus if read_manifest(file).kind == "corpus" else import_graph
    with opened_database() as database:
        done = read(database, file, replace=replace)
    kind = "corpus" if done.kind == "corpus" else "knowledge graph"
    counts = f"{done.nodes:,} nodes and {done.relationships:,} relationships"
    print_result(done, f"Imported the {kind} {done.name}: {counts}.")
