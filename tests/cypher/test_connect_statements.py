"""The statements of cypher/connect, of cypher/gds, of the marks of imports, one of cypher/load."""

from collections.abc import Iterator
from typing import Any

import pytest
from graphs import rows
from small_graphs import document, lighthouse, passages, short

from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest


def test_made(database: Database, corpus: str) -> None:
    passages(database, corpus)
    said = {"corpus": corpus, "graph": "keywords"}
    finish = {**said, "settings": "", "madeOf": "of keywords"}

    def made() -> list[Any]:
        return [row["keywords"] for row in database.read("connect/made", corpus=corpus)]

    (begun,) = database.write("connect/begin", **said)
    database.write("connect/finish", **finish, run=begun["run"])
    assert made() == ["of keywords"]
    # Another run begins while one is at it: what stands there is of both.
    (first,) = database.write("connect/begin", **said)
    (second,) = database.write("connect/begin", **said)
    assert second["run"] is None
    database.write("connect/finish", **finish, run=first["run"])
    assert made() == [None]
    # The documents change meanwhile.
    query = "MATCH (d:Document {corpus: $c}) RETURN d.id AS id ORDER BY id LIMIT 1"
    ids = [row["id"] for row in rows(database, query, c=corpus)]
    for change in (
        lambda: passages(database, corpus),
        lambda: database.write("load/changed", corpus=corpus),
        lambda: database.write_in_batches("load/delete_documents", corpus=corpus, ids=ids),
    ):
        (begun,) = database.write("connect/begin", **said)
        change()
        database.write("connect/finish", **finish, run=begun["run"])
        assert made() == [None]
    (begun,) = database.write("connect/begin", **said)
    database.write("connect/finish", **finish, run=begun["run"])
    assert made() == ["of keywords"]
    assert database.read("connect/made", corpus="no such") == []


@pytest.mark.parametrize("value", [object(), 2**70])
def test_a_wrong_value_is_no_fault_of_the_server(database: Database, value: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        database.read("connect/made", corpus=value)


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


@pytest.fixture
def mark(database: Database, corpus: str) -> Iterator[dict[str, Any]]:
    """The mark of an import that has begun: the name and the load that it belongs to."""
    made = {"name": corpus, "load": "first"}
    database.write("transfer/begin", kind="Corpus", properties={"scope": "c0"}, **made)
    yield made
    rows(database, "MATCH (n) WHERE n.corpus = $c OR n.name = $c DETACH DELETE n", c=corpus)


def test_only_who_has_the_mark_writes(database: Database, mark: dict[str, Any]) -> None:
    kind = {"name": mark["name"], "kind": "Corpus"}
    own = {"times": {"loadedAt": "2026-11-23T01:02:03.000000004Z"}, "vectors": {"embedding": [0.5]}}
    properties = {"id": mark["name"], "corpus": mark["name"]}
    nodes = [
        {"at": at, "labels": [label], "properties": properties, **own}
        for at, label in enumerate(("Document", "Passage"))
    ]
    ids = [row["node"] for row in database.write("transfer/write_nodes", rows=nodes, **mark)]
    edge = {"start": ids[0], "end": ids[1], "type": "HAS_PASSAGE", "properties": {"x": 1}}
    for load, written in (("second", 0), ("first", 1)):
        other = mark | {"load": load}
        assert len(database.write("transfer/write_nodes", rows=[], **other)) == 0
        made = database.write("transfer/write_relationships", rows=[edge], **other)
        assert made == [{"written": written}]
    assert database.write("transfer/take", **kind, load="second") == [{"marks": 0}]
    assert database.read("transfer/root", **kind) == []
    assert database.write("transfer/finish", times={}, **mark | {"load": "second"}) == []
    times = {"createdAt": "2026-11-23T00:00:00Z"}
    assert database.write("transfer/finish", times=times, **mark) == [{"name": mark["name"]}]
    assert database.write("transfer/take", **kind) == [{"marks": 0}]
    (root,) = database.read("transfer/root", **kind)
    assert root["properties"].pop("createdAt").iso_format().startswith("2026-11-23")
    assert root["properties"] == {"name": mark["name"], "scope": "c0"}
    listed = database.read("transfer/listing", corpus=mark["name"])
    assert [(row["rank"], row["node"]) for row in listed] == [(0, ids[0]), (4, ids[1])]
    passage = database.read("transfer/nodes", nodes=ids)[1]["properties"]
    assert passage["embedding"] == [0.5]
    assert passage["loadedAt"].iso_format().endswith("03.000000004+00:00")
    begun = {"start": ids[0], "type": "HAS_PASSAGE", "end": ids[1], "properties": {"x": 1}}
    assert database.read("transfer/relationships", nodes=ids, types=["HAS_PASSAGE"]) == [begun]


def test_a_mark_that_is_taken_is_of_no_use(database: Database, mark: dict[str, Any]) -> None:
    kind = {"name": mark["name"], "kind": "Corpus"}
    assert database.write("transfer/take", **kind) == [{"marks": 1}]
    node = {"at": 0, "labels": ["Keyword"], "properties": {}, "times": {}, "vectors": {}}
    assert database.write("transfer/write_nodes", rows=[node], **mark) == []
    assert database.write("transfer/take", **kind, forget=True) == [{"marks": 1}]
    assert database.write("transfer/take", **kind, forget=True) == [{"marks": 0}]


def test_documents_make_passages_of_another_section_anew(database: Database, corpus: str) -> None:
    made = document(corpus, "a", "a", {"a1": "One. ", "a2": "Two. "})
    query = (
        "MATCH (p:Passage {corpus: $c}) WITH p ORDER BY p.position "
        "RETURN p.section AS section, p.embedding IS NOT NULL AS embedded"
    )
    found = []
    for section in (None, "A > B"):
        made["passages"][1]["section"] = section
        database.write("load/documents", corpus=corpus, scope="c0", rows=[made])
        found.append([tuple(row.values()) for row in rows(database, query, c=corpus)])
        rows(database, "MATCH (p:Passage {corpus: $c}) SET p.embedding = [1.0]", c=corpus)
    assert found == [[(None, False), (None, False)], [(None, True), ("A > B", False)]]
