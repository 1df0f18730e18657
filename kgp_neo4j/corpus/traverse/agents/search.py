"""Agents that write no text: neighbours ranked by the question, the MDR encoder, or at random."""

from collections.abc import Mapping, Sequence

from kgp_neo4j.corpus.traverse.algorithm import NextEvidenceAgent
from kgp_neo4j.models.encoder import Encoder, load_mdr
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath


class TfidfAgent(NextEvidenceAgent):
    """Ranks by the question's words, without a model; with an encoder by its vector, too."""

    name = "tfidf"

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder

    def begin(self, question: str) -> NextEvidence:
        """Return the question, and its vector where there is an encoder."""
        return self.evidence_of([question])[0]

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return the question for every path."""
        return [self.begin(question)] * len(paths)

    def evidence_of(self, texts: Sequence[str]) -> list[NextEvidence]:
        """Return texts as evidence, with their vectors where there is an encoder."""
        if self._encoder is None:
            return [NextEvidence(text=text) for text in texts]
        vectors = self._encoder.encode(texts).tolist()
        return [NextEvidence(text, vector) for text, vector in zip(texts, vectors, strict=True)]


class KnnAgent(TfidfAgent):
    """Ranks neighbours by their similarity to the question's embedding."""

    name = "knn"


class RandomAgent(TfidfAgent):
    """Ranks neighbours at random: the paper's baseline.

    Its seeds are the others'. The order depends on seed, question and passage alone: runs repeat.
    """

    name = "random"

    def __init__(self, encoder: Encoder | None, seed: int = 0) -> None:
        super().__init__(encoder)
        self._seed = seed

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return a random order for every path."""
        return [NextEvidence(draw=f"{self._seed} {question}")] * len(paths)


class MdrAgent(TfidfAgent):
    """Predicts the next passage with the MDR encoder, from the question and the path so far.

    The query vector of each path is compared with the neighbours' MDR embeddings (KGP, Table 2;
    Xiong et al., ICLR 2021). Its seeds are those of the other agents.
    """

    name = "mdr"
    reads_passages = True

    def __init__(self, encoder: Encoder | None) -> None:
        super().__init__(encoder)
        self._mdr = load_mdr()

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return the query vector of every path; all are encoded in one batch."""
        queries = []
        for path in paths:
            visited = [passages[s.passage] for s in path.steps if s.passage in passages]
            queries.append((question, [(passage.heading, passage.text) for passage in visited]))
        vectors = self._mdr.encode_queries(queries).tolist()
        return [NextEvidence(question, vector, space="mdr") for vector in vectors]
