"""Disturb every operation at random points and check that nothing is lost or left half done.

Each fault takes an operation (load, a changed load, connect, load-kg, delete, import, export,
install, backup, restore), disturbs it, and runs it again to its end. The moment is a random one of
its duration, or once a random share of the bytes that it exchanges with the database have passed.
The database must then be the same as after an undisturbed run: the digest of the corpus's canonical
content, the number of all nodes and relationships, and a second corpus and graph that nobody
touches. What is visible between the two runs must be whole. One line of JSON for each fault goes
into the log; with the same log and seed the run goes on where it was stopped.

    python benchmarks/faults.py --faults 1000 --minutes 60 --seed 1 --log faults.jsonl
    python benchmarks/faults.py --faults 10 --short
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import json
import multiprocessing
import os
import random
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.load.export_corpus import CORPUS, export_corpus, import_corpus
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.environment.folders import Connection, Folders, connection_from_environment
from kgp_neo4j.graphdb import server
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.export_files import content
from kgp_neo4j.graphdb.install import LAYOUT, install, uninstall
from kgp_neo4j.graphdb.server.process import read_state
from kgp_neo4j.mindmap.load.export_graph import GRAPH, export_graph, import_graph
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.mindmap.load.load_graph import load_graph
from kgp_neo4j.types.errors import CorpusError, GraphError, KgpError

#: Seconds after which a disturbed client is ended: it has hung.
_PATIENCE = 60.0
#: Seconds that a server has to answer again, and that a run without a fault may take.
_RECOVERY = 120.0
_SERVER_MEMORY = "900m"
#: How often each kind of fault is drawn; a killed server takes some ten seconds to start again.
_WEIGHTS = {
    "kill client": 40,
    "cut": 14,
    "delay": 8,
    "garble": 12,
    "disk full": 6,
    "memory": 10,
    "clock": 6,
    "kill server": 3,
    "kill both": 2,
    "server disk full": 1,
}
_SERVER_FAULTS = ("kill server", "kill both", "server disk full")


# --- Operations -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where the operations work: names, files, and the exports that bring the state before each."""

    corpus: str
    graph: str
    folder: Path
    target: Path
    #: Of a server that the harness alone uses.
    folders: Folders | None = None

    def file(self, name: str) -> Path:
        return self.folder / f"{name}.kgp"


@dataclass(frozen=True)
class Operation:
    """What is disturbed; `before` and `after` name exports of the corpus, None where it is gone."""

    name: str
    run: Callable[[Database, Place], object]
    before: str | None
    after: str | None
    kind: Any = CORPUS
    weight: int = 10


def _load(database: Database, place: Place) -> None:
    load(database, [place.folder / "documents"], place.corpus)


def _reload(database: Database, place: Place) -> None:
    """Load the other version of the same files: their folder takes the place of the first."""
    with _changed(place):
        load(database, [place.folder / "documents"], place.corpus)


@contextlib.contextmanager
def _changed(place: Place) -> Iterator[None]:
    for file in (place.folder / "changed").iterdir():
        shutil.copy(file, place.folder / "documents" / file.name)
    try:
        yield
    finally:
        write_documents(place.folder / "documents", "first")


def _connect(database: Database, place: Place) -> None:
    connect(database, place.corpus)


def _load_kg(database: Database, place: Place) -> None:
    types = {"has symptom": ("Disease", "Symptom")}
    load_graph(database, [place.folder / "triples.tsv"], place.graph, types=types)


def _delete(database: Database, place: Place) -> None:
    with contextlib.suppress(CorpusError):  # it was done before the fault
        delete_corpus(database, place.corpus)


def _delete_kg(database: Database, place: Place) -> None:
    with contextlib.suppress(GraphError):
        delete_graph(database, place.graph)


def _import(state: str, *, replace: bool = False) -> Callable[[Database, Place], object]:
    def run(database: Database, place: Place) -> None:
        with contextlib.suppress(CorpusError):
            import_corpus(database, place.file(state), name=place.corpus, replace=replace)

    return run


