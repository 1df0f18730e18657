"""A question's readings as the ranker sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgp_neo4j.structure.table_questions.candidates import Candidate
from kgp_neo4j.structure.table_questions.features import feature_rows
from kgp_neo4j.structure.table_questions.grid import Grid
from kgp_neo4j.structure.table_questions.linked import Links
from kgp_neo4j.structure.table_questions.words import STOP

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Example", "example"]


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
