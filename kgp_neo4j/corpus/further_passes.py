"""Retrieval in further passes: passages put in order anew, or gathered turn by turn (IRCoT).

- Listwise reranking (Sun et al., EMNLP 2023, section 3.2): a language model sees all numbered
  passages together, and writes the numbers of those that the question needs.
- Multi-hop dense retrieval (Xiong et al., ICLR 2021, section 3) among the passages: an MDR encoder
  says which come next after the question and each of the first ones.
- IRCoT, the baseline that KGP is compared with (Trivedi et al., ACL 2023, section 3): the question
  retrieves passages, from them the model writes the next sentence of its reasoning, which retrieves
  more, until it writes "the answer is" or the turns are used up.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import regex

from kgp_neo4j.corpus.answer import model as prompt
from kgp_neo4j.corpus.answer.reply import without_citations
from kgp_neo4j.corpus.load.split import sentences
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.call import reply_with_passages
from kgp_neo4j.llm.reply_text import without_reasoning
from kgp_neo4j.models.encoder import Encoder, load_mdr
from kgp_neo4j.text.safe import neutral
from kgp_neo4j.types.corpus import Passage, Question, ReasoningPath, Rerank, Retrieval
from kgp_neo4j.types.language import LanguageModel

_Choose = Callable[[str, Sequence[Passage]], Sequence[int]]
#: Passages by id, each with the path that led to it.
_Gathered = dict[str, tuple[Passage, ReasoningPath]]
_NONE = "The language model selected no passage; they stay in the order of the retrieval."
#: Passages that an MDR encoder puts in order, those of them that the next one is expected after,
#: and the exponent of its rank beside the retriever's; R@5 is about the same for 30 passages, for 3
#: to 8 of them, and for 0.2 to 0.5.
_JUDGED, _BEFORE, _SHARE = 20, 2, 0.3
_ANSWERS = regex.compile(r"\b(?:the|final)\s+answer\s+is\b|答案是", regex.IGNORECASE)
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
    make, tokens = partial(prompt.selection_prompt, question), prompt.TOKENS["selection"]
    blocks = [prompt.passage_block(number, passage) for number, passage in enumerate(passages, 1)]
    reply, shown = reply_with_passages(model, prompt.TASK, make, blocks, tokens=tokens)
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


@dataclass(frozen=True, slots=True)
class Ircot:
    """Retrieve by at most `turns` thoughts, `each` passages for one, in the retriever's budget."""

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
        make, tokens = partial(prompt.thought_prompt, question, thoughts), prompt.TOKENS["thought"]
        read = (passage for passage, _ in gathered.values())
        blocks = [prompt.passage_block(number, passage) for number, passage in enumerate(read, 1)]
        reply, _ = reply_with_passages(self.model, prompt.TASK, make, blocks, tokens=tokens)
        text = without_citations(neutral(without_reasoning(reply.text))).strip(" -*>\t\n")
        line = text.split("\n")[0].rstrip(" -*>\t")
        if not line or reply.finish in ("refused", "empty"):
            return ""
        # A model may write more sentences, but the next one has to use what this one retrieves.
        start, end = sentences(line)[0]
        return line[start:end].strip()
