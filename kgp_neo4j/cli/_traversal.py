"""The options that `ask` and `retrieve` share: which agent, and how far it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from kgp_neo4j.cli._language import chat_url_option

__all__ = ["retriever_settings", "traversal_options"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--agent",
        type=click.Choice(["learned", "random", "tfidf", "knn", "mdr", "t5", "llama", "chat"]),
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
        "--budget", type=int, default=30, show_default=True, help="Distinct passages at most."
    ),
    click.option(
        "--seeds", type=int, default=8, show_default=True, help="Paths the traversal starts with."
    ),
    click.option(
        "--branching", type=int, default=5, show_default=True, help="Neighbours a path visits."
    ),
    click.option("--hops", type=int, default=2, show_default=True, help="Moves from a seed."),
    click.option(
        "--edges",
        multiple=True,
        type=click.Choice(["SHARES_KEYWORD", "SHARES_ENTITY", "SIMILAR_ST", "SIMILAR_MDR", "NEXT"]),
        help="Edge types to go along; give it once for each (default: all).",
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
    seeds: int,
    branching: int,
    hops: int,
    edges: tuple[str, ...],
) -> dict[str, Any]:
    """Return what a Retriever is made with; imported here, so that `--help` need not."""
    from kgp_neo4j.traverse import AgentSettings, TraversalSettings

    return {
        "agent": agent,
        "settings": TraversalSettings(
            budget=budget, seeds=seeds, branching=branching, hops=hops, edges=edges
        ),
        "agent_settings": AgentSettings(
            model=model, adapter=adapter, url=chat_url, temperature=temperature, seed=seed
        ),
    }
