"""Answers a question from one table of the graph: link, read, judge, run."""

from __future__ import annotations

from kgp_neo4j.database import Database
from kgp_neo4j.load.grid import normal
from kgp_neo4j.structure.table_questions.candidates import candidates
from kgp_neo4j.structure.table_questions.examples import example
from kgp_neo4j.structure.table_questions.links import link
from kgp_neo4j.structure.table_questions.ranker import Judged, Ranker, load_ranker
from kgp_neo4j.structure.table_questions.reading import in_words
from kgp_neo4j.structure.table_questions.running import Table, fetch, run
from kgp_neo4j.structure.table_questions.words import STOP
from kgp_neo4j.structures import StructuralAnswer

__all__ = ["answer_from_table"]

_LONGEST_QUESTION = 2_000


def answer_from_table(
    database: Database, table: str, question: str, ranker: Ranker | None = None
) -> StructuralAnswer:
    """Answer a question from one table (`table` is the id of its node).

    The question is read as a plan, and the plan is run in the graph as a read-only query. Where the
    reading is uncertain, `values` has what it would give, but `text` claims nothing, `doubt` says
    why, and `markdown` shows the table. `found` is false where there is no such table.
    """
    question = question[:_LONGEST_QUESTION]
    words = [w for w in normal(question).split() if w not in STOP]
    fetched = fetch(database, table, words)
    if fetched is None:
        return StructuralAnswer(f"There is no table {table!r}.", found=False, confidence=0.0)
    ranker = ranker or load_ranker()
    judged = read(fetched, question, ranker)
    if judged is None:
        doubt = "No reading of the question fits this table."
        return _unsure(fetched, StructuralAnswer("", doubt=doubt, confidence=0.0))
    plan = judged.candidate.plan
    reading = in_words(plan, fetched.grid)
    found = run(database, fetched, plan)
    made = StructuralAnswer(
        ", ".join(found.values),
        values=found.values,
        reading=reading,
        confidence=round(judged.confidence, 3),
        citations=found.citations,
        queries=(found.query,),
    )
    if judged.confidence >= ranker.threshold and found.values:
        return made
    return _unsure(fetched, made)


def read(table: Table, question: str, ranker: Ranker) -> Judged | None:
    """Return the most likely reading of a question; None where there is none at all."""
    links = link(question, table.grid)
    found = candidates(links, table.grid)
    return ranker.judge(example(links, table.grid, found), found) if found else None


def _unsure(table: Table, made: StructuralAnswer) -> StructuralAnswer:
    """Return the answer as one that is not stated, with the table to look at."""
    doubt = made.doubt or (
        f"The question may mean: {made.reading}; that reading is right with a probability of "
        f"{made.confidence:.0%} only."
    )
    return StructuralAnswer(
        f"It is not certain what is asked of {table.name}; see the table.",
        values=made.values,
        sure=False,
        doubt=doubt,
        reading=made.reading,
        confidence=made.confidence,
        citations=made.citations,
        queries=made.queries,
        markdown=table.markdown,
    )
