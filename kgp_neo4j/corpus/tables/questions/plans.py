"""Plans: what a question asks of a table, in words, and the result on a grid in memory."""

import math
import operator
from calendar import month_name
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Self

import msgspec

from kgp_neo4j.corpus.tables.outline import Grid

_WORDS = msgspec.toml.decode(Path(__file__).with_name("cues.toml").read_bytes())
#: Words that indicate an operation; a plan that uses one covers these words of the question.
CUES = {name: frozenset(words.split()) for name, words in _WORDS.items()}


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a row's cell in `column` (column 0: the row's number).

    `by` is the value compared: `text` (normal form; `contains` looks for a padded piece of it),
    `value` (number), `date` (ISO, as far as it is known) or `month` (of any year, in `texts`).
    """

    column: int
    op: str
    by: str = "text"
    texts: tuple[str, ...] = ()
    value: float | None = None
    date: str | None = None
    wording: str = ""

    def or_(self, other: Self) -> Self:
        """Return the condition that a cell has a text of this one or of the other."""
        wording = f"{self.wording} or {other.wording}"
        return replace(self, texts=(*self.texts, *other.texts), wording=wording)


@dataclass(frozen=True, slots=True)
class Pick:
    """Keep the rows with the `nth` highest (or lowest) number, date, or place in the table."""

    column: int
    by: str
    highest: bool
    nth: int = 1


@dataclass(frozen=True, slots=True)
class Rows:
    """A set of rows: of all conditions; then `like`, others with the same cell; pick; shift."""

    conditions: tuple[Condition, ...] = ()
    like: int = 0
    pick: Pick | None = None
    shift: int = 0


@dataclass(frozen=True, slots=True)
class Plan:
    """One reading of a question: `kind` is the operation on the rows.

    `select` gives the cells of `column`; `count`, `exists`; `distinct`, `sum`, `average`, `max`,
    `min` over `column`; `common`, the text that most rows have there; `difference` of two sets'
    numbers in `column`. With a `group` it is a figure for each text of that column, or for each
    `part` of its dates (day, month, quarter, year); `end` keeps the `high`est or `low`est ones.
    """

    kind: str
    rows: Rows = Rows()
    column: int = 0
    second: Rows | None = None
    unit: str = ""
    group: int = 0
    part: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True)
class Denotation:
    """The result of a plan: the values, the rows (indexes) that they come from, and a text."""

    values: tuple[str, ...]
    rows: tuple[int, ...] = ()
    text: str = ""


_FIGURES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum, "average": fmean, "max": max, "min": min,
}  # fmt: skip
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge, "<": operator.lt,
    "<=": operator.le,
}  # fmt: skip


def denotation(grid: Grid, plan: Plan) -> Denotation:
    """Return the result of a plan on a grid; no values where it does not apply."""
    rows = tuple(rows_of(grid, plan.rows))
    at = plan.column - 1
    if plan.group:
        return _grouped(grid, plan, rows)
    if plan.kind in ("count", "distinct", *_FIGURES):
        figure = _figure(grid, plan, rows)
        return Denotation(()) if figure is None else Denotation((shown(figure),), rows)
    if plan.kind == "exists":
        return Denotation(("yes" if rows else "no",), rows)
    if plan.second is not None:
        others = tuple(rows_of(grid, plan.second))
        one, other = _single(grid, rows, at), _single(grid, others, at)
        if one is None or other is None:
            return Denotation(())
        return Denotation((f"{shown(abs(one - other))} {plan.unit}".strip(),), rows + others)
    cells = [grid.rows[row][at] for row in rows]
    if plan.kind == "select":
        return Denotation(tuple(dict.fromkeys(c.text for c in cells if c.norm)), rows)
    most = _grouped(grid, replace(plan, kind="count", group=plan.column, end="high"), rows)
    return Denotation(most.values, most.rows)


def _figure(grid: Grid, plan: Plan, rows: Sequence[int]) -> float | None:
    """Return the number that rows give; None where none of them has one."""
    if plan.kind == "count":
        return len(rows)
    cells = [grid.rows[row][plan.column - 1] for row in rows]
    if plan.kind == "distinct":
        return len({cell.norm for cell in cells if cell.norm})
    values = [cell.value for cell in cells if cell.value is not None]
    figure = _FIGURES[plan.kind](values) if values else None
    # Of an average people write two decimals.
    return round(figure, 2) if figure and plan.kind == "average" and abs(figure) >= 1 else figure


def _grouped(grid: Grid, plan: Plan, rows: Sequence[int]) -> Denotation:
    """Return the figure of each group of rows, or the groups with the highest or lowest one."""
    groups: dict[str, list[int]] = {}
    for row in rows:
        cell = grid.rows[row][plan.group - 1]
        if key := _part(cell.date or "", plan.part) if plan.part else cell.norm:
            groups.setdefault(key, []).append(row)
    figures = {key: _figure(grid, plan, own) for key, own in groups.items()}
    held = {key: figure for key, figure in figures.items() if figure is not None}
    if plan.end and held:
        best = (max if plan.end == "high" else min)(held.values())
        held = {key: figure for key, figure in held.items() if figure == best}
    first = {key: grid.rows[groups[key][0]][plan.group - 1].text for key in held}
    names = {key: _date_in_words(key) if plan.part else first[key] for key in sorted(held)}
    told = tuple(sorted(row for key in held for row in groups[key]))
    if plan.end:
        text = ", ".join(f"{name} ({shown(held[key])})" for key, name in names.items())
        return Denotation(tuple(names[key] for key in held), told, text)
    lines = tuple(f"{name}: {shown(held[key])}" for key, name in names.items())
    return Denotation(lines, told, "\n".join(lines))


def _part(date: str, part: str) -> str:
    """Return the year, month, quarter or day of a date in ISO form; empty where it tells none."""
    if date.startswith("--"):
        return date[:4] if part == "month" else ""
    if part == "year" or len(date) < len("2025-03"):
        return date[:4] if part == "year" else ""
    quarter = f"{date[:4]} Q{(int(date[5:7]) + 2) // 3}"
    return {"month": date[:7], "quarter": quarter}.get(part, date)


def _date_in_words(key: str) -> str:
    """Return a part of a date as people write it: "March 2025" for 2025-03."""
    if key.startswith("--"):
        return month_name[int(key[2:])]
    is_month = len(key) == len("2025-03") and key[5:].isdigit()
    return f"{month_name[int(key[5:])]} {key[:4]}" if is_month else key


def rows_of(grid: Grid, rows: Rows) -> list[int]:
    """Return the indexes of a set's rows, in order; totals only where no other row fulfils it."""
    selected = list(range(len(grid.rows)))
    for condition in rows.conditions:
        selected = [row for row in selected if _holds(grid, row, condition)]
    if grid.totals:
        single = [row for row in selected if row not in grid.totals]
        selected = single if single or not rows.conditions else selected
    if rows.like:
        cells = grid.cells[rows.like - 1]
        norms = {cells[row].norm for row in selected} - {""}
        own = set(selected)
        selected = [at for at, cell in enumerate(cells) if at not in own and cell.norm in norms]
    if rows.pick is not None:
        selected = _picked(grid, selected, rows.pick)
    if rows.shift:
        selected = [at + rows.shift for at in selected if 0 <= at + rows.shift < len(grid.rows)]
    return selected


