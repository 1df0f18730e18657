"""Every statement of cypher/transfer, and the count of everything, on a few nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from graphs import rows

from kgp_neo4j.graphdb.database import Database


@pytest.fixture
def mark(database: Database, corpus: str) -> Iterator[dict[str, Any]]:
    """The mark of an import that has begun: the name and the load that it belongs to."""
    made = {"name": corpus, "load": "first"}
    database.write("transfer/begin", kind="Corpus", properties={"scope": "c0"}, **made)
    yield made
    rows(database, "MATCH (n) WHERE n.corpus = $c OR n.name = $c DETACH DELETE n", c=corpus)


def _write(database: Database, mark: dict[str, Any]) -> dict[int, str]:
    node = {"times": {}, "vectors": {}}
    made = [
        {"labels": ["Document"], "properties": {"id": "d0 of a test", "corpus": mark["name"]}},
        {"labels": ["Passage"], "properties": {"id": "p0 of a test", "corpus": mark["name"]}},
        {"labels": ["Keyword"], "properties": {"text": "word", "corpus": mark["name"]}},
    ]
    lines = [{**node, **each, "at": at} for at, each in enumerate(made)]
    lines[0]["times"] = {"loadedAt": "2026-11-23T01:02:03.000000004Z"}
    lines[1]["vectors"] = {"embedding": [0.5, -0.25]}
    written = database.write("transfer/write_nodes", rows=lines, **mark)
    return {row["at"]: row["node"] for row in written}


def test_an_import_from_its_beginning_to_its_end(database: Database, mark: dict[str, Any]) -> None:
    name = mark["name"]
    kind = {"name": name, "kind": "Corpus"}
    assert database.read("transfer/unfinished", **kind) == [{"load": "first"}]
    assert database.read("transfer/root", **kind) == []
    nodes = _write(database, mark)
    assert sorted(nodes) == [0, 1, 2]
    edge = {"start": nodes[0], "end": nodes[1], "type": "HAS_PASSAGE", "properties": {"x": 1}}
    written = database.write("transfer/write_relationships", rows=[edge], **mark)
    assert written == [{"written": 1}]
    # Whoever has no mark writes nothing.
    other = {"name": name, "load": "second"}
    assert database.write("transfer/write_nodes", rows=[], **other) == []
    assert database.write("transfer/write_relationships", rows=[edge], **other) == [{"written": 0}]
    assert database.write("transfer/finish", times={}, **other) == []
    times = {"createdAt": "2026-11-23T00:00:00Z"}
    assert database.write("transfer/finish", times=times, **mark) == [{"name": name}]
    assert database.read("transfer/unfinished", **kind) == []
    (root,) = database.read("transfer/root", **kind)
    assert root["properties"].pop("createdAt").iso_format().startswith("2026-11-23")
    assert root["properties"] == {"name": name, "scope": "c0"}
    assert database.read("transfer/root", name=name, kind="KnowledgeGraph") == []
    listed = database.read("transfer/corpus_nodes", name=name)
    assert [(row["rank"], row["key"]) for row in listed] == [
        (0, "d0 of a test"),
        (4, "p0 of a test"),
        (8, "word"),
    ]
    read = {row["node"]: row for row in database.read("transfer/nodes", nodes=list(nodes.values()))}
    assert read[nodes[1]]["labels"] == ["Passage"]
    assert read[nodes[1]]["properties"]["embedding"] == [0.5, -0.25]
    assert read[nodes[0]]["properties"]["loadedAt"].iso_format().endswith("03.000000004+00:00")
    begun = {"start": nodes[0], "type": "HAS_PASSAGE", "end": nodes[1], "properties": {"x": 1}}
    found = database.read(
        "transfer/relationships", nodes=list(nodes.values()), types=["HAS_PASSAGE"]
    )
    assert found == [begun]
    assert database.read("transfer/relationships", nodes=[nodes[0]], types=["NEXT"]) == []


def test_a_mark_that_is_taken_is_of_no_use(database: Database, mark: dict[str, Any]) -> None:
    kind = {"name": mark["name"], "kind": "Corpus"}
    assert database.write("transfer/take", **kind) == [{"marks": 1}]
    assert _write(database, mark) == {}
    assert database.write("transfer/forget", **kind) == [{"marks": 1}]
    assert database.write("transfer/forget", **kind) == [{"marks": 0}]


def test_entities_of_a_graph(database: Database, english: str) -> None:
    listed = database.read("transfer/graph_nodes", name=english)
    (graph,) = [g for g in database.read("inspect/graphs") if g["name"] == english]
    assert len(listed) == graph["entities"]
    nodes = [row["node"] for row in listed]
    edges = database.read("transfer/relationships", nodes=nodes, graph=english)
    assert len(edges) == graph["relationships"]


def test_everything_is_counted(database: Database, mark: dict[str, Any]) -> None:
    (row,) = database.read("inspect/counts")
    assert row["nodes"] > 0
    assert row["relationships"] >= 0
