"""Sessions of Spark, functions of ours on their executors, and frames in and out of Neo4j.

Functions get and return plain rows: the Arrow of Spark 3.5, which `mapInPandas` needs, does not run
on Java 21, which this package brings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql import functions as f

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.integrations.spark_connector import connector_jar
from kgp_neo4j.types import errors
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError, KgpError

__all__ = [
    "Tables",
    "block",
    "make_session",
    "mapped",
    "opened",
    "plain_errors",
    "reached",
    "texts_of",
    "together",
]

#: Rows in a transaction of the connector.
_BATCH = 5_000
#: Begins the line in which an executor's error comes back.
_MARK = "kgp-neo4j-error"


def make_session(master: str | None = None, **settings: str) -> SparkSession:
    """Return a session with Neo4j's connector, or the one that runs already.

    `master` says where Spark runs; by default what `spark-submit` says, else this machine.
    `settings` are Spark's own, with "_" for ".". Without JAVA_HOME, Spark runs on the Java that
    this package brings; on this machine alone, it listens on loopback, unless SPARK_LOCAL_IP says
    otherwise, its workers are of the Python that runs here, unless PYSPARK_PYTHON does, and it
    shuffles into two parts a core. Under `spark-submit` give it the jar yourself (docs/spark.md).

    Raises ConfigurationError where one runs already on another master.
    """
    if "JAVA_HOME" not in os.environ:
        from kgp_neo4j.graphdb.server.java import find_java

        os.environ["JAVA_HOME"] = str(find_java().home)
    if "PYSPARK_GATEWAY_PORT" not in os.environ and (master or "local").startswith("local"):
        # Else Spark listens at the address of the machine's name.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        # Else it is the `python3` that is found first, which may not have this package.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        # Else every shuffle, however small, is 200 tasks.
        settings.setdefault("sql_shuffle_partitions", str(2 * (os.cpu_count() or 1)))
    builder = SparkSession.builder.appName("kgp-neo4j").config("spark.jars", str(connector_jar()))
    if master is not None:
        builder = builder.master(master)
    for name, value in settings.items():
        builder = builder.config(f"spark.{name.replace('_', '.')}", value)
    session = builder.getOrCreate()
    if master not in (None, session.sparkContext.master):
        raise ConfigurationError(
            f"Spark runs here on {session.sparkContext.master}, so that it cannot be started on "
            f"{master}. Stop that session first (`session.stop()`), or use it."
        )
    return session


@contextmanager
def opened(database: Database | None) -> Iterator[Database]:
    """Use a database that is given, or open that of `open_database` and close it."""
    if database is not None:
        yield database
        return
    with open_database() as own:
        yield own


@contextmanager
def reached(connection: Connection) -> Iterator[Database]:
    """Open the database on an executor; the password came with the task, and is in no log."""
    with Database(connection) as database:
        yield database


# --- Our functions on executors ---


def mapped(
    frame: DataFrame, function: Callable[[Iterator[Row]], Iterable[Sequence[Any]]], schema: str
) -> DataFrame:
    """Return the rows that a function makes of each partition's rows, as a frame of a schema."""
    made = frame.rdd.mapPartitions(_telling(function))
    return frame.sparkSession.createDataFrame(made, schema, verifySchema=False)


def together(
    first: DataFrame,
    second: DataFrame,
    function: Callable[[list[Row], list[Row]], Iterable[Sequence[Any]]],
    schema: str,
    blocks: int,
) -> DataFrame:
    """Return the rows that a function makes of both frames' rows of each `block`."""

    def all_blocks(pairs: Iterator[Any]) -> Iterator[Sequence[Any]]:
        for _, (left, right) in pairs:
            yield from function(list(left), list(right))

    keyed = [each.rdd.keyBy(lambda row: row["block"]) for each in (first, second)]
    made = keyed[0].cogroup(keyed[1], blocks).mapPartitions(_telling(all_blocks))
    return first.sparkSession.createDataFrame(made, schema, verifySchema=False)


def block(column: str, blocks: int) -> Any:
    """Return the block, from 0 to `blocks`, that an id belongs to."""
    return f.pmod(f.crc32(f.col(column)), f.lit(blocks)).cast("int").alias("block")


