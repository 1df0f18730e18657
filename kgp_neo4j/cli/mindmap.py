"""`kgp-neo4j mindmap`: one question over a knowledge graph, answered with a checked mind map."""

import sys
from dataclasses import replace

import click

from kgp_neo4j.cli._language import chat_url_option, llm_option, opened_model
from kgp_neo4j.cli._options import (
    drawn_options,
    graph_option,
    result_command,
    settings_options,
    show_option,
)
from kgp_neo4j.cli._output import opened_database, print_result
from kgp_neo4j.types.settings import ExplorationSettings, MiningSettings


@result_command("mindmap")
@click.argument("question")
@graph_option()
@click.option(
    "--turn", "turns", multiple=True, metavar="TEXT", help="A further turn of a dialogue, in order."
)
@llm_option("finds entities and answers")
@chat_url_option
@drawn_options
@settings_options(mining=MiningSettings, exploration=ExplorationSettings)
@show_option(40, "Lines of the mind map")
def command(
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
    model = opened_model(llm, chat_url)
    write = None if model is None else writer(model)
    settings = replace(mining, exploration=exploration)
    with opened_database() as database:
        answer = ask_graph(database, graph, asked, settings=settings, write=write)
    print_result(answer, lambda answer: print_mind_map(answer, show), drawn=answer)
