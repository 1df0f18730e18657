"""What speaks for a plan: how it fits the question's words, the table, and its own result."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from kgp_neo4j.corpus.tables.questions.candidates import Candidate
from kgp_neo4j.corpus.tables.questions.cell_links import Links
from kgp_neo4j.corpus.tables.questions.plans import cues_of
from kgp_neo4j.corpus.tables.questions.question_words import (
    CUES,
    EARLY,
    LATE,
    NEGATIVE,
    PEOPLE,
    PLACES,
    POSITIVE,
    STOP,
    TIMES,
)
from kgp_neo4j.corpus.tables.questions.table_grid import Grid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FEATURES", "Example", "example", "feature_rows"]

FEATURES = (
    "conditions", "text conditions", "exact", "number", "compares", "date",
    "agrees", "agrees least", "share", "span", "ambiguous", "condition header", "both",
    "covered", "uncovered", "uncovered names", "uncovered numbers", "cue", "cue count",
    "order", "key", "highest", "nth", "nth said", "shift", "like",
    "direction agrees", "direction against", "early agrees", "early against",
    "pick header", "pick best", "pick near", "pick counted", "pick dated", "pick last",
    "pick is asked", "pick rank",
    "select header", "select whole", "select after what", "select best", "select first",
    "select leftmost text", "select used", "select number", "select date", "select text",
    "select distinct", "select place", "select rank", "select is pick", "select counted",
    "who text", "who person", "when time", "where place", "many number", "what year",
    "values", "one value", "values number", "value small", "value zero", "value one",
    "value in question", "value long", "value is row count", "value log",
    "rows", "all rows", "one row", "rows log", "table rows", "table columns",
    "select", "count", "distinct", "common", "rare", "sum", "average", "max", "min", "difference",
    "count_difference", "span between", "exists", "yes no question", "how many", "plural asked",
    "one asked", "shift agrees", "kind column header", "entity links left", "total row",
)  # fmt: skip
_AT = {name: at for at, name in enumerate(FEATURES)}


def feature_rows(links: Links, grid: Grid, found: Sequence[Candidate]) -> NDArray[np.float32]:
    """Return one row of numbers for each candidate, in the order of `FEATURES`."""
    import numpy as np

    context = _Context(links, grid)
    rows = [context.row(candidate) for candidate in found]
    return np.array(rows, dtype=np.float32).reshape(len(found), len(FEATURES))


class _Context:
    """What is the same for all candidates of a question."""

    def __init__(self, links: Links, grid: Grid) -> None:
        self.links, self.grid = links, grid
        words = links.words
        self.words = set(words)
        self.content = {at for at, w in enumerate(words) if w not in STOP}
        self.best = max((c.score for c in links.columns), default=0.0)
        ranked = sorted(range(len(grid.columns)), key=lambda c: -links.columns[c].score)
        self.rank = {c + 1: at for at, c in enumerate(ranked)}
        self.text = next((c.order for c in grid.columns if c.type == "text"), 1)
        joined = " ".join(words[:4])
        self.who = "who" in words or "whose" in words or "whom" in words
        self.when = "when" in words or bool(
            {"what year", "which year", "what date", "what day"}
            & {" ".join(p) for p in pairwise(words)}
        )
        self.where = "where" in words
        self.many = joined.startswith(
            (
                "how many",
                "what is the number",
                "what is the total number",
                "number of",
                "what was the total number",
            )
        ) or "how many" in " ".join(words)
        self.verb = bool(words) and words[0] in (
            "is",
            "are",
            "was",
            "were",
            "did",
            "does",
            "do",
            "has",
            "have",
            "can",
            "had",
        )
        self.names: dict[int, float] = {}
        for each in links.cells:
            for at in range(each.start, each.end):
                if at in self.content:
                    self.names[at] = max(self.names.get(at, 0.0), each.share * (1 + each.exact) / 2)
        self.cue = {k: {at for at, w in enumerate(words) if w in v} for k, v in CUES.items()}
        self.est = {
            at
            for at, w in enumerate(words)
            if w in CUES["high"] | CUES["low"] or (len(w) > 4 and w.endswith("est"))
        }
        asked = [
            at for at, w in enumerate(words) if w in ("what", "which", "many", "whose", "name")
        ]
        self.asked = asked[0] if asked else -1
        after = words[self.asked + 1 : self.asked + 4] if asked else []
        self.plural = any(
            w.endswith("s") and len(w) > 3 and not w.endswith("ss") for w in after[:2]
        )
        self.lower = " " + re.sub(r"[\W_]+", " ", links.text.casefold()) + " "
        self.last = " ".join(words[-2:])
        self.total = [
            bool(row and row[0].norm.startswith(("total", "average", "sum"))) for row in grid.rows
        ]

    def row(self, candidate: Candidate) -> list[float]:
        made = [0.0] * len(FEATURES)
        self._conditions(made, candidate)
        self._picks(made, candidate)
        self._columns(made, candidate)
        self._result(made, candidate)
        self._coverage(made, candidate)
        return made

    def _conditions(self, made: list[float], candidate: Candidate) -> None:
        conditions = candidate.plan.rows.conditions
        links = candidate.links
        made[_AT["conditions"]] = len(conditions)
        made[_AT["text conditions"]] = sum(c.by == "text" for c in conditions)
        made[_AT["number"]] = sum(c.by == "value" for c in conditions)
        made[_AT["date"]] = sum(c.by == "date" for c in conditions)
        made[_AT["compares"]] = sum(c.op in (">", ">=", "<", "<=") for c in conditions)
        if not links:
            made[_AT["exact"]] = made[_AT["share"]] = 1.0
            return
        made[_AT["exact"]] = min(float(each.exact) for each in links)
        compared = [e for e in links if e.condition.by != "text"]
        if compared:
            made[_AT["agrees"]] = max(e.agrees for e in compared)
            made[_AT["agrees least"]] = min(e.agrees for e in compared)
        made[_AT["share"]] = min(e.share for e in links)
        made[_AT["span"]] = sum(e.end - e.start for e in links)
        made[_AT["ambiguous"]] = max(
            sum(
                o.start == e.start and o.end == e.end and o.condition.column != e.condition.column
                for o in (*self.links.cells, *self.links.numbers)
            )
            for e in links
        )
        scores = [
            self.links.columns[e.condition.column - 1].score for e in links if e.condition.column
        ]
        made[_AT["condition header"]] = min(scores, default=0.0)
        made[_AT["both"]] = float(candidate.plan.second is not None)

    def _picks(self, made: list[float], candidate: Candidate) -> None:
        rows = candidate.plan.rows
        pick = rows.pick
        made[_AT["shift"]] = rows.shift
        made[_AT["like"]] = float(bool(rows.like))
        if rows.shift:
            one, other = ("next", "previous") if rows.shift > 0 else ("previous", "next")
            made[_AT["shift agrees"]] = float(bool(self.cue[one])) - float(bool(self.cue[other]))
        high: bool | None = None
        if pick is not None:
            high = pick.highest
            made[_AT["order"]] = float(pick.by == "order")
            made[_AT["key"]] = float(pick.by != "order")
            made[_AT["highest"]] = 1.0 if high else -1.0
            made[_AT["nth"]] = pick.nth
            made[_AT["nth said"]] = float(pick.nth > 1)
            column = pick.column
        else:
            kind = candidate.plan.kind
            if kind in ("max", "min", "common", "rare"):
                high = kind in ("max", "common")
            column = (
                candidate.plan.column
                if high is not None or kind in ("sum", "average", "difference")
                else 0
            )
        words = self.words
        if high is not None:
            good, bad = (POSITIVE, NEGATIVE) if high else (NEGATIVE, POSITIVE)
            made[_AT["direction agrees"]] = float(bool(words & good))
            made[_AT["direction against"]] = float(bool(words & bad))
            good, bad = (LATE, EARLY) if high else (EARLY, LATE)
            made[_AT["early agrees"]] = float(bool(words & good))
            made[_AT["early against"]] = float(bool(words & bad))
        if column:
            linked = self.links.columns[column - 1]
            made[_AT["pick header"]] = linked.score
            made[_AT["pick best"]] = float(linked.score == self.best and self.best > 0)
            near = [p - at for at in self.est for p in linked.places if p >= at]
            made[_AT["pick near"]] = 1.0 / (1 + min(near)) if near else 0.0
            made[_AT["pick counted"]] = float(self.grid.counted[column - 1])
            made[_AT["pick dated"]] = self.grid.dated[column - 1]
            made[_AT["pick last"]] = float(column == len(self.grid.columns))
            made[_AT["pick is asked"]] = float(linked.after_what)
            made[_AT["pick rank"]] = min(self.rank[column], 6)

    def _columns(self, made: list[float], candidate: Candidate) -> None:
        plan = candidate.plan
        grid = self.grid
        if not plan.column:
            return
        linked = self.links.columns[plan.column - 1]
        at = plan.column - 1
        made[_AT["kind column header"]] = linked.score
        stems = set(grid.stems[at])
        if plan.kind in ("select", "common", "rare", "distinct"):
            made[_AT["select header"]] = linked.score
            made[_AT["select whole"]] = float(linked.whole) * min(linked.words, 3)
            made[_AT["select after what"]] = float(linked.after_what)
            made[_AT["select best"]] = float(linked.score == self.best and self.best > 0)
            made[_AT["select first"]] = float(plan.column == 1)
            made[_AT["select leftmost text"]] = float(plan.column == self.text)
            made[_AT["select used"]] = float(
                any(c.column == plan.column for c in plan.rows.conditions)
            )
            made[_AT["select rank"]] = min(self.rank[plan.column], 6)
            made[_AT["select is pick"]] = float(
                plan.rows.pick is not None and plan.rows.pick.column == plan.column
            )
        made[_AT["select number"]] = grid.valued[at]
        made[_AT["select date"]] = grid.dated[at]
        made[_AT["select text"]] = float(grid.columns[at].type == "text")
        made[_AT["select distinct"]] = grid.distinct[at] / max(len(grid.rows), 1)
        made[_AT["select counted"]] = float(grid.counted[at])
        if linked.places and self.asked >= 0:
            ahead = [p - self.asked for p in linked.places if p > self.asked]
            made[_AT["select place"]] = 1.0 / min(ahead) if ahead else 0.0
        text = grid.columns[at].type == "text"
        if self.who:
            made[_AT["who text"]] = 1.0 if text else -1.0
            made[_AT["who person"]] = float(bool(stems & PEOPLE))
        if self.when:
            made[_AT["when time"]] = 1.0 if stems & TIMES or grid.dated[at] > 0.5 else -1.0
        if self.where:
            made[_AT["where place"]] = 1.0 if stems & PLACES else -1.0
        if self.many:
            made[_AT["many number"]] = 1.0 if grid.valued[at] > 0.5 else -1.0

    def _result(self, made: list[float], candidate: Candidate) -> None:
        values = candidate.result.values
        rows = len(candidate.result.rows)
        plan = candidate.plan
        made[_AT["values"]] = min(len(values), 20)
        made[_AT["one value"]] = float(len(values) == 1)
        made[_AT["value in question"]] = sum(
            f" {re.sub(r'[^a-z0-9]+', ' ', v.casefold()).strip()} " in self.lower for v in values
        ) / len(values)
        made[_AT["value long"]] = min(max(len(v) for v in values), 100) / 20
        try:
            number = float(values[0].replace(",", ""))
            made[_AT["values number"]] = 1.0
            made[_AT["value small"]] = float(abs(number) <= 20)
            made[_AT["value zero"]] = float(number == 0)
            made[_AT["value one"]] = float(number == 1)
            made[_AT["value is row count"]] = float(number == len(self.grid.rows))
            made[_AT["value log"]] = math.log1p(min(abs(number), 1e12))
        except ValueError:
            pass
        made[_AT["rows"]] = min(rows, 30)
        made[_AT["all rows"]] = float(rows == len(self.grid.rows))
        made[_AT["one row"]] = float(rows == 1)
        made[_AT["rows log"]] = math.log1p(rows)
        made[_AT["table rows"]] = math.log1p(len(self.grid.rows))
        made[_AT["table columns"]] = len(self.grid.columns)
        made[_AT["span between" if plan.kind == "span" else plan.kind]] = 1.0
        made[_AT["yes no question"]] = float(self.verb)
        made[_AT["how many"]] = float(self.many)
        made[_AT["plural asked"]] = float(self.plural) * (1.0 if len(values) > 1 else -1.0)
        made[_AT["one asked"]] = float("only" in self.words) * (1.0 if rows == 1 else -1.0)
        made[_AT["total row"]] = float(any(self.total[r] for r in candidate.result.rows))

    def _coverage(self, made: list[float], candidate: Candidate) -> None:
        plan = candidate.plan
        covered = {at for e in candidate.links for at in range(e.start, e.end)}
        columns = {plan.column, plan.to, plan.rows.like, *(c.column for c in plan.rows.conditions)}
        if plan.rows.pick is not None:
            columns.add(plan.rows.pick.column)
        for column in columns - {0}:
            covered.update(self.links.columns[column - 1].places)
        cues = set()
        for name in cues_of(plan):
            cues |= self.cue[name]
        covered |= cues
        content = self.content
        made[_AT["cue"]] = float(bool(cues))
        made[_AT["cue count"]] = min(len(cues), 6)
        made[_AT["covered"]] = len(covered & content) / max(len(content), 1)
        left = content - covered
        made[_AT["uncovered"]] = len(left)
        made[_AT["uncovered names"]] = sum(self.names.get(at, 0.0) for at in left)
        made[_AT["uncovered numbers"]] = sum(at in self.links.number_places for at in left)
        made[_AT["entity links left"]] = sum(at in self.names for at in left)


# --- A question's readings as the ranker sees them ------------------------------------------------


@dataclass(frozen=True, slots=True)
class Example:
    """A question's readings as a ranker sees them.

    `grams` are the question's words and phrases; for each candidate there is its signature, a row
    of `FEATURES`, and the header words of the columns that it gives, picks by, and filters.
    """

    grams: tuple[str, ...]
    signatures: tuple[str, ...]
    features: NDArray[np.float32]
    headers: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...]


def example(links: Links, grid: Grid, found: Sequence[Candidate]) -> Example:
    """Return what a ranker judges the candidates of a question by."""
    return Example(
        tuple(_grams(links)),
        tuple(_signature(candidate) for candidate in found),
        feature_rows(links, grid, found),
        tuple(_headers(grid, candidate) for candidate in found),
    )


def _headers(
    grid: Grid, candidate: Candidate
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    plan = candidate.plan
    pick = plan.rows.pick
    key = pick.column if pick is not None else plan.rows.like or plan.to
    asked = plan.rows.conditions[0].column if plan.rows.conditions else 0
    return (
        _header_words(grid, plan.column),
        _header_words(grid, key),
        _header_words(grid, asked),
    )


def _signature(candidate: Candidate) -> str:
    """Return the shape of a plan, without columns and values: what phrases speak for as such."""
    plan = candidate.plan
    rows = plan.rows
    parts = [plan.kind]
    for condition in rows.conditions:
        if (not condition.column and condition.op != "=") or (
            condition.by != "text" and all(e.condition.by == "text" for e in candidate.links)
        ):
            parts.append(f"beside{condition.op}")
            continue
        op = condition.op if condition.by != "text" else ("!=" if condition.op == "!=" else "is")
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
    if plan.second is not None and plan.second.pick is not None:
        parts.append("extremes")
    return " ".join(parts)


def _grams(links: Links) -> list[str]:
    """Return the words and phrases of a question, as spelt and with links as placeholders."""
    masked: list[str] = []
    cells = {at for each in links.cells for at in range(each.start, each.end) if each.exact}
    heads = {at for each in links.columns if each.score >= 0.5 for at in each.places}
    dates = {at for each in links.dates for at in range(each.start, each.end)}
    for at, word in enumerate(links.words):
        if at in links.number_places or at in dates:
            masked.append("<n>")
        elif at in cells and word not in STOP:
            masked.append("<e>")
        elif at in heads and word not in STOP:
            masked.append("<c>")
        else:
            masked.append(word)
    short = [m for at, m in enumerate(masked) if not at or m != masked[at - 1] or m[0] != "<"]
    raw = links.words
    made = [f"u:{w}" for w in raw]
    made += [f"b:{a} {b}" for a, b in zip(["^", *short], [*short, "$"], strict=True)]
    made += [f"t:{a} {b} {c}" for a, b, c in zip(short, short[1:], short[2:], strict=False)]
    made.append("s:" + " ".join(raw[:2]))
    return list(dict.fromkeys(made))


def _header_words(grid: Grid, column: int) -> tuple[str, ...]:
    """Return the stems of a column's header and its type."""
    if not column:
        return ("<none>",)
    return (*grid.stems[column - 1], f"<{grid.columns[column - 1].type}>")
