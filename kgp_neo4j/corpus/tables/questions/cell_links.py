"""Link a question's words to cells, columns, numbers and dates of a table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from kgp_neo4j.corpus.load.contents import normal
from kgp_neo4j.corpus.tables.outline import STOP, Grid
from kgp_neo4j.corpus.tables.questions.plans import Condition
from kgp_neo4j.text.values import COMPARING, MONTHS, NUMBERS, ORDINALS, typed
from kgp_neo4j.text.words import fold, same_start, stem


@dataclass(frozen=True, slots=True)
class Link:
    """A condition that words `start`..`end` of the question support.

    `exact` is true where the whole cell is named; `share` is that of the (shortest) cell's words
    which is; `agrees` is how well a comparison fits the words around its number.
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
    number_places: dict[int, float] = field(default_factory=dict)


# Cut as `normal` cuts text: a decimal point or a thousands' comma splits a number in two.
_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\w+")


def link(question: str, grid: Grid) -> Links:
    """Link a question to a table."""
    words = [fold(w.casefold()) for w in _TOKEN.findall(question.replace("_", " "))]
    links = Links(question, words, [stem(word) for word in words])
    links.columns = [_column(links, header) for header in grid.stems]
    for at, (word, number) in enumerate(pairwise(words)):
        if word == "column" and number.isdecimal() and 0 < int(number) <= len(links.columns):
            links.columns[int(number) - 1] = ColumnLink(1.0, 2, (at, at + 1), True, True)
    links.cells = [*_cells(words, grid), *_alike(words, grid), *_missing(links, grid)]
    links.cells.sort(key=lambda a: (a.start - a.end, not a.exact, a.condition.column))
    _link_numbers(links, grid)
    _link_dates(links, grid)
    return links


#: Numbers of a question that are linked, at most.
_MOST_NUMBERS = 4
_COMPARED = {
    op: (re.compile(rf"\b(?:{before})\b"), re.compile(rf"(?:{after or '(?!)'})\b"))
    for op, (before, after) in COMPARING.items()
}


def _link_numbers(links: Links, grid: Grid) -> None:
    """Link numbers to columns of numbers and years, with each possible comparison."""
    words = links.words
    for at, word in enumerate(words):
        if (value := _number(words, at)) is not None:
            links.number_places[at] = value
        if words[at - 1 : at] in (["row"], ["line"], ["entry"]) and word.isdecimal():
            wanted = Condition(0, "=", "value", (), float(word), None, f"row {word}")
            links.cells.insert(0, Link(wanted, at - 1, at + 1))
    for at, value in list(links.number_places.items())[:_MOST_NUMBERS]:
        word = words[at]
        comparisons = [("=", 0.0)] if word in ORDINALS else _comparisons(words, at)
        year = value == int(value) and 1000 <= value <= 2100
        for column, valued, dates in zip(grid.columns, grid.valued, grid.dated, strict=True):
            dated = dates > 0.5
            if valued < 0.5 or (dated and not year):
                continue
            header = links.columns[column.order - 1].score > 0
            for op, agrees in comparisons:
                by, date = ("date", word) if dated else ("value", None)
                condition = Condition(column.order, op, by, (), value, date, word)
                links.numbers.append(Link(condition, at, at + 1, True, 1.0, agrees, header))


def _number(words: Sequence[str], at: int) -> float | None:
    """Return the number that a word denotes; an ordinal only where it is a rank: "in third"."""
    word = words[at]
    if word in ORDINALS:
        ranked = at and words[at - 1] in ("in", "ranked", "placed", "place", "the", "number")
        return float(ORDINALS[word]) if ranked else None
    digits = str(NUMBERS.get(word, word.replace(",", "")))
    return float(digits) if digits.replace(".", "", 1).isdecimal() else None


def _comparisons(words: Sequence[str], at: int) -> list[tuple[str, float]]:
    """Return the possible comparisons for the number at a place, and how well each fits."""
    before = " ".join(words[max(0, at - 4) : at])
    after = " ".join(words[at + 1 : at + 3])
    comparisons = [("=", 0.0)]
    for op, (ahead, behind) in _COMPARED.items():
        near = ahead.search(before) or behind.match(after)
        if near or ahead.search(" ".join(words)):
            comparisons.append((op, 1.0 if near else 0.0))
    return comparisons


