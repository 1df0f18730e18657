"""Installing, upgrading and removing the procedures, and calling them as a Cypher user would."""

from __future__ import annotations

import dataclasses
import itertools
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from commands import environment
from graphs import rows
from neo4j.exceptions import Neo4jError
from small_graphs import keep_one, lighthouse

from kgp_neo4j.corpus.answer.traces import remove
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.install import LAYOUT, install, missing, uninstall
from kgp_neo4j.graphdb.open import open_database, open_ready, open_to_read
from kgp_neo4j.graphdb.statements import Statement, fingerprint, folder, statement
from kgp_neo4j.types.corpus import Capabilities
from kgp_neo4j.types.errors import DatabaseError

_PROCEDURES = folder("procedures")
_NAMES = tuple(sorted(f"custom.{made.name}" for made in _PROCEDURES))


def open_database_again(database: Database) -> Database:
    """Open the database as the embedded one, as the next command would."""
    return open_ready(dataclasses.replace(database.connection, embedded=True))


def _define(database: Database, signature: str, text: str) -> None:
    values = {
        "signature": signature,
        "statement": text,
        "database": database.connection.database,
        "mode": "READ",
        "description": "Of an older release.",
    }
    database.define(statement("install/procedure"), values, system=True)


def _stored(database: Database) -> dict[str, str]:
    return {row["name"]: row["statement"] for row in database.read("install/stored")}


def test_installing_twice_changes_nothing(database: Database) -> None:
    again = install(database)
    assert again.procedures == _NAMES
    assert (again.added, again.upgraded, again.removed) == ((), (), ())
    assert _stored(database) == {made.name: made.text for made in _PROCEDURES}


@pytest.mark.slow
def test_upgrading(installed: Database) -> None:
    """A statement of an older release is replaced, and one that is no more is dropped."""
    _define(installed, "kgp.seeds(old :: STRING) :: (older :: STRING)", "RETURN $old AS older")
    _define(installed, "kgp.gone() :: (older :: INT)", "RETURN 1 AS older")
    done = install(installed)
    assert done.upgraded == ("custom.kgp.seeds",)
    assert done.removed == ("custom.kgp.gone",)
    assert done.added == ()
    # At once, without a restart.
    with pytest.raises(Neo4jError, match="there is no corpus named no such"):
        rows(installed, "CALL custom.kgp.seeds('x', 'no such', {limit: 5})")
    with pytest.raises(Neo4jError):
        rows(installed, "CALL custom.kgp.gone()")
    assert "kgp.gone" not in _stored(installed)


@pytest.mark.slow
def test_removing_and_installing_again(installed: Database, corpus: str) -> None:
    lighthouse(installed, corpus)
    gone = uninstall(installed)
    assert tuple(sorted(gone.removed)) == _NAMES
    assert gone.procedures == ()
    assert _stored(installed) == {}
    # Opening the database again respects that they were removed.
    open_database_again(installed).close()
    assert _stored(installed) == {}
    with pytest.raises(Neo4jError):
        rows(installed, "CALL custom.kgp.help()")
    # The graph, its indexes and the statements that the driver runs are still there.
    found = installed.read("procedures/seeds", question="harbour", corpus=corpus)
    assert len(found) == 2
    assert uninstall(installed).removed == ()
    again = install(installed)
    assert again.added == _NAMES
    assert len(rows(installed, "CALL custom.kgp.help()")) == len(_NAMES)
    (state,) = installed.read("install/state")
    assert state["procedures"] == fingerprint("procedures")
    assert state["schema"] == fingerprint("schema")


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize(
    ("layout", "said"), [(LAYOUT + 1, "a newer kgp-neo4j"), (LAYOUT - 1, "an earlier kgp-neo4j")]
)
def test_a_database_of_another_layout_is_left_alone(
    installed: Database, monkeypatch: pytest.MonkeyPatch, layout: int, said: str
) -> None:
    for name, value in environment(installed.connection).items():
        monkeypatch.setenv(name, value)
    (before,) = installed.read("install/state")
    other = before | {"layout": layout, "version": "99.0"}
    installed.write("install/remember", **other)
    try:
        for opened in (open_database, open_to_read):
            with pytest.raises(DatabaseError, match=rf"{said} \(99.0\) made the database"):
                opened()
        assert installed.read("install/state") == [other]
    finally:
        installed.write("install/remember", **before)


@pytest.mark.slow
def test_procedures_of_others_stay(installed: Database) -> None:
    _define(installed, "other.thing() :: (number :: INT)", "RETURN 7 AS number")
    try:
        install(installed)
        uninstall(installed)
        install(installed)
        assert rows(installed, "CALL custom.other.thing()") == [{"number": 7}]
    finally:
        installed.define(
            statement("install/drop"),
            {"name": "other.thing", "database": installed.connection.database},
            system=True,
        )


