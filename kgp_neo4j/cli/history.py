"""`kgp-neo4j history`: past questions and their answers, from the traces that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from kgp_neo4j.cli._options import corpus_option, show_option
from kgp_neo4j.cli._output import echo_json, json_option, print_result, say
from kgp_neo4j.text.safe import as_markdown, cut, plain, printable

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.traces import Replay
    from kgp_neo4j.types.corpus import Trace

_EPILOG = """
\b
Examples:
  kgp-neo4j history
  kgp-neo4j history --corpus mine --json | jq -r .question
  kgp-neo4j history search ferry bridge --corpus mine
  kgp-neo4j history show 4f0c1b
  kgp-neo4j history export --corpus mine >> history.md
  kgp-neo4j history remove 4f0c1b

What `ask --trace` and `chat --trace` answer is kept, or all that they answer where the setting
ask.history is true (or KGP_NEO4J_HISTORY). `kgp-neo4j explain 4f0c1b` tells how it was found.
"""
#: Characters of an answer in the list.
_ANSWER = 100

_of_corpus = corpus_option(required=False, help="Only questions to this corpus")


_listed = show_option(20, "Questions", least=1)


@click.group("history", epilog=_EPILOG, invoke_without_command=True)
@_of_corpus
@_listed
@json_option
@click.pass_context
def command(ctx: click.Context, corpus: str | None, show: int, as_json: bool) -> None:
    """List past questions with their answers, the latest first; search, show and export them."""
    if ctx.invoked_subcommand is None:
        _list(corpus, (), show, as_json)
    elif any(ctx.get_parameter_source(n) == ParameterSource.COMMANDLINE for n in ctx.params):
        raise click.UsageError(f"Give the options after `{ctx.invoked_subcommand}`.")


@command.command(
    "search", epilog="\b\nExample:\n  kgp-neo4j history search ferry bridge --corpus mine"
)
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@_of_corpus
@_listed
@json_option
def search_command(corpus: str | None, words: tuple[str, ...], show: int, as_json: bool) -> None:
    """List those whose question and answer have all words, or parts of words."""
    _list(corpus, words, show, as_json)


def _list(corpus: str | None, words: tuple[str, ...], show: int, as_json: bool) -> None:
    from kgp_neo4j.corpus.answer.traces import traces
    from kgp_neo4j.graphdb.open import open_database

    with open_database(echo=say) as database:
        found = traces(database, corpus, words=words, limit=show)
    print_result(found, as_json, _print)


def _print(listed: list[Trace]) -> None:
    if not listed:
        click.echo("No such question was kept. `kgp-neo4j ask ... --trace` keeps one.")
    for each in listed:
        left = f"{each.passages} passages"
        if each.left < each.passages:
            left = f"{each.left} of {each.passages} passages left"
        about = f"{_when(each.asked_at)}, corpus {plain(each.corpus)}, agent {each.agent}, {left}"
        click.echo(f"{click.style(each.id[:12], bold=True)}  {plain(each.question)}")
        click.echo(f"              {cut(each.answer, _ANSWER) or 'no answer'}")
        click.echo(click.style(f"              {about}", dim=True))


def _when(asked_at: str) -> str:
    return asked_at[:16].replace("T", " ")


@command.command("show", epilog="\b\nExample:\n  kgp-neo4j history show 4f0c1b")
@click.argument("trace", metavar="ID")
@show_option(5, "Passages and paths")
@json_option
def show_command(trace: str, show: int, as_json: bool) -> None:
    """Show an answer again, by the ID of its question or the first characters of it."""
    from kgp_neo4j.corpus.answer.traces import explain
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.show.terminal import print_answer

    with open_database(echo=say) as database:
        replay = explain(database, trace)
    answer = replay.answer
    if not as_json:
        click.echo(f"{plain(answer.question)}  ({_when(replay.asked_at)})")
    print_result(answer, as_json, lambda answer: print_answer(answer, show))


@command.command(
    "export",
    epilog="\b\nExamples:\n  kgp-neo4j history export --corpus mine >> history.md\n"
    "  kgp-neo4j history export --json >> history.jsonl",
)
@_of_corpus
@show_option(1000, "Questions, the latest ones,", least=1)
@json_option
def export_command(corpus: str | None, show: int, as_json: bool) -> None:
    """Print questions, answers and sources as Markdown or lines of JSON, the oldest first."""
    from kgp_neo4j.corpus.answer.traces import explain, traces
    from kgp_neo4j.graphdb.open import open_database

    with open_database(echo=say) as database:
        for trace in reversed(traces(database, corpus, limit=show)):
            replay = explain(database, trace.id)
            if as_json:
                echo_json({"asked_at": replay.asked_at, "answer": replay.answer})
            else:
                click.echo(_markdown(replay))


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


@command.command("remove", epilog="\b\nExample:\n  kgp-neo4j history remove 4f0c1b")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
def remove_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Remove questions with their answers and traversals, by their IDs; all of these or none."""
    from kgp_neo4j.corpus.answer.traces import remove
    from kgp_neo4j.graphdb.open import open_database

    with open_database(echo=say) as database:
        count = remove(database, ids)
    print_result({"removed": count}, as_json, f"Removed {count}.")
