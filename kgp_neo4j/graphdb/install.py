"""Opens a database: finds or starts the server, and installs the schema and the procedures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib import metadata
from itertools import islice

from kgp_neo4j.environment.folders import Connection, Folders, connection_from_environment
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.statements import Statement, fingerprint, folder, statement
from kgp_neo4j.types.corpus import Capabilities
from kgp_neo4j.types.corpus import InstallReport as Installed
from kgp_neo4j.types.errors import CapabilityError, DatabaseError

__all__ = [
    "chosen_connection",
    "install",
    "installation",
    "missing",
    "open_database",
    "open_ready",
    "open_to_read",
    "uninstall",
]

_PROCEDURES = "procedures"
_SCHEMA = "schema"
_UPGRADES = "schema/upgrades"
#: Stored in the place of the fingerprint after `uninstall`, so that procedures stay removed.
_REMOVED = "removed"
#: Seconds to wait until the server lists the installed procedures; APOC refreshes every second.
_MOST_SECONDS = 30.0
_POLL_SECONDS = 0.1
#: Seconds after which APOC runs a changed statement (apoc.custom.procedures.refresh is 1 s).
_REFRESH_SECONDS = 1.5
#: Seconds after which a procedure that is not listed yet is defined again: APOC misses a definition
#: that is committed while it refreshes, until the next one.
_AGAIN_SECONDS = 5.0


def open_database(
    folders: Folders | None = None, *, echo: Callable[[str], object] | None = None
) -> Database:
    """Open the server that `NEO4J_URI` names, or the embedded one, which is started when needed.

    The schema is created on first use. Procedures are installed into the embedded server; into a
    user's own server only by `install`. `echo` gets messages about steps that take long.
    """
    return open_ready(chosen_connection(folders, echo))


def open_to_read(
    folders: Folders | None = None, *, echo: Callable[[str], object] | None = None
) -> Database:
    """Open the same server as `open_database` for reading only, without installing anything.

    Raises DatabaseError for a database of an earlier release.
    """
    database = Database(chosen_connection(folders, echo), read_only=True)
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


def chosen_connection(
    folders: Folders | None = None, echo: Callable[[str], object] | None = None
) -> Connection:
    """Return the server that `NEO4J_URI` names, or the embedded one, which is started."""
    connection = connection_from_environment()
    if connection is None:
        # Imported here: a user's own server needs neither jgo nor a JVM.
        from kgp_neo4j.graphdb.server.supervise import ensure

        connection = ensure(folders or Folders.from_environment(), echo=echo)
    return connection


def open_ready(connection: Connection) -> Database:
    """Open the database of a connection as `open_database` does."""
    database = Database(connection)
    try:
        database.verify()
        state = _state(database) or {}
        procedures = state.get("procedures")
        installed = (state.get("layout"), state.get("schema"))
        if installed != (len(folder(_UPGRADES)), fingerprint(_SCHEMA)):
            _make_schema(database)
            _store_state(database, procedures or "")
        if connection.embedded and procedures not in (fingerprint(_PROCEDURES), _REMOVED):
            install(database)
    except BaseException:
        database.close()
        raise
    return database


def install(database: Database) -> Installed:
    """Create the schema and install, upgrade or remove procedures `custom.kgp.*` as needed.

    A graph of an earlier release is upgraded first. Raises CapabilityError when the server has no
    APOC Extended, DatabaseError when a newer release has used the database.
    """
    _make_schema(database)
    if not database.capabilities().apoc_extended:
        raise CapabilityError(
            "the server has no APOC Extended, which turns Cypher files into procedures",
            hint="Add apoc-extended to the server's plugins (docker/compose.yaml shows how); "
            "load, connect, ask and retrieve work without it.",
        )
    wanted = {procedure.name: procedure for procedure in folder(_PROCEDURES)}
    before = {row["name"]: row["statement"] for row in database.read("install/stored")}
    other = {
        procedure.name
        for procedure in wanted.values()
        if before.get(procedure.name) != procedure.text
    }
    stale = _listed(database).keys() & other
    _define(database, wanted.values())
    old = sorted(before.keys() - wanted.keys())
    _drop(database, old)
    _wait_until_listed(database, wanted, changed=bool(stale or old))
    _store_state(database, fingerprint(_PROCEDURES))
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
    names = [row["name"] for row in database.read("install/stored")]
    _drop(database, names)
    _wait_until_listed(database, {}, changed=bool(names))
    _store_state(database, _REMOVED)
    return Installed(procedures=(), removed=tuple(f"custom.{n}" for n in names))


def missing(found: Capabilities) -> list[str]:
    """Return a sentence for each missing plugin, with what does not work without it."""
    sentences: list[str] = []
    if not found.gds:
        sentences.append(
            "No Graph Data Science: `connect` asks the vector index for each passage's neighbours, "
            "which takes ten to twenty times as long; KNN-MDR and `corpus.gds()` do not work."
        )
    if not found.apoc:
        sentences.append(
            "No APOC Core: questions cannot be cut into words in the database, so `load`, `ask` "
            "and `retrieve` do not work."
        )
    if not found.apoc_extended:
        sentences.append(
            "No APOC Extended: `install` cannot make the procedures custom.kgp.*, so Browser users "
            "have none; the driver works."
        )
    return sentences


def installation(procedures: str) -> dict[str, object]:
    """Return what the database remembers of an installation whose schema is still to be made.

    `procedures` is the fingerprint of those that are installed, "" for none.
    """
    return {
        "name": "kgp-neo4j",
        "layout": len(folder(_UPGRADES)),
        "schema": "",
        "procedures": procedures,
        "version": metadata.version("kgp-neo4j"),
    }


def _state(database: Database) -> Row | None:
    """Return the stored state of an earlier installation, if there is one."""
    found = database.read("install/state")
    return found[0] if found else None


def _make_schema(database: Database) -> None:
    """Upgrade the graph of an earlier release, then create missing constraints and indexes."""
    state = _state(database) or {"layout": 0}
    upgrades = folder(_UPGRADES)
    if state["layout"] > len(upgrades):
        raise DatabaseError(
            f"a newer kgp-neo4j ({state['version']}) made the database",
            hint="Upgrade kgp-neo4j.",
        )
    for upgrade in upgrades[state["layout"] :]:
        if upgrade.mode == "SCHEMA":
            database.define(upgrade, {})
        else:
            database.write_in_batches(upgrade.path.removeprefix("cypher/").removesuffix(".cypher"))
    for upgrade in folder(_SCHEMA):
        database.define(upgrade, {})
    if database.read("inspect/corpus_names"):  # the first statement needs APOC
        database.write_in_batches("install/shelf_indexes")
        database.write_in_batches("install/empty_lists")
    database.read("install/await_indexes")


def _store_state(database: Database, procedures: str) -> None:
    database.write(
        "install/remember",
        layout=len(folder(_UPGRADES)),
        schema=fingerprint(_SCHEMA),
        procedures=procedures,
        version=metadata.version("kgp-neo4j"),
    )


def _listed(database: Database) -> dict[str, str]:
    """Return the descriptions of the procedures that the server lists.

    Dropped procedures stay listed until a restart.
    """
    return {
        row["name"].removeprefix("custom."): row["description"]
        for row in database.read("install/listed")
    }


def _define(database: Database, procedures: Iterable[Statement]) -> None:
    for procedure in procedures:
        database.define(
            statement("install/procedure"),
            {
                "signature": procedure.signature,
                "statement": procedure.text,
                "database": database.connection.database,
                "mode": procedure.mode,
                "description": procedure.documentation,
            },
            system=True,
        )


def _drop(database: Database, names: Iterable[str]) -> None:
    for name in names:
        database.define(
            statement("install/drop"),
            {"name": name, "database": database.connection.database},
            system=True,
        )


def _wait_until_listed(database: Database, wanted: dict[str, Statement], *, changed: bool) -> None:
    """Wait until the server has exactly the wanted procedures, with their current texts.

    `changed` is True where one of them was listed before with another text, or one was dropped.
    """
    texts = {name: procedure.text for name, procedure in wanted.items()}
    began = defined = time.monotonic()
    while True:
        listed = _listed(database)
        stored = {row["name"]: row["statement"] for row in database.read("install/stored")}
        missing_or_old = {
            name for name, made in wanted.items() if listed.get(name) != made.documentation
        }
        if stored == texts and not missing_or_old:
            if changed:
                # Changed statements run after APOC's next refresh, which it does not announce, and
                # which may miss them: any definition makes it refresh all of them once more.
                time.sleep(_REFRESH_SECONDS)
                _define(database, islice(wanted.values(), 1))
                time.sleep(_REFRESH_SECONDS)
            return
        now = time.monotonic()
        if now - began > _MOST_SECONDS:
            different = missing_or_old | (stored.keys() ^ wanted.keys())
            raise DatabaseError(
                f"the server did not take over the procedures in {_MOST_SECONDS:.0f} s: "
                f"{', '.join(sorted(different)) or 'their statements'}",
                hint="Run `kgp-neo4j install` again; see the server's log if it stays so.",
            )
        if now - defined > _AGAIN_SECONDS:
            _define(database, (wanted[name] for name in missing_or_old))
            defined = now
        time.sleep(_POLL_SECONDS)
