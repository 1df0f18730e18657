"""Opens a database: finds or starts the server, makes its schema, and tells what it lacks."""

import json
import shutil
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from kgp_neo4j.environment.disk import disk_errors
from kgp_neo4j.environment.folders import Connection, Folders, connection_from_environment
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.plugin import JAR, plugin_jar
from kgp_neo4j.graphdb.statements import fingerprint, folder, statement
from kgp_neo4j.types.corpus import Capabilities, InstallReport
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError, KgpError

if TYPE_CHECKING:
    from kgp_neo4j.graphdb.server.supervise import ServerStatus

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
        from kgp_neo4j.graphdb.server.supervise import ensure

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
