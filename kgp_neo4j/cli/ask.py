"""`kgp-neo4j ask`: one question, answered with evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli._output import echo_json, json_option, say
from kgp_neo4j.cli._traversal import retriever_settings, traversal_options

if TYPE_CHECKING:
    from kgp_neo4j.evidence import Retriever
    from kgp_neo4j.traverse import AgentSettings

_EPILOG = """
\b
Examples:
  kgp-neo4j ask "Who designed the bridge that replaced the ferry?" --corpus mine
  kgp-neo4j ask "..." --corpus mine --agent tfidf --budget 10
  kgp-neo4j ask "..." --corpus mine --agent t5 --model trained/t5
  kgp-neo4j ask "Which light in Table 2 cost most?" --corpus mine
  kgp-neo4j ask "How do pages 1 and 2 differ?" --corpus mine --type structural
  kgp-neo4j ask "..." --corpus mine --json | jq .passages[0].title
  kgp-neo4j ask "I feel tired and dizzy. What can it be?" --graph demo
"""


@click.command("ask", epilog=_EPILOG)
@click.argument("question")
@click.option(
    "--corpus", envvar="KGP_NEO4J_CORPUS", metavar="NAME", help="The corpus (or KGP_NEO4J_CORPUS)."
)
@click.option(
    "--graph", metavar="NAME", help="A knowledge graph instead, asked as `kgp-neo4j mindmap` does."
)
@traversal_options
@click.option(
    "--type",
    "type_",
    type=click.Choice(["structural", "content", "both"]),
    help="What the question is about, pages and tables or content (default: it is decided).",
)
@click.option(
    "--llm",
    metavar="NAME",
    envvar="KGP_NEO4J_LLM",
    help="The chat server's model that decides what the question is about, and answers from pages "
    "and tables (or KGP_NEO4J_LLM; default: none, or that of --agent chat).",
)
@click.option(
    "--show", type=int, default=5, show_default=True, help="Passages and paths that are printed."
)
@json_option
def command(
    question: str,
    corpus: str | None,
    graph: str | None,
    type_: str | None,
    llm: str | None,
    show: int,
    as_json: bool,
    **traversal: Any,
) -> None:
    """Answer QUESTION over a corpus: reasoning paths, passages with citations, and a Browser link.

    The answer is the best supporting sentence. A question about pages or tables is answered from
    them, with the query that was run; where its reading is uncertain, the table is shown instead.
    """
    if graph is not None:
        _over_graph(question, graph, llm, show, as_json, traversal["chat_url"])
        return
    if corpus is None:
        raise click.MissingParameter(param_hint="'--corpus' or '--graph'", param_type="option")
    from kgp_neo4j.answer import ask
    from kgp_neo4j.cli._answer import print_answer
    from kgp_neo4j.evidence import Retriever
    from kgp_neo4j.installation import open_database

    settings = retriever_settings(**traversal)
    made: list[Retriever] = []

    def retriever() -> Retriever:
        made.append(Retriever(database, corpus, **settings))
        return made[0]

    write = _writer(llm, settings["agent"], settings["agent_settings"])
    with open_database(echo=say) as database:
        answer = ask(database, corpus, question, retriever, type_=type_, write=write)
    if made and made[0].unconnected > 0:
        say(
            f"Note: {made[0].unconnected} passages came after the corpus was connected; "
            f"run `kgp-neo4j connect` to join them in."
        )
    if as_json:
        echo_json(answer)
    else:
        print_answer(answer, show)


def _writer(llm: str | None, agent: str | None, settings: AgentSettings) -> Any:
    """Return the language model that was asked for, as a function of a prompt; None for none."""
    name = llm or (settings.model if agent == "chat" else None)
    if not name:
        return None
    from kgp_neo4j.models.chat import ChatModel

    model = ChatModel(name, url=settings.url, temperature=settings.temperature, seed=settings.seed)
    return lambda prompt: model.reply("", prompt)


def _over_graph(
    question: str,
    graph: str,
    llm: str | None,
    show: int,
    as_json: bool,
    chat_url: str | None,
) -> None:
    """Answer over a knowledge graph; raises UsageError for what only a corpus has."""
    from kgp_neo4j.cli.mindmap import run_mindmap, show_mindmap

    ctx = click.get_current_context()
    fitting = {"question", "graph", "llm", "show", "as_json", "chat_url"}
    given = [
        name
        for name in ctx.params
        if name not in fitting
        and ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        names = ", ".join(f"--{name.rstrip('_').replace('_', '-')}" for name in sorted(given))
        raise click.UsageError(f"{names} does not go with --graph.")
    lines = ctx.get_parameter_source("show") is click.core.ParameterSource.COMMANDLINE
    show_mindmap(
        run_mindmap(question, graph, llm=llm, chat_url=chat_url),
        show if lines else 40,
        as_json=as_json,
    )
