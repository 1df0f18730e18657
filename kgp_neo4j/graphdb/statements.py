"""Reads the Cypher statements under `cypher/`; there is no Cypher elsewhere.

A file begins with its signature, then its description, then the statement:

    // kgp.neighbours(passage :: ANY, configuration = {} :: MAP) :: (passage :: NODE)
    // The neighbours of a passage, nearest first.
    // mode: READ
    // option: limit = 10 :: INT (1 to 1000), how many at most
    // example: CALL custom.kgp.neighbours('4f0c', {limit: 5})
    // include: configuration
    MATCH ...

The signature's parameters are compared with the `$parameters` of the statement when the file is
read, so that a misspelt one is found before any query runs. Files under `procedures/` are installed
as `custom.<name>`; the driver runs the same text.

Two things are expanded when a file is read:

- A line `// include: words` becomes the text of `cypher/include/words.cypher` without its header,
  which documents the variables it uses and defines. `// include: options` becomes the options as a
  map literal.
- `$configuration.limit` becomes `coalesce($configuration.limit, 10)`, with the option's default.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from kgp_neo4j.types.errors import QueryFileError

__all__ = ["Parameter", "Statement", "fingerprint", "folder", "packed", "statement"]

_SIGNATURE = re.compile(r"^//\s*(?P<name>[\w.]+)\((?P<inputs>.*?)\)\s*::\s*\((?P<outputs>.*)\)\s*$")
_OPTION = re.compile(
    r"^(?P<name>\w+) = (?P<default>.+?) :: (?P<type>[A-Z][A-Z ]*)"
    r"(?: \((?P<low>[\d.]+) to (?P<high>[\d.]+)\))?, (?P<description>.+)$"
)
_INCLUDE = re.compile(r"^(?P<indent>\s*)// include: (?P<name>\w+)\s*$")
_OPTION_USE = re.compile(r"\$configuration\.(\w+)")
#: The `valueType` of values that an option of this type accepts.
_VALUE_TYPES = {
    "BOOLEAN": "BOOLEAN",
    "FLOAT": "(FLOAT|INTEGER)",
    "INT": "INTEGER",
    "LIST OF FLOAT": "LIST<(FLOAT|INTEGER|NOTHING)",
    "LIST OF STRING": "LIST<(STRING|NOTHING)",
    "MAP": "MAP",
    "STRING": "STRING",
}
_FIELD = re.compile(r"^(?P<name>\w+)(?:\s*=\s*(?P<default>.+?))?\s*::\s*(?P<type>[A-Z][A-Z ?]*)$")
_USED = re.compile(r"\$(\w+)")
_COMMENTS_AND_TEXTS = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL
)
_MODES = ("READ", "WRITE", "SCHEMA")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, option or column of a statement, with its Cypher type and default literal."""

    name: str
    type: str
    default: str | None = None
    #: The least and the greatest value of an option that is a number.
    low: str | None = None
    high: str | None = None
    description: str = ""

    @property
    def value(self) -> Any:
        """The default as a Python value."""
        # All are JSON but for their quotes. Python 3.11's `ast` fails at times in one of several
        # threads (CPython's issue 106905).
        return json.loads((self.default or "null").replace("'", '"'))

    @property
    def range(self) -> str:
        """The range of an option's values, as "0 to 10"; empty where there is none."""
        return "" if self.low is None else f"{self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of `cypher/`: its file, signature, description and expanded text."""

    path: str
    name: str
    signature: str
    description: str
    mode: str
    example: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    options: tuple[Parameter, ...]
    text: str

    @property
    def documentation(self) -> str:
        """The description, with the options of its configuration."""
        options = [
            f"{o.name} ({o.default}{f'; {o.range}' if o.range else ''}), {o.description}"
            for o in self.options
        ]
        return self.description + (f" Configuration: {'; '.join(options)}." if options else "")

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters given, with the defaults of all others, in the signature's order.

        An option may be given by its own name instead of within `configuration`.
        """
        chosen = {o.name: given[o.name] for o in self.options if o.name in given}
        if chosen:
            given = {name: value for name, value in given.items() if name not in chosen}
            given["configuration"] = {**(given.get("configuration") or {}), **chosen}
        unknown = sorted(given.keys() - {p.name for p in self.inputs})
        if unknown:
            raise QueryFileError(
                f"no parameter named {', '.join(unknown)}",
                where=self.path,
                hint=f"The signature is {self.signature}.",
            )
        missing = [p.name for p in self.inputs if p.name not in given and p.default is None]
        if missing:
            raise QueryFileError(
                f"parameter {', '.join(missing)} has no value and no default",
                where=self.path,
                hint=f"The signature is {self.signature}.",
            )
        return {p.name: given.get(p.name, p.value) for p in self.inputs}


@cache
def statement(path: str) -> Statement:
    """Return the statement of the file `cypher/<path>.cypher`, checked against its header."""
    return _parse(path, list(_lines(path)))


@cache
def packed(path: str) -> Statement:
    """Return the statement of a file, changed to return all its rows in one record.

    Nodes come without their embeddings, and relationships as triples.
    """
    query, wrapper = statement(path), statement("inspect/packed")
    before, _, rest = wrapper.text.partition("{\n")
    _, _, after = rest.partition("\n}")
    columns = ", ".join(_packed_column(column) for column in query.outputs)
    after = after.replace("[column]", f"[{columns}]")
    return replace(query, text=f"{before}{{\n{query.text}\n}}{after}")


#: How values of these types are written into a packed row.
_PACKED = {
    "NODE": "packed_node",
    "RELATIONSHIP": "packed_relationship",
    "LIST OF NODE": "packed_nodes",
    "LIST OF RELATIONSHIP": "packed_relationships",
}


def _packed_column(column: Parameter) -> str:
    if column.type not in _PACKED:
        return column.name
    lines = [line for _, line in _lines(f"include/{_PACKED[column.type]}")]
    text = "\n".join(line for line in lines if not line.startswith("//"))
    return re.sub(r"\bcolumn\b", column.name, text)


def folder(name: str) -> list[Statement]:
    """Return all statements of one folder of `cypher/`, in the order of their file names."""
    place: Traversable = resources.files("kgp_neo4j.cypher").joinpath(*name.split("/"))
    files = sorted(f.name for f in place.iterdir() if f.name.endswith(".cypher"))
    return [statement(f"{name}/{file.removesuffix('.cypher')}") for file in files]


def fingerprint(name: str) -> str:
    """Return a hash of one folder's statements, which changes when an upgrade is needed."""
    digest = hashlib.sha256()
    for query in folder(name):
        digest.update(
            f"{query.path}\0{query.signature}\0{query.documentation}\0{query.text}\0".encode()
        )
    return digest.hexdigest()[:16]


