"""The options that `ask` and `retrieve` share: the agent, and the limits of the traversal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from kgp_neo4j.cli._language import chat_url_option
from kgp_neo4j.types.corpus import AgentName, Rerank
from kgp_neo4j.types.settings import (
    ALGORITHMS,
    EDGES,
    AgentSettings,
    TraversalSettings,
    default_of,
    traversal_settings,
)

__all__ = ["retriever_settings", "traversal_options"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--agent",
        type=click.Choice(get_args(AgentName)),
        help="Who chooses the next evidence (default: learned where all graphs are there).",
    ),
    click.option(
        "--model",
        metavar="NAME",
        help="The agent's model: a folder (learned, mdr, t5, llama), a hub name (t5, llama), or as "
        "the chat server calls it.",
    ),
    click.option("--adapter", metavar="FOLDER", help="LoRA weights on the model (t5, llama)."),
    chat_url_option,
    click.option(
        "--temperature",
        type=float,
        default=0.0,
        show_default=True,
        help="Above 0, t5, llama and chat draw what they write.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="The same seed, the same draw."
    ),
    click.option(
        "--max-passages",
        "--budget",
        "budget",
        type=int,
        default=default_of(TraversalSettings, "budget"),
        show_default=True,
        help="Distinct passages at most: the paper's context budget.",
    ),
    click.option(
        "--seeds",
        type=int,
        help="Paths the traversal starts with (default: 8; of the algorithm paper 10).",
    ),
    click.option(
        "--max-neighbours",
        "--branching",
        "branching",
        type=int,
        help="Neighbours that a path visits: the paper's branching factor (default: 5; of the "
        "algorithm paper 3).",
    ),
    click.option(
        "--max-hops",
        "--hops",
        "hops",
        type=int,
        default=default_of(TraversalSettings, "hops"),
        show_default=True,
        help="Moves from a seed.",
    ),
    click.option(
        "--edges",
        multiple=True,
        type=click.Choice(EDGES),
        help="Edge types to go along; give it once for each (default: all; of the algorithm paper "
        "SHARES_ENTITY).",
    ),
    click.option(
        "--algorithm",
        type=click.Choice(ALGORITHMS),
        default=default_of(TraversalSettings, "algorithm"),
        show_default=True,
        help="How an agent walks: our beam, or Algorithm 1 of KGP's paper to the letter.",
    ),
    click.option(
        "--rerank",
        type=click.Choice(get_args(Rerank)),
        default="none",
        show_default=True,
        help="Who puts the passages found in order: `mdr` an encoder that expects the next passage "
        "(for questions of several steps), `llm` one call of the language model.",
    ),
)


def traversal_options(command: F) -> F:
    """Add the options of a traversal to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def retriever_settings(
    agent: str | None,
    model: str | None,
    adapter: str | None,
    chat_url: str | None,
    temperature: float,
    seed: int,
    budget: int,
    seeds: int | None,
    branching: int | None,
    hops: int,
    edges: tuple[str, ...],
    algorithm: str,
    rerank: Rerank,
) -> dict[str, Any]:
    """Return the settings of a pipeline's retriever, from the options."""
    return {
        "agent": agent,
        "rerank": rerank,
        "settings": traversal_settings(
            algorithm, budget=budget, seeds=seeds, branching=branching, hops=hops, edges=edges
        ),
        "agent_settings": AgentSettings(
            model=model, adapter=adapter, url=chat_url, temperature=temperature, seed=seed
        ),
    }
