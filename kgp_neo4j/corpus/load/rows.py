"""The rows that a load writes of a document: what its nodes have, by the names in the graph."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import count

import regex

from kgp_neo4j.corpus.load import grid
from kgp_neo4j.corpus.load.ids import id_of, text_hash
from kgp_neo4j.corpus.load.sections import PlacedPassage, outline, placed_passages
from kgp_neo4j.corpus.load.totals import total_rows
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.text.prose import is_prose
from kgp_neo4j.text.safe import cut
from kgp_neo4j.text.values import column_type, notations, typed
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.json_records import parts
from kgp_neo4j.types.tables import SourceTable

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
        "cellCount": grid.cells(document.tables) or None,
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
                "id": id_of(id_, position, text),
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
        "markdown": grid.markdown(table, _SHOWN),
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
                "norm": grid.normal(header),
                "type": column_type(columns[at - 1], marks[at - 1]),
            }
            for at, header in enumerate(grid.column_names(table), 1)
        ],
    }


def _columns(table: SourceTable) -> list[list[str]]:
    """Return a table's columns below the header, without the rows that head others."""
    heads = {*range(table.header_rows), *grid.section_rows(table)}
    data = [row for at, row in enumerate(table.rows) if at not in heads]
    return [[row[at] for row in data] for at in range(len(table.rows[0]))]


def unusual_columns(tables: Sequence[SourceTable]) -> Iterator[str]:
    """Yield what to say of each column whose values are not, or may not be, as in English."""
    for table in tables:
        columns = _columns(table)
        names, marks = grid.column_names(table), notations(columns)
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
    sections = grid.section_rows(table)
    marks = notations(_columns(table))
    totals = total_rows(table, marks)
    spans = {(s.row, s.column): s for s in table.spans}
    covered = {place for s in table.spans for place in grid.places_of(s)} - spans.keys()
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
                    "norm": grid.normal(text),
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
