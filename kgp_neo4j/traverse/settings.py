"""How far a traversal goes, and along which edges."""

from __future__ import annotations

from dataclasses import dataclass

from kgp_neo4j.errors import ConfigurationError

__all__ = ["EDGES", "TraversalSettings"]

#: The relationship types a traversal may go along.
EDGES = ("SHARES_KEYWORD", "SHARES_ENTITY", "SIMILAR_ST", "SIMILAR_MDR", "NEXT")


@dataclass(frozen=True, slots=True)
class TraversalSettings:
    """How far a traversal goes.

    `budget` is the context budget in distinct passages, `seeds` the number of paths it starts with,
    `branching` how many neighbours one path visits, `hops` how often the beam moves on; `edges`
    restricts the edge types (all when empty). `outward` and `inward` are the shares of its
    match that a passage hands on over an edge that names a title, in its direction and against it;
    `named` is what a seed gains when the question names its title.
    """

    budget: int = 30
    seeds: int = 8
    branching: int = 5
    hops: int = 2
    edges: tuple[str, ...] = ()
    outward: float = 0.4
    inward: float = 0.2
    named: float = 0.3

    def __post_init__(self) -> None:
        for name, low, high in (
            ("budget", 1, 1000),
            ("seeds", 1, 1000),
            ("branching", 1, 100),
            ("hops", 0, 10),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigurationError(
                    f"{name} is {value}", hint=f"Choose a number from {low} to {high}."
                )
        unknown = sorted(set(self.edges) - set(EDGES))
        if unknown:
            raise ConfigurationError(
                f"there is no edge type {', '.join(unknown)}",
                hint=f"Choose among {', '.join(EDGES)}.",
            )
