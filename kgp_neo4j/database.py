"""The one door to Neo4j: runs the files of `cypher/` with parameters, reads routed as reads."""

from __future__ import annotations

import logging
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
    Record,
    Result,
    unit_of_work,
)
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError, ServiceUnavailable

from kgp_neo4j.errors import CapabilityError, DatabaseError
from kgp_neo4j.queries import Statement, statement
from kgp_neo4j.records import Capabilities
from kgp_neo4j.settings import Connection

__all__ = ["Database", "Row", "record"]

Row: TypeAlias = dict[str, Any]

_MISSING = ("There is no procedure", "Unknown function")
# Warnings on our own statements and on retries are for us, not for the user's terminal.
for _name in ("neo4j", "neo4j.notifications"):
    logging.getLogger(_name).setLevel(logging.ERROR)


class Database:
    """A connection to one database of a Neo4j server; close it, or use it with `with`.

    One that is `read_only` raises DatabaseError for every statement that would write.
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
        """The driver underneath, for other packages that take one; closed with the database."""
        return self._driver

    def close(self) -> None:
        """Close all connections to the server."""
        self._driver.close()

    def verify(self) -> None:
        """Raise DatabaseError at once when the server does not answer or refuses the login.

        Every later statement is retried for half a minute, in case the server comes back.
        """
        with _explained(statement("install/state")):
            self._driver.verify_connectivity()

    def read(self, path: str, **values: Any) -> list[Row]:
        """Run the statement `cypher/<path>.cypher` in read access mode."""
        return self._managed(statement(path), values, READ_ACCESS)

    def read_within(self, path: str, seconds: float, **values: Any) -> list[Row]:
        """Run the statement in read access mode; the server ends it after so many seconds.

        For statements whose work a question decides. Raises DatabaseError when the time is over.
        """
        return self._managed(statement(path), values, READ_ACCESS, seconds)

    def write(self, path: str, **values: Any) -> list[Row]:
        """Run the statement in one write transaction, retried on passing failures."""
        return self._managed(statement(path), values, WRITE_ACCESS)

    def write_in_batches(self, path: str, **values: Any) -> Row:
        """Run a statement that commits as it goes (`CALL { } IN TRANSACTIONS`)."""
        made = statement(path)
        with _explained(made), self._session(WRITE_ACCESS) as session:
            rows = _rows(session.run(_text(made), made.bind(values)))
        return rows[0] if rows else {}

    def write_all(self, path: str, batches: Iterable[Mapping[str, Any]]) -> Iterator[list[Row]]:
        """Run a write statement once for each batch of parameters, each in its own transaction."""
        made = statement(path)
        with _explained(made), self._session(WRITE_ACCESS) as session:
            for values in batches:
                yield session.execute_write(_work(made, made.bind(values)))

    def define(self, made: Statement, values: Mapping[str, Any], *, system: bool = False) -> None:
        """Run a schema statement, or an administrative one on the database `system`."""
        with (
            _explained(made),
            self._session(WRITE_ACCESS, "system" if system else None) as session,
        ):
            session.run(_text(made), made.bind(values)).consume()

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

    def _managed(
        self,
        made: Statement,
        values: Mapping[str, Any],
        mode: str,
        seconds: float | None = None,
    ) -> list[Row]:
        work = unit_of_work(timeout=seconds)(_work(made, made.bind(values)))
        with _explained(made), self._session(mode) as session:
            run = session.execute_read if mode == READ_ACCESS else session.execute_write
            found: list[Row] = run(work)
            return found

    def _session(self, mode: str, database: str | None = None) -> Any:
        if self.read_only and mode == WRITE_ACCESS:
            raise DatabaseError(
                "this connection only reads", hint="Use one that may write for what changes data."
            )
        return self._driver.session(
            database=database or self.connection.database, default_access_mode=mode
        )


def _work(made: Statement, bound: Mapping[str, Any]) -> Callable[[ManagedTransaction], list[Row]]:
    return lambda transaction: _rows(transaction.run(_text(made), dict(bound)))


def _rows(result: Result) -> list[Row]:
    return [dict(record) for record in result]


def record(values: Row) -> Record:
    """Return values as a record of the driver, for other packages that take records."""
    return Record(values)  # type: ignore[no-untyped-call]


def _text(made: Statement) -> LiteralString:
    # The text comes from a file of this package, never from a user.
    return made.text


@contextmanager
def _explained(made: Statement) -> Iterator[None]:
    """Turn the driver's errors into ours, with the file that was running."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise DatabaseError(
            "a text holds half a character (a lone surrogate), which no database can hold",
            where=made.path,
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
                where=made.path,
                hint="Install GDS and APOC on it, or unset NEO4J_URI to use the embedded server.",
            ) from error
        if "TransactionTimedOut" in (error.code or ""):
            raise DatabaseError(
                "it took longer than it may, and was ended",
                where=made.path,
                hint="Ask about less at once.",
            ) from error
        raise DatabaseError(f"the database refused it: {error.message}", where=made.path) from error
    except (Neo4jError, DriverError) as error:
        raise DatabaseError(f"the database failed: {error}", where=made.path) from error
