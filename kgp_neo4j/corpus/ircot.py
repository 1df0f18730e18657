"""IRCoT: retrieval and reasoning in turns, the baseline that KGP is compared with.

Trivedi et al. (ACL 2023, section 3): the question retrieves passages; from them the model writes
the next sentence of its reasoning; that sentence retrieves more; and so on until the model writes
"the answer is" or the turns are used up.
"""

import time
from dataclasses import asdict, dataclass, replace
from typing import ClassVar, TypeAlias

import regex

from kgp_neo4j.corpus.answer.prompt import TASK, TOKENS, passage_block, thought_prompt
from kgp_neo4j.corpus.answer.reply import without_citations
from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.llm.call import reply_with_passages
from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.text.safe import neutral
from kgp_neo4j.types.corpus import Passage, Question, ReasoningPath, Retrieval
from kgp_neo4j.types.language import LanguageModel

#: Passages by id, each with the path that led to it.
_Gathered: TypeAlias = dict[str, tuple[Passage, ReasoningPath]]
_ANSWERS = regex.compile(r"\b(?:the|final)\s+answer\s+is\b|答案是", regex.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ircot:
    """Retrieve by reasoning, by at most `turns` calls of the model and `each` passages a query.

    The budget in distinct passages is the retriever's, as for every method.
    """

    name: ClassVar[str] = "ircot"
    retriever: PassageRetriever
    model: LanguageModel
    turns: int = 4
    each: int = 6

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the passages, None where there is none."""
        return self.retriever.encoder

    def retrieve(self, question: Question) -> Retrieval:
        """Return the passages retrieved by question and thoughts, in that order, with paths.

        A path's first step names the thought that retrieved it; `seconds` includes the model's
        calls. Raises ModelError where the model cannot be used at all.
        """
        began = time.perf_counter()
        gathered: _Gathered = {}
        self._fetch(question.text, "", gathered)
        thoughts: list[str] = []
        while gathered and len(thoughts) < self.turns:
            sentence = self._think(question.text, gathered, thoughts)
            if not sentence or sentence in thoughts or _ANSWERS.search(sentence):
                break
            thoughts.append(sentence)
            self._fetch(sentence, f"thought {len(thoughts)}", gathered)
            if len(gathered) >= self.retriever.settings.budget:
                break
        return Retrieval(
            question=question,
            passages=tuple(passage for passage, _ in gathered.values()),
            paths=tuple(path for _, path in gathered.values()),
            seconds=time.perf_counter() - began,
            settings={"method": self.name, **asdict(self.retriever.settings)},
        )

    def _fetch(self, query: str, reason: str, gathered: _Gathered) -> None:
        """Add the best new passages for a query, `each` of them at most."""
        retrieval = self.retriever.retrieve(Question("", query))
        most = min(len(gathered) + self.each, self.retriever.settings.budget)
        for passage, path in zip(retrieval.passages, retrieval.paths, strict=True):
            if len(gathered) >= most:
                break
            if reason:
                first = path.steps[0]
                told = replace(first, reason=f"{reason}: {first.reason}".rstrip(": "))
                path = ReasoningPath((told, *path.steps[1:]))
            gathered.setdefault(passage.id, (passage, path))

    def _think(self, question: str, gathered: _Gathered, thoughts: list[str]) -> str:
        """Return the next sentence of the reasoning; empty where the model writes none."""
        reply, _ = reply_with_passages(
            self.model,
            TASK,
            lambda texts: thought_prompt(question, texts, thoughts),
            [passage_block(n, passage) for n, (passage, _) in enumerate(gathered.values(), 1)],
            tokens=TOKENS["thought"],
        )
        text = without_citations(neutral(without_reasoning(reply.text))).strip(" -*>\t\n")
        line = text.split("\n")[0].rstrip(" -*>\t")
        if not line or reply.finish in ("refused", "empty"):
            return ""
        # A model may write more sentences, but the next one has to use what this one retrieves.
        start, end = sentences(line)[0]
        return line[start:end].strip()
