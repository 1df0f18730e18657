"""`kgp-neo4j ask`: one question, answered with evidence."""

from pathlib import Path
from typing import Any, get_args

import click

from kgp_neo4j.cli._language import answerer_options, answering_pipeline, llm_option
from kgp_neo4j.cli._options import (
    corpus_option,
    default_option,
    html_option,
    mermaid_option,
    retriever_options,
    show_option,
)
from kgp_neo4j.cli._output import echo_json, json_option, say, write_file, written
from kgp_neo4j.types.corpus import Method, QuestionType

_EPILOG = """
\b
Examples:
  kgp-neo4j ask "Who designed the bridge that replaced the ferry?" --corpus mine
  kgp-neo4j ask "..." --corpus mine --agent tfidf --budget 10
  kgp-neo4j ask "..." --corpus mine --llm gpt-4o-mini --form long
  kgp-neo4j ask "..." --corpus mine --llm local:models/qwen --method ircot
  kgp-neo4j ask "..." --corpus mine --html answer.html --trace
  kgp-neo4j ask "Which light in Table 2 cost most?" --corpus mine
  kgp-neo4j ask "How do pages 1 and 2 differ?" --corpus mine --type structural
  kgp-neo4j ask "..." --corpus mine --json | jq .passages[0].title
"""


@click.command("ask", epilog=_EPILOG)
@click.argument("question")
@corpus_option()
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
@html_option
@mermaid_option
@click.option(
    "--trace", is_flag=True, help="Keep the traversal in the graph, for `kgp-neo4j explain`."
)
@show_option(5, "Passages and paths")
@click.option(
    "--show-query", is_flag=True, help="Show the queries that an answer from pages and tables took."
)
@json_option
def command(
    question: str,
    corpus: str,
    type_: QuestionType | None,
    llm: str | None,
    html: Path | None,
    as_mermaid: bool,
    trace: bool,
    show: int,
    show_query: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Answer QUESTION over a corpus: reasoning paths, passages with citations, and a Browser link.

    The offline reader answers, or a language model, each sentence of which is checked against the
    passages that it cites; what they do not carry is marked. A question about pages or tables is
    answered from them; where its reading is uncertain, the table is shown instead.
    """
    if as_json and as_mermaid:
        raise click.UsageError("Choose one of --json and --mermaid.")
    from kgp_neo4j.corpus.answer.traces import with_trace
    from kgp_neo4j.graphdb.open import open_database

    with open_database(echo=say) as database:
        pipeline = answering_pipeline(database, corpus, llm, **options)
        with written(as_json or as_mermaid) as on_text:
            answer = pipeline.ask(question, type_=type_, on_text=on_text)
        if trace:
            answer = with_trace(database, answer)
    # What shows the answer is loaded where it is used: it takes time.
    if html is not None:
        from kgp_neo4j.show.pages import answer_page

        write_file(html, answer_page(answer))
    if as_json:
        echo_json(answer)
    elif as_mermaid:
        from kgp_neo4j.show.mermaid import paths_mermaid

        click.echo(paths_mermaid(answer), nl=False)
    else:
        from kgp_neo4j.show.terminal import print_answer

        print_answer(answer, show, queries=show_query)
