"""Spark with real executors: the graph of the single machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from graphs import rows
from pyspark.sql import SparkSession

from kgp_neo4j import Corpus
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations import spark
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, InputError
from kgp_neo4j.types.settings import SimilaritySettings

pytestmark = pytest.mark.slow

_TOWNS = (
    "Aldmoor Brackwater Corlan Dunfold Eastmere Fennick Garrowby Holmsay Inchlow Jarrick Kelsham "
    "Lorvik Marlow Nethercombe Orsay Penrick Quernhill Ravensby Skelmer Thornlea"
).split()
_CRAFTS = ("shipwright", "mason", "weaver", "surveyor", "printer")
#: Times, and which run made a graph.
_TIMES = {"createdAt", "loadedAt", "madeAt", "countedBy"}
#: Floats that encoders and GDS round differently from run to run.
_VECTORS = {"embedding"}


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A cluster of two executors on this machine; a task that dies is tried four times.

    Its parameter says whether workers wait for their next task, as is usual.
    """
    made = spark.make_session(
        "local-cluster[2,1,1024]",
        ui_enabled="false",
        sql_shuffle_partitions="2",
        python_worker_reuse=getattr(request, "param", "true"),
    )
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Passages on twenty towns: each has a bridge, its builder and a library beside it."""
    passages = []
    for place, town in enumerate(_TOWNS):
        other, craft = _TOWNS[(7 * place + 3) % 20], _CRAFTS[place % 5]
        builder = f"Isobel {town[::-1].title()}"
        passages += [
            (town, f"{town} is a town of {100 * place + 900} people on the coast near {other}."),
            (f"{town} Bridge", f"The {town} Bridge was built by {builder} in {1800 + 3 * place}."),
            (builder, f"{builder} was a {craft} from {other} who worked on the {town} Bridge."),
            (f"{town} Library", f"The {town} Library keeps {builder}'s drawings as a {craft}."),
        ]
    path = tmp_path / "corpus.jsonl"
    lines = [json.dumps({"title": title, "text": text}) for title, text in passages]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def long(file: Path) -> Path:
    """A document of several passages, with the title and some texts of others."""
    read = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    parts = [f"## {row['title']}\n\n{row['text']}" for row in read[:12]]
    path = file.with_name("long.md")
    path.write_text("\n\n".join([f"# {read[20]['title']}", *parts]), encoding="utf-8")
    return path


def _everything(database: Database, corpus: str) -> dict[Any, Any]:
    """Return all nodes and edges of a corpus with all that they say but times and vectors."""

    def key(properties: dict[str, Any]) -> Any:
        return next(properties[k] for k in ("id", "text", "name", "type") if properties.get(k))

    hidden = _TIMES | _VECTORS
    nodes = rows(
        database,
        "MATCH (n) WHERE n.corpus = $c OR (n:Corpus AND n.name = $c) "
        "RETURN labels(n) AS labels, properties(n) AS p",
        c=corpus,
    )
    edges = rows(
        database,
        "MATCH (a {corpus: $c})-[r]->(b) WHERE NOT type(r) STARTS WITH 'SIMILAR' RETURN "
        "properties(a) AS a, type(r) AS type, properties(b) AS b, properties(r) AS p",
        c=corpus,
    )
    made: dict[Any, Any] = {
        (*sorted(n["labels"]), key(n["p"])): {k: v for k, v in n["p"].items() if k not in hidden}
        for n in nodes
    }
    made |= {(key(e["a"]), e["type"], key(e["b"])): e["p"] for e in edges}
    assert len(made) == len(nodes) + len(edges)  # nothing twice
    return made


def _similar(database: Database, corpus: str) -> set[tuple[str, str]]:
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[:SIMILAR_ST]->(q) RETURN p.id AS p, q.id AS q",
        c=corpus,
    )
    return {(row["p"], row["q"]) for row in found}


def test_spark_makes_the_graph_of_one_machine_once_and_again(
    database: Database, corpus: str, session: SparkSession, file: Path, long: Path
) -> None:
    report = load(database, [file, long], corpus)
    assert report.passages > 81
    connect(database, corpus)
    expected, near = _everything(database, corpus), _similar(database, corpus)
    delete_corpus(database, corpus)

    loaded = spark.load(spark.read_documents(session, [file, long]), corpus, database=database)
    assert (loaded.documents, loaded.new) == (81, 81)
    made = spark.connect(session, corpus, database=database)
    assert made.embedded == report.passages
    assert _everything(database, corpus) == expected
    assert len(_similar(database, corpus) & near) >= 0.98 * len(near) > 0

    again = spark.load(spark.read_documents(session, [file, long]), corpus, database=database)
    assert (again.new, again.unchanged) == (0, 81)

    questions = [("a", "Where is the Corlan Library?"), ("b", "Who built the Skelmer Bridge?")]
    frame = session.createDataFrame(questions, "id string, question string")
    # More than a traversal finds by default.
    found = spark.retrieve(frame, corpus, k=40, database=database).collect()
    for id_, question in questions:
        own = Corpus(corpus, database=database).retrieve(question).passages[:3]
        passages = [(row["passage"], row["rank"]) for row in found if row["id"] == id_]
        assert passages[:3] == [(p.id, rank) for rank, p in enumerate(own, 1)]
        assert len(passages) == 40


def test_frames_of_texts_and_triples_are_loaded_and_bad_ones_refused(
    database: Database, corpus: str, session: SparkSession
) -> None:
    good = session.createDataFrame(
        [("1", "Ada", "Ada built the lighthouse."), ("2", "Bo", "Bo painted it.")],
        "key string, title string, text string",
    )
    bad = good.union(session.createDataFrame([("3", "Cleo", None)], good.schema))
    with pytest.raises(InputError, match="no key or no text"):
        spark.load(spark.documents_of(bad, "people"), corpus, database=database)
    done = spark.load(spark.documents_of(bad, "people"), corpus, keep_going=True, database=database)
    assert (done.documents, len(done.errors)) == (2, 1)
    with pytest.raises(ConfigurationError, match="no column text"):
        spark.documents_of(good.drop("text"), "people")
    with pytest.raises(CorpusError):
        spark.connect(session, f"{corpus} elsewhere", database=database)
    with pytest.raises(ConfigurationError, match=r"runs here on local-cluster.*session\.stop"):
        spark.make_session("local[2]")
    with pytest.raises(ConfigurationError, match="knn-mdr"):
        spark.connect(session, corpus, edges=["knn-mdr"], database=database)

    triples = session.createDataFrame(
        [("Ada", "built", "Lighthouse"), ("Bo", "painted", "Lighthouse")] * 2,
        "head string, relation string, tail string",
    )
    loaded = spark.load_kg(triples, corpus, database=database)
    again = spark.load_kg(triples, corpus, database=database)
    delete_graph(database, corpus)
    assert (loaded.entities, loaded.relationships, again.new) == (3, 2, 0)


def test_a_similarity_graph_that_cannot_be_made_is_refused_before_anything_begins(
    database: Database, corpus: str, session: SparkSession, file: Path
) -> None:
    load(database, [file], corpus)
    with pytest.raises(ConfigurationError, match="neighbours is 5000"):
        spark.connect(
            session, corpus, similarity=SimilaritySettings(neighbours=5000), database=database
        )
    assert rows(database, "MATCH (g:Graph {corpus: $c}) RETURN g", c=corpus) == []


def _processes(addresses: set[str]) -> Iterator[psutil.Process]:
    """Yield the executors and workers of Spark that have these connections to the database."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            command = " ".join(process.cmdline())
            if ("pyspark.daemon" in command or "CoarseGrainedExecutor" in command) and any(
                f"127.0.0.1:{c.laddr.port}" in addresses for c in process.net_connections()
            ):
                yield process


