"""`kgp-neo4j corpora`, `delete`, `export` and `import`: what is stored in the database."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from kgp_neo4j.cli._options import FILE, corpus_option
from kgp_neo4j.cli._output import gave_json, opened_database, print_result, result_command
from kgp_neo4j.types.json_records import parts


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
