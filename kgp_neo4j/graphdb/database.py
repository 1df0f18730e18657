"""Runs the statements of `cypher/` in Neo4j; the only module that uses the driver."""

import json
import logging
import random
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar
from urllib.parse import quote

from neo4j import READ_ACCESS, WRITE_ACCESS, Driver, GraphDatabase, Query, Record
from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable

from kgp_neo4j.environment.disk import disk_errors
from kgp_neo4j.environment.folders import Connection, Folders, connection_from_environment
from kgp_neo4j.environment.job import Job, current_job
from kgp_neo4j.graphdb.plugin import JAR, plugin_jar
from kgp_neo4j.graphdb.statements import LANGUAGE, Statement, fingerprint, folder, packed, statement
from kgp_neo4j.types.corpus import Capabilities, InstallReport
from kgp_neo4j.types.errors import CapabilityError, ConfigurationError, DatabaseError, KgpError

Row: TypeAlias = dict[str, Any]
_T = TypeVar("_T")

#: Procedures by which Graph Data Science and our own plugin are known.
_GDS, _VERSION = "gds.knn.write", "custom.kgp.version"
#: The codes of errors of a transaction that was ended from outside.
_ENDED = r"TransactionTimedOut|Transaction\.Terminated"
#: What Neo4j's code says, what we say of it, and what helps.
_REASONS = {
    r"Security\.Unauthorized": (
        "the server refused the user name or password",
        "Check NEO4J_USERNAME and NEO4J_PASSWORD.",
    ),
    "LockAcquisitionTimeout": (
        "the statement waited too long for others that are running",
        "Run it again once no load, connect or install is running.",
    ),
    _ENDED: ("the statement took too long and was ended", "Ask about less at once."),
}
# What the driver logs should not reach the user's terminal: its errors are raised too, and what
# the server says of a statement is for `--debug`.
for _name in ("neo4j", "neo4j.notifications"):
    if logging.getLogger(_name).level == logging.NOTSET:
        logging.getLogger(_name).setLevel(logging.CRITICAL)


