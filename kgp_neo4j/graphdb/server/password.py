"""Makes the password of the embedded database, and reads it."""

import hashlib
import secrets
from pathlib import Path

from kgp_neo4j.environment.disk import disk_errors, private_folder, write_private
from kgp_neo4j.graphdb.server.lines import has_data
from kgp_neo4j.types.errors import ServerError

_ITERATIONS = 1024  # of the hash, as Neo4j's admin tool makes it


def password_file(home: Path) -> Path:
    """Return the path of this home's password file."""
    return home / "password"


def read_password(home: Path) -> str:
    """Return the password of a home that was started before."""
    path = password_file(home)
    with disk_errors(path, "The password file could not be read"):
        if path.exists():
            return path.read_text(encoding="utf-8").strip()
    raise ServerError(
        "The password file of the embedded database is gone",
        where=str(path),
        hint="Put it back from a backup, or choose a new folder with --home (the data here "
        "can't be opened without it).",
    )


def prepare_password(home: Path, data: Path) -> str:
    """Return the password; before the first start with these data, make and set it."""
    # Neo4j stores users in its system database; before the first start, it reads auth.ini.
    if not has_data(data):
        if not password_file(home).exists():
            write_private(password_file(home), secrets.token_hex(24) + "\n")
        # As `neo4j-admin dbms set-initial-password` does.
        salt = secrets.token_bytes(32)
        digest = salt + read_password(home).encode()
        for _ in range(_ITERATIONS):
            digest = hashlib.sha256(digest).digest()
        file = data / "dbms" / "auth.ini"
        private_folder(file.parent)
        write_private(file, f"neo4j:SHA-256,{digest.hex()},{salt.hex()},{_ITERATIONS}:\n")
    return read_password(home)
