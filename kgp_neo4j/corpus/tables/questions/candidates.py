"""The candidate readings of a question: plans made from the links of its words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from kgp_neo4j.corpus.tables.questions.cell_links import Link, Links
from kgp_neo4j.corpus.tables.questions.plans import (
    Condition,
    Denotation,
    Pick,
    Plan,
    Rows,
    denotation,
    rows_of,
)
from kgp_neo4j.corpus.tables.questions.question_words import CUES, ORDINALS
from kgp_neo4j.corpus.tables.questions.table_grid import Grid

__all__ = ["Base", "Candidate", "bases_of", "beside", "candidates", "views"]

#: Single conditions that are combined at most, and pairs made of them.
_SINGLE, _PAIRS = 14, 18


@dataclass(frozen=True, slots=True)
class Base:
    """A set of rows, the links that it is based on, and its number of rows."""

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
    if set(links.words) & CUES["not"]:
        for each, count in single[:6]:
            if each.condition.by == "text" and each.condition.op == "=":
                without = replace(each, condition=replace(each.condition, op="!="))
                yield Base(Rows((without.condition,)), (without,), len(grid.rows) - count)
    pairs = 0
    asking = bool(links.words) and links.words[0] in CUES["exists"]
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


_SIDES = {
    ">": CUES["next"]
    | {"more", "higher", "greater", "larger", "longer", "than", "better", "older"},
    "<": CUES["previous"] | {"less", "fewer", "lower", "smaller", "shorter", "than", "younger"},
}


def beside(links: Links, grid: Grid, filled: Sequence[Base]) -> Iterator[Base]:
    """Yield the rows before and after a named row, in the table, by number, or by date."""
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
    """Return the condition that excludes a last row with totals."""
    if len(grid.rows) < 3:
        return None
    for column in grid.columns[:3]:
        norm = grid.rows[-1][column.order - 1].norm
        if norm and norm.split()[0] in _TOTALS:
            return Condition(column.order, "!=", texts=(norm,), said=norm)
    return None


def _apart(links: Sequence[Link]) -> bool:
    """Return whether no two links share words or a column (a range may share its column)."""
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
    """Return the orders for a column's rows: `date`, `value` or none."""
    dated, valued = grid.dated[column - 1], grid.valued[column - 1]
    if dated > 0.5 and dated >= 0.9 * valued:
        return ["date"]
    return ["value"] if valued >= 0.4 else []


# --- Candidates ---

