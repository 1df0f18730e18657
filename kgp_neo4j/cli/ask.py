"""`kgp-neo4j ask`, `chat` and `mindmap`: questions, answered with evidence."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from kgp_neo4j.cli import _options
from kgp_neo4j.cli._output import (
    list_faults,
    opened_database,
    print_result,
    result_command,
    say,
    say_error,
    written,
)
from kgp_neo4j.text.safe import cut, plain
from kgp_neo4j.types.corpus import Answer, Method, QuestionType
from kgp_neo4j.types.errors import InputError, KgpError
from kgp_neo4j.types.settings import ExplorationSettings, MiningSettings

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.conversation import Conversation, Turn


#: Characters of the paths that stand for a corpus, and of what was not loaded.
_LONGEST = 300


@result_command("ask")
@click.argument("words", nargs=-1, metavar="QUESTION | PATH...")
@click.option("-q", "--question", metavar="TEXT", help="The question, over PATH...")
@_options.corpus_option(required=False, help="The corpus that is asked, where no PATH is given")
@_options.default_option(
    "--method",
    "kgp",
    "How the passages are found: the traversal, or one of its baselines.",
    type=click.Choice(get_args(Method)),
)
@_options.retriever_options
@click.option(
    "--type",
    "type_",
    type=click.Choice(get_args(QuestionType)),
    help="What the question is about, pages and tables or content (default: it is decided); "
    "`model` lets the language model decide, as it chooses what to look up.",
)
@_options.llm_option("answers, from passages as from pages and tables")
@_options.answerer_options
@_options.drawn_options
@_options.trace_option
@_options.show_option(5, "Passages")
@click.option(
    "--show-query", is_flag=True, help="Show the queries that an answer from pages and tables took."
)
@click.pass_context
def ask_command(
    ctx: click.Context,
    /,
    words: tuple[str, ...],
    question: str | None,
    corpus: str | None,
    type_: QuestionType | None,
    llm: str | None,
    history: bool,
    show: int,
    show_query: bool,
    **options: Any,
) -> None:
    """Answer QUESTION over a corpus: reasoning paths, passages with citations, and a Browser link.

    QUESTION is a text, or `-` for one from standard input. With -q it is answered over files,
    folders and globs (PATH...), as a corpus that is removed afterwards; the exit code is 1 where
    one of them was not loaded.

    The offline reader answers, or a language model, each sentence of which is checked against the
    passages that it cites; what they do not carry is marked. A question about pages or tables is
    answered from them; where its reading is uncertain, the table is shown instead.
    """
    if question is None and len(words) != 1:
        raise click.UsageError('Give one QUESTION in quotes, or PATH... -q "QUESTION".')
    asked, paths = (words[0], ()) if question is None else (question, words)
    sources = {ctx.get_parameter_source(name) for name in ("corpus", "history")}
    if paths and ParameterSource.COMMANDLINE in sources:
        raise click.UsageError("Nothing is kept of PATH...: leave --corpus and --trace out.")
    if not paths and corpus is None:
        raise click.MissingParameter(param_hint="'--corpus'", param_type="option")
    if asked == "-" and not (asked := sys.stdin.read().strip()):
        raise InputError("there is no question", where="standard input", hint="Pipe one in.")
    from kgp_neo4j.corpus.answer.traces import with_trace
    from kgp_neo4j.corpus.pipeline import make_pipeline

    account = None
    model = _options.answering_model(llm, **options)  # a wrong name is told at once
    with opened_database() as database, ExitStack() as stack:
        from kgp_neo4j.corpus.connect.graphs import connect, connect_small

        if paths:
            from kgp_neo4j.corpus.load.loading import load
            from kgp_neo4j.corpus.load.stored import temporary_corpus

            corpus = stack.enter_context(temporary_corpus(database, echo=say))
            account = load(database, paths, corpus)
            list_faults(account, err=True)
            if not account.documents:
                raise InputError("nothing could be loaded", where=", ".join(paths))
            connect(database, corpus)
        elif options["method"] != "bm25":
            connect_small(database, str(corpus), say)
        pipeline = make_pipeline(database, str(corpus), model=model, **options)
        with written() as on_text:
            answer = pipeline.ask(asked, type_=type_, on_text=on_text)
        if account is not None:  # what leads into the graph leads nowhere once it is removed
            named = cut(", ".join(paths), _LONGEST)
            answer = replace(answer, corpus=named, browser=None, queries=())
            if account.errors:
                note = cut(f"Not loaded: {'; '.join(account.errors)}", _LONGEST)
                answer = replace(answer, notes=(*answer.notes, note))
        elif history:
            answer = with_trace(database, answer)

    def print_(answer: Answer) -> None:
        from kgp_neo4j.show.terminal import print_answer  # takes time to load

        print_answer(answer, show, queries=show_query)
        if llm is None and model is None and answer.tier == "evidence":
            say("A language model may read more in these passages: --llm auto, docs/models.md.")

    print_result(answer, print_, drawn=answer)
    if account is not None and account.errors:
        ctx.exit(1)


_HELP = "/sources [NUMBER] or /quit; anything else is a question."


@result_command("chat")
@_options.corpus_option()
@_options.retriever_options
@_options.llm_option("resolves follow-up questions and answers")
@_options.answerer_options
@_options.trace_option
def chat_command(corpus: str, llm: str | None, history: bool, **options: Any) -> None:
    """Talk with a corpus: questions, follow-up questions, and numbered sources.

    Answers are those of `kgp-neo4j ask`. What "he", "it" or "and the ferry?" means is taken from
    the turns before, and the question is shown as it was understood. Questions may also be piped
    in, one a line; --json prints a line for each.
    """
    from kgp_neo4j.corpus.answer.conversation import Conversation
    from kgp_neo4j.corpus.connect.graphs import connect_small
    from kgp_neo4j.corpus.load.stored import require_corpus
    from kgp_neo4j.corpus.pipeline import make_pipeline

    with opened_database() as database:
        require_corpus(database, corpus)  # at once, not after the first question
        model = _options.answering_model(llm, **options)
        connect_small(database, corpus, say)
        pipeline = make_pipeline(database, corpus, model=model, **options)
        conversation = Conversation(pipeline, trace=history)
        if not _talk(conversation):
            sys.exit(1)


def _talk(conversation: Conversation) -> bool:
    """Answer until the input ends; return whether all was answered, or a person saw the errors."""
    person = sys.stdin.isatty()
    if person:
        with suppress(ImportError):  # on Windows the console does this itself
            import readline  # noqa: F401  # gives the prompt its history and keys
        say(f"Ask about {conversation.corpus!r}. {_HELP}")
    fine = True
    while (line := _next(person)) is not None and line.casefold() != "/quit":
        if line.startswith("/"):
            _print_sources(line, conversation)
        elif line:
            try:
                with written() as on_text:
                    turn = conversation.ask(line, on_text=on_text)
                print_result(turn, lambda turn: _print_turn(turn, conversation))
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


def _print_sources(said: str, conversation: Conversation) -> None:
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


def _print_turn(turn: Turn, conversation: Conversation) -> None:
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


@result_command("mindmap")
@click.argument("question")
@_options.graph_option()
@click.option(
    "--turn", "turns", multiple=True, metavar="TEXT", help="A further turn of a dialogue, in order."
)
@_options.llm_option("finds entities and answers")
@_options.chat_url_option
@_options.drawn_options
@_options.settings_options(mining=MiningSettings, exploration=ExplorationSettings)
@_options.show_option(40, "Lines of the mind map")
def mindmap_command(
    question: str,
    graph: str,
    turns: tuple[str, ...],
    llm: str | None,
    chat_url: str | None,
    show: int,
    mining: MiningSettings,
    exploration: ExplorationSettings,
) -> None:
    """Answer QUESTION over a knowledge graph with a mind map: how its entities lead to the answer.

    QUESTION is a text, or `-` for one from standard input. Without a language model the answer is
    composed from the graph alone; with one, every edge of its mind map is checked against it.
    """
    from kgp_neo4j.llm.call import writer
    from kgp_neo4j.mindmap.answer.ask_graph import as_question, ask_graph, read_turns
    from kgp_neo4j.show.terminal import print_mind_map

    text = sys.stdin.read() if question == "-" else question
    asked = as_question([*read_turns(text, "standard input"), *turns])
    model = _options.opened_model(llm, chat_url)
    write = None if model is None else writer(model)
    settings = replace(mining, exploration=exploration)
    with opened_database() as database:
        answer = ask_graph(database, graph, asked, settings=settings, write=write)
    print_result(answer, lambda answer: print_mind_map(answer, show), drawn=answer)
