"""Multi-hop dense retrieval over all passages of a corpus at once, in memory: a baseline."""

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.load.listing import list_passages
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.models.mdr import load_mdr
from kgp_neo4j.types.corpus import Question, ReasoningPath, Retrieval, Step

_ALL = 10_000_000


class MdrSearch:
    """Rank by the best pair that a passage is in; a `Retriever` (corpus/pipeline.py).

    As many first passages as the budget allows are each followed by the one nearest to the question
    with that passage, and a pair has the sum of both inner products (Xiong et al., ICLR 2021,
    section 2.3).
    """

    name = "mdr"
    encoder: Encoder | None = None

    def __init__(self, database: Database, corpus: str, budget: int) -> None:
        self._budget = budget
        self._mdr = load_mdr()
        self._passages = list_passages(database, corpus, limit=_ALL)
        self._titled = [(p.title, p.text) for p in self._passages]
        self._vectors = self._mdr.encode_passages(self._titled)

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
