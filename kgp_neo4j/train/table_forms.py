"""Simple questions made from a table's own names, each with its plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

from kgp_neo4j.corpus.tables.questions.plans import Condition, Pick, Plan, Rows, shown
from kgp_neo4j.corpus.tables.questions.table_grid import Column, Grid

__all__ = ["made_up"]

#: The kinds of questions: how often each is drawn, and its wordings. `key` is the column that names
#: the rows, `column` the one asked about, `row` and `other` name rows, `text` is one of its cells.
_KINDS = {
    "look up": (34, (
        "What is the {column} of {row}?",
        "What is the value of {column} for {row}?",
        "In the row '{row}', what is the {column}?",
        "What {column} does {row} have?",
        "{column} of {row}",
    )),
    "place": (6, ("What is in row {at}, column {to}?", "What is the {column} in row {at}?")),
    "where": (20, (
        "Which {key} has {column} {text}?",
        "Which {key} has the {column} '{text}'?",
        "List the {key} where {column} is {text}.",
    )),
    "how many where": (20, (
        "How many rows have {column} = {text}?",
        "How many {key} have the {column} {text}?",
        "In how many rows is the {column} {text}?",
    )),
    "how many compared": (14, (
        "How many rows have a {column} {than} {number}?",
        "How many {key} have {column} {than} {number}?",
    )),
    "which compared": (6, (
        "Which {key} have a {column} {than} {number}?",
        "List {key} with {column} {than} {number}.",
    )),
    "highest": (10, ("Which {key} has the {end} {column}?", "{key} with the {end} {column}")),
    "lowest": (10, ("Which {key} has the {end} {column}?", "{key} with the {end} {column}")),
    "max": (5, ("What is the {end} {column}?", "What is the {end} value in {column}?")),
    "min": (5, ("What is the {end} {column}?", "What is the {end} value in {column}?")),
    "sum": (5, ("What is the total {column}?", "What is the sum of the values in {column}?")),
    "average": (5, ("What is the average {column}?", "What is the mean of {column}?")),
    "distinct": (5, (
        "How many different {column} are there?",
        "How many unique values does the column {column} have?",
    )),
    "select": (5, ("List all {column}.", "What are the values of {column}?")),
    "common": (5, ("What is the most common {column}?", "Which {column} appears most often?")),
    "difference": (12, (
        "What is the difference in {column} between {row} and {other}?",
        "By how much does the {column} of {row} differ from that of {other}?",
    )),
    "higher": (6, ("Which has the higher {column}, {row} or {other}?",)),
    "lower": (6, ("Which has the lower {column}, {row} or {other}?",)),
    "both": (6, ("What is the total {column} of {row} and {other}?",)),
    "next": (5, ("Which {key} comes after {row}?", "What is the next {key} after {row}?")),
    "previous": (5, ("Which {key} comes before {row}?", "What {key} is right before {row}?")),
    "first": (5, ("What is the first {column}?", "What is the {column} in the first row?")),
    "last": (5, ("What is the last {column}?", "What is the {column} in the last row?")),
    "rows": (10, ("How many rows are there?", "How many rows does the table have?")),
}  # fmt: skip
_ENDS = {True: ("highest", "largest", "maximum"), False: ("lowest", "smallest", "minimum")}
_THAN = {
    ">": ("more than", "above", "greater than", "higher than"),
    "<": ("less than", "below", "fewer than", "lower than"),
    ">=": ("at least", "no less than"),
    "<=": ("at most", "no more than"),
}


def made_up(grid: Grid, random: Random, count: int) -> Iterator[tuple[str, Plan]]:
    """Yield up to `count` questions over a table, each with its plan."""
    named = [c for c in grid.columns if any(letter.isalpha() for letter in c.header)]
    rows = len(grid.rows)
    keys = [c for c in named if c.type == "text" and grid.distinct[c.order - 1] >= 0.8 * rows > 2]
    if not keys or len(named) < 2:
        return
    kinds, weights = list(_KINDS), [often for often, _ in _KINDS.values()]
    for kind in random.choices(kinds, weights, k=count):
        column = random.choice(named)
        plan, slots = _drawn(kind, grid, random, keys[0], column)
        if plan is None:
            continue
        slots |= {"key": keys[0].header, "column": column.header, "to": column.order}
        question = random.choice(_KINDS[kind][1]).format(**slots)
        yield (question.lower() if random.random() < 0.3 else question), plan


def _drawn(
    kind: str, grid: Grid, random: Random, key: Column, column: Column
) -> tuple[Plan | None, dict[str, Any]]:
    """Return a plan of a kind and what its wordings name; None where the table has none such."""
    at, other = column.order, column != key
    names, texts = _texts(grid, random, key), _texts(grid, random, column)
    numbers = _numbers(grid, column) if other else []
    if not (names and texts and other) and kind not in ("rows", "first", "last", "select"):
        return None, {}
    one, two = (_rows(grid, key, name) for name in (names * 2)[:2])
    both = _rows(grid, key, *names)
    slots: dict[str, Any] = dict(zip(("row", "other"), names, strict=False))
    if kind in ("rows", "first", "last", "select", "distinct", "place", "look up"):
        place = random.randrange(len(grid.rows)) + 1
        plan = {
            "rows": Plan("count"),
            "first": Plan("select", Rows(pick=Pick(0, "order", False)), at),
            "last": Plan("select", Rows(pick=Pick(0, "order", True)), at),
            "select": Plan("select", Rows(), at),
            "distinct": Plan("distinct", Rows(), at),
            "place": Plan("select", Rows((Condition(0, "=", "value", (), float(place)),)), at),
            "look up": Plan("select", one, at),
        }[kind]
        return plan, slots | {"at": place}
    if kind in ("next", "previous"):
        beside = replace(one, shift=1 if kind == "next" else -1)
        return Plan("select", beside, key.order), slots
    if kind in ("where", "how many where"):
        fit = _rows(grid, column, texts[0])
        plan = Plan("select", fit, key.order) if kind == "where" else Plan("count", fit)
        return plan, {"text": texts[0]}
    if kind == "common":
        several = 1 < grid.distinct[at - 1] < len(grid.rows)
        return (Plan("common", Rows(), at) if several else None), {}
    if len(numbers) < 3 or len(names) < 2:
        return None, {}
    if kind.endswith("compared"):
        op, number = random.choice(list(_THAN)), random.choice(numbers)
        fit = Rows((Condition(at, op, "value", (), number),))
        plan = Plan("count", fit) if kind.startswith("how") else Plan("select", fit, key.order)
        return plan, {"than": random.choice(_THAN[op]), "number": shown(number)}
    high = kind in ("highest", "max", "higher")
    slots["end"] = random.choice(_ENDS[high])
    if kind in ("sum", "average", "max", "min"):
        return Plan(kind, Rows(), at), slots
    if kind in ("difference", "both"):
        return (Plan(kind, one, at, two) if kind == "difference" else Plan("sum", both, at)), slots
    among = both if kind in ("higher", "lower") else Rows()
    return Plan("select", replace(among, pick=Pick(at, "value", high)), key.order), slots


def _texts(grid: Grid, random: Random, column: Column) -> list[str]:
    """Return one or two texts of a column that a question can name."""
    texts = dict.fromkeys(cell.text for cell in grid.cells[column.order - 1])
    fit = [t for t in texts if len(t) <= 60 and "\n" not in t and t.strip("-–— ?")]
    return random.sample(fit, min(2, len(fit)))


def _numbers(grid: Grid, column: Column) -> list[float]:
    """Return the numbers of a column, if it is one of numbers from nought on."""
    at = column.order - 1
    if grid.valued[at] < 0.8 or grid.dated[at] > 0.5:
        return []
    return [cell.value for cell in grid.cells[at] if cell.value is not None and cell.value >= 0]


def _rows(grid: Grid, column: Column, *texts: str) -> Rows:
    """Return the rows that have one of the texts in a column."""
    cells = grid.cells[column.order - 1]
    norms = tuple(next(cell.norm for cell in cells if cell.text == text) for text in texts)
    return Rows((Condition(column.order, "=", texts=norms, wording=" ".join(norms)),))
