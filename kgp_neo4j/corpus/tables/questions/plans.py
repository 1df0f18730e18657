"""Plans: what a question asks of a table, in words, and the result on a grid in memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgp_neo4j.corpus.tables.questions.question_words import CUES, ORDINALS
from kgp_neo4j.corpus.tables.questions.table_grid import Cell, Grid

__all__ = [
    "Condition",
    "Denotation",
    "Pick",
    "Plan",
    "Rows",
    "columns_of",
    "cues_of",
    "denotation",
    "in_words",
    "rows_of",
    "shown",
]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a row's cell in `column` (column 0: the row's number).

    `by` is the value compared: `text` (normal form; `contains` looks for a padded piece of it),
    `value` (number) or `date` (ISO, as far as it is known). `said` is the wording of the question.
    """

    column: int
    op: str
    by: str = "text"
    texts: tuple[str, ...] = ()
    value: float | None = None
    date: str | None = None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Pick:
    """Keep the rows with the `nth` highest (or lowest) number, date, or place in the table."""

    column: int
    by: str
    highest: bool
    nth: int = 1


@dataclass(frozen=True, slots=True)
class Rows:
    """A set of rows: those of all conditions; then `like`, others with the same cell; pick;
    shift.
    """

    conditions: tuple[Condition, ...] = ()
    like: int = 0
    pick: Pick | None = None
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """One reading of a question: `kind` is the operation on the rows.

    `select` gives the cells of `column`; `count`, `exists`; `distinct`, `sum`, `average`, `max`,
    `min` over `column`; `common`, the text that most rows have there; `difference` of two sets'
    numbers in `column`; `span` between two columns.
    """

    kind: str
    rows: Rows = Rows()
    column: int = 0
    second: Rows | None = None
    to: int = 0
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Denotation:
    """The result of a plan: the values, and the rows (indexes) that they come from."""

    values: tuple[str, ...]
    rows: tuple[int, ...] = ()


def denotation(grid: Grid, plan: Plan) -> Denotation:
    """Return the result of a plan on a grid; no values where it does not apply."""
    rows = rows_of(grid, plan.rows)
    at = plan.column - 1
    kind = plan.kind
    if kind == "count":
        return Denotation((str(len(rows)),), tuple(rows))
    if kind == "exists":
        return Denotation(("yes" if rows else "no",), tuple(rows))
    if kind == "difference":
        assert plan.second is not None
        others = rows_of(grid, plan.second)
        pair = [_single(grid, which, at) for which in (rows, others)]
        if pair[0] is None or pair[1] is None:
            return Denotation(())
        return Denotation((_unit(abs(pair[0] - pair[1]), plan),), (*rows, *others))
    if kind == "span":
        start, end = _single(grid, rows, at), _single(grid, rows, plan.to - 1)
        if start is None or end is None:
            return Denotation(())
        return Denotation((_unit(abs(end - start), plan),), tuple(rows))
    cells = [grid.rows[row][at] for row in rows]
    if kind == "select":
        return Denotation(tuple(_once(c.text for c in cells if c.norm)), tuple(rows))
    if kind == "distinct":
        return Denotation((str(len({c.norm for c in cells if c.norm})),), tuple(rows))
    if kind == "common":
        return _common(cells, rows)
    values = [c.value for c in cells if c.value is not None]
    if not values:
        return Denotation(())
    total = math.fsum(values)
    figures = {
        "sum": total,
        "average": total / len(values),
        "max": max(values),
        "min": min(values),
    }
    result = figures[kind]
    return Denotation((shown(result),), tuple(rows))


def rows_of(grid: Grid, rows: Rows) -> list[int]:
    """Return the indexes of the rows of a set, in the order of the table."""
    kept = list(range(len(grid.rows)))
    for condition in rows.conditions:
        kept = [row for row in kept if _holds(grid, row, condition)]
    if rows.like:
        at = rows.like - 1
        norms = {grid.rows[row][at].norm for row in kept} - {""}
        own = set(kept)
        kept = [r for r in range(len(grid.rows)) if r not in own and grid.rows[r][at].norm in norms]
    if rows.pick is not None:
        kept = _picked(grid, kept, rows.pick)
    if rows.shift:
        kept = [row + rows.shift for row in kept if 0 <= row + rows.shift < len(grid.rows)]
    return kept


