"""`kgp-neo4j chat`: a conversation over a corpus."""

from __future__ import annotations

import contextlib
import sys
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli._language import answerer_options, answering_model, llm_option
from kgp_neo4j.cli._options import corpus_option, result_command, retriever_options, trace_option
from kgp_neo4j.cli._output import opened_database, print_result, say, say_error, written
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.errors import KgpError

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.conversation import Conversation, Turn

_HELP = "/sources [NUMBER] or /quit; anything else is a question."


@result_command("chat")
@corpus_option()
@retriever_options
@llm_option("resolves follow-up questions and answers")
@answerer_options
@trace_option
def command(corpus: str, llm: str | None, history: bool, **options: Any) -> None:
    """Talk with a corpus: questions, follow-up questions, and numbered sources.

    Answers are those of `kgp-neo4j ask`. What "he", "it" or "and the ferry?" means is taken from
    the turns before, and the question is shown as it was understood. Questions may also be piped
    in, one a line; --json prints a line for each.
    """
    from kgp_neo4j.corpus.answer.conversation import Conversation
    from kgp_neo4j.corpus.connect.graphs import connect_small
    from kgp_neo4j.corpus.load.listing import require_corpus
    from kgp_neo4j.corpus.pipeline import make_pipeline

    with opened_database() as database:
        require_corpus(database, corpus)  # at once, not after the first question
        model = answering_model(llm, **options)
        connect_small(database, corpus, say)
        pipeline = make_pipeline(database, corpus, model=model, **options)
        conversation = Conversation(pipeline, trace=history)
        if not _talk(conversation):
            sys.exit(1)


def _talk(conversation: Conversation) -> bool:
    """Answer until the end of the input; return whether every question was answered.

    A person saw the errors, so that they count only where a script asks.
    """
    person = sys.stdin.isatty()
    if person:
        with contextlib.suppress(ImportError):  # on Windows the console does this itself
            import readline  # noqa: F401  # gives the prompt its history and keys
        say(f"Ask about {conversation.corpus!r}. {_HELP}")
    fine = True
    while (line := _next(person)) is not None and line.casefold() != "/quit":
        if line.startswith("/"):
            _command(line, conversation)
        elif line:
            try:
                with written() as on_text:
                    turn = conversation.ask(line, on_text=on_text)
                print_result(turn, lambda turn: _print(turn, conversation))
            except KgpError as error:
                fine = False
                failed = {"said": line, "error": str(error)}
                print_result(failed, lambda failed: say_error(failed["error"]))
            except KeyboardInterrupt:
                if not person:
                    raise
                say("\nStopped. Ctrl-C at the prompt, Ctrl-D or /quit ends the conversation.")
    return fine or person


def _next(person: bool) -> str | None:
    """Return the next input, typed at a prompt or read from a pipe; None at the end."""
    if not person:
        line = sys.stdin.readline()
        return line.strip() if line else None
    try:
        if sys.stdout.isatty():
            click.echo(err=True)
            return input("> ").strip()
        click.echo("\n> ", nl=False, err=True)  # results go to stdout, the prompt does not
        return input().strip()
    except (EOFError, KeyboardInterrupt):
        click.echo(err=True)
        return None


def _command(said: str, conversation: Conversation) -> None:
    """Print the last answer's sources, or the one that is named by its number."""
    name, *rest = said.split()
    if name.casefold() != "/sources":
        say(f"There is no {plain(said)[:40]}. {_HELP}")
        return
    known = {str(number): passage for number, passage in enumerate(conversation.sources, 1)}
    last = conversation.turns[-1].sources if conversation.turns else ()
    numbers = [word.strip("[]") for word in rest] or [str(source.number) for source in last]
    if not numbers:
        say("No answer rests on a passage yet.")
    for number in numbers:
        if number in known:
            passage = known[number]
            title, file = click.style(plain(passage.cited), bold=True), PurePath(passage.source)
            click.echo(f"[{number}] {title}  {plain(file.name)}, {passage.place}")
            click.echo(f"    {plain(passage.text)}")
        else:
            say(f"There is no source {plain(number)[:40]}; they go to {len(known)}.")


def _print(turn: Turn, conversation: Conversation) -> None:
    """Print a turn: the question as it was understood, the answer, its sources."""
    from kgp_neo4j.show.terminal import print_said
    from kgp_neo4j.show.view import AnswerView

    answer = turn.answer
    if turn.question != turn.said:
        click.secho(f"Understood as: {plain(turn.question)}", dim=True)
    print_said(conversation.shown(turn))
    for source in sorted(turn.sources, key=lambda source: source.number):
        name = plain(conversation.sources[source.number - 1].cited)
        click.secho(f"  [{source.number}] {name}", dim=True)
    click.secho(f"{AnswerView(answer).by}, {answer.seconds:.2f} s".lstrip(", "), dim=True)
    if answer.trace:
        click.secho(f"Kept: kgp-neo4j explain {answer.trace[:12]}", dim=True)
