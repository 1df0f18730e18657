"""The statements of cypher/connect, of cypher/gds, of the marks of imports, one of cypher/load."""

import operator
from collections.abc import Iterator
from typing import Any

import pytest
from graphs import rows, state_of
from small_graphs import PASSAGES, document, edges, lighthouse, passages, short

from kgp_neo4j.corpus.load import own_indexes
from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest


def test_begin_and_finish(database: Database, corpus: str) -> None:
    passages(database, corpus)
    for graph in ("keywords", "similarity"):
        done = database.write("connect/finish", corpus=corpus, graph=graph, settings=f"of {graph}")
        assert done == [{"corpus": corpus}]
    assert state_of(database, corpus)["connected"] == ["keywords", "similarity"]
    query = "MATCH (:Corpus {name: $c})-[:HAS_GRAPH]->(g) RETURN g.type AS type, g.settings AS s"
    assert sorted(rows(database, query, c=corpus), key=str) == [
        {"type": graph, "s": f"of {graph}"} for graph in ("keywords", "similarity")
    ]
    (done,) = database.write("connect/begin", corpus=corpus, graph="keywords")
    assert done["corpus"] == corpus
    # It can be asked while it is made again, and is unfinished until it is made.
    assert state_of(database, corpus)["connected"] == ["keywords", "similarity"]
    assert state_of(database, corpus)["unconnected"] == state_of(database, corpus)["passages"]
    database.write("connect/begin", corpus=corpus, graph="keywords", keep=False)
    assert state_of(database, corpus)["connected"] == ["similarity"]
    assert database.write("connect/begin", corpus="no such", graph="keywords") == []
    assert database.write("connect/finish", corpus="no such", graph="g", settings="") == []


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


def test_stored_keywords(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    found = database.read("connect/stored_keywords", corpus=corpus)
    assert len(found) == 6
    assert {"text": "isobel tarn", "frequency": 2, "named": True} in found
    texts = [row["text"] for row in found]
    assert texts == sorted(texts)
    after = {"corpus": corpus, "after": texts[1], "limit": 3}
    assert database.read("connect/stored_keywords", **after) == found[2:5]
    assert database.read_packed("connect/stored_keywords", **after) == found[2:5]
    assert database.read("connect/stored_keywords", corpus=corpus, after=texts[-1]) == []


def test_similarity_edges(
    database: Database, corpus: str, other_corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_indexes, "LARGE", 1)
    for name in (corpus, other_corpus):
        lighthouse(database, name)

    def state() -> list[Any]:
        found = database.read("inspect/encoder", corpus=corpus)
        return [(row["encoder"], row["settings"], row["indexed"]) for row in found]

    database.write("connect/begin", corpus=corpus, graph="similarity")
    database.write("connect/encoder", corpus=corpus, encoder="e", dimension=2)
    ((encoder, *made),) = state()
    assert made == [None, False]
    database.write("connect/finish", corpus=corpus, graph="similarity", settings="{}")
    own_indexes.make_own_indexes(database, corpus)
    assert state() == [(encoder, "{}", True)]
    assert database.read("inspect/encoder", corpus=corpus, graph="mdr") == []
    listed = database.read("connect/passages", corpus=corpus)
    names = {row["node"]: short(row["id"]) for row in listed}
    nodes = {name: node for node, name in names.items()}
    lonely = database.read("connect/unjoined", corpus=corpus, least=1)
    before = edges(database, corpus, "SIMILAR_ST")
    joined = {a for a, _, _ in before}
    given = {n: vector for _, texts in PASSAGES.values() for n, (_, vector) in texts.items()}
    embedded = {name: vector for name, vector in given.items() if vector}
    assert {names[row["node"]] for row in lonely} == embedded.keys() - joined
    found = database.read_packed("connect/vectors", corpus=corpus)
    assert {names[row["node"]]: row["vector"] for row in found} == {
        name: pytest.approx(vector) for name, vector in embedded.items()
    }
    assert [row["id"] for row in found] == sorted(row["id"] for row in found)
    after = {"corpus": corpus, "after": found[0]["id"], "limit": 2}
    assert database.read_packed("connect/vectors", **after) == found[1:3]
    assert database.read("connect/vectors", corpus=corpus, property="mdrEmbedding") == []
    row = {"node": nodes["a1"], "edges": [[nodes["d1"], 0.25], [nodes["b1"], 0.75]]}
    assert database.write("connect/join", corpus=corpus, rows=[row]) == [{"written": 2}]
    assert edges(database, corpus, "SIMILAR_ST") == sorted(
        [
            *(e for e in before if e[0] != "a1"),
            ("a1", "b1", {"score": 0.75}),
            ("a1", "d1", {"score": 0.25}),
        ],
        key=operator.itemgetter(0, 1),
    )
    assert database.write("connect/join", corpus=other_corpus, rows=[row]) == [{"written": 0}]


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
