"""Exports a knowledge graph into one file, and imports it."""

from functools import partial
from pathlib import Path

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import Kind, export, import_file
from kgp_neo4j.mindmap.load.graph_names import (
    checked_graph,
    entity_id,
    graph_scope,
    is_reserved,
    key_of,
    problem_of,
)
from kgp_neo4j.mindmap.load.graphs import delete_graph, discard_import, require_graph
from kgp_neo4j.types.corpus import Transfer
from kgp_neo4j.types.errors import GraphError, InputError


def _check_root(root: Row) -> None:
    if root.get("scope") != graph_scope(root["name"]):
        raise InputError("another scope than its name has")
    root.pop("load", None)


def _place_node(root: Row, labels: list[str], properties: Row) -> list[str]:
    if labels[:1] != ["Entity"] or any(map(is_reserved, labels[1:])):
        raise InputError("a label that no entity has")
    name, key = properties["name"], properties["key"]
    kinds = [("name", name), *(("type", label) for label in labels[1:])]
    problem = next(filter(None, (problem_of(*kind) for kind in kinds)), "")
    if problem or key != key_of(name):
        raise InputError(problem or "a key that is not of its name")
    place = {"id": entity_id(root["name"], key), "graph": root["name"], "scope": root["scope"]}
    if any(properties[each] != value for each, value in place.items()):
        raise InputError("an entity of another graph")
    return labels


def _check_relationship(root: Row, type_: str, properties: Row) -> None:
    if problem := problem_of("relation", type_):
        raise InputError(problem)
    if properties.get("graph") != root["name"]:
        raise InputError("a relationship of another graph")


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
    check_root=_check_root,
    place_node=_place_node,
    check_relationship=_check_relationship,
    make_indexes=lambda database, _: database.read("install/await_indexes"),
    error=GraphError,
)


def export_graph(
    database: Database, graph: str, path: str | Path, *, overwrite: bool = False
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
    return export(database, GRAPH, graph, Path(path), overwrite=overwrite)


#: Imports a knowledge graph from a file of `export_graph`.
import_graph = partial(import_file, kind=GRAPH)
