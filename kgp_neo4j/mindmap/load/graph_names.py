"""Checks the names of entities, relations and types, and makes keys and ids of them."""

import hashlib
import re
import unicodedata
from collections.abc import Collection
from typing import TypeAlias

import msgspec

from kgp_neo4j.text.safe import is_storable
from kgp_neo4j.types.errors import ConfigurationError, InputError

_OWN_LABELS = frozenset(
    "Cell Column Corpus Document DocumentFolder DocumentSource Entity Keyword KgpImport "
    "KgpInstallation KnowledgeGraph NamedEntity Page Question Row Section Table".split()
)
#: Longest texts; a longer one is of another column, and each relation and type is kept for good.
_LONGEST = {"name": 1_000, "relation": 200, "type": 200, "graph name": 200}
_SPACE = re.compile(r"[\s_]+")
#: Why a text cannot be stored, nor sent to another process.
HALF = "half a character (a lone surrogate)"


def clean(text: str) -> str:
    """Return a name for display: underscores as spaces, no repeated, leading or trailing spaces."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def key_of(name: str) -> str:
    """Return the key of a name, the same for all its spellings: no case, width or extra spaces."""
    return clean(unicodedata.normalize("NFKC", name)).casefold()


def is_reserved(label: str) -> bool:
    """Return whether nodes of kgp-neo4j's own have a label; a type of that name gets none.

    Passages also have the label of the index that searches them, such as EnglishPassage.
    """
    return label in _OWN_LABELS or label.endswith("Passage")


def is_missing(text: str, missing: Collection[str] = ()) -> bool:
    """Return whether a text stands for no value: empty, or exactly one of those that are `missing`.

    Any other is a name, whatever it says: there are a Nan, a Null and a None.
    """
    return not text.strip() or text.strip() in ([missing] if isinstance(missing, str) else missing)


def problem_of(kind: str, text: str) -> str:
    """Return why a text cannot be of a kind, such as a name or a relation; empty where it can."""
    if len(text) > _LONGEST[kind]:
        return f"a {kind} of {len(text):,} characters, more than {_LONGEST[kind]:,}"
    if not is_storable(text):
        return HALF
    # `clean` has removed the control characters that are white space.
    control = next((c for c in text if unicodedata.category(c) == "Cc"), "")
    return f"a control character (U+{ord(control):04X})" if control else ""


def checked_graph(name: str) -> str:
    """Return a knowledge graph's name; raises ConfigurationError where it cannot be one."""
    if problem := problem_of("graph name", name) if name.strip() else "empty":
        raise ConfigurationError(f"the graph name is {problem}", hint="Give another: --graph NAME.")
    return name


def graph_scope(graph: str) -> str:
    """Return the token that restricts a full-text search to one knowledge graph."""
    return "g" + hashlib.sha256(graph.encode()).hexdigest()[:16]


def entity_id(graph: str, key: str) -> str:
    """Return the id of the entity of that key within a graph."""
    return _hash("entity", graph, key)


def triple_id(head: str, relation: str, tail: str) -> str:
    """Return the id of a relationship between two entities, given by their ids."""
    return _hash("triple", head, relation, tail)


def _hash(*parts: str) -> str:
    # Each part is preceded by its length, so that no two lists of parts give the same text.
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Fact(msgspec.Struct, frozen=True, tag=True, tag_field="record", array_like=True):
    """A triple of a source; it is skipped where a part is empty or missing."""

    head: str
    relation: str
    tail: str
    where: str
    head_type: str = ""
    tail_type: str = ""


class NamedEntity(msgspec.Struct, frozen=True, tag=True, tag_field="record", array_like=True):
    """An entity with its type and aliases; it need not be in any triple."""

    name: str
    where: str
    type: str = ""
    aliases: tuple[str, ...] = ()


#: What a reader yields; an InputError for a record that it could not read.
Record: TypeAlias = Fact | NamedEntity | InputError
