"""Reads tables with one entity a row by a mapping file."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgp_neo4j.environment.files import extension, opened, shown
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.mindmap.load.graph_names import Fact, Named, Reading, is_missing
from kgp_neo4j.mindmap.load.mapping import ColumnMapping, TableMapping
from kgp_neo4j.mindmap.load.triple_files import Row, rows_of
from kgp_neo4j.types.errors import InputError

__all__ = ["read_table", "values_of_list"]

_KINDS = (".csv", ".tsv", ".txt")
_STRING = r"[uUrRbB]{0,2}'(?:\\.|[^'\\\n])*+'|[uUrRbB]{0,2}\"(?:\\.|[^\"\\\n])*+\""
#: One item of a Python or JSON list, up to its comma.
_ITEM = re.compile(rf"\s*+(?:(?P<text>{_STRING})|(?P<word>[^\s,'\"\[\]()]++))\s*+(?:,|\Z)")


def read_table(
    path: Path, mapping: TableMapping, progress: Progress, *, encoding: str = ""
) -> Iterator[Reading]:
    """Yield the entities and triples of a table's rows, and an InputError for each malformed row.

    `encoding` overrides the mapping's own. Stops at the first error where a column of the mapping
    is not in the header.
    """
    if extension(path) not in _KINDS:
        hint = f"A mapping is for {', '.join(_KINDS)}, each also with .gz."
        yield InputError("a kind of file that is no table", where=shown(path), hint=hint)
        return
    try:
        with opened(path, progress) as file:
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
            yield from _of_row(row, columns, mapping, f"{name}:{row.line}")


def _of_row(
    row: Row, columns: dict[str, int], mapping: TableMapping, where: str
) -> Iterator[Reading]:
    entity = row.fields[columns[mapping.name]]
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
            aliases = _values(row.fields[columns[mapping.aliases.column]], mapping.aliases)
        readings.append(Named(entity, where, mapping.type, tuple(filter(None, aliases))))
        for column in mapping.columns:
            for value in _values(row.fields[columns[column.column]], column):
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


def _values(cell: str, column: ColumnMapping) -> list[str]:
    """Return the values of a cell; dropped ones are empty. Raises ValueError for a bad list."""
    for pattern in column.noise:
        cell = pattern.sub("", cell)
    if not cell.strip():
        return []
    if column.form == "list":
        values = [] if is_missing(cell) else values_of_list(cell, column.column)
    elif column.form == "separated":
        cut = cell.translate({ord(mark): "\n" for mark in column.separators})
        values = [value.strip() for value in cut.split("\n") if value.strip()]
    else:
        values = [cell.strip()]
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
