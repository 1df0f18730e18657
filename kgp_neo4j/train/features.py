"""Turns training pairs into tokens, by the same prompts that the agents use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgp_neo4j.models.generators import Kind
from kgp_neo4j.progress import bar
from kgp_neo4j.train.examples import TrainingPair
from kgp_neo4j.traverse.agents.prompts import alpaca_prompt, fitted, seq2seq_prompt, stated

__all__ = ["Feature", "features"]

#: `input_ids`, `attention_mask` and `labels` of one pair; labels of -100 are not learnt.
Feature = dict[str, list[int]]
_NOT_LEARNT = -100


def features(
    kind: Kind, tokenizer: Any, pairs: Sequence[TrainingPair], input_limit: int, output_limit: int
) -> list[Feature]:
    """Return each pair as tokens: what is read, and the fact that is to be written.

    The passages found so far stand there whole, as the agents meet them in a corpus; what is to be
    written is the supporting sentences alone. Raises ModelError for a question that is too long.
    """
    prompt = seq2seq_prompt if kind == "seq2seq" else alpaca_prompt

    def length(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    made: list[Feature] = []
    with bar("tokens", len(pairs), "pairs") as progress:
        for pair in pairs:
            found = [stated(fact.title, fact.passage_text) for fact in pair.found]
            text = fitted(prompt, pair.question, found, length, input_limit)
            read = tokenizer(text)["input_ids"]
            written = _ended(tokenizer, stated(pair.expected.title, pair.expected.text))
            written = written[:output_limit]
            if kind == "causal":
                labels = [_NOT_LEARNT] * len(read) + written
                read = read + written
            else:
                labels = written
            made.append({"input_ids": read, "attention_mask": [1] * len(read), "labels": labels})
            progress.update()
    return made


def _ended(tokenizer: Any, text: str) -> list[int]:
    """Return a text's tokens with the one that ends it, so that the model learns to stop."""
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [*ids, tokenizer.eos_token_id]
