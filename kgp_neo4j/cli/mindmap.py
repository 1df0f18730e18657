"""`kgp-neo4j mindmap`: one question over a knowledge graph, answered with a checked mind map."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kgp_neo4j.cli._language import chat_url_option, llm_option, opened_model
from kgp_neo4j.cli._output import echo_json, json_option, say, write_file

if TYPE_CHECKING:
    from kgp_neo4j.types.mindmap import MindMap
from kgp_neo4j.types.settings import (
    AGGREGATION,
    RELEVANCE,
    ExplorationSettings,
    MiningSettings,
    default_of,
)

_EPILOG = """
\b
Examples:
  kgp-neo4j mindmap "I feel tired and dizzy. What can it be?" --graph demo
  kgp-neo4j mindmap "..." --graph demo --html answer.html
  kgp-neo4j mindmap "..." --graph demo --mermaid
  kgp-neo4j mindmap "I feel tired." --turn "And dizzy." --graph demo
  kgp-neo4j mindmap "Which helps?" --option A=Salt --option B=Iron --graph demo
  cat dialogue.json | kgp-neo4j mindmap - --graph demo
  kgp-neo4j mindmap "..." --graph demo --llm gpt-4o-mini --json | jq .edges
  kgp-neo4j mindmap "..." --graph demo --llm gpt-4o-mini --aggregate llm

The dialogue is a JSON list of texts, or of {"role": ..., "content": ...} as chat servers take it.
Graphs are loaded by `kgp-neo4j load-kg`.
"""


@click.command("mindmap", epilog=_EPILOG)
@click.argument("question")
@click.option(
    "--graph",
    required=True,
    envvar="KGP_NEO4J_GRAPH",
    metavar="NAME",
    help="The knowledge graph (or KGP_NEO4J_GRAPH).",
)
@click.option(
    "--turn", "turns", multiple=True, metavar="TEXT", help="A further turn of a dialogue, in order."
)
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="LABEL=TEXT",
    help="An answer to choose from; give it once for each.",
)
@llm_option("finds entities and answers")
@chat_url_option
@click.option("--mermaid", "as_mermaid", is_flag=True, help="Print the mind map as Mermaid.")
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the answer with a picture of the mind map to this file; it needs no network.",
)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the picture alone to this file.",
)
@click.option(
    "--size",
    type=click.IntRange(1, 500),
    default=default_of(MiningSettings, "size"),
    show_default=True,
    help="Triples of evidence at most.",
)
@click.option(
    "--max-hops",
    "--hops",
    "hops",
    type=click.IntRange(1, 10),
    default=default_of(ExplorationSettings, "hops"),
    show_default=True,
    help="Steps of a path between two entities at most.",
)
@click.option(
    "--relevance",
    type=click.Choice(RELEVANCE),
    default=default_of(MiningSettings, "relevance"),
    show_default=True,
    help="What decides which neighbours are explored further: their rank, or the language model.",
)
@click.option(
    "--aggregate",
    "aggregation",
    type=click.Choice(AGGREGATION),
    default=default_of(MiningSettings, "aggregation"),
    show_default=True,
    help="What puts the evidence together: rules, or the language model in sentences.",
)
@click.option(
    "--show",
    type=click.IntRange(min=0),
    default=40,
    show_default=True,
    help="Lines of the mind map that are printed.",
)
@json_option
def command(
    question: str,
    graph: str,
    turns: tuple[str, ...],
    options: tuple[str, ...],
    llm: str | None,
    chat_url: str | None,
    as_mermaid: bool,
    html: Path | None,
    svg: Path | None,
    size: int,
    hops: int,
    relevance: str,
    aggregation: str,
    show: int,
    as_json: bool,
) -> None:
    """Answer QUESTION over a knowledge graph with a mind map: how its entities lead to the answer.

    QUESTION is a text, or `-` for one from standard input. Without a language model the answer is
    composed from the graph alone; with one, every edge of its mind map is checked against it.
    """
    if as_json and as_mermaid:
        raise click.UsageError("Choose one of --json and --mermaid.")
    from kgp_neo4j.mindmap.answer.ask_graph import as_question, read_turns

    said = sys.stdin.read() if question == "-" else question
    asked = as_question([*read_turns(said, "standard input"), *turns])
    mining: dict[str, Any] = {"size": size, "hops": hops}
    mining |= {"relevance": relevance, "aggregation": aggregation}
    made = run_mindmap(asked, graph, options, llm, chat_url, **mining)
    show_mindmap(made, show, as_json=as_json, as_mermaid=as_mermaid, html=html, svg=svg)


def run_mindmap(
    question: str,
    graph: str,
    options: tuple[str, ...] = (),
    llm: str | None = None,
    chat_url: str | None = None,
    *,
    hops: int = 5,
    **mining: Any,
) -> MindMap:
    """Answer a question as the command does; `options` are LABEL=TEXT, `mining` the mining
    settings.
    """
    from kgp_neo4j.graphdb.open import open_database
    from kgp_neo4j.mindmap.answer.ask_graph import ask_graph

    choices = _choices(options)
    settings = MiningSettings(**mining, exploration=ExplorationSettings(hops=hops))
    write = _writer(llm, chat_url)
    with open_database(echo=say) as database:
        return ask_graph(database, graph, question, settings=settings, options=choices, write=write)


def show_mindmap(
    made: MindMap,
    show: int,
    *,
    as_json: bool,
    as_mermaid: bool = False,
    html: Path | None = None,
    svg: Path | None = None,
) -> None:
    """Print an answer in the requested form, and write its pictures."""
    from kgp_neo4j.show.mindmap_lines import mermaid
    from kgp_neo4j.show.mindmap_picture import page
    from kgp_neo4j.show.mindmap_picture import svg as drawn
    from kgp_neo4j.show.terminal_mindmap import print_mind_map

    roots = [entity.name for entity in made.reasoning.entities if entity.id]
    if html is not None:
        write_file(html, page(made))
    if svg is not None:
        write_file(svg, drawn(made.edges, roots))
    if as_json:
        echo_json(made)
    elif as_mermaid:
        click.echo(mermaid(made.edges), nl=False)
    else:
        print_mind_map(made, show)


def _choices(options: tuple[str, ...]) -> dict[str, str]:
    made: dict[str, str] = {}
    for option in options:
        label, sign, text = option.partition("=")
        if not sign or not label.strip() or not text.strip():
            raise click.UsageError(f"--option {option!r} is not LABEL=TEXT.")
        if label.strip().upper() in made:
            raise click.UsageError(f"--option {label.strip()} is given twice.")
        made[label.strip().upper()] = text.strip()
    if len(made) == 1:
        raise click.UsageError("Give two --option or more.")
    return made


def _writer(llm: str | None, chat_url: str | None) -> Callable[[str], str] | None:
    """Return the requested language model as a function of a prompt; None for none."""
    from kgp_neo4j.llm.call import writer

    model = opened_model(llm, chat_url)
    return writer(model) if model is not None else None
