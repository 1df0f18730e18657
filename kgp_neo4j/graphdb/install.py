"""Opens a database ready to use: the right server, the schema, and the stored procedures."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import metadata

from kgp_neo4j.environment.folders import Connection, Folders, connection_from_environment
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.statements import Statement, fingerprint, folder, statement
from kgp_neo4j.types.corpus import Capabilities
from kgp_neo4j.types.corpus import InstallReport as Installed
from kgp_neo4j.types.errors import CapabilityError, DatabaseError

__all__ = ["install", "missing", "open_database", "open_to_read", "uninstall"]

_PROCEDURES = "procedures"
_SCHEMA = "schema"
_UPGRADES = "schema/upgrades"
#: What stands for the fingerprint once the user has removed the procedures: they stay away.
_REMOVED = "removed"
#: Seconds to wait until the server lists what was installed; APOC refreshes once a second.
_PATIENCE = 30.0
_POLL = 0.1
#: Within this many seconds APOC runs a changed statement (apoc.custom.procedures.refresh is 1 s).
_REFRESH = 1.2


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
    """Open the same server as `open_database` for reading alone: nothing is made or installed.

    Raises DatabaseError for a database of an earlier release.
    """
    database = Database(_connection(folders, echo), read_only=True)
    try:
        database.verify()
        state = _state(database)
        if state is not None and state["layout"] < len(folder(_UPGRADES)):
            raise DatabaseError(
                f"an earlier kgp-neo4j ({state['version']}) made the database, with other names",
                hint="Run `kgp-neo4j install`, which renames them.",
            )
    except BaseException:
        database.close()
        raise
    return database


def _connection(folders: Folders | None, echo: Callable[[str], object] | None) -> Connection:
    connection = connection_from_environment()
    if connection is None:
        # Not at the top: a user's own server needs neither jgo nor a JVM.
        from kgp_neo4j.graphdb.server.supervise import ensure

        connection = ensure(folders or Folders.from_environment(), echo=echo)
    return connection


def _ready(connection: Connection) -> Database:
    database = Database(connection)
    try:
        database.verify()
        state = _state(database) or {}
        procedures = state.get("procedures")
        made = (state.get("layout"), state.get("schema"))
        if made != (len(folder(_UPGRADES)), fingerprint(_SCHEMA)):
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

    A graph of an earlier release is brought over first. Raises CapabilityError when the server has
    no APOC Extended, DatabaseError when a newer release was here.
    """
    _make_schema(database)
    if not database.capabilities().apoc_extended:
        raise CapabilityError(
            "the server has no APOC Extended, which turns Cypher files into procedures",
            hint="Add apoc-extended to the server's plugins (docker/compose.yaml shows how); "
            "load, connect, ask and retrieve work without it.",
        )
    wanted = {made.name: made for made in folder(_PROCEDURES)}
    before = {row["name"]: row["statement"] for row in database.read("install/stored")}
    other = {made.name for made in wanted.values() if before.get(made.name) != made.text}
    stale = _listed(database) & other
    name = database.connection.database
    for made in wanted.values():
        database.define(
            statement("install/procedure"),
            {
                "signature": made.signature,
                "statement": made.text,
                "database": name,
                "mode": made.mode,
                "description": made.documentation,
            },
            system=True,
        )
    old = sorted(before.keys() - wanted.keys())
    for gone in old:
        database.define(statement("install/drop"), {"name": gone, "database": name}, system=True)
    _await(database, wanted, changed=bool(stale or old))
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


def _state(database: Database) -> Row | None:
    """Return what an earlier run installed here, if any did."""
    found = database.read("install/state")
    return found[0] if found else None


def _make_schema(database: Database) -> None:
    """Bring the graph of an earlier release over, then make what constraints and indexes lack."""
    state = _state(database) or {"layout": 0}
    upgrades = folder(_UPGRADES)
    if state["layout"] > len(upgrades):
        raise DatabaseError(
            f"a newer kgp-neo4j ({state['version']}) made the database",
            hint="Upgrade kgp-neo4j.",
        )
    for made in upgrades[state["layout"] :]:
        if made.mode == "SCHEMA":
            database.define(made, {})
        else:
            database.write_in_batches(made.path.removeprefix("cypher/").removesuffix(".cypher"))
    for made in folder(_SCHEMA):
        database.define(made, {})
    database.read("install/await_indexes")


def _remember(database: Database, procedures: str) -> None:
    database.write(
        "install/remember",
        layout=len(folder(_UPGRADES)),
        schema=fingerprint(_SCHEMA),
        procedures=procedures,
        version=metadata.version("kgp-neo4j"),
    )


def _listed(database: Database) -> set[str]:
    """Return the names that the server offers; one that was dropped stays until it restarts."""
    return {row["name"].removeprefix("custom.") for row in database.read("install/listed")}


def _await(database: Database, wanted: dict[str, Statement], *, changed: bool) -> None:
    """Wait until the server offers exactly the wanted procedures, with their present texts.

    `changed` says that one of them was listed before with another text, or that one was dropped.
    """
    texts = {name: made.text for name, made in wanted.items()}
    deadline = time.monotonic() + _PATIENCE
    while True:
        listed = _listed(database)
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
        time.sleep(_POLL)
