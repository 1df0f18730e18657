"""The door to structural questions: what is asked of pages and tables, and the answer from them.

What reads such questions is some hundred patterns, imported where a corpus has pages or tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

__all__ = ["StructuralReading", "read_question"]

#: A language model: a prompt in, its reply out.
Write = Callable[[str], str]


@dataclass(slots=True)
class StructuralReading:
    """A question as it is read once: whether it is about structure, and what answers it."""

    decision: TypeDecision

    def answer(self, write: Write | None = None) -> StructuralAnswer:
        """Answer from pages and tables, by read-only queries that are shown.

        A page or table that does not exist is said not to, with what there is instead (`found` is
        false). Where nothing certain can be said, `sure` is false and `doubt` says why; the page or
        table meant, if any, is in `markdown`. With `write` a language model chooses the look-up,
        unless it did when the question was read, and answers from fetched pages and tables what no
        look-up does; without one such questions stay unsure.
        """
        return StructuralAnswer(self.decision.reason.capitalize() + ".", found=False)


def read_question(
    database: Database, corpus: str, question: str, write: Write | None = None
) -> StructuralReading:
    """Read what a question asks of the pages and tables of a corpus.

    Its words decide, or the language model that `write` takes a prompt to. In a corpus without
    pages and tables every question is about content.
    """
    (state,) = database.read("structure/structured", corpus=corpus)
    if not (state["pages"] or state["tables"]):
        reason = "the corpus has no pages and no tables"
        return StructuralReading(TypeDecision("content", reason=reason))
    from kgp_neo4j.corpus.tables.reading import read

    return read(database, corpus, question, write)
