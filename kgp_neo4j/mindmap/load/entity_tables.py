"""Reads tables and JSON records with one entity each by a mapping file."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.files import Value, extension, opened, shown
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.mindmap.load.graph_names import Fact, Named, Reading, is_missing
from kgp_neo4j.mindmap.load.mapping import ColumnMapping, TableMapping
from kgp_neo4j.mindmap.load.triple_files import JSON_KINDS, KINDS, Row, json_values, rows_of
from kgp_neo4j.types.errors import InputError

__all__ = ["read_table", "values_of_list"]

_STRING = r"[uUrRbB]{0,2}'(?:\\.|[^'\\\n])*+'|[uUrRbB]{0,2}\"(?:\\.|[^\"\\\n])*+\""
#: One item of a Python or JSON list, up to its comma.
_ITEM = re.compile(rf"\s*+(?:(?P<text>{_STRING})|(?P<word>[^\s,'\"\[\]()]++))\s*+(?:,|\Z)")


def read_table(
    path: Path, mapping: TableMapping, progress: Progress, *, encoding: str = ""
) -> Iterator[Reading]:
    """Yield the entities and triples of a table's rows, and an InputError for each malformed row.

    A JSON record is a row with its keys as columns; a key that it lacks is an empty cell.
    `encoding` overrides the mapping's own. Stops at the first error where a column of the mapping
    is not in the header.
    """
    if extension(path) not in KINDS:
        hint = f"A mapping is for {', '.join(KINDS)}, each also with .gz."
        yield InputError("a kind of file that is no table", where=shown(path), hint=hint)
        return
    try:
        with opened(path, progress) as file:
            if extension(path) in JSON_KINDS:
                for value in json_values(file, path):
                    yield from _of_record(value, mapping)
                return
            encoding = encoding or mapping.encoding
            rows = rows_of(file, path, encoding=encoding, separator=mapping.separator)
            yield from _of_rows(rows, mapping, shown(path))
    except InputError as error:
        yield error


def _of_rows(
    rows: Iterator[Row | InputError], mapping: TableMapping, name: str
) -> Iterator[Reading]:
    header = next(rows, None)
    if header is None:
        return
    if isinstance(header, InputError):
        raise header
    columns = {field.strip(): at for at, field in reversed(list(enumerate(header.fields)))}
    wanted = [mapping.name, *(column.column for column in mapping.columns)]
    wanted += [mapping.aliases.column] if mapping.aliases else []
    if missing := [column for column in wanted if column not in columns]:
        raise InputError(
            f"there is no column {', '.join(map(repr, missing))}",
            where=f"{name}:{header.line}",
            hint=f"The header has {', '.join(filter(None, columns))}.",
        )
    for row in rows:
        if isinstance(row, InputError):
            yield row
        elif len(row.fields) != len(header.fields):
            reason = f"{len(row.fields)} fields where the header has {len(header.fields)}"
            yield InputError(reason, where=f"{name}:{row.line}")
        else:
            cells = {column: row.fields[at] for column, at in columns.items()}
            yield from _of_row(cells, mapping, f"{name}:{row.line}")


def _of_record(record: Value, mapping: TableMapping) -> Iterator[Reading]:
    found, where = record
    if isinstance(found, InputError):
        yield found
    elif not isinstance(found, dict) or not isinstance(found.get(mapping.name), str):
        yield InputError(f"no object with a text {mapping.name!r}", where=where)
    else:
        yield from _of_row(found, mapping, where)


def _of_row(cells: Mapping[str, Any], mapping: TableMapping, where: str) -> Iterator[Reading]:
    entity = cells[mapping.name]
    for pattern in mapping.noise:
        entity = pattern.sub("", entity)
    if is_missing(entity) or any(pattern.search(entity) for pattern in mapping.drop):
        yield Fact("", "", "", where)
        return
    # A row with one bad value yields nothing.
    readings: list[Reading] = []
    try:
        aliases: Sequence[str] = ()
        if mapping.aliases:
            aliases = _values(cells, mapping.aliases)
        readings.append(Named(entity, where, mapping.type, tuple(filter(None, aliases))))
        for column in mapping.columns:
            for value in _values(cells, column):
                readings.append(
                    Fact(entity, column.relation, value, where, mapping.type, column.type)
                )
                if column.inverse:
                    readings.append(
                        Fact(value, column.inverse, entity, where, column.type, mapping.type)
                    )
    except ValueError as error:
        yield InputError(str(error), where=where)
        return
    yield from readings


def _values(cells: Mapping[str, Any], column: ColumnMapping) -> list[str]:
    """Return the values of a cell; dropped ones are empty. Raises ValueError for a bad one.

    A JSON array holds its values as they are, of whatever form the column is.
    """
    cell = cells.get(column.column)
    given = cell if isinstance(cell, list) else [] if cell is None else [cell]
    if not all(isinstance(text, str) for text in given):
        raise ValueError(f"{column.column!r} holds neither a text nor a list of texts")
    values: list[str] = []
    for text in given:
        for pattern in column.noise:
            text = pattern.sub("", text)
        if not text.strip() or (column.form == "list" and is_missing(text)):
            continue
        if isinstance(cell, list) or column.form == "one":
            values.append(text.strip())
        elif column.form == "list":
            values += values_of_list(text, column.column)
        else:
            cut = text.translate({ord(mark): "\n" for mark in column.separators})
            values += [value.strip() for value in cut.split("\n") if value.strip()]
    return [
        "" if is_missing(value) or any(p.search(value) for p in column.drop) else value
        for value in values
    ]


def values_of_list(text: str, column: str) -> list[str]:
    """Return the texts of a flat list in Python or JSON notation, without evaluating it.

    Words without quotes (`nan`, `None`, numbers) are returned as they are. Raises ValueError for
    anything else: no list, a nested list, a quote that is not closed.
    """
    inner = text.strip()
    if inner[:1] + inner[-1:] not in ("[]", "()"):
        raise ValueError(f"the column {column!r} holds no list: {inner[:60]!r}")
    inner = inner[1:-1].strip()
    values: list[str] = []
    at = 0
    while at < len(inner):
        found = _ITEM.match(inner, at)
        if not found:
            raise ValueError(f"the list in the column {column!r} is malformed: {inner[at:][:60]!r}")
        at = found.end()
        values.append(found["word"] if found["text"] is None else _literal(found["text"], column))
    return values


def _literal(text: str, column: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # an unknown escape stays as it is
            value = ast.literal_eval(text)
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"the column {column!r} holds no text: {text[:60]!r}") from error
    if not isinstance(value, str):
        raise ValueError(f"the column {column!r} holds bytes: {text[:60]!r}")
    return value
