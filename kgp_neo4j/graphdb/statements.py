"""Reads the Cypher statements under `cypher/`; there is no Cypher elsewhere.

A file begins with its signature, then its description, then the statement:

    // kgp.neighbours(passage :: ANY, configuration = {} :: MAP) :: (passage :: NODE)
    // The neighbours of a passage, nearest first.
    // mode: READ
    // check: configuration, passage
    // option: limit = 10 :: INT (1 to 1000), how many at most
    // example: CALL custom.kgp.neighbours('4f0c', {limit: 5})
    MATCH ...

The signature's parameters are those of the statement, as the house's tests see to. Files under
`procedures/` are those of our plugin, `custom.<name>`; the driver runs the same text. A file of
mode SCHEMA may have several statements, each ended by a semicolon.

Each name after `check:` is a statement of `cypher/check/`, whose rows say in a sentence what is
wrong with the parameters: Cypher alone cannot raise an error. Plugin and driver run them before.

Four things are expanded, the last one when it is run:

- A line `// include: words` becomes the text of `cypher/include/words.cypher` without its header,
  which documents the variables it uses and defines. `// include: options` becomes the options as a
  map literal, `// include: procedures` the headers of all procedures as a list of such.
- `TraversalSettings.hops` becomes the default of the setting in `types/settings.py`.
- `$configuration.limit` becomes `coalesce($configuration.limit, 10)`, with the option's default.
- A label of a schema statement, which cannot be a parameter, stands as `` `$label` ``.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from textwrap import indent
from typing import Any, NamedTuple

from kgp_neo4j.types.errors import QueryFileError
from kgp_neo4j.types.settings import TraversalSettings

#: Stands before each statement that is run: the language that all servers since 5.26 know.
LANGUAGE = "CYPHER 5 "
_HEADER = re.compile(
    r"// (?P<signature>(?P<name>[\w.]+)\((?P<inputs>.*?)\) :: \((?P<outputs>.*)\))\n"
    r"(?P<description>(?://.*\n)+?)"
    r"// mode: (?P<mode>READ|WRITE|SCHEMA)$",
    re.MULTILINE,
)
_MORE = re.compile(r"^// (check|option|task|example): (.*)$", re.MULTILINE)
_INCLUDE = re.compile(r"^(?P<indent> *)// include: (?P<name>\w+)$", re.MULTILINE)
_COMMENT_LINES = re.compile(r"\A(?:(?!// include:)//.*\n)*")
#: A parameter or a column; an option has a description, and may have a range.
_FIELD = re.compile(
    r"(?P<name>\w+)(?: = (?P<default>.+?))? :: (?P<type>[A-Z][A-Z ?]*?)"
    r"(?: \((?P<range>[\d.]+ to [\d.]+)\))?(?:, (?P<description>.+))?"
)
_LABEL = re.compile(r"`\$(\w+)`")
_SETTING = re.compile(r"\bTraversalSettings\.(\w+)")
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


class Parameter(NamedTuple):
    """A parameter, option or column: its Cypher type, default literal, and range as "0 to 10"."""

    name: str
    type: str
    default: str | None = None
    range: str | None = None
    description: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """One file of `cypher/`: its signature, description and expanded text."""

    path: str
    name: str
    signature: str
    description: str
    mode: str
    task: str
    example: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    options: tuple[Parameter, ...]
    text: str
    #: A statement whose first row says what is wrong with the parameters; empty for none.
    check: str = ""

    @property
    def documentation(self) -> str:
        """The description, with the options of its configuration."""
        options = [
            f"{o.name} ({o.default}{f'; {o.range}' if o.range else ''}), {o.description}"
            for o in self.options
        ]
        return self.description + (f" Configuration: {'; '.join(options)}." if options else "")

    def labelled(self, values: Mapping[str, Any]) -> list[str]:
        """Return statements with labels for :`$label`; raises QueryFileError unless plain words.

        These are the statements of the file: one, or of mode SCHEMA any number.
        """

        def label(use: re.Match[str]) -> str:
            given: str = values[use[1]]
            if re.fullmatch(r"[A-Za-z]\w*", given, re.ASCII) is None:
                hint = "A label is one plain word."
                raise QueryFileError(f"{given!r} is no label", where=self.path, hint=hint)
            return given

        parts = f"{self.text}\n".split(";\n") if self.mode == "SCHEMA" else [self.text]
        return [_LABEL.sub(label, part) for part in parts if part.strip()]

    def bind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values by parameter, options in `configuration`, with all defaults.

        Raises QueryFileError for an unknown parameter, and for one with neither value nor default.
        """
        bound = dict(values)
        options = {o.name: bound.pop(o.name) for o in self.options if o.name in bound}
        if options:
            bound["configuration"] = {**(bound.get("configuration") or {}), **options}
        for parameter in self.inputs:
            if parameter.default is not None:
                # JSON but for its quotes. Python 3.11's `ast` fails at times in one of several
                # threads (CPython's issue 106905).
                value = json.loads(parameter.default.replace("'", '"'))
                bound.setdefault(parameter.name, value)
        names = {parameter.name for parameter in self.inputs}
        unknown, missing = bound.keys() - names, names - bound.keys()
        if unknown or missing:
            problem = "no parameter named" if unknown else "no value and no default for"
            what = f"{problem} {', '.join(sorted(unknown or missing))}"
            hint = f"The signature is {self.signature}."
            raise QueryFileError(what, where=self.path, hint=hint)
        return bound


@cache
def statement(path: str) -> Statement:
    """Return the statement of the file `cypher/<path>.cypher`."""
    made = _headed(path)
    check = ""
    if made.check:
        texts = [_included(f"check/{name}") for name in made.check.split(", ")]
        checks = "\nUNION ALL\n".join(_with_options(text, made.options) for text in texts)
        check = _included("include/checked").replace("...", checks)
    return replace(made, text=_with_options(_expanded(path), made.options), check=check)


