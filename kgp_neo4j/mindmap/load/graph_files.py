"""Reads triples, and tables of entities by a mapping, from separated values and from JSON.

A mapping file says how a table with one entity a row becomes triples.
"""

import ast
import csv
import re
import tomllib
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from kgp_neo4j.environment.files import (
    Value,
    expanded,
    json_values,
    opened,
    read_toml,
    shown,
    text_lines,
)
from kgp_neo4j.environment.job import Progress, bar
from kgp_neo4j.environment.kinds import extension
from kgp_neo4j.mindmap.link import name_forms
from kgp_neo4j.types.errors import ConfigurationError, InputError

_FOLDER = resources.files("kgp_neo4j.mindmap.load") / "mappings"
_MAPPING_HINT = "docs/knowledge-graphs.md describes mapping files."


class ColumnMapping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a column becomes triples: the relation to its values, and one back if wanted.

    A cell is one value, or a list as Python or JSON writes it (`form`), or cut at each of the
    `separators`. A column of aliases has no relation.
    """

    column: str
    form: Literal["one", "list"] = "one"
    separators: str = ""
    relation: str = ""
    inverse: str = ""
    type: str = ""

    def __post_init__(self) -> None:
        names = (("relation", self.relation), ("relation", self.inverse), ("type", self.type))
        for problem in filter(None, (name_forms.problem_of(*name) for name in names)):
            raise ValueError(problem)
        if self.form == "list" and self.separators:
            raise ValueError("separators are given for a list")


class TableMapping(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mapping from a TOML file: the column of the entity, of its aliases, and the others.

    `noise` are regular expressions removed from a cell; values that one of `drop` matches are left
    out, and those that are exactly one of `missing`.
    """

    name: str
    columns: tuple[ColumnMapping, ...] = ()
    type: str = ""
    noise: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    aliases: ColumnMapping | None = None
    encoding: str = ""

    def __post_init__(self) -> None:
        for pattern in (*self.noise, *self.drop):
            try:
                re.compile(pattern)
            except (re.error, OverflowError, RecursionError) as error:
                raise ValueError(f"{pattern[:60]!r} is no regular expression ({error})") from None
        if not self.columns and self.aliases is None:
            raise ValueError("at least one [[columns]] is needed, or [aliases]")
        if any(not column.relation.strip() for column in self.columns):
            raise ValueError("a column has no relation")
        if problem := name_forms.problem_of("type", self.type):
            raise ValueError(f"the type is {problem}")
        try:
            " ".encode(self.encoding or "utf-8")
        except (LookupError, ValueError):  # no such name, or a NUL character in it
            raise ValueError(f"{self.encoding!r} is no encoding") from None


def built_in() -> tuple[str, ...]:
    """Return the names of the mappings in the package."""
    return tuple(sorted(file.name.removesuffix(".toml") for file in _FOLDER.iterdir()))


def read_mapping(source: str | Path, missing: Collection[str] = ()) -> TableMapping:
    """Return the mapping of a TOML file, or one of the package's own by its name.

    `missing` adds to its own. Raises ConfigurationError, which names the key that is wrong.
    """
    name = str(source)
    own = _FOLDER.joinpath(f"{name}.toml") if name in built_in() else None
    try:
        _, values = read_toml(own or expanded(source), _MAPPING_HINT)
        mapping = msgspec.convert(values, TableMapping)
        added = [missing] if isinstance(missing, str) else missing
        return msgspec.structs.replace(mapping, missing=(*mapping.missing, *added))
    except OSError as error:
        problem = f"the mapping cannot be read ({error.strerror or error})"
        hint = f"Give a TOML file, or one of {', '.join(built_in())}."
        raise ConfigurationError(problem, where=name, hint=hint) from error
    except msgspec.ValidationError as error:
        raise ConfigurationError(str(error), where=name, hint=_MAPPING_HINT) from error


