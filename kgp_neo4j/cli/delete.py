"""`kgp-neo4j delete`: a document or a corpus goes, with everything that hung on it."""

from __future__ import annotations

import sys

import click

from kgp_neo4j.cli._output import corpus_option, echo_json, json_option, say

_EPILOG = """
\b
Examples:
  kgp-neo4j delete --corpus mine
  kgp-neo4j delete --corpus mine --document "Annual report" --yes
  kgp-neo4j delete --corpus mine --document notes/monday.md --yes
  kgp-neo4j delete --corpus hotpot --document hotpotqa --yes
"""


@click.command("delete", epilog=_EPILOG)
@corpus_option
@click.option(
    "--document",
    metavar="ID|TITLE|SOURCE",
    help="Only this document; a source (a file, a data set) stands for all of its documents.",
)
@click.option("--yes", is_flag=True, help="Do not ask. Required where nobody can be asked.")
@json_option
def command(corpus: str, document: str | None, yes: bool, as_json: bool) -> None:
    """Delete a document or a whole corpus, with its passages, keywords and edges."""
    if not yes and not sys.stdin.isatty():
        raise click.UsageError("there is no terminal to ask on; give --yes to delete")
    from kgp_neo4j.installation import open_database
    from kgp_neo4j.load import delete_corpus, delete_document, find_documents

    with open_database(echo=say) as database:
        if not yes:
            what = f"the corpus {corpus!r} and everything in it"
            if document is not None:
                found = find_documents(database, corpus, document)
                what = f"{found[0].title!r} ({found[0].source})"
                if len(found) > 1:
                    what = f"{len(found):,} documents of {found[0].source}"
            click.confirm(f"Delete {what}?", abort=True, err=True)
        if document is None:
            done = delete_corpus(database, corpus)
        else:
            done = delete_document(database, corpus, document)
    if as_json:
        echo_json(done)
    else:
        click.echo(
            f"Deleted {done.documents:,} documents and {done.passages:,} passages "
            f"from {done.corpus}."
        )
