"""A plan in plain words: how a question was understood."""

from __future__ import annotations

from kgp_neo4j.structure.table_questions.grid import Grid
from kgp_neo4j.structure.table_questions.plans import Condition, Pick, Plan, Rows, shown
from kgp_neo4j.structure.table_questions.words import ORDINALS

__all__ = ["in_words"]

_OPS = {
    "=": "is",
    "!=": "is not",
    "contains": "contains",
    ">": "is more than",
    ">=": "is at least",
    "<": "is less than",
    "<=": "is at most",
}
_FIGURES = {
    "distinct": "count the different values of",
    "sum": "the sum of",
    "average": "the average of",
    "max": "the highest",
    "min": "the lowest",
    "common": "the most common",
    "rare": "the least common",
}


def in_words(plan: Plan, grid: Grid) -> str:
    """Return what a plan does, such as `count the rows where Nation is 'Ukraine'`."""
    of = _rows(plan.rows, grid)
    kind = plan.kind
    if kind == "count":
        return f"count the rows{of}"
    if kind == "exists":
        return f"whether there are rows{of}"
    if kind == "count_difference" and plan.second is not None:
        return f"how many more rows there are{of} than{_rows(plan.second, grid)}"
    column = _name(grid, plan.column)
    if kind == "difference" and plan.second is not None:
        return f"the difference of {column}{of} and{_rows(plan.second, grid)}"
    if kind == "span":
        return f"from {column} to {_name(grid, plan.to)}{of}"
    if kind == "select":
        return f"{column}{of or ' of all rows'}"
    return f"{_FIGURES[kind]} {column}{of}"


def _name(grid: Grid, column: int) -> str:
    return " ".join(grid.columns[column - 1].name.split())


def _rows(rows: Rows, grid: Grid) -> str:
    parts = " and ".join(_condition(c, grid) for c in rows.conditions)
    made = f" where {parts}" if parts else ""
    if rows.like:
        made = f" of other rows with the same {_name(grid, rows.like)} as{made or ' any'}"
    if rows.pick is not None:
        made = f" of the {_picked(rows.pick, grid)}{made}"
    if rows.shift:
        made = f" of the row {'after' if rows.shift > 0 else 'before'} that{made}"
    return made


def _picked(pick: Pick, grid: Grid) -> str:
    nth = {n: word for word, n in ORDINALS.items() if word.isalpha()}.get(pick.nth, f"{pick.nth}th")
    if pick.by == "order":
        return "last row" if pick.highest else f"{nth} row"
    end = (
        ("latest" if pick.highest else "earliest")
        if pick.by == "date"
        else ("highest" if pick.highest else "lowest")
    )
    which = end if pick.nth == 1 else f"{nth} {end}"
    return f"row with the {which} {_name(grid, pick.column)}"


def _condition(condition: Condition, grid: Grid) -> str:
    if condition.column == 0:
        if condition.op == "=":
            return f"the row's number is {shown(condition.value or 0)}"
        side = "after" if condition.op == ">" else "before"
        return f"the row comes {side} that of '{condition.said}'"
    if condition.by == "text":
        texts = [text.strip() for text in condition.texts]
        what = " or ".join(f"'{text}'" if text else "empty" for text in texts[:3])
    elif condition.by == "value":
        what = shown(condition.value or 0.0)
    else:
        what = condition.said or (condition.date or "")
    return f"{_name(grid, condition.column)} {_OPS[condition.op]} {what}"
