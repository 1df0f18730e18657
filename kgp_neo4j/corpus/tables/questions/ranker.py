"""The learned ranker: the likeliest reading of a question, and its confidence.

A small network scores each plan by the question's words, the plan's form, the headers of its
columns and how it fits the question's words, the table, and its own result; boosted trees tell how
often its best answer is right.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import resources
from itertools import chain, combinations, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from kgp_neo4j.corpus.load.contents import normal
from kgp_neo4j.corpus.tables.outline import STOP, Grid
from kgp_neo4j.corpus.tables.questions import plans
from kgp_neo4j.corpus.tables.questions.cell_links import Link, Links
from kgp_neo4j.corpus.tables.questions.plans import CUES, Denotation, Plan, columns_of, cues_of
from kgp_neo4j.models.engine import Trees
from kgp_neo4j.text.values import ORDINALS, typed

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


#: Words that ask for the most or the latest, and for the least or the earliest.
_UP = CUES["high"].difference("oldest older fastest strongest leads richest".split())
_UP |= {"end", "ended"}
_DOWN = CUES["low"] - {"slowest", "fastest", "closest"} | {"start", "began"}
#: "span" is no kind of plan any more, but an input of the trained ranker.
_KINDS = (
    "select", "count", "distinct", "common", "sum", "average", "max", "min", "difference", "span",
    "exists",
)  # fmt: skip
FEATURES = (
    *_KINDS,
    "exact", "share", "agrees", "words linked", "numbers", "like",
    "covered", "uncovered", "uncovered names", "uncovered numbers", "cues",
    "direction", "shift agrees", "nth",
    "picked header", "picked best", "picked rank", "picked near", "picked last", "picked asked",
    "header", "given whole", "given best", "given rank", "given place", "given leftmost text",
    "given used", "given picked", "given counted", "given number", "given date", "given distinct",
    "who text", "where text", "when date", "many number",
    "values", "one value", "value number", "value zero", "value one", "value log", "value long",
    "value in question", "value is row count",
    "rows", "all rows", "one row", "rows log", "total row", "table rows", "table columns",
    "yes no question", "how many", "plural asked", "one asked",
)  # fmt: skip


class _Question:
    """What is the same for all candidates of a question."""

    def __init__(self, links: Links, grid: Grid) -> None:
        self.links, self.grid, self.words = links, grid, set(links.words)
        words, wording = links.words, " ".join(links.words)
        scores = [column.score for column in links.columns]
        self.best = max(scores, default=0.0)
        ranked = sorted(range(len(scores)), key=lambda at: -scores[at])
        self.rank = {at + 1: min(rank, 6) for rank, at in enumerate(ranked)}
        self.text = next((c.order for c in grid.columns if c.type == "text"), 1)
        self.who = bool(self.words & {"who", "whose", "whom"})
        self.when = bool(re.search(r"\bwhen\b|\b(?:what|which) (?:year|date|day)\b", wording))
        many = r"\bhow many\b|^(?:what (?:is|was) the )?.{0,6}number of"
        self.many = bool(re.search(many, wording))
        self.verb = bool(words) and words[0] in CUES["exists"]
        #: The words that name something, and how surely each names a cell.
        self.content = {at for at, word in enumerate(words) if word not in STOP}
        self.names: dict[int, float] = {}
        for link in links.cells:
            for at in self.content & set(range(link.start, link.end)):
                sure = link.share * (1 + link.exact) / 2
                self.names[at] = max(self.names.get(at, 0.0), sure)
        self.cues = {k: {at for at, w in enumerate(words) if w in v} for k, v in CUES.items()}
        superlatives = {at for at, word in enumerate(words) if len(word) > 4 and word[-3:] == "est"}
        self.ends = superlatives | self.cues["high"] | self.cues["low"]
        asking = ("what", "which", "many", "whose", "name")
        self.asked = next((at for at, word in enumerate(words) if word in asking), -1)
        after = words[self.asked + 1 : self.asked + 3] if self.asked >= 0 else []
        self.plural = any(len(w) > 3 and w[-1] == "s" and w[-2] != "s" for w in after)
        self.padded = f" {normal(links.text)} "
        first, totals = grid.cells[0] if grid.cells else (), ("total", "average", "sum")
        self.totals = {at for at, cell in enumerate(first) if cell.norm.startswith(totals)}

    def features(self, candidate: Candidate) -> dict[str, float]:
        """Return a candidate's features, by the names in `FEATURES`."""
        plan, links = candidate.plan, candidate.links
        return {
            plan.kind: 1.0,
            # How well the conditions fit the words that they are linked to.
            "exact": min((link.exact for link in links), default=True),
            "share": min((link.share for link in links), default=1.0),
            "agrees": max((x.agrees for x in links if x.condition.by != "text"), default=0.0),
            "words linked": sum(link.end - link.start for link in links),
            "numbers": sum(link.condition.by == "value" for link in links),
            "table rows": math.log1p(len(self.grid.rows)),
            "table columns": len(self.grid.columns),
            "yes no question": self.verb,
            "how many": self.many,
            "like": bool(plan.rows.like),
            **self._covered(candidate),
            **self._picked(plan),
            **(self._given(plan) if plan.column else {}),
            **self._result(candidate.result),
        }

    def _covered(self, candidate: Candidate) -> dict[str, float]:
        """Return how much of the question a candidate accounts for."""
        cues: set[int] = set().union(*(self.cues[name] for name in cues_of(candidate.plan)))
        covered = {at for link in candidate.links for at in range(link.start, link.end)} | cues
        for column in columns_of(candidate.plan):
            covered.update(self.links.columns[column - 1].places)
        left = self.content - covered
        return {
            "cues": min(len(cues), 6),
            "covered": len(covered & self.content) / max(len(self.content), 1),
            "uncovered": len(left),
            "uncovered names": sum(self.names.get(at, 0.0) for at in left),
            "uncovered numbers": sum(at in self.links.number_places for at in left),
        }

    def _picked(self, plan: Plan) -> dict[str, float]:
        """Return how well the end that is picked, and the column of the pick, fit."""
        pick, shift = plan.rows.pick, plan.rows.shift
        features: dict[str, float] = {}
        if shift:
            ahead, behind = bool(self.cues["next"]), bool(self.cues["previous"])
            features["shift agrees"] = ahead - behind if shift > 0 else behind - ahead
        if pick is not None:
            features["nth"] = pick.nth
        elif plan.kind not in ("max", "min", "common", "sum", "average", "difference"):
            return features
        if pick is not None or plan.kind in ("max", "min", "common"):
            up, down = bool(self.words & _UP), bool(self.words & _DOWN)
            high = pick.highest if pick is not None else plan.kind != "min"
            features["direction"] = up - down if high else down - up
        column = plan.column if pick is None else pick.column
        if not column:
            return features
        linked = self.links.columns[column - 1]
        near = [place - at for at in self.ends for place in linked.places if place >= at]
        return features | {
            "picked header": linked.score,
            "picked best": linked.score == self.best > 0,
            "picked near": 1.0 / (1 + min(near)) if near else 0.0,
            "picked rank": self.rank[column],
            "picked last": column == len(self.grid.columns),
            "picked asked": linked.after_what,
        }

    def _given(self, plan: Plan) -> dict[str, float]:
        """Return how well the column whose cells are given fits the question."""
        grid, at, pick = self.grid, plan.column - 1, plan.rows.pick
        linked = self.links.columns[at]
        text = grid.columns[at].type == "text"
        features: dict[str, float] = {
            "header": linked.score,
            "given number": grid.valued[at],
            "given date": grid.dated[at],
            "given distinct": grid.distinct[at] / max(len(grid.rows), 1),
            "given counted": grid.counted[at],
            "who text": self.who * _sign(text),
            "where text": ("where" in self.words) * _sign(text),
            "when date": self.when * _sign(grid.dated[at] > 0.5),
            "many number": self.many * _sign(grid.valued[at] > 0.5),
        }
        if plan.kind in ("select", "common", "distinct"):
            features |= {
                "given whole": linked.whole * min(linked.words, 3),
                "given best": linked.score == self.best > 0,
                "given rank": self.rank[plan.column],
                "given leftmost text": plan.column == self.text,
                "given used": any(c.column == plan.column for c in plan.rows.conditions),
                "given picked": pick is not None and pick.column == plan.column,
            }
        if self.asked >= 0 and (ahead := [p for p in linked.places if p > self.asked]):
            features["given place"] = 1.0 / (min(ahead) - self.asked)
        return features

    def _result(self, result: Denotation) -> dict[str, float]:
        """Return features of how likely such values are as an answer."""
        values, rows = result.values, result.rows
        features: dict[str, float] = {
            "values": min(len(values), 20),
            "one value": len(values) == 1,
            "value in question": sum(f" {normal(v)} " in self.padded for v in values) / len(values),
            "value long": min(max(map(len, values)), 100) / 20,
            "rows": min(len(rows), 30),
            "all rows": len(rows) == len(self.grid.rows),
            "one row": len(rows) == 1,
            "rows log": math.log1p(len(rows)),
            "total row": not self.totals.isdisjoint(rows),
            "plural asked": self.plural * _sign(len(values) > 1),
            "one asked": ("only" in self.words) * _sign(len(rows) == 1),
        }
        if (number := typed(values[0]).number) is not None:
            features |= {
                "value number": 1.0,
                "value zero": number == 0,
                "value one": number == 1,
                "value is row count": number == len(self.grid.rows),
                "value log": math.log1p(min(abs(number), 1e12)),
            }
        return features


