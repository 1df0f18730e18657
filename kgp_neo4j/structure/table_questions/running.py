"""Runs a plan in Neo4j: the query that gives an answer, its values, and the cells they stand in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kgp_neo4j.database import Database
from kgp_neo4j.queries import statement
from kgp_neo4j.structure.table_questions.grid import Cell, Column, Grid
from kgp_neo4j.structure.table_questions.plans import Plan, Rows, shown
from kgp_neo4j.structures import Citation, ShownQuery

__all__ = ["Found", "Table", "fetch", "run"]

_ANSWER = "structure/table_answer"
#: An answer cites at most so many cells.
_CITED = 50


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the graph: its grid, what it is called, and its document."""

    id: str
    name: str
    title: str
    document: str
    document_title: str
    markdown: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class Found:
    """What a plan gives in the graph: values, the cells they stand in, and the query."""

    values: tuple[str, ...]
    citations: tuple[Citation, ...]
    query: ShownQuery


def fetch(database: Database, table: str, words: list[str]) -> Table | None:
    """Return a table of the graph; None where there is no such table.

    Of a long table only its beginning and the rows with some of the words are fetched.
    """
    rows = database.read("structure/table_grid", table=table, words=words)
    if not rows:
        return None
    (row,) = rows
    columns = tuple(Column(c["order"], c["header"], c["type"]) for c in row["columns"])
    grid = Grid(
        columns,
        tuple(tuple(Cell(*cell) for cell in each["cells"]) for each in row["rows"]),
        tuple(each["number"] for each in row["rows"]),
        complete=len(row["rows"]) == row["count"],
    )
    return Table(
        table,
        row["name"],
        row["title"],
        row["document"],
        row["documentTitle"],
        row["markdown"],
        grid,
    )


def run(database: Database, table: Table, plan: Plan) -> Found:
    """Run a plan in the graph, as one read-only statement with parameters."""
    sets = [_set(plan.rows)] + ([_set(plan.second)] if plan.second is not None else [])
    parameters = {"table": table.id, "sets": sets, "column": plan.column, "to": plan.to}
    (row,) = database.read(_ANSWER, **parameters)
    made = statement(_ANSWER)
    query = ShownQuery(made.name, made.text, parameters)
    figures = row["figures"]
    cells = [cell for figure in figures for cell in figure["cells"]]
    values = _values(plan, row)
    if plan.kind in ("common", "rare"):
        cells = [cell for cell in cells if cell["text"] in values]
    column = plan.column or next((c.column for c in plan.rows.conditions if c.column), 0)
    header = table.grid.columns[column - 1].name if column else ""
    citations = tuple(
        Citation(
            document=table.document,
            title=table.document_title,
            page=cell["page"],
            table=table.id,
            table_name=table.name,
            row=cell["row"],
            row_name=cell["name"],
            column=plan.column or None,
            column_name=header if plan.column else "",
            text=cell["text"] or "",
        )
        for cell in cells[:_CITED]
    )
    return Found(values, citations, query)


def _set(rows: Rows) -> dict[str, Any]:
    pick = rows.pick
    return {
        "conditions": [
            {
                "column": c.column,
                "op": c.op,
                "by": c.by,
                "texts": list(c.texts),
                "value": c.value,
                "date": c.date,
            }
            for c in rows.conditions
        ],
        "like": rows.like,
        "pick": None
        if pick is None
        else {"column": pick.column, "by": pick.by, "highest": pick.highest, "nth": pick.nth},
        "shift": rows.shift,
    }


def _values(plan: Plan, row: dict[str, Any]) -> tuple[str, ...]:
    figure = row["figures"][0]
    kind = plan.kind
    if kind == "select":
        return tuple(dict.fromkeys(c["text"] for c in figure["cells"] if c["norm"]))
    if kind in ("count", "distinct"):
        return (str(figure[kind]),)
    if kind == "exists":
        return ("yes" if figure["count"] else "no",)
    if kind in ("common", "rare"):
        return tuple(figure[kind])
    if kind == "count_difference":
        return (str(row["countDifference"]),)
    number = row[kind] if kind in ("difference", "span") else figure[kind]
    if number is None or (kind == "sum" and not figure["valued"]):
        return ()
    return (f"{shown(number)} {plan.unit}".strip(),)
