"""`kgp-neo4j delete`: remove a document, a corpus or a knowledge graph with everything in it."""

import sys

import click
from click.core import ParameterSource

from kgp_neo4j.cli._options import corpus_option
from kgp_neo4j.cli._output import json_option, opened_database, print_result

_EPILOG = """
\b
Examples:
  kgp-neo4j delete --corpus mine
  kgp-neo4j delete --corpus mine --document "Annual report" --yes
  kgp-neo4j delete --corpus mine --document notes/monday.md --yes
  kgp-neo4j delete --corpus hotpot --document hotpotqa --yes
  kgp-neo4j delete --graph medical --yes
"""


@click.command("delete", epilog=_EPILOG)
@corpus_option(required=False)
@click.option("--graph", metavar="NAME", help="A knowledge graph instead of a corpus.")
@click.option(
    "--document",
    metavar="ID|TITLE|SOURCE",
    help="Only this document; a source (a file, a data set) stands for all of its documents.",
)
@click.option("--yes", is_flag=True, help="Do not ask. Required where nobody can be asked.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    corpus: str | None,
    graph: str | None,
    document: str | None,
    yes: bool,
    as_json: bool,
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

    with opened_database() as database:
        if graph is not None:
            there = require_graph(database, graph)
            if not yes:
                what = f"the knowledge graph {graph!r} with {there.entities:,} entities"
                click.confirm(f"Delete {what}?", abort=True, err=True)
            gone = delete_graph(database, graph)
            counts = f"{gone.entities:,} entities and {gone.relationships:,} relationships"
            print_result(gone, as_json, f"Deleted {counts} of {gone.name}.")
            return
        assert corpus is not None
        if not yes:
            what = f"the corpus {corpus!r} and everything in it"
            if document is not None:
                documents = find_documents(database, corpus, document)
                what = f"{documents[0].title!r} ({documents[0].source})"
                if len(documents) > 1:
                    what = f"{len(documents):,} documents of {documents[0].source}"
                elif others := [s for s in documents[0].sources if s != documents[0].source]:
                    what += f", which is also {', '.join(others)}"
            click.confirm(f"Delete {what}?", abort=True, err=True)
        if document is None:
            done = delete_corpus(database, corpus)
        else:
            done = delete_document(database, corpus, document)
    counts = f"{done.documents:,} documents and {done.passages:,} passages"
    stay = f" {done.shared:,} with other sources stay." if done.shared else ""
    print_result(done, as_json, f"Deleted {counts} from {done.corpus}.{stay}")
