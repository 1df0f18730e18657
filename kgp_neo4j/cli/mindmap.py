"""`kgp-neo4j mindmap`: one question over a knowledge graph, answered with a checked mind map."""

import sys
from dataclasses import replace
from pathlib import Path

import click

from kgp_neo4j.cli._language import chat_url_option, llm_option, opened_model
from kgp_neo4j.cli._options import (
    graph_option,
    html_option,
    mermaid_option,
    settings_options,
    show_option,
)
from kgp_neo4j.cli._output import json_option, opened_database, print_result, write_file
from kgp_neo4j.types.settings import ExplorationSettings, MiningSettings

_EPILOG = """
\b
Examples:
  kgp-neo4j mindmap "I feel tired and dizzy. What can it be?" --graph demo
  kgp-neo4j mindmap "..." --graph demo --html answer.html
  kgp-neo4j mindmap "..." --graph demo --mermaid
  kgp-neo4j mindmap "I feel tired." --turn "And dizzy." --graph demo
  cat dialogue.json | kgp-neo4j mindmap - --graph demo
  kgp-neo4j mindmap "..." --graph demo --llm gpt-4o-mini --json | jq .edges

The dialogue is a JSON list of texts, or of {"role": ..., "content": ...} as chat servers take it.
Graphs are loaded by `kgp-neo4j load-kg`.
"""


@click.command("mindmap", epilog=_EPILOG)
@click.argument("question")
@graph_option()
@click.option(
    "--turn", "turns", multiple=True, metavar="TEXT", help="A further turn of a dialogue, in order."
)
@llm_option("finds entities and answers")
@chat_url_option
@mermaid_option
@html_option
@settings_options(mining=MiningSettings, exploration=ExplorationSettings)
@show_option(40, "Lines of the mind map")
@json_option
def command(
    question: str,
    graph: str,
    turns: tuple[str, ...],
    llm: str | None,
    chat_url: str | None,
    as_mermaid: bool,
    html: Path | None,
    show: int,
    as_json: bool,
    mining: MiningSettings,
    exploration: ExplorationSettings,
) -> None:
    """Answer QUESTION over a knowledge graph with a mind map: how its entities lead to the answer.

    QUESTION is a text, or `-` for one from standard input. Without a language model the answer is
    composed from the graph alone; with one, every edge of its mind map is checked against it.
    """
    if as_json and as_mermaid:
        raise click.UsageError("Choose one of --json and --mermaid.")
    from kgp_neo4j.llm.call import writer
    from kgp_neo4j.mindmap.answer.ask_graph import as_question, ask_graph, read_turns
    from kgp_neo4j.show.mermaid import mind_map_mermaid
    from kgp_neo4j.show.pages import mind_map_page
    from kgp_neo4j.show.terminal import print_mind_map

    text = sys.stdin.read() if question == "-" else question
    asked = as_question([*read_turns(text, "standard input"), *turns])
    model = opened_model(llm, chat_url)
    write = None if model is None else writer(model)
    settings = replace(mining, exploration=exploration)
    with opened_database() as database:
        answer = ask_graph(database, graph, asked, settings=settings, write=write)
    if html is not None:
        write_file(html, mind_map_page(answer))
    if as_mermaid:
        click.echo(mind_map_mermaid(answer.edges), nl=False)
    else:
        print_result(answer, as_json, lambda answer: print_mind_map(answer, show))
