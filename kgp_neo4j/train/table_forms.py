"""Simple questions made from a table's own names, each with its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from kgp_neo4j.corpus.tables.questions.plans import Condition, Pick, Plan, Rows, shown
from kgp_neo4j.corpus.tables.questions.table_grid import Column, Grid

__all__ = ["made_up"]

#: The wordings of each kind of question; `key` is the column that names the rows. Those of `_HIGH`
#: ask for the least too, with the words of `_LOW`.
_WORDINGS = {
    "look up": (
        "What is the {column} of {row}?",
        "What is the value of {column} for {row}?",
        "What is the {column} for {row}?",
        "In the row '{row}', what is the {column}?",
        "What {column} does {row} have?",
        'For {row}, what is the value in column "{column}"?',
        "{column} of {row}",
        "What is {row}'s {column}?",
    ),
    "place": (
        "What is in row {at}, column {to}?",
        "What is the {column} in row {at}?",
        "What is the value in the row {at} of the column {column}?",
    ),
    "where": (
        "Which {key} has {column} {text}?",
        "What {key} has a {column} of {text}?",
        "Which {key} has the {column} '{text}'?",
        "List the {key} where {column} is {text}.",
    ),
    "how many where": (
        "How many rows have {column} = {text}?",
        "How many rows have {text} as {column}?",
        "How many {key} have the {column} {text}?",
        "In how many rows is the {column} {text}?",
        "What is the number of rows where {column} is {text}?",
    ),
    "how many compared": (
        "How many rows have a {column} {than} {number}?",
        "How many {key} have {column} {than} {number}?",
        "In how many rows is the {column} {than} {number}?",
    ),
    "which compared": (
        "Which {key} have a {column} {than} {number}?",
        "List {key} with {column} {than} {number}.",
    ),
    "most": (
        "Which {key} has the {highest} {column}?",
        "What {key} has the {largest} {column}?",
        "Which {key} had the {most} {column}?",
        "{key} with the {greatest} {column}",
        "Which row has the {highest} {column}?",
    ),
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
    ),
    "end": (
        "What is the {highest} {column}?",
        "What is the {maximum} {column}?",
        "What is the {largest} value in {column}?",
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
    ),
    "common": (
        "What is the most common {column}?",
        "Which {column} appears most often?",
        "What is the most frequent {column}?",
    ),
    "difference": (
        "What is the difference in {column} between {row} and {other}?",
        "By how much does the {column} of {row} differ from that of {other}?",
        "What is the difference between the {column} of {row} and {other}?",
        "How much higher is the {column} of {row} than that of {other}?",
    ),
    "which more": (
        "Which has the {higher} {column}, {row} or {other}?",
        "Which is {larger} in {column}, {row} or {other}?",
        "Who has {more} {column}, {row} or {other}?",
    ),
    "both": (
        "What is the total {column} of {row} and {other}?",
        "{column} of {row} and {other} combined?",
    ),
    "next": (
        "Which {key} comes after {row}?",
        "Which {key} is listed after {row}?",
        "What is the next {key} after {row}?",
    ),
    "previous": (
        "Which {key} comes before {row}?",
        "Which {key} is listed before {row}?",
        "What is the {key} right before {row}?",
    ),
    "first": (
        "What is the {first} {column}?",
        "Which {column} is listed {first}?",
        "What is the {column} in the {first} row?",
    ),
    "rows": (
        "How many rows are there?",
        "How many rows does the table have?",
        "How many rows are listed?",
    ),
}
_HIGH = "highest largest most greatest maximum higher larger more first"
_LOW = "lowest smallest least fewest minimum lower smaller less last"
_THAN = {
    ">": ("more than", "above", "over", "greater than", "higher than"),
    "<": ("less than", "below", "under", "fewer than", "lower than"),
    ">=": ("at least", "no less than"),
    "<=": ("at most", "no more than"),
}

_Asked = tuple[str, Plan] | None


def made_up(grid: Grid, random: Random, count: int) -> Iterator[tuple[str, Plan]]:
    """Yield up to `count` questions over a table, each with its plan."""
    named = [c for c in grid.columns if c.header and any(x.isalpha() for x in c.header)]
    rows = len(grid.rows)
    keys = [c for c in named if c.type == "text" and grid.distinct[c.order - 1] >= 0.8 * rows > 2]
    if not keys or len(named) < 2:
        return
    for _ in range(count):
        draw = _Draw(grid, random, keys[0], random.choice(named))
        if (asked := random.choice(_MAKERS)(draw)) is not None:
            question, plan = asked
            yield (question.lower() if random.random() < 0.3 else question), plan


@dataclass(frozen=True, slots=True)
class _Draw:
    """A table, the column that names its rows, and the column that is asked about."""

    grid: Grid
    random: Random
    key: Column
    column: Column

    def say(self, kind: str, *, high: bool = True, **slots: object) -> str:
        """Return a wording of a kind of question, filled in."""
        key, column = (" ".join(c.header.split()) for c in (self.key, self.column))
        words = zip(_HIGH.split(), (_HIGH if high else _LOW).split(), strict=True)
        wording = self.random.choice(_WORDINGS[kind])
        return wording.format(key=key, column=column, to=self.column.order, **dict(words), **slots)

    def texts(self, column: Column, count: int) -> list[str]:
        """Return `count` texts of a column that a question can name; none where there are fewer."""
        texts = dict.fromkeys(cell.text for cell in self.grid.cells[column.order - 1])
        fit = [t for t in texts if len(t) <= 60 and "\n" not in t and t.strip("-–— ?")]
        return self.random.sample(fit, count) if len(fit) >= count else []

    def numbers(self) -> list[float]:
        """Return the numbers of the column that is asked about, if it is one of numbers."""
        at = self.column.order - 1
        if self.column == self.key or self.grid.valued[at] < 0.8 or self.grid.dated[at] > 0.5:
            return []
        return [cell.value for cell in self.grid.cells[at] if cell.value is not None]

    def rows(self, column: Column, *texts: str, pick: Pick | None = None, shift: int = 0) -> Rows:
        """Return the rows that have one of the texts in a column."""
        cells = self.grid.cells[column.order - 1]
        norms = tuple(next(cell.norm for cell in cells if cell.text == text) for text in texts)
        named = Condition(column.order, "=", texts=norms, wording=" ".join(norms))
        return Rows((named,), pick=pick, shift=shift)


def _look_up(draw: _Draw) -> _Asked:
    if draw.random.random() < 0.15:
        at = draw.random.randrange(len(draw.grid.rows)) + 1
        rows = Rows((Condition(0, "=", "value", (), float(at)),))
        return draw.say("place", at=at), Plan("select", rows, draw.column.order)
    texts = draw.texts(draw.key, 1)
    if not texts or draw.column == draw.key:
        return None
    plan = Plan("select", draw.rows(draw.key, *texts), draw.column.order)
    return draw.say("look up", row=texts[0]), plan


def _where(draw: _Draw) -> _Asked:
    texts = draw.texts(draw.column, 1)
    if not texts or draw.column == draw.key:
        return None
    rows = draw.rows(draw.column, *texts)
    if draw.random.random() < 0.5:
        return draw.say("how many where", text=texts[0]), Plan("count", rows)
    return draw.say("where", text=texts[0]), Plan("select", rows, draw.key.order)


def _compared(draw: _Draw) -> _Asked:
    numbers = [number for number in draw.numbers() if number >= 0]
    if len(numbers) < 3:
        return None
    op, number = draw.random.choice(list(_THAN)), draw.random.choice(numbers)
    slots: dict[str, Any] = {"than": draw.random.choice(_THAN[op]), "number": shown(number)}
    rows = Rows((Condition(draw.column.order, op, "value", (), number),))
    if draw.random.random() < 0.3:
        return draw.say("which compared", **slots), Plan("select", rows, draw.key.order)
    return draw.say("how many compared", **slots), Plan("count", rows)


def _most(draw: _Draw) -> _Asked:
    if not draw.numbers():
        return None
    high = draw.random.random() < 0.5
    rows = Rows(pick=Pick(draw.column.order, "value", high))
    return draw.say("most", high=high), Plan("select", rows, draw.key.order)


def _figure(draw: _Draw) -> _Asked:
    kinds = ["distinct", "select"]
    if 1 < draw.grid.distinct[draw.column.order - 1] < len(draw.grid.rows):
        kinds.append("common")
    if draw.numbers():
        kinds += ["sum", "average", "max", "min"]
    kind = draw.random.choice(kinds)
    wording = "end" if kind in ("max", "min") else kind
    return draw.say(wording, high=kind != "min"), Plan(kind, Rows(), draw.column.order)


def _of_two(draw: _Draw) -> _Asked:
    two, at = draw.texts(draw.key, 2), draw.column.order
    if not two or not draw.numbers():
        return None
    kind = draw.random.choice(("difference", "difference", "higher", "lower", "both"))
    wording = "which more" if kind in ("higher", "lower") else kind
    question = draw.say(wording, high=kind != "lower", row=two[0], other=two[1])
    if kind == "difference":
        one, other = (draw.rows(draw.key, text) for text in two)
        return question, Plan("difference", one, at, other)
    if kind == "both":
        return question, Plan("sum", draw.rows(draw.key, *two), at)
    rows = draw.rows(draw.key, *two, pick=Pick(at, "value", kind == "higher"))
    return question, Plan("select", rows, draw.key.order)


def _beside(draw: _Draw) -> _Asked:
    texts, after = draw.texts(draw.key, 1), draw.random.random() < 0.5
    if not texts:
        return None
    rows = draw.rows(draw.key, *texts, shift=1 if after else -1)
    question = draw.say("next" if after else "previous", row=texts[0])
    return question, Plan("select", rows, draw.key.order)


def _ends(draw: _Draw) -> _Asked:
    last = draw.random.random() < 0.5
    rows = Rows(pick=Pick(0, "order", last))
    return draw.say("first", high=not last), Plan("select", rows, draw.column.order)


def _all(draw: _Draw) -> _Asked:
    return draw.say("rows"), Plan("count")


#: The functions that make questions; repeated ones are drawn more often.
_MAKERS: tuple[Callable[[_Draw], _Asked], ...] = (
    *[_look_up, _where] * 4,
    *[_compared, _most] * 2,
    *[_figure, _of_two] * 3,
    _beside,
    _ends,
    _all,
)