class Database(AbstractContextManager["Database"]):
    """A connection to one database of a server; close it, or use it with `with`.

    With `read_only` it raises DatabaseError for every statement that writes.
    """

    def __init__(self, connection: Connection, *, read_only: bool = False) -> None:
        self.connection = connection
        self.read_only = read_only
        #: For other packages that need one; closed with the database.
        self.driver: Driver = GraphDatabase.driver(
            connection.uri,
            auth=(connection.username, connection.password),
            user_agent="kgp-neo4j",
            connection_timeout=15,
            keep_alive=True,
            # Of a server that was started again old connections are found before a write is sent.
            liveness_check_timeout=5,
            # An empty database has few of the labels and properties that statements name.
            notifications_disabled_classifications=["UNRECOGNIZED"],
        )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections to the server."""
        self.driver.close()

    def verify(self) -> None:
        """Raise DatabaseError at once when the server does not answer or refuses the login.

        Later statements are retried for half a minute, in case the server comes back.
        """
        path = statement("install/state").path
        try:
            with _translated_errors(path):
                self.driver.verify_connectivity()
        except KgpError:
            raise
        except Exception as error:  # no common class: what the driver cannot read raises anything
            what = f"the driver does not understand the server ({error})"
            hint = "Check that NEO4J_URI names a Neo4j server."
            raise DatabaseError(what, where=path, hint=hint) from error

    def read(self, path: str, **values: Any) -> list[Row]:
        """Run `cypher/<path>.cypher` to read; raises DatabaseError where its check says so."""
        return self._read(statement(path), values)

    def read_packed(self, path: str, **values: Any) -> list[Row]:
        """Run the statement as `read` does, with all rows packed into one record.

        This is for many small rows: the driver takes as long for a record as for 100 values in it.
        """
        query = packed(path)
        names = [column.name for column in query.outputs]
        packed_rows = self._read(query, values)[0]["rows"]
        return _of_what_is_there(dict(zip(names, row, strict=True)) for row in packed_rows)

    def read_pages(self, path: str, key: str, **values: Any) -> Iterator[Row]:
        """Yield the rows of a statement that returns those `after` a key, in its order, in pages.

        Neither the server nor the client holds more than a page, and rows come packed.
        """
        after = ""
        while page := self.read_packed(path, after=after, **values):
            yield from page
            after = page[-1][key]

    def stream(self, path: str, **values: Any) -> Iterator[Row]:
        """Run the statement as `read` does, but not again, and yield its rows while they come."""
        return self._run_once(statement(path), values, READ_ACCESS)

    def write(self, path: str, **values: Any) -> list[Row]:
        """Run the statement in one write transaction, retried on transient errors."""
        return self._run(statement(path), values, WRITE_ACCESS)

    def write_in_batches(self, path: str, **values: Any) -> Row:
        """Run a statement that commits in batches (`CALL { } IN TRANSACTIONS`)."""
        rows = list(self._run_once(statement(path), values, WRITE_ACCESS))
        return rows[0] if rows else {}

    def define(self, query: Statement, **values: Any) -> None:
        """Run a file of schema statements; several processes may run the same one at once."""
        for text in query.labelled(values):
            try:
                self._run(replace(query, text=text), values, WRITE_ACCESS)
            except DatabaseError as error:
                # Neo4j refuses one of two at once in spite of IF NOT EXISTS: it is there.
                code = str(getattr(error.__cause__, "code", ""))
                if "EquivalentSchemaRuleAlreadyExists" not in code:
                    raise

    def end(self, job: Job) -> None:
        """End the statements that run for a job; a server that is out of reach has none."""
        with suppress(DatabaseError):
            self.read("inspect/end_job", job=job.id)

    def capabilities(self) -> Capabilities:
        """Return the server's version, and whether it has GDS and our procedures."""
        server = self.read("inspect/server")[0]
        names = [row["name"] for row in self.read("inspect/procedures")]
        own = [name for name in names if name not in (_GDS, _VERSION)]
        ran = self.read("inspect/plugin")[0]["statements"] if _VERSION in names else ""
        return Capabilities(server["version"], server["edition"], _GDS in names, tuple(own), ran)

    def _read(self, query: Statement, values: Mapping[str, Any]) -> list[Row]:
        """Run a statement to read unless its check says what is wrong with the values."""
        if query.check:
            for row in self._run(replace(query, text=query.check), values, READ_ACCESS)[:1]:
                raise DatabaseError(row["wrong"], where=query.path)
        return _of_what_is_there(self._run(query, values, READ_ACCESS))

    def _run(self, query: Statement, values: Mapping[str, Any], mode: str) -> list[Row]:
        """Run a statement, again where an error may pass.

        A write whose reply was lost may have been done, and is not run again. The driver runs
        transactions again that it manages; those take a round trip more, and of version 6.4 they
        hang where another thread takes the connection of one that failed.
        """
        wait, end = 1.0, time.monotonic() + 30.0
        while True:
            try:
                return list(self._run_once(query, values, mode))
            except KgpError as error:
                # What it had found was deleted beside it: it has written nothing.
                is_gone = str(getattr(error.__cause__, "code", "")).endswith(".EntityNotFound")
                passes = is_gone or getattr(error.__cause__, "is_retryable", bool)()
                is_lost = mode == WRITE_ACCESS and "read from defunct" in str(error.__cause__)
                if is_lost or not passes or time.monotonic() + wait > end:
                    raise
            time.sleep(0.05 if is_gone else wait * random.uniform(0.8, 1.2))
            wait = min(2 * wait, 8.0)

    def _run_once(self, query: Statement, values: Mapping[str, Any], mode: str) -> Iterator[Row]:
        """Run a statement in a transaction that the server begins and ends."""
        if self.read_only and mode == WRITE_ACCESS:
            hint = "Use a connection that may write."
            raise DatabaseError("this connection is read-only", hint=hint)
        with (
            _translated_errors(query.path),
            # With bookmarks a follower of a cluster answers only once it has what was written.
            self.driver.session(
                database=self.connection.database,
                default_access_mode=mode,
                bookmark_manager=self.driver.execute_query_bookmark_manager,
            ) as session,
        ):
            yield from map(dict, session.run(_limited(query.text), query.bind(values)))


def in_batches(
    items: Iterable[_T], size: int, weigh: Callable[[_T], int] = lambda _: 1
) -> Iterator[list[_T]]:
    """Yield items in lists that weigh `size` or just above it, each written in one transaction."""
    batch, weight = list[_T](), 0
    for item in items:
        batch.append(item)
        weight += weigh(item)
        if weight >= size:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def _of_what_is_there(rows: Iterable[Row]) -> list[Row]:
    """Return the rows but those of nodes that were deleted while they were read: they lack ids."""
    return [row for row in rows if row.get("id", "") is not None]


def record(values: Row) -> Record:
    """Return values as a record of the driver, for other packages that need records."""
    return Record(values)  # type: ignore[no-untyped-call]


