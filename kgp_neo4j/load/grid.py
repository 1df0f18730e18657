"""A table as a grid: its column names, its Markdown, and the rows that go into the graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kgp_neo4j.load.ids import part_id
from kgp_neo4j.structures import SourceTable
from kgp_neo4j.values import column_type, typed

__all__ = ["cells", "column_names", "markdown", "name", "normal", "table_row", "table_rows"]

#: Data rows of the Markdown kept on a table's node; the rows themselves are all in the graph.
_SHOWN = 200
_NORM = re.compile(r"[\W_]+")


def column_names(table: SourceTable) -> list[str]:
    """Return each column's name: its header texts from the top down, joined by " / ".

    A text that is repeated below itself (a merged header) counts once; "" where there is none.
    """
    names: list[str] = []
    for texts in zip(*table.rows[: table.header_rows], strict=True):
        parts = [" ".join(text.split()) for text in texts]
        names.append(" / ".join(dict.fromkeys(part for part in parts if part)))
    return names or [""] * (len(table.rows[0]) if table.rows else 0)


def markdown(table: SourceTable, limit: int | None = None) -> str:
    """Return the table as Markdown, one line a row, at most `limit` data rows.

    Several header rows become one; a table without a header gets empty names, as Markdown wants.
    """
    lines = [_line(column_names(table)), "|" + " --- |" * len(column_names(table))]
    rows = table.rows[table.header_rows :]
    lines += [_line(row) for row in (rows if limit is None else rows[:limit])]
    return "\n".join(lines)


def name(table: SourceTable, order: int, numbered: bool = False) -> str:
    """Return how people call a table: by its printed number, else by its place in the document.

    In a document with `numbered` tables a place would be taken for a number: one without is called
    by its caption there.
    """
    if table.number or not numbered:
        return f"Table {table.number or order}"
    return _short(table.caption) or f"the table at place {order}"


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79].rstrip()}…"


def table_row(
    document: str, order: int, table: SourceTable, numbered: bool = False
) -> dict[str, Any]:
    """Return the properties of a table with its columns; `order` counts from 1 in the document.

    `numbered` says whether any table of the document has a printed number.
    """
    id_ = part_id(document, "table", order)
    names = column_names(table)
    data = table.rows[table.header_rows :]
    pages = sorted(set(table.row_pages))
    called = name(table, order, numbered)
    return {
        "id": id_,
        "order": order,
        "number": table.number,
        "name": called,
        "title": _short(table.caption) or called,
        "caption": table.caption,
        "markdown": markdown(table, _SHOWN),
        "markdownRows": min(len(data), _SHOWN),
        "rows": len(data),
        "headerRows": table.header_rows,
        "pages": pages,
        "start": table.start,
        "end": table.end,
        "columns": [
            {
                "id": part_id(id_, "column", at),
                "order": at,
                "header": header,
                "title": header or f"column {at}",
                "norm": normal(header),
                "type": column_type(row[at - 1] for row in data),
            }
            for at, header in enumerate(names, 1)
        ],
    }


def table_rows(document: str, order: int, table: SourceTable) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table with their cells, as they go into the graph."""
    id_ = part_id(document, "table", order)
    spans = {(s.row, s.column): s for s in table.spans}
    covered = {
        (row, column)
        for s in table.spans
        for row in range(s.row, s.row + s.rows)
        for column in range(s.column, s.column + s.columns)
    } - spans.keys()
    for at, texts in enumerate(table.rows):
        number = at + 1 - table.header_rows
        cells = []
        for column, text in enumerate(texts):
            value = typed(text)
            span = spans.get((at, column))
            cells.append(
                {
                    "id": part_id(id_, "cell", at + 1, column + 1),
                    "column": column + 1,
                    "text": text,
                    "norm": normal(text),
                    "type": value.type,
                    "value": value.number,
                    "date": value.date,
                    "unit": value.unit or None,
                    "rowSpan": span.rows if span else 1,
                    "columnSpan": span.columns if span else 1,
                    "covered": (at, column) in covered,
                }
            )
        yield {
            "table": id_,
            "id": part_id(id_, "row", at + 1),
            "order": at + 1,
            "number": number,
            "header": number < 1,
            "title": next((" ".join(t.split())[:80] for t in texts if t.strip()), f"row {number}"),
            "page": table.row_pages[at] if table.row_pages else None,
            "cells": cells,
        }


def normal(text: str) -> str:
    """Return a text as names are compared: in lower case, words and numbers only."""
    return _NORM.sub(" ", text.casefold()).strip()


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(_escaped(text) for text in texts) + " |"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")


def cells(tables: Sequence[SourceTable]) -> int:
    """Return how many cells the tables have, header cells and covered ones too."""
    return sum(len(row) for table in tables for row in table.rows)
