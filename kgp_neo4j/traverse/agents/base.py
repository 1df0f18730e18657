"""What every traversal agent is: something that says which evidence should come next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.records import NextEvidence, Passage, ReasoningPath

__all__ = ["Agent", "AgentSettings"]


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What an agent is made of, beyond its name.

    `model` is a checkpoint's folder or hub name (`mdr`, `t5`, `llama`), or the name of a
    server's model (`chat`); `adapter` a folder of LoRA weights; `url` the chat server's address.
    `temperature` 0 writes the likeliest evidence; above it, `seed` makes runs repeat (also those of
    `random`).
    """

    model: str | None = None
    adapter: str | None = None
    url: str | None = None
    temperature: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.temperature <= 2.0:
            raise ConfigurationError(
                f"temperature is {self.temperature}", hint="Choose a number from 0 to 2."
            )
        if not 0 <= self.seed < 2**31:
            raise ConfigurationError(
                f"seed is {self.seed}", hint="Choose a number from 0 to 2147483647."
            )


class Agent(Protocol):
    """Says, for every path of the beam at once, what evidence should come next.

    Neighbours are then ranked in the database against it: by words where only `text` is given, by
    cosine similarity where `vector` is. An agent that reads the passages it has visited (a
    generating one) sets `reads_passages`; otherwise their text is never fetched.
    """

    name: str
    reads_passages: bool

    def begin(self, question: str) -> NextEvidence:
        """Return what the seeds are searched with, before anything was visited."""

    def next_evidence(
        self,
        question: str,
        paths: Sequence[ReasoningPath],
        passages: Mapping[str, Passage],
    ) -> list[NextEvidence]:
        """Return one expectation for each path; `passages` is empty unless `reads_passages`."""