def _lines(path: str, within: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield the place (file and line) and the text of each line, with includes expanded."""
    file = resources.files("kgp_neo4j.cypher").joinpath(*f"{path}.cypher".split("/"))
    if not file.is_file():
        raise QueryFileError(
            "there is no such statement", where=f"cypher/{path}.cypher", hint="Check the name."
        )
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        place = f"cypher/{path}.cypher:{number}"
        found = _INCLUDE.match(line)
        if not found or found["name"] == "options":
            yield place, line
            continue
        included = f"include/{found['name']}"
        if included in within:
            raise QueryFileError(f"{found['name']} includes itself", where=place)
        try:
            body = list(_lines(included, (*within, included)))
        except QueryFileError as error:
            if error.where != f"cypher/{included}.cypher":
                raise
            raise QueryFileError(
                f"there is no cypher/{included}.cypher to include", where=place
            ) from error
        while body and body[0][1].startswith("//"):
            body.pop(0)
        yield from ((at, found["indent"] + text) for at, text in body)


def _parse(path: str, lines: list[tuple[str, str]]) -> Statement:
    where = f"cypher/{path}.cypher"
    head = lines[0][1] if lines else ""
    found = _SIGNATURE.match(head)
    if not found:
        raise QueryFileError(
            "the first line is not a signature",
            where=f"{where}:1",
            hint="Write // name(parameter :: TYPE) :: (column :: TYPE).",
        )
    tags: dict[str, str] = {}
    words: list[str] = []
    options: list[Parameter] = []
    for place, line in lines[1:]:
        if not line.startswith("//") or _INCLUDE.match(line):
            break
        comment = line[2:].strip()
        key, colon, rest = comment.partition(":")
        if colon and key == "option":
            options.append(_option(rest.strip(), place))
        elif colon and key in ("mode", "example"):
            tags[key] = rest.strip()
        elif not tags:
            words.append(comment)
    mode = tags.get("mode", "READ")
    if mode not in _MODES or not words:
        raise QueryFileError(
            "the header needs a description and a mode of READ, WRITE or SCHEMA",
            where=f"{where}:2",
        )
    inputs = _fields(found["inputs"], where)
    text = "\n".join(_with_options(lines, options))
    bare = _COMMENTS_AND_TEXTS.sub(" ", text)
    _check_same(set(_USED.findall(bare)), {p.name for p in inputs}, "$", "the signature", lines)
    chosen = {name for _, line in lines for name in _OPTION_USE.findall(line)}
    _check_same(chosen, {o.name for o in options}, "$configuration.", "the options", lines)
    return Statement(
        path=where,
        name=found["name"],
        signature=head[2:].strip(),
        description=" ".join(words),
        mode=mode,
        example=tags.get("example", ""),
        inputs=inputs,
        outputs=_fields(found["outputs"], where),
        options=tuple(options),
        text=text,
    )


def _check_same(
    used: set[str], declared: set[str], sign: str, origin: str, lines: list[tuple[str, str]]
) -> None:
    """Raise QueryFileError unless the names used in a statement are those its header declares."""
    different = used ^ declared
    if different:
        names = ", ".join(f"{sign}{name}" for name in sorted(different))
        at = next(
            (p for p, line in lines if any(f"{sign}{n}" in line for n in different)), lines[0][0]
        )
        raise QueryFileError(
            f"declared and used parameters differ: {names}",
            where=at,
            hint=f"Bring {origin} in the header and the statement together.",
        )


def _with_options(lines: list[tuple[str, str]], options: list[Parameter]) -> Iterator[str]:
    """Yield the lines with the options' defaults filled in and `include: options` expanded."""
    defaults = {option.name: option.default for option in options}
    maps = ", ".join(
        f"{o.name}: {{type: '{_VALUE_TYPES[o.type]}', said: '{o.type}'"
        + (f", low: {o.low}, high: {o.high}}}" if o.range else "}")
        for o in options
    )
    for _, line in lines:
        found = _INCLUDE.match(line)
        if found:
            yield f"{found['indent']}{{{maps}}}"
        else:
            yield _OPTION_USE.sub(lambda m: f"coalesce({m[0]}, {defaults.get(m[1])})", line)


def _option(text: str, place: str) -> Parameter:
    found = _OPTION.match(text)
    if not found or found["type"] not in _VALUE_TYPES:
        raise QueryFileError(
            f"cannot read the option {text!r}",
            where=place,
            hint="Write name = default :: TYPE (least to greatest), what it means.",
        )
    return Parameter(**found.groupdict())


def _fields(text: str, where: str) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    # Defaults have no commas by convention, so that a signature can be split at them.
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        found = _FIELD.match(part)
        if not found:
            raise QueryFileError(
                f"cannot read {part!r} in the signature",
                where=f"{where}:1",
                hint="Write name :: TYPE or name = default :: TYPE, with spaces round the colons.",
            )
        made = Parameter(found["name"], found["type"].strip(), found["default"])
        try:
            _ = made.value
        except ValueError as error:
            raise QueryFileError(
                f"cannot read the default {made.default!r}",
                where=f"{where}:1",
                hint="Write a number, true, false, null, 'text', [] or {}.",
            ) from error
        parameters.append(made)
    return tuple(parameters)