@pytest.mark.parametrize("made", _PROCEDURES, ids=lambda made: made.name)
def test_show_procedures(database: Database, made: Statement) -> None:
    """The head of the file is what SHOW PROCEDURES shows."""
    (row,) = [r for r in database.read("inspect/procedures") if r["name"] == f"custom.{made.name}"]
    assert row["description"] == made.documentation
    assert row["mode"] == made.mode
    for field in (*made.inputs, *made.outputs):
        assert f"{field.name} " in row["signature"]
    assert row["signature"].index(") :: (") > 0


@pytest.fixture(scope="module")
def demo_trace(database: Database, demo_corpus: str) -> Iterator[str]:
    """A traversal kept of the demo's corpus."""
    kept = keep_one(database, demo_corpus)
    yield kept
    remove(database, [kept])


@pytest.mark.parametrize("made", _PROCEDURES, ids=lambda made: made.name)
def test_the_example_runs(
    database: Database, demo_graph: str, demo_trace: str, made: Statement
) -> None:
    # The demo's corpus and its knowledge graph have one name.
    query = made.example.replace("'demo'", f"'{demo_graph}'")
    if any(option.name == "timeout" for option in made.options):  # on a busy machine too
        query = query.replace("{", "{timeout: 60000, ", 1)
    assert rows(database, query), f"nothing comes of {query}"


def test_missing_plugins_are_named() -> None:
    none = Capabilities("5.26.0", "community", gds=False, apoc=False, apoc_extended=False)
    assert [sentence.split(":")[0] for sentence in missing(none)] == [
        "No Graph Data Science",
        "No APOC Core",
        "No APOC Extended",
    ]
    every = Capabilities("5.26.0", "community", gds=True, apoc=True, apoc_extended=True)
    assert missing(every) == []


def test_the_same_index_may_be_made_by_several_at_once(database: Database) -> None:
    """Neo4j lets them meet in a deadlock, or refuses all but one in spite of IF NOT EXISTS."""
    label = f"Race{uuid.uuid4().hex[:8]}"
    index = dataclasses.replace(
        statement("schema/tables"),
        text=f"CREATE INDEX {label} IF NOT EXISTS FOR (n:{label}) ON (n.key)",
    )
    unique = dataclasses.replace(
        index,
        text=f"CREATE CONSTRAINT {label}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE",
    )
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(database.define, m, {}) for m in (index, unique) * 12]:
            done.result()
    assert rows(database, "SHOW INDEXES YIELD name WHERE name = $n RETURN name", n=label)
    for text in (f"DROP INDEX {label}", f"DROP CONSTRAINT {label}_id"):
        database.define(dataclasses.replace(index, text=text), {})


def test_the_indexes_of_a_corpus_may_be_made_by_several_at_once(
    database: Database, corpus: str
) -> None:
    scope = f"c{uuid.uuid4().hex[:8]}"
    rows(
        database,
        "CREATE (:Corpus {name: $c, scope: $s, language: 'english'}), "
        "(:Passage {id: $c, corpus: $c, embedding: [1.0, 0.0]})", c=corpus, s=scope,
    )  # fmt: skip
    with ThreadPoolExecutor(6) as pool:
        for made in [
            pool.submit(database.make_indexes, "load/own_indexes", corpus=corpus) for _ in range(6)
        ]:
            made.result()
    found = rows(database, "SHOW INDEXES YIELD name WHERE name ENDS WITH $s RETURN name", s=scope)
    assert len(found) == 2
    database.write_in_batches("load/drop_own_indexes", corpus=corpus)


def test_what_follows_a_write_waits_for_it(database: Database, corpus: str) -> None:
    """In a cluster a follower answers only with what was written before: bookmarks go along."""
    with Database(database.connection) as own:
        kept = own.driver.execute_query_bookmark_manager
        empty: dict[str, Any] = {"corpus": corpus, "scope": "c0", "rows": []}
        seen = [set(kept.get_bookmarks())]
        own.write("load/documents", **empty)
        seen.append(set(kept.get_bookmarks()))
        own.write("connect/begin", corpus=corpus, graph="keywords")
        seen.append(set(kept.get_bookmarks()))
        own.read("inspect/names")
        own.write_in_batches("load/delete_corpus", corpus=corpus)
        seen.append(set(kept.get_bookmarks()))
    assert all(before != after for before, after in itertools.pairwise(seen))
