"""Reads tables and JSON records with one entity each by a mapping file."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.files import Value, extension, opened, shown
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.mindmap.load.graph_names import Fact, NamedEntity, Record, is_missing
from kgp_neo4j.mindmap.load.mapping import AliasMapping, TableMapping
from kgp_neo4j.mindmap.load.triple_files import JSON_KINDS, KINDS, Row, json_values, rows_of
from kgp_neo4j.types.errors import InputError

__all__ = ["read_table", "values_of_list"]

_STRING = r"[uUrR]?'(?:\\.|[^'\\\n])*+'|[uUrR]?\"(?:\\.|[^\"\\\n])*+\""
#: One item of a Python or JSON list, up to its comma.
_ITEM = re.compile(rf"\s*+(?:(?P<text>{_STRING})|(?P<word>[^\s,'\"\[\]()]++))\s*+(?:,|\Z)")


def read_table(
    path: Path, mapping: TableMapping, progress: Progress, *, encoding: str = ""
) -> Iterator[Record]:
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
                    yield from _json_records(value, mapping)
                return
            encoding = encoding or mapping.encoding
            rows = rows_of(file, path, encoding=encoding, separator=mapping.separator)
            yield from _row_records(rows, mapping, shown(path))
    except InputError as error:
        yield error


def _row_records(
    rows: Iterator[Row | InputError], mapping: TableMapping, name: str
) -> Iterator[Record]:
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
            yield from _cell_records(cells, mapping, f"{name}:{row.line}")


def _json_records(value: Value, mapping: TableMapping) -> Iterator[Record]:
    record, where = value
    if isinstance(record, InputError):
        yield record
    elif not isinstance(record, dict) or not isinstance(record.get(mapping.name), str):
        yield InputError(f"no object with a text {mapping.name!r}", where=where)
    else:
        yield from _cell_records(record, mapping, where)


def _cell_records(cells: Mapping[str, Any], mapping: TableMapping, where: str) -> list[Record]:
    """Return the entity of a row and its triples; an InputError alone where a value is bad."""
    entity = cells[mapping.name]
    for pattern in mapping.noise:
        entity = re.sub(pattern, "", entity)
    if _is_dropped(entity, mapping.drop):
        return [Fact("", "", "", where)]
    try:
        aliases = _values(cells, mapping.aliases, mapping) if mapping.aliases else []
        records: list[Record] = [
            NamedEntity(entity, where, mapping.type, tuple(filter(None, aliases)))
        ]
        for column in mapping.columns:
            ends = mapping.type, column.type
            for value in _values(cells, column, mapping):
                records.append(Fact(entity, column.relation, value, where, *ends))
                if column.inverse:
                    records.append(Fact(value, column.inverse, entity, where, *ends[::-1]))
    except ValueError as error:
        return [InputError(str(error), where=where)]
    return records


def _is_dropped(text: str, patterns: tuple[str, ...]) -> bool:
    return is_missing(text) or any(re.search(pattern, text) for pattern in patterns)


def _values(cells: Mapping[str, Any], column: AliasMapping, mapping: TableMapping) -> list[str]:
    """Return the values of a cell; dropped ones are empty. Raises ValueError for a bad one.

    A JSON array holds its values as they are, of whatever form the column is.
    """
    cell = cells.get(column.column)
    texts = cell if isinstance(cell, list) else [] if cell is None else [cell]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{column.column!r} holds neither a text nor a list of texts")
    values: list[str] = []
    for text in texts:
        for pattern in (*mapping.noise, *column.noise):
            text = re.sub(pattern, "", text)
        if not text.strip() or (column.form == "list" and is_missing(text)):
            continue
        if isinstance(cell, list):
            values.append(text.strip())
        elif column.form == "list":
            values += values_of_list(text, column.column)
        else:
            cut = text.translate({ord(mark): "\n" for mark in column.separators})
            parts = cut.split("\n") if column.separators else [text]
            values += [part.strip() for part in parts if part.strip()]
    drop = (*mapping.drop, *column.drop)
    return ["" if _is_dropped(value, drop) else value for value in values]


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
        item = _ITEM.match(inner, at)
        try:
            if not item:
                raise ValueError("no text or word")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # an unknown escape stays as it is
                values.append(ast.literal_eval(item["text"]) if item["text"] else item["word"])
        except (SyntaxError, ValueError) as error:
            raise ValueError(
                f"the list in the column {column!r} is malformed: {inner[at:][:60]!r}"
            ) from error
        at = item.end()
    return values
