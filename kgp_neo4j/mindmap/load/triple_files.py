"""Reads head/relation/tail files: tab- or comma-separated, or JSON lines."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, NamedTuple

from kgp_neo4j.environment.files import Value, extension, opened, read_lines, read_records, shown
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.mindmap.load.graph_names import Fact, Record
from kgp_neo4j.types.errors import InputError

__all__ = ["JSON_KINDS", "KINDS", "Row", "is_encoding", "json_values", "read_triples", "rows_of"]

#: Endings of the files that are read, each also with `.gz`.
JSON_KINDS = (".jsonl", ".json")
KINDS = (".tsv", ".txt", ".csv", *JSON_KINDS)
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEPARATORS = (",", ";", "|")
#: Characters of a line or a field: a whole page of text is well below it.
_LONGEST = 1 << 24


class Row(NamedTuple):
    """The fields of a record, and the line where it begins, counted from 1."""

    line: int
    fields: list[str]


def is_encoding(name: str) -> bool:
    """Return whether a name is that of a text encoding."""
    try:
        return bool(name) and bool(io.TextIOWrapper(io.BytesIO(), name))
    except (LookupError, ValueError):  # no such name, or a NUL character in it
        return False


def rows_of(
    file: IO[bytes], path: Path, *, encoding: str = "", separator: str = ""
) -> Iterator[Row | InputError]:
    """Yield the records of a file that are not empty; an InputError for one that cannot be read.

    The default encoding is UTF-8, or UTF-16 where the file has its byte order mark. Fields are
    separated by tabs where the first line has one, else by the mark of comma, semicolon and bar
    that gives the most fields. Quotes have no meaning in tab files, where names may contain them.
    """
    lines = _lines(file, path, encoding)
    first = next((line for line in lines if line[1].strip()), None)
    if first is None:
        return
    if separator == "\t" or (not separator and "\t" in first[1]):
        for number, line in chain([first], lines):
            if line.strip():
                yield Row(number, line.rstrip("\r\n").split("\t"))
        return
    csv.field_size_limit(_LONGEST)
    unquoted = re.sub(r'"[^"]*"', "", first[1])
    reader = csv.reader(
        (line for _, line in chain([first], lines)),
        delimiter=separator or max(_SEPARATORS, key=unquoted.count),
        strict=True,
        skipinitialspace=True,
    )
    while True:
        number = first[0] + reader.line_num
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield InputError(
                f"not separated values ({error})",
                where=f"{shown(path)}:{number}",
                hint='Close every quote, and write a quote within quotes as "".',
            )
            continue
        if any(field.strip() for field in fields):
            yield Row(number, fields)


def _lines(file: IO[bytes], path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; raises InputError where it is not text."""
    start = file.peek(2)[:2]  # type: ignore[attr-defined]
    encoding = encoding or ("utf-16" if start in _UTF16 else "utf-8")
    text, number = io.TextIOWrapper(file, encoding, newline="\n"), 1
    try:
        while line := text.readline(_LONGEST):
            if len(line) == _LONGEST:
                raise InputError(
                    f"a line of {_LONGEST:,} characters or more", where=f"{shown(path)}:{number}"
                )
            yield number, line.removeprefix("\ufeff") if number == 1 else line
            number += 1
    except UnicodeDecodeError as error:
        raise InputError(
            f"this line or one soon after it is not {encoding} text",
            where=f"{shown(path)}:{number}",
            hint="Name the file's encoding (--encoding, or `encoding` of the mapping), or save it "
            "as UTF-8.",
        ) from error


# --- Triples ---

