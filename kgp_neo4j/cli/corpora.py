"""`kgp-neo4j corpora`: what is loaded."""

from __future__ import annotations

import click

from kgp_neo4j.cli._output import echo_json, json_option, say

_EPILOG = """
\b
Examples:
  kgp-neo4j corpora
  kgp-neo4j corpora --json
  kgp-neo4j corpora --documents mine
"""


@click.command("corpora", epilog=_EPILOG)
@click.option("--documents", metavar="CORPUS", help="List the documents of this corpus instead.")
@json_option
def command(documents: str | None, as_json: bool) -> None:
    """List the corpora, what is in them, and what `connect` has not seen yet."""
    from kgp_neo4j.installation import open_database
    from kgp_neo4j.load import corpora, list_documents

    with open_database(echo=say) as database:
        if documents is not None:
            listed = list_documents(database, documents)
            if as_json:
                echo_json(listed)
                return
            for document in listed:
                click.echo(f"{document.id}  {document.title}  ({document.source})")
            return
        found = corpora(database)
    if as_json:
        echo_json(found)
        return
    if not found:
        click.echo("No corpus yet. Try: kgp-neo4j load PATH --corpus NAME")
        return
    width = max(len("corpus"), *(len(corpus.name) for corpus in found))
    click.echo(f"{'corpus':{width}}  documents  passages  keywords  encoder")
    for corpus in found:
        encoder = f"{corpus.encoder} ({corpus.dimension})" if corpus.encoder else "-"
        click.echo(
            f"{corpus.name:{width}}  {corpus.documents:>9,}  {corpus.passages:>8,}  "
            f"{corpus.keywords:>8,}  {encoder}"
        )
        waiting = {edge: count for edge, count in corpus.unconnected.items() if count}
        if waiting:
            counts = ", ".join(f"{count:,} without {edge}" for edge, count in waiting.items())
            click.echo(f"{'':{width}}  {counts}: kgp-neo4j connect --corpus {_quoted(corpus.name)}")


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)
