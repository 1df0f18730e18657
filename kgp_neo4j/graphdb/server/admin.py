"""Makes the password of the embedded database, with Neo4j's admin tool, and reads it."""

from __future__ import annotations

import os
import secrets
import subprocess
from pathlib import Path

from kgp_neo4j.environment.disk import disk_error, write_private
from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.graphdb.server.neo4j_conf import argument_file, class_path_option
from kgp_neo4j.types.errors import ServerError

__all__ = ["password_file", "prepare_password", "read_password"]

_MOST_SECONDS = 120.0


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
    if not (system_database.exists() or (initial.exists() and path.exists())):
        if not path.exists():
            # Hex digits: a password that began with "-" would be an option to the admin tool.
            write_private(path, secrets.token_hex(24) + "\n")
        _set_initial(home, installed, java, read_password(home))
    return read_password(home)


def _set_initial(home: Path, installed: Installation, java: Java, password: str) -> None:
    """Set the initial password with Neo4j's admin tool, which stores its hash."""
    file = home / "run" / "admin.args"
    # Java reads its own arguments and the program's from a file, so that the password is in no list
    # of processes.
    argument_file(
        file,
        [
            *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx128m"),
            *class_path_option(installed.class_path),
            *("org.neo4j.cli.AdminTool", "dbms", "set-initial-password", password),
        ],
    )
    try:
        result = subprocess.run(
            [str(java.command), f"@{file}"],
            env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_MOST_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerError(
            f"Neo4j's admin tool could not be run: {type(error).__name__}",
            where=str(java.command),
            hint="Check that JAVA_HOME is a working Java 17 or 21, or unset it.",
        ) from error
    finally:
        file.unlink(missing_ok=True)
    if result.returncode:
        message = (result.stderr or result.stdout).replace(password, "***").strip()
        raise ServerError(
            f"Neo4j's admin tool failed: {message[-500:]}",
            where=str(home),
            hint="Check that the folder can be written to and the disk is not full.",
        )
