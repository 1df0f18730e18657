"""Answer a question from one table of the graph: fetch, link, read, judge, run."""

from collections.abc import Sequence
from dataclasses import replace

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.outline import Library, TableOutline, TableRow, cite_cell
from kgp_neo4j.corpus.tables.questions.candidates import candidates
from kgp_neo4j.corpus.tables.questions.cell_links import link
from kgp_neo4j.corpus.tables.questions.features import example
from kgp_neo4j.corpus.tables.questions.plans import Plan, columns_of, denotation, in_words
from kgp_neo4j.corpus.tables.questions.ranker import load_ranker
from kgp_neo4j.corpus.tables.questions.table_grid import STOP, Cell, Grid
from kgp_neo4j.types.tables import StructuralAnswer

#: Rows of a long table that are enough to read a question, and cells that an answer cites at most.
_READ, _CITED = 2_000, 50


def answer_from_table(library: Library, table: TableOutline, question: str) -> StructuralAnswer:
    """Answer a question from one table.

    The question is read as a plan, and the plan is run on the rows that a read-only query returns.
    Where the reading is uncertain, `values` has the plan's result, but `text` claims nothing unless
    it is probable, and `doubt` is the reason.
    """
    # Of a long table only the first rows and those with some of the question's words are read.
    words = [word for word in normal(question).split() if word not in STOP]
    rows = library.rows(table, words=words, limit=_READ)
    grid = _grid(table, rows)
    links = link(question, grid)
    answer = StructuralAnswer("", doubt="No reading of the question fits this table.", confidence=0)
    if readings := candidates(links, grid):
        ranker = load_ranker()
        best, confidence = ranker.judge(example(links, grid, readings), readings)
        answer = replace(run(library, table, rows, best.plan), confidence=round(confidence, 3))
        if confidence >= ranker.threshold and answer.values:
            return answer
    doubt = answer.doubt or (
        f"The question may mean: {answer.reading}; that reading is right with a probability of "
        f"{answer.confidence:.0%} only."
    )
    unsure = replace(answer, sure=False, doubt=doubt)
    text = f"It is not certain what is asked of {table.name}; see the table."
    return unsure if unsure.probable else replace(unsure, text=text)


def _grid(table: TableOutline, rows: Sequence[TableRow], columns: Sequence[int] = ()) -> Grid:
    """Return rows as a grid; where they have the cells of some columns alone, others are empty."""
    orders = columns or [column.order for column in table.columns]
    cells = [dict(zip(orders, row.cells, strict=True)) for row in rows]
    lines = [tuple(line.get(c.order, Cell("", "")) for c in table.columns) for line in cells]
    return Grid(table.columns, tuple(lines), tuple(row.number for row in rows))


def run(
    library: Library, table: TableOutline, rows: Sequence[TableRow], plan: Plan
) -> StructuralAnswer:
    """Run a plan on all rows of a table and return its values, with their cells."""
    columns: Sequence[int] = ()
    if len(rows) < table.rows:
        columns = columns_of(plan) or [1]
        rows = library.rows(table, columns=columns, limit=table.rows)
    grid = _grid(table, rows, columns)
    result = denotation(grid, plan)
    column = grid.columns[plan.column - 1] if plan.column else None
    citations = [
        cite_cell(table, rows[at], column, grid.rows[at][plan.column - 1].text if column else "")
        for at in result.rows[:_CITED]
    ]
    return StructuralAnswer(
        ", ".join(result.values),
        values=result.values,
        reading=in_words(plan, grid),
        citations=tuple(citations),
        computes=plan.kind not in ("select", "exists") or plan.rows.pick is not None,
    )