def _sign(fits: bool) -> float:
    return 1.0 if fits else -1.0


def _headers(grid: Grid, plan: Plan) -> tuple[tuple[str, ...], ...]:
    """Return the stems of the headers, and the types, of the columns that matter to a plan."""
    pick, conditions = plan.rows.pick, plan.rows.conditions
    key = pick.column if pick is not None else plan.rows.like
    asked = conditions[0].column if conditions else 0
    return tuple(
        (*grid.stems[c - 1], f"<{grid.columns[c - 1].type}>") if c else ("<none>",)
        for c in (plan.column, key, asked)
    )


def _signature(candidate: Candidate) -> str:
    """Return the form of a plan without columns and values, which phrases can be related to."""
    plan, rows = candidate.plan, candidate.plan.rows
    parts = [plan.kind]
    for condition in rows.conditions:
        text = condition.by == "text"
        op = condition.op if not text or condition.op == "!=" else "is"
        if len(condition.texts) > 1 and len(candidate.links) > 1:
            op = "or"
        parts.append(f"{condition.by[0]}{op}")
    if rows.like:
        parts.append("like")
    if rows.pick is not None:
        by = "order" if rows.pick.by == "order" else "key"
        parts.append(f"{by}{'+' if rows.pick.highest else '-'}{'n' if rows.pick.nth > 1 else ''}")
    if rows.shift:
        parts.append(f"shift{rows.shift}")
    return " ".join(parts)


