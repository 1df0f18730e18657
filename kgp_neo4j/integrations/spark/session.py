"""Sessions of Spark, and functions of ours on their executors.

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
from kgp_neo4j.types import errors
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError, KgpError

__all__ = [
    "make_session",
    "mapped",
    "opened",
    "plain_errors",
    "reached",
    "texts_of",
]

#: Begins the line in which an executor's error comes back.
_MARK = "kgp-neo4j-error"


def make_session(master: str | None = None, **settings: str) -> SparkSession:
    """Return a session, or the one that runs already.

    `master` says where Spark runs; by default what `spark-submit` says, else this machine.
    `settings` are Spark's own, with "_" for ".". Without JAVA_HOME, Spark runs on the Java that
    this package brings; on this machine alone, it listens on loopback, unless SPARK_LOCAL_IP says
    otherwise, its workers are of the Python that runs here, unless PYSPARK_PYTHON does, and it
    shuffles into two parts a core.

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
    builder = SparkSession.builder.appName("kgp-neo4j")
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


def texts_of(frame: DataFrame, *columns: str) -> DataFrame:
    """Return columns of a frame as texts; raises ConfigurationError where one is missing."""
    if missing := sorted(set(columns) - set(frame.columns)):
        raise ConfigurationError(
            f"the frame has no column {', '.join(missing)}",
            hint=f"Name its columns {', '.join(columns[:-1])} and {columns[-1]}.",
        )
    return frame.select(*(f.col(name).cast("string").alias(name) for name in columns))
