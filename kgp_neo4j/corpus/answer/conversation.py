"""A conversation over a corpus: each turn answered as `ask` does, follow-up questions resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kgp_neo4j.corpus.answer.check import marked
from kgp_neo4j.corpus.answer.follow_up import Said, by_model, by_rules
from kgp_neo4j.corpus.answer.traces import with_trace
from kgp_neo4j.corpus.pipeline import Pipeline, answered_by
from kgp_neo4j.types.corpus import Answer, Passage

__all__ = ["Conversation", "Source", "Turn", "sources"]

_TITLES = 5


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that a turn rests on, by its id, and its number in the conversation."""

    number: int
    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, the question that it was taken for, its answer, and what that rests on.

    The answer is that of `ask`: the numbers in its text are places among its own passages.
    """

    said: str
    question: str
    answer: Answer
    sources: tuple[Source, ...] = ()


class Conversation:
    """Asks one pipeline again and again, each question as it is understood after those before.

    A language model of the pipeline rewrites follow-up questions (one call) and answers them
    (another); without one, rules do. With `trace` the traversal of each turn is kept in the graph.
    `sources` are the passages that the turns rest on, each once: their numbers, from 1, stay the
    same for the whole conversation.
    """

    def __init__(self, pipeline: Pipeline, *, trace: bool = False) -> None:
        self._pipeline = pipeline
        self.corpus = pipeline.corpus
        self._trace = trace
        self.turns: list[Turn] = []
        self.sources: list[Passage] = []

    def ask(self, said: str, *, on_text: Callable[[str], None] | None = None) -> Turn:
        """Answer what is said next; a turn that fails is not part of the conversation.

        Raises what `ask` does.
        """
        history = [_said(turn) for turn in self.turns]
        model = self._pipeline.meter
        question = by_rules(said, history) if model is None else by_model(said, history, model)
        answer = self._pipeline.ask(question, on_text=on_text)
        if self._trace:
            answer = with_trace(self._pipeline.database, answer)
        rests = sources(answer)
        numbers = self.numbered(rests)
        turn = Turn(
            said, question, answer, tuple(Source(numbers[p.id], p.id, p.title) for p in rests)
        )
        self.turns.append(turn)
        return turn

    def numbered(self, passages: Iterable[Passage]) -> dict[str, int]:
        """Return the numbers of all sources so far by their ids; these passages become some."""
        numbers = {passage.id: n for n, passage in enumerate(self.sources, 1)}
        for passage in passages:
            if passage.id not in numbers:
                self.sources.append(passage)
                numbers[passage.id] = len(self.sources)
        return numbers

    def shown(self, turn: Turn) -> Answer:
        """Return a turn's answer with the conversation's sources for passages, in their order.

        So the numbers in its text, and those that are counted from its passages, are the
        conversation's. An answer without passages stays without.
        """
        answer = turn.answer
        if not answer.passages:
            return answer
        if answered_by(answer) == "model":
            answer = replace(answer, text=marked(answer.statements, self.numbered(())))
        return replace(answer, passages=tuple(self.sources))


def sources(answer: Answer) -> list[Passage]:
    """Return the passages that an answer rests on, the best first.

    Those that its carried statements cite, else those of the sentences that are shown.
    """
    cited = {p for statement in answer.statements if statement.carried for p in statement.passages}
    if not cited:
        cited = {sentence.passage for sentence in answer.shown_sentences}
    return [passage for passage in answer.passages if passage.id in cited]


def _said(turn: Turn) -> Said:
    answer = turn.answer
    short = answer.statements[0].text if answer.statements else answer.text
    first = [source.title for source in turn.sources]
    titles = [*first, *(passage.title for passage in answer.passages)]
    return Said(turn.question, short, tuple(dict.fromkeys(titles))[:_TITLES])
