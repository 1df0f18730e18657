"""The marks of imports, by the statements of cypher/transfer; test_exports.py has the rest."""

from collections.abc import Iterator
from typing import Any

import pytest
from graphs import rows

from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest


@pytest.fixture
def mark(database: Database, corpus: str) -> Iterator[dict[str, Any]]:
    """The mark of an import that has begun: the name and the load that it belongs to."""
    made = {"name": corpus, "load": "first"}
    database.write("transfer/begin", kind="Corpus", properties={"scope": "c0"}, **made)
    yield made
    rows(database, "MATCH (n) WHERE n.corpus = $c OR n.name = $c DETACH DELETE n", c=corpus)


def test_only_who_has_the_mark_writes(database: Database, mark: dict[str, Any]) -> None:
    kind = {"name": mark["name"], "kind": "Corpus"}
    rest = {
        "times": {"loadedAt": "2026-11-23T01:02:03.000000004Z"},
        "vectors": {"embedding": [0.5]},
    }
    properties = {"id": mark["name"], "corpus": mark["name"]}
    nodes = [
        {"at": at, "labels": [label], "properties": properties, **rest}
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