def _limited(text: str) -> Query:
    """Return a text with its job's mark and time left; raises StoppedError if nobody waits."""
    # The text comes from a file of this package, never from a user.
    query: Any = f"{LANGUAGE}{text}"
    job = current_job()
    if job is None:
        return Query(query)
    job.check()
    left = job.left()
    timeout = None if left is None else max(left, 0.001)
    return Query(query, metadata={"kgp_job": job.id}, timeout=timeout)


@contextmanager
def _translated_errors(where: str) -> Iterator[None]:
    """Turn errors of the driver into KgpErrors that name the statement's file."""
    try:
        yield
    except UnicodeEncodeError as error:
        what = "a text has half a character (a lone surrogate), which no database can store"
        raise DatabaseError(what, where=where, hint="Use UTF-8.") from error
    except (Neo4jError, DriverError) as error:
        raise _translated(error, where) from error


def _translated(error: Neo4jError | DriverError, where: str) -> KgpError:
    if isinstance(error, ServiceUnavailable):
        hint = (
            "Check NEO4J_URI (+s or +ssc behind its scheme is for TLS, and only that; the port is "
            "Bolt's, mostly 7687), or `kgp-neo4j server status` for the embedded one."
        )
        what = f"the server does not answer ({' '.join(str(error).split())})"
        return DatabaseError(what, hint=hint)
    if isinstance(error, DriverError):
        return DatabaseError(f"the database failed: {error}", where=where)
    code, message = error.code or "", error.message or ""
    if (job := current_job()) and re.search(_ENDED, code):
        try:
            job.check()
        except KgpError as stopped:
            return stopped
    if message.startswith(("There is no procedure", "Unknown function")):
        what = f"the server lacks a plugin: {message}"
        hint = "Install it there, or unset NEO4J_URI to use the embedded server."
        return CapabilityError(what, where=where, hint=hint)
    for pattern, (what, hint) in _REASONS.items():
        if re.search(pattern, code):
            return DatabaseError(what, where=where, hint=hint)
    return DatabaseError(f"the database refused the statement: {message}", where=where)


if TYPE_CHECKING:
    from kgp_neo4j.graphdb.server.startup import ServerStatus

#: The number of the graph's layout: labels, properties and types. To be raised with every change
#: that makes a graph of an earlier release unreadable.
LAYOUT = 11


def open_database(
    *, read_only: bool = False, echo: Callable[[str], object] = lambda _: None
) -> Database:
    """Open the server that `NEO4J_URI` names, or the embedded one, which is started when needed.

    The schema is created on first use; with `read_only` nothing is. Raises DatabaseError for the
    layout of another release. `echo` gets messages about steps that take long.
    """
    connection = connection_from_environment()
    if connection is None:
        # Imported here: a user's own server needs no JVM.
        from kgp_neo4j.graphdb.server.startup import ensure

        connection = ensure(Folders.from_environment(), echo=echo)
    database = Database(connection, read_only=read_only)
    try:
        database.verify()
        if read_only:
            check_layout(database)
        else:
            make_schema(database)
    except BaseException:
        database.close()
        raise
    return database


class Store:
    """The base of Corpus and KnowledgeGraph: a name in a `database`, opened on first use."""

    def __init__(self, name: str, *, database: Database | None = None) -> None:
        self.name = name
        self._database = database
        self._is_given = database is not None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def database(self) -> Database:
        """The database that the store is in."""
        if self._database is None:
            self._database = open_database()
        return self._database

    def close(self) -> None:
        """Close the connection to the database, unless it was given."""
        if self._database is not None and not self._is_given:
            self._database.close()
            self._database = None


def make_schema(database: Database) -> None:
    """Create the schema unless it is there; raises DatabaseError for another release's layout."""
    schema, version = fingerprint("schema"), metadata.version("kgp-neo4j")
    if check_layout(database).get("schema") == schema:
        return
    for statements in folder("schema"):
        database.define(statements)
    database.read("install/await_indexes")
    database.write("install/remember", layout=LAYOUT, schema=schema, version=version)


def check_layout(database: Database) -> Row:
    """Return what is known of an install, else {}; raises DatabaseError for another layout."""
    rows = database.read("install/state")
    if rows and rows[0]["layout"] != LAYOUT:
        version, newer = rows[0]["version"], rows[0]["layout"] > LAYOUT
        raise DatabaseError(
            f"{'a newer' if newer else 'an earlier'} kgp-neo4j ({version}) made the database",
            hint="Upgrade kgp-neo4j."
            if newer
            else "Its graph cannot be read any more: load the documents into a new database. "
            "KGP_NEO4J_HOME names the folder of the embedded one.",
        )
    return rows[0] if rows else {}


