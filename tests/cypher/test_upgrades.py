"""cypher/schema/upgrades: a graph of release 0.1.0 is brought over."""

from __future__ import annotations

import pytest
from commands import environment
from graphs import rows
from neo4j.exceptions import Neo4jError

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.install import install, open_ready, open_to_read
from kgp_neo4j.graphdb.statements import folder, statement
from kgp_neo4j.types.errors import DatabaseError

_LATEST = len(folder("schema/upgrades"))


def _old_graph(database: Database, corpus: str) -> None:
    """Write a corpus and an entity of a knowledge graph as release 0.1.0 kept them."""
    rows(
        database,
        """
        CREATE (:Corpus {name: $c, scope: 'x', connected: ['keywords']})
        CREATE (d:Document {id: $c + '/d', corpus: $c, title: 'D', pages: 2, tables: 1, cells: 2}),
               (d)-[:HAS_PASSAGE]->(p:Passage {id: $c + '/p', corpus: $c, document: d.id,
                 title: 'D', text: 'x', position: 0, start: 0, end: 1, connected: true}),
               (d)-[:HAS_TABLE]->(t:Table {id: $c + '/t', corpus: $c, document: d.id, order: 1,
                 number: '2a', name: 'Table 2a', pages: [1, 2], rows: 1}),
               (t)-[:HAS_COLUMN]->(k:Column {id: $c + '/k', corpus: $c, table: t.id, order: 1,
                 header: 'Ships', title: 'Ships', norm: 'ships', type: 'number'})
        WITH p, t, k
        UNWIND [[0, 'Ships', true], [1, '7', false]] AS row
        CREATE (t)-[:HAS_ROW]->(r:Row {id: $c + '/r' + row[0], corpus: $c, table: t.id,
                 order: row[0] + 1, number: row[0], header: row[2], title: row[1]}),
               (r)-[:HAS_CELL]->(:Cell {id: $c + '/c' + row[0], corpus: $c, table: t.id,
                 row: row[0], column: 1, text: row[1], norm: toLower(row[1]), header: row[2]})
               <-[:HAS_CELL]-(k)
        WITH DISTINCT p
        UNWIND ['moe', 'axe', 'isle'] AS name
        CREATE (p)-[:MENTIONS]->(:Entity {corpus: $c, name: name, title: name, type: 'Phrase'})
        """,
        c=corpus,
    )
    rows(
        database,
        "CREATE (:Entity {id: $c + '/e', graph: $c, key: 'moe', name: 'Moe', corpus: $c + '!'})",
        c=corpus,
    )


def _entities(database: Database, corpus: str) -> list[tuple[str, str]]:
    found = rows(
        database,
        "MATCH (n) WHERE (n.corpus = $c AND n.type = 'Phrase') OR n.graph = $c "
        "RETURN labels(n)[0] AS label, n.name AS name ORDER BY label, name",
        c=corpus,
    )
    return [(row["label"], row["name"]) for row in found]


def test_entities_of_a_corpus_get_their_label(database: Database, corpus: str) -> None:
    _old_graph(database, corpus)
    path = "schema/upgrades/0001_named_entities"
    assert database.write_in_batches(path, batch=2) == {"changed": 3}
    named = [("NamedEntity", name) for name in ("axe", "isle", "moe")]
    # One of a knowledge graph stays, whatever properties a user gave it.
    assert _entities(database, corpus) == [("Entity", "Moe"), *named]
    assert database.write_in_batches(path) == {"changed": 0}
    rows(database, "MATCH (e:Entity {graph: $c}) DELETE e", c=corpus)


def test_properties_get_one_type(database: Database, corpus: str) -> None:
    _old_graph(database, corpus)
    for path, changed in (
        ("schema/upgrades/0003_table_labels", 1),
        ("schema/upgrades/0005_header_rows", 4),
        ("schema/upgrades/0006_keyword_graph", 1),
    ):
        assert database.write_in_batches(path, batch=1) == {"changed": changed}
        assert database.write_in_batches(path) == {"changed": 0}
    (found,) = rows(
        database,
        "MATCH (t:Table {corpus: $c}), (p:Passage {corpus: $c}) "
        "RETURN t.label, t.pageNumbers, t.number, t.pages, p.inKeywordGraph, p.connected, "
        "[(t)-[:HAS_ROW]->(r)-[:HAS_CELL]->(c) | [r.header, c.header]] AS headers",
        c=corpus,
    )
    assert list(found.values()) == ["2a", [1, 2], None, None, True, None, [[None, None]] * 2]
    rows(database, "MATCH (e:Entity {graph: $c}) DELETE e", c=corpus)


