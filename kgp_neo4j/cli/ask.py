"""`kgp-neo4j ask`, `chat`, `mindmap`, `history`, `explain`: questions, answered with evidence."""

from __future__ import annotations

import sys
from contextlib import ExitStack, suppress
from dataclasses import replace
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from kgp_neo4j.cli import _options, _output
from kgp_neo4j.text.safe import as_markdown, cut, parts, plain
from kgp_neo4j.types.corpus import Answer, QuestionType, Trace
from kgp_neo4j.types.errors import InputError, KgpError, TraceError
from kgp_neo4j.types.settings import ExplorationSettings, MiningSettings

if TYPE_CHECKING:
    from kgp_neo4j.corpus.answer.conversation import Conversation, Turn
    from kgp_neo4j.corpus.answer.traces import Replay


#: Characters of the paths that stand for a corpus, and of what was not loaded.
_LONGEST = 300


@_output.result_command("ask")
@click.argument("words", nargs=-1, metavar="QUESTION | PATH...")
@click.option("-q", "--question", metavar="TEXT", help="The question, over PATH...")
@_options.corpus_option(required=False, help="The corpus that is asked, where no PATH is given")
@_options.default_option(
    "--method",
    "kgp",
    "How the passages are found: the traversal, or one of its baselines.",
    type=_options.PartName("retriever"),
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
    with _output.opened_database() as database, ExitStack() as stack:
        from kgp_neo4j.corpus.connect.graphs import connect, connect_small

        if paths:
            from kgp_neo4j.corpus.load.loading import load
            from kgp_neo4j.corpus.load.stored import temporary_corpus

            corpus = stack.enter_context(temporary_corpus(database, echo=_output.say))
            account = load(database, paths, corpus)
            _output.list_faults(account, err=True)
            if not account.documents:
                raise InputError("nothing could be loaded", where=", ".join(paths))
            connect(database, corpus)
        elif options["method"] != "bm25":
            connect_small(database, str(corpus), _output.say)
        pipeline = make_pipeline(database, str(corpus), model=model, **options)
        with _output.written() as on_text:
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
            _output.say(
                "A language model may read more in these passages: --llm auto, docs/models.md."
            )

    _output.print_result(answer, print_, drawn=answer)
    if account is not None and account.errors:
        ctx.exit(1)


_HELP = "/sources [NUMBER] or /quit; anything else is a question."


@_output.result_command("chat")
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

    with _output.opened_database() as database:
        require_corpus(database, corpus)  # at once, not after the first question
        model = _options.answering_model(llm, **options)
        connect_small(database, corpus, _output.say)
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
        _output.say(f"Ask about {conversation.corpus!r}. {_HELP}")
    fine = True
    while (line := _next(person)) is not None and line.casefold() != "/quit":
        if line.startswith("/"):
            _print_sources(line, conversation)
        elif line:
            try:
                with _output.written() as on_text:
                    turn = conversation.ask(line, on_text=on_text)
                _output.print_result(turn, lambda turn: _print_turn(turn, conversation))
            except KgpError as error:
                fine = False
                failed = {"said": line, "error": str(error)}
                _output.print_result(failed, lambda failed: _output.say_error(failed["error"]))
            except KeyboardInterrupt:
                if not person:
                    raise
                _output.say(
                    "\nStopped. Ctrl-C at the prompt, Ctrl-D or /quit ends the conversation."
                )
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
        _output.say(f"There is no {plain(said)[:40]}. {_HELP}")
        return
    known = {str(number): passage for number, passage in enumerate(conversation.sources, 1)}
    last = conversation.turns[-1].sources if conversation.turns else ()
    numbers = [word.strip("[]") for word in rest] or [str(source.number) for source in last]
    if not numbers:
        _output.say("No answer rests on a passage yet.")
    for number in numbers:
        if number in known:
            passage = known[number]
            title, file = click.style(plain(passage.cited), bold=True), PurePath(passage.source)
            click.echo(f"[{number}] {title}  {plain(file.name)}, {passage.place}")
            click.echo(f"    {plain(passage.text)}")
        else:
            _output.say(f"There is no source {plain(number)[:40]}; they go to {len(known)}.")


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


@_output.result_command("mindmap")
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
    from kgp_neo4j.llm.chat import writer
    from kgp_neo4j.mindmap.answer.ask_graph import as_question, ask_graph, read_turns
    from kgp_neo4j.show.terminal import print_mind_map

    text = sys.stdin.read() if question == "-" else question
    asked = as_question([*read_turns(text, "standard input"), *turns])
    model = _options.opened_model(llm, chat_url)
    write = None if model is None else writer(model)
    settings = replace(mining, exploration=exploration)
    with _output.opened_database() as database:
        answer = ask_graph(database, graph, asked, settings=settings, write=write)
    _output.print_result(answer, lambda answer: print_mind_map(answer, show), drawn=answer)


@_output.result_command("history")
@click.argument("words", nargs=-1, metavar="[WORD...]")
@_options.corpus_option(required=False, help="Only questions to this corpus")
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
    "ids",
    multiple=True,
    metavar="ID",
    help="Remove this question with its answer and traversal; can be repeated (all or none).",
)
def history_command(
    words: tuple[str, ...], corpus: str | None, show: int | None, export: bool, ids: tuple[str, ...]
) -> None:
    """List past questions with their answers, the latest first; search, export and remove them.

    With WORD... those whose question and answer have all of these words, or parts of words.
    """
    if ids and words:
        raise click.UsageError("--remove takes one ID: repeat it for others.")
    from kgp_neo4j.corpus.answer.traces import explain, remove, traces
    from kgp_neo4j.show.pages import answer_markdown

    with _output.opened_database() as database:
        if ids:
            count = remove(database, ids)
            _output.print_result({"removed": count}, f"Removed {count}.")
            return
        found = traces(database, corpus, words=words, limit=show or (1000 if export else 20))
        if not export:
            _output.print_result(found, _print_traces)
            return
        for trace in reversed(found):
            replay = explain(database, trace.id)
            answer = replay.answer
            lines = [f"## {as_markdown(answer.question)}"]
            if answer.text and not answer.said:
                lines.append(as_markdown(answer.summary))
            lines += [answer_markdown(answer), f"*{_when(trace)}, {as_markdown(trace.corpus)}*\n"]
            _output.print_result(parts(replay, "asked_at", "answer"), "\n\n".join(lines))


