"""Opens a database: finds or starts the server, and makes it ready on first use."""

from collections.abc import Callable
from typing import Self

from kgp_neo4j.environment.folders import Folders, connection_from_environment
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.install import check_layout, make_schema


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
