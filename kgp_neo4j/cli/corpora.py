"""`kgp-neo4j corpora`: list the corpora and the knowledge graphs."""

import shlex

import click

from kgp_neo4j.cli._output import echo_json, json_option, opened_database, print_result
from kgp_neo4j.types.corpus import CorpusSummary
from kgp_neo4j.types.mindmap import GraphSummary

_EPILOG = """
\b
Examples:
  kgp-neo4j corpora
  kgp-neo4j corpora --json
  kgp-neo4j corpora --documents mine
  kgp-neo4j corpora --graphs --json
"""


@click.command("corpora", epilog=_EPILOG)
@click.option("--documents", metavar="CORPUS", help="List the documents of this corpus instead.")
@click.option("--graphs", "only_graphs", is_flag=True, help="List the knowledge graphs alone.")
@json_option
def command(documents: str | None, only_graphs: bool, as_json: bool) -> None:
    """List the corpora, what is in them, and what `connect` has not seen yet.

    Knowledge graphs are listed below them; as JSON, with --graphs instead.
    """
    from kgp_neo4j.corpus.load.listing import corpora, list_documents
    from kgp_neo4j.mindmap.load.graphs import graphs

    if documents is not None and only_graphs:
        raise click.UsageError("give either --documents or --graphs")

    with opened_database() as database:
        if documents is not None:
            listed = list_documents(database, documents)
            lines = (f"{each.id}  {each.title}  ({', '.join(each.sources)})" for each in listed)
            print_result(listed, as_json, "\n".join(lines))
            return
        summaries = [] if only_graphs else corpora(database)
        known = graphs(database)
    if as_json:
        echo_json(known if only_graphs else summaries)
        return
    if summaries:
        _print_corpora(summaries)
    elif not only_graphs:
        click.echo("No corpus yet. Try: kgp-neo4j load PATH --corpus NAME")
    if known:
        if summaries:
            click.echo()
        _print_graphs(known)
    elif only_graphs:
        click.echo("No knowledge graph yet. Try: kgp-neo4j load-kg FILE --graph NAME")


def _print_graphs(graphs: list[GraphSummary]) -> None:
    width = max(len("knowledge graph"), *(len(graph.name) for graph in graphs))
    click.echo(f"{'knowledge graph':{width}}  entities  relationships  encoder")
    for graph in graphs:
        click.echo(
            f"{graph.name:{width}}  {graph.entities:>8,}  {graph.relationships:>13,}  "
            f"{graph.encoder or '-'}"
        )


def _print_corpora(summaries: list[CorpusSummary]) -> None:
    width = max(len("corpus"), *(len(corpus.name) for corpus in summaries))
    click.echo(f"{'corpus':{width}}  documents  passages  pages  tables  keywords  encoder")
    for corpus in summaries:
        encoder = f"{corpus.encoder} ({corpus.dimension})" if corpus.encoder else "-"
        click.echo(
            f"{corpus.name:{width}}  {corpus.documents:>9,}  {corpus.passages:>8,}  "
            f"{corpus.pages:>5,}  {corpus.tables:>6,}  {corpus.keywords:>8,}  {encoder}"
        )
        waiting = {edge: count for edge, count in corpus.unconnected.items() if count}
        if waiting:
            counts = ", ".join(f"{count:,} without {edge}" for edge, count in waiting.items())
            name = shlex.quote(corpus.name)
            click.echo(f"{'':{width}}  {counts}: kgp-neo4j connect --corpus {name}")
