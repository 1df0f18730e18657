"""`kgp-neo4j load`: files to documents and passages."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from kgp_neo4j.cli._options import corpus_option
from kgp_neo4j.cli._output import json_option, list_faults, opened_database, print_result
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

_EPILOG = """
\b
Examples:
  kgp-neo4j load report.md notes/ --corpus mine
  kgp-neo4j load "papers/**/*.html" --corpus papers --strict
  kgp-neo4j load hotpot_dev_distractor_v1.json --corpus hotpot
  kgp-neo4j load records.jsonl.gz --corpus records --passage-size 500
  kgp-neo4j load notes/ --corpus notes --language german
  kgp-neo4j load notes/ --corpus notes --prune

\b
What is read, each also with .gz (docs/structure.md tells more):
  .txt .md .adoc .rst    text and headings; README and the like, too
  .html .xhtml .epub     what a reader of the page sees
  .eml                   mails, and the files attached to them
  .docx .odt .pptx       texts, tables and slides
  .xlsx .xls .ods .csv .tsv   tables, as they are shown
  .pdf                   text, pages and tables
  .png .jpg .tif .webp .bmp   pictures, as scanned pages of .pdf files with
                         pip install "kgp-neo4j[ocr]"
  .jsonl                 a {"title", "text"} record a line ("body" is a text too)
  .json .jsonl           questions of HotpotQA, 2WikiMultihopQA and MuSiQue;
                         their contexts become documents
.docx .pptx .xlsx .xls need pip install "kgp-neo4j[office]".

\b
A document's title is its first heading (what a PDF or Office file gives as its
title), the first line of a text where it reads like one, else the file's name.
Files are split at headings and at 1,000 characters; records and contexts of up to
10,000 characters stay one passage, unless --passage-size is given. Loading again
changes nothing, replaces what has changed, and finishes what was cut short. Of a
folder, files that have moved get their new names, and those that are gone are
named; --prune removes them.
"""


@click.command("load", epilog=_EPILOG)
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
@click.option("--yes", is_flag=True, help="Remove it without asking, also of an empty folder.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    corpus: str,
    prune: bool,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Load files, folders and globs into a corpus and account for every character.

    Each document is stored wholly or not at all. The account names each file that is not loaded,
    with the reason; the exit code is 1 where one of them should have been.
    """
    from kgp_neo4j.corpus.load.loading import load

    def removes(gone: Sequence[str], is_empty: bool) -> bool:
        if yes or is_empty or not prune or not sys.stdin.isatty():
            return prune and (yes or not is_empty)
        names = "".join(f"  {plain(name)}\n" for name in gone[:_NAMED])
        more = f"  and {len(gone) - _NAMED:,} more\n" if len(gone) > _NAMED else ""
        question = f"Gone from the folder:\n{names}{more}Remove what they have in {corpus!r}?"
        return click.confirm(question, err=True)

    with opened_database() as database:
        account = load(database, paths, corpus, prune=removes, **options)
    print_result(account, as_json, _print)
    if account.errors:
        ctx.exit(1)


def _print(account: LoadReport) -> None:
    lost = account.characters_in - account.characters_out
    click.echo(_ACCOUNT.format(account, lost=lost))
    if account.copies:
        click.echo(f"copies      {account.copies:,} (files with the contents of others)")
    list_faults(account)
    if account.gone:
        click.echo("            (still in the corpus; loading again with --prune removes them)")