def _import_kg(database: Database, place: Place) -> None:
    with contextlib.suppress(GraphError):
        import_graph(database, place.file("graph"), name=place.graph)


def _export(database: Database, place: Place) -> None:
    export_corpus(database, place.corpus, place.target, overwrite=True)


def _install(database: Database, place: Place) -> None:
    uninstall(database)
    install(database)


def _upgrade(database: Database, place: Place) -> None:
    """As if an earlier release had been here: the schema is made again."""
    database.write("install/remember", layout=LAYOUT, schema="", procedures="", version="0.1.0")
    install(database)


def _backup(database: Database, place: Place) -> None:
    assert place.folders is not None
    server.backup(place.folders, place.file("copy"), overwrite=True)


def _restore(database: Database, place: Place) -> None:
    """Go back to the backup, which was made when the corpus was connected."""
    assert place.folders is not None
    server.restore(place.folders, place.file("kept"))


OPERATIONS = (
    Operation("load", _load, None, "loaded", weight=20),
    Operation("load again, changed", _reload, "loaded", "changed", weight=15),
    Operation("connect", _connect, "loaded", "connected", weight=15),
    Operation("load-kg", _load_kg, None, "graph", GRAPH, weight=12),
    Operation("delete", _delete, "connected", None, weight=12),
    Operation("delete a graph", _delete_kg, "graph", None, GRAPH, weight=6),
    Operation("import", _import("connected"), None, "connected", weight=18),
    Operation("import a large one", _import("large"), None, "large", weight=5),
    Operation(
        "import and replace", _import("connected", replace=True), "loaded", "connected", weight=6
    ),
    Operation("import a graph", _import_kg, None, "graph", GRAPH, weight=8),
    Operation("export", _export, "connected", "connected", weight=10),
    Operation("install", _install, "loaded", "loaded", weight=2),
    Operation("upgrade", _upgrade, "connected", "connected", weight=3),
    Operation("backup", _backup, "loaded", "loaded", weight=2),
    Operation("restore", _restore, "loaded", "connected", weight=2),
)
#: Those that stop the server, so that nothing else can be disturbed than who runs them.
_WITH_SERVER = ("backup", "restore")
#: Those that need no encoder and no server of their own.
_SHORT = ("load", "load again, changed", "load-kg", "delete", "import", "import a graph", "export")


def write_documents(folder: Path, version: str, *, documents: int = 8, passages: int = 2) -> None:
    """Write small documents, with a table, whose names meet in one another's texts."""
    folder.mkdir(parents=True, exist_ok=True)
    made = random.Random(version)
    names = [f"{a} {b}" for a in ("North", "South", "Old", "New") for b in ("Tower", "Harbour")]
    for n in range(documents):
        text = [f"# {names[n % len(names)]} {n // len(names) or ''}".strip()]
        for part in range(passages):
            words = " ".join(made.choices(["stone", "ship", "keeper", "lamp", "storm"], k=120))
            text.append(f"## Part {part}\n\nThe {made.choice(names)} has {words} in {version}.")
        # Whole or not at all, since a client may be killed here too.
        half = folder.with_name("half.md")
        half.write_text("\n\n".join(text) + "\n", encoding="utf-8")
        half.replace(folder / f"{n}.md")
    rows = [f"{1900 + n},{made.randint(1, 99)},{made.choice(names)}" for n in range(12)]
    (folder / "ships.csv").write_text("Year,Ships,Place\n" + "\n".join(rows), encoding="utf-8")


def _write_triples(file: Path) -> None:
    made = random.Random("triples")
    names = [f"ailment {n}" for n in range(30)]
    signs = [f"sign {n}" for n in range(20)]
    lines = {f"{made.choice(names)}\thas symptom\t{made.choice(signs)}" for _ in range(90)}
    file.write_text("\n".join(sorted(lines)), encoding="utf-8")


