"""Reads the Cypher statements under `cypher/`: the only place where Cypher lives.

A file begins with its signature, then its description, then the statement:

    // kgp.neighbours(passage :: STRING, limit = 3 :: INT) :: (node :: NODE, score :: FLOAT)
    // The neighbours of a passage, nearest first.
    // mode: READ
    // example: CALL custom.kgp.neighbours('4f0c', 5)
    MATCH ...

The signature's parameters are compared with the `$parameters` of the statement when the file is
read, so that a misspelt one is found before any query runs. Files under `procedures/` are installed
as `custom.<name>`; the driver runs the very same text.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from kgp_neo4j.errors import QueryFileError

__all__ = ["Parameter", "Statement", "fingerprint", "folder", "statement"]

_SIGNATURE = re.compile(r"^//\s*(?P<name>[\w.]+)\((?P<inputs>.*?)\)\s*::\s*\((?P<outputs>.*)\)\s*$")
_FIELD = re.compile(r"^(?P<name>\w+)(?:\s*=\s*(?P<default>.+?))?\s*::\s*(?P<type>[A-Z][A-Z ?]*)$")
_USED = re.compile(r"\$(\w+)")
_NOISE = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
_LITERALS = {"true": True, "false": False, "null": None}
_MODES = ("READ", "WRITE", "SCHEMA")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter or a column of a statement, with its Cypher type and default literal."""

    name: str
    type: str
    default: str | None = None

    @property
    def value(self) -> Any:
        """The default as a Python value."""
        text = (self.default or "null").strip()
        if text in _LITERALS:
            return _LITERALS[text]
        return {} if text == "{}" else ast.literal_eval(text)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of `cypher/`: its file, signature, description and text."""

    path: str
    name: str
    signature: str
    description: str
    mode: str
    example: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    text: str

    def bind(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters to run with: those given, and the defaults of the rest."""
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
    file = resources.files("kgp_neo4j.cypher").joinpath(*f"{path}.cypher".split("/"))
    if not file.is_file():
        raise QueryFileError(
            "there is no such statement", where=f"cypher/{path}.cypher", hint="Check the name."
        )
    return _parse(path, file.read_text(encoding="utf-8"))


def folder(name: str) -> list[Statement]:
    """Return all statements of one folder of `cypher/`, in the order of their file names."""
    place: Traversable = resources.files("kgp_neo4j.cypher").joinpath(name)
    files = sorted(f.name for f in place.iterdir() if f.name.endswith(".cypher"))
    return [statement(f"{name}/{file.removesuffix('.cypher')}") for file in files]


def fingerprint(name: str) -> str:
    """Return a hash of one folder's statements: it changes when an upgrade is due."""
    seen = hashlib.sha256()
    for made in folder(name):
        seen.update(f"{made.path}\0{made.signature}\0{made.description}\0{made.text}\0".encode())
    return seen.hexdigest()[:16]


def _parse(path: str, text: str) -> Statement:
    where = f"cypher/{path}.cypher"
    lines = text.splitlines()
    found = _SIGNATURE.match(lines[0]) if lines else None
    if not found:
        raise QueryFileError(
            "the first line is not a signature",
            where=f"{where}:1",
            hint="Write // name(parameter :: TYPE) :: (column :: TYPE).",
        )
    tags: dict[str, str] = {}
    words: list[str] = []
    for line in lines[1:]:
        if not line.startswith("//"):
            break
        comment = line[2:].strip()
        key, colon, rest = comment.partition(":")
        if colon and key in ("mode", "example"):
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
    used = set(_USED.findall(_NOISE.sub(" ", text)))
    declared = {p.name for p in inputs}
    if used != declared:
        odd = ", ".join(f"${name}" for name in sorted(used ^ declared))
        at = next((i for i, line in enumerate(lines, 1) if any(f"${n}" in line for n in used)), 1)
        raise QueryFileError(
            f"declared and used parameters differ: {odd}",
            where=f"{where}:{at}",
            hint="Bring the signature on line 1 and the statement together.",
        )
    return Statement(
        path=where,
        name=found["name"],
        signature=lines[0][2:].strip(),
        description=" ".join(words),
        mode=mode,
        example=tags.get("example", ""),
        inputs=inputs,
        outputs=_fields(found["outputs"], where),
        text=text,
    )


def _fields(text: str, where: str) -> tuple[Parameter, ...]:
    made: list[Parameter] = []
    # Defaults hold no commas by convention, so that a signature splits on them.
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        found = _FIELD.match(part)
        if not found:
            raise QueryFileError(
                f"cannot read {part!r} in the signature",
                where=f"{where}:1",
                hint="Write name :: TYPE or name = default :: TYPE, with spaces round the colons.",
            )
        made.append(Parameter(found["name"], found["type"].strip(), found["default"]))
    return tuple(made)
