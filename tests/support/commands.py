"""Runs the command line as tests need it."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from kgp_neo4j.cli import run
from kgp_neo4j.environment.folders import Connection


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
    """Run `kgp-neo4j` in this process, and say what a process of its own would have said.

    Of the environment, no NEO4J_* and KGP_* is handed on.
    """
    hidden = ("NEO4J_", "KGP_NEO4J_CORPUS", "_KGP")
    without: dict[str, str | None] = {n: None for n in os.environ if n.startswith(hidden)}
    with (
        CliRunner().isolation(env=without | variables) as (out, err, _),
        contextlib.chdir(cwd or Path.cwd()),
    ):
        code = run(arguments)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        told = [stream.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(arguments, code, *told)
