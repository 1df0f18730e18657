"""Collects what was read into the entities and triples of a graph, each once."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.files import opened, shown
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.mindmap.load.graph_names import (
    Fact,
    NamedEntity,
    Record,
    clean,
    entity_id,
    is_missing,
    is_reserved,
    key_of,
    problem_of_name,
    problem_of_relation,
    problem_of_type,
    triple_id,
)
from kgp_neo4j.mindmap.load.triple_files import rows_of
from kgp_neo4j.types.errors import ConfigurationError, InputError

__all__ = ["Gathered", "parse_type", "read_entity_types"]

#: Types of head and tail; empty where nothing is known.
Ends = tuple[str, str]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Nouns that say the type of the tail at the end of a relation's name, and that type.
_NOUNS = {
    noun: noun.capitalize()
    for noun in (
        "disease symptom medication drug medicine test treatment procedure gene protein pathway "
        "department food person place country city company organization"
    ).split()
} | {"organisation": "Organization"}
#: A file with more relations or types than this has them in the wrong column. The database keeps
#: every name of a relationship type and a label for good.
_MOST = {"relation": 5_000, "type": 1_000}


def _inferred_types(relation: str) -> Ends:
    """Return the types of head and tail that a relation's name suggests, empty where it does not.

    `has_symptom` and `possible_disease` end with the type of the tail, `symptom_of` begins with
    the type of the head.
    """
    words = [word.lower() for word in _WORD.findall(relation)]
    if len(words) < 2:
        return "", ""
    return (_type(words[-2]), "") if words[-1] == "of" else ("", _type(words[-1]))


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


def read_entity_types(path: Path, progress: Progress, *, encoding: str = "") -> dict[str, str]:
    """Return types by the keys of names, from a file of names and types (`name<TAB>type`).

    Raises InputError for the first line that is not one name and one type.
    """
    types: dict[str, str] = {}
    with opened(path, progress) as file:
        for row in rows_of(file, path, encoding=encoding):
            if isinstance(row, InputError):
                raise row
            where = f"{shown(path)}:{row.line}"
            if len(row.fields) != 2:
                reason = f"{len(row.fields)} fields where a name and a type are expected"
                raise InputError(reason, where=where)
            name, type_ = (text.strip() for text in row.fields)
            if problem := problem_of_type(type_):
                raise InputError(problem, where=where)
            if not is_missing(name) and not is_missing(type_):
                types[key_of(name)] = type_
    return types


# --- Entities and triples ---


@dataclass(slots=True)
class _Entity:
    """An entity; `types` counts types that sources give, `votes` types that relations suggest."""

    id: str
    key: str
    name: str
    aliases: dict[str, None] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    votes: Counter[str] = field(default_factory=Counter)


class Gathered:
    """The entities and triples of all sources of one load, in the order they were read."""

    def __init__(self, graph: str, *, keep_going: bool = False) -> None:
        self.graph = graph
        self.began = time.monotonic()
        self.errors: list[str] = []
        self.facts = self.duplicates = self.skipped = 0
        self._keep_going = keep_going
        self._entities: dict[str, _Entity] = {}
        self._by_text: dict[str, _Entity] = {}
        self._triples: dict[tuple[str, str, str], None] = {}
        #: Relations and types as they were read, and as they are stored.
        self._names: dict[str, dict[str, str]] = {"relation": {}, "type": {}}

    def __len__(self) -> int:
        return len(self._triples)

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(self._entities)

    def names(self) -> Iterator[str]:
        """Yield the entities' names."""
        return (entity.name for entity in self._entities.values())

    def read(self, records: Iterable[Record]) -> None:
        """Add what a reader yields; raises InputError at a bad record, or lists it and goes on."""
        for record in records:
            try:
                if isinstance(record, InputError):
                    raise record
                if isinstance(record, NamedEntity):
                    self._add_entity(record)
                else:
                    self._add_fact(record)
            except InputError as error:
                if not self._keep_going:
                    hint = "Nothing was written; --keep-going loads the rest without this."
                    hint = f"{error.hint} {hint}" if error.hint else hint
                    raise InputError(error.what, where=error.where, hint=hint) from error
                self.errors.append(str(error))

    def _add_fact(self, fact: Fact) -> None:
        if is_missing(fact.head) or is_missing(fact.relation) or is_missing(fact.tail):
            self.skipped += 1
            return
        relation = self._checked("relation", fact.relation, fact.where)
        types = [self._checked("type", t, fact.where) for t in (fact.head_type, fact.tail_type)]
        for text in (fact.head, fact.tail):
            self._check_name(text, fact.where)
        ends = self._entity(fact.head), self._entity(fact.tail)
        for entity, type_ in zip(ends, types, strict=True):
            if type_:
                entity.types[type_] += 1
        self.facts += 1
        triple = (ends[0].key, relation, ends[1].key)
        self.duplicates += triple in self._triples
        self._triples[triple] = None

    def _add_entity(self, row: NamedEntity) -> None:
        if is_missing(row.name):
            self.skipped += 1
            return
        type_ = self._checked("type", row.type, row.where)
        for text in (row.name, *row.aliases):
            self._check_name(text, row.where)
        entity = self._entity(row.name)
        if type_:
            entity.types[type_] += 1
        for alias in map(clean, row.aliases):
            if key_of(alias) not in ("", entity.key):
                entity.aliases[alias] = None

    def _check_name(self, text: str, where: str) -> None:
        if text in self._by_text:
            return
        name = clean(text)
        problem = problem_of_name(name) or ("" if key_of(name) else f"{text!r} is no name")
        if problem:
            raise InputError(problem, where=where)

    def _entity(self, text: str) -> _Entity:
        if known := self._by_text.get(text):
            return known
        name = clean(text)
        key = key_of(name)
        entity = self._entities.get(key)
        if entity is None:
            entity = self._entities[key] = _Entity(entity_id(self.graph, key), key, name)
        elif name != entity.name:
            # Another spelling of the same key becomes an alias.
            entity.aliases[name] = None
        self._by_text[text] = entity
        return entity

    def _checked(self, kind: str, text: str, where: str) -> str:
        """Return a relation or a type as it is stored, a missing one as an empty text."""
        names = self._names[kind]
        if text not in names:
            name = "" if is_missing(text) else text.strip()
            problem = (problem_of_relation if kind == "relation" else problem_of_type)(name)
            if not problem and len(names) >= _MOST[kind]:
                problem = f"more than {_MOST[kind]:,} different {kind}s, perhaps of another column"
            if problem:
                hint = "A header line can name the columns."
                raise InputError(problem, where=where, hint=hint)
            names[text] = name
        return names[text]

    def decide_types(
        self, by_relation: Mapping[str, Ends] | None, by_key: Mapping[str, str]
    ) -> None:
        """Let relations vote on the types of entities for which no source gives one.

        `by_relation` has the user's types for head and tail; those of other relations are inferred
        from their names. `by_key` has the types of a type file, which override all others. Raises
        ConfigurationError for a type that cannot be a label.
        """
        for relation, types in (by_relation or {}).items():
            for problem in filter(None, map(problem_of_type, types)):
                raise ConfigurationError(f"the type of {relation!r} is {problem}")
        ends = {
            relation: (by_relation or {}).get(relation) or _inferred_types(relation)
            for relation in self._names["relation"].values()
        }
        for head, relation, tail in self._triples:
            for key, type_ in zip((head, tail), ends[relation], strict=True):
                if type_:
                    self._entities[key].votes[type_] += 1
        for key, type_ in by_key.items():
            if entity := self._entities.get(key):
                entity.types = Counter({type_: 1})

    def entity_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the entities as `load_kg/entities` takes them."""
        for entity in self._entities.values():
            # Most frequent first, the first one read where several are as frequent.
            types = [name for name, _ in (entity.types or entity.votes).most_common()]
            yield {
                "id": entity.id,
                "key": entity.key,
                "name": entity.name,
                "aliases": list(entity.aliases),
                "type": types[0] if types else "",
                "labels": [name for name in types if not is_reserved(name)],
            }

    def triple_rows(self) -> Iterator[dict[str, str]]:
        """Yield the triples as `load_kg/relationships` takes them."""
        for head_key, relation, tail_key in self._triples:
            head, tail = self._entities[head_key].id, self._entities[tail_key].id
            id_ = triple_id(head, relation, tail)
            yield {"id": id_, "head": head, "relation": relation, "tail": tail}