#: Accepted names of columns in a header line and of keys in a JSON record, in lower case.
_COLUMNS = {
    "head": "head h subject subj source src from head_name x_name start entity1 node1 :start_id",
    "relation": "relation rel r predicate pred relationship type edge label :type property",
    "tail": "tail t object obj target dst to tail_name y_name end entity2 node2 :end_id",
    "head_type": "head_type headtype subject_type source_type x_type h_type start_type",
    "tail_type": "tail_type tailtype object_type target_type y_type t_type end_type",
}
_MEANING = {name: column for column, names in _COLUMNS.items() for name in names.split()}
_REQUIRED = ("head", "relation", "tail")
_HINT = (
    "A row has head, relation and tail; files with other columns begin with a line that names "
    "them, or need a mapping."
)


def read_triples(path: Path, progress: Progress, *, encoding: str = "") -> Iterator[Record]:
    """Yield the triples of a file, and an InputError for each line that is not one.

    Without a header line the three columns are head, relation and tail. A header line, or a JSON
    record's keys, may name them in any order (subject, predicate, object; source, target; x_name,
    y_name...), with `head_type` and `tail_type` beside them; other columns are ignored.
    """
    kind = extension(path)
    if kind not in KINDS:
        hint = f"Known are {', '.join(KINDS)}, each also with .gz."
        yield InputError("a kind of file that holds no triples", where=shown(path), hint=hint)
        return
    try:
        with opened(path, progress) as file:
            if kind in JSON_KINDS:
                yield from map(_json_fact, json_values(file, path))
            else:
                yield from _row_facts(path, rows_of(file, path, encoding=encoding))
    except InputError as error:
        yield error


def json_values(file: IO[bytes], path: Path) -> Iterator[Value]:
    """Yield the records of a JSON file: the members of its one array, or the value of each line."""
    start = file.peek(4096)[:4096]  # type: ignore[attr-defined]
    # A file of JSON lines may begin with a bracket too: that of a list of three.
    begins = start.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
    is_array = extension(path) == ".json" and begins == b"["
    return (read_records if is_array else read_lines)(file, shown(path))


def _row_facts(path: Path, rows: Iterator[Row | InputError]) -> Iterator[Record]:
    columns: dict[str, int] = {}
    for row in rows:
        if isinstance(row, InputError):
            yield row
            continue
        line, fields = row
        if not columns:
            # Where two columns have the same meaning, the first counts.
            meanings = [_MEANING.get(field.strip().lower(), "") for field in fields]
            columns = {name: meanings.index(name) for name in meanings if name}
            if set(_REQUIRED) <= columns.keys():
                width, expected = len(fields), f"{len(fields)} as the header has"
                continue
            columns = {name: at for at, name in enumerate(_REQUIRED)}
            width, expected = 3, "head, relation and tail"
        where = f"{shown(path)}:{line}"
        if len(fields) == width:
            yield _fact({name: fields[at] for name, at in columns.items()}, where)
        else:
            reason = f"{len(fields)} fields where {expected} are expected"
            yield InputError(reason, where=where, hint=_HINT)


def _fact(parts: Mapping[str, str], where: str) -> Fact:
    types = parts.get("head_type", ""), parts.get("tail_type", "")
    return Fact(parts["head"], parts["relation"], parts["tail"], where, *types)


def _json_fact(value: Value) -> Record:
    """Return the triple of a JSON value: an object, or a list of three texts."""
    record, where = value
    if isinstance(record, InputError):
        return record
    if isinstance(record, list) and len(record) == 3:
        record = dict(zip(_REQUIRED, record, strict=True))
    if not isinstance(record, Mapping):
        return InputError("neither an object nor a list of three", where=where, hint=_HINT)
    parts: dict[str, str] = {}
    for key, part in record.items():
        column = _MEANING.get(str(key).strip().lower())
        if column is None or column in parts:
            continue
        if not isinstance(part, str | int | float | None) or isinstance(part, bool):
            return InputError(f"the value of {key!r} is no text", where=where, hint=_HINT)
        parts[column] = "" if part is None else str(part)
    if missing := [column for column in _REQUIRED if column not in parts]:
        return InputError(f"no {' and no '.join(missing)}", where=where, hint=_HINT)
    return _fact(parts, where)
