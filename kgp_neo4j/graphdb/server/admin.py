"""Runs Neo4j's admin tool, which is in the same jars as the server."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.graphdb.server.neo4j_conf import argument_file, class_path_option
from kgp_neo4j.types.errors import ServerError

__all__ = ["run_admin"]


def run_admin(
    home: Path,
    installed: Installation,
    java: Java,
    arguments: Sequence[str],
    *,
    options: Sequence[str],
    conf: Path | None = None,
    folder: Path | None = None,
    seconds: float | None = None,
    secret: str = "",
) -> None:
    """Run the admin tool on a home, in `folder`; raises ServerError where it fails.

    `options` are those of the JVM, `conf` the folder of neo4j.conf (that of the home by default).
    `secret` is an argument that no message may show.
    """
    file = home / "run" / "admin.args"
    # Java reads its own arguments and the program's from a file, so that a password is in no list
    # of processes.
    argument_file(
        file,
        [
            *options,
            *class_path_option(installed.class_path),
            "org.neo4j.cli.AdminTool",
            *arguments,
        ],
    )
    try:
        result = subprocess.run(
            [str(java.command), f"@{file}"],
            env={**os.environ, "NEO4J_HOME": str(home), "NEO4J_CONF": str(conf or home / "conf")},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
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
        said = (result.stderr or result.stdout).strip().splitlines()
        told = " ".join(line for line in said if not line.lstrip().startswith("at "))
        raise ServerError(
            f"Neo4j's admin tool failed: {told.replace(secret or chr(0), '***')[-500:]}",
            where=str(home),
            hint="Check that the folder can be written to and the disk is not full.",
        )
