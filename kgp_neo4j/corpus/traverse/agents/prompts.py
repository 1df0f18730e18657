"""The prompts of the generating agents, the same in training and in use.

They have the question and the evidence so far, and ask for the next evidence (KGP, Eq. 1). Where
the evidence is too long for the model, its oldest sentences are left out; the question is not cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.text.words import title_words, words
from kgp_neo4j.types.errors import ModelError

__all__ = [
    "TASK",
    "Prompt",
    "alpaca_prompt",
    "chat_prompt",
    "fitted",
    "seq2seq_prompt",
    "titled_line",
]

#: Makes a prompt of a question and the evidence so far.
Prompt = Callable[[str, Sequence[str]], str]

#: What a model is to do: the system message of a chat, the instruction of other prompts.
TASK = (
    "Read the question and the evidence found so far. Write the one piece of evidence that is "
    "needed next to come closer to the answer, as a sentence or two that could stand in an "
    "encyclopedia. Do not answer the question."
)


def titled_line(title: str, text: str) -> str:
    """Return a passage or a fact on one line, after its title unless the text has it."""
    line = " ".join(text.split())
    text_words = f" {' '.join(words(line)).lower()} "
    named = any(f" {' '.join(form).lower()} " in text_words for form in title_words(title))
    return line if named or not title.strip() else f"{' '.join(title.split())}: {line}"


def seq2seq_prompt(question: str, evidence: Sequence[str]) -> str:
    """Return the prompt of a seq2seq model (T5)."""
    known = " ".join(evidence) or "none"
    return f"Name the evidence needed next. Question: {_line(question)} Evidence: {known}"


def alpaca_prompt(question: str, evidence: Sequence[str]) -> str:
    """Return the prompt of a causal model (LLaMA) in Alpaca's format: instruction, input, response.

    No line of the question or the evidence can be mistaken for a heading, as each begins with a
    label or a number.
    """
    return (
        f"### Instruction:\n{TASK}\n\n### Input:\n{chat_prompt(question, evidence)}\n\n"
        "### Response:\n"
    )


def chat_prompt(question: str, evidence: Sequence[str]) -> str:
    """Return the question and the numbered evidence; the task is in the system message."""
    lines = [f"{number}. {text}" for number, text in enumerate(evidence, 1)] or ["none"]
    return "\n".join([f"Question: {_line(question)}", "Evidence:", *lines])


def fitted(
    prompt: Prompt, question: str, evidence: Sequence[str], length: Callable[[str], int], limit: int
) -> str:
    """Return the prompt with as much of the latest evidence as fits; `length` is at most `limit`.

    Whole sentences are left out, the oldest first. Raises ModelError where the question alone is
    too long.
    """
    text = prompt(question, evidence)
    if length(text) <= limit:
        return text
    units = [
        (place, passage[start:end].strip())
        for place, passage in enumerate(evidence)
        for start, end in sentences(passage)
    ]
    for first in range(1, len(units) + 1):
        by_place: dict[int, list[str]] = {}
        for place, sentence in units[first:]:
            by_place.setdefault(place, []).append(sentence)
        text = prompt(question, [" ".join(texts) for texts in by_place.values()])
        if length(text) <= limit:
            return text
    raise ModelError(
        f"the question has {length(text)} tokens with its instruction; the model reads {limit}",
        hint="Ask a shorter question.",
    )


def _line(text: str) -> str:
    return " ".join(text.split())
