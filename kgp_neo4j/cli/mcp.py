"""`kgp-neo4j mcp`: corpora and knowledge graphs as tools of the Model Context Protocol."""

import click

from kgp_neo4j.cli._options import corpus_option, graph_option
from kgp_neo4j.cli._output import opened_database


@click.command("mcp")
@corpus_option(required=False, help="The corpus that is asked where a call names none")
@graph_option(required=False, help="The same for the knowledge graph")
def command(corpus: str | None, graph: str | None) -> None:
    """Serve the tools corpora, ask, retrieve, explore and mind_map on standard input and output.

    A client of the Model Context Protocol starts this command itself. It only reads; messages for
    people go to standard error. It ends with its input.
    """
    from kgp_neo4j.integrations.mcp import make_server

    with opened_database(read_only=True) as database:
        make_server(database, corpus=corpus, graph=graph).run("stdio")
