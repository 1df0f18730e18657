"""The candidate readings of a question: plans made from the links of its words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, islice

from kgp_neo4j.corpus.tables.outline import Grid
from kgp_neo4j.corpus.tables.questions import plans
from kgp_neo4j.corpus.tables.questions.cell_links import Link, Links
from kgp_neo4j.text.values import ORDINALS

#: Plans of a question at most, those that select cells and those of each other kind; values that
#: the result of one may have.
_MOST, _MOST_SELECTING, _MOST_OF_A_KIND, _MOST_VALUES = 700, 320, 120, 120
#: Single conditions that are combined at most, and pairs made of them.
_SINGLE, _PAIRS = 14, 18


@dataclass(frozen=True, slots=True)
class Candidate:
    """A plan with the links that it is based on and its result."""

    plan: plans.Plan
    links: tuple[Link, ...]
    result: plans.Denotation


def candidates(links: Links, grid: Grid) -> list[Candidate]:
    """Return the plans that a question may mean, each with its result; at most some hundreds."""
    readings: dict[plans.Plan, Candidate] = {}
    counts: Counter[str] = Counter()
    for plan, used in _Plans(links, grid).all():
        limit = _MOST_SELECTING if plan.kind == "select" else _MOST_OF_A_KIND
        if counts[plan.kind] < limit and plan not in readings:
            result = plans.denotation(grid, plan)
            if 0 < len(result.values) <= _MOST_VALUES:
                counts[plan.kind] += 1
                readings[plan] = Candidate(plan, used, result)
        if len(readings) >= _MOST:
            break
    return list(readings.values())


@dataclass(frozen=True, slots=True)
class _Base:
    """A set of rows, the links that it is based on, and its number of rows."""

    rows: plans.Rows
    links: tuple[Link, ...]
    count: int


def _base(grid: Grid, links: tuple[Link, ...] = ()) -> _Base:
    rows = plans.Rows(tuple(link.condition for link in links))
    return _Base(rows, links, len(plans.rows_of(grid, rows)))


def _bases(links: Links, grid: Grid) -> Iterator[_Base]:
    """Yield sets of rows: all, those of one condition, those of two on different words."""
    yield _base(grid)
    linked = [*links.cells, *links.dates, *links.numbers]
    single = [base for link in linked if (base := _base(grid, (link,))).count]
    single.sort(key=lambda base: _rank(base.links[0], base.count, len(grid.rows)))
    single = single[: _SINGLE + 10]
    yield from single
    ranked = [base.links[0] for base in single]
    if set(links.words) & plans.CUES["not"]:
        for each in filter(_names_cell, ranked[:6]):
            yield _base(grid, (replace(each, condition=replace(each.condition, op="!=")),))
    # Whether there are such rows can be asked of none too.
    asking = bool(links.words) and links.words[0] in plans.CUES["exists"]
    pairs = map(partial(_base, grid), filter(_apart, combinations(ranked[:_SINGLE], 2)))
    yield from islice((base for base in pairs if base.count or asking), _PAIRS)
    exact = [each for each in ranked[:8] if each.exact]
    triples = map(partial(_base, grid), islice(filter(_apart, combinations(exact, 3)), 4))
    yield from (base for base in triples if base.count)
    # Whole cells of one column that different words of the question name.
    whole = sorted((a for a in ranked if a.exact and _names_cell(a)), key=lambda a: a.start)
    pairs_of_one = (p for p in combinations(whole, 2) if p[0].end <= p[1].start)
    either = (p for p in pairs_of_one if p[0].condition.column == p[1].condition.column)
    for a, b in islice(either, 4):
        base = _base(grid, (replace(a, condition=a.condition.or_(b.condition)),))
        yield replace(base, links=(*base.links, b))


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


def _names_cell(link: Link) -> bool:
    return link.condition.by == "text" and link.condition.op == "="


def _rank(link: Link, count: int, rows: int) -> float:
    points = 2.0 * (link.end - link.start) + 2.0 * link.exact + link.share + link.agrees
    points += 0.7 * link.header - 0.5 * (link.condition.by != "text") - count / max(rows, 1)
    return -points


_Found = Iterator[tuple[plans.Plan, tuple[Link, ...]]]
_ENDS = (True, False)


class _Plans:
    """The plans for a question over a table, each with the links that it is based on.

    `every` are the columns, `numeric` those of numbers, `ordered` those of numbers or dates;
    `filled` are the sets of rows that conditions give, `whole` is that without any.
    """

    def __init__(self, links: Links, grid: Grid) -> None:
        self.links, self.grid = links, grid
        self.words = words = set(links.words)
        self.every = range(1, len(grid.columns) + 1)
        self.numeric = [c for c in self.every if grid.valued[c - 1] >= 0.5]
        dated = [c for c in self.every if grid.dated[c - 1] > 0.5]
        self.ordered = list(dict.fromkeys([*self.numeric, *dated]))
        ends = (
            plans.CUES["high"]
            | plans.CUES["low"]
            | {w for w in words if len(w) > 4 and w.endswith("est")}
        )
        self.superlative = not ends.isdisjoint(words)
        self.unit = "years" if "long" in words else ""
        self.whole, *self.linked = _bases(links, grid)
        self.filled = [base for base in self.linked if base.count]
        self.bases = [base for base in (self.whole, *self.filled) if base.count]

    def all(self) -> _Found:
        """Yield all plans, the likelier kinds first."""
        picked = (self._picked(base) for base in self.bases[:9] if base.count > 1 or not base.links)
        others = (self._common, self._neighbours, self._figures, self._compared, self._alike)
        first = (self._cells_and_counts(), self._of_columns())
        return chain(*first, *picked, *(each() for each in others))

    def _select(self, rows: plans.Rows, links: tuple[Link, ...], but: int = 0) -> _Found:
        """Yield plans that give each column of some rows."""
        return ((plans.Plan("select", rows, c), links) for c in self.every if c != but)

    def _views(self, column: int) -> list[str]:
        """Return the orders for a column's rows: `date`, `value` or none."""
        dated, valued = self.grid.dated[column - 1], self.grid.valued[column - 1]
        if dated > 0.5 and dated >= 0.9 * valued:
            return ["date"]
        return ["value"] if valued >= 0.4 else []

    def _cells_and_counts(self) -> _Found:
        for base in self.linked:
            if 0 < base.count <= 60:
                yield from self._select(base.rows, base.links)
            if base.count:
                yield plans.Plan("count", base.rows), base.links
            if self.words & plans.CUES["exists"]:
                yield plans.Plan("exists", base.rows), base.links
        yield plans.Plan("count", self.whole.rows), ()

    def _of_columns(self) -> _Found:
        if self.words & {"each", "all", "list", "every", "name"} or not self.filled:
            yield from self._select(plans.Rows(), ())
        if self.words & (plans.CUES["count"] | plans.CUES["distinct"]):
            for base in self.bases[:8]:
                for c in self.every:
                    if self.grid.distinct[c - 1] > 1 and base.count > 1:
                        yield plans.Plan("distinct", base.rows, c), base.links

    def _picked(self, base: _Base) -> _Found:
        """Yield plans over the first, the last and the most of a set."""
        words, score = self.words, [column.score for column in self.links.columns]
        nths = sorted({1, *(ORDINALS[w] for w in words if ORDINALS.get(w, 99) <= 20)})
        ends = [cue == "last" for cue in ("last", "first") if words & plans.CUES[cue]]
        if len(nths) > 1 and False not in ends:
            ends.append(False)
        picks = [plans.Pick(0, "order", high, n) for high in ends for n in ((1,) if high else nths)]
        if self.superlative:
            counted = self.grid.counted
            columns = sorted(self.ordered, key=lambda c: (-score[c - 1], counted[c - 1], c))
            for c in columns[: 6 if base.links else 9]:
                for by in self._views(c):
                    picks += [plans.Pick(c, by, high, n) for high in _ENDS for n in nths]
        wanted = sorted(self.every, key=lambda c: (-score[c - 1], c))
        for pick in picks[:24]:
            rows = replace(base.rows, pick=pick)
            for c in wanted[: 6 if base.links else 8]:
                yield plans.Plan("select", rows, c), base.links

    def _common(self) -> _Found:
        if self.superlative or self.words & plans.CUES["common"]:
            for base in self.bases[:7]:
                for c in self.every:
                    if base.count > 1 and self.grid.distinct[c - 1] < len(self.grid.rows):
                        yield plans.Plan("common", base.rows, c), base.links

    def _neighbours(self) -> _Found:
        """Yield plans over the rows next to a set of few rows."""
        for base in self.filled[:8]:
            for step, cue in ((1, "next"), (-1, "previous")):
                if base.count > 3 or not self.words & plans.CUES[cue]:
                    continue
                ends = [plans.Pick(0, "order", high) for high in (step > 0, step < 0)]
                for pick in [None] if base.count == 1 else ends:
                    yield from self._select(replace(base.rows, shift=step, pick=pick), base.links)

    def _figures(self) -> _Found:
        asked = [kind for kind in ("sum", "average") if self.words & plans.CUES[kind]]
        pairs = [(kind, c) for kind in asked for c in self.numeric]
        if self.superlative:
            pairs += [(kind, c) for c in self.numeric for kind in ("max", "min")]
        several = (base for base in self.bases[:10] if base.count > 1)
        return ((plans.Plan(k, base.rows, c), base.links) for base in several for k, c in pairs)

    def _compared(self) -> _Found:
        """Yield plans that compare two things: which is more, and by how much."""
        orders = [(c, by) for c in self.ordered for by in self._views(c)]
        for base in self.filled:
            if len(base.links) == 2 and len(base.rows.conditions) == 1:
                key = base.rows.conditions[0].column
                for c, by in [*orders, (0, "order")]:
                    for high in _ENDS:
                        rows = replace(base.rows, pick=plans.Pick(c, by, high))
                        yield plans.Plan("select", rows, key), base.links
                yield plans.Plan("common", base.rows, key), base.links
        if not self.words & plans.CUES["difference"]:
            return
        single = [base for base in self.filled if len(base.links) == 1]
        named = [base for base in single if base.links[0].condition.op in ("=", "contains")]
        for a, b in combinations(named[:9], 2):
            one, two = a.links[0], b.links[0]
            apart = one.end <= two.start or two.end <= one.start
            if apart and one.condition.column == two.condition.column and a.count == 1 == b.count:
                for c in self.numeric:
                    yield plans.Plan("difference", a.rows, c, b.rows, unit=self.unit), (one, two)

    def _alike(self) -> _Found:
        """Yield plans over other rows with the same cell as a named one."""
        for base in self.filled[:6] if self.words & plans.CUES["like"] else ():
            for like in self.every:
                if base.count <= 2 and 1 < self.grid.distinct[like - 1] < len(self.grid.rows):
                    yield from self._select(replace(base.rows, like=like), base.links, like)
