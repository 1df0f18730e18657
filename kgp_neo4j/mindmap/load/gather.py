"""Collects what was read into the entities and triples of a graph, each once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.files import opened, shown
from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.mindmap.load.graph_names import (
    Fact,
    Named,
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

__all__ = ["Gathered", "checked_types", "inferred_types", "parse_type", "read_entity_types"]

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


def inferred_types(relation: str) -> Ends:
    """Return the types of head and tail that a relation's name suggests, empty where it does not.

    `has_symptom` and `possible_disease` end with the type of the tail, `symptom_of` begins with
    the type of the head.
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
    """Return the types by relation; raises ConfigurationError for one that cannot be a label."""
    for relation, ends in (types or {}).items():
        for name in filter(None, ends):
            if problem := problem_of_type(name):
                raise ConfigurationError(f"the type of {relation!r} is {problem}")
    return dict(types or {})


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
                raise InputError(
                    f"{len(row.fields)} fields where a name and a type are expected", where=where
                )
            name, type_ = (field.strip() for field in row.fields)
            if is_missing(name) or is_missing(type_):
                continue
            if problem := problem_of_type(type_):
                raise InputError(problem, where=where)
            types[key_of(name)] = type_
    return types


# --- Entities and triples ---

#: A file with more relations or types than this has them in the wrong column. The database keeps
#: every name of a relationship type and a label for good.
_MOST_RELATIONS = 5_000
_MOST_TYPES = 1_000


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

    def __init__(self, graph: str) -> None:
        self._graph = graph
        self._entities: dict[str, _Entity] = {}
        self._by_text: dict[str, _Entity] = {}
        self._triples: dict[tuple[str, str, str], None] = {}
        self._relations: dict[str, str] = {}
        self._types: set[str] = set()
        self.facts = self.duplicates = self.skipped = 0

    def __len__(self) -> int:
        return len(self._triples)

    @property
    def entities(self) -> int:
        """How many entities there are."""
        return len(self._entities)

    def names(self) -> Iterator[str]:
        """Yield the entities' names."""
        return (entity.name for entity in self._entities.values())

    def add(self, item: Fact | Named) -> None:
        """Add a triple or an entity; raises InputError for names that cannot be used."""
        if isinstance(item, Named):
            self._add_named(item)
            return
        if is_missing(item.head) or is_missing(item.relation) or is_missing(item.tail):
            self.skipped += 1
            return
        relation = self._relation(item.relation, item.where)
        head_type = self._type(item.head_type, item.where)
        tail_type = self._type(item.tail_type, item.where)
        for text in (item.head, item.tail):
            self._check(text, item.where)
        head, tail = self._entity(item.head), self._entity(item.tail)
        if head_type:
            head.types[head_type] += 1
        if tail_type:
            tail.types[tail_type] += 1
        self.facts += 1
        triple = (head.key, relation, tail.key)
        if triple in self._triples:
            self.duplicates += 1
        else:
            self._triples[triple] = None

    def _add_named(self, entity_item: Named) -> None:
        if is_missing(entity_item.name):
            self.skipped += 1
            return
        type_ = self._type(entity_item.type, entity_item.where)
        for text in (entity_item.name, *entity_item.aliases):
            self._check(text, entity_item.where)
        entity = self._entity(entity_item.name)
        if type_:
            entity.types[type_] += 1
        for alias in map(clean, entity_item.aliases):
            if key_of(alias) not in ("", entity.key):
                entity.aliases[alias] = None

    def _check(self, text: str, where: str) -> None:
        if text in self._by_text:
            return
        name = clean(text)
        if problem := problem_of_name(name):
            raise InputError(problem, where=where)
        if not key_of(name):
            raise InputError(f"{text!r} is no name", where=where)

    def _entity(self, text: str) -> _Entity:
        if found := self._by_text.get(text):
            return found
        name = clean(text)
        key = key_of(name)
        entity = self._entities.get(key)
        if entity is None:
            entity = self._entities[key] = _Entity(entity_id(self._graph, key), key, name)
        elif name != entity.name:
            # Another spelling of the same key becomes an alias.
            entity.aliases[name] = None
        self._by_text[text] = entity
        return entity

    def _relation(self, text: str, where: str) -> str:
        if found := self._relations.get(text):
            return found
        relation = text.strip()
        if problem := problem_of_relation(relation):
            raise InputError(problem, where=where)
        if len(self._relations) >= _MOST_RELATIONS:
            raise InputError(
                f"more than {_MOST_RELATIONS:,} different relations",
                where=where,
                hint="Check that the relation is in the second column; a header line can name the "
                "columns.",
            )
        self._relations[text] = relation
        return relation

    def _type(self, text: str, where: str) -> str:
        if text in self._types or is_missing(text):
            return text if text in self._types else ""
        if problem := problem_of_type(text.strip()):
            raise InputError(problem, where=where)
        if len(self._types) >= _MOST_TYPES:
            raise InputError(f"more than {_MOST_TYPES:,} different types", where=where)
        self._types.add(text.strip())
        return text.strip()

    def decide_types(
        self,
        by_relation: Mapping[str, tuple[str, str]],
        by_key: Mapping[str, str],
    ) -> None:
        """Let relations vote on the types of entities for which no source gives one.

        `by_relation` has the user's types for head and tail; those of other relations are inferred
        from their names. `by_key` has the types of a type file, which override all others.
        """
        ends = {
            relation: by_relation.get(relation) or inferred_types(relation)
            for relation in set(self._relations.values())
        }
        for head, relation, tail in self._triples:
            for key, type_ in zip((head, tail), ends[relation], strict=True):
                if type_:
                    self._entities[key].votes[type_] += 1
        for key, type_ in by_key.items():
            if found := self._entities.get(key):
                found.types = Counter({type_: 1})

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
            yield {
                "id": triple_id(head, relation, tail),
                "head": head,
                "relation": relation,
                "tail": tail,
            }