# --- Faults ---------------------------------------------------------------------------------------


def _child(run: Callable[[], object]) -> int:
    """Run in a forked process, which has everything imported; return its id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        run()
        code = 0
    except KgpError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        code = 3
    except MemoryError:
        code = 4
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stderr.flush()
        os._exit(code)


def _wait(pid: int, patience: float) -> int | None:
    """Return the exit code of a child, negative for a signal; None where it had to be killed."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


#: Bytes, in memory that processes share.
Passed: TypeAlias = Any


@contextlib.contextmanager
def proxy(
    connection: Connection, what: str, after: int, made: random.Random, passed: Passed
) -> Iterator[Connection]:
    """Stand between client and server in a process of its own, and disturb once.

    After so many bytes in both directions it cuts all connections ("cut"), holds everything back
    for up to two seconds ("delay"), or changes the first bytes of one of Bolt's messages, which
    frame it, and cuts that connection two seconds later ("garble"). `passed` is told how many bytes
    there were, up to `after`.
    """
    host, port = connection.uri.removeprefix("bolt://").split(":")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        own = listening.getsockname()[1]
        seed = made.random()
        pid = _child(lambda: _serve(listening, (host, int(port)), what, after, seed, passed))
    try:
        yield replace(connection, uri=f"bolt://127.0.0.1:{own}")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _serve(
    listening: socket.socket,
    address: tuple[str, int],
    what: str,
    after: int,
    seed: float,
    passed: Passed,
) -> None:
    made, selector, disturbed = random.Random(seed), selectors.DefaultSelector(), False
    selector.register(listening, selectors.EVENT_READ)
    others: dict[socket.socket, socket.socket] = {}
    cut_at: dict[socket.socket, float] = {}
    #: Whether what came last from each ended a message of Bolt: two bytes of 0.
    whole: dict[socket.socket, bool] = {}

    def close(one: socket.socket) -> None:
        for each in (one, others.pop(one)):
            with contextlib.suppress(KeyError, ValueError):
                selector.unregister(each)
            others.pop(each, None)
            cut_at.pop(each, None)
            whole.pop(each, None)
            each.close()

    while True:
        for each in [each for each, at in cut_at.items() if at < time.monotonic()]:
            close(each)
        for key, _ in selector.select(0.1):
            one = key.fileobj
            assert isinstance(one, socket.socket)
            if one is listening:
                client = listening.accept()[0]
                try:
                    behind = socket.create_connection(address)
                except OSError:
                    client.close()
                    continue
                others |= {client: behind, behind: client}
                for each in (client, behind):
                    each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    selector.register(each, selectors.EVENT_READ)
                continue
            if one not in others:
                continue
            try:
                data = one.recv(65536)
                if not data:
                    raise OSError
                passed.value += len(data)
                # In the middle of a message would be a value, which nothing can tell from another.
                begins = whole.get(one, False)
                whole[one] = data.endswith(b"\0\0")
                if passed.value >= after and not disturbed and (what != "garble" or begins):
                    disturbed = True
                    if what == "tell":
                        pass  # who waits for it does the rest
                    elif what == "cut":
                        for each in list(others):
                            if each in others:
                                close(each)
                        continue
                    elif what == "delay":
                        time.sleep(made.uniform(0.2, 2.0))
                    else:
                        data = bytes(made.randrange(256) for _ in data[:4]) + data[4:]
                        cut_at[one] = time.monotonic() + 2
                others[one].sendall(data)
            except OSError:
                close(one)


def _squeeze(memory: int) -> None:
    """Allow this process so many bytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + memory
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _move_clock(made: random.Random) -> None:
    """Let this process's clock jump at each look; no libfaketime is needed for that."""
    real = time.time
    year = 365 * 24 * 3600.0
    time.time = lambda: real() + made.uniform(-year, year)


# --- The harness ----------------------------------------------------------------------------------


