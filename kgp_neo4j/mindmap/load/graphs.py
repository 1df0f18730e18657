"""Lists the knowledge graphs, and deletes one."""

from collections.abc import Sequence
from functools import partial

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.export_files import discard
from kgp_neo4j.types.errors import GraphError
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
