"""Link a question's words to cells, columns, numbers and dates of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from kgp_neo4j.corpus.load.grid import normal
from kgp_neo4j.corpus.tables.questions.plans import Condition
from kgp_neo4j.corpus.tables.questions.question_words import NUMBERS, ORDINALS, STOP
from kgp_neo4j.corpus.tables.questions.table_grid import Grid, folded
from kgp_neo4j.text.values import COMPARING, MONTHS, typed
from kgp_neo4j.text.words import stem

__all__ = ["ColumnLink", "Link", "Links", "link"]


@dataclass(frozen=True, slots=True)
class Link:
    """A condition that words `start`..`end` of the question support.

    `exact` is true where the whole cell is named; `share` is the part of the (shortest) cell's
    words that the question has; `agrees` is how well a comparison fits the words around its number.
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
    """How well a question names a column: the share of the header's words, and their places."""

    score: float = 0.0
    words: int = 0
    places: tuple[int, ...] = ()
    after_what: bool = False
    whole: bool = False


@dataclass(slots=True)
class Links:
    """A question's words (and their stems), and everything that they are linked to."""

    text: str
    words: list[str]
    stems: list[str]
    cells: list[Link] = field(default_factory=list)
    numbers: list[Link] = field(default_factory=list)
    dates: list[Link] = field(default_factory=list)
    columns: list[ColumnLink] = field(default_factory=list)
    #: Places of numbers (as one number word each).
    number_places: dict[int, float] = field(default_factory=dict)


# --- Numbers and dates ---


def _link_numbers(made: Links, grid: Grid) -> None:
    """Link numbers to columns of numbers and years, with each possible comparison."""
    for at, word in enumerate(made.words):
        value = _number(made.words, at)
        if value is not None:
            made.number_places[at] = value
        if made.words[at - 1 : at] in (["row"], ["line"], ["entry"]) and word.isdigit():
            wanted = Condition(0, "=", "value", (), float(word), None, f"row {word}")
            made.cells.insert(0, Link(wanted, at - 1, at + 1))
    for at, value in list(made.number_places.items())[:4]:
        word = made.words[at]
        comparisons = [("=", 0.0)] if word in ORDINALS else _comparisons(made, at)
        year = value == int(value) and 1000 <= value <= 2100
        for column in grid.columns:
            order = column.order
            dated = grid.dated[order - 1] > 0.5
            if grid.valued[order - 1] < 0.5 or (dated and not year):
                continue
            header = made.columns[order - 1].score > 0
            for op, agrees in comparisons:
                by, date = ("date", word) if dated else ("value", None)
                condition = Condition(order, op, by, (), value, date, word)
                made.numbers.append(Link(condition, at, at + 1, True, 1.0, agrees, header))


def _number(words: list[str], at: int) -> float | None:
    """Return the number that a word denotes; an ordinal only where it is a rank: "in third"."""
    word = words[at]
    if word in ORDINALS:
        before = words[at - 1] if at else ""
        ranked = before in ("in", "ranked", "placed", "place", "the", "number")
        return float(ORDINALS[word]) if ranked else None
    if word in NUMBERS:
        return float(NUMBERS[word])
    digits = word.replace(",", "")
    return float(digits) if digits.replace(".", "", 1).isdecimal() else None


_COMPARED = {
    op: (re.compile(rf"\b(?:{before})\b"), re.compile(rf"(?:{after or '(?!)'})\b"))
    for op, (before, after) in COMPARING.items()
}


def _comparisons(made: Links, at: int) -> list[tuple[str, float]]:
    """Return the possible comparisons for the number at a place, and how well each fits."""
    before = " ".join(made.words[max(0, at - 4) : at])
    after = " ".join(made.words[at + 1 : at + 3])
    everywhere = " ".join(made.words)
    found = [("=", 0.0)]
    for op, (ahead, behind) in _COMPARED.items():
        if ahead.search(before) or behind.match(after):
            found.append((op, 1.0))
        elif ahead.search(everywhere):
            found.append((op, 0.0))
    return found


