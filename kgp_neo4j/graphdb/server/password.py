"""Makes and reads the password of the embedded database: random, in a private file."""

from __future__ import annotations

import secrets
from pathlib import Path

from kgp_neo4j.graphdb.server.admin import run_admin
from kgp_neo4j.graphdb.server.disk import disk_error, write_private
from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.types.errors import ServerError

__all__ = ["password_file", "prepare_password", "read_password"]

_FEW = 1
_PATIENCE = 120.0  # seconds


def password_file(home: Path) -> Path:
    """Return the path of this home's password file."""
    return home / "password"


def read_password(home: Path) -> str:
    """Return the password of a home that was started before."""
    path = password_file(home)
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ServerError(
            "The password file of the embedded database is gone",
            where=str(path),
            hint="Put it back from a backup, or choose a new folder with --home (the data here "
            "can't be opened without it).",
        ) from None
    except OSError as error:
        raise disk_error(error, path, "The password file could not be read") from error


def prepare_password(home: Path, installed: Installation, java: Java) -> str:
    """Return the password; on the first start of this home, make and set it."""
    path = password_file(home)
    # Neo4j stores users in its system database; before the first start, the initial password is
    # in auth.ini.
    system_database = home / "data" / "databases" / "system"
    initial = home / "data" / "dbms" / "auth.ini"
    if system_database.exists() or (initial.exists() and path.exists()):
        return read_password(home)
    if not path.exists():
        # Hex digits: a password that began with "-" would be an option to the admin tool.
        write_private(path, secrets.token_hex(24) + "\n")
    password = read_password(home)
    _set_initial(home, installed, java, password)
    return password


def _set_initial(home: Path, installed: Installation, java: Java, password: str) -> None:
    """Set the initial password with Neo4j's admin tool, which stores its hash."""
    run_admin(
        home,
        installed,
        java,
        ["dbms", "set-initial-password", password],
        options=[f"-XX:TieredStopAtLevel={_FEW}", "-XX:+UseSerialGC", "-Xmx128m"],
        seconds=_PATIENCE,
        secret=password,
    )