_JSON_KINDS = (".jsonl", ".json")
#: Files of RDF by their ending, and the forms of it.
RDF_KINDS = {
    **{".ttl": "turtle", ".n3": "turtle", ".nt": "nt", ".rdf": "xml", ".owl": "xml"},
    **{".jsonld": "json-ld", ".nq": "nquads", ".trig": "trig"},
}
_TABLES = (".tsv", ".txt", ".csv", *_JSON_KINDS)
#: Endings of the files that are read, each also with `.gz`.
KINDS = (*_TABLES, *RDF_KINDS)
#: Records that a worker gives at a time.
_BATCH = 1_000
#: Characters of a field: a whole page of text is well below it.
_LONGEST = 1 << 24
_REQUIRED = ("head", "relation", "tail")
#: What names of columns and relations say, as `columns.toml` describes it.
NAMES = tomllib.loads(Path(__file__).with_name("columns.toml").read_text("utf-8"))
_FAMILIES: list[list[str]] = NAMES["families"]
_MEANING = {name: _REQUIRED[at] for names in _FAMILIES for at, name in enumerate(names)}
#: What neo4j-admin writes around an end: `name:START_ID(Group)`.
_AROUND_ID = re.compile(r"[^:]*(:(?:start|end)_id)(?:\([^()]*\))?(?:\{[^{}]*\})?")
#: What stands for a text in JSON.
_TEXT = (str, int, float, type(None))
_HINT = (
    "A row has head, relation and tail; files with other columns begin with a line that names "
    "them, or need a mapping."
)