def _link_dates(made: Links, grid: Grid) -> None:
    """Link dates, as far as they are given, to columns of dates."""
    dated = [c.order for c in grid.columns if grid.dated[c.order - 1] > 0.5]
    at = 0
    while dated and at < len(made.words):
        size, date, said = _date(made.words, at)
        decade = said.startswith("the ")
        comparisons = [("=", 0.5)] if decade else _comparisons(made, at) if size else []
        for order in dated:
            header = made.columns[order - 1].score > 0
            for op, agrees in comparisons:
                condition = Condition(order, op, "date", (), None, date, said)
                made.dates.append(Link(condition, at, at + size, True, 1.0, agrees, header))
        at += size or 1


def _date(words: list[str], at: int) -> tuple[int, str, str]:
    """Return the date that begins at a word: its words, as ISO text, and as it is written."""
    word = words[at]
    for size in (3, 2) if word in MONTHS or word[0].isdigit() else ():
        said = " ".join(words[at : at + size])
        date = typed(said)
        if at + size <= len(words) and date.type == "date" and date.date:
            return size, date.date, said
    if word in MONTHS and word != "may":
        return 1, f"--{MONTHS[word]:02}", word
    plural = word[-1] == "s" or words[at + 1 : at + 2] == ["s"]
    if plural and re.fullmatch(r"(?:1\d|20)\d0s?", word):
        return 1, word[:2] if word[2:4] == "00" else word[:3], f"the {word[:4]}s"
    return 0, "", ""


# --- The links ---

_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\w+")
#: Words of a span of a question that is searched for, at most.
_LONGEST = 14
#: Letters of a cell's word at least, and those at its end in which a longer word may differ.
_SHORTEST, _ENDING = 5, 2


def link(question: str, grid: Grid) -> Links:
    """Link a question to a table."""
    words = [folded(w.casefold()) for w in _TOKEN.findall(question.replace("_", " "))]
    # Cut as `normal` cuts text: a decimal point or a thousands' comma splits a number in two.
    made = Links(question, words, [stem(word) for word in words])
    made.columns = [_column(made, header) for header in grid.stems]
    for at, (word, number) in enumerate(pairwise(words)):
        if word == "column" and number.isdecimal() and 0 < int(number) <= len(made.columns):
            made.columns[int(number) - 1] = ColumnLink(1.0, 2, (at, at + 1), True, True)
    made.cells = _cells(made, grid)
    _link_numbers(made, grid)
    _link_dates(made, grid)
    return made


# --- Cells ---


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
                if stem(word) == stem(part):
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
                said = f"{said} {_shared(flat[start + length - 1], parts[at + length - 1])}".strip()
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
    links += _alike(made, grid)
    links += _missing(made, grid)
    links.sort(key=lambda each: (each.start - each.end, not each.exact, each.condition.column))
    return links


def _shared(one: str, other: str) -> str:
    """Return the letters with which two forms of a word begin."""
    size = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    return min(one, other, key=len) if size is None else one[:size]


def _alike(made: Links, grid: Grid) -> Iterator[Link]:
    """Yield links of words to codes and words of cells that begin like them.

    That is `won` to W, and `italian` to ITA and to Italy.
    """
    for at, word in enumerate(made.words):
        if word in STOP:
            continue
        for column, codes in zip(grid.columns, grid.codes, strict=True):
            for code in codes:
                if word.startswith(code) and word != code:
                    condition = Condition(column.order, "=", texts=codes[code], said=word)
                    yield Link(condition, at, at + 1, False, 0.6)
        near = {(order, parts[place]) for order, parts, place in grid.words.get(word[:4], ())}
        for order, part in sorted(near):
            if (
                len(word) > len(part) >= _SHORTEST
                and len(part) - len(_shared(word, part)) <= _ENDING
                and stem(word) != stem(part)
            ):
                condition = Condition(order, "contains", texts=(f" {part} ",), said=word)
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
    """Return whether a piece occurs in more cells than the one that it is."""
    texts = grid.folded[column - 1]
    return sum(any(p in f" {text} " for p in pieces) for text in texts) > 1


# --- Columns ---

_ASKING = frozenset("what which whose name list many much".split())


def _column(made: Links, header: tuple[str, ...]) -> ColumnLink:
    wanted = [word for word in header if word not in STOP] or list(header)
    if not wanted:
        return ColumnLink()
    places: list[int] = []
    score = 0.0
    for word in wanted:
        best, where = 0.0, -1
        for at, (said, raw) in enumerate(zip(made.stems, made.words, strict=True)):
            alike = min(5, len(word), len(said))
            if said == word:
                fit = 1.0
            elif alike >= 4 and said[:alike] == word[:alike]:
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
