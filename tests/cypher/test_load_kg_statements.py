"""Every statement of cypher/load_kg, the list of graphs and the schema, on a few nodes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from graphs import rows

from kgp_neo4j.graphdb.database import Database


@pytest.fixture
def graph(database: Database) -> Iterator[str]:
    """A begun graph of three entities and two relationships, whose load is called `first`."""
    name = f"test {uuid.uuid4().hex[:12]}"
    database.write("load_kg/begin", graph=name, scope="g0", load="first")
    made = [
        _entity(name, "flu", "Disease", aliases=["Influenza"]),
        _entity(name, "fever", "Symptom"),
        _entity(name, "odd", ""),
    ]
    database.write("load_kg/entities", graph=name, load="first", rows=made)
    database.write("load_kg/relationships", graph=name, load="first", rows=_links(name))
    yield name
    rows(database, "MATCH (n) WHERE n.graph = $g DETACH DELETE n", g=name)
    rows(database, "MATCH (n:KnowledgeGraph {name: $g}) DELETE n", g=name)


def _entity(graph: str, key: str, type_: str, aliases: list[str] | None = None) -> dict[str, Any]:
    return {
        "id": f"{graph}/{key}",
        "key": key,
        "name": key.capitalize(),
        "aliases": aliases or [],
        "type": type_,
        "labels": [type_] if type_ else [],
    }


def _links(graph: str) -> list[dict[str, str]]:
    return [
        {
            "id": f"{graph}/1",
            "head": f"{graph}/flu",
            "relation": "has `it`",
            "tail": f"{graph}/fever",
        },
        {"id": f"{graph}/2", "head": f"{graph}/fever", "relation": "of", "tail": f"{graph}/odd"},
    ]


def _nodes(database: Database, graph: str) -> list[dict[str, Any]]:
    return rows(
        database,
        "MATCH (e:Entity {graph: $g}) RETURN e.name AS name, e.title AS title, e.type AS type, "
        "e.scope AS scope, e.aliases AS aliases, labels(e) AS labels ORDER BY name",
        g=graph,
    )


def _edges(database: Database, graph: str) -> list[list[str]]:
    found = rows(
        database,
        "MATCH (a:Entity {graph: $g})-[r]->(b) "
        "RETURN [a.key, type(r), b.key, r.id, r.graph] AS edge ORDER BY r.id",
        g=graph,
    )
    return [row["edge"] for row in found]


def test_begin_and_finish(database: Database, graph: str) -> None:
    query = (
        "MATCH (g:KnowledgeGraph {name: $g}) RETURN g.title AS title, g.scope AS scope, "
        "g.load AS load, g.createdAt IS NOT NULL AS dated"
    )
    first = {"title": graph, "scope": "g0", "load": "first", "dated": True}
    assert rows(database, query, g=graph) == [first]
    again = database.write("load_kg/begin", graph=graph, scope="other", load="second")
    assert again == [{"encoder": None}]
    assert rows(database, query, g=graph) == [{**first, "load": "second"}]
    # Only the load that has the graph can end it.
    assert database.write("load_kg/finish", graph=graph, load="first") == []
    assert database.write("load_kg/finish", graph=graph, load="second") == [{"graph": graph}]
    assert rows(database, query, g=graph) == [{**first, "load": None}]


def test_entities(database: Database, graph: str) -> None:
    flu = {
        "name": "Flu",
        "title": "Flu",
        "type": "Disease",
        "scope": "g0",
        "aliases": ["Influenza"],
        "labels": ["Entity", "Disease"],
    }
    fever = {**flu, "name": "Fever", "title": "Fever", "type": "Symptom", "aliases": []}
    fever["labels"] = ["Entity", "Symptom"]
    odd = {**fever, "name": "Odd", "title": "Odd", "type": "", "labels": ["Entity"]}
    assert _nodes(database, graph) == [fever, flu, odd]
    more = [
        {**_entity(graph, "flu", "Infection", ["Influenza", "Grippe", "Flu"]), "name": "FLU"},
        _entity(graph, "odd", "Test"),
    ]
    done = database.write("load_kg/entities", graph=graph, load="first", rows=more)
    assert done == [{"written": 2}]
    flu["aliases"] = ["Influenza", "Grippe"]
    found = _nodes(database, graph)
    assert sorted(found[1].pop("labels")) == ["Disease", "Entity", "Infection"]
    flu.pop("labels")
    assert found[1] == flu
    assert found[2] == {**odd, "type": "Test", "labels": ["Entity", "Test"]}
    # Another load has begun: nothing is written.
    one = [_entity(graph, "new", "")]
    assert database.write("load_kg/entities", graph=graph, load="x", rows=one) == [{"written": 0}]
    assert len(_nodes(database, graph)) == 3


def test_relationships(database: Database, graph: str) -> None:
    wanted = [
        ["flu", "has `it`", "fever", f"{graph}/1", graph],
        ["fever", "of", "odd", f"{graph}/2", graph],
    ]
    assert _edges(database, graph) == wanted
    more = [{**_links(graph)[0], "id": f"{graph}/3", "relation": "))--() DELETE x //"}]
    refused = database.write("load_kg/relationships", graph=graph, load="x", rows=more)
    assert refused == [{"written": 0}]
    done = database.write("load_kg/relationships", graph=graph, load="first", rows=more)
    assert done == [{"written": 1}]
    odd = ["flu", "))--() DELETE x //", "fever", f"{graph}/3", graph]
    assert _edges(database, graph) == [*wanted, odd]


def test_stored_relationships(database: Database, graph: str) -> None:
    # A relationship of the user's own is none of the graph's.
    rows(
        database,
        "MATCH (a:Entity {id: $a}), (b:Entity {id: $b}) CREATE (a)-[:MINE {id: 'mine'}]->(b)",
        a=f"{graph}/odd",
        b=f"{graph}/flu",
    )
    found = database.read("load_kg/stored_relationships", graph=graph)
    assert sorted(row["ids"] for row in found) == [[f"{graph}/1"], [f"{graph}/2"]]
    assert database.read("load_kg/stored_relationships", graph="no such") == []


def test_embeddings_unembedded_and_encoder(database: Database, graph: str) -> None:
    ids = [f"{graph}/{key}" for key in ("fever", "flu", "odd")]
    names = [{"id": id_, "name": id_.rpartition("/")[2].capitalize()} for id_ in ids]
    assert database.read("load_kg/unembedded", graph=graph) == names
    values = [{"id": ids[0], "vector": [0.6, 0.8]}, {"id": "none", "vector": [1.0, 0.0]}]
    assert database.write("load_kg/embeddings", rows=values) == [{"written": 1}]
    assert database.read("load_kg/unembedded", graph=graph) == names[1:]
    query = "MATCH (e:Entity {id: $id}) RETURN e.embedding AS v"
    assert rows(database, query, id=ids[0])[0]["v"] == pytest.approx([0.6, 0.8])
    first = {"encoder": "e", "dimension": 2}
    assert database.write("load_kg/encoder", graph=graph, **first) == [first]
    assert database.write("load_kg/encoder", graph=graph, encoder="f", dimension=3) == [first]
    begun = database.write("load_kg/begin", graph=graph, scope="g0", load="second")
    assert begun == [{"encoder": "e"}]


def test_counts_and_graphs(database: Database, graph: str) -> None:
    database.write("load_kg/embeddings", rows=[{"id": f"{graph}/flu", "vector": [0.6, 0.8]}])
    assert database.read("load_kg/counts", graph=graph) == [
        {
            "entities": 3,
            "embedded": 1,
            "types": [{"name": t, "count": 1} for t in ("", "Disease", "Symptom")],
            "relations": [{"name": "has `it`", "count": 1}, {"name": "of", "count": 1}],
        }
    ]
    nothing = {"entities": 0, "embedded": 0, "types": [], "relations": []}
    assert database.read("load_kg/counts", graph="no such") == [nothing]
    listed = [row for row in database.read("inspect/graphs") if row["name"] == graph]
    assert listed == [{"name": graph, "entities": 3, "relationships": 2, "encoder": None}]


def test_adopted_nodes_and_relationships(database: Database, graph: str) -> None:
    label, other = f"Drug {graph}", f"Illness {graph}"
    rows(
        database,
        "CREATE (a:$($label) {called: 'Aspirin'})-[:TREATS]->(b:$($other) {called: 7}), "
        "(b)-[:OF]->(c:$($label)), (b)-[:OUT]->(:Elsewhere {called: 'x', graph: $label}), "
        "(:$($label) {called: 'own', graph: $g})",
        label=label,
        other=other,
        g=graph,
    )
    try:
        given = {"graph": graph, "labels": [other, label], "property": "called"}
        found = database.read("load_kg/adopted_nodes", **given)
        assert all(row.pop("node") for row in found)
        assert sorted(found, key=lambda row: str(row["name"])) == [
            {"name": "7", "type": other},
            {"name": "Aspirin", "type": label},
            {"name": None, "type": label},
        ]
        found = database.read("load_kg/adopted_relationships", **given)
        assert sorted(found, key=lambda row: row["relation"]) == [
            {"head": "7", "relation": "OF", "tail": None},
            {"head": "Aspirin", "relation": "TREATS", "tail": "7"},
        ]
        (known,) = database.read("load_kg/known_names")
        assert {label, other} <= set(known["labels"])
        assert "called" in known["properties"]
    finally:
        rows(
            database,
            "MATCH (n:$any($labels)) DETACH DELETE n",
            labels=[label, other, "Elsewhere"],
        )


def test_deletion(database: Database, graph: str) -> None:
    rows(
        database,
        "MATCH (a:Entity {id: $id}) "
        "CREATE (a)-[:MINE]->(:Entity {corpus: $g, name: 'of a passage', graph: $g})",
        id=f"{graph}/flu",
        g=graph,
    )
    done = database.write_in_batches("load_kg/delete_relationships", graph=graph)
    assert done == {"relationships": 2}
    assert _edges(database, graph) == [["flu", "MINE", None, None, None]]
    assert database.write_in_batches("load_kg/delete_entities", graph=graph) == {"entities": 3}
    # What has no key is not the graph's.
    assert [node["name"] for node in _nodes(database, graph)] == ["of a passage"]
    assert database.write("load_kg/delete_graph", graph=graph) == [{"graphs": 1}]
    assert database.write("load_kg/delete_graph", graph=graph) == [{"graphs": 0}]
