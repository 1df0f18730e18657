"""IRCoT: retrieval and reasoning in turns, the baseline that KGP is compared with.

Trivedi et al. (ACL 2023, section 3): the question fetches passages; the model writes the next
sentence of its reasoning from them; that sentence fetches more; and so on until it says "the answer
is" or the turns are used up. The passages gathered are then answered from by the same prompt as
every other method's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

import regex

from kgp_neo4j.answer.prompting import TASK, neutral, passage_block, thought_prompt
from kgp_neo4j.answer.prompting.prompt import TOKENS
from kgp_neo4j.answer.prompting.reply import without_citations
from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.evidence import METHODS, Retriever
from kgp_neo4j.language import LanguageModel
from kgp_neo4j.load import sentences
from kgp_neo4j.load.ids import is_storable
from kgp_neo4j.models.language import reply_with_passages
from kgp_neo4j.models.written import without_reasoning
from kgp_neo4j.records import Passage, Question, ReasoningPath, Retrieval

__all__ = ["ASK_METHODS", "Ircot", "Thought", "counting", "with_method"]

R = TypeVar("R")

#: How the passages of an answer can be found; `ask --method` takes these.
ASK_METHODS = (*METHODS, "ircot")

_ANSWERS = regex.compile(r"\b(?:the|final)\s+answer\s+is\b|答案是", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Thought:
    """One sentence of the reasoning, and how many passages it fetched that were not there yet."""

    text: str
    new: int


def with_method(
    make: Callable[[str], Retriever], method: str, model: LanguageModel | None
) -> Retriever | Ircot:
    """Return what retrieves by a method; `make` makes the Retriever of one of `METHODS`.

    IRCoT retrieves by full text in each of its turns, as in its paper. Raises ConfigurationError
    where it has no language model.
    """
    if method != "ircot":
        return make(method)
    if model is None:
        raise ConfigurationError(
            "IRCoT reasons with a language model, and none is named",
            hint="Name one (--llm NAME), or choose another method.",
        )
    return Ircot(make("bm25"), model)


def counting(retriever: R, model: LanguageModel, metered: LanguageModel) -> R:
    """Return a retriever that thinks by `metered` where it thinks by `model`, so that it counts."""
    if isinstance(retriever, Ircot) and retriever.model is model:
        counted = copy(retriever)
        counted.model = metered
        return counted
    return retriever


@dataclass(frozen=True, slots=True)
class _Name:
    name: str = "ircot"


class Ircot:
    """Retrieves by reasoning; takes the place of a `Retriever`, over which it works.

    At most `turns` calls of the model, and `each` passages for every query; the budget in distinct
    passages is the retriever's, as for every method. `thoughts` are those of the last question.
    """

    method = "ircot"

    def __init__(
        self, retriever: Retriever, model: LanguageModel, *, turns: int = 4, each: int = 6
    ) -> None:
        for name, value, most in (("turns", turns, 20), ("each", each, 100)):
            if not 1 <= value <= most:
                raise ConfigurationError(
                    f"{name} is {value}", hint=f"Choose a number from 1 to {most}."
                )
        self._retriever = retriever
        self.model = model
        self._turns, self._each = turns, each
        self.corpus = retriever.corpus
        self.settings = retriever.settings
        self.encoder = retriever.encoder
        self.unconnected = retriever.unconnected
        self.agent = _Name()
        self.thoughts: tuple[Thought, ...] = ()

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages that question and thoughts fetched, in that order, with their paths.

        A path's first step says which thought fetched it. `seconds` holds the model's calls too.
        Raises ModelError where the model cannot be used at all.
        """
        began = time.perf_counter()
        found: dict[str, tuple[Passage, ReasoningPath]] = {}
        self._fetch(question.text, "", found)
        thoughts: list[Thought] = []
        for turn in range(1, self._turns + 1):
            if not found:
                break
            said = self._think(question.text, found, [thought.text for thought in thoughts])
            if not said or said in {thought.text for thought in thoughts}:
                break
            done = bool(_ANSWERS.search(said))
            new = 0 if done else self._fetch(said, f"thought {turn}", found)
            thoughts.append(Thought(said, new))
            if done or len(found) >= self.settings.budget:
                break
        self.thoughts = tuple(thoughts)
        return Retrieval(
            question=question,
            passages=tuple(passage for passage, _ in found.values()),
            paths=tuple(path for _, path in found.values()),
            seconds=time.perf_counter() - began,
        )

    def _fetch(
        self, query: str, reason: str, found: dict[str, tuple[Passage, ReasoningPath]]
    ) -> int:
        """Add the best passages for a query that are not there yet; return how many."""
        retrieval = self._retriever.retrieve(Question("", query))
        before = len(found)
        for passage, path in zip(retrieval.passages, retrieval.paths, strict=True):
            if len(found) - before == self._each or len(found) >= self.settings.budget:
                break
            if reason:
                first = path.steps[0]
                told = replace(first, reason=f"{reason}: {first.reason}".rstrip(": "))
                path = ReasoningPath((told, *path.steps[1:]))
            found.setdefault(passage.id, (passage, path))
        return len(found) - before

    def _think(
        self, question: str, found: dict[str, tuple[Passage, ReasoningPath]], thoughts: list[str]
    ) -> str:
        """Return the next sentence of the reasoning; empty where the model has none."""
        blocks = [passage_block(n, passage) for n, (passage, _) in enumerate(found.values(), 1)]
        reply, _ = reply_with_passages(
            self.model,
            TASK,
            lambda texts: thought_prompt(question, texts, thoughts),
            blocks,
            tokens=TOKENS["thought"],
        )
        said = without_citations(neutral(without_reasoning(reply.text)))
        lines = [line.strip(" -*>\t") for line in said.splitlines() if line.strip(" -*>\t")]
        if not lines or reply.finish in ("refused", "empty") or not is_storable(lines[0]):
            return ""
        # A model may write on; the next sentence has to see what this one fetches.
        start, end = sentences(lines[0])[0]
        return lines[0][start:end].strip()
