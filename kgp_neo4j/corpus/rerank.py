"""Order what a retriever found by one call of a language model over all of it.

Listwise reranking (Sun et al., EMNLP 2023, section 3.2): the model sees the numbered passages
together, so that it can tell which of them lead to one another, and writes the numbers of those
that the question needs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import regex

from kgp_neo4j.corpus.answer.prompt import TASK, TOKENS, passage_block, selection_prompt
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.llm.call import reply_with_passages
from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.corpus import Passage, Question, Retrieval
from kgp_neo4j.types.language import LanguageModel

__all__ = ["Reranked"]

_NONE = "The language model selected no passage; they stay in the order of the retrieval."
_NUMBER = regex.compile(r"(?<![\p{L}\p{N}])\d{1,4}(?![\p{L}\p{N}])")


class Reranked:
    """A retriever whose passages a language model puts in order; one call for each question."""

    def __init__(self, retriever: PassageRetriever, model: LanguageModel) -> None:
        self._retriever = retriever
        self._model = model

    @property
    def name(self) -> str:
        """Return the name of the retriever below."""
        return self._retriever.name

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the passages, None where there is none."""
        return self._retriever.encoder

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages that the model selects, in its order, then the others in theirs.

        Where the reply selects none, the order stays and a note says so. `seconds` includes the
        model's call. Raises ModelError where the model cannot be used at all.
        """
        found = self._retriever.retrieve(question)
        if len(found.passages) < 2:
            return found
        began = time.perf_counter()
        selected = self._select(question.text, found.passages)
        order = [*selected, *(at for at in range(len(found.passages)) if at not in selected)]
        return replace(
            found,
            passages=tuple(found.passages[at] for at in order),
            paths=tuple(found.paths[at] for at in order),
            seconds=found.seconds + time.perf_counter() - began,
            settings={**found.settings, "rerank": "llm"},
            notes=found.notes if selected else (*found.notes, _NONE),
        )

    def _select(self, question: str, passages: Sequence[Passage]) -> list[int]:
        """Return the places of the passages that the model selects, the most useful first."""
        reply, kept = reply_with_passages(
            self._model,
            TASK,
            lambda blocks: selection_prompt(question, blocks),
            [passage_block(number, passage) for number, passage in enumerate(passages, 1)],
            tokens=TOKENS["selection"],
        )
        if reply.finish in ("refused", "empty"):
            return []
        numbers = map(int, _NUMBER.findall(without_reasoning(reply.text)))
        return list(dict.fromkeys(n - 1 for n in numbers if 1 <= n <= kept))
