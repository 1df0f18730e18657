"""Installs the schema and the procedures `custom.kgp.*` into a database, and removes them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from importlib import metadata

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.statements import Statement, fingerprint, folder, statement
from kgp_neo4j.types.corpus import Capabilities, InstallReport
from kgp_neo4j.types.errors import CapabilityError, DatabaseError

__all__ = ["LAYOUT", "check_layout", "install", "install_what_is_missing", "missing", "uninstall"]

#: The number of the graph's layout: labels, properties and types. To be raised with every change
#: that makes a graph of an earlier release unreadable.
LAYOUT = 11
_PROCEDURES = "procedures"
_SCHEMA = "schema"
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


def install_what_is_missing(database: Database) -> None:
    """Create the schema unless it is there, and in the embedded server install the procedures.

    Raises DatabaseError for a database of another release whose graph is laid out differently.
    """
    state = check_layout(database)
    if state.get("schema") != fingerprint(_SCHEMA):
        _make_schema(database)
        _store_state(database, state.get("procedures", ""))
    if database.connection.embedded and state.get("procedures") not in (
        fingerprint(_PROCEDURES),
        _REMOVED,
    ):
        install(database)


def check_layout(database: Database) -> Row:
    """Return what the database remembers of an installation, {} where there is none.

    Raises DatabaseError where its graph is laid out for another release.
    """
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
    """Create the schema and install, upgrade or remove procedures `custom.kgp.*` as needed.

    Raises CapabilityError when the server has no APOC Extended, DatabaseError when another release
    with another layout of the graph has used the database.
    """
    check_layout(database)
    _make_schema(database)
    if not database.capabilities().apoc_extended:
        raise CapabilityError(
            "the server has no APOC Extended, which turns Cypher files into procedures",
            hint="Add apoc-extended to the server's plugins (docker/compose.yaml shows how); "
            "load, connect, ask and retrieve work without it.",
        )
    wanted = {procedure.name: procedure for procedure in folder(_PROCEDURES)}
    before, listed = _stored(database), _listed(database)
    added, removed = wanted.keys() - before.keys(), before.keys() - wanted.keys()
    kept = wanted.keys() & before.keys()
    upgraded = {name for name in kept if wanted[name].text != before[name]}
    _define(database, wanted.values())
    _drop(database, removed)
    _wait_until_listed(database, wanted)
    if removed or listed.keys() & (added | upgraded):
        # Changed statements run after APOC's next refresh, which it does not announce, and which
        # may miss them: any definition makes it refresh all of them once more.
        time.sleep(_REFRESH_SECONDS)
        _define(database, folder(_PROCEDURES)[:1])
        time.sleep(_REFRESH_SECONDS)
    _store_state(database, fingerprint(_PROCEDURES))
    return InstallReport(*map(_full_names, (wanted, added, upgraded, removed)))


def uninstall(database: Database) -> InstallReport:
    """Remove every procedure `custom.kgp.*`; the graph and its indexes stay."""
    if not database.capabilities().apoc_extended:
        return InstallReport(procedures=())
    names = list(_stored(database))
    _drop(database, names)
    time.sleep(_REFRESH_SECONDS)
    _store_state(database, _REMOVED)
    return InstallReport(procedures=(), removed=_full_names(names))


def missing(capabilities: Capabilities) -> list[str]:
    """Return a sentence for each missing plugin, with what does not work without it."""
    sentences = {
        "No Graph Data Science: `corpus.gds()` does not work.": capabilities.gds,
        "No APOC Core: questions cannot be cut into words in the database, so `load`, `ask` "
        "and `retrieve` do not work.": capabilities.apoc,
        "No APOC Extended: `install` cannot make the procedures custom.kgp.*, so Browser users "
        "have none; the driver works.": capabilities.apoc_extended,
    }
    return [sentence for sentence, there in sentences.items() if not there]


def _make_schema(database: Database) -> None:
    """Create missing constraints and indexes, and wait until they serve."""
    for statements in folder(_SCHEMA):
        database.define(statements, {})
    database.read("install/await_indexes")


def _store_state(database: Database, procedures: str) -> None:
    database.write(
        "install/remember",
        layout=LAYOUT,
        schema=fingerprint(_SCHEMA),
        procedures=procedures,
        version=metadata.version("kgp-neo4j"),
    )


def _full_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"custom.{name}" for name in sorted(names))


def _stored(database: Database) -> dict[str, str]:
    """Return the statements of the procedures that APOC has stored, by name."""
    return {row["name"]: row["statement"] for row in database.read("install/stored")}


def _listed(database: Database) -> dict[str, str]:
    """Return the descriptions of the procedures that the server lists, by name.

    Dropped procedures stay listed until a restart.
    """
    return {
        row["name"].removeprefix("custom."): row["description"]
        for row in database.read("inspect/procedures")
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


def _wait_until_listed(database: Database, wanted: dict[str, Statement]) -> None:
    """Wait until the server has exactly the wanted procedures."""
    texts = {name: procedure.text for name, procedure in wanted.items()}
    began = defined = time.monotonic()
    while True:
        listed, stored = _listed(database), _stored(database)
        late = {name for name in wanted if listed.get(name) != wanted[name].documentation}
        if stored == texts and not late:
            return
        now = time.monotonic()
        if now - began > _MOST_SECONDS:
            different = sorted(late | (stored.keys() ^ wanted.keys())) or ["their statements"]
            raise DatabaseError(
                f"the server did not take over the procedures in {_MOST_SECONDS:.0f} s: "
                f"{', '.join(different)}",
                hint="Run `kgp-neo4j install` again; see the server's log if it stays so.",
            )
        if now - defined > _AGAIN_SECONDS:
            _define(database, (wanted[name] for name in late))
            defined = now
        time.sleep(_POLL_SECONDS)
