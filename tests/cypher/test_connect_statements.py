"""Statements of cypher/connect on a graph of six passages, where no run of `connect` shows them."""

import operator
from typing import Any

import pytest
from graphs import rows, state_of
from small_graphs import PASSAGES, edges, lighthouse, passages, short

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


def test_encoder(database: Database, corpus: str) -> None:
    passages(database, corpus)
    first = database.write("connect/encoder", corpus=corpus, encoder="e", dimension=2)
    assert first == [{"encoder": "e", "dimension": 2, "fingerprint": None}]
    second = database.write("connect/encoder", corpus=corpus, encoder="other", dimension=3)
    assert second == first
    assert database.write("connect/encoder", corpus="no such", encoder="e", dimension=2) == []


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
