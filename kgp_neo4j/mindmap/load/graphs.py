"""Lists the knowledge graphs, and deletes one."""

from __future__ import annotations

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import GraphError
from kgp_neo4j.types.mindmap import GraphSummary

__all__ = ["delete_graph", "graphs", "require_graph"]


def graphs(database: Database) -> list[GraphSummary]:
    """Return all knowledge graphs by name, with what is in them."""
    return [GraphSummary(**row) for row in database.read("inspect/graphs")]


def require_graph(database: Database, graph: str) -> GraphSummary:
    """Return what is in a knowledge graph; raises GraphError when there is no such one."""
    found = graphs(database)
    for each in found:
        if each.name == graph:
            return each
    known = ", ".join(each.name for each in found) if found else "none yet"
    raise GraphError(
        f"there is no knowledge graph {graph!r}",
        hint=f"Graphs: {known}. `kgp-neo4j load-kg FILE --graph NAME` makes one.",
    )


def delete_graph(database: Database, graph: str) -> GraphSummary:
    """Delete a knowledge graph with its entities and relationships; return what was in it.

    Corpora, other graphs and the nodes that a graph was copied from stay. Deleting again finishes
    a deletion that was interrupted. Raises GraphError when there is no such graph.
    """
    found = require_graph(database, graph)
    database.write_in_batches("load_kg/delete_relationships", graph=graph)
    database.write_in_batches("load_kg/delete_entities", graph=graph)
    database.write("load_kg/delete_graph", graph=graph)
    return found