def columns_of(plan: Plan) -> list[int]:
    """Return the columns that a plan uses, in order."""
    columns = {plan.column, plan.group}
    for rows in (plan.rows, plan.second or plan.rows):
        columns |= {rows.like, *(condition.column for condition in rows.conditions)}
        columns.add(rows.pick.column if rows.pick is not None else 0)
    return sorted(columns - {0})


def _holds(grid: Grid, row: int, wanted: Condition) -> bool:
    if wanted.column == 0:
        return _COMPARE[wanted.op](grid.numbers[row], wanted.value)
    cell = grid.rows[row][wanted.column - 1]
    if wanted.op == "contains":
        padded = f" {cell.norm} "
        return any(text in padded for text in wanted.texts)
    if wanted.by == "text":
        return (cell.norm in wanted.texts) == (wanted.op != "!=")
    if wanted.by == "value":
        return cell.value is not None and _COMPARE[wanted.op](cell.value, wanted.value)
    if wanted.by == "month":
        date = cell.date or ""
        return date[2:4] in wanted.texts if date[:2] == "--" else date[5:7] in wanted.texts
    if cell.date is None or wanted.date is None:
        return False
    # A date that is given in part, such as a year, is that of all dates that begin with it.
    if cell.date.startswith(wanted.date):
        return "=" in wanted.op
    return wanted.op != "=" and _COMPARE[wanted.op](cell.date, wanted.date)


