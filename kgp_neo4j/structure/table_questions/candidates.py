"""The readings of a question worth weighing: plans made of what its words are linked to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from kgp_neo4j.structure.table_questions.bases import Base, bases_of, beside, views
from kgp_neo4j.structure.table_questions.grid import Grid
from kgp_neo4j.structure.table_questions.linked import Link, Links
from kgp_neo4j.structure.table_questions.plans import (
    Denotation,
    Pick,
    Plan,
    Rows,
    denotation,
)
from kgp_neo4j.structure.table_questions.words import CUES, ORDINALS

__all__ = ["Candidate", "candidates"]

_SUPERLATIVE = CUES["high"] | CUES["low"]
_MOST = 700


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan with the links that it rests on and what it gives."""

    plan: Plan
    links: tuple[Link, ...]
    result: Denotation


def candidates(links: Links, grid: Grid) -> list[Candidate]:
    """Return the plans that a question may mean, each with its result; at most some hundreds."""
    made: dict[tuple[Plan, tuple[str, ...]], Candidate] = {}
    counts: dict[str, int] = {}
    for plan, used in _plans(links, grid):
        limit = 320 if plan.kind == "select" else 120
        if counts.get(plan.kind, 0) >= limit or (plan, ()) in made:
            continue
        result = denotation(grid, plan)
        if not result.values or len(result.values) > 120:
            continue
        counts[plan.kind] = counts.get(plan.kind, 0) + 1
        made[plan, ()] = Candidate(plan, used, result)
        if len(made) >= _MOST:
            break
    return list(made.values())


def _plans(links: Links, grid: Grid) -> Iterator[tuple[Plan, tuple[Link, ...]]]:
    words = set(links.words)
    bases = list(bases_of(links, grid))
    numeric = [c.order for c in grid.columns if grid.valued[c.order - 1] >= 0.5]
    every = [c.order for c in grid.columns]
    superlative = bool(words & _SUPERLATIVE) or any(len(w) > 4 and w.endswith("est") for w in words)
    counting = bool(
        words & {"many", "number", "amount", "total", "count", "times", "much", "often"}
    )
    filled = [b for b in bases if b.links]
    whole = [b for b in bases if not b.links]
    bases = [*whole, *filled]
    # Look-ups and counts.
    for base in filled:
        if base.count and base.count <= 60:
            yield from ((Plan("select", base.rows, c), base.links) for c in every)
        if base.count:
            yield Plan("count", base.rows), base.links
        if words & {"is", "are", "was", "were", "did", "does", "do", "has", "have", "can"}:
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
    if counting or words & CUES["distinct"]:
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
                        if words & CUES["low"]:
                            yield Plan("rare", base.rows, c), base.links
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
    """Yield what asks for two things at once: which is more, and by how much."""
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
        yield Plan("rare", base.rows, key), base.links
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
        yield Plan("count_difference", a.rows, 0, b.rows), used
