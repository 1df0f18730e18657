"""Put what a retriever returns in another order: by a language model, or by an MDR encoder.

The model sees all numbered passages together, and writes the numbers of those that the question
needs: listwise reranking (Sun et al., EMNLP 2023, section 3.2). The encoder says which passages
come next after the question and each of the first ones: multi-hop dense retrieval (Xiong et al.,
ICLR 2021, section 3) among the passages.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import regex

from kgp_neo4j.corpus.answer.prompt import TASK, TOKENS, passage_block, selection_prompt
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.call import reply_with_passages
from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.models.encoder import load_mdr
from kgp_neo4j.types.corpus import Passage, Question, Rerank, Retrieval
from kgp_neo4j.types.language import LanguageModel

_Choose = Callable[[str, Sequence[Passage]], Sequence[int]]
_NONE = "The language model selected no passage; they stay in the order of the retrieval."
#: Passages that an MDR encoder puts in order, those of them that the next one is expected after,
#: and the exponent of its rank beside the retriever's; R@5 is about the same for 30 passages, for 3
#: to 8 of them, and for 0.2 to 0.5.
_JUDGED, _BEFORE, _SHARE = 20, 2, 0.3
_NUMBER = regex.compile(r"(?<![\p{L}\p{N}])\d{1,4}(?![\p{L}\p{N}])")


class Reranked(PassageRetriever):
    """A retriever whose passages are put in order: `choose`, named `by`, gives the first places."""

    def __init__(self, by: Rerank, choose: _Choose, *corpus: Any, **options: Any) -> None:
        super().__init__(*corpus, **options)
        self.by = by
        self.choose = choose

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages that are chosen, in their order, then the others in theirs.

        Where none is chosen, the order stays and a note says so. `seconds` includes the choice.
        Raises ModelError where a language model cannot be used at all.
        """
        retrieval = super().retrieve(question)
        passages, paths = retrieval.passages, retrieval.paths
        if len(passages) < 2:
            return retrieval
        began = time.perf_counter()
        first = self.choose(question.text, passages)
        order = list(dict.fromkeys((*first, *range(len(passages)))))
        return replace(
            retrieval,
            passages=tuple(passages[at] for at in order),
            paths=tuple(paths[at] for at in order),
            seconds=retrieval.seconds + time.perf_counter() - began,
            settings={**retrieval.settings, "rerank": self.by},
            notes=retrieval.notes if first else (*retrieval.notes, _NONE),
        )


def select(model: LanguageModel, question: str, passages: Sequence[Passage]) -> list[int]:
    """Return the places of the passages that a model selects, the most useful first."""
    reply, shown = reply_with_passages(
        model,
        TASK,
        lambda blocks: selection_prompt(question, blocks),
        [passage_block(number, passage) for number, passage in enumerate(passages, 1)],
        tokens=TOKENS["selection"],
    )
    if reply.finish in ("refused", "empty"):
        return []
    numbers = map(int, _NUMBER.findall(without_reasoning(reply.text)))
    return list(dict.fromkeys(n - 1 for n in numbers if 1 <= n <= shown))


def rank_by_mdr(
    database: Database, corpus: str, question: str, passages: Sequence[Passage]
) -> list[int]:
    """Return the places of the first passages, ordered by the MDR encoder's ranks too.

    A passage's likeness is the greatest to the question with one of the first passages before it;
    its place is by (1 + rank) * (1 + rank by likeness) ** 0.3. Vectors of this encoder that the
    corpus has are read.
    """
    stored = database.read("inspect/encoder", corpus=corpus, graph="mdr")
    encoder = load_mdr()
    texts = {passage.id: (passage.title, passage.text) for passage in passages[:_JUDGED]}
    vectors: dict[str, Sequence[float]] = {}
    if stored and stored[0]["fingerprint"] == encoder.fingerprint:
        rows = database.read_packed("traverse/mdr_vectors", ids=list(texts))
        vectors = {row["id"]: row["vector"] for row in rows}
    new = [passage for passage in texts if passage not in vectors]
    encoded = encoder.encode_passages([texts[passage] for passage in new])
    vectors |= dict(zip(new, encoded, strict=True))
    matrix = np.array([vectors[passage] for passage in texts], np.float32)
    first = list(texts.values())[:_BEFORE]
    likeness = encoder.encode_queries([(question, [text]) for text in first]) @ matrix.T
    np.fill_diagonal(likeness, -1.0)  # no passage comes after itself
    rank = np.argsort(np.argsort(-likeness.max(axis=0), kind="stable"))
    place = np.log1p(np.arange(len(texts))) + _SHARE * np.log1p(rank)
    return [int(at) for at in np.argsort(place, kind="stable")]
