"""Makes what Neo4j Enterprise alone has: a database of its own for a corpus, and roles for it."""

from __future__ import annotations

import time

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import folder, statement
from kgp_neo4j.types.errors import DatabaseError

__all__ = ["create_database", "create_roles"]

#: Seconds to wait until a new database answers; on a cluster its members copy it first.
_MOST_SECONDS = 60.0
_POLL_SECONDS = 0.5


def create_database(connection: Connection) -> None:
    """Make the database that a connection names, unless it is there, and wait until it answers.

    Raises CapabilityError on Neo4j Community, which has one database.
    """
    with Database(connection) as database:
        database.define(
            statement("enterprise/create_database"), {"name": connection.database}, system=True
        )
        ends = time.monotonic() + _MOST_SECONDS
        while True:
            try:
                database.read("install/state")
                return
            except DatabaseError:
                if time.monotonic() > ends:
                    raise
            time.sleep(_POLL_SECONDS)


def create_roles(database: Database) -> tuple[str, str]:
    """Make two roles for a database, of which one reads and the other one writes too.

    Their names, which are returned, are those of the database with `_reader` and `_writer`. Raises
    CapabilityError on Neo4j Community, which has no roles.
    """
    name = database.connection.database
    reader, writer = f"{name}_reader", f"{name}_writer"
    for role, folders in (
        (reader, ("enterprise/reader",)),
        (writer, ("enterprise/reader", "enterprise/writer")),
    ):
        database.define(statement("enterprise/create_role"), {"role": role}, system=True)
        for grant in (grant for each in folders for grant in folder(each)):
            database.define(grant, {"role": role, "database": name}, system=True)
    return reader, writer
