"""`kgp-neo4j chat`: a conversation over a corpus."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli._language import answerer_options, answering_model, llm_option
from kgp_neo4j.cli._options import corpus_option, retriever_options
from kgp_neo4j.cli._output import json_option, say, written
from kgp_neo4j.show.terminal import by_whom, print_paths, print_said, print_structural
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.json_records import to_json

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.conversation import Conversation, Turn
    from kgp_neo4j.types.corpus import Form, Passage

_EPILOG = """
\b
Examples:
  kgp-neo4j chat --corpus mine
  kgp-neo4j chat --corpus mine --llm gpt-4o-mini --form long
  printf 'Who designed the bridge?\\nWhere was he born?\\n' | kgp-neo4j chat --corpus mine --json

\b
In the conversation:
  /sources    the passages that the last answer rests on    /path  how they were found
  /sources 3  the one with that number                      /link  opens them in Neo4j Browser
  /help       these                                         /quit  the end, as Ctrl-D
Ctrl-C stops an answer, and twice ends the conversation.
"""
_HELP = "/sources [NUMBER], /path, /link, /help, /quit; anything else is a question."


@click.command("chat", epilog=_EPILOG)
@corpus_option()
@retriever_options
@llm_option("resolves follow-up questions and answers")
@answerer_options
@click.option(
    "--trace", is_flag=True, help="Keep each traversal in the graph, for `kgp-neo4j explain`."
)
@json_option
def command(
    corpus: str,
    llm: str | None,
    form: Form,
    reader: str | None,
    trace: bool,
    as_json: bool,
    **retriever: Any,
) -> None:
    """Talk with a corpus: questions, follow-up questions, and numbered sources.

    Answers are those of `kgp-neo4j ask`. What "he", "it" or "and the ferry?" means is taken from
    the turns before, and the question is shown as it was understood. Questions may also be piped
    in, one a line; --json prints a line for each.
    """
    from kgp_neo4j.corpus.answer.conversation import Conversation
    from kgp_neo4j.corpus.pipeline import make_pipeline
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.types.errors import KgpError

    with open_database(echo=say) as database:
        _check(database, corpus)
        pipeline = make_pipeline(
            database,
            corpus,
            model=answering_model(llm, retriever["agent"], retriever["agent_settings"]),
            form=form,
            reader=reader,
            **retriever,
        )
        # Where the corpus cannot be opened yet, the first question that needs it reports why.
        with _uninterrupted(), contextlib.suppress(KgpError):
            pipeline.open()
        conversation = Conversation(pipeline, trace=trace)
        if not _talk(conversation, as_json):
            sys.exit(1)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the block ends: a half-imported library cannot be used again."""
    pressed = False

    def note(*_: object) -> None:
        nonlocal pressed
        pressed = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def _check(database: Any, corpus: str) -> None:
    """Report at once that a corpus does not exist, not after the first question."""
    from kgp_neo4j.types.errors import no_corpus

    if {"name": corpus} not in database.read("inspect/names"):
        raise no_corpus(corpus)


def _talk(conversation: Conversation, as_json: bool) -> bool:
    """Answer until the end of the input; return whether every question was answered.

    In interactive use, Ctrl-C stops the answer; pressed again before the next input, it ends the
    chat.
    """
    person = sys.stdin is not None and sys.stdin.isatty()
    if person:
        with contextlib.suppress(ImportError):  # on Windows the console does this itself
            import readline  # noqa: F401  # gives the prompt its history and keys
        say(f"Ask about {conversation.corpus!r}. {_HELP}")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    try:
        fine = _turns(conversation, as_json, person)
    except KeyboardInterrupt:
        # In interactive use this is a second Ctrl-C, during the message about the first.
        if not person:
            raise
        fine = True
    # A person saw the errors; a script looks at the exit code.
    return fine or person


def _turns(conversation: Conversation, as_json: bool, person: bool) -> bool:
    """Take one turn after the other; return whether every question was answered."""
    fine, pressed = True, False
    while True:
        try:
            line = _next(person)
            if line is None or line.casefold() in ("/quit", "/exit", "/q"):
                break
            if not line:
                continue
            pressed = False
            if line.startswith("/"):
                _command(line, conversation)
            else:
                fine = _answered(line, conversation, as_json) and fine
        except KeyboardInterrupt:
            if not person:
                raise
            click.echo(err=True)
            if pressed:
                break
            pressed = True
            say("Stopped. Ctrl-C again, Ctrl-D or /quit ends the conversation.")
    return fine