def _link_dates(links: Links, grid: Grid) -> None:
    """Link dates, as far as they are given, to columns of dates."""
    words = links.words
    dated = [order for order, share in enumerate(grid.dated, 1) if share > 0.5]
    at = 0
    while dated and at < len(words):
        size, date, wording = date_at(words, at)
        decade = wording.startswith("the ")
        comparisons = [("=", 0.5)] if decade else _comparisons(words, at) if size else []
        for order, (op, agrees) in product(dated, comparisons):
            header = links.columns[order - 1].score > 0
            condition = Condition(order, op, "date", (), None, date, wording)
            links.dates.append(Link(condition, at, at + size, True, 1.0, agrees, header))
        at += size or 1


def date_at(words: Sequence[str], at: int) -> tuple[int, str, str]:
    """Return the date that begins at a word: its words, as ISO text, and as it is written."""
    word = words[at]
    for size in (3, 2) if word in MONTHS or word[0].isdigit() else ():
        wording = " ".join(words[at : at + size])
        date = typed(wording)
        if at + size <= len(words) and date.type == "date" and date.date:
            return size, date.date, wording
    # "May" may be a verb.
    if word in MONTHS and (word != "may" or words[at - 1] in "in of during since for".split()):
        return 1, f"--{MONTHS[word]:02}", word
    plural = word[-1] == "s" or words[at + 1 : at + 2] == ["s"]
    if plural and re.fullmatch(r"(?:1\d|20)\d0s?", word):
        return 1, word[:2] if word[2:4] == "00" else word[:3], f"the {word[:4]}s"
    return 0, "", ""


#: Words of a span of a question that is searched for, at most.
_LONGEST = 14
#: Letters of a cell's word at least, and those at its end in which a longer word may differ;
#: letters of a code (W, ITA) at most.
_SHORTEST, _ENDING, _CODE = 5, 2, 3


@dataclass(slots=True)
class _Span:
    """A run of words that a column has, and the pieces of its cells that have them."""

    column: int
    start: int
    end: int
    exact: bool = False
    share: float = 0.0
    pieces: set[str] = field(default_factory=set)


def _cells(question: Sequence[str], grid: Grid) -> Iterator[Link]:
    """Yield links of runs of words to the cells that begin with them or contain them."""
    pieces = [normal(word).split() for word in question]
    words = [piece for parts in pieces for piece in parts]
    place = [at for at, parts in enumerate(pieces) for _ in parts]
    spans = _spans(words, grid)
    for span in spans:
        own = [other for other in spans if other.column == span.column and other is not span]
        around = [other for other in own if other.start <= span.start and span.end <= other.end]
        if any(other.exact >= span.exact for other in around):
            continue
        texts = grid.folded[span.column - 1]
        wording = " ".join(words[span.start : span.end])
        start, end = place[span.start], place[span.end - 1] + 1
        if span.exact:
            condition = Condition(span.column, "=", texts=texts[wording], wording=wording)
            yield Link(condition, start, end, True, 1.0)
        shortest = tuple(sorted(span.pieces, key=len))
        holding = sum(any(piece in f" {text} " for piece in shortest) for text in texts)
        if not span.exact or holding > 1:
            condition = Condition(span.column, "contains", texts=shortest[:1], wording=wording)
            yield Link(condition, start, end, False, span.share)


