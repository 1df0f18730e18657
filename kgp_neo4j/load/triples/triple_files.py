"""Reads head/relation/tail files: tab- or comma-separated, or JSON lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.errors import InputError
from kgp_neo4j.load.files import extension, opened, shown
from kgp_neo4j.load.json_files import Value, read_array, read_lines
from kgp_neo4j.load.triples.facts import Fact, Reading
from kgp_neo4j.load.triples.rows import rows_of
from kgp_neo4j.progress import Progress

__all__ = ["KINDS", "read_triples"]

#: What is read, each also with `.gz`.
KINDS = (".tsv", ".txt", ".csv", ".jsonl", ".json")
#: What the columns of a header line and the keys of a JSON record may be called, in lower case.
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
    """Yield the triples of a file, and an InputError for each line that is none.

    Without a header line the three columns are head, relation and tail. A header line, or a JSON
    record's keys, may name them in any order (subject, predicate, object; source, target; x_name,
    y_name...), with `head_type` and `tail_type` beside them; other columns are left alone.
    """
    kind = extension(path)
    if kind not in KINDS:
        hint = f"Known are {', '.join(KINDS)}, each also with .gz."
        yield InputError("a kind of file that holds no triples", where=shown(path), hint=hint)
        return
    try:
        with opened(path, progress) as file:
            if kind in (".json", ".jsonl"):
                start = file.peek(4096)[:4096]  # type: ignore[attr-defined]
                # A file of JSON lines may begin with a bracket too, that of a list of three.
                begins = start.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
                is_array = kind == ".json" and begins == b"["
                for value in (read_array if is_array else read_lines)(file, shown(path)):
                    yield _of_json(value)
            else:
                yield from _of_rows(path, rows_of(file, path, encoding=encoding))
    except InputError as error:
        yield error


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
    """Return where the columns are if this is a line that names them, else nothing.

    Where two columns have names of one meaning, the first counts.
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
