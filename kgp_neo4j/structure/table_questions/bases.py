"""Sets of rows that a question may speak of: those that meet its conditions, one or a few."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from kgp_neo4j.structure.table_questions.grid import Grid
from kgp_neo4j.structure.table_questions.linked import Link, Links
from kgp_neo4j.structure.table_questions.plans import Condition, Rows, rows_of
from kgp_neo4j.structure.table_questions.words import CUES

__all__ = ["Base", "bases_of", "beside", "views"]

#: At most so many single conditions are joined with one another, into so many pairs.
_SINGLE, _PAIRS = 14, 18


@dataclass(frozen=True, slots=True)
class Base:
    """A set of rows, the links that it rests on, and how many rows it has."""

    rows: Rows
    links: tuple[Link, ...]
    count: int


def bases_of(links: Links, grid: Grid) -> Iterator[Base]:
    """Yield sets of rows: all, those of one condition, those of two on different words."""
    yield Base(Rows(), (), len(grid.rows))
    if totals := _totals(grid):
        rows = Rows((totals,))
        yield Base(rows, (), len(rows_of(grid, rows)))
    single: list[tuple[Link, int]] = []
    for each in [*links.cells, *links.dates, *links.numbers]:
        count = len(rows_of(grid, Rows((each.condition,))))
        if count:
            single.append((each, count))
    single.sort(key=lambda pair: _rank(pair[0], pair[1], len(grid.rows)))
    single = single[: _SINGLE + 10]
    for each, count in single:
        yield Base(Rows((each.condition,)), (each,), count)
    if set(links.words) & {
        "not",
        "except",
        "besides",
        "never",
        "other",
        "without",
        "excluding",
        "aside",
    } or re.search(r"n['’]t\b", links.text):
        for each, count in single[:6]:
            if each.condition.by == "text" and each.condition.op == "=":
                without = replace(each, condition=replace(each.condition, op="!="))
                yield Base(Rows((without.condition,)), (without,), len(grid.rows) - count)
    pairs = 0
    asking = bool(links.words) and links.words[0] in _ASKING
    for (a, _), (b, _) in combinations(single[:_SINGLE], 2):
        if not _apart((a, b)):
            continue
        rows = Rows((a.condition, b.condition))
        count = len(rows_of(grid, rows))
        if (count or asking) and pairs < _PAIRS:
            pairs += 1
            yield Base(rows, (a, b), count)
    strong = [a for a, _ in single[:8] if a.exact]
    for three in [t for t in combinations(strong, 3) if _apart(t)][:4]:
        rows = Rows(tuple(each.condition for each in three))
        if count := len(rows_of(grid, rows)):
            yield Base(rows, three, count)
    for a, b in _either(single):
        condition = Condition(
            a.condition.column,
            "=",
            "text",
            (*a.condition.texts, *b.condition.texts),
            said=f"{a.condition.said} or {b.condition.said}",
        )
        rows = Rows((condition,))
        yield Base(rows, (replace(a, condition=condition), b), len(rows_of(grid, rows)))


_ASKING = frozenset("is are was were did does do has have can had".split())
_SIDES = {
    ">": CUES["next"]
    | {"more", "higher", "greater", "larger", "longer", "than", "better", "older"},
    "<": CUES["previous"] | {"less", "fewer", "lower", "smaller", "shorter", "than", "younger"},
}


def beside(links: Links, grid: Grid, filled: Sequence[Base]) -> Iterator[Base]:
    """Yield the rows before and after a row that is named, in the table, by number, or by date."""
    words = set(links.words)
    named = [b for b in filled if b.count == 1 and len(b.links) == 1 and b.links[0].exact][:3]
    for base in named:
        (row,) = rows_of(grid, base.rows)
        sides = [side for side, cues in _SIDES.items() if words & cues]
        said = base.links[0].condition.said
        for side in sides:
            found = [Condition(0, side, "value", (), float(grid.numbers[row]), None, said)]
            for column in grid.columns:
                cell = grid.rows[row][column.order - 1]
                if (
                    column.order == base.rows.conditions[0].column
                    or not links.columns[column.order - 1].places
                ):
                    continue
                for by in views(grid, column.order):
                    if (cell.value if by == "value" else cell.date) is not None:
                        found.append(
                            Condition(column.order, side, by, (), cell.value, cell.date, said)
                        )
            for condition in found:
                rows = Rows((condition,))
                if count := len(rows_of(grid, rows)):
                    yield Base(rows, base.links, count)


_TOTALS = frozenset("total totals sum average overall all subtotal".split())


def _totals(grid: Grid) -> Condition | None:
    """Return the condition that leaves out a last row which sums up the others."""
    if len(grid.rows) < 3:
        return None
    for column in grid.columns[:3]:
        norm = grid.rows[-1][column.order - 1].norm
        if norm and norm.split()[0] in _TOTALS:
            return Condition(column.order, "!=", texts=(norm,), said=norm)
    return None


def _apart(links: Sequence[Link]) -> bool:
    """Return whether each link has words and a column of its own (a range may share its column)."""
    return all(
        (a.end <= b.start or b.end <= a.start)
        and (
            a.condition.column != b.condition.column
            or {a.condition.op[0], b.condition.op[0]} == {">", "<"}
        )
        for a, b in combinations(links, 2)
    )


def _either(single: Sequence[tuple[Link, int]]) -> list[tuple[Link, Link]]:
    """Return pairs of whole cells of one column that different words of the question name."""
    exact = [a for a, _ in single if a.exact and a.condition.by == "text" and a.condition.op == "="]
    return [
        (a, b)
        for a, b in combinations(sorted(exact, key=lambda each: each.start), 2)
        if a.condition.column == b.condition.column and a.end <= b.start
    ][:4]


def _rank(link: Link, count: int, rows: int) -> float:
    points = 2.0 * (link.end - link.start) + 2.0 * link.exact + link.share + link.agrees
    points += 0.7 * link.header - 0.5 * (link.condition.by != "text") - count / max(rows, 1)
    return -points


def views(grid: Grid, column: int) -> list[str]:
    """Return by what a column's rows can be put in order: `date` or `value`, or nothing."""
    dated, valued = grid.dated[column - 1], grid.valued[column - 1]
    if dated > 0.5 and dated >= 0.9 * valued:
        return ["date"]
    return ["value"] if valued >= 0.4 else []