def _picked(grid: Grid, rows: Sequence[int], pick: Pick) -> list[int]:
    keys: dict[int, Any] = {row: row for row in rows}
    if pick.by != "order":
        keys = {row: getattr(grid.rows[row][pick.column - 1], pick.by) for row in rows}
    ordered = sorted({key for key in keys.values() if key is not None}, reverse=pick.highest)
    best = ordered[pick.nth - 1 : pick.nth]
    return [row for row, key in keys.items() if key in best]


def _single(grid: Grid, rows: Sequence[int], at: int) -> float | None:
    """Return the number that all rows have in a column, if it is one."""
    values = {grid.rows[row][at].value for row in rows}
    return values.pop() if len(values) == 1 else None


def shown(value: float) -> str:
    """Return a number in its usual form: no decimals where it is whole."""
    return f"{round(value, 6) + 0:.6f}".rstrip("0").rstrip(".")


def cues_of(plan: Plan) -> list[str]:
    """Return the names in `CUES` of the words that support a plan."""
    pick, shift = plan.rows.pick, plan.rows.shift
    cues = [{"max": "high", "min": "low"}.get(plan.kind, plan.kind)]
    if pick is not None:
        ends = ("last", "first") if pick.by == "order" else ("high", "low")
        cues.append(ends[0] if pick.highest else ends[1])
    if shift:
        cues.append("next" if shift > 0 else "previous")
    denied = any(condition.op == "!=" for condition in plan.rows.conditions)
    cues += ["like"] * bool(plan.rows.like) + ["not"] * denied
    return [name for name in cues if name in CUES]


_OPS = {
    "=": "is", "!=": "is not", ">": "is more than", ">=": "is at least", "<": "is less than",
    "<=": "is at most", "contains": "contains",
}  # fmt: skip


def in_words(plan: Plan, grid: Grid) -> str:
    """Return a plan in words, such as `count the rows where Nation is 'Ukraine'`."""
    column = _name(grid, plan.column)
    what = {
        "select": column,
        "count": "count the rows",
        "exists": "whether there are rows",
        "distinct": f"count the different values of {column}",
        "common": f"the most common {column}",
        "max": f"the highest {column}",
        "min": f"the lowest {column}",
    }.get(plan.kind, f"the {plan.kind} of {column}")
    of = _rows(plan.rows, grid) or (" of all rows" if plan.kind == "select" else "")
    second = f" and{_rows(plan.second, grid)}" if plan.second is not None else ""
    group = f" for each {plan.part or _name(grid, plan.group)}" if plan.group else ""
    end = {"high": ", the highest", "low": ", the lowest"}.get(plan.end, "")
    return f"{what}{of}{second}{group}{end}"


def _name(grid: Grid, column: int) -> str:
    return " ".join(grid.columns[column - 1].name.split()) if column else "the row's number"


def _rows(rows: Rows, grid: Grid) -> str:
    text = " and ".join(_condition(each, grid) for each in rows.conditions)
    text = f" where {text}" if text else ""
    if rows.like:
        text = f" of other rows with the same {_name(grid, rows.like)} as{text or ' any'}"
    if rows.pick is not None:
        by, high = rows.pick.by, rows.pick.highest
        ends = {"order": ("last", "first"), "date": ("latest", "earliest")}
        end = ends.get(by, ("highest", "lowest"))[not high]
        nth = "" if rows.pick.nth == 1 else f" (number {rows.pick.nth})"
        by_what = "" if by == "order" else f" by {_name(grid, rows.pick.column)}"
        text = f" of the {end} row{nth}{by_what}{text}"
    if rows.shift:
        text = f" of the row {'after' if rows.shift > 0 else 'before'} that{text}"
    return text


def _condition(condition: Condition, grid: Grid) -> str:
    what = shown(condition.value or 0.0) if condition.by == "value" else condition.wording
    if condition.by == "text":
        texts = map(str.strip, condition.texts[:3])
        what = " or ".join(f"'{text}'" if text else "empty" for text in texts)
    return f"{_name(grid, condition.column)} {_OPS[condition.op]} {what}"
