"""Plain questions made of a table's own names, with the plan that each means."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from kgp_neo4j.corpus.tables.questions.plans import Condition, Pick, Plan, Rows, shown
from kgp_neo4j.corpus.tables.questions.table_grid import Column, Grid

__all__ = [
    "ABOVE",
    "BOTH",
    "COMPARED",
    "DIFFERENCE",
    "ENDS",
    "FIGURE",
    "HOW_MANY",
    "LARGER",
    "LOOK_UP",
    "MOST",
    "NEXT",
    "PLACE",
    "ROWS",
    "WHERE",
    "WHICH",
    "made_up",
]

LOOK_UP = (
    "What is the {column} of {row}?",
    "What is the value of {column} for {row}?",
    "What is the {column} for {row}?",
    "In the row '{row}', what is the {column}?",
    "What {column} does {row} have?",
    'For {row}, what is the value in column "{column}"?',
    "{column} of {row}",
    "which {column} is given for {row}?",
    "What is {row}'s {column}?",
    "What does the column {column} say in the row {row}?",
)
PLACE = (
    "What is in row {at}, column {to}?",
    "What is the {column} in row {at}?",
    "What is the value in the row {at} of the column {column}?",
)
WHERE = (
    "Which {key} has {column} {text}?",
    "What {key} has a {column} of {text}?",
    "Which {key} has the {column} '{text}'?",
    "List the {key} where {column} is {text}.",
    "For which {key} is the {column} {text}?",
)
HOW_MANY = (
    "How many rows have {column} = {text}?",
    "How many rows have {text} as {column}?",
    "How many {key} have the {column} {text}?",
    "In how many rows is the {column} {text}?",
    "What is the number of rows where {column} is {text}?",
)
ABOVE = {
    ">": ("more than", "above", "over", "greater than", "higher than"),
    "<": ("less than", "below", "under", "fewer than", "lower than"),
    ">=": ("at least", "no less than"),
    "<=": ("at most", "no more than"),
}
COMPARED = (
    "How many rows have a {column} {than} {number}?",
    "How many {key} have {column} {than} {number}?",
    "In how many rows is the {column} {than} {number}?",
)
WHICH = (
    "Which {key} have a {column} {than} {number}?",
    "List {key} with {column} {than} {number}.",
)
MOST = {
    True: (
        "Which {key} has the highest {column}?",
        "What {key} has the largest {column}?",
        "Which {key} had the most {column}?",
        "Which {key} has the maximum {column}?",
        "{key} with the greatest {column}",
        "Which row has the highest {column}?",
    ),
    False: (
        "Which {key} has the lowest {column}?",
        "What {key} has the smallest {column}?",
        "Which {key} had the least {column}?",
        "Which {key} has the minimum {column}?",
        "{key} with the fewest {column}",
        "Which row has the lowest {column}?",
    ),
}
FIGURE = {
    "sum": (
        "What is the total {column}?",
        "What is the sum of {column}?",
        "Add up the {column} column: what is the sum?",
        "What is the sum of the values in {column}?",
        "What is the total of the column {column}?",
    ),
    "average": (
        "What is the average {column}?",
        "What is the mean of {column}?",
        "What is the average of the column {column}?",
        "What is the average value of {column}?",
    ),
    "max": (
        "What is the highest {column}?",
        "What is the maximum {column}?",
        "What is the largest value in {column}?",
        "What is the maximum of the column {column}?",
    ),
    "min": (
        "What is the lowest {column}?",
        "What is the minimum {column}?",
        "What is the smallest value in {column}?",
        "What is the minimum of the column {column}?",
    ),
    "distinct": (
        "How many different {column} are there?",
        "How many distinct {column} are there?",
        "What is the number of different values of {column}?",
        "How many unique values does the column {column} have?",
    ),
    "select": (
        "List the {column} values.",
        "List all {column}.",
        "What are the values of {column}?",
        "Which values does the column {column} list?",
        "Give every {column}.",
    ),
    "common": (
        "What is the most common {column}?",
        "Which {column} appears most often?",
        "What is the most frequent {column}?",
        "Which {column} occurs the most?",
    ),
}
DIFFERENCE = (
    "What is the difference in {column} between {row} and {other}?",
    "By how much does the {column} of {row} differ from that of {other}?",
    "What is the difference between the {column} of {row} and {other}?",
    "How much higher is the {column} of {row} than that of {other}?",
)
LARGER = {
    True: (
        "Which has the higher {column}, {row} or {other}?",
        "Which is larger in {column}, {row} or {other}?",
        "Who has more {column}, {row} or {other}?",
    ),
    False: (
        "Which has the lower {column}, {row} or {other}?",
        "Which is smaller in {column}, {row} or {other}?",
        "Who has less {column}, {row} or {other}?",
    ),
}
NEXT = {
    1: (
        "Which {key} comes after {row}?",
        "Which {key} is listed after {row}?",
        "What is the next {key} after {row}?",
    ),
    -1: (
        "Which {key} comes before {row}?",
        "Which {key} is listed before {row}?",
        "What is the {key} right before {row}?",
    ),
}
ENDS = {
    False: (
        "What is the first {column}?",
        "Which {column} is listed first?",
        "What is the {column} in the first row?",
    ),
    True: (
        "What is the last {column}?",
        "Which {column} is listed last?",
        "What is the {column} in the last row?",
    ),
}
ROWS = (
    "How many rows are there?",
    "How many rows does the table have?",
    "How many rows are listed?",
)
BOTH = (
    "What is the total {column} of {row} and {other}?",
    "{column} of {row} and {other} combined?",
)


# --- Plain questions made of a table's own names, with the plan that each means -------------------


def made_up(grid: Grid, random: Random, count: int) -> Iterator[tuple[str, Plan]]:
    """Yield up to `count` questions over a table, each with the plan that it means."""
    named = [c for c in grid.columns if c.header and any(x.isalpha() for x in c.header)]
    keys = [
        c
        for c in named
        if c.type == "text" and grid.distinct[c.order - 1] >= 0.8 * len(grid.rows) > 2
    ]
    if not keys or len(named) < 2:
        return
    makers = [
        _look_up,
        _look_up,
        _look_up,
        _where,
        _where,
        _counted,
        _counted,
        _compared,
        _compared,
        _most,
        _most,
        _figure,
        _figure,
        _figure,
        _difference,
        _larger,
        _next,
        _ends,
        _all,
        _both,
    ]
    for _ in range(count):
        made = random.choice(makers)(grid, random, keys[0], random.choice(named))
        if made is not None:
            question, plan = made
            yield (question.lower() if random.random() < 0.3 else question), plan


def _texts(grid: Grid, column: Column) -> list[str]:
    """Return texts of a column that a question can name."""
    found = dict.fromkeys(row[column.order - 1].text for row in grid.rows)
    return [t for t in found if t.strip() and len(t) <= 60 and "\n" not in t and t.strip("-–— ?")]


def _is(grid: Grid, column: Column, text: str) -> Condition:
    norm = next(r[column.order - 1].norm for r in grid.rows if r[column.order - 1].text == text)
    return Condition(column.order, "=", texts=(norm,), said=norm)


def _name(column: Column) -> str:
    return " ".join(column.header.split())


_Made = tuple[str, Plan] | None


def _look_up(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    if column == key:
        return None
    if random.random() < 0.15:
        at = random.randrange(len(grid.rows))
        text = random.choice(PLACE).format(at=at + 1, column=_name(column), to=column.order)
        condition = Condition(0, "=", "value", (), float(at + 1))
        return text, Plan("select", Rows((condition,)), column.order)
    row = random.choice(_texts(grid, key) or [""])
    if not row:
        return None
    text = random.choice(LOOK_UP).format(column=_name(column), row=row)
    return text, Plan("select", Rows((_is(grid, key, row),)), column.order)


def _where(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    texts = _texts(grid, column)
    if column == key or not texts:
        return None
    text = random.choice(texts)
    question = random.choice(WHERE).format(column=_name(column), key=_name(key), text=text)
    return question, Plan("select", Rows((_is(grid, column, text),)), key.order)


def _counted(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    texts = _texts(grid, column)
    if column == key or not texts:
        return None
    text = random.choice(texts)
    question = random.choice(HOW_MANY).format(column=_name(column), key=_name(key), text=text)
    return question, Plan("count", Rows((_is(grid, column, text),)))


def _numbers(grid: Grid, column: Column) -> list[float]:
    if grid.valued[column.order - 1] < 0.8 or grid.dated[column.order - 1] > 0.5:
        return []
    return [v for row in grid.rows if (v := row[column.order - 1].value) is not None]


def _compared(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    values = _numbers(grid, column)
    if len(values) < 3:
        return None
    op = random.choice(list(ABOVE))
    number = random.choice(values)
    if number < 0:
        return None
    which = random.random() < 0.3
    question = random.choice(WHICH if which else COMPARED).format(
        column=_name(column), key=_name(key), than=random.choice(ABOVE[op]), number=shown(number)
    )
    rows = Rows((Condition(column.order, op, "value", (), number),))
    return question, Plan("select", rows, key.order) if which else Plan("count", rows)


def _most(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    if not _numbers(grid, column) or column == key:
        return None
    highest = random.random() < 0.5
    question = random.choice(MOST[highest]).format(column=_name(column), key=_name(key))
    return question, Plan("select", Rows(pick=Pick(column.order, "value", highest)), key.order)


def _figure(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    kind = random.choice(list(FIGURE))
    if kind in ("sum", "average", "max", "min") and not _numbers(grid, column):
        return None
    if kind == "common" and not 1 < grid.distinct[column.order - 1] < len(grid.rows):
        return None
    question = random.choice(FIGURE[kind]).format(column=_name(column))
    return question, Plan(kind, Rows(), column.order)


def _two(grid: Grid, random: Random, key: Column) -> list[str]:
    texts = _texts(grid, key)
    return random.sample(texts, 2) if len(texts) > 2 else []


def _difference(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    two = _two(grid, random, key)
    if not two or not _numbers(grid, column) or column == key:
        return None
    question = random.choice(DIFFERENCE).format(column=_name(column), row=two[0], other=two[1])
    one, other = (Rows((_is(grid, key, text),)) for text in two)
    return question, Plan("difference", one, column.order, other)


def _either(grid: Grid, key: Column, two: list[str]) -> Condition:
    return Condition(
        key.order, "=", texts=tuple(_is(grid, key, text).texts[0] for text in two), said="both"
    )


def _larger(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    two = _two(grid, random, key)
    if not two or not _numbers(grid, column) or column == key:
        return None
    highest = random.random() < 0.5
    question = random.choice(LARGER[highest]).format(column=_name(column), row=two[0], other=two[1])
    rows = Rows((_either(grid, key, two),), pick=Pick(column.order, "value", highest))
    return question, Plan("select", rows, key.order)


def _both(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    two = _two(grid, random, key)
    if not two or not _numbers(grid, column) or column == key:
        return None
    question = random.choice(BOTH).format(column=_name(column), row=two[0], other=two[1])
    return question, Plan("sum", Rows((_either(grid, key, two),)), column.order)


def _next(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    row = random.choice(_texts(grid, key) or [""])
    if not row:
        return None
    step = random.choice((1, -1))
    question = random.choice(NEXT[step]).format(key=_name(key), row=row)
    return question, Plan("select", Rows((_is(grid, key, row),), shift=step), key.order)


def _ends(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    last = random.random() < 0.5
    question = random.choice(ENDS[last]).format(column=_name(column))
    return question, Plan("select", Rows(pick=Pick(0, "order", last)), column.order)


def _all(grid: Grid, random: Random, key: Column, column: Column) -> _Made:
    return random.choice(ROWS), Plan("count")
