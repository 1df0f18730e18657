"""`kgp-neo4j load`: files to documents and passages."""

from typing import Any

import click

from kgp_neo4j.cli._options import corpus_option
from kgp_neo4j.cli._output import json_option, list_faults, opened_database, print_result
from kgp_neo4j.types.corpus import LoadReport

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
changes nothing, replaces what has changed, and finishes what was cut short.
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
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, paths: tuple[str, ...], corpus: str, as_json: bool, **options: Any
) -> None:
    """Load files, folders and globs into a corpus and account for every character.

    Each document is stored wholly or not at all. The account names each file that is not loaded,
    with the reason; the exit code is 1 where one of them should have been.
    """
    from kgp_neo4j.corpus.load.loading import load

    with opened_database() as database:
        account = load(database, paths, corpus, **options)
    print_result(account, as_json, _print)
    if account.errors:
        ctx.exit(1)


def _print(account: LoadReport) -> None:
    lost = account.characters_in - account.characters_out
    click.echo(_ACCOUNT.format(account, lost=lost))
    if account.copies:
        click.echo(f"copies      {account.copies:,} (files with the contents of others)")
    list_faults(account)
