"""Installing, upgrading and removing the procedures, and calling them as a Cypher user would."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest
from graphs import rows
from neo4j.exceptions import Neo4jError
from small_graphs import keep_one, key, lighthouse

from kgp_neo4j.answer.traces import remove
from kgp_neo4j.database import Database
from kgp_neo4j.installation import _ready, install, missing, uninstall
from kgp_neo4j.queries import Statement, fingerprint, folder, statement
from kgp_neo4j.records import Capabilities

_PROCEDURES = folder("procedures")
_NAMES = tuple(sorted(f"custom.{made.name}" for made in _PROCEDURES))


@pytest.fixture
def installed(database: Database) -> Iterator[Database]:
    """The database as it should be, whatever a test of installing left behind."""
    yield database
    install(database)


def open_database_again(database: Database) -> Database:
    """Open the database as the embedded one, as the next command would."""
    return _ready(dataclasses.replace(database.connection, embedded=True))


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


def test_upgrading(installed: Database) -> None:
    """A statement of an older release is replaced, and one that is no more is dropped."""
    _define(installed, "kgp.seeds(old :: STRING) :: (older :: STRING)", "RETURN $old AS older")
    _define(installed, "kgp.gone() :: (older :: INT)", "RETURN 1 AS older")
    done = install(installed)
    assert done.upgraded == ("custom.kgp.seeds",)
    assert done.removed == ("custom.kgp.gone",)
    assert done.added == ()
    # At once, without a restart.
    assert rows(installed, "CALL custom.kgp.seeds('x', 'no such', 5)") == []
    with pytest.raises(Neo4jError):
        rows(installed, "CALL custom.kgp.gone()")
    assert "kgp.gone" not in _stored(installed)


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
    (row,) = [r for r in database.read("install/listed") if r["name"] == f"custom.{made.name}"]
    assert row["description"] == made.description
    assert row["mode"] == made.mode
    for field in (*made.inputs, *made.outputs):
        assert f"{field.name} " in row["signature"]
    assert row["signature"].index(") :: (") > 0


def _plain(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows in one form: nodes as ids, relationships as types, numbers rounded."""

    def plain(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, 6)
        if isinstance(value, tuple):  # a relationship, as `data` gives it
            return value[1]
        if hasattr(value, "type"):
            return value.type
        return value["id"] if hasattr(value, "get") and "id" in value else value

    return [{name: plain(value) for name, value in row.items()} for row in found]


def _calls(corpus: str) -> dict[str, dict[str, Any]]:
    a1, b1 = key(corpus, "a1", "b1")
    return {
        "candidate_signals": {
            "frontier": [a1],
            "others": [b1],
            "corpus": corpus,
            "vector": [0.0, 1.0],
            "words": ["harbour", "born"],
            "phrases": ["harbour"],
            "named": [b1],
            "hits": {b1: 0.5},
            "edges": [],
            "inbound": 5,
            "sharing": 5,
        },
        "help": {},
        "hybrid_seeds": {
            "question": "Isobel Tarn's harbour",
            "vector": [0.0, 1.0],
            "corpus": corpus,
            "limit": 4,
            "named": 0.3,
        },
        "named_titles": {"question": "Isobel Tarn in New York", "corpus": corpus, "limit": 5},
        "neighbours": {"node": a1, "edges": ["SHARES_KEYWORD"], "limit": 5},
        "next_evidence": {
            "frontier": [{"passage": a1, "match": 1.0, "text": "harbour"}],
            "corpus": corpus,
            "visited": [a1],
            "edges": [],
            "branching": 5,
            "outward": 0.4,
            "inward": 0.2,
        },
        "path_edges": {"pairs": [[a1, b1]], "edges": []},
        "question_signals": {
            "question": "Isobel Tarn's harbour",
            "vector": [0.0, 1.0],
            "corpus": corpus,
            "depth": 3,
            "hits": 5,
        },
        "retrieve": {
            "question": "Who designed the light?",
            "corpus": corpus,
            "settings": {"budget": 3},
        },
        "seeds": {"question": "harbour", "corpus": corpus, "limit": 5},
        "seeds_by_vector": {"vector": [0.6, 0.8], "corpus": corpus, "limit": 3},
        "show": {"passages": [a1, b1]},
    }


def test_every_procedure_is_called_here() -> None:
    tested = {f"cypher/procedures/{name}.cypher" for name in _calls("x")}
    assert {made.path for made in _PROCEDURES} - tested <= _CALLED_ELSEWHERE


#: Procedures whose rows another file compares.
_CALLED_ELSEWHERE = {
    f"cypher/procedures/{name}.cypher"
    for name in (
        *("around_table", "cells", "page", "show_structure", "table", "tables"),
        *("evidence", "link_entities", "neighbourhood", "paths", "show_graph"),
        "trace",
    )
}


@pytest.mark.parametrize("name", _calls("x"))
def test_a_call_gives_the_rows_of_the_file(database: Database, corpus: str, name: str) -> None:
    lighthouse(database, corpus)
    made = statement(f"procedures/{name}")
    values = _calls(corpus)[name]
    assert list(values) == [field.name for field in made.inputs]
    given = ", ".join(f"${field.name}" for field in made.inputs)
    called = rows(database, f"CALL custom.{made.name}({given})", **values)
    run = database.read(f"procedures/{name}", **values)
    assert called
    assert _plain(called) == _plain(run)


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
    assert rows(database, query), f"nothing comes of {query}"


def test_defaults_are_those_of_the_header(database: Database, demo_corpus: str) -> None:
    found = rows(
        database, "CALL custom.kgp.seeds('the lighthouse at sea', $corpus)", corpus=demo_corpus
    )
    again = rows(
        database, "CALL custom.kgp.seeds('the lighthouse at sea', $corpus, 10)", corpus=demo_corpus
    )
    assert found == again


def test_missing_plugins_are_named() -> None:
    none = Capabilities("5.26.0", "community", gds=False, apoc=False, apoc_extended=False)
    assert [sentence.split(":")[0] for sentence in missing(none)] == [
        "No Graph Data Science",
        "No APOC Core",
        "No APOC Extended",
    ]
    every = Capabilities("5.26.0", "community", gds=True, apoc=True, apoc_extended=True)
    assert missing(every) == []
