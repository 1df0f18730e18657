"""Runs the statements of `cypher/` in Neo4j; the only module that uses the driver."""

from __future__ import annotations

import contextlib
import logging
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, LiteralString, Self, TypeAlias

from neo4j import (
    READ_ACCESS,
    WRITE_ACCESS,
    Driver,
    GraphDatabase,
    ManagedTransaction,
    Query,
    Record,
    Result,
    RoutingControl,
    unit_of_work,
)
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError, ServiceUnavailable

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.environment.job import Job, current_job
from kgp_neo4j.environment.spans import span
from kgp_neo4j.graphdb.statements import Statement, packed, statement
from kgp_neo4j.types.corpus import Capabilities
from kgp_neo4j.types.errors import CapabilityError, DatabaseError, KgpError

__all__ = ["Database", "Row", "record"]

Row: TypeAlias = dict[str, Any]

#: How an error raised by `apoc.util.validate` in one of our statements begins.
_VALIDATION_FAILED = (
    "Failed to invoke procedure `apoc.util.validate`: Caused by: java.lang.RuntimeException: "
)
#: The codes of errors of a transaction that was ended from outside.
_ENDED = ("TransactionTimedOut", "Transaction.Terminated")
#: The code where locks were not to be had in the time that the server's configuration gives.
_WAITED = "LockAcquisitionTimeout"
#: The key of a transaction's metadata under which the id of its job stands.
_JOB = "kgp_job"
_SAME_INDEX = "EquivalentSchemaRuleAlreadyExists"
#: Indexes that one statement makes, at most.
_MOST_INDEXES = 2
#: The code of a statement that only Neo4j Enterprise has.
_ENTERPRISE = "UnsupportedAdministrationCommand"
_MISSING = ("There is no procedure", "Unknown function")
# What the driver logs should not reach the user's terminal: its errors are raised too.
for _name in ("neo4j", "neo4j.notifications"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class Database:
    """A connection to one database of a Neo4j server; close it, or use it with `with`.

    With `read_only` it raises DatabaseError for every statement that writes.
    """

    def __init__(self, connection: Connection, *, read_only: bool = False) -> None:
        self.connection = connection
        self.read_only = read_only
        self._driver: Driver = GraphDatabase.driver(
            connection.uri,
            auth=(connection.username, connection.password),
            user_agent="kgp-neo4j",
            connection_timeout=15,
            keep_alive=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def driver(self) -> Driver:
        """The driver, for other packages that need one; closed with the database."""
        return self._driver

    def close(self) -> None:
        """Close all connections to the server."""
        self._driver.close()

    def verify(self) -> None:
        """Raise DatabaseError at once when the server does not answer or refuses the login.

        Later statements are retried for half a minute, in case the server comes back.
        """
        with _translated_errors(statement("install/state")):
            self._driver.verify_connectivity()

    def read(self, path: str, **values: Any) -> list[Row]:
        """Run the statement `cypher/<path>.cypher` in read access mode."""
        return self._run(statement(path), values, READ_ACCESS)

    def read_packed(self, path: str, **values: Any) -> list[Row]:
        """Run the statement as `read` does, with all rows packed into one record.

        This is for many small rows: the driver takes as long for a record as for 100 values in it.
        """
        query = packed(path)
        names = [column.name for column in query.outputs]
        (found,) = self._run(query, values, READ_ACCESS)
        return [dict(zip(names, row, strict=True)) for row in found["rows"]]

    def stream(self, path: str, **values: Any) -> Iterator[Row]:
        """Run the statement as `read` does, and yield its rows while they come.

        This is for more rows than memory should hold. It is not retried.
        """
        query = statement(path)
        with _translated_errors(query), self._session(READ_ACCESS) as session:
            for each in session.run(_text(query), query.bind(values)):
                yield dict(each)

    def write(self, path: str, **values: Any) -> list[Row]:
        """Run the statement in one write transaction, retried on transient errors."""
        return self._run(statement(path), values, WRITE_ACCESS)

    def write_in_batches(self, path: str, **values: Any) -> Row:
        """Run a statement that commits in batches (`CALL { } IN TRANSACTIONS`)."""
        query = statement(path)
        with _translated_errors(query), self._session(WRITE_ACCESS) as session:
            rows = _rows(session.run(_limited(query), query.bind(values)))
        return rows[0] if rows else {}

    def make_indexes(self, path: str, **values: Any) -> None:
        """Run a statement that makes indexes unless they are there; others may run it meanwhile."""
        for left in reversed(range(_MOST_INDEXES + 1)):
            try:
                self.write_in_batches(path, **values)
                return
            except DatabaseError as error:
                # Of two at once Neo4j refuses one in spite of IF NOT EXISTS: the index is there.
                if not left or _SAME_INDEX not in str(error):
                    raise

    def write_all(self, path: str, batches: Iterable[Mapping[str, Any]]) -> Iterator[list[Row]]:
        """Run a write statement once for each batch of parameters, each in its own transaction."""
        query = statement(path)
        with _translated_errors(query), self._session(WRITE_ACCESS) as session:
            for values in batches:
                yield session.execute_write(_transaction_function(query, query.bind(values)))

    def define(self, query: Statement, values: Mapping[str, Any], *, system: bool = False) -> None:
        """Run a schema statement, or an administrative one on the database `system`.

        Several processes may run the same one at once.
        """
        with (
            _translated_errors(query),
            self._session(WRITE_ACCESS, "system" if system else None) as session,
        ):
            try:
                session.execute_write(_transaction_function(query, query.bind(values)))
            except ClientError as error:
                # Neo4j may refuse one of two concurrent statements in spite of IF NOT EXISTS.
                if _SAME_INDEX not in (error.code or ""):
                    raise

    def end(self, job: Job) -> None:
        """End the statements that run for a job; a server that is out of reach has none."""
        with contextlib.suppress(DatabaseError):
            self.read("inspect/end_job", job=job.id)

    def capabilities(self) -> Capabilities:
        """Return the server's version and which of GDS, APOC Core and APOC Extended it has."""
        server = self.read("inspect/server")[0]
        plugins = {row["name"] for row in self.read("inspect/plugins")}
        return Capabilities(
            version=server["version"],
            edition=server["edition"],
            gds="gds.knn.write" in plugins,
            apoc="apoc.cypher.run" in plugins,
            apoc_extended="apoc.custom.installProcedure" in plugins,
        )

    def _run(self, query: Statement, values: Mapping[str, Any], mode: str) -> list[Row]:
        self._check(mode)
        with _translated_errors(query), span("statement", **{"db.operation.name": query.path}):
            # execute_query sends BEGIN with the statement: one round trip less than a session.
            return self._driver.execute_query(
                _limited(query),
                query.bind(values),
                routing_=RoutingControl.READ if mode == READ_ACCESS else RoutingControl.WRITE,
                database_=self.connection.database,
                result_transformer_=_rows,
            )

    def _session(self, mode: str, database: str | None = None) -> Any:
        self._check(mode)
        # With bookmarks a follower of a cluster answers only once it has what was written before.
        return self._driver.session(
            database=database or self.connection.database,
            default_access_mode=mode,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )

    def _check(self, mode: str) -> None:
        if self.read_only and mode == WRITE_ACCESS:
            raise DatabaseError(
                "this connection is read-only", hint="Use a connection that may write."
            )


def _transaction_function(
    query: Statement, bound: Mapping[str, Any]
) -> Callable[[ManagedTransaction], list[Row]]:
    def run(transaction: ManagedTransaction) -> list[Row]:
        return _rows(transaction.run(_text(query), dict(bound)))

    limited: Callable[[ManagedTransaction], list[Row]] = unit_of_work(**_limits())(run)
    return limited


def _rows(result: Result) -> list[Row]:
    return [dict(record) for record in result]


def record(values: Row) -> Record:
    """Return values as a record of the driver, for other packages that need records."""
    return Record(values)  # type: ignore[no-untyped-call]


def _limited(query: Statement) -> LiteralString | Query:
    """Return a statement with the limits of the job that it is run for."""
    limits = _limits()
    return Query(_text(query), **limits) if limits else _text(query)


def _limits() -> dict[str, Any]:
    """Return the mark by which `end` finds the job's transactions, and the time they may take.

    Raises StoppedError where nobody waits for the job any longer.
    """
    job = current_job()
    if job is None:
        return {}
    job.check()
    left = job.left()
    return {"metadata": {_JOB: job.id}, "timeout": None if left is None else max(left, 0.001)}


def _text(query: Statement) -> LiteralString:
    # The text comes from a file of this package, never from a user.
    return query.text


@contextmanager
def _translated_errors(query: Statement) -> Iterator[None]:
    """Turn errors of the driver into KgpErrors that name the statement's file."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise DatabaseError(
            "a text has half a character (a lone surrogate), which no database can store",
            where=query.path,
            hint="Use UTF-8.",
        ) from error
    except AuthError as error:
        raise DatabaseError(
            "the server refused the user name or password",
            hint="Check NEO4J_USERNAME and NEO4J_PASSWORD.",
        ) from error
    except ServiceUnavailable as error:
        raise DatabaseError(
            f"the server does not answer ({error})",
            hint="Check NEO4J_URI, or `kgp-neo4j server status` for the embedded one.",
        ) from error
    except ClientError as error:
        if (error.message or "").startswith(_MISSING):
            raise CapabilityError(
                f"the server lacks a plugin: {error.message}",
                where=query.path,
                hint="Install GDS and APOC on it, or unset NEO4J_URI to use the embedded server.",
            ) from error
        if _ENTERPRISE in (error.code or ""):
            raise CapabilityError(
                "the server is Neo4j Community, which has one database and no roles",
                where=query.path,
                hint="Use Neo4j Enterprise or Aura, or leave the option out.",
            ) from error
        if (error.message or "").startswith(_VALIDATION_FAILED):
            raise DatabaseError(
                str(error.message).removeprefix(_VALIDATION_FAILED), where=query.path
            ) from error
        if any(sign in (error.code or "") for sign in _ENDED):
            if job := current_job():
                try:
                    job.check()
                except KgpError as stopped:
                    raise stopped from error
            raise DatabaseError(
                "the statement took too long and was ended",
                where=query.path,
                hint="Ask about less at once.",
            ) from error
        raise DatabaseError(
            f"the database refused the statement: {error.message}", where=query.path
        ) from error
    except (Neo4jError, DriverError) as error:
        if isinstance(error, Neo4jError) and _WAITED in (error.code or ""):
            raise DatabaseError(
                "the statement waited too long for others that are running",
                where=query.path,
                hint="Run it again once no load, connect or install is running.",
            ) from error
        raise DatabaseError(f"the database failed: {error}", where=query.path) from error
    except Exception as error:
        if not _is_of_the_server(error):
            raise
        raise DatabaseError(
            f"the driver cannot go on ({error})",
            where=query.path,
            hint="Check that NEO4J_URI names a Neo4j server.",
        ) from error


def _is_of_the_server(error: Exception) -> bool:
    """Return whether the driver failed on what a server sent; such errors have no common class.

    Where it fails to write a value into a message, the fault is ours.
    """
    frames = [
        (str(frame.f_globals.get("__name__")), frame.f_code.co_name.lstrip("_"))
        for frame, _ in traceback.walk_tb(error.__traceback__)
    ]
    writes = any("packstream" in module and name.startswith("pack") for module, name in frames)
    return frames[-1][0].startswith("neo4j.") and not writes
