"""Answer a question from one table of the graph: fetch, link, read, judge, run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from kgp_neo4j.corpus.load.contents import normal
from kgp_neo4j.corpus.tables.outline import Library, TableOutline, TableRow, cite_cell, cite_table
from kgp_neo4j.corpus.tables.questions.candidates import Candidate, candidates
from kgp_neo4j.corpus.tables.questions.cell_links import Links, link
from kgp_neo4j.corpus.tables.questions.figures import read_figure
from kgp_neo4j.corpus.tables.questions.plans import Plan, Rows, columns_of, denotation, in_words
from kgp_neo4j.corpus.tables.questions.ranker import load_ranker
from kgp_neo4j.corpus.tables.questions.table_grid import STOP, Cell, Grid
from kgp_neo4j.text.words import stem
from kgp_neo4j.types.tables import StructuralAnswer

#: Rows of a long table that are enough to read a question, and cells that an answer cites at most.
_READ, _CITED = 500, 50
#: Probability of a figure that every word leads to, and where one word more or less may be meant;
#: most of a figure that a word of the question may narrow down.
_SURE, _NEAR, _UNCLEAR = 0.95, 0.7, 0.45
#: From which probability on another reading makes a figure that every word leads to unsure.
_OTHERWISE = 0.6


def answer_from_table(
    library: Library, table: TableOutline, question: str, *, strict: bool = False
) -> StructuralAnswer:
    """Answer a question from one table.

    The question is read as a plan, a figure over rows that each of its words leads to or else the
    ranker's best, and run on the rows that a read-only query returns. Where the reading is
    uncertain, `values` has the result, but `text` claims nothing unless it is probable, and `doubt`
    is the reason. A `strict` reading of a figure gives nothing where a word is left over.
    """
    # Of a long table only the first rows and those with some of the question's words are read.
    words = [word for word in normal(question).split() if word not in STOP]
    rows = library.rows(table, words=words, limit=_READ)
    grid = _grid(table, rows)
    links = link(question, grid)
    names = f"{table.caption} {table.document.title} {PurePath(table.document.source).stem}"
    figure = read_figure(links, grid, map(stem, normal(names).split()))
    fits = figure is not None and figure.fits
    none = "No reading of the question fits this table."
    answer = StructuralAnswer("", doubt=none, confidence=0, computes=fits)
    if strict and not fits:
        return answer
    if figure and (figure.near or not figure.why):
        plan = figure.plan
        answer = _own_total(table, plan, grid, rows) or run(library, table, rows, plan)
        sure = not (figure.why or (answer.values and _denies(links, grid, plan, answer.values)))
        answer = replace(answer, confidence=_SURE if sure else _NEAR, computes=True)
        if sure and answer.values:
            return answer
    elif learned := _learned(links, grid):
        threshold = load_ranker().threshold
        best, confidence = learned
        if figure and (strict or best.plan.kind not in ("select", "exists")):
            confidence = min(confidence, _UNCLEAR if strict else threshold - 0.01)
        answer = run(library, table, rows, best.plan)
        computes = answer.computes or fits
        answer = replace(answer, confidence=round(confidence, 3), computes=computes)
        if confidence >= threshold and answer.values:
            return answer
    why = figure.why if figure else ""
    doubt = answer.doubt or (
        f"The question may mean: {answer.reading}; that reading is right with a probability of "
        f"{answer.confidence:.0%} only{f' ({why})' if why else ''}."
    )
    unsure = replace(answer, sure=False, doubt=doubt)
    text = f"It is not certain what is asked of {table.name}; see the table."
    return unsure if unsure.probable else replace(unsure, text=text)


def _learned(links: Links, grid: Grid) -> tuple[Candidate, float] | None:
    """Return the likeliest of the readings that the ranker knows, with its probability."""
    readings = candidates(links, grid)
    return load_ranker().judge(links, grid, readings) if readings else None


def _denies(links: Links, grid: Grid, plan: Plan, values: Sequence[str]) -> bool:
    """Return whether the learned reading, by as many conditions, is sure of another value."""
    if plan.group or not (learned := _learned(links, grid)):
        return False
    best, confidence = learned
    told = len(best.plan.rows.conditions) >= len(plan.rows.conditions)
    return told and {*best.result.values} != {*values} and confidence >= _OTHERWISE


def _own_total(
    table: TableOutline, plan: Plan, grid: Grid, rows: Sequence[TableRow]
) -> StructuralAnswer | None:
    """Return the figure of a whole column that the table's own row of totals gives, if it does."""
    if plan.group or plan.rows != Rows() or not plan.column:
        return None
    column = grid.columns[plan.column - 1]
    for at, kind in reversed([*grid.totals.items()]):
        cell = grid.rows[at][plan.column - 1]
        if kind == plan.kind and cell.value is not None:
            place = cite_cell(table, rows[at], column, cell.text)
            reading = f"{in_words(plan, grid)}, as row {rows[at].number} gives it"
            return StructuralAnswer(cell.text, (cell.text,), citations=(place,), reading=reading)
    return None


def _grid(table: TableOutline, rows: Sequence[TableRow], columns: Sequence[int] = ()) -> Grid:
    """Return rows as a grid; where they have the cells of some columns alone, others are empty."""
    orders = columns or [column.order for column in table.columns]
    cells = [dict(zip(orders, row.cells, strict=True)) for row in rows]
    lines = [tuple(line.get(c.order, Cell("", "")) for c in table.columns) for line in cells]
    totals = {at: row.total for at, row in enumerate(rows) if row.total}
    return Grid(table.columns, tuple(lines), tuple(row.number for row in rows), totals)


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
        result.text or ", ".join(result.values),
        values=result.values,
        reading=in_words(plan, grid),
        citations=tuple(citations) or (cite_table(table),),
        computes=plan.kind not in ("select", "exists") or plan.rows.pick is not None,
    )
