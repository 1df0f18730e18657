"""A conversation over a corpus: each turn answered as `ask` does, follow-up questions resolved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kgp_neo4j.answer.asking import Retrieves, ask
from kgp_neo4j.answer.follow_up import Said, by_model, by_rules
from kgp_neo4j.database import Database
from kgp_neo4j.language import LanguageModel
from kgp_neo4j.models.language import Metered
from kgp_neo4j.records import Answer, Passage

__all__ = ["Conversation", "Turn", "sources"]

_TITLES = 5


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said, the question that it was taken for, and its answer."""

    said: str
    question: str
    answer: Answer


class Conversation:
    """Asks one corpus again and again; the retriever is made once, at the first question.

    With `model` follow-up questions are rewritten by it (one call) and answered by it (another);
    without, by rules and the offline reader.
    """

    def __init__(
        self,
        database: Database,
        corpus: str,
        retriever: Callable[[], Retrieves],
        *,
        model: LanguageModel | None = None,
        form: str = "short",
    ) -> None:
        self._database = database
        self.corpus = corpus
        self._make = retriever
        self._made: Retrieves | None = None
        self._model = model
        self._form = form
        self.turns: list[Turn] = []

    def ask(self, said: str, *, on_text: Callable[[str], None] | None = None) -> Turn:
        """Answer what is said next; a turn that fails is not part of the conversation.

        Raises what `ask` does.
        """
        history = [_said(turn) for turn in self.turns]
        metered = None if self._model is None else Metered(self._model)
        question = by_model(said, history, metered) if metered else by_rules(said, history)
        answer = ask(
            self._database,
            self.corpus,
            question,
            self._retriever,
            model=metered,
            form=self._form,
            on_text=on_text,
        )
        if metered is not None and metered.usage.calls:
            answer = replace(answer, usage=metered.usage)
        turn = Turn(said, question, answer)
        self.turns.append(turn)
        return turn

    def _retriever(self) -> Retrieves:
        if self._made is None:
            self._made = self._make()
        return self._made


def sources(answer: Answer) -> list[tuple[int, Passage]]:
    """Return the passages that an answer rests on, with their numbers, in that order."""
    cited = {p for statement in answer.statements if statement.carried for p in statement.passages}
    if not cited:
        cited = {sentence.passage for sentence in answer.supporting[:1]}
    return [(n, p) for n, p in enumerate(answer.passages, 1) if p.id in cited]


def _said(turn: Turn) -> Said:
    answer = turn.answer
    short = answer.statements[0].text if answer.statements else answer.text
    first = [passage.title for _, passage in sources(answer)]
    titles = [*first, *(passage.title for passage in answer.passages)]
    return Said(turn.question, short, tuple(dict.fromkeys(titles))[:_TITLES])
