"""Baselines that search all passages of a corpus at once, in memory: TF-IDF, DPR, MDR."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.load.listing import list_passages
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr import DEFAULT_MDR, load_mdr, passage_text
from kgp_neo4j.types.corpus import Question, ReasoningPath, Retrieval, Step
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["BiEncoderSearch", "MdrSearch", "TfidfSearch"]

_ALL = 10_000_000


class _Search:
    """Rank every passage of a corpus by `scores`; a `Retriever` (corpus/pipeline.py)."""

    name: str
    encoder: Encoder | None = None

    def __init__(self, database: Database, corpus: str, budget: int) -> None:
        self._passages = list_passages(database, corpus, limit=_ALL)
        self._texts = [passage_text(p.title, p.text) for p in self._passages]
        self._budget = budget

    @abstractmethod
    def scores(self, question: str) -> NDArray[np.float32]:
        """Return a score for each passage, the best ones the highest."""

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages with the highest scores above 0, best first, within the budget."""
        began = time.perf_counter()
        scores = self.scores(question.text)
        order = [at for at in np.argsort(-scores, kind="stable")[: self._budget] if scores[at] > 0]
        passages = [replace(self._passages[at], score=float(scores[at])) for at in order]
        steps = [Step(p.id, "seed", p.score, reason=self.name) for p in passages]
        return Retrieval(
            question,
            tuple(passages),
            tuple(ReasoningPath((step,)) for step in steps),
            seconds=time.perf_counter() - began,
            settings={"method": self.name, "budget": self._budget},
        )


class TfidfSearch(_Search):
    """Rank by the cosine of TF-IDF vectors (scikit-learn's, without English stop words)."""

    name = "tfidf"

    def __init__(self, database: Database, corpus: str, budget: int) -> None:
        super().__init__(database, corpus, budget)
        with needs("train", "the method tfidf"):
            from sklearn.feature_extraction.text import TfidfVectorizer
        self._vectorizer = TfidfVectorizer(stop_words="english", dtype=np.float32)
        self._vectors = self._vectorizer.fit_transform(self._texts)

    def scores(self, question: str) -> NDArray[np.float32]:
        """Return the cosine of each passage with the question."""
        products = self._vectors @ self._vectorizer.transform([question]).T
        return np.asarray(products.toarray()[:, 0], dtype=np.float32)


class BiEncoderSearch(_Search):
    """Rank by the inner product of two encoders, one of questions, one of passages (DPR).

    `encoders` are their names or folders, with a comma between them; one name serves both. Raises
    EncoderError where one cannot be loaded.
    """

    name = "dpr"

    def __init__(self, database: Database, corpus: str, budget: int, encoders: str) -> None:
        super().__init__(database, corpus, budget)
        names = [name.strip() for name in encoders.split(",") if name.strip()]
        if len(names) not in (1, 2):
            raise ConfigurationError(
                f"{encoders!r} names no pair of encoders",
                hint="Name them: --agent-model dpr=QUESTIONS,PASSAGES.",
            )
        self._questions = load_encoder(names[0])
        self._vectors = load_encoder(names[-1]).encode(self._texts)

    def scores(self, question: str) -> NDArray[np.float32]:
        """Return the inner product of each passage with the question."""
        return np.asarray(self._vectors @ self._questions.encode([question])[0], dtype=np.float32)


class MdrSearch(_Search):
    """Rank by the best pair that a passage is in: multi-hop dense retrieval, without a graph.

    As many first passages as the budget allows are each followed by the one nearest to the question
    with that passage, and a pair has the sum of both inner products (Xiong et al., ICLR 2021,
    section 2.3). `folder` is what `kgp-neo4j train mdr` wrote, or the one that comes
    along; raises EncoderError for others.
    """

    name = "mdr"

    def __init__(
        self, database: Database, corpus: str, budget: int, folder: str = DEFAULT_MDR
    ) -> None:
        super().__init__(database, corpus, budget)
        self._mdr = load_mdr(folder)
        self._titled = [(p.title, p.text) for p in self._passages]
        self._vectors = self._mdr.encode_passages(self._titled)

    def scores(self, question: str) -> NDArray[np.float32]:
        """Return for each passage the score of the best pair that it is in."""
        first = self._vectors @ self._mdr.encode_queries([(question, [])])[0]
        begun = np.argsort(-first, kind="stable")[: self._budget]
        queries = self._mdr.encode_queries([(question, [self._titled[at]]) for at in begun])
        pairs = first[begun, None] + queries @ self._vectors.T
        pairs[np.arange(len(begun)), begun] = first[begun]  # a passage does not follow itself
        best = pairs.max(axis=0)
        # The first of a pair comes before the second.
        best[begun] = np.maximum(best[begun], np.nextafter(pairs.max(axis=1), np.float32(np.inf)))
        return np.asarray(best, dtype=np.float32)
