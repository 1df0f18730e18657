"""Traversal agents: what evidence should come next on a reasoning path (KGP, Eq. 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.models import Encoder
from kgp_neo4j.records import NextEvidence, Passage, ReasoningPath

__all__ = ["AGENTS", "Agent", "KnnAgent", "TfidfAgent", "make_agent"]


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


class TfidfAgent:
    """Expects what shares the question's words; needs no model at all."""

    name = "tfidf"
    reads_passages = False

    def begin(self, question: str) -> NextEvidence:
        """Return the question's words."""
        return NextEvidence(text=question)

    def next_evidence(
        self,
        question: str,
        paths: Sequence[ReasoningPath],
        passages: Mapping[str, Passage],
    ) -> list[NextEvidence]:
        """Return the question's words for every path."""
        return [NextEvidence(text=question)] * len(paths)


class KnnAgent:
    """Expects what means nearly the same as the question, by its embedding."""

    name = "knn"
    reads_passages = False

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._last: tuple[str, NextEvidence] | None = None

    def begin(self, question: str) -> NextEvidence:
        """Return the question and its vector (encoded once a question)."""
        if self._last is None or self._last[0] != question:
            vector = [float(x) for x in self._encoder.encode([question])[0]]
            self._last = (question, NextEvidence(text=question, vector=vector))
        return self._last[1]

    def next_evidence(
        self,
        question: str,
        paths: Sequence[ReasoningPath],
        passages: Mapping[str, Passage],
    ) -> list[NextEvidence]:
        """Return the question's vector for every path."""
        return [self.begin(question)] * len(paths)


#: The names `--agent` takes.
AGENTS = ("tfidf", "knn")


def make_agent(name: str, encoder: Encoder | None) -> Agent:
    """Return the agent of that name; `knn` needs the corpus's encoder."""
    if name == "tfidf":
        return TfidfAgent()
    if name == "knn" and encoder is not None:
        return KnnAgent(encoder)
    if name == "knn":
        raise ConfigurationError(
            "the agent knn needs a corpus with embeddings",
            hint="Run `kgp-neo4j connect` with similarity edges, or use --agent tfidf.",
        )
    raise ConfigurationError(
        f"there is no agent named {name!r}", hint=f"Choose one of {', '.join(AGENTS)}."
    )
