"""Collects what was read into the entities and triples of a graph, each once."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kgp_neo4j.mindmap.load.graph_files import NAMES
from kgp_neo4j.mindmap.load.graph_names import (
    Fact,
    NamedEntity,
    Record,
    clean,
    entity_id,
    is_missing,
    is_reserved,
    key_of,
    problem_of,
    triple_id,
)
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.json_records import parts

#: Types of head and tail; empty where nothing is known.
Ends = tuple[str, str]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: A file with more relations or types than this has them in the wrong column. The database keeps
#: every name of a relationship type and a label for good.
_MOST = {"relation": 5_000, "type": 1_000}


def _inferred_types(relation: str) -> Ends:
    """Return the types of head and tail that a name as `has_symptom` or `symptom_of` suggests."""
    words = [word.lower() for word in _WORD.findall(relation)]
    if len(words) < 2:
        return "", ""
    noun = words[-2] if words[-1] == "of" else words[-1]
    types: dict[str, str] = NAMES["types"]
    type_ = types.get(noun) or types.get(noun.removesuffix("s"), "")
    return (type_, "") if words[-1] == "of" else ("", type_)


def parse_type(text: str) -> tuple[str, Ends]:
    """Return the relation and the types of `relation=HeadType:TailType`; either may be empty."""
    relation, equals, ends = text.rpartition("=")
    head, colon, tail = ends.partition(":")
    if not (relation.strip() and equals and colon):
        hint = "Write relation=HeadType:TailType, such as has_symptom=Disease:Symptom."
        raise ConfigurationError(f"{text!r} says no types", hint=hint)
    return relation.strip(), (head.strip(), tail.strip())


@dataclass(slots=True)
class _Entity:
    """An entity; `types` counts types that sources give, `votes` types that relations suggest."""

    id: str
    name: str
    aliases: dict[str, None] = field(default_factory=dict)
    types: Counter[str] = field(default_factory=Counter)
    votes: Counter[str] = field(default_factory=Counter)


class Gathered:
    """The entities, by key, and triples of all sources of one load, in the order they were read."""

    def __init__(self, graph: str, missing: Collection[str] = ()) -> None:
        self.graph = graph
        self.missing = missing
        self.errors: list[str] = []
        #: What had no value, each with its place.
        self.skipped: list[str] = []
        self.facts = self.duplicates = 0
        self.entities: dict[str, _Entity] = {}
        #: The keys of head and tail, and the relation between.
        self.triples: dict[tuple[str, str, str], None] = {}
        #: Keys and names for display of the names as they were read.
        self._spellings: dict[str, tuple[str, str]] = {}
        #: Relations and types as they were read, and as they are stored.
        self._stored: dict[str, dict[str, str]] = {"relation": {}, "type": {}}

    def read(self, records: Iterable[Record], *, keep_going: bool) -> None:
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
                if not keep_going:
                    hint = "Nothing was written; --keep-going loads the rest without this."
                    hint = f"{error.hint} {hint}" if error.hint else hint
                    raise InputError(error.what, where=error.where, hint=hint) from error
                self.errors.append(str(error))

    # Both check all names of a record before they add anything of it.

    def _add_fact(self, fact: Fact) -> None:
        if self._is_skipped(fact, "head", "relation", "tail"):
            return
        relation = self._checked("relation", fact.relation, fact.where)
        types = [self._checked("type", t, fact.where) for t in (fact.head_type, fact.tail_type)]
        spellings = [self._spelling(text, fact.where) for text in (fact.head, fact.tail)]
        for spelling, type_ in zip(spellings, types, strict=True):
            self._entity(*spelling, type_)
        self.facts += 1
        triple = (spellings[0][0], relation, spellings[1][0])
        self.duplicates += triple in self.triples
        self.triples[triple] = None

    def _add_entity(self, row: NamedEntity) -> None:
        if self._is_skipped(row, "name"):
            return
        type_ = self._checked("type", row.type, row.where)
        own, *others = (self._spelling(text, row.where) for text in (row.name, *row.aliases))
        entity = self._entity(*own, type_)
        entity.aliases |= {alias: None for key, alias in others if key != own[0]}

    def _is_skipped(self, record: Fact | NamedEntity, *names: str) -> bool:
        """Note a record of which a part is missing, and return whether one is."""
        texts = {part: text.strip() for part, text in parts(record, *names).items()}
        lacking = [part for part, text in texts.items() if is_missing(text, self.missing)]
        if lacking:
            told = [f"{part} ({texts[part]})" if texts[part] else part for part in lacking]
            self.skipped.append(f"{record.where}: no {' and no '.join(told)}")
        return bool(lacking)

    def _spelling(self, text: str, where: str) -> tuple[str, str]:
        """Return a name's key and the name for display; raises InputError where it is no name."""
        if known := self._spellings.get(text):
            return known
        name = clean(text)
        key = key_of(name)
        if problem := problem_of("name", name) or ("" if key else f"{text!r} is no name"):
            raise InputError(problem, where=where)
        self._spellings[text] = key, name
        return key, name

    def _entity(self, key: str, name: str, type_: str) -> _Entity:
        if key not in self.entities:
            self.entities[key] = _Entity(entity_id(self.graph, key), name)
        entity = self.entities[key]
        if name != entity.name:
            entity.aliases[name] = None  # another spelling of the same key
        if type_:
            entity.types[type_] += 1
        return entity

    def _checked(self, kind: str, text: str, where: str) -> str:
        """Return a relation or a type as it is stored, a missing one as an empty text."""
        stored = self._stored[kind]
        if text not in stored:
            name = "" if is_missing(text, self.missing) else text.strip()
            problem = problem_of(kind, name)
            if not problem and len(stored) >= _MOST[kind]:
                problem = f"more than {_MOST[kind]:,} different {kind}s, perhaps of another column"
            if problem:
                raise InputError(problem, where=where, hint="A header line can name the columns.")
            stored[text] = name
        return stored[text]

    def decide_types(self, by_relation: Mapping[str, Ends]) -> None:
        """Let relations vote on the types of entities for which no source gives one.

        `by_relation` has the user's types; those of other relations are inferred from their names.
        """
        for relation, types in by_relation.items():
            if problem := problem_of("type", types[0]) or problem_of("type", types[1]):
                raise ConfigurationError(f"the type of {relation!r} is {problem}")
        names = self._stored["relation"].values()
        ends = {name: by_relation.get(name) or _inferred_types(name) for name in names}
        for head, relation, tail in self.triples:
            for key, type_ in zip((head, tail), ends[relation], strict=True):
                if type_:
                    self.entities[key].votes[type_] += 1

    def entity_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the entities as `load_kg/entities` takes them."""
        for key, entity in self.entities.items():
            # Most frequent first, the first one read where several are as frequent.
            types = [name for name, _ in (entity.types or entity.votes).most_common()]
            labels = [name for name in types if not is_reserved(name)]
            kind = {"type": types[0] if types else "", "labels": labels}
            yield parts(entity, "id", "name") | {"key": key, "aliases": [*entity.aliases]} | kind

    def triple_rows(self) -> Iterator[dict[str, str]]:
        """Yield the triples as `load_kg/relationships` takes them."""
        for head_key, relation, tail_key in self.triples:
            head, tail = self.entities[head_key].id, self.entities[tail_key].id
            id_ = triple_id(head, relation, tail)
            yield {"id": id_, "head": head, "relation": relation, "tail": tail}