def kind_of(path: Path) -> str:
    """Return a file's ending without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_apart(
    paths: Sequence[str], mapping: dict[str, Any] | None
) -> Iterator[list[msgspec.Raw] | InputError]:
    """Yield what a file holds, or several of RDF, in a worker: encoded records by the thousand."""
    files = list(map(Path, paths))
    table = msgspec.convert(mapping, TableMapping) if mapping else None
    batch: list[msgspec.Raw] = []
    with bar("", None) as progress:
        if table is None and kind_of(files[0]) in RDF_KINDS:
            from kgp_neo4j.mindmap.load.rdf import read_rdf

            records = read_rdf(files, progress)
        else:
            records = read_file(files[0], progress, table)
        for record in records:
            if not isinstance(record, InputError):
                try:
                    batch.append(msgspec.Raw(msgspec.msgpack.encode(record)))
                except UnicodeEncodeError:
                    record = InputError(name_forms.HALF, where=record.where)
            if batch and (isinstance(record, InputError) or len(batch) == _BATCH):
                yield batch
                batch = []
            if isinstance(record, InputError):
                yield record
        if batch:
            yield batch


def read_file(
    path: Path, progress: Progress, mapping: TableMapping | None = None
) -> Iterator[name_forms.Record]:
    """Yield the triples of a file, or with a mapping the entities and triples of a table's rows.

    An InputError stands for each line or record that is neither. Without a header line the three
    columns are head, relation and tail; with one, or with a JSON record's keys, others are ignored.
    """
    kind = extension(path)
    try:
        if kind not in _TABLES:
            reason = f"a kind of file that {'is no table' if mapping else 'holds no triples'}"
            hint = f"Known are {', '.join(_TABLES if mapping else KINDS)}, each also with .gz."
            raise InputError(reason, where=shown(path), hint=hint)
        with opened(path, progress) as file:
            if kind in _JSON_KINDS:
                values = json_values(file, path)
            else:
                values = _by_column(_rows(file, path, mapping.encoding if mapping else ""), mapping)
            for value, where in values:
                if isinstance(value, InputError):
                    yield value
                elif mapping is None:
                    yield _fact(value, where)
                else:
                    yield from _table_records(value, mapping, where)
    except InputError as error:
        yield error


def _rows(file: IO[bytes], path: Path, encoding: str) -> Iterator[Value]:
    """Yield the fields of each line or record that is not empty; an InputError where it is bad.

    Fields are separated by tabs where the first line has one, else by the mark of comma, semicolon
    and bar that gives the most fields. Beside tabs quotes mean nothing: names may contain them.
    """
    lines = map(_text, text_lines(file, path, encoding))
    first = next((line for line in lines if line.value.strip()), None)
    if first is None:
        return
    if "\t" in first.value:
        for line, where in chain([first], lines):
            if line.strip():
                yield Value(line.rstrip("\r\n").split("\t"), where)
        return
    csv.field_size_limit(_LONGEST)
    texts = (line for line, _ in chain([first], lines))
    mark = max(",;|", key=re.sub(r'"[^"]*"', "", first.value).count)
    reader = csv.reader(texts, delimiter=mark, strict=True, skipinitialspace=True)
    name, _, above = first.where.rpartition(":")
    while True:
        where = f"{name}:{int(above) + reader.line_num}"
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = f"not separated values ({error})"
            hint = 'Close every quote, and write a quote within quotes as "".'
            yield Value(InputError(reason, where=where, hint=hint), where)
            continue
        if any(field.strip() for field in fields):
            yield Value(fields, where)


def _text(line: Value) -> Value:
    if isinstance(line.value, InputError):
        line.value.hint = "Save it as UTF-8, or name its encoding in a mapping."
        raise line.value
    return line


def _by_column(rows: Iterator[Value], mapping: TableMapping | None) -> Iterator[Value]:
    """Yield rows as cells by column; of columns with the same name the first counts."""
    columns: list[str] = []
    expected = "the header has {}"
    for fields, where in rows:
        if isinstance(fields, InputError):
            yield Value(fields, where)
        elif not columns and _is_header(fields, mapping, where):
            columns = [field.strip() for field in fields]
        else:
            if not columns:
                columns, expected = list(_REQUIRED), "head, relation and tail are expected"
            if len(fields) == len(columns):
                yield Value(dict(zip(reversed(columns), reversed(fields), strict=True)), where)
            else:
                reason = f"{len(fields)} fields where {expected.format(len(columns))}"
                yield Value(InputError(reason, where=where, hint=None if mapping else _HINT), where)


# --- Triples ---


@lru_cache
def _columns(names: tuple[str, ...]) -> dict[str, str]:
    """Return which names are those of the head, the relation, the tail and their types.

    Names that belong together go before others, so that a `source` beside subject and object is
    none of them; else the first of a meaning counts.
    """
    known: dict[str, str] = {}
    for name in names:
        key = name.strip().lower()
        around = _AROUND_ID.fullmatch(key)
        known.setdefault(around[1] if around else key, name)
    family = max(_FAMILIES, key=lambda x: (known.keys() >= {x[0], x[2]}, x[1] in known))
    found: dict[str, str] = {}
    for name in (*family, *known):
        if name in known and name in _MEANING:
            found.setdefault(_MEANING[name], name)
    for end in {"head", "tail"} & found.keys():
        of_type = f"{end}type", f"{end}_type", f"{found[end].removesuffix('_name')}_type"
        found |= {f"{end}_type": name for name in of_type if name in known}
    return {column: known[name] for column, name in found.items()}


def _is_header(fields: list[str], mapping: TableMapping | None, where: str) -> bool:
    """Return whether a first line names all columns; raises InputError where one is missing."""
    if mapping:
        names = [field.strip() for field in fields]
        wanted = [mapping.name, *(c.column for c in (*mapping.columns, mapping.aliases) if c)]
        if missing := [repr(column) for column in wanted if column not in names]:
            hint = f"The header has {', '.join(filter(None, names))}."
            raise InputError(f"there is no column {', '.join(missing)}", where=where, hint=hint)
        return True
    found = _columns(tuple(fields))
    known = [f"{found[column]!r} ({column})" for column in _REQUIRED if column in found]
    if len(known) == 2:
        reason = f"of the columns only {' and '.join(known)} are known"
        hint = "Name them head, relation and tail; above a triple, in a line of its own."
        raise InputError(reason, where=where, hint=hint)
    return len(known) == 3


def _fact(record: object, where: str) -> name_forms.Record:
    """Return the triple of a row or a JSON value: cells by column, or a list of three texts."""
    if isinstance(record, list) and len(record) == 3:
        record = dict(zip(_REQUIRED, record, strict=True))
    if not isinstance(record, Mapping):
        return InputError("neither an object nor a list of three", where=where, hint=_HINT)
    parts: dict[str, str] = {}
    for column, key in _columns(tuple(record)).items():
        part = record[key]
        if isinstance(part, bool) or not isinstance(part, _TEXT):
            return InputError(f"the value of {key!r} is no text", where=where, hint=_HINT)
        parts[column] = "" if part is None or part != part else str(part)  # NaN, too
    if missing := [column for column in _REQUIRED if column not in parts]:
        return InputError(f"no {' and no '.join(missing)}", where=where, hint=_HINT)
    return name_forms.Fact(**parts, where=where)


# --- Tables of entities ---


_STRING = r"[uUrR]?'(?:\\.|[^'\\\n])*+'|[uUrR]?\"(?:\\.|[^\"\\\n])*+\""
#: One item of a Python or JSON list, up to its comma.
_ITEM = re.compile(rf"\s*+(?:(?P<text>{_STRING})|(?P<word>[^\s,'\"\[\]()]++))\s*+(?:,|\Z)")


def _table_records(cells: object, mapping: TableMapping, where: str) -> list[name_forms.Record]:
    """Return the entity of a row and its triples; an InputError alone where a value is bad.

    Of a JSON record the keys are the columns; a key that it lacks is an empty cell.
    """
    if not isinstance(cells, Mapping) or not isinstance(cells.get(mapping.name), str):
        return [InputError(f"no object with a text {mapping.name!r}", where=where)]
    entity = _without(cells[mapping.name], mapping.noise)
    if _is_dropped(entity, mapping):
        return [name_forms.NamedEntity("", where)]
    try:
        names = _values(cells, mapping.aliases, mapping) if mapping.aliases else []
        aliases = tuple(filter(None, names))
        records: list[name_forms.Record] = [
            name_forms.NamedEntity(entity, where, mapping.type, aliases)
        ]
        for column in mapping.columns:
            ends = mapping.type, column.type
            for value in _values(cells, column, mapping):
                records.append(name_forms.Fact(entity, column.relation, value, where, *ends))
                if column.inverse:
                    records.append(
                        name_forms.Fact(value, column.inverse, entity, where, *ends[::-1])
                    )
    except ValueError as error:
        return [InputError(str(error), where=where)]
    return records


def _without(text: str, patterns: tuple[str, ...]) -> str:
    for pattern in patterns:
        text = re.sub(pattern, "", text)
    return text


def _is_dropped(text: str, mapping: TableMapping) -> bool:
    missing = name_forms.is_missing(text, mapping.missing)
    return missing or any(re.search(pattern, text) for pattern in mapping.drop)


def _values(cells: Mapping[str, Any], column: ColumnMapping, mapping: TableMapping) -> list[str]:
    """Return the values of a cell, those of a JSON array as they are; dropped ones are empty."""
    cell = cells.get(column.column)
    texts = cell if isinstance(cell, list) else [] if cell is None else [cell]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{column.column!r} holds neither a text nor a list of texts")
    values: list[str] = []
    for text in texts:
        text = _without(text, mapping.noise)
        if not text.strip() or (
            column.form == "list" and name_forms.is_missing(text, mapping.missing)
        ):
            continue
        if column.form == "list" and not isinstance(cell, list):
            values += _values_of_list(text, column.column)
        elif column.separators and not isinstance(cell, list):
            parts = text.translate({ord(mark): "\n" for mark in column.separators}).split("\n")
            values += [part.strip() for part in parts if part.strip()]
        else:
            values.append(text.strip())
    return ["" if _is_dropped(value, mapping) else value for value in values]


def _values_of_list(text: str, column: str) -> list[str]:
    """Return the texts of a flat list in Python or JSON notation, without evaluating it.

    Words without quotes are returned as they are, and empty where they are no value (`nan`, `None`,
    `null`). Raises ValueError for no list, a nested list, a quote that is not closed.
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
                word = "" if item["word"] in ("nan", "NaN", "None", "null") else item["word"]
                values.append(ast.literal_eval(item["text"]) if item["text"] else word)
        except (SyntaxError, ValueError) as error:
            problem = f"the list in the column {column!r} is malformed: {inner[at:][:60]!r}"
            raise ValueError(problem) from error
        at = item.end()
    return values