def _grams(links: Links) -> list[str]:
    """Return the words and phrases of a question, as spelt and with links as placeholders."""
    cells = {at for each in links.cells for at in range(each.start, each.end) if each.exact}
    heads = {at for each in links.columns if each.score >= 0.5 for at in each.places}
    dates = {at for each in links.dates for at in range(each.start, each.end)}
    named = dict.fromkeys(heads, "<c>") | dict.fromkeys(cells, "<e>")
    marks = {at: mark for at, mark in named.items() if links.words[at] not in STOP}
    marks |= dict.fromkeys((*links.number_places, *dates), "<n>")
    masked = [marks.get(at, word) for at, word in enumerate(links.words)]
    short = [m for at, m in enumerate(masked) if not at or m != masked[at - 1] or m[0] != "<"]
    grams = [f"u:{word}" for word in links.words]
    grams += [f"b:{a} {b}" for a, b in pairwise(["^", *short, "$"])]
    grams += [f"t:{a} {b} {c}" for a, b, c in zip(short, short[1:], short[2:], strict=False)]
    grams.append("s:" + " ".join(links.words[:2]))
    return list(dict.fromkeys(grams))


#: Words of a header that are used at most.
HEADER_WORDS = 6
#: Inputs of the confidence: these, and the features of the best plan.
CONFIDENCE = (
    "share", "margin", "score", "plan share", "candidates", "answers", "question words",
    "unknown words", *FEATURES,
)  # fmt: skip


