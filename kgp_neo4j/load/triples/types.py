"""Which type an entity has: as its source says, as the user says, or as its relations suggest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kgp_neo4j.errors import ConfigurationError, InputError
from kgp_neo4j.load.files import opened, shown
from kgp_neo4j.load.triples.names import is_missing, key_of, problem_of_type
from kgp_neo4j.load.triples.rows import rows_of
from kgp_neo4j.progress import Progress

__all__ = ["checked_types", "inferred", "parse_type", "read_entity_types"]

#: Types of head and tail; empty where nothing is known.
Ends = tuple[str, str]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Nouns that end the name of a relation to say what its tail is, and the type they stand for.
_NOUNS = {
    noun: noun.capitalize()
    for noun in (
        "disease symptom medication drug medicine test treatment procedure gene protein pathway "
        "department food person place country city company organization"
    ).split()
} | {"organisation": "Organization"}


def inferred(relation: str) -> Ends:
    """Return the types that a relation's name suggests for head and tail, empty for no idea.

    `has_symptom` and `possible_disease` end with what the tail is, `symptom_of` begins with what
    the head is.
    """
    words = [word.lower() for word in _WORD.findall(relation)]
    if len(words) > 1 and words[-1] == "of":
        return _type(words[-2]), ""
    return "", _type(words[-1]) if len(words) > 1 else ""


def _type(word: str) -> str:
    return _NOUNS.get(word) or _NOUNS.get(word.removesuffix("s"), "")


def parse_type(text: str) -> tuple[str, Ends]:
    """Return the relation and the types of `relation=HeadType:TailType`; either may be empty."""
    relation, equals, ends = text.rpartition("=")
    head, colon, tail = ends.partition(":")
    if not (relation.strip() and equals and colon):
        raise ConfigurationError(
            f"{text!r} says no types",
            hint="Write relation=HeadType:TailType, such as has_symptom=Disease:Symptom.",
        )
    return relation.strip(), (head.strip(), tail.strip())


def checked_types(types: Mapping[str, Ends] | None) -> dict[str, Ends]:
    """Return types by relation if they can be labels, else raise ConfigurationError."""
    for relation, ends in (types or {}).items():
        for name in filter(None, ends):
            if problem := problem_of_type(name):
                raise ConfigurationError(f"the type of {relation!r} is {problem}")
    return dict(types or {})


def read_entity_types(path: Path, progress: Progress, *, encoding: str = "") -> dict[str, str]:
    """Return types by the keys of names, from a file of names and types (`name<TAB>type`).

    Raises InputError for the first line that is not one name and one type.
    """
    made: dict[str, str] = {}
    with opened(path, progress) as file:
        for row in rows_of(file, path, encoding=encoding):
            if isinstance(row, InputError):
                raise row
            where = f"{shown(path)}:{row.line}"
            if len(row.fields) != 2:
                raise InputError(
                    f"{len(row.fields)} fields where a name and a type are expected", where=where
                )
            name, type_ = (field.strip() for field in row.fields)
            if is_missing(name) or is_missing(type_):
                continue
            if problem := problem_of_type(type_):
                raise InputError(problem, where=where)
            made[key_of(name)] = type_
    return made
