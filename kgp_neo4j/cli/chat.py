"""`kgp-neo4j chat`: a conversation over a corpus."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli._answer import (
    answering_model,
    by_whom,
    print_paths,
    print_said,
    say_unconnected,
    written,
)
from kgp_neo4j.cli._language import llm_option
from kgp_neo4j.cli._output import corpus_option, json_option, plain_record, say
from kgp_neo4j.cli._structural import print_structural
from kgp_neo4j.cli._traversal import retriever_settings, traversal_options

if TYPE_CHECKING:
    from kgp_neo4j.answer.conversation import Conversation, Turn
    from kgp_neo4j.evidence import Retriever

_EPILOG = """
\b
Examples:
  kgp-neo4j chat --corpus mine
  kgp-neo4j chat --corpus mine --llm gpt-4o-mini --form long
  printf 'Who designed the bridge?\\nWhere was he born?\\n' | kgp-neo4j chat --corpus mine --json

\b
In the conversation:
  /sources  the passages that the last answer rests on    /path  how they were found
  /help     these                                         /quit  the end, as Ctrl-D and Ctrl-C
"""
_HELP = "/sources, /path, /help, /quit; anything else is a question."


@click.command("chat", epilog=_EPILOG)
@corpus_option
@traversal_options
@llm_option("resolves follow-up questions and answers")
@click.option(
    "--form",
    type=click.Choice(["short", "long"]),
    default="short",
    show_default=True,
    help="What the language model writes: a few words and why, or a paragraph.",
)
@json_option
def command(corpus: str, llm: str | None, form: str, as_json: bool, **traversal: Any) -> None:
    """Talk with a corpus: questions, follow-up questions, and numbered sources.

    Answers are those of `kgp-neo4j ask`. What "he", "it" or "and the ferry?" means is taken from
    the turns before, and the question is shown as it was understood. Questions may also be piped
    in, one a line; --json prints a line for each.
    """
    from kgp_neo4j.answer.conversation import Conversation
    from kgp_neo4j.installation import open_database

    settings = retriever_settings(**traversal)
    model = answering_model(llm, traversal["agent"], traversal["model"], traversal["chat_url"])

    def retriever() -> Retriever:
        from kgp_neo4j.evidence import Retriever

        made = Retriever(database, corpus, **settings)
        say_unconnected(made.unconnected)
        return made

    with open_database(echo=say) as database:
        _check(database, corpus)
        conversation = Conversation(database, corpus, retriever, model=model, form=form)
        if not _talk(conversation, as_json):
            sys.exit(1)


def _check(database: Any, corpus: str) -> None:
    """Say at once that there is no such corpus, not after the first question."""
    from kgp_neo4j.errors import no_corpus

    if {"name": corpus} not in database.read("inspect/corpus_names"):
        raise no_corpus(corpus)


def _talk(conversation: Conversation, as_json: bool) -> bool:
    """Go on until the end of what is said; return whether every question was answered."""
    from kgp_neo4j.errors import KgpError

    fine = True
    try:
        for said in _lines(conversation.corpus):
            if said.startswith("/"):
                if said.casefold() in ("/quit", "/exit", "/q"):
                    break
                _command(said, conversation)
                continue
            try:
                with written(as_json) as on_text:
                    turn = conversation.ask(said, on_text=on_text)
            except KgpError as error:
                fine = False
                if as_json:
                    click.echo(json.dumps({"said": said, "error": str(error)}, ensure_ascii=False))
                else:
                    click.echo(f"{click.style('Error:', fg='red', bold=True)} {error}", err=True)
                continue
            if as_json:
                click.echo(json.dumps(plain_record(turn), ensure_ascii=False))
            else:
                _print(turn)
    except (KeyboardInterrupt, EOFError):
        click.echo(err=True)
    # With people, the errors were seen; a script looks at the exit code.
    return fine or sys.stdin.isatty()


def _lines(corpus: str) -> Iterator[str]:
    """Yield what is said: typed at a prompt, or read from a pipe; without empty lines."""
    if not sys.stdin.isatty():
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
        return
    with contextlib.suppress(ImportError):  # on Windows the console has its own
        import readline  # noqa: F401  # gives the prompt its history and keys
    say(f"Ask about {corpus!r}. {_HELP}")
    while True:
        said = input("\n> ").strip()
        if said:
            yield said


def _command(said: str, conversation: Conversation) -> None:
    known: dict[str, Callable[[Turn], None]] = {"/sources": _print_sources, "/path": _print_path}
    name = said.split()[0].casefold()
    if name == "/help" or name not in known:
        say(_HELP if name == "/help" else f"There is no {name}. {_HELP}")
    elif not conversation.turns:
        say("Nothing was asked yet.")
    else:
        known[name](conversation.turns[-1])


def _print(turn: Turn) -> None:
    """Print a turn for a person: the question as it was understood, the answer, its sources."""
    from kgp_neo4j.answer.conversation import sources
    from kgp_neo4j.answer.pages import plain

    answer = turn.answer
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    if turn.question != turn.said:
        click.echo(click.style(f"Understood as: {plain(turn.question)}", dim=True))
    if answer.structural is not None:
        print_structural(answer.structural, width)
    if answer.passages:
        print_said(answer, width)
        for number, passage in sources(answer):
            click.echo(click.style(f"  [{number}] {plain(passage.title)}", dim=True))
    elif answer.structural is None:
        click.echo(f"Nothing in the corpus {answer.corpus!r} matches this question.")
    who = by_whom(answer)
    click.echo(click.style(f"{who}, {answer.seconds:.2f} s".lstrip(", "), dim=True))


def _print_sources(turn: Turn) -> None:
    from kgp_neo4j.answer.conversation import sources
    from kgp_neo4j.answer.pages import plain

    for number, passage in sources(turn.answer):
        where = f"{plain(passage.source)}, characters {passage.start}-{passage.end}"
        click.echo(f"[{number}] {click.style(plain(passage.title), bold=True)}  {where}")
        click.echo(f"    {plain(passage.text)}")


def _print_path(turn: Turn) -> None:
    from kgp_neo4j.answer.conversation import sources

    rests = {passage.id for _, passage in sources(turn.answer)}
    print_paths(turn.answer, [path for path in turn.answer.paths if path.last in rests])
