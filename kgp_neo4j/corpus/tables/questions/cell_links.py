"""What a question's words are linked to: cells, columns, numbers and dates of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.questions.plans import Condition
from kgp_neo4j.corpus.tables.questions.question_words import (
    COMPARING,
    DEMONYMS,
    NUMBERS,
    ORDINALS,
    STOP,
    stem,
)
from kgp_neo4j.corpus.tables.questions.table_grid import Grid, folded
from kgp_neo4j.text.values import MONTHS

__all__ = ["ColumnLink", "Link", "Links", "link", "link_dates", "link_numbers"]


@dataclass(frozen=True, slots=True)
class Link:
    """A condition that words `start`..`end` of the question speak for.

    `exact` says that the whole cell is named; `share` is the part of the (shortest) cell's words
    that the question has; `agrees` says how well a comparison fits the words round its number.
    """

    condition: Condition
    start: int
    end: int
    exact: bool = True
    share: float = 1.0
    agrees: float = 0.0
    header: bool = False


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """How well a question names a column: the share of the header's words, and where."""

    score: float = 0.0
    words: int = 0
    places: tuple[int, ...] = ()
    after_what: bool = False
    whole: bool = False


@dataclass(slots=True)
class Links:
    """A question's words (and their stems), and all that they are linked to."""

    text: str
    words: list[str]
    stems: list[str]
    cells: list[Link] = field(default_factory=list)
    numbers: list[Link] = field(default_factory=list)
    dates: list[Link] = field(default_factory=list)
    columns: list[ColumnLink] = field(default_factory=list)
    #: Where numbers stand (as one number word each).
    number_places: dict[int, float] = field(default_factory=dict)
    ordinals: set[int] = field(default_factory=set)


# --- Links the numbers and dates of a question to the columns that have such ----------------------


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


# --- Links a question's words to a table: cells that they name, columns, numbers and dates --------

_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\w+")
#: A span of a question is looked for with at most so many words.
_LONGEST = 14


def link(question: str, grid: Grid) -> Links:
    """Link a question to a table."""
    words = [folded(w.casefold()) for w in _TOKEN.findall(question.replace("_", " "))]
    # As `normal` cuts text: a decimal point or a thousands' comma parts a number in two.
    made = Links(question, words, [stem(word) for word in words])
    made.columns = [_column(made, header) for header in grid.stems]
    for at, (word, number) in enumerate(pairwise(words)):
        if word == "column" and number.isdecimal() and 0 < int(number) <= len(made.columns):
            made.columns[int(number) - 1] = ColumnLink(1.0, 2, (at, at + 1), True, True)
    made.cells = _cells(made, grid)
    link_numbers(made, grid)
    link_dates(made, grid)
    return made


# --- Cells ----------------------------------------------------------------------------------------


def _cells(made: Links, grid: Grid) -> list[Link]:
    pieces = [normal(word).split() for word in made.words]
    flat = [piece for parts in pieces for piece in parts]
    place = [at for at, parts in enumerate(pieces) for _ in parts]
    found: dict[tuple[int, int, int], tuple[bool, float]] = {}
    texts: dict[tuple[int, int, int], set[str]] = {}
    for start, first in enumerate(flat):
        # A cell may begin with a stop word; it is found when all of it is there.
        full_only = first in STOP and len(flat) > 1
        for column, parts, at in grid.words.get(first[:4], ()):
            length = 0
            loose = False
            while start + length < len(flat) and at + length < len(parts) and length < _LONGEST:
                word, part = flat[start + length], parts[at + length]
                if word == part:
                    length += 1
                    continue
                short = stem(word)
                if len(short) >= 4 and part.startswith(short) and abs(len(part) - len(word)) <= 4:
                    length += 1
                    loose = True
                break
            if not length:
                continue
            exact = not loose and at == 0 and length == len(parts)
            if not exact and (full_only or all(w in STOP for w in flat[start : start + length])):
                continue
            if not exact and length == 1 and (len(first) < 3 and not first.isdigit()):
                continue
            key = (column, start, start + length)
            share = length / len(parts)
            was = found.get(key)
            found[key] = (exact, share) if was is None else (was[0] or exact, max(was[1], share))
            said = " ".join(flat[start : start + length - loose])
            if loose:
                said = f"{said} {stem(flat[start + length - 1])}".strip()
            texts.setdefault(key, set()).add(f" {said}" if loose else f" {said} ")
    links = []
    for (column, start, end), (exact, share) in found.items():
        if any(
            c == column
            and s <= start
            and end <= e
            and (s, e) != (start, end)
            and (not exact or other[0])
            for (c, s, e), other in found.items()
        ):
            continue
        said = " ".join(flat[start:end])
        span = (place[start], place[end - 1] + 1)
        if exact:
            norms = grid.folded[column - 1][said]
            condition = Condition(column, "=", texts=norms, said=said)
            links.append(Link(condition, *span, True, 1.0))
        pieces_ = tuple(sorted(texts[column, start, end], key=len))
        if (not exact or _wider(grid, column, pieces_)) and grid.folded[column - 1]:
            condition = Condition(column, "contains", texts=pieces_[:1], said=said)
            links.append(Link(condition, *span, False, share))
    links += _peoples(made, grid)
    links += _missing(made, grid)
    links.sort(key=lambda each: (each.start - each.end, not each.exact, each.condition.column))
    return links