def columns_of(plan: Plan) -> list[int]:
    """Return the columns that a plan uses, in order."""
    sets = [plan.rows, *([plan.second] if plan.second is not None else [])]
    found = {plan.column, plan.to, *(rows.like for rows in sets)}
    found |= {c.column for rows in sets for c in rows.conditions}
    found |= {rows.pick.column for rows in sets if rows.pick is not None}
    return sorted(found - {0})


def _holds(grid: Grid, row: int, wanted: Condition) -> bool:
    op = wanted.op
    if wanted.column == 0:
        return _compared(grid.numbers[row], op, wanted.value or 0.0)
    cell = grid.rows[row][wanted.column - 1]
    if wanted.by == "text":
        if op == "contains":
            padded = f" {cell.norm} "
            return any(text in padded for text in wanted.texts)
        return (cell.norm in wanted.texts) == (op != "!=")
    if wanted.by == "value":
        if cell.value is None:
            return False
        return _compared(cell.value, op, wanted.value or 0.0)
    if cell.date is None:
        return False
    date = wanted.date or ""
    begins = cell.date.startswith(date)
    if op == "=":
        return begins
    if op in (">=", "<="):
        return begins or _compared_text(cell.date, op, date)
    return not begins and _compared_text(cell.date, op, date)


def _compared(left: float, op: str, right: float) -> bool:
    if op == "=":
        return left == right
    if op == "!=":
        return left != right
    return {
        ">": left > right,
        ">=": left >= right,
        "<": left < right,
        "<=": left <= right,
    }[op]


def _compared_text(left: str, op: str, right: str) -> bool:
    return left > right if op[0] == ">" else left < right


def _picked(grid: Grid, rows: list[int], pick: Pick) -> list[int]:
    keys: list[tuple[float | str, int]] = []
    for row in rows:
        if pick.by == "order":
            keys.append((row, row))
            continue
        cell = grid.rows[row][pick.column - 1]
        key = cell.value if pick.by == "value" else cell.date
        if key is not None:
            keys.append((key, row))
    ordered = sorted({key for key, _ in keys}, reverse=pick.highest)
    if len(ordered) < pick.nth:
        return []
    best = ordered[pick.nth - 1]
    return [row for key, row in keys if key == best]


def _single(grid: Grid, rows: Sequence[int], at: int) -> float | None:
    values = {grid.rows[row][at].value for row in rows}
    return values.pop() if len(values) == 1 else None


def _common(cells: Sequence[Cell], rows: Sequence[int]) -> Denotation:
    counts = Counter(c.norm for c in cells if c.norm)
    best = max(counts.values(), default=0)
    found = [(c, row) for c, row in zip(cells, rows, strict=True) if counts[c.norm] == best > 0]
    texts = {c.norm: c.text for c, _ in reversed(found)}
    return Denotation(
        tuple(texts[c] for c in dict.fromkeys(c.norm for c, _ in found)),
        tuple(row for _, row in found),
    )


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _unit(value: float, plan: Plan) -> str:
    return f"{shown(value)} {plan.unit}".strip()


def shown(value: float) -> str:
    """Return a number in its usual form: no decimals where it is whole."""
    rounded = round(value, 6)
    return str(int(rounded)) if rounded == int(rounded) else f"{rounded:.6f}".rstrip("0")


def cues_of(plan: Plan) -> list[str]:
    """Return the names in `CUES` of the words that support a plan."""
    found = {
        "max": ["high"],
        "min": ["low"],
    }.get(plan.kind, [plan.kind])
    pick = plan.rows.pick
    if pick is not None:
        if pick.by == "order":
            found = [*found, "last" if pick.highest else "first"]
        else:
            found = [*found, "high" if pick.highest else "low"]
    if plan.rows.shift:
        found = [*found, "next" if plan.rows.shift > 0 else "previous"]
    if plan.rows.like:
        found = [*found, "like"]
    if any(c.op == "!=" for c in plan.rows.conditions):
        found = [*found, "not"]
    return [name for name in found if name in CUES]


# --- In words ---

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
}


def in_words(plan: Plan, grid: Grid) -> str:
    """Return a plan in words, such as `count the rows where Nation is 'Ukraine'`."""
    of = _rows(plan.rows, grid)
    kind = plan.kind
    if kind == "count":
        return f"count the rows{of}"
    if kind == "exists":
        return f"whether there are rows{of}"
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
        made = f" of the {_say_picked(rows.pick, grid)}{made}"
    if rows.shift:
        made = f" of the row {'after' if rows.shift > 0 else 'before'} that{made}"
    return made


def _say_picked(pick: Pick, grid: Grid) -> str:
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