@pytest.mark.alone  # an index of all passages is dropped
def test_passages_get_the_label_they_are_searched_by(database: Database, corpus: str) -> None:
    small, scope = f"{corpus} small", f"c{abs(hash(corpus))}"
    rows(
        database,
        "UNWIND [[$c, 500, $scope], [$small, 2, 'csmall']] AS one "
        "CREATE (:Corpus {name: one[0], scope: one[2]}) "
        "WITH one UNWIND range(1, one[1]) AS n "
        "CREATE (:Passage {id: one[0] + n, corpus: one[0], scope: one[2], title: 'T', "
        "text: 'lantern ' + n, embedding: [1.0, 0.0]})",
        c=corpus, small=small, scope=scope,
    )  # fmt: skip
    rows(
        database,
        "CREATE FULLTEXT INDEX kgp_passage_text IF NOT EXISTS FOR (p:Passage) ON EACH [p.text]",
    )
    for path in (
        "schema/upgrades/0008_shelf_labels",
        "schema/upgrades/0009_shelves",
        "schema/upgrades/0010_shelf_indexes",
    ):
        database.write_in_batches(path)
    database.read("install/await_indexes")
    found = rows(
        database,
        "MATCH (c:Corpus) WHERE c.name IN [$c, $small] MATCH (p:Passage {corpus: c.name}) "
        "UNWIND labels(p) AS label WITH DISTINCT c, label WHERE label <> 'Passage' "
        "RETURN c.name AS name, c.language AS language, c.shelf AS shelf, label ORDER BY c.name",
        c=corpus, small=small,
    )  # fmt: skip
    assert [list(row.values()) for row in found] == [
        [corpus, "english", scope, f"C{scope[1:]}Passage"],
        [small, "english", "english", "EnglishPassage"],
    ]
    indexes = rows(
        database,
        "SHOW INDEXES YIELD name WHERE name = 'kgp_passage_text' OR name ENDS WITH $scope "
        "RETURN name ORDER BY name",
        scope=scope,
    )
    assert [row["name"] for row in indexes] == [f"kgp_passage_{scope}", f"kgp_vectors_{scope}"]
    for name in (corpus, small):
        (seed, *_) = database.read(
            "procedures/seeds", question="lantern 2", corpus=name, configuration={"limit": 1}
        )
        assert seed["passage"]["text"] == "lantern 2"
    rows(database, "MATCH (n) WHERE n.corpus = $c OR n.name = $c DETACH DELETE n", c=small)
    database.write_in_batches("load/drop_own_indexes", corpus=corpus)


@pytest.mark.slow
def test_a_database_of_the_first_release_is_brought_over(
    installed: Database, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in ("schema/upgrades/0002_entity_name", "schema/upgrades/0004_table_corpus"):
        installed.define(statement(path), {})
        installed.define(statement(path), {})  # nothing is there to drop
    rows(
        installed,
        "CREATE CONSTRAINT kgp_entity_name FOR (e:Entity) REQUIRE (e.corpus, e.name) IS UNIQUE",
    )
    rows(installed, "CREATE INDEX kgp_table_corpus FOR (t:Table) ON (t.corpus, t.number)")
    rows(installed, "MATCH (i:KgpInstallation) REMOVE i.layout SET i.schema = 'old'")
    _old_graph(installed, corpus)
    old = {
        "signature": "kgp.hybridSeeds(question :: STRING) :: (older :: STRING)",
        "statement": "RETURN $question AS older",
        "database": installed.connection.database,
        "mode": "READ",
        "description": "Of an older release.",
    }
    installed.define(statement("install/procedure"), old, system=True)
    for name, value in environment(installed.connection).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(DatabaseError, match="made the database, with other names") as caught:
        open_to_read()
    assert "kgp-neo4j install" in str(caught.value.hint)
    done = install(installed)
    assert done.removed == ("custom.kgp.hybridSeeds",)
    with pytest.raises(Neo4jError):
        rows(installed, "CALL custom.kgp.hybridSeeds('x')")
    assert installed.read("install/state")[0]["layout"] == _LATEST
    open_to_read().close()
    assert [label for label, _ in _entities(installed, corpus)] == ["Entity", *["NamedEntity"] * 3]
    held = rows(
        installed,
        "SHOW INDEXES YIELD name, properties WHERE name IN ['kgp_entity_name', 'kgp_table_corpus'] "
        "RETURN name, properties",
    )
    assert held == [{"name": "kgp_table_corpus", "properties": ["corpus", "label"]}]
    # The procedures and the statements of the driver read the graph as if it were new.
    (table,) = rows(
        installed, "CALL custom.kgp.table('D', '2a', $c) YIELD cells, number WHERE number > 0 "
        "RETURN cells", c=corpus,
    )  # fmt: skip
    assert table == {"cells": ["7"]}
    assert installed.read("inspect/corpus", corpus=corpus)[0]["unconnected"] == 0
    rows(installed, "MATCH (e:Entity {graph: $c}) DELETE e", c=corpus)


@pytest.mark.slow
def test_a_database_of_a_newer_release_is_left_alone(installed: Database) -> None:
    (before,) = installed.read("install/state")
    newer = before | {"layout": _LATEST + 1, "version": "99.0"}
    installed.write("install/remember", **newer)
    try:
        with pytest.raises(DatabaseError, match=r"a newer kgp-neo4j \(99.0\) made the database"):
            open_ready(installed.connection)
        assert installed.read("install/state") == [newer]
    finally:
        installed.write("install/remember", **before)
