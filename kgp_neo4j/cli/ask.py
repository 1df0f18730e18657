"""`kgp-neo4j ask`: one question, answered with evidence."""

from __future__ import annotations

from typing import Any

import click

from kgp_neo4j.cli._output import corpus_option, echo_json, json_option, say
from kgp_neo4j.cli._traversal import retriever_settings, traversal_options

_EPILOG = """
\b
Examples:
  kgp-neo4j ask "Who designed the bridge that replaced the ferry?" --corpus mine
  kgp-neo4j ask "..." --corpus mine --agent tfidf --budget 10
  kgp-neo4j ask "..." --corpus mine --agent t5 --model trained/t5
  kgp-neo4j ask "..." --corpus mine --json | jq .passages[0].title
"""


@click.command("ask", epilog=_EPILOG)
@click.argument("question")
@corpus_option
@traversal_options
@click.option(
    "--show", type=int, default=5, show_default=True, help="Passages and paths that are printed."
)
@json_option
def command(
    question: str,
    corpus: str,
    show: int,
    as_json: bool,
    **traversal: Any,
) -> None:
    """Answer QUESTION over a corpus: reasoning paths, passages with citations, and a Browser link.

    The answer is the best supporting sentence.
    """
    from kgp_neo4j.answer import ask
    from kgp_neo4j.cli._answer import print_answer
    from kgp_neo4j.evidence import Retriever
    from kgp_neo4j.installation import open_database

    settings = retriever_settings(**traversal)
    with open_database(echo=say) as database:
        retriever = Retriever(database, corpus, **settings)
        answer = ask(database, retriever, question)
    if retriever.unconnected > 0:
        say(
            f"Note: {retriever.unconnected} passages came after the corpus was connected; "
            f"run `kgp-neo4j connect` to join them in."
        )
    if as_json:
        echo_json(answer)
    else:
        print_answer(answer, show)