def _telling(function: Callable[[Iterator[Any]], Iterable[Any]]) -> Callable[..., Iterator[Any]]:
    """Return a function whose errors of our family name themselves in Spark's report."""

    def run(rows: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from function(rows)
        except KgpError as error:
            kind = type(error).__name__
            raise RuntimeError(f"{_MARK} {kind} {str(error)!r}") from None

    return run


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise what failed on an executor as an error of our family, in one line."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as failure:
        text = str(failure)
        if _MARK in text:
            kind, _, said = text.partition(_MARK)[2].lstrip().splitlines()[0].partition(" ")
            raise getattr(errors, kind, KgpError)(said.strip().strip("'\"")) from None
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        cause = next((x for x in reversed(lines) if x.startswith("Caused by:")), lines[0])
        raise DatabaseError(
            f"Spark gave up: {cause[:500]}",
            hint="What was written stays; running it again finishes it.",
        ) from failure


# --- Frames in and out of the database ---


def texts_of(frame: DataFrame, *columns: str) -> DataFrame:
    """Return columns of a frame as texts; raises ConfigurationError where one is missing."""
    if missing := sorted(set(columns) - set(frame.columns)):
        raise ConfigurationError(
            f"the frame has no column {', '.join(missing)}",
            hint=f"Name its columns {', '.join(columns[:-1])} and {columns[-1]}.",
        )
    return frame.select(*(f.col(name).cast("string").alias(name) for name in columns))


class Tables:
    """Reads and writes frames by Neo4j's connector: nodes by their keys, and edges between them.

    What is written twice is there once.
    """

    def __init__(self, spark: SparkSession, connection: Connection) -> None:
        self._spark = spark
        # Spark hides the values of options with "password" in their names.
        self._options = {
            "url": connection.uri,
            "authentication.basic.username": connection.username,
            "authentication.basic.password": connection.password,
            "database": connection.database,
            "batch.size": str(_BATCH),
        }
        #: Partitions that write at once.
        self._writers = spark.sparkContext.defaultParallelism

    def nodes(self, label: str, corpus: str, schema: str) -> DataFrame:
        """Return properties of a corpus's nodes, named with their types ("id string, ...").

        Without a schema the connector looks at nodes of all corpora, and fails where one of them is
        deleted meanwhile.
        """
        read = self._spark.read.format("org.neo4j.spark.DataSource").options(**self._options)
        frame = read.option("labels", label).schema(f"corpus string, {schema}").load()
        return frame.where(f.col("corpus") == corpus).drop("corpus")

    def write_nodes(self, frame: DataFrame, label: str, *keys: str) -> None:
        """Write the properties of nodes; those with the same keys are the same."""
        writing = frame.repartition(self._writers, *keys).write.format("org.neo4j.spark.DataSource")
        writing.mode("Overwrite").options(**self._options).options(
            **{"labels": f":{label}", "node.keys": ",".join(keys)}
        ).save()

    def write_edges(
        self, frame: DataFrame, type_: str, ends: tuple[str, str], keys: tuple[str, str]
    ) -> None:
        """Write edges between nodes that are there; the other columns are their properties.

        `ends` are the labels, `keys` the keys of both as "column:property,...", the first one a
        text. Edges are written in rounds: in each, no two partitions have a node in common, so that
        none waits for another.
        """
        columns = [[pair.split(":")[0] for pair in key.split(",")] for key in keys]
        n = self._writers
        a, b = (f.pmod(f.crc32(f.col(each[0])), f.lit(n)) for each in columns)
        placed = frame.withColumn("_round", f.pmod(a + b, f.lit(n)))
        placed = placed.withColumn("_part", f.least(a, b).cast("int")).persist()
        named = ",".join(c for c in frame.columns if c not in {*columns[0], *columns[1]})
        options = {
            "relationship": type_,
            "relationship.save.strategy": "keys",
            "relationship.properties": named,
        }
        for end, label, key in zip(("source", "target"), ends, keys, strict=True):
            options |= {
                f"relationship.{end}.labels": f":{label}",
                f"relationship.{end}.save.mode": "Match",
                f"relationship.{end}.node.keys": key,
            }
        try:
            for at in range(n):
                part = placed.where(f.col("_round") == at).repartition(n, "_part")
                writing = part.drop("_round", "_part").write.format("org.neo4j.spark.DataSource")
                writing.mode("Overwrite").options(**self._options).options(**options).save()
        finally:
            placed.unpersist()
