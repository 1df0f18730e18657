"""`kgp-neo4j load`: files to documents and passages."""

import sys
from collections.abc import Sequence
from typing import Any

import click
from click.exceptions import Exit

from kgp_neo4j.cli._options import corpus_option, result_command
from kgp_neo4j.cli._output import list_faults, opened_database, print_result
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import LoadReport

#: Files that are named before a question at most.
_NAMED = 10
_ACCOUNT = """\
corpus      {0.corpus}
files       {0.files:,}
documents   {0.documents:,} ({0.new:,} new, {0.unchanged:,} unchanged, {0.replaced:,} replaced)
passages    {0.passages:,}
language    {0.language}
pages       {0.pages:,} ({0.recognised:,} recognised)
tables      {0.tables:,} ({0.cells:,} cells)
characters  {0.characters_in:,} in, {0.characters_out:,} out, {lost:,} lost
time        {0.seconds:.1f} s"""


@result_command("load")
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
def command(
    paths: tuple[str, ...],
    corpus: str,
    prune: bool,
    yes: bool,
    **options: Any,
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
    with opened_database() as database:
        account = load(database, paths, corpus, prune=removes, **options)
    print_result(account, _print)
    if account.errors:
        raise Exit(1)


def _print(account: LoadReport) -> None:
    lost = account.characters_in - account.characters_out
    click.echo(_ACCOUNT.format(account, lost=lost))
    if account.copies:
        click.echo(f"copies      {account.copies:,} (files with the contents of others)")
    list_faults(account)
    if account.gone:
        click.echo("            (still in the corpus; loading again with --prune removes them)")
