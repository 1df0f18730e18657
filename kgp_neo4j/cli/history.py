"""`kgp-neo4j history`: past questions and their answers, from the traces that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kgp_neo4j.cli._options import corpus_option
from kgp_neo4j.cli._output import echo_json, json_option, opened_database, print_result
from kgp_neo4j.text.safe import as_markdown, cut, plain, printable

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.traces import Replay
    from kgp_neo4j.types.corpus import Trace

_EPILOG = """
\b
Examples:
  kgp-neo4j history
  kgp-neo4j history ferry bridge --corpus mine
  kgp-neo4j history --corpus mine --json | jq -r .question
  kgp-neo4j history --export --corpus mine >> history.md
  kgp-neo4j history --remove 4f0c1b

What `ask --trace` and `chat --trace` answer is kept, or all that they answer where the setting
ask.history is true (or KGP_NEO4J_HISTORY). `kgp-neo4j explain 4f0c1b` shows an answer again.
"""


@click.command("history", epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="[WORD...]")
@corpus_option(required=False, help="Only questions to this corpus")
@click.option(
    "--show",
    type=click.IntRange(min=1),
    help="Questions that are printed (default: 20; with --export 1000).",
)
@click.option(
    "--export", is_flag=True, help="Print answers and sources as Markdown, the oldest first."
)
@click.option(
    "--remove",
    "unwanted",
    multiple=True,
    metavar="ID",
    help="Remove this question with its answer and traversal; can be repeated (all or none).",
)
@json_option
def command(
    words: tuple[str, ...],
    corpus: str | None,
    show: int | None,
    export: bool,
    unwanted: tuple[str, ...],
    as_json: bool,
) -> None:
    """List past questions with their answers, the latest first; search, export and remove them.

    With WORD... those whose question and answer have all of these words, or parts of words.
    """
    if unwanted and words:
        raise click.UsageError("--remove takes one ID: repeat it for others.")
    from kgp_neo4j.corpus.answer.traces import explain, remove, traces

    with opened_database() as database:
        if unwanted:
            count = remove(database, unwanted)
            print_result({"removed": count}, as_json, f"Removed {count}.")
            return
        found = traces(database, corpus, words=words, limit=show or (1000 if export else 20))
        if not export:
            print_result(found, as_json, _print)
            return
        for trace in reversed(found):
            replay = explain(database, trace.id)
            if as_json:
                echo_json({"asked_at": replay.asked_at, "answer": replay.answer})
            else:
                click.echo(_markdown(replay))


def _print(listed: list[Trace]) -> None:
    if not listed:
        click.echo("No such question was kept. `kgp-neo4j ask ... --trace` keeps one.")
    for each in listed:
        left = f"{each.passages} passages"
        if each.left < each.passages:
            left = f"{each.left} of {each.passages} passages left"
        about = f"{_when(each.asked_at)}, corpus {plain(each.corpus)}, agent {each.agent}, {left}"
        click.echo(f"{click.style(each.id[:12], bold=True)}  {plain(each.question)}")
        click.echo(f"              {cut(each.answer, 100) or 'no answer'}")
        click.echo(click.style(f"              {about}", dim=True))


def _when(asked_at: str) -> str:
    return asked_at[:16].replace("T", " ")


def _markdown(replay: Replay) -> str:
    """Return a question with its answer and numbered sources as a section of Markdown."""
    from kgp_neo4j.corpus.answer.conversation import sources

    answer = replay.answer
    parts = [f"## {as_markdown(answer.question)}"]
    parts += [as_markdown(line) for line in printable(answer.summary).splitlines()]
    parts += [f"> {as_markdown(sentence.text)}" for sentence in answer.shown_sentences]
    numbers = {passage.id: number for number, passage in enumerate(answer.passages, 1)}
    cited = [f"- [{numbers[p.id]}] {as_markdown(f'{p.cited}, {p.place}')}" for p in sources(answer)]
    parts += ["\n".join(cited)] if cited else []
    return "\n\n".join([*parts, f"*{_when(replay.asked_at)}, {as_markdown(answer.corpus)}*\n"])
