"""Starts, checks and stops the server's process; keeps its state file and chooses its ports."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from kgp_neo4j.environment.disk import disk_error, write_private
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.types.errors import ServerError

__all__ = [
    "State",
    "answers",
    "choose_ports",
    "end",
    "end_unknown",
    "forget_state",
    "is_ours",
    "launch",
    "listens",
    "read_state",
    "state_file",
    "write_state",
]

HOST = "127.0.0.1"
_USUAL = (7687, 7474)
_STOP_SECONDS = 60.0  # seconds until a server that does not stop is killed
# Bolt's handshake: the magic number, then four versions the client speaks (5.x and 4.4).
_HANDSHAKE = bytes.fromhex("6060b01700080805" + "00000404" * 3)

#: Servers started by this process, which has to collect their exit status.
_STARTED: dict[int, subprocess.Popen[bytes]] = {}
if hasattr(os, "register_at_fork"):
    # They are no children of a process that was forked from this one.
    os.register_at_fork(after_in_child=_STARTED.clear)


@dataclass(frozen=True, slots=True)
class State:
    """The server that was last started in a home."""

    pid: int
    #: When it was started, in seconds since 1970.
    started: float
    bolt: int
    http: int
    version: str
    java: str
    #: MiB.
    heap: int
    page_cache: int

    def connection(self, password: str) -> Connection:
        """Return how to reach the server."""
        return Connection(
            uri=f"bolt://{HOST}:{self.bolt}",
            username="neo4j",
            password=password,
            browser=f"http://{HOST}:{self.http}",
            embedded=True,
        )


def state_file(home: Path) -> Path:
    """Return the path of this home's state file."""
    return home / "run" / "server.json"


def read_state(home: Path) -> State | None:
    """Return the content of the state file, or None when it is missing or unreadable."""
    try:
        return State(**json.loads(state_file(home).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_state(home: Path, state: State) -> None:
    """Store the state of this home's server."""
    write_private(state_file(home), json.dumps(asdict(state), indent=1) + "\n")


def forget_state(home: Path) -> None:
    """Remove the state file of a server that has ended, keeping its ports for the next start."""
    if (state := read_state(home)) is not None:
        with contextlib.suppress(ServerError):  # a full disk must not hide why the server ended
            write_private(home / "run" / "ports.json", json.dumps([state.bolt, state.http]))
    with contextlib.suppress(OSError):
        state_file(home).unlink(missing_ok=True)


# --- Processes ------------------------------------------------------------------------------------


def launch(home: Path, java: Java, arguments: Path) -> int:
    """Start the server in a session of its own, so that it outlives this process."""
    console = home / "logs" / "console.log"
    try:
        with console.open("wb") as log:
            child = subprocess.Popen(
                [str(java.command), f"@{arguments}"],
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
                | getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
    except OSError as error:
        raise disk_error(error, console, "The server could not be started") from error
    _STARTED[child.pid] = child
    return child.pid


def is_ours(home: Path, state: State) -> bool:
    """Return whether the process of the state file runs and is this home's server.

    The system may have given its id to another process, so the argument file on the command line,
    which is in the home, is compared too.
    """
    if (child := _STARTED.get(state.pid)) is not None:
        # The id of our own child can't have been reused, and polling it ends the zombie.
        # (Its command line is empty for a moment while it becomes Java.)
        if child.poll() is None:
            return True
        del _STARTED[state.pid]
        return False
    return f"@{home / 'run' / 'server.args'}" in _command_line(state.pid)


def _command_line(pid: int) -> list[str]:
    """Return the arguments of a running process, none where there is no such process."""
    # Linux: a fraction of a millisecond, where importing psutil takes tens.
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace").split("\0")
        except OSError:  # gone, or another user's: not ours in either case
            return []
    import psutil

    try:
        return psutil.Process(pid).cmdline()
    except psutil.Error:
        return []


def end(home: Path, state: State, seconds: float = _STOP_SECONDS) -> bool:
    """End the home's server and forget it; return False where it had to be killed, after `seconds`.

    It may have ended before.
    """
    stopped = True
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        until = time.monotonic() + seconds
        if is_ours(home, state):
            stopped = number == signal.SIGTERM
            with contextlib.suppress(ProcessLookupError):
                os.kill(state.pid, number)
        while is_ours(home, state) and time.monotonic() < until:
            time.sleep(0.05)
    forget_state(home)
    return stopped


def end_unknown(home: Path) -> bool:
    """End a server or admin tool of a home that no state tells of: who began it was killed.

    It would write beside the next one. Returns whether there was one.
    """
    import psutil

    state = read_state(home)
    options = {f"@{home / 'run' / name}" for name in ("server.args", "admin.args")}
    unknown = []
    for process in psutil.process_iter(["cmdline"]):
        known = state is not None and process.pid == state.pid
        if not known and options.intersection(process.info["cmdline"] or ()):
            # A container's process has the same arguments, and another folder of that name.
            with contextlib.suppress(psutil.Error, OSError):
                seen = Path(f"/proc/{process.pid}/root{home}") if psutil.LINUX else home
                if seen.samefile(home):
                    process.terminate()
                    unknown.append(process)
    for process in psutil.wait_procs(unknown, timeout=_STOP_SECONDS)[1]:
        with contextlib.suppress(psutil.Error):
            process.kill()
            process.wait(10)
    return bool(unknown)


# --- Ports ----------------------------------------------------------------------------------------


def choose_ports(home: Path) -> tuple[int, int]:
    """Return free ports for Bolt and HTTP: those of the last start, the usual ones, or any."""
    candidates = [_USUAL]
    with contextlib.suppress(OSError, ValueError, TypeError):
        bolt, http = json.loads((home / "run" / "ports.json").read_text(encoding="utf-8"))
        candidates.insert(0, (bolt, http))
    for ports in candidates:
        if all(map(_is_free, ports)):
            return ports
    with socket.socket() as one, socket.socket() as two:
        one.bind((HOST, 0))
        two.bind((HOST, 0))
        return one.getsockname()[1], two.getsockname()[1]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        if os.name != "nt":  # as Neo4j does: a port in TIME_WAIT is free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            # A listener on all addresses does not stop the bind everywhere.
            probe.listen(1)
        except OSError:
            return False
    with socket.socket() as caller:
        caller.settimeout(0.2)
        return caller.connect_ex((HOST, port)) != 0


def answers(state: State) -> bool:
    """Return whether the server answers on Bolt and on HTTP."""
    try:
        with socket.create_connection((HOST, state.bolt), timeout=1) as bolt:
            bolt.sendall(_HANDSHAKE)
            if len(bolt.recv(4)) != 4:
                return False
        with socket.create_connection((HOST, state.http), timeout=1) as http:
            http.sendall(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n")
            return http.recv(16).startswith(b"HTTP/1.")
    except OSError:
        return False


def listens(state: State) -> bool:
    """Return whether the server's own process listens on both ports."""
    import psutil

    try:
        connections = psutil.Process(state.pid).net_connections("tcp")
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True  # not allowed to look
    ports = {c.laddr.port for c in connections if c.status == psutil.CONN_LISTEN}
    return {state.bolt, state.http} <= ports
