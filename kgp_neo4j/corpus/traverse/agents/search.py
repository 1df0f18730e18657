"""Agents without a model: they rank neighbours at random, by the question's words or embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgp_neo4j.corpus.traverse.algorithm import NextEvidenceAgent
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath

__all__ = ["KnnAgent", "RandomAgent", "TfidfAgent"]


class TfidfAgent(NextEvidenceAgent):
    """Ranks neighbours by the question's words; needs no model."""

    name = "tfidf"

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


class KnnAgent(NextEvidenceAgent):
    """Ranks neighbours by their similarity to the question's embedding."""

    name = "knn"

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


class RandomAgent(NextEvidenceAgent):
    """Ranks neighbours at random: the paper's baseline.

    Its seeds are those of the other agents, so that only the choice of neighbours differs. The
    order depends on the seed, the question and the passage alone, so that runs are reproducible.
    """

    name = "random"

    def __init__(self, searcher: TfidfAgent | KnnAgent, seed: int = 0) -> None:
        self._searcher = searcher
        self._seed = seed

    def begin(self, question: str) -> NextEvidence:
        """Return the question, the query of the seed search."""
        return self._searcher.begin(question)

    def next_evidence(
        self,
        question: str,
        paths: Sequence[ReasoningPath],
        passages: Mapping[str, Passage],
    ) -> list[NextEvidence]:
        """Return a random order for every path."""
        return [NextEvidence(draw=f"{self._seed} {question}")] * len(paths)
