"""`kgp-neo4j corpora`: list the corpora and the knowledge graphs."""

import shlex

import click

from kgp_neo4j.cli._options import result_command
from kgp_neo4j.cli._output import gave_json, opened_database, print_result, print_table
from kgp_neo4j.types.json_records import parts


@result_command("corpora")
@click.option("--documents", metavar="CORPUS", help="List the documents of this corpus instead.")
@click.option("--graphs", "only_graphs", is_flag=True, help="List the knowledge graphs alone.")
def command(documents: str | None, only_graphs: bool) -> None:
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
    print_table(("corpus", *counts, "encoder"), rows)
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
    print_table(("knowledge graph", "entities", "relationships", "encoder"), graphs_)
