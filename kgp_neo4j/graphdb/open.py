"""Opens a database: finds or starts the server, and makes it ready on first use."""

from collections.abc import Callable

from kgp_neo4j.environment.folders import Connection, Folders, connection_from_environment
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.install import check_layout, make_schema


def open_database(*, echo: Callable[[str], object] = lambda _: None) -> Database:
    """Open the server that `NEO4J_URI` names, or the embedded one, which is started when needed.

    The schema is created on first use. `echo` gets messages about steps that take long.
    """
    return _opened(Database(_find_or_start(echo)), make_schema)


def open_to_read(*, echo: Callable[[str], object] = lambda _: None) -> Database:
    """Open `open_database`'s server to read, as it is; raises DatabaseError for another layout."""
    return _opened(Database(_find_or_start(echo), read_only=True), check_layout)


def _opened(database: Database, prepare: Callable[[Database], object]) -> Database:
    """Return the database once it answers and is prepared; otherwise it is closed."""
    try:
        database.verify()
        prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _find_or_start(echo: Callable[[str], object]) -> Connection:
    connection = connection_from_environment()
    if connection is None:
        # Imported here: a user's own server needs neither jgo nor a JVM.
        from kgp_neo4j.graphdb.server.supervise import ensure

        connection = ensure(Folders.from_environment(), echo=echo)
    return connection
