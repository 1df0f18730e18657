"""`kgp-neo4j delete`: remove a document, a corpus or a knowledge graph with everything in it."""

import sys

import click
from click.core import ParameterSource

from kgp_neo4j.cli._options import corpus_option, result_command
from kgp_neo4j.cli._output import opened_database, print_result


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
def command(
    ctx: click.Context,
    corpus: str | None,
    graph: str | None,
    document: str | None,
    yes: bool,
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
    from kgp_neo4j.corpus.load.delete import delete_corpus, delete_document, find_documents
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
