"""Links the numbers and dates of a question to the columns that have such."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgp_neo4j.structure.table_questions.grid import Grid
from kgp_neo4j.structure.table_questions.linked import Link, Links
from kgp_neo4j.structure.table_questions.plans import Condition
from kgp_neo4j.structure.table_questions.words import COMPARING, NUMBERS, ORDINALS
from kgp_neo4j.values import MONTHS

__all__ = ["link_dates", "link_numbers"]


def link_numbers(made: Links, grid: Grid) -> None:
    """Link numbers to columns of numbers and years, with each comparison that may be meant."""
    for at, word in enumerate(made.words):
        if word[0].isdigit() and word not in ORDINALS:
            try:
                value = float(word.replace(",", ""))
            except ValueError:
                continue
        elif word in NUMBERS:
            value = float(NUMBERS[word])
        elif word in ORDINALS:
            value = float(ORDINALS[word])
            if not (
                at and made.words[at - 1] in ("in", "ranked", "placed", "place", "the", "number")
            ):
                continue
            made.ordinals.add(at)
        else:
            continue
        made.number_places[at] = value
    for at, value in list(made.number_places.items())[:4]:
        ops = list(_ops(made, at)) if at not in made.ordinals else [("=", 0.0)]
        year = value == int(value) and 1000 <= value <= 2100
        for column in grid.columns:
            order = column.order
            if grid.valued[order - 1] < 0.5 or (grid.dated[order - 1] > 0.5 and not year):
                continue
            for op, agrees in ops:
                by, date = "value", None
                if year and grid.dated[order - 1] > 0.5:
                    by, date = "date", made.words[at]
                condition = Condition(order, op, by, (), value, date, made.words[at])
                header = made.columns[order - 1].score > 0
                made.numbers.append(Link(condition, at, at + 1, True, 1.0, agrees, header))
    for at, word in enumerate(made.words[1:], 1):  # "in row 3"
        if made.words[at - 1] in ("row", "line", "entry") and word.isdigit():
            wanted = Condition(0, "=", "value", (), float(word), None, f"row {word}")
            made.cells.insert(0, Link(wanted, at - 1, at + 1))


def _ops(made: Links, at: int) -> Iterator[tuple[str, float]]:
    """Return the comparisons worth trying for the number at a place, and how well each fits."""
    before = made.words[max(0, at - 4) : at]
    after = made.words[at + 1 : at + 4]
    near = set(before) | ({after[1]} if len(after) > 1 and after[0] in ("or", "and") else set())
    made_ops = [("=", 0.0)]
    anywhere = set(made.words)
    least = ("at" in before and "least" in before) or (
        "no" in before and (near & {"less", "fewer"})
    )
    most = ("at" in before and "most" in before) or ("no" in before and (near & {"more", "than"}))
    ors = len(after) > 1 and after[0] in ("or", "and")
    for op, words in COMPARING.items():
        forced = (least and op == ">=") or (most and op == "<=")
        if not words & anywhere and not forced:
            continue
        agrees = 1.0 if words & near or forced else 0.0
        if agrees and (least or most):
            agrees = float(op == (">=" if least else "<="))
        elif agrees and ors and op in (">=", "<=") and after[1] in words:
            agrees = 1.5
        elif (
            op in (">=", "<=")
            and agrees
            and not (
                words & near - {"more", "less", "lower", "higher", "fewer", "greater", "exceed"}
            )
        ):
            agrees = 0.3
        made_ops.append((op, agrees))
    return iter(made_ops)


def link_dates(made: Links, grid: Grid) -> None:
    """Link dates, as far as they are said, to columns of dates."""
    dated = [c.order for c in grid.columns if grid.dated[c.order - 1] > 0.5]
    if not dated:
        return
    at = 0
    words = made.words
    for place, word in enumerate(words):  # "the 1990s", "the 1990's"
        following = words[place + 1 : place + 2]
        if re.fullmatch(r"1\d\d0s?|20\d0s?", word) and (word[-1] == "s" or following == ["s"]):
            begin = word[:2] if word[2:4] == "00" else word[:3]
            for order in dated:
                condition = Condition(order, "=", "date", (), None, begin, f"the {word[:4]}s")
                made.dates.append(Link(condition, place, place + 1, True, 1.0, 0.5))
    while at < len(words):
        month = MONTHS.get(words[at])
        if month is None or (words[at] == "may" and not _beside_number(words, at)):
            at += 1
            continue
        start, end = at, at + 1
        day = year = 0
        if at and _day(words[at - 1]):
            start, day = at - 1, _day(words[at - 1])
        elif end < len(words) and _day(words[end]):
            day, end = _day(words[end]), end + 1
        if end < len(words) and words[end].isdigit() and 1000 <= int(words[end]) <= 2100:
            year, end = int(words[end]), end + 1
        iso = (f"{year:04}" if year else "-") + f"-{month:02}" + (f"-{day:02}" if day else "")
        for order in dated:
            for op, agrees in _ops(made, start):
                condition = Condition(order, op, "date", (), None, iso, " ".join(words[start:end]))
                header = made.columns[order - 1].score > 0
                made.dates.append(Link(condition, start, end, True, 1.0, agrees, header))
        at = end


def _beside_number(words: list[str], at: int) -> bool:
    near = words[max(0, at - 1) : at] + words[at + 1 : at + 2]
    return any(word[0].isdigit() for word in near)


def _day(word: str) -> int:
    digits = word[:-2] if word in ORDINALS and word[0].isdigit() else word
    return int(digits) if digits.isdigit() and 1 <= int(digits) <= 31 else 0
