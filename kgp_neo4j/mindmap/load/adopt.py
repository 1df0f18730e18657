"""Reads triples from nodes and relationships that are in the database already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graph_names import Fact, NamedEntity, Record
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["read_stored"]


def read_stored(
    database: Database, graph: str, labels: Sequence[str], name_property: str
) -> Iterator[Record]:
    """Yield the nodes of these labels, and the relationships between them as triples.

    A node's type is the first of `labels` that it has. Nodes without the property, and their
    relationships, have an empty name, so that they are skipped. Raises ConfigurationError where
    the database has no such label or property.
    """
    (known,) = database.read("load_kg/known_names")
    asked = [("labels", label) for label in labels] + [("properties", name_property)]
    for kind, name in asked:
        if name not in known[kind]:
            raise ConfigurationError(
                f"the database has no {name!r} among its {kind}",
                hint=f"It has {', '.join(sorted(known[kind])[:20]) or 'none'}.",
            )
    where = f"({':'.join(labels)})"
    values = {"graph": graph, "labels": list(labels), "property": name_property}
    for row in database.read("load_kg/adopted_nodes", **values):
        yield NamedEntity(row["name"] or "", f"{where} node {row['node']}", row["type"])
    for row in database.read("load_kg/adopted_relationships", **values):
        yield Fact(row["head"] or "", row["relation"], row["tail"] or "", where)
