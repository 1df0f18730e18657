"""Reads the mapping file, which says how a table with one entity a row becomes triples."""

from __future__ import annotations

import re
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.files import read_toml
from kgp_neo4j.mindmap.load.graph_names import problem_of_relation, problem_of_type
from kgp_neo4j.mindmap.load.triple_files import is_encoding
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["ColumnMapping", "TableMapping", "built_in", "read_mapping"]

_FORMS = ("one", "list", "separated")
_BUILT_IN = "mappings"
_TABLE_KEYS = {"encoding", "separator", "name", "type", "noise", "drop", "aliases", "columns"}
_COLUMN_KEYS = {"column", "relation", "inverse", "type", "form", "separators", "noise", "drop"}
_HINT = "docs/knowledge-graphs.md describes mapping files."


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """How one column becomes triples: how to split a cell, and the relation of its values.

    `noise` is removed from a cell, values that `drop` matches are left out. A column of aliases
    has no relation.
    """

    column: str
    relation: str = ""
    inverse: str = ""
    type: str = ""
    form: str = "one"
    separators: str = ""
    noise: tuple[re.Pattern[str], ...] = ()
    drop: tuple[re.Pattern[str], ...] = ()


@dataclass(frozen=True, slots=True)
class TableMapping:
    """A mapping from a TOML file: the column of the entity, of its aliases, and the others."""

    name: str
    columns: tuple[ColumnMapping, ...]
    type: str = ""
    noise: tuple[re.Pattern[str], ...] = ()
    drop: tuple[re.Pattern[str], ...] = ()
    aliases: ColumnMapping | None = None
    encoding: str = ""
    separator: str = ""


def built_in() -> tuple[str, ...]:
    """Return the names of the mappings that come with the package."""
    place = resources.files("kgp_neo4j.mindmap.load").joinpath(_BUILT_IN)
    return tuple(
        sorted(f.name.removesuffix(".toml") for f in place.iterdir() if f.name.endswith(".toml"))
    )


def read_mapping(given: str | Path) -> TableMapping:
    """Return the mapping of a TOML file, or one of the package's own by its name.

    Raises ConfigurationError for a file that cannot be read, naming the wrong key.
    """
    where = str(given)
    place: Path | Traversable = Path(given).expanduser()
    if where in built_in():
        place = resources.files("kgp_neo4j.mindmap.load").joinpath(_BUILT_IN, f"{where}.toml")
    try:
        _, values = read_toml(place, _HINT)
    except OSError as error:
        raise ConfigurationError(
            f"the mapping cannot be read ({error.strerror or error})",
            where=where,
            hint=f"Give a TOML file, or one of {', '.join(built_in())}.",
        ) from error
    return _Reader(where).table(values)


class _Reader:
    """Checks the values of a mapping; every error names the file and the key."""

    def __init__(self, where: str) -> None:
        self._where = where

    def table(self, values: AbstractMapping[str, Any]) -> TableMapping:
        self._known(values, _TABLE_KEYS, "")
        noise = self._patterns(values, "noise", "noise")
        drop = self._patterns(values, "drop", "drop")
        columns, aliases = values.get("columns", []), values.get("aliases")
        if not isinstance(columns, list) or not (columns or aliases):
            raise self._error("columns", "at least one [[columns]] is needed, or aliases")
        encoding = self._text(values, "encoding", "encoding")
        if encoding and not is_encoding(encoding):
            raise self._error("encoding", f"{encoding!r} is no encoding")
        separator = self._text(values, "separator", "separator")
        if separator and (len(separator) != 1 or separator in '"\r\n\0'):
            raise self._error("separator", "not one character that can separate fields")
        return TableMapping(
            name=self._text(values, "name", "name", required=True),
            type=self._type(values, "type"),
            noise=noise,
            drop=drop,
            columns=tuple(
                self._column(column, f"columns[{at}]", noise, drop)
                for at, column in enumerate(columns, 1)
            ),
            aliases=None if aliases is None else self._column(aliases, "aliases", noise, drop),
            encoding=encoding,
            separator=separator,
        )

    def _column(
        self, values: Any, key: str, noise: tuple[re.Pattern[str], ...], drop: Any
    ) -> ColumnMapping:
        if not isinstance(values, dict):
            raise self._error(key, "not a table")
        self._known(values, _COLUMN_KEYS, f"{key}.")
        separators = self._text(values, "separators", f"{key}.separators", strip=False)
        form = self._text(values, "form", f"{key}.form") or ("separated" if separators else "one")
        if form not in _FORMS:
            raise self._error(f"{key}.form", f"{form!r} is none of {', '.join(_FORMS)}")
        if (form == "separated") != bool(separators):
            raise self._error(f"{key}.separators", "given exactly where the form is separated")
        relation = self._text(values, "relation", f"{key}.relation", required=key != "aliases")
        inverse = self._text(values, "inverse", f"{key}.inverse")
        if key == "aliases" and (relation or inverse or "type" in values):
            raise self._error(key, "aliases have no relation, inverse or type")
        for name in filter(None, (relation, inverse)):
            if problem := problem_of_relation(name):
                raise self._error(key, problem)
        return ColumnMapping(
            column=self._text(values, "column", f"{key}.column", required=True),
            relation=relation,
            inverse=inverse,
            type=self._type(values, f"{key}.type"),
            form=form,
            separators=separators,
            noise=(*noise, *self._patterns(values, "noise", f"{key}.noise")),
            drop=(*drop, *self._patterns(values, "drop", f"{key}.drop")),
        )

    def _known(self, values: AbstractMapping[str, Any], known: set[str], before: str) -> None:
        if unknown := sorted(values.keys() - known):
            raise self._error(f"{before}{unknown[0]}", f"unknown; known are {sorted(known)}")

    def _text(
        self,
        values: AbstractMapping[str, Any],
        name: str,
        key: str,
        *,
        required: bool = False,
        strip: bool = True,
    ) -> str:
        found = values.get(name, "")
        if not isinstance(found, str):
            raise self._error(key, "not a text")
        if required and not found.strip():
            raise self._error(key, "missing")
        return found.strip(" ") if strip else found

    def _type(self, values: AbstractMapping[str, Any], key: str) -> str:
        name = self._text(values, "type", key)
        if name and (problem := problem_of_type(name)):
            raise self._error(key, problem)
        return name

    def _patterns(
        self, values: AbstractMapping[str, Any], name: str, key: str
    ) -> tuple[re.Pattern[str], ...]:
        found = values.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self._error(key, "not a list of texts")
        patterns = []
        for each in found:
            try:
                patterns.append(re.compile(each))
            except (re.error, OverflowError, RecursionError) as error:
                raise self._error(
                    key, f"{each[:60]!r} is no regular expression ({error})"
                ) from None
        return tuple(patterns)

    def _error(self, key: str, reason: str) -> ConfigurationError:
        return ConfigurationError(f"{key}: {reason}", where=self._where, hint=_HINT)
