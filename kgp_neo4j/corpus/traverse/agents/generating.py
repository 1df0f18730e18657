"""Agents that generate the next evidence, to rank neighbours by it (KGP, Eq. 1).

Their prompts, in training and in use, have the question and the latest evidence that fits.
"""

import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter

from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.traverse.agents.search import TfidfAgent
from kgp_neo4j.environment.configuration import language_settings
from kgp_neo4j.llm.chat import open_language_model, replies, without_reasoning
from kgp_neo4j.llm.generators import load_generator
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.words import title_words, words
from kgp_neo4j.types.corpus import NextEvidence, Passage, ReasoningPath
from kgp_neo4j.types.errors import ConfigurationError, ModelError
from kgp_neo4j.types.settings import AgentSettings

#: Makes a prompt of a question and the evidence so far.
Prompt = Callable[[str, Sequence[str]], str]
#: What a model is to do: the system message of a chat, the instruction of other prompts.
_TASK = (
    "Read the question and the evidence found so far. Write the one piece of evidence that is "
    "needed next to come closer to the answer, as a sentence or two that could stand in an "
    "encyclopedia. Do not answer the question."
)


class GeneratingAgent(TfidfAgent):
    """Generates the next evidence of all paths in one batch; without an encoder its words count."""

    reads_passages = True
    writes_text = True

    @abstractmethod
    def write(self, question: str, evidence: Sequence[Sequence[str]]) -> list[str]:
        """Return the next evidence after each list of evidence; empty where there is none."""

    def next_evidence(
        self, question: str, paths: Sequence[ReasoningPath], passages: Mapping[str, Passage]
    ) -> list[NextEvidence]:
        """Return the generated evidence for each path, the question where there is none."""
        known = []
        for path in paths:
            visited = [passages[s.passage] for s in path.steps if s.passage in passages]
            known.append(tuple(titled_line(p.title, p.text) for p in visited))
        different = list(dict.fromkeys(known))
        texts = [readable(text) for text in self.write(question, different)]
        evidence = iter(self.evidence_of([text for text in texts if text]))
        pairs = zip(different, texts, strict=True)
        written = {e: next(evidence) if text else self.begin(question) for e, text in pairs}
        return [written[each] for each in known]


class LlamaAgent(GeneratingAgent):
    """Writes with a causal checkpoint, as LLaMA, with the adapters of `kgp-neo4j train llama`."""

    name = "llama"

    def __init__(self, settings: AgentSettings, encoder: Encoder | None) -> None:
        super().__init__(encoder)
        if settings.model is None:
            raise ConfigurationError(
                "the agent llama needs a model",
                hint="Give --model: the folder that `kgp-neo4j train llama` made, or any causal "
                "checkpoint.",
            )
        self._settings = settings
        self._model = load_generator(settings.model)

    def write(self, question: str, evidence: Sequence[Sequence[str]]) -> list[str]:
        """Return the model's continuation of each prompt, in one batch."""
        model, settings = self._model, self._settings
        prompts = [fitted(alpaca_prompt, question, e, model.length, model.limit) for e in evidence]
        return model.generate(prompts, temperature=settings.temperature, seed=settings.seed)


def readable(text: str) -> str:
    """Return a model's text on one line, without its reasoning, up to the next heading."""
    # Models that were not tuned to this task may continue with an instruction of their own.
    return " ".join(without_reasoning(text).split("###")[0].split())


#: About 4,000 tokens: half of what any model reads today.
_CHARACTERS = 16_000
_log = logging.getLogger("kgp_neo4j")


class ChatAgent(GeneratingAgent):
    """Generates with the model named, else the configured one (`open_language_model`).

    Where a reply is refused or empty, the question is used in its place, with a warning; raises
    ModelError where the server cannot be used.
    """

    name = "chat"

    def __init__(self, settings: AgentSettings, encoder: Encoder | None) -> None:
        super().__init__(encoder)
        model = open_language_model(language_settings(**asdict(settings)))
        if model is None:
            hint = "Give --model, as the chat server calls it."
            raise ConfigurationError("the agent chat needs the name of a model", hint=hint)
        self._model = model

    def write(self, question: str, evidence: Sequence[Sequence[str]]) -> list[str]:
        """Return the model's reply for each list of evidence; empty where it gave none."""
        prompts = [fitted(chat_prompt, question, e, len, _CHARACTERS) for e in evidence]
        written = [readable(reply.text) for reply in replies(self._model, _TASK, prompts)]
        if lost := sum(not text for text in written):
            _log.warning(
                f"Warning: the model {self._model.name} gave no evidence for {lost} of "
                f"{len(written)} paths (an empty or refused reply); the question stands in for it."
            )
        return written


def titled_line(title: str, text: str) -> str:
    """Return a passage or a fact on one line, after its title unless the text has it."""
    line = " ".join(text.split())
    text_words = f" {' '.join(words(line)).lower()} "
    named = any(f" {' '.join(form).lower()} " in text_words for form in title_words(title))
    return line if named or not title.strip() else f"{' '.join(title.split())}: {line}"


def alpaca_prompt(question: str, evidence: Sequence[str]) -> str:
    """Return the prompt of the paper's LLaMA in Alpaca's format: instruction, input, response.

    No line of question or evidence passes for a heading: each begins with a label or a number.
    """
    asked = chat_prompt(question, evidence)
    return f"### Instruction:\n{_TASK}\n\n### Input:\n{asked}\n\n### Response:\n"


def chat_prompt(question: str, evidence: Sequence[str]) -> str:
    """Return the question and the numbered evidence; the task is in the system message."""
    lines = [f"{number}. {text}" for number, text in enumerate(evidence, 1)] or ["none"]
    return "\n".join([f"Question: {' '.join(question.split())}", "Evidence:", *lines])


def fitted(
    prompt: Prompt, question: str, evidence: Sequence[str], length: Callable[[str], int], limit: int
) -> str:
    """Return the prompt with the latest sentences of evidence that fit; ModelError if none does."""
    text = prompt(question, evidence)
    if length(text) <= limit:
        return text
    units = [
        (place, passage[start:end].strip())
        for place, passage in enumerate(evidence)
        for start, end in sentences(passage)
    ]
    for first in range(1, len(units) + 1):
        groups = groupby(units[first:], key=itemgetter(0))
        text = prompt(question, [" ".join(sentence for _, sentence in own) for _, own in groups])
        if length(text) <= limit:
            return text
    what = f"the question has {length(text)} tokens with its instruction; the model reads {limit}"
    raise ModelError(what, hint="Ask a shorter question.")