def _next(person: bool) -> str | None:
    """Return the next input, typed at a prompt or read from a pipe; None at the end."""
    if not person:
        line = sys.stdin.readline() if sys.stdin is not None else ""
        return line.strip() if line else None
    try:
        if sys.stdout.isatty():
            click.echo(err=True)
            return input("> ").strip()
        click.echo("\n> ", nl=False, err=True)  # results go to stdout, the prompt does not
        return input().strip()
    except EOFError:
        click.echo(err=True)
        return None


def _answered(said: str, conversation: Conversation, as_json: bool) -> bool:
    """Ask and print the answer; return whether the question was answered."""
    from kgp_neo4j.types.errors import KgpError

    try:
        with written(as_json) as on_text:
            turn = conversation.ask(said, on_text=on_text)
    except KgpError as error:
        if as_json:
            click.echo(to_json({"said": said, "error": str(error)}))
        else:
            click.echo(f"{click.style('Error:', fg='red', bold=True)} {error}", err=True)
        return False
    if as_json:
        click.echo(to_json(turn))
    else:
        _print(turn, conversation)
    return True


def _command(said: str, conversation: Conversation) -> None:
    known: dict[str, Callable[[Turn, Conversation], None]] = {
        "/sources": _print_sources,
        "/path": _print_path,
        "/link": _print_link,
    }
    name, *rest = said.split()
    name = name.casefold()
    if name == "/help":
        say(_HELP)
    elif name not in known or (rest and name != "/sources"):
        say(f"There is no {plain(said)[:40]}. {_HELP}")
    elif not conversation.turns:
        say("Nothing was asked yet.")
    elif rest:
        _print_source(plain(" ".join(rest))[:40], conversation)
    else:
        known[name](conversation.turns[-1], conversation)


def _print(turn: Turn, conversation: Conversation) -> None:
    """Print a turn: the question as it was understood, the answer, its sources."""
    answer = turn.answer
    if turn.question != turn.said:
        click.echo(click.style(f"Understood as: {plain(turn.question)}", dim=True))
    if answer.structural is not None:
        print_structural(answer.structural)
    if answer.passages:
        print_said(conversation.shown(turn))
        for source in sorted(turn.sources, key=lambda source: source.number):
            name = plain(conversation.sources[source.number - 1].heading)
            click.echo(click.style(f"  [{source.number}] {name}", dim=True))
    elif answer.structural is None:
        click.echo(f"Nothing in the corpus {answer.corpus!r} matches this question.")
    who = by_whom(answer)
    click.echo(click.style(f"{who}, {answer.seconds:.2f} s".lstrip(", "), dim=True))
    if answer.trace:
        click.echo(click.style(f"Kept: kgp-neo4j explain {answer.trace[:12]}", dim=True))


def _print_sources(turn: Turn, conversation: Conversation) -> None:
    if not turn.sources:
        say("The last answer rests on no passage.")
    for source in sorted(turn.sources, key=lambda source: source.number):
        _print_passage(source.number, conversation.sources[source.number - 1])


def _print_source(number: str, conversation: Conversation) -> None:
    there = len(conversation.sources)
    # Not every digit is a number: int() refuses some that isdigit() takes.
    wanted = number.strip("[]")
    if not wanted.isdecimal() or len(wanted) > 9 or not 0 < int(wanted) <= there:
        say(f"There is no source {number}; " + (f"they go to {there}." if there else "none yet."))
        return
    _print_passage(int(wanted), conversation.sources[int(wanted) - 1])


def _print_passage(number: int, passage: Passage) -> None:
    where = f"{plain(passage.source)}, {passage.place}"
    click.echo(f"[{number}] {click.style(plain(passage.heading), bold=True)}  {where}")
    click.echo(f"    {plain(passage.text)}")


def _print_path(turn: Turn, conversation: Conversation) -> None:
    rests = {source.id for source in turn.sources}
    paths = [path for path in turn.answer.paths if path.last in rests]
    if not paths:
        say("The last answer rests on no passage that a path leads to.")
    along = {step.passage for path in paths for step in path.steps}
    conversation.numbered(p for p in turn.answer.passages if p.id in along)
    print_paths(conversation.shown(turn), paths)


def _print_link(turn: Turn, conversation: Conversation) -> None:
    if turn.answer.browser:
        click.echo(turn.answer.browser)
    else:
        say("There is none: the address of the server's Browser is not known, or nothing to show.")
