"""Starts, checks and stops the server's process; keeps its state, chooses ports, reads its logs."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import time
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import psutil

from kgp_neo4j.environment.disk import disk_errors, write_private
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.types.errors import ServerError

HOST = "127.0.0.1"
_USUAL = (7687, 7474)
# Bolt's handshake: the magic number, then four versions the client speaks (5.x and 4.4).
_HANDSHAKE = bytes.fromhex("6060b01700080805" + "00000404" * 3)


@dataclass(frozen=True, slots=True)
class State:
    """The server that was last started in a home.

    `pid` is 0 if stopped, `started` in seconds since 1970, `bolt` and `http` ports, memory in MiB.
    """

    pid: int
    started: float
    bolt: int
    http: int
    version: str
    java: str
    heap: int
    page_cache: int

    def connection(self, password: str) -> Connection:
        """Return how to reach the server."""
        uri, browser = f"bolt://{HOST}:{self.bolt}", f"http://{HOST}:{self.http}"
        return Connection(uri, "neo4j", password, browser=browser, embedded=True)


def state_file(home: Path) -> Path:
    """Return the path of this home's state file."""
    return home / "run" / "server.json"


def read_state(home: Path) -> State | None:
    """Return the content of the state file, or None when it is missing or unreadable."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(state_file(home).read_bytes(), type=State)
    return None


def write_state(home: Path, state: State) -> None:
    """Store the state of this home's server."""
    write_private(state_file(home), msgspec.json.encode(state).decode())


def launch(words: list[str], folder: Path, log: Path) -> int:
    """Start a program in a session of its own, so that it outlives this process."""
    with disk_errors(log, f"{words[0]} could not be started"), log.open("wb") as output:
        child = subprocess.Popen(
            words,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
            | getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    # Its command line, which `is_ours` reads, is empty for a moment while it becomes the program.
    with contextlib.suppress(psutil.Error):
        while not psutil.Process(child.pid).cmdline():
            time.sleep(0.001)
    child.returncode = 0  # prevents a warning that the process was not waited for
    return child.pid


def is_ours(home: Path, state: State) -> bool:
    """Return whether the process of the state file runs and is this home's server.

    The system may have given its id to another process, so the command line must name our file.
    """
    with contextlib.suppress(psutil.Error):
        return f"@{home / 'run' / 'server.args'}" in psutil.Process(state.pid).cmdline()
    return False


def running(home: Path) -> State | None:
    """Return the server of this home that runs, if any."""
    state = read_state(home)
    return state if state is not None and is_ours(home, state) else None


def end(home: Path, state: State, seconds: float = 60.0) -> bool:
    """End the home's server, which may have ended before; return False where it had to be killed.

    That is so after `seconds`. Its ports are kept for the next start.
    """
    stopped = True
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        until = time.monotonic() + seconds
        if is_ours(home, state):
            stopped = number == signal.SIGTERM
            with contextlib.suppress(ProcessLookupError):
                os.kill(state.pid, number)
        # Not by its number: one that has ended is kept by that until its parent asks for it.
        while is_ours(home, state) and time.monotonic() < until:
            time.sleep(0.05)
    with contextlib.suppress(ServerError):  # a full disk must not hide why the server ended
        write_state(home, replace(state, pid=0))
    return stopped


def choose_ports(home: Path) -> tuple[int, int]:
    """Return free ports for Bolt and HTTP: those of the last start, the usual ones, or any."""
    state = read_state(home)
    last = [(state.bolt, state.http)] if state else []
    for ports in (*last, _USUAL):
        if all(map(_is_free, ports)):
            return ports
    with socket.socket() as one, socket.socket() as two:
        one.bind((HOST, 0))
        two.bind((HOST, 0))
        return one.getsockname()[1], two.getsockname()[1]


def _is_free(port: int) -> bool:
    try:
        socket.create_server((HOST, port)).close()  # as for Neo4j, a port in TIME_WAIT is free
    except OSError:
        return False
    with socket.socket() as caller:  # a listener on all addresses does not stop that everywhere
        caller.settimeout(0.2)
        return caller.connect_ex((HOST, port)) != 0


def answers(state: State) -> bool:
    """Return whether the server answers on Bolt and listens on HTTP."""
    with (
        contextlib.suppress(OSError),
        socket.create_connection((HOST, state.bolt), timeout=1) as bolt,
        socket.create_connection((HOST, state.http), timeout=1),
    ):
        bolt.sendall(_HANDSHAKE)
        return len(bolt.recv(4)) == 4
    return False


def listens(state: State) -> bool:
    """Return whether the server's own process listens on both ports."""
    try:
        connections = psutil.Process(state.pid).net_connections("tcp")
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True  # not allowed to look
    ports = {c.laddr.port for c in connections if c.status == psutil.CONN_LISTEN}
    return {state.bolt, state.http} <= ports


_ERROR_LINE = re.compile(r"Exception\b|\bERROR\b|^Error")

#: The known reasons: `pattern`, `reason` and `hint` of each.
_REASONS = tomllib.loads(Path(__file__).with_name("failures.toml").read_text("utf-8"))["reasons"]


def tail(path: Path, lines: int) -> list[str]:
    """Return the last lines of a log, reading only its end."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - 64 * 1024 - lines * 512))  # more than these need
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-lines:] if lines > 0 else []


def disk_is_full(home: Path, since: float) -> bool:
    """Return whether the logs of this start report a full disk: the server may hang then."""
    return any(re.search(_REASONS[0]["pattern"], line) for line in _lines_since(home, since))


def failure(home: Path, since: float, message: str) -> ServerError:
    """Return the error of a failed start, with the reason found in its logs."""
    lines = _lines_since(home, since)
    where = str(home / "logs")
    for known in _REASONS:
        if any(re.search(known["pattern"], line) for line in lines):
            hint = " ".join(known["hint"].split())
            return ServerError(f"{message}: {known['reason']}", where=where, hint=hint)
    # A line that names an exception is more useful than the end of its stack trace.
    shown = [line for line in lines if _ERROR_LINE.search(line)][:2] or lines[-3:]
    text = "".join(f"\n  {line[:300]}" for line in shown)
    what = f"{message}. Its logs say:{text}\n" if text else message
    return ServerError(what, where=where, hint="See `kgp-neo4j server logs`.")


def _lines_since(home: Path, since: float) -> list[str]:
    """Return the lines that the logs have of the start at `since` (seconds since 1970)."""
    lines: list[str] = []
    for name in ("console.log", "neo4j.log", "debug.log"):
        path = home / "logs" / name
        if path.is_file() and path.stat().st_mtime >= since - 1:
            text = "\n".join(tail(path, 200))
            # debug.log has many starts: the last one counts.
            lines += text.rpartition("Starting...")[2].splitlines()
    return [line.strip() for line in lines if line.strip()]