class Harness:
    """A server, the states that operations begin and end with, and what must stay untouched."""

    def __init__(self, folder: Path, *, short: bool) -> None:
        self.short = short
        self.folder = folder
        self.mounted = False
        given = connection_from_environment() if short else None
        self.folders: Folders | None = None
        if given is None:
            self._mount(folder / "server")
            self.folders = Folders(Folders.from_environment().cache, folder / "server")
            given = server.start(self.folders, memory=_SERVER_MEMORY)
        self.connection = given
        self.database = Database(given)
        if self.folders is not None:
            install(self.database)
        own = uuid.uuid4().hex[:8]
        small = folder / "small"
        self._mount(small, "256k")
        self.small = small
        self.place = Place(
            f"faulty {own}", f"faulty {own}", folder, folder / "made.kgp", self.folders
        )
        self.other = replace(self.place, corpus=f"untouched {own}", graph=f"untouched {own}")
        self.digests: dict[str, str] = {}
        self.seconds: dict[str, float] = {}
        self.bytes: dict[str, int] = {}

    def _mount(self, folder: Path, size: str = "1500m") -> None:
        """Give a folder a small file system of its own, where that is permitted."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.short:
            return
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
            capture_output=True,
        )
        self.mounted = done.returncode == 0

    def close(self) -> None:
        for place in (self.place, self.other):
            with contextlib.suppress(KgpError):
                _delete(self.database, place)
                _delete_kg(self.database, place)
        self.database.close()
        if self.folders is not None:
            server.stop(self.folders)
        for folder in (self.small, self.folder / "server"):
            if self.mounted:
                subprocess.run(["umount", "-l", str(folder)], capture_output=True)

    def prepare(self) -> None:
        """Make every state once, undisturbed, and note digests, counts and times."""
        write_documents(self.folder / "documents", "first")
        write_documents(self.folder / "changed", "second", documents=6)
        _write_triples(self.folder / "triples.tsv")
        large = self.folder / "many"
        if not self.short:
            large.mkdir()
            records = [{"title": f"Record {n}", "text": f"Number {n}."} for n in range(520)]
            (large / "r.jsonl").write_text("\n".join(map(json.dumps, records)))
        if self.short:
            self._make("loaded", _load)
            self._keep("connected")  # without an encoder: what load has made is enough
        else:
            self._make("loaded", _load)
            self._make("connected", _connect)
        _delete(self.database, self.place)
        self._make("loaded", _load)
        self._make("changed", _reload)
        _delete(self.database, self.place)
        if not self.short:
            self._make(
                "large", lambda database, place: load(database, [large], place.corpus) and None
            )
            _delete(self.database, self.place)
        assert self._undisturbed(_load_kg) == 0, "load-kg failed undisturbed"
        export_graph(self.database, self.place.graph, self.place.file("graph"), overwrite=True)
        self.digests["graph"] = self.digest(GRAPH, self.place.graph)
        _delete_kg(self.database, self.place)
        import_corpus(self.database, self.place.file("connected"), name=self.other.corpus)
        import_graph(self.database, self.place.file("graph"), name=self.other.graph)
        self.untouched = self._untouched()
        self.empty = self._counts()
        if self.folders is not None:
            self.reach("connected", CORPUS)
            server.backup(self.folders, self.place.file("kept"))
            self._recover()
            self.reach(None, CORPUS)
        for operation in self.operations():
            if self.short:
                self.seconds[operation.name], self.bytes[operation.name] = 0.7, 1 << 18
                continue
            self.reach(operation.before, operation.kind)
            passed = multiprocessing.RawValue(ctypes.c_longlong)
            began = time.monotonic()
            with proxy(self.connection, "tell", 1 << 62, random.Random(), passed) as connection:
                code = self._undisturbed(operation.run, connection)
            self.seconds[operation.name] = time.monotonic() - began
            self.bytes[operation.name] = passed.value
            if operation.name in _WITH_SERVER:
                self._recover()
            assert code == 0, f"{operation.name} failed undisturbed"
            problems = self.problems(operation)
            assert not problems, (operation.name, problems)

    def _make(self, state: str, run: Callable[[Database, Place], object]) -> None:
        assert self._undisturbed(run) == 0, f"{state} failed undisturbed"
        self._keep(state)

    def _keep(self, state: str) -> None:
        export_corpus(self.database, self.place.corpus, self.place.file(state), overwrite=True)
        self.digests[state] = self.digest(CORPUS, self.place.corpus)

    def operations(self) -> list[Operation]:
        return [each for each in OPERATIONS if not self.short or each.name in _SHORT]

    def digest(self, kind: Any, name: str) -> str:
        """Return the sum of what an export has, without times, vectors and kept questions.

        Vectors depend in their last bits on what is encoded together, and scores on them; of two
        passages that share something, the order of loading says which comes first, and which of
        equally rare keywords are named.
        """
        sum_ = hashlib.sha256()
        found = self.database.read("transfer/root", name=name, kind=kind.label)
        if not found:
            return "none"
        root = {
            k: v
            for k, v in found[0]["properties"].items()
            if k not in kind.times and k != "connected"
        }
        root["connected"] = sorted(found[0]["properties"].get("connected", []))
        sum_.update(json.dumps(root, sort_keys=True).encode())
        lines = []
        for member, line in content(self.database, kind, name, vectors=False):
            value = json.loads(line)
            if member == "nodes.jsonl":
                value.pop("t", None)
            elif value[0].startswith(("SHARES", "SIMILAR")):
                type_, start, end, properties = value
                if not properties.get("namesTitle"):
                    start, end = sorted((start, end))
                numbers = {k: properties.get(k) for k in ("count", "namesTitle")}
                value = [type_, start, end, numbers, round(properties.get("weight", 0), 6)]
            lines.append(json.dumps(value, sort_keys=True))
        sum_.update("\n".join(sorted(lines)).encode())
        return sum_.hexdigest()[:16]

    def reach(self, state: str | None, kind: Any) -> None:
        """Bring the corpus or graph into a state, from its export."""
        if kind is GRAPH:
            _delete_kg(self.database, self.place)
            if state:
                _import_kg(self.database, self.place)
            return
        _delete(self.database, self.place)
        if state:
            _import(state)(self.database, self.place)

    def _counts(self) -> tuple[int, int]:
        row = self.database.read("inspect/counts")[0]
        return row["nodes"], row["relationships"]

    def _untouched(self) -> tuple[str, str]:
        return self.digest(CORPUS, self.other.corpus), self.digest(GRAPH, self.other.graph)

    def problems(self, operation: Operation) -> list[str]:
        """Compare the database with an undisturbed one; return what is different."""
        found = []
        name = self.place.corpus if operation.kind is CORPUS else self.place.graph
        wanted = self.digests[operation.after] if operation.after else "none"
        if self.digest(operation.kind, name) != wanted:
            found.append("the content is another")
        if operation.name == "export":
            found += self.export_problems(whole=True)
        if self._untouched() != self.untouched:
            found.append("another corpus or graph has changed")
        if operation.name in ("install", "upgrade") and not self.database.read("install/stored"):
            found.append("there are no procedures")
        self.reach(None, operation.kind)
        if not self.short and self._counts() != self.empty:
            found.append(f"{self._counts()} nodes and relationships are left, not {self.empty}")
        return found

    def visible_problems(self, operation: Operation) -> list[str]:
        """Return what is wrong with what can be seen after the fault, before the second run."""
        if operation.name.startswith("import"):
            name = self.place.corpus if operation.kind is CORPUS else self.place.graph
            allowed = {"none", self.digests[operation.after or ""]}
            if operation.before:
                # The old one goes a few thousand nodes at a time, once the file is found good.
                return []
            if self.digest(operation.kind, name) not in allowed:
                return ["half an import is visible"]
        if operation.name == "export":
            return self.export_problems(whole=False)
        return []

    def export_problems(self, *, whole: bool) -> list[str]:
        target = self.place.target
        if not target.exists():
            return ["there is no export"] if whole else []
        same = target.read_bytes() == self._reference()
        return [] if same else ["the export is half, or has other content"]

    def _reference(self) -> bytes:
        made = self.folder / "reference.kgp"
        export_corpus(self.database, self.place.corpus, made, overwrite=True)
        return made.read_bytes()

    def _undisturbed(
        self, run: Callable[[Database, Place], object], connection: Connection | None = None
    ) -> int | None:
        connection = connection or self.connection
        return _wait(_child(lambda: self._open_and(run, connection, self.place)), _RECOVERY)

    def _open_and(
        self, run: Callable[[Database, Place], object], connection: Connection, place: Place
    ) -> None:
        with Database(connection) as database:
            run(database, place)

    def fault(self, number: int, seed: int) -> dict[str, Any]:
        """Make one fault, run the operation again, and return the line for the log."""
        made = random.Random(f"{seed}/{number}")
        operations = self.operations()
        operation = made.choices(operations, [each.weight for each in operations])[0]
        kinds = {k: w for k, w in _WEIGHTS.items() if k not in _SERVER_FAULTS or not self.short}
        if not self.mounted:
            kinds.pop("server disk full", None)
        if operation.name != "export":
            kinds.pop("disk full")
        else:
            kinds["disk full"] *= 8
        if operation.name in _WITH_SERVER:
            kinds = {"kill client": 1}
        kind = made.choices(list(kinds), list(kinds.values()))[0]
        self.place.target.unlink(missing_ok=True)
        self.reach(operation.before, operation.kind)
        before = self._counts()
        began = time.monotonic()
        at = made.uniform(0, 1.1) * self.seconds[operation.name]
        code = self._disturb(kind, operation, at, made)
        stopped = kind in _SERVER_FAULTS or operation.name in _WITH_SERVER
        if self.folders is not None and stopped:
            self._recover()
        problems = self.visible_problems(operation)
        half = self._counts() != before
        again = self._undisturbed(operation.run)
        if operation.name in _WITH_SERVER:
            self._recover()
        if again != 0:
            problems.append(f"the second run ended with {again}")
        problems += self.problems(operation)
        return {
            "n": number,
            "seed": seed,
            "fault": kind,
            "operation": operation.name,
            "at": round(at, 3),
            "client": "hung" if code is None else code,
            "wrote": half,
            "problems": problems,
            "seconds": round(time.monotonic() - began, 2),
        }

    def _disturb(
        self, kind: str, operation: Operation, at: float, made: random.Random
    ) -> int | None:
        connection, place = self.connection, self.place
        with contextlib.ExitStack() as around:
            passed = multiprocessing.RawValue(ctypes.c_longlong)
            after = int(made.uniform(0, 1) * self.bytes[operation.name])
            by_time = kind in ("kill client", *_SERVER_FAULTS) and made.random() < 0.5
            if kind in ("cut", "delay", "garble", "kill client", *_SERVER_FAULTS):
                what = kind if kind in ("cut", "delay", "garble") else "tell"
                connection = around.enter_context(proxy(connection, what, after, made, passed))
            if kind == "disk full":
                if self.mounted:
                    place = replace(place, target=self.small / "made.kgp")
                balloon = self.small / "balloon"
                around.callback(lambda: [f.unlink() for f in self.small.iterdir()])
                if self.mounted:
                    with contextlib.suppress(OSError):
                        balloon.write_bytes(b"0" * (1 << 18))
                    with contextlib.suppress(OSError):
                        os.truncate(balloon, made.randrange(240_000, 1 << 18))

            def run() -> None:
                _quiet()
                if kind == "memory":
                    _squeeze(int(2 ** made.uniform(16, 28)))
                if kind == "clock":
                    _move_clock(made)
                if kind == "disk full" and not self.mounted:
                    limit = made.randrange(100, 6_000)
                    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                self._open_and(operation.run, connection, place)

            pid = _child(run)
            if kind.startswith("kill") or kind == "server disk full":
                if by_time or operation.name in _WITH_SERVER:
                    ended = _wait_until(pid, at)
                else:
                    ended = _wait_until(pid, _PATIENCE, lambda: passed.value >= after)
                if ended is not None and kind == "kill client":
                    return ended
                if kind in ("kill server", "kill both"):
                    self._kill_server()
                if kind == "server disk full":
                    return self._fill_server(pid, ended)
                if kind != "kill server" and ended is None:
                    os.kill(pid, signal.SIGKILL)
                if ended is not None:
                    return ended
            return _wait(pid, _PATIENCE)

    def _kill_server(self) -> None:
        assert self.folders is not None
        state = read_state(self.folders.home)
        assert state is not None
        os.kill(state.pid, signal.SIGKILL)

    def _fill_server(self, pid: int, ended: int | None) -> int | None:
        assert self.folders is not None
        balloon = self.folders.home / "balloon"
        try:
            with contextlib.suppress(OSError), balloon.open("wb") as file:
                while True:
                    file.write(b"0" * (1 << 20))
            code = ended if ended is not None else _wait(pid, 20)
        finally:
            balloon.unlink(missing_ok=True)
        self._kill_server()  # a database that met a full disk may have closed itself
        return code

    def _recover(self) -> None:
        assert self.folders is not None
        self.database.close()
        self.connection = server.ensure(self.folders)
        self.database = Database(self.connection)


def _wait_until(
    pid: int, seconds: float, reached: Callable[[], bool] = lambda: False
) -> int | None:
    """Wait so long at most, or until `reached`; return the exit code where the child ended."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not reached():
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


