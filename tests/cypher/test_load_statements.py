"""Statements of cypher/load on a graph of a few nodes: what stays, what goes, and the indexes."""

from typing import Any

import pytest
from graphs import rows
from small_graphs import document

from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest


def _document(corpus: str, name: str, *texts: str, title: str | None = None) -> dict[str, Any]:
    passages = {f"{name}/{at}/{text}": text for at, text in enumerate(texts)}
    return document(corpus, name, title or name, passages)


def _store(database: Database, corpus: str, *documents: dict[str, Any]) -> list[dict[str, Any]]:
    return database.write("load/documents", corpus=corpus, scope="c0", rows=list(documents))


@pytest.fixture
def two_documents(database: Database, corpus: str) -> str:
    """Documents a (three passages) and b (one), with three keywords; p1 of a shares two with b."""
    _store(
        database,
        corpus,
        _document(corpus, "a", "One. ", "Two 😀. ", "Three."),
        _document(corpus, "b", "Four."),
    )
    rows(
        database,
        """
        MATCH (p:Passage {corpus: $c})
        UNWIND CASE p.text WHEN 'One. ' THEN ['only', 'both'] WHEN 'Two 😀. ' THEN ['both', 'pair']
               WHEN 'Four.' THEN ['both', 'pair'] ELSE [] END AS word
        MERGE (k:Keyword {corpus: $c, text: word})
        CREATE (p)-[:HAS_KEYWORD]->(k)
        SET k.documentFrequency = coalesce(k.documentFrequency, 0) + 1
        """,
        c=corpus,
    )
    return corpus


def _keywords(database: Database, corpus: str) -> dict[str, int]:
    query = "MATCH (k:Keyword {corpus: $c}) RETURN k.text AS text, k.documentFrequency AS n"
    return {row["text"]: row["n"] for row in rows(database, query, c=corpus)}


def _chain(database: Database, corpus: str, name: str) -> list[list[Any]]:
    query = (
        "MATCH (:Document {id: $id})-[:HAS_PASSAGE]->(p:Passage) "
        "OPTIONAL MATCH (p)-[:NEXT]->(next) "
        "RETURN p.text AS text, p.scope AS scope, p.document AS document, next.text AS next "
        "ORDER BY p.position"
    )
    found = rows(database, query, id=f"{corpus}/{name}")
    assert all((r["scope"], r["document"]) == ("c0", f"{corpus}/{name}") for r in found)
    return [[row["text"], row["next"]] for row in found]


def test_documents_replace(database: Database, two_documents: str) -> None:
    c = two_documents
    changed = _document(c, "a", "One. ", "New. ", "Three.", "Five.")
    assert _store(database, c, changed) == [{"id": f"{c}/a", "passages": 4, "characters": 21}]
    assert _chain(database, c, "a") == [
        ["One. ", "New. "],
        ["New. ", "Three."],
        ["Three.", "Five."],
        ["Five.", None],
    ]
    assert _keywords(database, c) == {"only": 1, "both": 2, "pair": 1}
    assert _store(database, c, _document(c, "a", "New. "))[0]["passages"] == 1
    assert _chain(database, c, "a") == [["New. ", None]]
    assert _keywords(database, c) == {"both": 1, "pair": 1}
    # Under another title no passage is kept, since what hangs on it was made of the old one.
    _store(database, c, _document(c, "b", "Four.", title="B"))
    assert _chain(database, c, "b") == [["Four.", None]]
    assert _keywords(database, c) == {}


def test_documents_make_passages_of_another_section_anew(database: Database, corpus: str) -> None:
    made = _document(corpus, "a", "One. ", "Two. ")
    query = (
        "MATCH (p:Passage {corpus: $c}) WITH p ORDER BY p.position "
        "RETURN p.section AS section, p.embedding IS NOT NULL AS embedded"
    )
    found = []
    for section in (None, "A > B"):
        made["passages"][1]["section"] = section
        _store(database, corpus, made)
        found.append([tuple(row.values()) for row in rows(database, query, c=corpus)])
        rows(database, "MATCH (p:Passage {corpus: $c}) SET p.embedding = [1.0]", c=corpus)
    assert found == [[(None, False), (None, False)], [(None, True), ("A > B", False)]]


def _entities(database: Database, corpus: str) -> list[str]:
    query = "MATCH (e:NamedEntity {corpus: $c}) RETURN e.name AS name ORDER BY name"
    return [row["name"] for row in rows(database, query, c=corpus)]


def test_entities_go_with_their_last_passage(database: Database, two_documents: str) -> None:
    c = two_documents
    rows(
        database,
        """
        UNWIND [['One. ', 'alone'], ['One. ', 'both'], ['Four.', 'both'], ['Four.', 'b']] AS pair
        MATCH (p:Passage {corpus: $c, text: pair[0]})
        MERGE (e:NamedEntity {corpus: $c, name: pair[1]})
        CREATE (p)-[:MENTIONS]->(e)
        """,
        c=c,
    )
    _store(database, c, _document(c, "a", "Other.", "Two 😀. ", "Three."))
    assert _entities(database, c) == ["b", "both"]
    database.write_in_batches("load/delete_documents", corpus=c, ids=[f"{c}/b"])
    assert _entities(database, c) == []


def test_delete_rest(database: Database, two_documents: str) -> None:
    c = two_documents
    rows(
        database,
        "CREATE (:Page {corpus: $c}), (:Section {corpus: $c}), "
        "(:NamedEntity {corpus: $c, name: 'e'}), (:Page {corpus: '-x'})",
        c=c,
    )
    rows(database, "MATCH (d:Document {corpus: $c}) DETACH DELETE d", c=c)
    assert database.write_in_batches("load/delete_rest", corpus=c) == {"nodes": 7}
    left = rows(database, "MATCH (p:Page {corpus: '-x'}) DELETE p RETURN count(p) AS n")
    assert left == [{"n": 1}]
