"""Answer a question from one table of the graph: fetch, link, read, judge, run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.questions.candidates import candidates
from kgp_neo4j.corpus.tables.questions.cell_links import link
from kgp_neo4j.corpus.tables.questions.features import example
from kgp_neo4j.corpus.tables.questions.plans import Plan, columns_of, denotation, in_words
from kgp_neo4j.corpus.tables.questions.question_words import STOP
from kgp_neo4j.corpus.tables.questions.ranker import Judged, Ranker, load_ranker
from kgp_neo4j.corpus.tables.questions.table_grid import Cell, Column, Grid
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import statement
from kgp_neo4j.types.tables import Citation, ShownQuery, StructuralAnswer

__all__ = ["Table", "answer_from_table", "fetch", "run"]

_GRID = "structure/table_grid"
_LONGEST_QUESTION = 2_000
#: Cells that an answer cites at most.
_CITED = 50


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the graph: its grid, each row's name and page, and the query that fetched them."""

    id: str
    name: str
    document: str
    document_title: str
    markdown: str
    grid: Grid
    names: tuple[str, ...]
    pages: tuple[int | None, ...]
    count: int
    query: ShownQuery


def answer_from_table(
    database: Database, table: str, question: str, ranker: Ranker | None = None
) -> StructuralAnswer:
    """Answer a question from one table (`table` is the id of its node).

    The question is read as a plan, and the plan is run on the rows that a read-only query returns.
    Where the reading is uncertain, `values` has the plan's result, but `text` claims nothing,
    `doubt` is the reason, and `markdown` shows the table. `found` is false where the table does not
    exist.
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
    made = run(database, fetched, judged.candidate.plan)
    made = replace(made, confidence=round(judged.confidence, 3))
    return made if judged.confidence >= ranker.threshold and made.values else _unsure(fetched, made)


def fetch(
    database: Database,
    table: str,
    words: list[str],
    columns: list[int] | None = None,
    most: int = 2_000,
) -> Table | None:
    """Return a table of the graph; None where it does not exist.

    Of more than `most` rows only the first and those with some of the words are fetched; cells
    outside `columns` stay empty.
    """
    given = {"table": table, "words": words, "columns": columns or [], "most": most}
    rows = database.read(_GRID, **given)
    if not rows:
        return None
    (row,) = rows
    header = tuple(Column(c["order"], c["header"], c["type"]) for c in row["columns"])
    wanted = columns or [column.order for column in header]
    empty = Cell("", "")
    lines = []
    for each in row["rows"]:
        cells = dict(zip(wanted, each["cells"], strict=True))
        lines.append(tuple(Cell(*cells[c.order]) if c.order in cells else empty for c in header))
    grid = Grid(header, tuple(lines), tuple(each["number"] for each in row["rows"]))
    made = statement(_GRID)
    return Table(
        table,
        row["name"],
        row["document"],
        row["documentTitle"],
        row["markdown"],
        grid,
        tuple(each["title"] for each in row["rows"]),
        tuple(each["page"] for each in row["rows"]),
        row["count"],
        ShownQuery(made.name, made.text, given),
    )


def read(table: Table, question: str, ranker: Ranker) -> Judged | None:
    """Return the most likely reading of a question; None where there is none."""
    links = link(question, table.grid)
    found = candidates(links, table.grid)
    return ranker.judge(example(links, table.grid, found), found) if found else None


def run(database: Database, table: Table, plan: Plan) -> StructuralAnswer:
    """Run a plan on all rows of a table and return its values, with their cells.

    Where only some rows were fetched, the columns that the plan uses are fetched whole.
    """
    if len(table.grid.rows) < table.count:
        table = fetch(database, table.id, [], columns_of(plan) or [1], table.count) or table
    found = denotation(table.grid, plan)
    column = table.grid.columns[plan.column - 1] if plan.column else None
    citations = tuple(
        Citation(
            document=table.document,
            title=table.document_title,
            page=table.pages[at],
            table=table.id,
            table_name=table.name,
            row=table.grid.numbers[at],
            row_name=table.names[at],
            column=column.order if column else None,
            column_name=column.name if column else "",
            text=table.grid.rows[at][column.order - 1].text if column else "",
        )
        for at in found.rows[:_CITED]
    )
    return StructuralAnswer(
        ", ".join(found.values),
        values=found.values,
        reading=in_words(plan, table.grid),
        citations=citations,
        queries=(table.query,),
    )


def _unsure(table: Table, made: StructuralAnswer) -> StructuralAnswer:
    """Return the answer as one that is not stated, with the table to look at."""
    doubt = made.doubt or (
        f"The question may mean: {made.reading}; that reading is right with a probability of "
        f"{made.confidence:.0%} only."
    )
    return replace(
        made,
        text=f"It is not certain what is asked of {table.name}; see the table.",
        sure=False,
        doubt=doubt,
        markdown=table.markdown,
    )
