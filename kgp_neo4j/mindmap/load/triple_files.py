"""Reads head/relation/tail files: tab- or comma-separated, or JSON lines."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from kgp_neo4j.environment.files import (
    Value,
    bounded_lines,
    extension,
    opened,
    read_lines,
    read_records,
    read_whole,
    shown,
)
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.mindmap.load.graph_names import Fact, Reading
from kgp_neo4j.types.errors import InputError

__all__ = [
    "JSON_KINDS",
    "KINDS",
    "Row",
    "is_encoding",
    "json_values",
    "read_triples",
    "rows_of",
]

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEPARATORS = (",", ";", "|")
#: Of one field: a whole page of text is well below it.
_LONGEST_FIELD = 1 << 24


class Row(NamedTuple):
    """The fields of a record, and the line where it begins, counted from 1."""

    line: int
    fields: list[str]


def is_encoding(name: str) -> bool:
    """Say whether a name is that of a text encoding."""
    try:
        b"a".decode(name)  # decoding an empty string would not look the name up
    except UnicodeDecodeError:
        return True
    except (LookupError, ValueError):  # no such name, or a NUL character in it
        return False
    return True


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
    with _long_fields():
        separator = separator or max(_SEPARATORS, key=lambda mark: _fields(first[1], mark))
        yield from _quoted(chain([first], lines), path, separator)


def _fields(line: str, separator: str) -> int:
    """Return the number of fields of a line, 0 where it cannot be read so."""
    try:
        return len(next(csv.reader([line], delimiter=separator)))
    except csv.Error:
        return 0


@contextmanager
def _long_fields() -> Iterator[None]:
    before = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _quoted(
    lines: Iterator[tuple[int, str]], path: Path, separator: str
) -> Iterator[Row | InputError]:
    """Yield records whose quoted fields may contain separators and line ends."""
    began = last = 0

    def texts() -> Iterator[str]:
        nonlocal began, last
        for number, line in lines:
            began, last = began or number, number
            yield line

    reader = csv.reader(texts(), delimiter=separator, strict=True, skipinitialspace=True)
    while True:
        began = 0
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = f"not separated values ({error})"
            hint = 'Close every quote, and write a quote within quotes as "".'
            yield InputError(reason, where=f"{shown(path)}:{began or last}", hint=hint)
            continue
        if any(field.strip() for field in fields):
            yield Row(began, fields)


def _lines(file: IO[bytes], path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file with their numbers; raises InputError where it is not text."""
    start = file.peek(4)[:4]  # type: ignore[attr-defined]
    name = encoding or ("utf-16" if start[:2] in _UTF16 else "utf-8")
    if codecs.lookup(name).name.startswith(("utf-16", "utf-32")):
        # A line end is more than one byte there.
        data = read_whole(file, shown(path))
        try:
            text = io.StringIO(data.decode(name).removeprefix("\ufeff"), newline="")
        except UnicodeDecodeError as error:
            raise _undecodable(path, 0, name, error) from error
        yield from enumerate(text, 1)
        return
    decode = codecs.getdecoder(name)
    for number, data in enumerate(bounded_lines(file, shown(path)), 1):
        try:
            line = decode(data)[0]
        except UnicodeDecodeError as error:
            raise _undecodable(path, number, name, error) from error
        if number == 1:
            line = line.removeprefix("\ufeff")
        if "\0" in line:
            raise InputError("a NUL character, which is no text", where=f"{shown(path)}:{number}")
        yield number, line


def _undecodable(path: Path, line: int, encoding: str, error: UnicodeDecodeError) -> InputError:
    place = f"byte {error.start} of the line" if line else f"byte {error.start}"
    return InputError(
        f"{place} is not {encoding} text",
        where=f"{shown(path)}:{line}" if line else shown(path),
        hint="Name the file's encoding (--encoding, or `encoding` of the mapping), or save it as "
        "UTF-8.",
    )


# --- Triples ---

#: Endings of the files that are read, each also with `.gz`.
JSON_KINDS = (".jsonl", ".json")
KINDS = (".tsv", ".txt", ".csv", *JSON_KINDS)
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


def read_triples(path: Path, progress: Progress, *, encoding: str = "") -> Iterator[Reading]:
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
                for value in json_values(file, path):
                    yield _of_json(value)
            else:
                yield from _of_rows(path, rows_of(file, path, encoding=encoding))
    except InputError as error:
        yield error


def json_values(file: IO[bytes], path: Path) -> Iterator[Value]:
    """Yield the records of a JSON file: the members of its one array, or the value of each line."""
    # A file of JSON lines may begin with a bracket too: that of a list of three.
    return (read_records if extension(path) == ".json" else read_lines)(file, shown(path))


def _of_rows(path: Path, rows: Iterator[Any]) -> Iterator[Reading]:
    name = shown(path)
    places: dict[str, int] = dict(zip(_REQUIRED, range(3), strict=True))
    width, headed, first = 3, False, True
    for row in rows:
        if isinstance(row, InputError):
            yield row
            first = False
            continue
        line, fields = row
        if first:
            first = False
            if found := _header(fields):
                places, width, headed = found, len(fields), True
                continue
        if len(fields) != width:
            expected = f"{width} as the header has" if headed else "head, relation and tail"
            reason = f"{len(fields)} fields where {expected} are expected"
            yield InputError(reason, where=f"{name}:{line}", hint=_HINT)
            continue
        yield Fact(
            fields[places["head"]],
            fields[places["relation"]],
            fields[places["tail"]],
            f"{name}:{line}",
            fields[places["head_type"]] if "head_type" in places else "",
            fields[places["tail_type"]] if "tail_type" in places else "",
        )


def _header(fields: Sequence[str]) -> dict[str, int]:
    """Return the positions of the columns that a header line names; empty for another line.

    Where two columns have the same meaning, the first counts.
    """
    places: dict[str, int] = {}
    for at, field in enumerate(fields):
        if column := _MEANING.get(field.strip().lower()):
            places.setdefault(column, at)
    return places if all(column in places for column in _REQUIRED) else {}


def _of_json(value: Value) -> Reading:
    """Return the triple of a JSON value: an object, or a list of three texts."""
    found, where = value
    if isinstance(found, InputError):
        return found
    if isinstance(found, list) and len(found) == 3:
        found = dict(zip(_REQUIRED, found, strict=True))
    if not isinstance(found, Mapping):
        return InputError("neither an object nor a list of three", where=where, hint=_HINT)
    parts: dict[str, str] = {}
    for key, part in found.items():
        column = _MEANING.get(str(key).strip().lower())
        if column is None or column in parts:
            continue
        if not isinstance(part, str | int | float | None) or isinstance(part, bool):
            return InputError(f"the value of {key!r} is no text", where=where, hint=_HINT)
        parts[column] = "" if part is None else str(part)
    if missing := [column for column in _REQUIRED if column not in parts]:
        return InputError(f"no {' and no '.join(missing)}", where=where, hint=_HINT)
    return Fact(
        parts["head"],
        parts["relation"],
        parts["tail"],
        where,
        parts.get("head_type", ""),
        parts.get("tail_type", ""),
    )
