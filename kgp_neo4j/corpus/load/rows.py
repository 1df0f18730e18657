"""What is stored of a document, by the names in the graph: its passages, sections and tables."""

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, pairwise
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple, TypeAlias

import regex

from kgp_neo4j.corpus.load import contents, split
from kgp_neo4j.corpus.load.ids import id_of, text_hash
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.text.safe import cut, parts
from kgp_neo4j.text.values import column_type, notations, typed
from kgp_neo4j.text.words import is_prose, same_start
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.tables import SourceTable

Path: TypeAlias = tuple[str, ...]
#: Start, end and heading path of a part of a document.
_Part: TypeAlias = tuple[int, int, Path]

#: Characters of a heading within the title of a passage.
_LONGEST = 80
_START = attrgetter("start")


@dataclass(frozen=True, slots=True)
class Section:
    """A section `document[start:end]`; `path` has its heading and those above, not the title."""

    title: str
    level: int
    path: Path
    start: int
    end: int


class PlacedPassage(NamedTuple):
    """A passage `document[start:end]`, its page's number and the headings above all of it."""

    start: int
    end: int
    page: int | None
    path: Path


def outline(document: SourceDocument) -> list[Section]:
    """Return the sections of a document in order, without the one that is the whole document."""
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    ends = [*(section.start for section in document.sections[1:]), len(document.text)]
    for section, end in zip(document.sections, ends, strict=False):
        title = section.title
        if section is document.sections[0] and title == document.title:
            continue
        short = title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1].rstrip()}…"
        above = [*(one for one in above if one[0] < section.level), (section.level, short)]
        path = tuple(name for _, name in above)
        sections.append(Section(title, section.level, path, section.start, end))
    return sections


def placed_passages(
    document: SourceDocument, sections: Sequence[Section], size: int | None
) -> list[PlacedPassage]:
    """Return a document's passages in order; with None as `size` each page is one.

    What is under a heading that stands before a passage is never joined with what is not.
    """
    text = document.text
    pages: list[tuple[int, int, int | None]] = [(p.start, p.end, p.number) for p in document.pages]
    headings = [section.start for section in document.sections]
    passages: list[PlacedPassage] = []
    before: Path = ()
    for begin, stop, page in pages or [(0, len(text), None)]:
        most = stop - begin if size is None else size
        parts = _parts(text, begin, stop, sections, headings)
        for start, end, path in _merged(text, parts, most, before):
            for first, last in split.passages(text[start:end], most):
                passages.append(PlacedPassage(start + first, start + last, page, path))
        before = parts[-1][2]
    return passages


def _parts(
    text: str, begin: int, stop: int, sections: Sequence[Section], headings: Sequence[int]
) -> list[_Part]:
    """Return the parts between two places, one per section; lone headings join the next part."""
    first = bisect_right(sections, begin, key=_START)
    inside = sections[first : bisect_left(sections, stop, lo=first, key=_START)]
    paths = [sections[first - 1].path if first else (), *(section.path for section in inside)]
    bounds = [begin, *(section.start for section in inside), stop]
    parts: list[_Part] = []
    is_lone = False
    for (start, end), path in zip(pairwise(bounds), paths, strict=True):
        parts.append((parts.pop()[0] if is_lone else start, end, path))
        is_lone = _is_heading(text, start, end, headings)
    return parts


def _is_heading(text: str, start: int, end: int, headings: Sequence[int]) -> bool:
    """Return whether a heading is the only text between two places."""
    at = bisect_left(headings, start)
    if at == len(headings) or headings[at] >= end or text[start : headings[at]].strip():
        return False
    return len(text[headings[at] : end].strip().rstrip("=- \t\r\n").splitlines()) == 1


def _merged(text: str, parts: Sequence[_Part], size: int, before: Path) -> list[_Part]:
    """Join neighbours up to `size` under the headings they share; `before` are the last ones."""
    merged: list[_Part] = []
    above = 0
    for start, end, path in parts:
        first, _, names = merged[-1] if merged else (start, end, ())
        shared = names[: same_start(names, path)]
        # The end of a chapter joined with the next one would have its own heading nowhere.
        if merged and len(shared) >= above and len(text[first:end].strip()) <= size:
            merged[-1] = (first, end, shared)
        else:
            merged.append((start, end, path))
            above = same_start(before, path)
        before = path
    return merged


# --- Rows as they are stored ---

#: Chinese, Japanese and Korean characters, the same as in `cypher/include/search.cypher`.
_CJK = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー〆]")
#: Data rows in the Markdown of a table's node; the graph has all rows as nodes.
_SHOWN = 200


def document_row(id_: str, document: SourceDocument, print_: str, size: int | None) -> Row:
    """Return a document with its passages, sections, pages, tables and columns as stored.

    `size` is that of its passages in characters, None for one passage.
    """
    sections = outline(document)
    placed = placed_passages(document, sections, size)
    passages = _passages(id_, document, placed)
    starts, ends = [part.start for part in placed], [part.end for part in placed]
    ids = [passage["id"] for passage in passages]
    numbered = any(table.number for table in document.tables)
    return {
        "id": id_,
        **parts(document, "title", "source", "key"),
        "sha256": text_hash(document.text),
        "fingerprint": print_,
        "characters": len(document.text),
        "cellCount": contents.cell_count(document.tables) or None,
        "pages": [asdict(p) | {"id": id_of(id_, "page", p.number)} for p in document.pages],
        "tables": [_table(id_, at, table, numbered) for at, table in enumerate(document.tables, 1)],
        "passages": passages,
        "sections": [
            {
                **asdict(s),
                "id": id_of(id_, "section", at),
                "order": at,
                "heading": " > ".join(s.path),
                "passages": ids[bisect_right(ends, s.start) : bisect_left(starts, s.end)],
            }
            for at, s in enumerate(sections, 1)
        ],
    }


