"""Reads triples from nodes and relationships that are in the database already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graph_names import Fact, Named, Reading
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["read_stored"]

_LISTED = 20


def read_stored(
    database: Database, graph: str, labels: Sequence[str], name_property: str
) -> Iterator[Reading]:
    """Yield the nodes of these labels, and the relationships between them as triples.

    A node's type is the first of `labels` that it has. Nodes without the property, and their
    relationships, have an empty name, so that they are skipped. Raises ConfigurationError where
    the database has no such label or property.
    """
    (known,) = database.read("load_kg/known_names")
    _check("label", labels, known["labels"])
    _check("property", [name_property], known["properties"])
    where = f"({':'.join(labels)})"
    for row in database.read(
        "load_kg/adopted_nodes", graph=graph, labels=list(labels), property=name_property
    ):
        yield Named(row["name"] or "", f"{where} node {row['node']}", row["type"])
    for row in database.read(
        "load_kg/adopted_relationships", graph=graph, labels=list(labels), property=name_property
    ):
        yield Fact(row["head"] or "", row["relation"], row["tail"] or "", where)


def _check(kind: str, given: Sequence[str], known: Sequence[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        listed = ", ".join(sorted(known)[:_LISTED]) or "none"
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        raise ConfigurationError(
            f"the database has no {kind} {unknown[0]!r}", hint=f"It has {listed}{more}."
        )
