"""The agent of multi-hop dense retrieval: predicts the next passage from those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kgp_neo4j.corpus.traverse.agents.search import KnnAgent, TfidfAgent
from kgp_neo4j.corpus.traverse.algorithm import NextEvidenceAgent
from kgp_neo4j.models.mdr import MdrEncoder
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath

__all__ = ["MdrAgent"]


class MdrAgent(NextEvidenceAgent):
    """Predicts the next passage with an MDR encoder, from the question and the path so far.

    The query vector of each path is compared with the neighbours' MDR embeddings (KGP, Table 2;
    Xiong et al., ICLR 2021). Its seeds are those of the other agents.
    """

    name = "mdr"
    reads_passages = True

    def __init__(self, searcher: TfidfAgent | KnnAgent, mdr: MdrEncoder) -> None:
        self._searcher = searcher
        self._mdr = mdr

    def begin(self, question: str) -> NextEvidence:
        """Return the question, the query of the seed search."""
        return self._searcher.begin(question)

    def next_evidence(
        self,
        question: str,
        paths: Sequence[ReasoningPath],
        passages: Mapping[str, Passage],
    ) -> list[NextEvidence]:
        """Return the query vector of every path; all are encoded in one batch."""
        queries = [
            (
                question,
                [
                    (passages[step.passage].heading, passages[step.passage].text)
                    for step in path.steps
                    if step.passage in passages  # deleted since it was found
                ],
            )
            for path in paths
        ]
        vectors = self._mdr.encode_queries(queries)
        return [
            NextEvidence(text=question, vector=vector.tolist(), space="mdr") for vector in vectors
        ]
