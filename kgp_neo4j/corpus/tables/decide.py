"""The entry to structural questions: what they ask of pages and tables, and the answer.

The code that reads such questions is imported where a corpus has pages or tables.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

#: A language model: from a prompt to its reply.
Write = Callable[[str], str]


@dataclass(slots=True)
class StructuralReading:
    """A question read once: whether it is about structure, and how it is answered."""

    decision: TypeDecision

    def answer(self, write: Write | None = None) -> StructuralAnswer:
        """Answer from pages and tables, by read-only queries that are shown.

        With `write` a language model chooses the look-up, unless it did when the question was read,
        and answers from fetched pages and tables the questions that no look-up answers; without one
        such questions stay unsure.
        """
        return StructuralAnswer(self.decision.reason.capitalize() + ".", found=False)


def read_question(
    database: Database,
    corpus: str,
    question: str,
    write: Write | None = None,
    *,
    every: bool = True,
) -> StructuralReading:
    """Read what a question asks of the pages and tables of a corpus.

    Its words decide, or the language model, which `write` calls with a prompt: of `every` question,
    or of those alone that may be about structure by their words. In a corpus without
    pages and tables every question is about content.
    """
    (state,) = database.read("structure/structured", corpus=corpus)
    if not (state["pages"] or state["tables"]):
        reason = "the corpus has no pages and no tables"
        return StructuralReading(TypeDecision("content", reason=reason))
    from kgp_neo4j.corpus.tables.reading import Reading

    reading = Reading.of(database, corpus, question)
    if write is not None and (every or reading.decision.type != "content"):
        reading.ask(write)
    return reading
