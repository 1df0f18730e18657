"""The schema, the plugin and its procedures as a user calls them, and what memory they need."""

import contextlib
import dataclasses
import hashlib
import itertools
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import build_plugin
import pytest
from commands import environment, prints, refuses
from graphs import rows
from neo4j import Query
from neo4j.exceptions import Neo4jError
from small_graphs import keep_one

from kgp_neo4j import Database, install, open_database
from kgp_neo4j.corpus.answer.traces import remove
from kgp_neo4j.corpus.load import stored
from kgp_neo4j.graphdb.database import LAYOUT, missing, needs
from kgp_neo4j.graphdb.plugin import JAR, plugin_jar
from kgp_neo4j.graphdb.server.startup import ServerStatus
from kgp_neo4j.graphdb.statements import Statement, fingerprint, folder, statement
from kgp_neo4j.types.corpus import Capabilities
from kgp_neo4j.types.errors import DatabaseError

pytestmark = pytest.mark.newest

_PROCEDURES = folder("procedures")
_NAMES = tuple(sorted(f"custom.{made.name}" for made in _PROCEDURES))


def test_installing_twice_changes_nothing(database: Database) -> None:
    (before,) = database.read("install/state")
    done = install(database)
    assert done.procedures == _NAMES
    assert done.note == ""
    assert database.read("install/state") == [before]
    assert before["schema"] == fingerprint("schema")


def test_the_plugin_is_made_of_these_statements(tmp_path: Path) -> None:
    """Whoever builds it anew has the same bytes."""
    source = build_plugin.java_source()
    kept = Path(build_plugin.__file__).with_name("Procedures.java").read_text(encoding="utf-8")
    assert kept == source, "run `python plugin/build_plugin.py`"
    build_plugin.build(tmp_path, source)
    made = (tmp_path / JAR).read_bytes()
    assert made == plugin_jar().read_bytes()
    assert len(made) < 200_000
    told = plugin_jar().with_name(f"{JAR}.sha256").read_text(encoding="ascii")
    assert told == f"{hashlib.sha256(made).hexdigest()}  {JAR}\n"


def test_the_plugin_is_copied(tmp_path: Path) -> None:
    assert str(tmp_path / JAR) in prints("install", "--jar", str(tmp_path))
    assert (tmp_path / JAR).read_bytes() == plugin_jar().read_bytes()
    assert "there is no folder" in refuses("install", "--jar", str(tmp_path / "none"))


def test_a_call_belongs_to_the_transaction_of_its_caller(database: Database, corpus: str) -> None:
    with database.driver.session() as session, session.begin_transaction() as transaction:
        transaction.run("CREATE (:Corpus {name: $c}), (:Question {id: $c, corpus: $c})", c=corpus)
        called = "CALL custom.kgp.trace($c) YIELD question RETURN question.corpus AS corpus"
        assert transaction.run(called, c=corpus).single(strict=True)["corpus"] == corpus
        transaction.rollback()
    with pytest.raises(Neo4jError, match=f"there is no trace {corpus}"):
        rows(database, "CALL custom.kgp.trace($c)", c=corpus)


def test_a_call_ends_with_its_time(database: Database, demo_graph: str) -> None:
    slow = "UNWIND range(1, 1000000) AS n CALL custom.kgp.help() YIELD procedure RETURN count(*)"
    with database.driver.session() as session, pytest.raises(Neo4jError, match="time"):
        session.run(Query(slow, timeout=1.0)).consume()


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize(
    ("layout", "said"), [(LAYOUT + 1, "a newer kgp-neo4j"), (LAYOUT - 1, "an earlier kgp-neo4j")]
)
def test_a_database_of_another_layout_is_left_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch, layout: int, said: str
) -> None:
    for name, value in environment(database.connection).items():
        monkeypatch.setenv(name, value)
    (before,) = database.read("install/state")
    other = before | {"layout": layout, "version": "99.0"}
    database.write("install/remember", **other)
    try:
        for read_only in (False, True):
            with pytest.raises(DatabaseError, match=rf"{said} \(99.0\) made the database"):
                open_database(read_only=read_only)
        assert database.read("install/state") == [other]
    finally:
        database.write("install/remember", **before)


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
def test_examples_run(
    database: Database, demo_graph: str, demo_trace: str, made: Statement
) -> None:
    # The demo's corpus and its knowledge graph have one name.
    query = made.example.replace("'demo'", f"'{demo_graph}'")
    if any(option.name == "timeout" for option in made.options):  # on a busy machine too
        query = query.replace("{", "{timeout: 60000, ", 1)
    assert rows(database, query), f"nothing comes of {query}"