def _spans(words: Sequence[str], grid: Grid) -> list[_Span]:
    """Return the runs of words that cells have, one for each column and run."""
    spans: dict[tuple[int, int, int], _Span] = {}
    for start, first in enumerate(words):
        # A cell may begin with a stop word; it is found when all of it is there.
        full_only = first in STOP and len(words) > 1
        for column, parts, at in grid.words.get(first[:4], ()):
            said, held = words[start : start + _LONGEST], parts[at:]
            length = same_start(said, held)
            # Of the last word the stem may be the same alone.
            loose = length < min(len(said), len(held)) and stem(said[length]) == stem(held[length])
            length += loose
            run = said[:length]
            exact = not loose and at == 0 and length == len(parts)
            telling = not full_only and any(word not in STOP for word in run)
            if not exact and not (telling and (length > 1 or len(first) >= 3 or first.isdigit())):
                continue
            key = (column, start, start + length)
            span = spans.setdefault(key, _Span(*key))
            span.exact |= exact
            span.share = max(span.share, length / len(parts))
            piece = " ".join(run) + " "
            if loose:  # as far as the last word is that of the cell
                end = run[-1][: same_start(run[-1], parts[at + length - 1])]
                piece = " ".join([*run[:-1], end]).rstrip()
            span.pieces.add(f" {piece}")
    return list(spans.values())


def _alike(words: Sequence[str], grid: Grid) -> Iterator[Link]:
    """Yield links to codes and words of cells that begin alike: `won` to W, `italian` to Italy."""
    for at, word in enumerate(words):
        if word in STOP:
            continue
        for column, codes in enumerate(grid.folded, 1):
            for code in codes if all(len(c) <= _CODE and c.isalpha() for c in codes) else ():
                if word.startswith(code) and word != code:
                    condition = Condition(column, "=", texts=codes[code], wording=word)
                    yield Link(condition, at, at + 1, False, 0.6)
        held = {(order, parts[place]) for order, parts, place in grid.words.get(word[:4], ())}
        for order, part in sorted(held):
            near = len(part) - same_start(word, part) <= _ENDING
            if len(word) > len(part) >= _SHORTEST and near and stem(word) != stem(part):
                condition = Condition(order, "contains", texts=(f" {part} ",), wording=word)
                yield Link(condition, at, at + 1, False, 0.6)


_NONE = frozenset("no not never without zero none any nothing undefeated t missing blank".split())
_SOME = frozenset("any have has had received listed with at some given won scored".split())


def _missing(links: Links, grid: Grid) -> Iterator[Link]:
    """Yield links to columns that the question names as empty, nought, or filled."""
    last = {word: at for at, word in enumerate(links.words)}
    none, some = ([last[word] for word in words & last.keys()] for words in (_NONE, _SOME))
    for order, (cells, column) in enumerate(zip(grid.cells, links.columns, strict=True), 1):
        wording = " ".join(links.words[at] for at in column.places)
        for places, word, text_op, value_op in ((none, "no", "=", "="), (some, "some", "!=", ">")):
            ahead = [at for at in places if column.places and at < column.places[0]]
            if not ahead:
                continue
            start = max(ahead)
            near = float(column.places[0] - start <= 2)
            if any(not cell.norm for cell in cells):
                condition = Condition(order, text_op, texts=("",), wording=f"{word} {wording}")
                yield Link(condition, start, start + 1, False, 0.5, near, True)
            if any(cell.value == 0 for cell in cells):
                condition = Condition(order, value_op, "value", (), 0.0, None, f"{word} {wording}")
                yield Link(condition, start, start + 1, False, 0.5, near, True)


_ASKING = frozenset("what which whose name list many much".split())


def _column(links: Links, header: tuple[str, ...]) -> ColumnLink:
    wanted = [word for word in header if word not in STOP] or list(header)
    places: list[int] = []
    score = 0.0
    for word in wanted:
        asked = zip(links.stems, links.words, strict=True)
        fits = [_fit(word, said, raw, header) for said, raw in asked]
        if best := max(fits, default=0.0):
            score += best
            places.append(fits.index(best))
    if not places:
        return ColumnLink()
    before = links.words[max(0, min(places) - 2) : min(places)]
    what, whole = not _ASKING.isdisjoint(before), len(places) == len(wanted) == score
    return ColumnLink(score / len(wanted), len(places), tuple(sorted(set(places))), what, whole)


def _fit(word: str, asked: str, raw: str, header: tuple[str, ...]) -> float:
    """Return how well a word of a question (its stem, and as it is) fits one of a header."""
    alike = min(5, len(word), len(asked))
    fit = 1.0 if asked == word else 0.7 if alike >= 4 and asked[:alike] == word[:alike] else 0.0
    return fit * 0.5 if raw in STOP and raw not in header else fit
