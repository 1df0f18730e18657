"""Answers the turns of a conversation over a corpus, with follow-up questions resolved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kgp_neo4j.corpus.answer.check import recounted
from kgp_neo4j.corpus.answer.follow_up import Said, understood
from kgp_neo4j.corpus.answer.traces import with_trace
from kgp_neo4j.corpus.pipeline import Pipeline
from kgp_neo4j.types.corpus import Answer, Passage

_TITLES = 5


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that supports a turn's answer, with its number in the conversation."""

    number: int
    id: str
    title: str
    section: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """The user's text, the question that it was resolved to, `ask`'s answer, and its sources."""

    said: str
    question: str
    answer: Answer
    sources: tuple[Source, ...] = ()


class Conversation:
    """Asks a pipeline the questions of a conversation, each resolved by the turns before it.

    The pipeline's language model rewrites follow-up questions (one call) and answers them
    (another); without one, rules rewrite them. With `trace` each traversal is stored. `history` are
    turns before the first one. `sources` are the passages that support the answers, each once, with
    the same numbers, from 1, for the whole conversation.
    """

    def __init__(
        self, pipeline: Pipeline, *, trace: bool = False, history: Sequence[Said] = ()
    ) -> None:
        self._pipeline, self._trace, self._history = pipeline, trace, list(history)
        self.corpus = pipeline.corpus
        self.turns: list[Turn] = []
        self.sources: list[Passage] = []

    def ask(self, text: str, *, on_text: Callable[[str], None] | None = None) -> Turn:
        """Answer the next text; a turn that raises an error is not part of the conversation."""
        history = [*self._history, *map(_past_turn, self.turns)]
        question = understood(text, history, self._pipeline.meter)
        answer = self._pipeline.ask(question, on_text=on_text)
        if self._trace:
            answer = with_trace(self._pipeline.database, answer)
        support = sources(answer)
        known = self._numbers()
        self.sources += [passage for passage in support if passage.id not in known]
        numbers = self._numbers()
        kept = [Source(numbers[p.id], p.id, p.title, p.section, p.name) for p in support]
        self.turns.append(Turn(text, question, answer, tuple(kept)))
        return self.turns[-1]

    def _numbers(self) -> dict[str, int]:
        return {passage.id: number for number, passage in enumerate(self.sources, 1)}

    def shown(self, turn: Turn) -> Answer:
        """Return a turn's answer counting the sources of all turns; others are told by title."""
        answer, numbers = turn.answer, self._numbers()
        if not answer.passages:
            return answer
        marks = {
            at: f"[{numbers[each.id]}]" if each.id in numbers else f"“{each.cited}”"
            for at, each in enumerate(answer.passages, 1)
        }
        return replace(recounted(answer, marks), passages=tuple(self.sources))


def sources(answer: Answer) -> list[Passage]:
    """Return the passages that carried statements cite, else those of the shown sentences."""
    cited = {p for statement in answer.statements if statement.carried for p in statement.passages}
    cited = cited or {sentence.passage for sentence in answer.shown_sentences}
    return [passage for passage in answer.passages if passage.id in cited]


def _past_turn(turn: Turn) -> Said:
    answer = turn.answer
    short = answer.statements[0].text if answer.statements else answer.text
    titles = [*(each.title for each in turn.sources), *(each.title for each in answer.passages)]
    return Said(turn.question, short, tuple(dict.fromkeys(titles))[:_TITLES])
