"""Runs the command line as tests need it."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    *arguments: str, cwd: Path | None = None, typed: str | bytes = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `kgp-neo4j` as in a process of its own without NEO4J_* and KGP_*, typing `typed`."""
    hidden = ("NEO4J_", "KGP_NEO4J_CORPUS", "_KGP")
    without: dict[str, str | None] = {n: None for n in os.environ if n.startswith(hidden)}
    with (
        CliRunner().isolation(typed, without | variables) as (out, err, _),
        contextlib.chdir(cwd or Path.cwd()),
    ):
        try:
            code: Any = run(arguments)
        except SystemExit as ended:
            code = ended.code
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        told = [stream.getvalue().decode() for stream in (out, err)]
    return subprocess.CompletedProcess(arguments, code, *told)


def prints(*arguments: str, **more: Any) -> str:
    """Run a command that succeeds, and return what it prints."""
    done = kgp(*arguments, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refuses(*arguments: str, code: int = 1, **more: Any) -> str:
    """Run a command that fails, and return what it says of it: no traceback, and no result."""
    done = kgp(*arguments, **more)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def output(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run any program that succeeds, and return what it prints."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def begin(*arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start `kgp-neo4j` as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "kgp_neo4j.cli", *arguments],
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background ignores SIGINT, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
