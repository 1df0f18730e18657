"""Exports a knowledge graph into one file, and imports it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.portable import Archive, export
from kgp_neo4j.mindmap.load.graph_names import (
    checked_graph,
    entity_id,
    graph_scope,
    is_reserved,
    key_of,
    problem_of_name,
    problem_of_relation,
    problem_of_type,
    triple_id,
)
from kgp_neo4j.mindmap.load.graphs import delete_graph, discard_import, require_graph
from kgp_neo4j.types.errors import GraphError, InputError
from kgp_neo4j.types.transfer import Transfer

__all__ = ["GRAPH", "export_graph", "import_graph"]

_KNOWN = {
    "text": "encoder graph id key load name scope title type",
    "whole": "dimension",
    "time": "createdAt",
    "vector": "embedding",
    "list of text": "aliases names relations",
}


class _Graph:
    """What an export of a knowledge graph has."""

    name = "graph"
    label = "KnowledgeGraph"
    listing = "transfer/graph_nodes"
    known: ClassVar = {name: type_ for type_, all_ in _KNOWN.items() for name in all_.split()}

    def relationships(self, name: str) -> dict[str, Any]:
        return {"graph": name}

    def labels(self, labels: Sequence[str]) -> list[str]:
        return ["Entity", *sorted(set(labels) - {"Entity"})]


GRAPH: Any = _Graph()


class _Placing:
    """Gives entities and relationships their ids under the name of a graph."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._scope = graph_scope(name)
        self._ids = bytearray()

    def node(self, labels: list[str], properties: Row) -> list[str] | None:
        if labels[:1] != ["Entity"] or any(map(is_reserved, labels[1:])):
            raise InputError("a label that no entity has")
        problem = next(filter(None, map(problem_of_type, labels[1:])), "")
        problem = problem or problem_of_name(properties["name"])
        if problem or properties["key"] != key_of(properties["name"]):
            raise InputError(problem or "a key that is not of its name")
        made = entity_id(self._name, properties["key"])
        self._ids += bytes.fromhex(made)
        properties |= {"id": made, "graph": self._name, "scope": self._scope}
        return labels

    def relationship(self, type_: str, start: int, end: int, properties: Row) -> None:
        if problem := problem_of_relation(type_):
            raise InputError(problem)
        head, tail = (self._ids[16 * at : 16 * at + 16].hex() for at in (start, end))
        properties |= {"id": triple_id(head, type_, tail), "graph": self._name}


def export_graph(
    database: Database,
    graph: str,
    path: str | Path,
    *,
    vectors: bool = True,
    overwrite: bool = False,
) -> Transfer:
    """Write a knowledge graph into one file, which is there whole or not at all; the graph stays.

    Raises GraphError where there is no such graph or it was not loaded to its end, InputError where
    the file exists and `overwrite` is false.
    """
    require_graph(database, graph)
    root = database.read("transfer/root", name=graph, kind=GRAPH.label)
    if not root or "load" in root[0]["properties"]:
        raise GraphError(
            "the graph is not loaded to its end", where=graph, hint="Load its files again."
        )
    return export(database, GRAPH, graph, Path(path), vectors=vectors, overwrite=overwrite)


def import_graph(
    database: Database, path: str | Path, *, name: str | None = None, replace: bool = False
) -> Transfer:
    """Import a knowledge graph from a file of `export_graph`, under another `name` if one is given.

    Works as `import_corpus` does. Without vectors in the file, its entities are found by their
    names alone. Raises InputError for a file that is damaged or of a newer release, GraphError
    where the name is taken.
    """
    with Archive(Path(path)) as archive:
        if archive.kind != "graph":
            raise InputError(
                "the file has a corpus, no knowledge graph",
                where=str(path),
                hint="Use Corpus.import_, or `kgp-neo4j import`.",
            )
        chosen = checked_graph(archive.name if name is None else name)
        archive.root(GRAPH)
        archive.check(GRAPH, _Placing(chosen))
        if database.read("transfer/root", name=chosen, kind=GRAPH.label):
            if not replace:
                raise GraphError(
                    f"there is a knowledge graph {chosen!r} already",
                    hint="Import it under another name (--as NAME), or replace it (--replace).",
                )
            delete_graph(database, chosen)
        discard_import(database, chosen)
        told = archive.manifest["properties"]
        told |= {"scope": graph_scope(chosen), "title": chosen}
        told.pop("load", None)
        return archive.write(
            database,
            GRAPH,
            chosen,
            lambda: _Placing(chosen),
            lambda: database.read("install/await_indexes"),
            lambda: discard_import(database, chosen),
        )
