"""What names entities, relations and types may have, and the keys and ids that are made of them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import NamedTuple, TypeAlias

from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError, InputError

__all__ = [
    "MISSING",
    "RESERVED_LABELS",
    "Fact",
    "Named",
    "Reading",
    "checked_graph",
    "clean",
    "entity_id",
    "graph_scope",
    "is_missing",
    "key_of",
    "problem_of_name",
    "problem_of_relation",
    "problem_of_type",
    "triple_id",
]

#: What stands in a file where a value is missing, in lower case.
MISSING = frozenset({"", "nan", "none", "null", "n/a", "<na>"})
#: Labels of kgp-neo4j's own nodes: a type of such a name is kept as a property only.
RESERVED_LABELS = frozenset(
    "Cell Column Corpus Document Entity Keyword KgpInstallation KnowledgeGraph NamedEntity Page "
    "Passage Question Row Table".split()
)
_LONGEST_GRAPH = 200
#: Longer names are texts that stand in the wrong column.
_LONGEST_NAME = 1_000
#: Of a relation or type; each one stays in the database's own list of names for good.
_LONGEST_TOKEN = 200
_SPACE = re.compile(r"[\s_]+")


def clean(text: str) -> str:
    """Return a name as it is shown: underscores as spaces, none of them doubled or at an end."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def key_of(name: str) -> str:
    """Return what two spellings of one name have in common: case, width and spaces do not count."""
    return clean(unicodedata.normalize("NFKC", name)).casefold()


def is_missing(text: str) -> bool:
    """Say whether a text only says that there is no value: empty, `nan`, `None`, `null`."""
    return text.strip().lower() in MISSING


def problem_of_name(name: str) -> str:
    """Return what keeps a text from being an entity's name, or nothing."""
    if len(name) > _LONGEST_NAME:
        return f"a name of {len(name):,} characters, which is a text rather than a name"
    return _unprintable(name)


def problem_of_relation(relation: str) -> str:
    """Return what keeps a text from being a relationship type, or nothing."""
    if len(relation) > _LONGEST_TOKEN:
        return f"a relation of {len(relation):,} characters"
    return _unprintable(relation)


def problem_of_type(name: str) -> str:
    """Return what keeps a text from being an entity type and label, or nothing."""
    if not name.strip():
        return "an empty type"
    if len(name) > _LONGEST_TOKEN:
        return f"a type of {len(name):,} characters"
    return _unprintable(name)


def _unprintable(text: str) -> str:
    if not is_storable(text):
        return "half a character (a lone surrogate)"
    # Other controls are white space, which `clean` has taken out.
    found = next((c for c in text if unicodedata.category(c) == "Cc"), "")
    return f"a control character (U+{ord(found):04X})" if found else ""


def checked_graph(name: str) -> str:
    """Return the name of a knowledge graph if it can be one, else raise ConfigurationError."""
    if not name.strip():
        raise ConfigurationError("the graph name is empty", hint="Give it a name: --graph NAME.")
    if len(name) > _LONGEST_GRAPH:
        raise ConfigurationError(
            f"the graph name has {len(name)} characters", hint=f"Use at most {_LONGEST_GRAPH}."
        )
    if reason := _unprintable(name):
        raise ConfigurationError(f"the graph name holds {reason}", hint="Use another name.")
    return name


def graph_scope(graph: str) -> str:
    """Return the one token that stands for a knowledge graph in full-text search."""
    return "g" + hashlib.sha256(graph.encode()).hexdigest()[:16]


def entity_id(graph: str, key: str) -> str:
    """Return the id of the entity of that key within a graph."""
    return _hash("entity", graph, key)


def triple_id(head: str, relation: str, tail: str) -> str:
    """Return the id of a relationship between two entities, given by their ids."""
    return _hash("triple", head, relation, tail)


def _hash(*parts: str) -> str:
    # Each part is preceded by its length, so that no two lists of parts read the same.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


# --- What the readers of triple files, tables and databases have in common ------------------------


class Fact(NamedTuple):
    """A triple as a source gives it; an empty or missing part makes it one that is skipped."""

    head: str
    relation: str
    tail: str
    where: str
    head_type: str = ""
    tail_type: str = ""


class Named(NamedTuple):
    """An entity with its type and other names; it need not be in any triple."""

    name: str
    where: str
    type: str = ""
    aliases: tuple[str, ...] = ()


#: What a reader yields; an InputError stands for what could not be read.
Reading: TypeAlias = Fact | Named | InputError
