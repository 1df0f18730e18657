"""Find the rows of a table that sum up others: totals, subtotals and averages."""

import math
import re
from collections.abc import Sequence
from statistics import fmean

from kgp_neo4j.corpus.load.grid import normal, section_rows
from kgp_neo4j.text.values import typed
from kgp_neo4j.types.tables import SourceTable

_SUMS = frozenset(
    "total totals totaal totale totales totalt gesamt gesamtsumme summe endsumme insgesamt "
    "zwischensumme subtotal subtotals subtotaal somme suma summa soma sum toplam razem celkem "
    "итого всего сумма 合计 总计 小计 共计 合計 総計 小計 합계 총계 소계".split()
)
_MEANS = frozenset(
    "average averages avg mean durchschnitt mittelwert mittel moyenne media promedio média "
    "gemiddelde medelvärde gjennomsnitt gennemsnit średnia среднее 平均 平均値 평균".split()
)
#: Words beside those in a label that says nothing else.
_BESIDE = frozenset("grand overall sub all of the general général generale net".split())
_DECIMALS = re.compile(r"[.,](\d+)\D*$")
#: A total that is not the sum of the rows shown is at least so much of it (rows may be left out).
_LEAST_SHARE = 0.95
#: Rows above a row without a label that must sum up to it.
_ENOUGH = 3
#: Rows up to which a row within a table may sum up all those above it.
_SHORT = 1_000


def total_rows(table: SourceTable, notations: Sequence[str]) -> dict[int, str]:
    """Return the rows that sum up others, each with `sum` or `average`; `notations` of columns.

    A row is one where its label says so and its numbers agree with those above or below it. A label
    that says nothing else is enough in the last place, unless the numbers deny it; no label, where
    all numbers are sums.
    """
    sections = section_rows(table)
    data = [at for at in range(table.header_rows, len(table.rows)) if at not in sections]
    found: dict[int, str] = {}
    values: dict[int, list[float | None]] = {
        at: [_value(text, mark) for text, mark in zip(table.rows[at], notations, strict=True)]
        for at in data
    }
    last = table.header_rows
    for at in range(table.header_rows, len(table.rows)):
        if at in sections:
            last = at + 1
            continue
        label = next(filter(None, map(normal, table.rows[at])), "")
        said = _said(label)
        is_end = at == data[-1] or data[-1] in found
        if not said and (not is_end or table.rows[at][0].strip()):
            continue
        others = [row for row in data if row < at and row not in found]
        kinds = _kinds(table, values, at, [row for row in others if row >= last])
        if is_end or len(others) <= _SHORT:
            kinds += _kinds(table, values, at, others)
        if at == data[0] and said:
            kinds += _kinds(table, values, at, data[1:])
        # "Subtotal | January" sums up those of January, wherever they stand.
        pairs = zip(map(normal, table.rows[at]), values[at], strict=True)
        texts = {text for text, value in pairs if value is None} - {"", label}
        if said and texts:
            alike = [row for row in others if texts <= {*map(normal, table.rows[row])}]
            kinds += _kinds(table, values, at, alike)
        if kinds and (said or (not texts and len(others) >= _ENOUGH)):
            found[at] = kinds[0]
        elif not texts and is_end and said == "whole" and others:
            kind = "sum" if _MEANS.isdisjoint(label.split()) else "average"
            if _may_be(values, at, others, kind):
                found[at] = kind
        last = at + 1 if at in found else last
    return found


def _said(label: str) -> str:
    """Return whether a label says that a row sums up others: `whole`, `partly`, or nothing."""
    words = label.split()
    telling = [word in _SUMS | _MEANS for word in words]
    if not any(telling[:1] + telling[-1:]):
        return "partly" if any(telling) and _BESIDE & set(words[:1]) else ""
    return "whole" if set(words) <= _SUMS | _MEANS | _BESIDE else "partly"


def _value(text: str, notation: str) -> float | None:
    value = typed(text, notation)
    return value.number if value.type not in ("text", "date") else None


def _kinds(
    table: SourceTable, values: dict[int, list[float | None]], at: int, others: Sequence[int]
) -> list[str]:
    """Return what a row's numbers are of others' for at least half of the columns."""
    agreeing, checked = [], 0
    for column, total in enumerate(values[at]):
        parts = [v for row in others if (v := values[row][column]) is not None]
        if not total or len(parts) < 2:
            continue
        checked += 1
        shown = [*(table.rows[row][column] for row in others), table.rows[at][column]]
        unit = 0.5 * 10.0 ** -max(map(_decimals, shown))
        own = 0.51 * 10.0 ** -_decimals(shown[-1])
        if abs(total - math.fsum(parts)) <= max(own, unit * len(parts) / 2):
            agreeing.append("sum")
        elif abs(total - fmean(parts)) <= own and len(set(parts)) > 1:
            agreeing.append("average")
    return agreeing if 2 * len(agreeing) >= checked else []


def _decimals(text: str) -> int:
    found = _DECIMALS.search(text)
    return len(found[1]) if found and len(found[1]) != 3 else 0


def _may_be(
    values: dict[int, list[float | None]], at: int, others: Sequence[int], kind: str
) -> bool:
    """Return whether a row that its label and place alone tell may be that of others."""
    for column, total in enumerate(values[at]):
        parts = [v for row in others if (v := values[row][column]) is not None]
        if total is not None and parts:
            if kind == "average" and not min(parts) <= total <= max(parts):
                return False
            if kind == "sum" and total < _LEAST_SHARE * math.fsum(parts):
                return False
    return True
