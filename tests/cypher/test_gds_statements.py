"""The statements of cypher/gds on a graph of six passages."""

from typing import Any

import pytest
from graphs import rows
from small_graphs import lighthouse, passages, short

from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest

_EDGES = """
CALL gds.graph.relationshipProperty.stream($graph, 'weight')
YIELD sourceNodeId, targetNodeId, relationshipType AS type, propertyValue AS weight
RETURN gds.util.asNode(sourceNodeId).id AS source, gds.util.asNode(targetNodeId).id AS target,
       type, weight
"""


def _projected(database: Database, corpus: str, *edges: str) -> tuple[int, set[tuple[Any, ...]]]:
    """Project a corpus; return its nodes, and its edges with each pair in order, once."""
    graph = f"graph of {corpus}"
    (made,) = database.read("gds/project", graph=graph, corpus=corpus, edges=list(edges))
    try:
        found = rows(database, _EDGES, graph=graph) if made["relationships"] else []
    finally:
        database.read("gds/drop", graph=graph)
    # Undirected: each edge stands there in both directions.
    assert len(found) == made["relationships"]
    both = [(short(r["source"]), short(r["target"]), r["type"], r["weight"]) for r in found]
    assert sorted((b, a, *more) for a, b, *more in both) == sorted(both)
    return made["nodes"], {edge for edge in both if edge[0] < edge[1]}


def test_project(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    nodes, edges = _projected(database, corpus, "SHARES_KEYWORD", "NEXT")
    assert nodes == 6  # with the one that has no edge, and none of the other corpus
    assert edges == {
        ("a1", "a2", "NEXT", 1.0),
        ("a1", "b1", "SHARES_KEYWORD", 0.5),
        ("b1", "c1", "SHARES_KEYWORD", 0.4),
        ("c1", "d1", "SHARES_KEYWORD", 0.3),
    }
    # a1 and a2 are each other's nearest, and are joined once.
    _, edges = _projected(database, corpus, "SIMILAR_ST")
    assert {edge[:3] for edge in edges} == {("a1", "a2", "SIMILAR_ST"), ("a2", "b1", "SIMILAR_ST")}
    assert {round(edge[3], 6) for edge in edges} == {0.9, 0.98}


def test_project_without_edges_or_passages(database: Database, corpus: str) -> None:
    passages(database, corpus)
    assert _projected(database, corpus, "SHARES_ENTITY") == (6, set())
    found = database.read("gds/project", graph="none", corpus="no such", edges=["NEXT"])
    assert found == [{"nodes": None, "relationships": None}]


def test_graph_memory(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    none, some = (
        database.read("gds/graph_memory", corpus=corpus, edges=edges)[0]
        for edges in ([], ["SHARES_KEYWORD", "NEXT"])
    )
    assert 0 < none["least"] <= none["most"]
    assert none["most"] <= some["most"]
    assert 0 < some["share"] <= 1
