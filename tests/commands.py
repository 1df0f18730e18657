"""Runs the command line as tests need it: as a process of its own, or inside this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from kgp_neo4j.settings import Connection

__all__ = ["environment", "kgp"]


def environment(connection: Connection) -> dict[str, str]:
    """Return the variables that name the tests' server."""
    return {
        "NEO4J_URI": connection.uri,
        "NEO4J_USERNAME": connection.username,
        "NEO4J_PASSWORD": connection.password,
        "NEO4J_DATABASE": connection.database,
    }


def kgp(
    *arguments: str, cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `kgp-neo4j` as a process; of the environment, no NEO4J_* and KGP_* is handed on."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("NEO4J_", "KGP_NEO4J_CORPUS", "_KGP"))
    }
    return subprocess.run(
        [sys.executable, "-m", "kgp_neo4j.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=inherited | variables,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
