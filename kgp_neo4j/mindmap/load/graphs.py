"""The knowledge graphs of the database: listed, opened, deleted, exported and imported."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import Kind, discard, export, import_file
from kgp_neo4j.mindmap.link import name_forms
from kgp_neo4j.models.encoder import Encoder, embed, load_encoder
from kgp_neo4j.types.corpus import Transfer
from kgp_neo4j.types.errors import GraphError, InputError
from kgp_neo4j.types.mindmap import GraphSummary


def graphs(database: Database) -> list[GraphSummary]:
    """Return all knowledge graphs by name, with what is in them."""
    return [GraphSummary(**row) for row in database.read("inspect/graphs")]


def require_graph(database: Database, graph: str) -> GraphSummary:
    """Return what is in a knowledge graph; raises GraphError when there is no such one."""
    known = graphs(database)
    summary = next((each for each in known if each.name == graph), None)
    if summary is None:
        raise no_graph(graph, known)
    return summary


def no_graph(graph: str, known: Sequence[GraphSummary]) -> GraphError:
    """Return the error for a graph that is not among those known."""
    names = ", ".join(each.name for each in known) or "none yet"
    hint = f"Graphs: {names}. `kgp-neo4j load-kg FILE --graph NAME` makes one."
    return GraphError(f"there is no knowledge graph {graph!r}", hint=hint)


def delete_graph(database: Database, graph: str) -> GraphSummary:
    """Delete a knowledge graph with its entities and relationships; return what was in it.

    Corpora, other graphs and the nodes that a graph was copied from stay. Deleting again finishes
    a deletion that was interrupted. Raises GraphError when there is no such graph.
    """
    if discard_import(database, graph) and not database.read("explore/graph", graph=graph):
        return GraphSummary(graph, 0, 0)
    summary = require_graph(database, graph)
    database.write_in_batches("load_kg/delete_graph", graph=graph)
    return summary


def discard_import(database: Database, graph: str) -> bool:
    """Delete what an import that was cut off has left of a graph; return whether it had."""
    delete = partial(database.write_in_batches, "load_kg/delete_graph", graph=graph)
    return discard(database, "KnowledgeGraph", graph, delete)


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A knowledge graph: its relationship types, and its encoder's name where it is embedded."""

    database: Database
    name: str
    encoder_name: str | None
    relations: tuple[str, ...]

    @property
    def encoder(self) -> Encoder | None:
        """Return the encoder of the graph's embeddings, if it has any."""
        return load_encoder(self.encoder_name) if self.encoder_name else None

    def read(self, path: str, **values: Any) -> list[Row]:
        """Run a statement on this graph; nodes come as maps, relationships as triples."""
        return self.database.read_packed(path, graph=self.name, **values)

    def similarity(self, texts: Sequence[str], others: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosines of texts, (texts, others); all are 0 for a graph without encoder."""
        encoder = self.encoder
        if encoder is None or not texts or not others:
            return np.zeros((len(texts), len(others)), np.float32)
        return np.asarray(embed(encoder, texts) @ embed(encoder, others).T)


def open_graph(database: Database, name: str) -> StoredGraph:
    """Return a knowledge graph; raises GraphError where there is none of this name."""
    rows = database.read("explore/graph", graph=name)
    if not rows:
        raise no_graph(name, graphs(database))
    return StoredGraph(database, name, rows[0]["encoder"], tuple(rows[0]["relations"]))


def _check_root(root: Row) -> None:
    if root.get("scope") != name_forms.graph_scope(root["name"]):
        raise InputError("another scope than its name has")
    root.pop("load", None)


def _place_node(root: Row, labels: list[str], properties: Row) -> list[str]:
    if labels[:1] != ["Entity"] or any(map(name_forms.is_reserved, labels[1:])):
        raise InputError("a label that no entity has")
    name, key = properties["name"], properties["key"]
    kinds = [("name", name), *(("type", label) for label in labels[1:])]
    problem = next(filter(None, (name_forms.problem_of(*kind) for kind in kinds)), "")
    if problem or key != name_forms.key_of(name):
        raise InputError(problem or "a key that is not of its name")
    place = {
        "id": name_forms.entity_id(root["name"], key),
        "graph": root["name"],
        "scope": root["scope"],
    }
    if any(properties[each] != value for each, value in place.items()):
        raise InputError("an entity of another graph")
    return labels


def _check_relationship(root: Row, type_: str, properties: Row) -> None:
    if problem := name_forms.problem_of("relation", type_):
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
    check_name=name_forms.checked_graph,
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

    Raises GraphError without a whole graph, InputError where the file exists without `overwrite`.
    """
    require_graph(database, graph)
    roots = database.read("transfer/root", name=graph, kind=GRAPH.label)
    if not roots or "load" in roots[0]["properties"]:
        what = "the graph is not loaded to its end"
        raise GraphError(what, where=graph, hint="Load its files again.")
    return export(database, GRAPH, graph, Path(path), overwrite=overwrite)


#: Imports a knowledge graph from a file of `export_graph`.
import_graph = partial(import_file, kind=GRAPH)