def _quiet() -> None:
    """Say nothing: the errors of a disturbed client are expected. End with the harness."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


# --- The command line -----------------------------------------------------------------------------


def summary(lines: list[dict[str, Any]]) -> str:
    """Return a table of faults by kind and operation."""
    made = [
        "| fault | faults | met it while writing | client failed | problems |",
        "|---|---|---|---|---|",
    ]
    for key in ("fault", "operation"):
        for name, count in sorted(Counter(line[key] for line in lines).items()):
            own = [line for line in lines if line[key] == name]
            made.append(
                f"| {name} | {count} | {sum(line['wrote'] for line in own)} | "
                f"{sum(line['client'] != 0 for line in own)} | "
                f"{sum(bool(line['problems']) for line in own)} |"
            )
    wrong = sum(bool(line["problems"]) for line in lines)
    seconds = sum(line["seconds"] for line in lines)
    made.append(f"\n{len(lines)} faults, {wrong} with problems, {seconds / 60:.0f} minutes.")
    return "\n".join(made)


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    arguments.add_argument("--faults", type=int, default=1000)
    arguments.add_argument("--minutes", type=float, default=60.0)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--log", type=Path, help="the log; a run with it goes on where it was")
    arguments.add_argument(
        "--short", action="store_true", help="no encoder, and the server of NEO4J_URI if it is set"
    )
    chosen = arguments.parse_args()
    lines: list[dict[str, Any]] = []
    if chosen.log and chosen.log.exists():
        lines = [json.loads(line) for line in chosen.log.read_text().splitlines()]
    until = time.monotonic() + 60 * chosen.minutes
    with tempfile.TemporaryDirectory(prefix="kgp-faults-") as folder:
        harness = Harness(Path(folder), short=chosen.short)
        try:
            harness.prepare()
            for number in range(len(lines), chosen.faults):
                if time.monotonic() > until:
                    break
                line = harness.fault(number, chosen.seed)
                lines.append(line)
                text = json.dumps(line)
                if chosen.log:
                    with chosen.log.open("a") as file:
                        file.write(text + "\n")
                if line["problems"]:
                    print(text, flush=True)
        finally:
            harness.close()
    print(summary(lines))
    return 1 if any(line["problems"] for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
