"""The options that `ask` and `retrieve` share: which agent, and how far it goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

__all__ = ["traversal_options", "traversal_settings"]

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--agent",
        type=click.Choice(["tfidf", "knn"]),
        help="Who chooses the next evidence (default: knn where there are embeddings).",
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
        type=click.Choice(["SHARES_KEYWORD", "SIMILAR_ST", "NEXT"]),
        help="Edge types to go along; give it once for each (default: all).",
    ),
)


def traversal_options(command: F) -> F:
    """Add the options of a traversal to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def traversal_settings(
    budget: int, seeds: int, branching: int, hops: int, edges: tuple[str, ...]
) -> Any:
    """Return TraversalSettings; imported here, so that `--help` need not."""
    from kgp_neo4j.traverse import TraversalSettings

    return TraversalSettings(
        budget=budget, seeds=seeds, branching=branching, hops=hops, edges=edges
    )