class Ranker:
    """The network's weights and vocabularies as arrays; runs with numpy alone."""

    def __init__(self, weights: dict[str, NDArray[Any]], card: dict[str, Any]) -> None:
        self.weights = weights
        self.grams, self.signatures, self.headers = (
            {name: at for at, name in enumerate(card[kind], 1)}
            for kind in ("grams", "signatures", "headers")
        )
        self.trees = Trees(CONFIDENCE, card["confidence"])
        self.threshold = float(card["threshold"])
        #: Slope and shift that make a probability of the trees' log odds.
        self.calibration: tuple[float, float] = tuple(card["calibration"])

    def _scores(
        self,
        grams: Iterable[str],
        signatures: Iterable[str],
        features: NDArray[np.float32],
        named: Sequence[Sequence[Sequence[str]]],
    ) -> NDArray[np.float64]:
        """Return a score for each candidate; their softmax is the network's probability of each.

        `grams` are the question's words and phrases; `named` are the header words of the columns
        that a candidate gives, picks by, and filters.
        """
        w = self.weights
        known = [self.grams[g] for g in grams if g in self.grams]
        question = w["grams"][known].sum(axis=0) * (1.5 / max(len(known), 1) ** 0.5)
        shapes = [self.signatures.get(s, 0) for s in signatures]
        shape = w["signatures"][shapes]
        fit = (shape @ (w["turn.weight"] @ question))[:, None]
        parts = zip(*named, strict=True)
        headers = np.stack([[self._header(words) for words in part] for part in parts])
        asked = (w["ask.weight"] @ question + w["ask.bias"]).reshape(headers.shape[0], -1)
        fits = (headers * asked[:, None, :]).sum(axis=2).T
        bias = w["bias"][shapes]
        rows = (features - w["mean"]) / w["scale"]
        flat = headers.transpose(1, 0, 2).reshape(len(shapes), -1)
        extra = np.concatenate([fit, fits, bias], axis=1)
        first = (
            rows @ w["features.weight"].T
            + w["features.bias"]
            + question @ w["question.weight"].T
            + shape @ w["shape.weight"].T
            + flat @ w["header.weight"].T
            + extra @ w["extra.weight"].T
        )
        second = np.maximum(first, 0) @ w["second.weight"].T + w["second.bias"]
        last = np.maximum(second, 0) @ w["last.weight"].T + w["last.bias"]
        return np.asarray((last + fit + fits.sum(axis=1, keepdims=True) + bias)[:, 0])

    def _header(self, words: Sequence[str]) -> NDArray[Any]:
        known = [self.headers.get(word, 0) for word in words[:HEADER_WORDS]]
        return np.asarray(self.weights["headers"][known].sum(axis=0))

    def judge(self, links: Links, grid: Grid, readings: list[Candidate]) -> tuple[Candidate, float]:
        """Return the best plan of the answer likeliest by all, and how likely that is right."""
        # Plans with one answer are one group.
        answers = [tuple(sorted(v.casefold() for v in each.result.values)) for each in readings]
        number = {answer: at for at, answer in enumerate(dict.fromkeys(answers))}
        groups = np.array([number[answer] for answer in answers])
        named = map(_Question(links, grid).features, readings)
        rows = [[row.get(name, 0.0) for name in FEATURES] for row in named]
        features, grams = np.array(rows, dtype=np.float32), _grams(links)
        headers = [_headers(grid, each.plan) for each in readings]
        scores = self._scores(grams, map(_signature, readings), features, headers)
        belief = np.exp(scores - scores.max())
        belief /= belief.sum()
        shares = np.bincount(groups, weights=belief)
        top = int(shares.argmax())
        best = int(np.where(groups == top, scores, -np.inf).argmax())
        margin = shares[top] - np.delete(shares, top).max(initial=0.0)
        words = [gram for gram in grams if gram.startswith("u:")]
        unknown = sum(word not in self.grams for word in words)
        sure = (shares[top], margin, scores[best], belief[best])
        row = [*sure, len(groups), len(shares), len(words), unknown, *features[best]]
        score = float(self.trees.scores(np.array([row], dtype=np.float32))[0])
        slope, shift = self.calibration
        return readings[best], float(1.0 / (1.0 + np.exp(-slope * score - shift)))


@cache
def load_ranker() -> Ranker:
    """Read the ranker that comes with the package (once)."""
    folder = resources.files("kgp_neo4j.corpus.tables.questions")
    weights = load(folder.joinpath("ranker.safetensors").read_bytes())
    card = json.loads(folder.joinpath("ranker.json").read_text(encoding="utf-8"))
    return Ranker({name: array.astype("float32") for name, array in weights.items()}, card)