def _print_traces(listed: list[Trace]) -> None:
    if not listed:
        click.echo("No such question was kept. `kgp-neo4j ask ... --trace` keeps one.")
    for each in listed:
        left = f"{each.passages} passages"
        if each.left < each.passages:
            left = f"{each.left} of {each.passages} passages left"
        about = f"{_when(each)}, corpus {plain(each.corpus)}, agent {each.agent}, {left}"
        click.echo(f"{click.style(each.id[:12], bold=True)}  {plain(each.question)}")
        click.echo(f"              {cut(each.answer, 100) or 'no answer'}")
        click.echo(click.style(f"              {about}", dim=True))


def _when(trace: Trace) -> str:
    return trace.asked_at[:16].replace("T", " ")


#: Stands for a passage that was deleted since.
_GONE = "(no longer in the corpus)"


@_output.result_command("explain")
@click.argument("trace", required=False)
@_options.corpus_option(required=False, help="The corpus of the latest trace")
@_options.drawn_options
@_options.show_option(30, "Visits", least=1)
def explain_command(trace: str | None, corpus: str | None, show: int) -> None:
    """Tell again how an answer was found: the traversal that `ask --trace` kept in the graph.

    TRACE is its id, or the first characters of it; without one it is the latest. Shown are the
    seeds, then hop by hop the passages visited, with the edges, reasons and scores, and the answer.
    """
    from kgp_neo4j.corpus.answer.traces import explain, traces

    with _output.opened_database() as database:
        if not trace and not (latest := traces(database, corpus, limit=1)):
            where = f" of the corpus {corpus!r}" if corpus else ""
            hint = "`kgp-neo4j ask ... --trace` keeps one."
            raise TraceError(f"no trace{where} was kept", hint=hint)
        replay = explain(database, trace or latest[0].id)
    _output.print_result(replay, lambda replay: _print_replay(replay, show), drawn=replay.answer)


def _print_replay(made: Replay, show: int) -> None:
    """Print a replay, hop by hop."""
    from kgp_neo4j.corpus.answer.traces import show_trace
    from kgp_neo4j.show.terminal import print_said

    answer = made.answer
    click.secho("Question", fg="cyan", bold=True)
    click.echo(f"  {plain(answer.question)}")
    asked = made.asked_at[:19].replace("T", " ")
    settings = ", ".join(f"{k} {v}" for k, v in answer.settings.items() if v not in ([], None))
    about = f"asked {asked}, corpus {plain(answer.corpus)}, agent {answer.agent}"
    for line in filter(None, (about, plain(settings))):
        click.secho(f"  {line}", dim=True)
    ranks = {passage.id: f" [{rank}]" for rank, passage in enumerate(answer.passages, 1)}
    steps = {visit.order: visit.step.passage for visit in made.visits}
    for hop, visits in groupby(made.visits[:show], key=lambda visit: visit.hop):
        click.secho(f"\nHop {hop}" if hop else "\nSeeds", fg="cyan", bold=True)
        for visit in visits:
            step, why = visit.step, plain(visit.step.why)
            name = f"{plain(made.titles.get(step.passage) or step.passage)}"
            name += f"{ranks.get(step.passage, '')}  {click.style(f'{step.score:.2f}', bold=True)}"
            if visit.before is None:
                told = f"{name}  {click.style(why, dim=True)}"
            else:
                start = plain(made.titles.get(steps.get(visit.before, ""), _GONE))
                told = f"{start} ─ {click.style(why, fg='magenta')} ─▶ {name}"
            click.echo(f"  {visit.order:>3}. {told}")
    if len(made.visits) > show:
        click.echo(f"  ... and {len(made.visits) - show} more (--show {len(made.visits)})")
    print_said(answer)
    click.echo(f"\nAs a graph in Neo4j Browser: {show_trace(made.id)}")
