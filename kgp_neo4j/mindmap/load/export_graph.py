"""Exports a knowledge graph into one file, and imports it."""

from __future__ import annotations

from pathlib import Path

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import Kind, Manifest, export, import_file
from kgp_neo4j.mindmap.load.graph_names import (
    checked_graph,
    entity_id,
    graph_scope,
    is_reserved,
    key_of,
    problem_of,
    triple_id,
)
from kgp_neo4j.mindmap.load.graphs import delete_graph, discard_import, require_graph
from kgp_neo4j.types.errors import GraphError, InputError
from kgp_neo4j.types.transfer import Transfer

__all__ = ["GRAPH", "export_graph", "import_graph"]

GRAPH = Kind(
    name="graph",
    label="KnowledgeGraph",
    properties={
        "text": "encoder graph id key load name scope title type",
        "whole": "dimension",
        "time": "createdAt",
        "vector": "embedding",
        "list of text": "aliases names relations",
    },
    choose_labels=lambda labels: ["Entity", *sorted(set(labels) - {"Entity"})],
    check_name=checked_graph,
    delete=delete_graph,
    discard=discard_import,
    error=GraphError,
)


class _Importer:
    """Gives entities and relationships their ids under the name of a graph."""

    def __init__(self, name: str, manifest: Manifest) -> None:
        self._name, self._manifest = name, manifest
        self._ids: list[str] = []

    def writer(self, _: Database, properties: Row) -> _Importer:
        properties |= {"scope": graph_scope(self._name), "title": self._name}
        properties.pop("load", None)
        return _Importer(self._name, self._manifest)

    def make_indexes(self, database: Database) -> None:
        database.read("install/await_indexes")

    def place_node(self, labels: list[str], properties: Row) -> list[str] | None:
        if labels[:1] != ["Entity"] or any(map(is_reserved, labels[1:])):
            raise InputError("a label that no entity has")
        kinds = [("name", properties["name"]), *(("type", label) for label in labels[1:])]
        problem = next(filter(None, (problem_of(*kind) for kind in kinds)), "")
        if problem or properties["key"] != key_of(properties["name"]):
            raise InputError(problem or "a key that is not of its name")
        self._ids.append(entity_id(self._name, properties["key"]))
        properties |= {
            "id": self._ids[-1], "graph": self._name, "scope": graph_scope(self._name)
        }  # fmt: skip
        return labels

    def place_relationship(self, type_: str, start: int, end: int, properties: Row) -> None:
        if problem := problem_of("relation", type_):
            raise InputError(problem)
        id_ = triple_id(self._ids[start], type_, self._ids[end])
        properties |= {"id": id_, "graph": self._name}


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
    roots = database.read("transfer/root", name=graph, kind=GRAPH.label)
    if not roots or "load" in roots[0]["properties"]:
        raise GraphError(
            "the graph is not loaded to its end", where=graph, hint="Load its files again."
        )
    return export(database, GRAPH, graph, Path(path), vectors=vectors, overwrite=overwrite)


def import_graph(
    database: Database, path: str | Path, *, name: str | None = None, replace: bool = False
) -> Transfer:
    """Import a knowledge graph from a file of `export_graph`, under another `name` if one is given.

    Works as `import_corpus` does. Without vectors in the file, its entities are found by their
    names alone. Raises InputError for a file that is damaged or of another format, GraphError
    where the name is taken.
    """
    return import_file(database, GRAPH, Path(path), _Importer, name=name, replace=replace)