def _executor(process: psutil.Process) -> psutil.Process:
    """Return the executor that a process works for, or is."""
    (found,) = (
        p for p in [process, *process.parents()] if "CoarseGrainedExecutor" in " ".join(p.cmdline())
    )
    return found


def _killed_while_it_writes(
    database: Database, held_by: str, values: dict[str, Any], kill: str, run: Callable[[], object]
) -> None:
    """Run, and kill the worker or the executor that waits for what `held_by` has written."""
    failed: list[BaseException] = []

    def told() -> None:
        try:
            run()
        except BaseException as error:
            failed.append(error)

    with database.driver.session() as other, other.begin_transaction() as held:
        held.run(held_by, values).consume()
        running = threading.Thread(target=told)
        running.start()
        waiting = (
            "SHOW TRANSACTIONS YIELD status, currentQuery, clientAddress AS address "
            "WHERE status STARTS WITH 'Blocked' RETURN address"
        )
        ends = time.monotonic() + 90
        killed: list[psutil.Process] = []
        while not killed and time.monotonic() < ends and not failed:
            time.sleep(0.1)
            killed = list(_processes({row["address"] for row in rows(database, waiting)}))
        if kill == "executor":
            killed = list(set(map(_executor, killed)))
        for process in killed:
            os.kill(process.pid, signal.SIGKILL)
        held.rollback()
    running.join(120)
    assert not failed
    assert killed
    assert not running.is_alive()


# A dead worker that is taken from those that wait is a failed try more.
@pytest.mark.parametrize("session", ["false"], indirect=True)
def test_a_worker_that_dies_while_it_loads_is_replaced_and_the_graph_is_the_same(
    database: Database, corpus: str, session: SparkSession, file: Path
) -> None:
    whole = file.read_text(encoding="utf-8")
    load(database, [file], corpus)
    expected = _everything(database, corpus)
    delete_corpus(database, corpus)
    file.write_text(whole.replace("Corlan is a town", "It is a town", 1), "utf-8")
    load(database, [file], corpus)
    file.write_text(whole, encoding="utf-8")
    documents = spark.read_documents(session, [file])
    _killed_while_it_writes(
        database, "MATCH (d:Document {corpus: $c}) WHERE d.title = 'Corlan' SET d.h = 1",
        {"c": corpus}, "worker", lambda: spark.load(documents, corpus, database=database),
    )  # fmt: skip
    assert _everything(database, corpus) == expected


@pytest.mark.parametrize("session", ["false"], indirect=True)
def test_an_executor_that_dies_while_it_embeds_is_replaced_and_the_graph_is_the_same(
    database: Database, corpus: str, session: SparkSession, file: Path
) -> None:
    load(database, [file], corpus)
    connect(database, corpus, edges=["knn-st"])
    expected, near = _everything(database, corpus), _similar(database, corpus)
    delete_corpus(database, corpus)
    load(database, [file], corpus)
    _killed_while_it_writes(
        database, "MATCH (p:Passage {corpus: $c, position: 0}) SET p.held = 1", {"c": corpus},
        "executor", lambda: spark.connect(session, corpus, edges=["knn-st"], database=database),
    )  # fmt: skip
    assert _everything(database, corpus) == expected
    assert len(_similar(database, corpus) & near) >= 0.98 * len(near)
