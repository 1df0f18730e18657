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
    RoutingControl,
)
from neo4j.exceptions import AuthError, ClientError, DriverError, Neo4jError, ServiceUnavailable

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.statements import Statement, packed, statement
from kgp_neo4j.types.corpus import Capabilities
from kgp_neo4j.types.errors import CapabilityError, DatabaseError

__all__ = ["Database", "Row", "record"]

Row: TypeAlias = dict[str, Any]

#: How the server words what a statement of ours refuses by `apoc.util.validate`.
_REFUSED = (
    "Failed to invoke procedure `apoc.util.validate`: Caused by: java.lang.RuntimeException: "
)
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

    def read_packed(self, path: str, **values: Any) -> list[Row]:
        """Run the statement as `read` does, for its many small rows: they come in one record.

        The driver takes about as long over a record as over a hundred values in it.
        """
        made = packed(path)
        names = [column.name for column in made.outputs]
        (found,) = self._managed(made, values, READ_ACCESS)
        return [dict(zip(names, row, strict=True)) for row in found["rows"]]

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
        """Run a schema statement, or an administrative one on the database `system`.

        Several processes may do so at once.
        """
        with (
            _explained(made),
            self._session(WRITE_ACCESS, "system" if system else None) as session,
        ):
            try:
                session.execute_write(_work(made, made.bind(values)))
            except ClientError as error:
                # Of two at once, Neo4j refuses one at times, in spite of IF NOT EXISTS.
                if "EquivalentSchemaRuleAlreadyExists" not in (error.code or ""):
                    raise

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

    def _managed(self, made: Statement, values: Mapping[str, Any], mode: str) -> list[Row]:
        self._check(mode)
        with _explained(made):
            # Sends the beginning with the statement: a round trip less than a session's function.
            return self._driver.execute_query(
                _text(made),
                made.bind(values),
                routing_=RoutingControl.READ if mode == READ_ACCESS else RoutingControl.WRITE,
                database_=self.connection.database,
                bookmark_manager_=None,
                result_transformer_=_rows,
            )

    def _session(self, mode: str, database: str | None = None) -> Any:
        self._check(mode)
        return self._driver.session(
            database=database or self.connection.database, default_access_mode=mode
        )

    def _check(self, mode: str) -> None:
        if self.read_only and mode == WRITE_ACCESS:
            raise DatabaseError(
                "this connection only reads", hint="Use one that may write for what changes data."
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
        if (error.message or "").startswith(_REFUSED):
            raise DatabaseError(
                str(error.message).removeprefix(_REFUSED), where=made.path
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
