"""Answer a question from one table of the graph: fetch, link, read, judge, run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.questions.candidates import candidates
from kgp_neo4j.corpus.tables.questions.cell_links import link
from kgp_neo4j.corpus.tables.questions.features import example
from kgp_neo4j.corpus.tables.questions.plans import Plan, columns_of, denotation, in_words
from kgp_neo4j.corpus.tables.questions.question_words import STOP
from kgp_neo4j.corpus.tables.questions.ranker import load_ranker
from kgp_neo4j.corpus.tables.questions.table_grid import Cell, Column, Grid
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.types.tables import Citation, ShownQuery, StructuralAnswer

__all__ = ["Table", "answer_from_table", "fetch", "run"]

_GRID = "structure/table_grid"
_LONGEST_QUESTION = 2_000
#: Rows of a long table that are enough to read a question, and cells that an answer cites at most.
_READ, _CITED = 2_000, 50


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the graph: its row of `structure/table_grid`, its grid, and that query."""

    id: str
    row: Row
    grid: Grid
    query: ShownQuery


def answer_from_table(database: Database, table: str, question: str) -> StructuralAnswer:
    """Answer a question from one table (`table` is the id of its node).

    The question is read as a plan, and the plan is run on the rows that a read-only query returns.
    Where the reading is uncertain, `values` has the plan's result, but `text` claims nothing,
    `doubt` is the reason, and `markdown` shows the table. `found` is false where the table does not
    exist.
    """
    question = question[:_LONGEST_QUESTION]
    fetched = fetch(database, table, [w for w in normal(question).split() if w not in STOP])
    if fetched is None:
        return StructuralAnswer(f"There is no table {table!r}.", found=False, confidence=0.0)
    links = link(question, fetched.grid)
    answer = StructuralAnswer("", doubt="No reading of the question fits this table.", confidence=0)
    if readings := candidates(links, fetched.grid):
        ranker = load_ranker()
        best, confidence = ranker.judge(example(links, fetched.grid, readings), readings)
        answer = replace(run(database, fetched, best.plan), confidence=round(confidence, 3))
        if confidence >= ranker.threshold and answer.values:
            return answer
    doubt = answer.doubt or (
        f"The question may mean: {answer.reading}; that reading is right with a probability of "
        f"{answer.confidence:.0%} only."
    )
    return replace(
        answer,
        text=f"It is not certain what is asked of {fetched.row['name']}; see the table.",
        sure=False,
        doubt=doubt,
        markdown=fetched.row["markdown"],
    )


def fetch(
    database: Database,
    table: str,
    words: Sequence[str],
    columns: Sequence[int] = (),
    most: int = _READ,
) -> Table | None:
    """Return a table of the graph; None where it does not exist.

    Of more than `most` rows only the first and those with some of the words are fetched; cells
    outside `columns` stay empty.
    """
    given = {"table": table, "words": list(words), "columns": list(columns), "most": most}
    made = statement(_GRID)
    for row in database.read(_GRID, **given):
        header = tuple(Column(**column) for column in row["columns"])
        lines = []
        for each in row["rows"]:
            cells = dict(zip(columns or [c.order for c in header], each["cells"], strict=True))
            lines.append(tuple(Cell(*cells.get(c.order, ("", ""))) for c in header))
        grid = Grid(header, tuple(lines), tuple(each["number"] for each in row["rows"]))
        return Table(table, row, grid, ShownQuery(made.name, made.text, given))
    return None


def run(database: Database, table: Table, plan: Plan) -> StructuralAnswer:
    """Run a plan on all rows of a table and return its values, with their cells.

    Where only some rows were fetched, the columns that the plan uses are fetched whole.
    """
    if len(table.grid.rows) < (count := table.row["count"]):
        table = fetch(database, table.id, [], columns_of(plan) or [1], count) or table
    result = denotation(table.grid, plan)
    column = table.grid.columns[plan.column - 1] if plan.column else None
    citations = tuple(
        Citation(
            document=table.row["document"],
            title=table.row["documentTitle"],
            page=table.row["rows"][at]["page"],
            table=table.id,
            table_name=table.row["name"],
            row=table.grid.numbers[at],
            row_name=table.row["rows"][at]["title"],
            column=column.order if column else None,
            column_name=column.name if column else "",
            text=table.grid.rows[at][column.order - 1].text if column else "",
        )
        for at in result.rows[:_CITED]
    )
    return StructuralAnswer(
        ", ".join(result.values),
        values=result.values,
        reading=in_words(plan, table.grid),
        citations=citations,
        queries=(table.query,),
    )