def _peoples(made: Links, grid: Grid) -> Iterator[Link]:
    """Yield links of words such as `italian` to cells with the country's name or code."""
    for at, word in enumerate(made.words):
        if places := DEMONYMS.get(word):
            pieces = tuple(f" {place} " for place in places)
            for column in grid.columns:
                if any(p in f" {t} " for t in grid.folded[column.order - 1] for p in pieces):
                    condition = Condition(column.order, "contains", texts=pieces, said=word)
                    yield Link(condition, at, at + 1, False, 0.6)


_NONE = frozenset("no not never without zero none any nothing undefeated t missing blank".split())
_SOME = frozenset("any have has had received listed with at some given won scored".split())


def _missing(made: Links, grid: Grid) -> Iterator[Link]:
    """Yield links to columns that the question names as empty, nought, or filled."""
    places = {word: at for at, word in enumerate(made.words)}
    none = [places[word] for word in _NONE & places.keys()]
    some = [places[word] for word in _SOME & places.keys()]
    for column, linked in zip(grid.columns, made.columns, strict=True):
        if not linked.places or not (none or some):
            continue
        empty = any(not row[column.order - 1].norm for row in grid.rows)
        zero = any(row[column.order - 1].value == 0 for row in grid.rows)
        first = linked.places[0]
        said = " ".join(made.words[at] for at in linked.places)
        for places_, word, text_op, value_op in ((none, "no", "=", "="), (some, "some", "!=", ">")):
            before = [at for at in places_ if at < first]
            if not before:
                continue
            span = (max(before), max(before) + 1)
            near = float(first - max(before) <= 2)
            if empty:
                condition = Condition(column.order, text_op, texts=("",), said=f"{word} {said}")
                yield Link(condition, *span, False, 0.5, near, True)
            if zero:
                condition = Condition(
                    column.order, value_op, "value", (), 0.0, None, f"{word} {said}"
                )
                yield Link(condition, *span, False, 0.5, near, True)


def _wider(grid: Grid, column: int, pieces: tuple[str, ...]) -> bool:
    """Return whether a piece stands in more cells than the one that it is."""
    texts = grid.folded[column - 1]
    return sum(any(p in f" {text} " for p in pieces) for text in texts) > 1


# --- Columns --------------------------------------------------------------------------------------

_ASKING = frozenset("what which whose name list many much".split())


def _column(made: Links, header: tuple[str, ...]) -> ColumnLink:
    wanted = [word for word in header if word not in STOP] or list(header)
    if not wanted:
        return ColumnLink()
    places: list[int] = []
    score = 0.0
    for word in wanted:
        best, where = 0.0, -1
        for at, (stem_, raw) in enumerate(zip(made.stems, made.words, strict=True)):
            if stem_ == word:
                fit = 1.0
            elif (
                len(word) >= 4
                and len(stem_) >= 4
                and (
                    (stem_.startswith(word[:5]) and word.startswith(stem_[:5]))
                    or word.startswith(stem_)
                    or stem_.startswith(word)
                )
            ):
                fit = 0.7
            else:
                continue
            if raw in STOP and raw not in header:
                fit *= 0.5
            if fit > best:
                best, where = fit, at
        if best:
            score += best
            places.append(where)
    if not places:
        return ColumnLink()
    first = min(places)
    before = made.words[max(0, first - 2) : first]
    return ColumnLink(
        score / len(wanted),
        len(places),
        tuple(sorted(set(places))),
        bool(_ASKING & set(before)),
        len(places) == len(wanted) and score == len(wanted),
    )