def install(database: Database) -> InstallReport:
    """Create the schema, and return which procedures the server has, with what is missing.

    Raises DatabaseError where another release with another layout of the graph has used it.
    """
    make_schema(database)
    capabilities = database.capabilities()
    return InstallReport(capabilities.procedures, note=_advice(capabilities))


def copy_plugin(plugins: Path) -> Path:
    """Copy our plugin into a server's folder, return the path; raises ConfigurationError else."""
    if not plugins.is_dir():
        hint = "Name the server's folder for plugins (server.directories.plugins)."
        raise ConfigurationError(f"there is no folder {plugins}", hint=hint)
    with disk_errors(plugins / JAR, "The plugin could not be copied"):
        shutil.copyfile(plugin_jar(), plugins / JAR)
    return plugins / JAR


def missing(capabilities: Capabilities) -> list[str]:
    """Return a sentence for each missing plugin, with what does not work without it."""
    gds = "No Graph Data Science: `corpus.gds()` does not work."
    return [*([] if capabilities.gds else [gds]), *filter(None, [_advice(capabilities)])]


def _advice(capabilities: Capabilities) -> str:
    """Return what to do for the procedures of this release; empty where the server has them."""
    if not capabilities.procedures:
        what = "No procedures custom.kgp.*: Browser users have none; the driver works"
    elif capabilities.statements != fingerprint("procedures"):
        what = "The procedures custom.kgp.* are those of another release"
    else:
        return ""
    return (
        f"{what}. Copy {plugin_jar()} into the server's folder `plugins` (`kgp-neo4j install "
        "--jar FOLDER` does it), and restart the server."
    )


#: Neo4j's manual ("Vector index memory configuration") on a quantised index, in bytes: 1.1 times
#: (1.25 * 4 a number and 8 * M a vector), with its default M of 16.
_NUMBER_BYTES, _VECTOR_BYTES = 5.5, 140.8
_GIB = 2**30
#: Bytes that Python with its encoder takes beside the server.
_CLIENT = 2 * _GIB


def needs(
    database: Database, server: "ServerStatus | None" = None, machine: int = 0
) -> dict[str, Any]:
    """Return what a graph needs, in bytes, and an embedded `server` lacks, of `machine` bytes.

    `vectors` are the vector indexes, `store` the files that the page cache holds, None where no
    server is given. `short` says what is lacking, `encoders` has the corpora and graphs of each.
    """
    rows = database.read("inspect/embedded")
    sizes = (r["embeddings"] * (r["dimension"] * _NUMBER_BYTES + _VECTOR_BYTES) for r in rows)
    vectors = int(sum(sizes))
    encoders: dict[str, list[str]] = {}
    for row in rows:
        name = row["name"] if row["corpus"] else f"graph {row['name']}"
        encoders.setdefault(row["encoder"], []).append(name)
    needed = {"vectors": vectors, "store": None, "short": (), "encoders": encoders}
    if server is None:
        return needed
    short, store = list[str](), server.store or 0
    heap, page_cache = ((size or 0) * 2**20 for size in (server.heap, server.page_cache))
    left = max(machine - heap - page_cache - _CLIENT, 0)
    if store > page_cache:
        short.append(
            f"The graph has {store / _GIB:,.1f} GiB on disk and the page cache holds "
            f"{page_cache / _GIB:,.1f} GiB of it: questions wait for the disk."
        )
    if vectors > left:
        short.append(
            f"The vector indexes want {vectors / _GIB:,.1f} GiB of memory, and {left / _GIB:,.1f} "
            "GiB are left beside the server and Python: search by meaning waits for the disk."
        )
    if short:
        short.append("`kgp-neo4j server stop`, then `server start --memory SIZE` gives more.")
    return needed | {"store": store, "short": short}


def browser_link(connection: Connection, nodes: Iterable[str]) -> str | None:
    """Return a link that fills Browser's editor with the query that shows these nodes, by id.

    None where the address of Browser is not known, or there is nothing to show. The link has no
    password and runs nothing by itself; Browser asks for the password once.
    """
    ids = list(nodes)
    address = connection.browser_address
    if address is None or not ids:
        return None
    if not all(i.isalnum() and i.isascii() for i in ids):
        raise KgpError("an id is not a hash", hint="Load the corpus again.")
    query = statement("browser/show").text.rstrip().split("\n")[-1]
    query = query.replace("$nodes", json.dumps(ids).replace('"', "'"))
    return f"{address}&cmd=edit&arg={quote(query, safe='')}"
