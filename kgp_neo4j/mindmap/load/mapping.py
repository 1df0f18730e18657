"""Reads the mapping file, which says how a table with one entity a row becomes triples."""

import re
from collections.abc import Collection
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from kgp_neo4j.environment.files import expanded, read_toml
from kgp_neo4j.mindmap.load.graph_names import problem_of
from kgp_neo4j.types.errors import ConfigurationError

_FOLDER = resources.files("kgp_neo4j.mindmap.load") / "mappings"
_HINT = "docs/knowledge-graphs.md describes mapping files."


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
        for problem in filter(None, (problem_of(*name) for name in names)):
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
        if problem := problem_of("type", self.type):
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
        _, values = read_toml(own or expanded(source), _HINT)
        mapping = msgspec.convert(values, TableMapping)
        added = [missing] if isinstance(missing, str) else missing
        return msgspec.structs.replace(mapping, missing=(*mapping.missing, *added))
    except OSError as error:
        problem = f"the mapping cannot be read ({error.strerror or error})"
        hint = f"Give a TOML file, or one of {', '.join(built_in())}."
        raise ConfigurationError(problem, where=name, hint=hint) from error
    except msgspec.ValidationError as error:
        raise ConfigurationError(str(error), where=name, hint=_HINT) from error