def _passages(id_: str, document: SourceDocument, placed: Sequence[PlacedPassage]) -> list[Row]:
    names = [" > ".join((document.title, *part.path)) for part in placed]
    counts, before = Counter(names), Counter[str]()
    rows, raw = list[Row](), 0
    for position, (name, part) in enumerate(zip(names, placed, strict=True)):
        before[name] += 1
        title = f"{name} #{before[name]}" if counts[name] > 1 else name
        text = document.text[part.start : part.end]
        is_raw = len(placed) > 1 and not is_prose(text)
        raw += is_raw
        rows.append(
            {
                # Ids tell apart what scores alike. They begin with what a passage says: answers are
                # the same whatever the corpus and its folder are called.
                "id": id_of(title, text)[:8] + id_of(id_, position, text)[8:],
                "title": title,
                "text": text,
                "position": position,
                **parts(part, "start", "end", "page"),
                "section": " > ".join(part.path) or None,
                "cjk": _CJK.search(title + text) is not None,
                # One such passage of a document is enough to find it by what it is about.
                "raw": (is_raw and raw > 1) or None,
            }
        )
    return rows


def _table(document: str, order: int, table: SourceTable, numbered: bool) -> Row:
    """Return a table with its columns; `numbered` where one of the document has a number."""
    id_ = id_of(document, "table", order)
    columns = _columns(table)
    marks = notations(columns)
    name = f"Table {table.number or order}"
    if numbered and not table.number:
        name = cut(table.caption, 80) or f"the table at place {order}"
    return {
        "id": id_,
        "order": order,
        **parts(table, "number", "caption", "start", "end"),
        "name": name,
        "title": cut(table.caption, 80) or name,
        "markdown": contents.markdown(table, _SHOWN),
        "markdownRows": min(len(table.rows) - table.header_rows, _SHOWN),
        "rows": len(columns[0]),
        "headerRows": table.header_rows,
        "pages": sorted(set(table.row_pages)),
        "columns": [
            {
                "id": id_of(id_, "column", at),
                "order": at,
                "header": header,
                "title": header or f"column {at}",
                "norm": contents.normal(header),
                "type": column_type(columns[at - 1], marks[at - 1]),
            }
            for at, header in enumerate(contents.column_names(table), 1)
        ],
    }


def _columns(table: SourceTable) -> list[list[str]]:
    """Return a table's columns below the header, without the rows that head others."""
    heads = {*range(table.header_rows), *contents.section_rows(table)}
    data = [row for at, row in enumerate(table.rows) if at not in heads]
    return [[row[at] for row in data] for at in range(len(table.rows[0]))]


def unusual_columns(tables: Sequence[SourceTable]) -> Iterator[str]:
    """Yield what to say of each column whose values are not, or may not be, as in English."""
    for table in tables:
        columns = _columns(table)
        names, marks = contents.column_names(table), notations(columns)
        for name, mark, texts in zip(names, marks, columns, strict=True):
            # What English reads, but otherwise.
            read = ((text, typed(text, mark)) for text in texts if mark != "." and "," not in text)
            others = ((t, v) for t, v in read if typed(t).type != "text" and typed(t) != v)
            if mark[0] == "?":
                why = "a point may part thousands or decimals, so its numbers are kept as text"
                yield f'column "{name}": {why}'
            elif found := next(others, None):
                text, value = found
                is_date = value.type == "date"
                why = "days stand before months" if is_date else "points part thousands"
                shown = value.date if is_date else f"{value.number:,.15g}"
                yield f'column "{name}": {why} in it, so {text} is read as {shown}'


def table_rows(document: str, order: int, table: SourceTable) -> Iterator[Row]:
    """Yield a table's rows and cells, as stored; `order` is from 1; heading rows have no number."""
    id_ = id_of(document, "table", order)
    sections = contents.section_rows(table)
    marks = notations(_columns(table))
    totals = total_rows(table, marks)
    spans = {(s.row, s.column): s for s in table.spans}
    covered = {place for s in table.spans for place in contents.places_of(s)} - spans.keys()
    numbers = count(1 - table.header_rows)
    for at, texts in enumerate(table.rows):
        cells = []
        for column, text in enumerate(texts):
            value = typed(text, marks[column])
            span = spans.get((at, column))
            cells.append(
                {
                    "id": id_of(id_, "cell", at + 1, column + 1),
                    "column": column + 1,
                    "text": text,
                    "norm": contents.normal(text),
                    "type": value.type,
                    "value": value.number,
                    "date": value.date,
                    "unit": value.unit or None if value.type != "text" else None,
                    "rowSpan": span.rows if span else 1,
                    "columnSpan": span.columns if span else 1,
                    "covered": (at, column) in covered,
                }
            )
        yield {
            "table": id_,
            "id": id_of(id_, "row", at + 1),
            "order": at + 1,
            "number": None if at in sections else next(numbers),
            "total": totals.get(at),
            "title": next((" ".join(t.split())[:80] for t in texts if t.strip()), f"row {at + 1}"),
            "page": table.row_pages[at] if table.row_pages else None,
            "cells": cells,
        }


# --- Rows that sum up others ---

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
    sections = contents.section_rows(table)
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
        label = next(filter(None, map(contents.normal, table.rows[at])), "")
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
        pairs = zip(map(contents.normal, table.rows[at]), values[at], strict=True)
        texts = {text for text, value in pairs if value is None} - {"", label}
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