def _headed(path: str) -> Statement:
    """Return the statement of a file by its header; text and checks as they stand there."""
    where = f"cypher/{path}.cypher"
    text = _read(path)
    header = _HEADER.match(text)
    if not header:
        what = "the header is no signature, description and mode of READ, WRITE or SCHEMA"
        hint = "Begin with // name(parameter :: TYPE) :: (column :: TYPE)."
        raise QueryFileError(what, where=where, hint=hint)
    told: dict[str, list[str]] = {"check": [], "option": [], "task": [], "example": []}
    for kind, said in _MORE.findall(text):
        told[kind].append(said)
    return Statement(
        path=where,
        **{name: header[name] for name in ("name", "signature", "mode")},
        description=" ".join(header["description"].replace("//", "").split()),
        task="".join(told["task"]),
        example="".join(told["example"]),
        # Defaults have no ", " by convention, so that a signature can be split at it.
        inputs=_parameters(header["inputs"].split(", "), where),
        outputs=_parameters(header["outputs"].split(", "), where),
        options=_parameters(told["option"], where),
        text=text,
        check=", ".join(told["check"]),
    )


def folder(name: str) -> list[Statement]:
    """Return all statements of one folder of `cypher/`, in the order of their file names."""
    return list(map(statement, _paths(name)))


def _paths(name: str) -> list[str]:
    place = resources.files("kgp_neo4j.cypher").joinpath(*name.split("/"))
    names = sorted(file.name for file in place.iterdir() if file.name.endswith(".cypher"))
    return [f"{name}/{file.removesuffix('.cypher')}" for file in names]


def fingerprint(name: str) -> str:
    """Return a hash of one folder's statements, which changes when an upgrade is needed."""
    digest = hashlib.sha256()
    for query in folder(name):
        parts = (query.path, query.signature, query.documentation, query.text, query.check)
        digest.update("\0".join(parts).encode())
    return digest.hexdigest()[:16]


def _read(path: str) -> str:
    """Return the text of a file, with the defaults of settings."""
    file = resources.files("kgp_neo4j.cypher").joinpath(*f"{path}.cypher".split("/"))
    if not file.is_file():
        where = f"cypher/{path}.cypher"
        raise QueryFileError("there is no such statement", where=where, hint="Check the name.")
    text = file.read_text(encoding="utf-8").rstrip("\n")
    return _SETTING.sub(lambda default: str(getattr(TraversalSettings(), default[1])), text)


def _expanded(path: str) -> str:
    """Return the text of a file with its includes in their places."""

    def included(line: re.Match[str]) -> str:
        name = line["name"]
        if name == "options":
            return line[0]
        text = _catalogue() if name == "procedures" else _included(f"include/{name}")
        return indent(text, line["indent"])

    return _INCLUDE.sub(included, _read(path))


def _included(path: str) -> str:
    """Return the text of a file without its header."""
    return _COMMENT_LINES.sub("", _expanded(path) + "\n").rstrip("\n")


def _catalogue() -> str:
    """Return what `help` tells of the procedures, as a list of maps in Cypher."""

    def quoted(text: str) -> str:
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    rows = [
        f"{{task: {quoted(made.task)}, name: {quoted(f'custom.{made.name}')},"
        f"\n  signature: {quoted(f'custom.{made.signature}')},"
        f"\n  description: {quoted(made.documentation)},\n  example: {quoted(made.example)}}}"
        for made in map(_headed, _paths("procedures"))
    ]
    return "[" + ",\n ".join(rows) + "]"


def _with_options(text: str, options: tuple[Parameter, ...]) -> str:
    """Return a text with the options' defaults filled in and `include: options` expanded."""
    defaults = {option.name: option.default for option in options}
    maps = ", ".join(
        f"{o.name}: {{type: '{_VALUE_TYPES[o.type]}', said: '{o.type}'"
        + (", low: {}, high: {}}}".format(*o.range.split(" to ")) if o.range else "}")
        for o in options
    )
    text = _OPTION_USE.sub(lambda use: f"coalesce({use[0]}, {defaults[use[1]]})", text)
    return _INCLUDE.sub(lambda line: f"{line['indent']}{{{maps}}}", text)


def _parameters(texts: list[str], where: str) -> tuple[Parameter, ...]:
    parameters: list[Parameter] = []
    for text in filter(None, texts):
        match = _FIELD.fullmatch(text)
        if match is None:
            raise QueryFileError(
                f"cannot read {text!r} in the header",
                where=where,
                hint="Write name :: TYPE or name = default :: TYPE, and of an option "
                "name = default :: TYPE (least to greatest), what it means.",
            )
        parameters.append(Parameter(**match.groupdict()))
    return tuple(parameters)


# --- Rows in one record ---------------------------------------------------------------------------


@cache
def packed(path: str) -> Statement:
    """Return a file's statement with all rows in one record: no embeddings, edges as triples."""
    query, wrapper = statement(path), statement("inspect/packed")
    before, _, rest = wrapper.text.partition("{\n")
    _, _, after = rest.partition("\n}")
    columns = ", ".join(_packed_column(column) for column in query.outputs)
    after = after.replace("[column]", f"[{columns}]")
    return replace(query, text=f"{before}{{\n{query.text}\n}}{after}")


def _packed_column(column: Parameter) -> str:
    _, of, kind = column.type.rpartition("LIST OF ")
    if kind not in ("NODE", "RELATIONSHIP"):
        return column.name
    text = _included(f"include/packed_{kind.lower()}s")
    text = re.sub(r"\bcolumn\b", column.name if of else f"[{column.name}]", text)
    return text if of else f"{text}[0]"
