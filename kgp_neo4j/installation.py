"""Opens a database ready to use: the right server, the schema, and the stored procedures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from kgp_neo4j.database import Database
from kgp_neo4j.errors import CapabilityError, DatabaseError
from kgp_neo4j.queries import Statement, fingerprint, folder, statement
from kgp_neo4j.records import Capabilities
from kgp_neo4j.settings import Connection, Folders, connection_from_environment

__all__ = ["Installed", "install", "missing", "open_database", "open_to_read", "uninstall"]

_PROCEDURES = "procedures"
_SCHEMA = "schema"
#: What stands for the fingerprint once the user has removed the procedures: they stay away.
_REMOVED = "removed"
#: Seconds to wait until the server lists what was installed; APOC refreshes once a second.
_PATIENCE = 30.0
#: Within this many seconds APOC runs a changed statement (apoc.custom.procedures.refresh is 1 s).
_REFRESH = 1.2


@dataclass(frozen=True, slots=True)
class Installed:
    """What an installation changed: names of procedures that are new, upgraded and removed."""

    procedures: tuple[str, ...]
    added: tuple[str, ...] = ()
    upgraded: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def open_database(
    folders: Folders | None = None, *, echo: Callable[[str], object] | None = None
) -> Database:
    """Open the server that `NEO4J_URI` names, or the embedded one, which is started when needed.

    The schema is made on first use. Procedures are installed into the embedded server; into a
    server of the user's own only `install` puts them. `echo` is told what takes time.
    """
    return _ready(_connection(folders, echo))


def open_to_read(
    folders: Folders | None = None, *, echo: Callable[[str], object] | None = None
) -> Database:
    """Open the same server as `open_database` for reading alone: nothing is made or installed."""
    database = Database(_connection(folders, echo), read_only=True)
    try:
        database.verify()
    except BaseException:
        database.close()
        raise
    return database


def _connection(folders: Folders | None, echo: Callable[[str], object] | None) -> Connection:
    connection = connection_from_environment()
    if connection is None:
        # Not at the top: a user's own server needs neither jgo nor a JVM.
        from kgp_neo4j.server import ensure

        connection = ensure(folders or Folders.from_environment(), echo=echo)
    return connection


def _ready(connection: Connection) -> Database:
    database = Database(connection)
    try:
        database.verify()
        state = database.read("install/state")
        schema = state[0]["schema"] if state else None
        procedures = state[0]["procedures"] if state else None
        if schema != fingerprint(_SCHEMA):
            _make_schema(database)
            _remember(database, procedures or "")
        if connection.embedded and procedures not in (fingerprint(_PROCEDURES), _REMOVED):
            install(database)
    except BaseException:
        database.close()
        raise
    return database


def install(database: Database) -> Installed:
    """Make the schema and install `custom.kgp.*`; again, it upgrades and removes what is old.

    Raises CapabilityError when the server has no APOC Extended.
    """
    if not database.capabilities().apoc_extended:
        raise CapabilityError(
            "the server has no APOC Extended, which turns Cypher files into procedures",
            hint="Add apoc-extended to the server's plugins (docker/compose.yaml shows how); "
            "load, connect, ask and retrieve work without it.",
        )
    _make_schema(database)
    wanted = {made.name: made for made in folder(_PROCEDURES)}
    before = {row["name"]: row["statement"] for row in database.read("install/stored")}
    name = database.connection.database
    for made in wanted.values():
        database.define(
            statement("install/procedure"),
            {
                "signature": made.signature,
                "statement": made.text,
                "database": name,
                "mode": made.mode,
                "description": made.description,
            },
            system=True,
        )
    old = sorted(before.keys() - wanted.keys())
    for gone in old:
        database.define(statement("install/drop"), {"name": gone, "database": name}, system=True)
    _await(database, wanted, changed=before != {name: made.text for name, made in wanted.items()})
    _remember(database, fingerprint(_PROCEDURES))
    return Installed(
        procedures=tuple(f"custom.{n}" for n in sorted(wanted)),
        added=tuple(f"custom.{n}" for n in sorted(wanted.keys() - before.keys())),
        upgraded=tuple(
            f"custom.{n}" for n in sorted(wanted) if n in before and before[n] != wanted[n].text
        ),
        removed=tuple(f"custom.{n}" for n in old),
    )


def uninstall(database: Database) -> Installed:
    """Remove every procedure `custom.kgp.*`; the graph and its indexes stay."""
    if not database.capabilities().apoc_extended:
        return Installed(procedures=())
    name = database.connection.database
    names = [row["name"] for row in database.read("install/stored")]
    for gone in names:
        database.define(statement("install/drop"), {"name": gone, "database": name}, system=True)
    _await(database, {}, changed=bool(names))
    _remember(database, _REMOVED)
    return Installed(procedures=(), removed=tuple(f"custom.{n}" for n in names))


def missing(found: Capabilities) -> list[str]:
    """Say, a sentence each, what a server cannot do for lack of a plugin."""
    said: list[str] = []
    if not found.gds:
        said.append(
            "No Graph Data Science: `connect` cannot make the KNN graph; the keyword graph works."
        )
    if not found.apoc:
        said.append("No APOC Core: questions cannot be cut into words in the database, so `ask` "
                    "and `retrieve` do not work.")  # fmt: skip
    if not found.apoc_extended:
        said.append(
            "No APOC Extended: `install` cannot make the procedures custom.kgp.*, so Browser users "
            "have none; the driver works."
        )
    return said


def _make_schema(database: Database) -> None:
    for made in folder(_SCHEMA):
        database.define(made, {})
    database.read("install/await_indexes")


def _remember(database: Database, procedures: str) -> None:
    database.write(
        "install/remember",
        schema=fingerprint(_SCHEMA),
        procedures=procedures,
        version=metadata.version("kgp-neo4j"),
    )


def _await(database: Database, wanted: dict[str, Statement], *, changed: bool) -> None:
    """Wait until the server offers exactly the wanted procedures, with their present texts.

    The server goes on listing a dropped procedure until it restarts, though none can call it.
    """
    texts = {name: made.text for name, made in wanted.items()}
    deadline = time.monotonic() + _PATIENCE
    while True:
        listed = {row["name"].removeprefix("custom.") for row in database.read("install/listed")}
        stored = {row["name"]: row["statement"] for row in database.read("install/stored")}
        if stored == texts and wanted.keys() <= listed:
            # What is stored runs from the next refresh on, which nothing announces.
            time.sleep(_REFRESH if changed else 0.0)
            return
        if time.monotonic() > deadline:
            odd = (wanted.keys() - listed) | (stored.keys() ^ wanted.keys())
            raise DatabaseError(
                f"the server did not take over the procedures in {_PATIENCE:.0f} s: "
                f"{', '.join(sorted(odd)) or 'their statements'}",
                hint="Run `kgp-neo4j install` again; see the server's log if it stays so.",
            )
        time.sleep(0.2)
