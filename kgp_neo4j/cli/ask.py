"""`kgp-neo4j ask`: one question, answered with evidence."""

import sys
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, get_args

import click
from click.core import ParameterSource

from kgp_neo4j.cli._language import answerer_options, answering_model, llm_option
from kgp_neo4j.cli._options import (
    corpus_option,
    default_option,
    drawn_options,
    result_command,
    retriever_options,
    show_option,
    trace_option,
)
from kgp_neo4j.cli._output import list_faults, opened_database, print_result, say, written
from kgp_neo4j.text.safe import cut
from kgp_neo4j.types.corpus import Answer, Method, QuestionType
from kgp_neo4j.types.errors import InputError

#: Characters of the paths that stand for a corpus, and of what was not loaded.
_LONGEST = 300


@result_command("ask")
@click.argument("words", nargs=-1, metavar="QUESTION | PATH...")
@click.option("-q", "--question", metavar="TEXT", help="The question, over PATH...")
@corpus_option(required=False, help="The corpus that is asked, where no PATH is given")
@default_option(
    "--method",
    "kgp",
    "How the passages are found: the traversal, or one of its baselines.",
    type=click.Choice(get_args(Method)),
)
@retriever_options
@click.option(
    "--type",
    "type_",
    type=click.Choice(get_args(QuestionType)),
    help="What the question is about, pages and tables or content (default: it is decided); "
    "`model` lets the language model decide, as it chooses what to look up.",
)
@llm_option("answers, from passages as from pages and tables")
@answerer_options
@drawn_options
@trace_option
@show_option(5, "Passages")
@click.option(
    "--show-query", is_flag=True, help="Show the queries that an answer from pages and tables took."
)
@click.pass_context
def command(
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
    model = answering_model(llm, **options)  # a wrong name is told before anything is loaded
    with opened_database() as database, ExitStack() as stack:
        from kgp_neo4j.corpus.connect.graphs import connect, connect_small

        if paths:
            from kgp_neo4j.corpus.load.delete import temporary_corpus
            from kgp_neo4j.corpus.load.loading import load

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