def test_missing_plugins_are_named() -> None:
    (older,) = missing(Capabilities("5.26.0", "community", True, _NAMES, "of another release"))
    assert "of another release" in older
    assert str(plugin_jar()) in older
    every = Capabilities("5.26.0", "community", True, _NAMES, fingerprint("procedures"))
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
        for done in [pool.submit(database.define, m) for m in (index, unique) * 12]:
            done.result()
    assert rows(database, "SHOW INDEXES YIELD name WHERE name = $n RETURN name", n=label)
    for text in (f"DROP INDEX {label}", f"DROP CONSTRAINT {label}_id"):
        database.define(dataclasses.replace(index, text=text))


def test_own_indexes_may_be_made_by_several_at_once(database: Database, corpus: str) -> None:
    scope = f"c{uuid.uuid4().hex[:8]}"
    rows(
        database,
        "CREATE (:Corpus {name: $c, scope: $s, language: 'english'}), "
        "(:Passage {id: $c, corpus: $c, embedding: [1.0, 0.0]})", c=corpus, s=scope,
    )  # fmt: skip
    with ThreadPoolExecutor(6) as pool:
        for made in [pool.submit(stored.make_indexes, database, corpus) for _ in range(6)]:
            made.result()
    found = rows(database, "SHOW INDEXES YIELD name WHERE name ENDS WITH $s RETURN name", s=scope)
    assert len(found) == 2
    stored.drop_indexes(database, corpus)


def test_a_statement_that_fails_disturbs_no_other(database: Database) -> None:
    """Its connection is back in the pool at once, where another thread takes it."""
    fails = dataclasses.replace(statement("inspect/names"), text="RETURN 1 / 0 AS x")

    def run(at: int) -> None:
        if at % 2:
            database.read("inspect/names")
            return
        with pytest.raises(DatabaseError, match="by zero"):
            database.define(fails)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(run, range(2_000)))


def test_a_write_whose_reply_is_lost_is_not_run_again(database: Database, corpus: str) -> None:
    server = urlsplit(database.connection.uri)
    count = f"MATCH (n:Document {{corpus: '{corpus}'}}) RETURN count(n) AS n"
    listening, lost = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def pass_on(given: socket.socket, taken: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := given.recv(1 << 16):
                if b"CREATE (:Document" in data:
                    lost.set()
                elif lost.is_set():
                    continue  # of the server's: it is not passed on
                taken.sendall(data)
                if lost.is_set():
                    while not rows(database, count)[0]["n"]:
                        time.sleep(0.01)
                    given.shutdown(socket.SHUT_RDWR)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while ends := (
                listening.accept()[0],
                socket.create_connection((server.hostname, server.port)),
            ):
                for pair in (ends, ends[::-1]):
                    threading.Thread(target=pass_on, args=pair, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    uri = f"bolt://127.0.0.1:{listening.getsockname()[1]}"
    writes = dataclasses.replace(
        statement("inspect/names"), text=f"CREATE (:Document {{corpus: '{corpus}'}})"
    )
    through = dataclasses.replace(database.connection, uri=uri)
    with Database(through) as own, pytest.raises(DatabaseError):
        own.define(writes)
    listening.close()
    assert rows(database, count) == [{"n": 1}]


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
        own.write_in_batches("load/delete_rest", corpus=corpus)
        seen.append(set(kept.get_bookmarks()))
    assert all(before != after for before, after in itertools.pairwise(seen))


_GIBI = 2**30


class _Counting(Database):
    """A real database with one more corpus, of a million passages, in its counts alone."""

    def read(self, path: str, **values: Any) -> list[dict[str, Any]]:
        found = super().read(path, **values)
        if path == "inspect/embedded":
            large = {"name": "large", "corpus": True, "embeddings": 1_000_000, "dimension": 384}
            large["encoder"] = "any"
            return [large, *found]
        return found


def _status(**given: int) -> ServerStatus:
    return ServerStatus(True, "home", "password", "data", "5.26", **given)


def test_what_fits_is_not_told(database: Database) -> None:
    server = _status(store=_GIBI, page_cache=2048, heap=4096)
    room = needs(database, server, 24 * _GIBI)
    assert not room["short"]
    counted = sum(row["embeddings"] for row in database.read("inspect/embedded"))
    assert room["vectors"] >= counted * 4


def test_what_does_not_fit_is_told(database: Database) -> None:
    with _Counting(database.connection) as large:
        server = _status(store=9 * _GIBI, page_cache=4096, heap=4096)
        room = needs(large, server, 8 * _GIBI)
        assert 2 * _GIBI < room["vectors"] < 3 * _GIBI
        disk, vectors, hint = room["short"]
        assert "9.0 GiB on disk and the page cache holds 4.0 GiB" in disk
        assert "0.0 GiB are left" in vectors
        assert "--memory" in hint
        # A server of the user's own: its machine is not known.
        assert not needs(large)["short"]