_SUPERLATIVE = CUES["high"] | CUES["low"]
_MOST = 700


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan with the links that it is based on and its result."""

    plan: Plan
    links: tuple[Link, ...]
    result: Denotation


def candidates(links: Links, grid: Grid) -> list[Candidate]:
    """Return the plans that a question may mean, each with its result; at most some hundreds."""
    made: dict[Plan, Candidate] = {}
    counts: dict[str, int] = {}
    for plan, used in _plans(links, grid):
        limit = 320 if plan.kind == "select" else 120
        if counts.get(plan.kind, 0) >= limit or plan in made:
            continue
        result = denotation(grid, plan)
        if not result.values or len(result.values) > 120:
            continue
        counts[plan.kind] = counts.get(plan.kind, 0) + 1
        made[plan] = Candidate(plan, used, result)
        if len(made) >= _MOST:
            break
    return list(made.values())


def _plans(links: Links, grid: Grid) -> Iterator[tuple[Plan, tuple[Link, ...]]]:
    words = set(links.words)
    bases = list(bases_of(links, grid))
    numeric = [c.order for c in grid.columns if grid.valued[c.order - 1] >= 0.5]
    every = [c.order for c in grid.columns]
    superlative = bool(words & _SUPERLATIVE) or any(len(w) > 4 and w.endswith("est") for w in words)
    filled = [b for b in bases if b.links]
    whole = [b for b in bases if not b.links]
    bases = [*whole, *filled]
    # Look-ups and counts.
    for base in filled:
        if base.count and base.count <= 60:
            yield from ((Plan("select", base.rows, c), base.links) for c in every)
        if base.count:
            yield Plan("count", base.rows), base.links
        if words & CUES["exists"]:
            yield Plan("exists", base.rows), base.links
    filled = [base for base in filled if base.count]
    bases = [base for base in bases if base.count]
    yield from ((Plan("count", base.rows), ()) for base in whole)
    for base in beside(links, grid, filled):
        yield Plan("count", base.rows), base.links
        if base.count <= 40:
            yield from ((Plan("select", base.rows, c), base.links) for c in every)
    if words & {"each", "all", "list", "every", "name"} or not filled:
        yield from ((Plan("select", Rows(), c), ()) for c in every)
    if words & CUES["count"] or words & CUES["distinct"]:
        for base in bases[:8]:
            for c in every:
                if grid.distinct[c - 1] > 1 and base.count > 1:
                    yield Plan("distinct", base.rows, c), base.links
    # First, last, most.
    for base in bases[:9]:
        if base.count > 1 or not base.links:
            yield from _picked(links, grid, base, numeric, every, superlative)
    if superlative or words & CUES["common"]:
        for base in bases[:7]:
            if base.count > 1:
                for c in every:
                    if grid.distinct[c - 1] < len(grid.rows):
                        yield Plan("common", base.rows, c), base.links
    # Neighbouring rows.
    steps = [s for s, cue in ((1, "next"), (-1, "previous")) if words & CUES[cue]]
    for base in filled[:8]:
        if steps and base.count <= 3:
            for step in steps:
                picks = (
                    [None]
                    if base.count == 1
                    else [Pick(0, "order", step > 0), Pick(0, "order", step < 0)]
                )
                for pick in picks:
                    rows = replace(base.rows, shift=step, pick=pick)
                    yield from ((Plan("select", rows, c), base.links) for c in every)
    # Totals.
    asked = [k for k in ("sum", "average") if words & CUES[k]]
    for base in bases[:10]:
        if base.count > 1:
            yield from ((Plan(k, base.rows, c), base.links) for k in asked for c in numeric)
        if superlative and base.count > 1:
            for c in numeric:
                yield Plan("max", base.rows, c), base.links
                yield Plan("min", base.rows, c), base.links
    yield from _compared(links, grid, filled, numeric, every)
    if words & CUES["like"]:
        for base in filled[:6]:
            if base.count <= 2:
                for like in every:
                    if 1 < grid.distinct[like - 1] < len(grid.rows):
                        rows = replace(base.rows, like=like)
                        yield from (
                            (Plan("select", rows, c), base.links) for c in every if c != like
                        )
    if words & {"long", "years", "time", "span", "duration", "difference", "between"}:
        unit = "years" if "long" in words else ""
        for base in bases[:6]:
            if base.count == 1:
                for start, end in combinations(numeric, 2):
                    yield Plan("span", base.rows, start, to=end, unit=unit), base.links
            elif words & {"between", "difference", "from"}:
                for c in numeric:
                    for by in views(grid, c):
                        top, low = (replace(base.rows, pick=Pick(c, by, h)) for h in (True, False))
                        yield Plan("difference", top, c, low, unit=unit), base.links
                    top, low = (replace(base.rows, pick=Pick(0, "order", h)) for h in (True, False))
                    yield Plan("difference", top, c, low, unit=unit), base.links


def _picked(
    links: Links, grid: Grid, base: Base, numeric: Sequence[int], every: Sequence[int], any_: bool
) -> Iterator[tuple[Plan, tuple[Link, ...]]]:
    words = set(links.words)
    nths = sorted({1, *(ORDINALS[w] for w in words if w in ORDINALS and ORDINALS[w] <= 20)})
    ends = [h for h, cue in ((True, "last"), (False, "first")) if words & CUES[cue]]
    if len(nths) > 1 and False not in ends:
        ends.append(False)
    picks = [Pick(0, "order", h, n) for h in ends for n in (nths if not h else (1,))]
    if any_:
        columns = sorted(
            {*numeric, *(c for c in every if grid.dated[c - 1] > 0.5)},
            key=lambda c: (-links.columns[c - 1].score, grid.counted[c - 1], c),
        )
        for c in columns[: 6 if base.links else 9]:
            for by in views(grid, c):
                picks += [Pick(c, by, h, n) for h in (True, False) for n in nths]
    wanted = sorted(every, key=lambda c: (-links.columns[c - 1].score, c))
    for pick in picks[:24]:
        rows = replace(base.rows, pick=pick)
        for c in wanted[: 8 if not base.links else 6]:
            yield Plan("select", rows, c), base.links


def _compared(
    links: Links, grid: Grid, filled: Sequence[Base], numeric: Sequence[int], every: Sequence[int]
) -> Iterator[tuple[Plan, tuple[Link, ...]]]:
    """Yield plans that compare two things: which is more, and by how much."""
    words = set(links.words)
    either = [base for base in filled if len(base.links) == 2 and len(base.rows.conditions) == 1]
    for base in either:
        key = base.rows.conditions[0].column
        for c in dict.fromkeys([*numeric, *(c for c in every if grid.dated[c - 1] > 0.5)]):
            for by in views(grid, c):
                for highest in (True, False):
                    rows = replace(base.rows, pick=Pick(c, by, highest))
                    yield Plan("select", rows, key), base.links
        for highest in (True, False):
            rows = replace(base.rows, pick=Pick(0, "order", highest))
            yield Plan("select", rows, key), base.links
        yield Plan("common", base.rows, key), base.links
    if not words & CUES["difference"]:
        return
    unit = "years" if "long" in words else ""
    singles = [
        b
        for b in filled
        if len(b.links) == 1 == len(b.rows.conditions)
        and b.rows.conditions[0].op in ("=", "contains")
    ][:9]
    for a, b in combinations(singles, 2):
        one, two = a.links[0], b.links[0]
        if one.condition.column != two.condition.column or (
            one.start < two.end and two.start < one.end
        ):
            continue
        used = (one, two)
        if a.count == 1 == b.count:
            for c in numeric:
                yield Plan("difference", a.rows, c, b.rows, unit=unit), used
