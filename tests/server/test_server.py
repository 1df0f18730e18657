"""The embedded server: real ones, started as seldom as can be, its lines, a real HTTP mirror."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import commands
import psutil
import pytest
from graphs import write_file
from neo4j import GraphDatabase
from neo4j.exceptions import Neo4jError

from kgp_neo4j.environment.disk import require_free
from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.graphdb.server import jars, startup
from kgp_neo4j.graphdb.server import startup as server
from kgp_neo4j.graphdb.server.jars import LINES, Artifact, Lock, load_lock, sha256_of
from kgp_neo4j.graphdb.statements import folder
from kgp_neo4j.types.errors import ConfigurationError, ServerError

ENSURE = """
from kgp_neo4j.graphdb.server import startup as server
from kgp_neo4j.environment.folders import Folders
connection = server.ensure(Folders.from_environment())
print(server.status(Folders.from_environment()).pid, connection.uri)
"""


def _places(folders: Folders) -> dict[str, str]:
    return {"KGP_NEO4J_HOME": str(folders.home), "KGP_NEO4J_CACHE": str(folders.cache)}


def kgp(folders: Folders, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command line on the home of a test."""
    return commands.kgp(*arguments, **_places(folders), **more)


def value(connection: Connection, query: str) -> object:
    auth = (connection.username, connection.password)
    with GraphDatabase.driver(connection.uri, auth=auth) as driver:
        return driver.execute_query(query).records[0][0]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Folders]:
    """A server that two processes asked for at once, while the usual ports were taken."""
    made = Folders.from_environment(tmp_path_factory.mktemp("server") / "home with a space")
    taken = []
    for port in (7687, 7474):
        other = socket.socket()
        try:
            other.bind(("127.0.0.1", port))
            other.listen()
        except OSError:
            pass  # another program has it: as good
        taken.append(other)
    try:
        both = [
            subprocess.Popen(
                [sys.executable, "-c", ENSURE],
                env=os.environ | _places(made),
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        said = [child.communicate()[0].strip() for child in both]
        assert said[0], "the first process started no server"
        assert said[0] == said[1], "each process started a server of its own"
        yield made
    finally:
        for other in taken:
            other.close()
        server.stop(made)


def test_second_start_is_the_same_server(running: Folders) -> None:
    before = server.status(running)
    said: list[str] = []
    connection = server.ensure(running)
    assert server.start(running, echo=said.append) == connection
    # The usual ones are taken.
    assert connection.uri != "bolt://127.0.0.1:7687"
    assert connection.browser != "http://127.0.0.1:7474"
    assert server.status(running) == before
    assert before.running
    assert before.version == load_lock().version()
    assert not any("Starting" in line for line in said)


def test_plugins_answer(running: Folders) -> None:
    connection = server.ensure(running)
    lock = load_lock()
    assert value(connection, "RETURN gds.version()") == lock.version("org.neo4j.gds:proc")
    assert value(connection, "CALL custom.kgp.help() YIELD procedure RETURN count(*)") == len(
        folder("procedures")
    )


def test_browser_comes_with_our_style_and_guide(running: Folders) -> None:
    address = server.ensure(running).browser

    def get(path: str) -> bytes:
        with urllib.request.urlopen(f"{address}/browser/{path}") as answer:
            return bytes(answer.read())

    # Before Browser's own scripts.
    assert get("").partition(b"<body>")[2].startswith(b'<script src="kgp/style.js"></script>')
    assert b'class="guide"' in get("kgp/guide.html")
    assert b"neo4j.grass" in get("kgp/style.js")


def test_listens_on_loopback_only(running: Folders) -> None:
    found = psutil.Process(server.status(running).pid).net_connections("tcp")
    listening = {c.laddr.ip.removeprefix("::ffff:") for c in found if c.status == "LISTEN"}
    assert listening == {"127.0.0.1"}


def test_password_is_private_and_not_on_the_command_line(running: Folders) -> None:
    connection = server.ensure(running)
    file = startup.password_file(running.home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(running.home.stat().st_mode) == 0o700
    assert file.read_text().strip() == connection.password
    assert connection.password not in repr(connection)
    command = psutil.Process(server.status(running).pid).cmdline()
    assert not any(connection.password in argument for argument in command)
    written = [p for p in running.home.rglob("*") if p.is_file() and p != file]
    assert not [p for p in written if connection.password.encode() in p.read_bytes()]


def test_command_line(running: Folders) -> None:
    secret = server.ensure(running).password
    shown = kgp(running, "server", "status", "--json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["uri"] == server.ensure(running).uri
    # BROWSER names a web browser; this one does nothing.
    opened = kgp(running, "server", "open", BROWSER="true")
    assert "/browser/?dbms=bolt%3A%2F%2Fneo4j%40127.0.0.1" in opened.stdout
    assert secret not in opened.stdout + opened.stderr
    assert secret in kgp(running, "server", "open", "--show-password", BROWSER="true").stdout
    assert "Bolt enabled" in kgp(running, "server", "logs", "-n", "50").stdout
    assert secret not in kgp(running, "server", "start").stdout


@pytest.mark.slow
def test_killed_server_keeps_its_data(running: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = server.ensure(running)
    value(connection, "CREATE (n:Kept {name: 'still here'}) RETURN n.name")
    pid = server.status(running).pid
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=30)
    assert not server.status(running).running
    said: list[str] = []
    monkeypatch.setenv("KGP_NEO4J_ALLOW_FILES", "1")
    again = server.ensure(running, echo=said.append)
    assert any("ended without being stopped" in line for line in said)
    assert server.status(running).pid != pid
    assert again == connection, "the ports or the password changed over a restart"
    assert value(again, "MATCH (n:Kept) RETURN n.name") == "still here"
    # Who asks for it may read files in a query (tests/security has what is refused otherwise).
    assert any("may read and write files" in line for line in said)
    write_file(running.home / "import" / "rows.csv", "read me\n")
    assert value(again, "LOAD CSV FROM 'file:///rows.csv' AS line RETURN line") == ["read me"]
    with pytest.raises(Neo4jError):
        value(again, "LOAD CSV FROM 'file:///../password' AS line RETURN line")


def test_stop_and_a_recycled_process_number(running: Folders) -> None:
    state = startup.read_state(running.home)
    stopped = kgp(running, "server", "stop", "--json")
    assert json.loads(stopped.stdout)["result"] == "stopped"
    assert not server.status(running).running
    assert server.stop(running) == "not running"
    # The system has given the server's number to this very process, which must live on.
    mine = json.dumps({**asdict(state), "pid": os.getpid()})
    startup.state_file(running.home).write_text(mine)
    assert not server.status(running).running
    assert server.stop(running) == "not running"


def test_file_where_the_home_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ServerError, match=r"a file stands where a folder is needed.*--home"):
        server.start(Folders.from_environment(tmp_path / "file" / "home"))


def test_too_little_room(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"need 10+ MB, but the disk has \d+ MB free. Free"):
        require_free(tmp_path / "not" / "yet", 10**21 - 1, "The jars")


def test_full_disk_while_fetching(mirror: Mirror) -> None:
    # Every write to /dev/full fails as on a full disk.
    write_file(mirror.path, "")
    mirror.path.with_name(mirror.path.name + ".part").symlink_to("/dev/full")
    with pytest.raises(ServerError, match="the disk is full"):
        mirror.fetch()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("java.io.IOException: No space left on device", "the disk is full"),
        ("org.neo4j.kernel.StoreLockException: x", "another server has this folder's data open"),
        ("java.lang.OutOfMemoryError: Java heap space", "there is not enough memory"),
        ("Exception in thread main: Unexpected", "Exception in thread main: Unexpected"),
    ],
)
def test_failed_start_tells_the_reason(tmp_path: Path, said: str, told: str) -> None:
    write_file(tmp_path / "logs" / "console.log", f"banner\n{said}\n\tat somewhere\n")
    assert told in str(startup.failure(tmp_path, 0, "The server ended"))
    assert told not in str(startup.failure(tmp_path, time.time() + 0.1, "The next one ended"))


def test_password_file_gone(tmp_path: Path) -> None:
    (tmp_path / "data" / "databases" / "system").mkdir(parents=True)
    with pytest.raises(ServerError, match="password file of the embedded database is gone"):
        server.start(Folders.from_environment(tmp_path))


def java_home(folder: Path, version: str) -> Path:
    program = write_file(folder / "bin" / "java", "#!/bin/sh\necho broken >&2\nexit 3\n")
    program.chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\n')
    return folder


def test_java_home_is_used_if_it_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(home: Path, line: str = "5.26") -> startup.Java:
        monkeypatch.setenv("JAVA_HOME", str(home))
        return startup.find_java(LINES[line])

    for version in ("17.0.15", "21.0.8"):
        home = java_home(tmp_path / version, version)
        assert chosen(home).home == home
    for version in ("1.8.0_412", "11.0.2", "25"):
        found = chosen(java_home(tmp_path / version, version))
        assert found.version.startswith("21.")
        assert "is no Java 17 or 21, which Neo4j 5.26 needs" in found.note
    assert "is no Java 17 or 21" in str(chosen(tmp_path).note)
    assert "no Java 21, which Neo4j 2026 needs" in str(chosen(tmp_path / "17.0.15", "2026").note)


def test_java_that_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path / "java", "17.0.1")))
    with pytest.raises(ServerError, match=r"ended while it was starting(.|\n)*broken"):
        server.start(Folders.from_environment(tmp_path / "home"))


def test_memory_by_the_size_of_the_machine() -> None:
    gibi = 1024**3
    assert startup.choose_memory(4 * gibi) == startup.Memory(1024, 614)
    assert startup.choose_memory(1 * gibi) == startup.Memory(400, 240)
    assert startup.choose_memory(256 * gibi) == startup.Memory(7680, 4608)
    assert startup.choose_memory(8 * gibi, "4g") == startup.Memory(2560, 1536)
    # A larger store gets more, as far as it goes.
    assert startup.choose_memory(8 * gibi, "4g", gibi) == startup.Memory(2560, 1536)
    assert startup.choose_memory(8 * gibi, "4g", 2 * gibi) == startup.Memory(2048, 2048)
    assert startup.choose_memory(8 * gibi, "4g", 9 * gibi) == startup.Memory(1536, 2560)
    for wrong in ("plenty", "100m", "9g"):
        with pytest.raises(ConfigurationError, match=wrong):
            startup.choose_memory(8 * gibi, wrong)


def test_the_archive_is_made_once_nothing_runs_and_used_once_it_is_there(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        startup, "launch", lambda words, *_: startup._make(words[3], *map(Path, words[4:]))
    )
    installed, found = jars.install(folders.cache), startup.find_java(LINES["5.26"])
    made = startup._archive(tmp_path, installed, found)
    made.parent.mkdir()
    # The last line is being written.
    write_file(tmp_path / "run" / "classes.txt", "java/lang/Object id: 0\njava/lang/Str")
    startup.make_archive(tmp_path, tmp_path, installed, found)
    suffixes = {each.suffix for each in made.parent.iterdir()}
    assert suffixes == {made.suffix, ".args", ".lock", ".txt"}
    browser = tmp_path / "browser.jar"
    *class_path, archived = startup.archive_options(tmp_path, tmp_path, installed, found, browser)
    assert archived == f"-XX:SharedArchiveFile={made}"
    assert class_path[1].endswith(f"{os.pathsep}{browser}")
    # Without it a start lists its classes, over the same class path.
    made.unlink()
    first = startup.archive_options(tmp_path, tmp_path, installed, found, browser)
    assert first[:-1] == class_path
    assert first[-1].startswith("-XX:DumpLoadedClassList=")


@pytest.mark.parametrize("line", LINES)
def test_the_lock_is_of_what_is_wanted(line: str) -> None:
    """Every library of neo4j.toml is locked in its version, none twice."""
    wanted = tomllib.loads((Path(jars.__file__).parent / "neo4j.toml").read_text())
    locked = [artifact.coordinate for artifact in load_lock(line).artifacts]
    assert {one for group in wanted[line].values() for one in group} <= set(locked)
    libraries = [tuple(one.split(":")[:2] + one.split(":")[3:]) for one in locked]
    assert len(set(libraries)) == len(libraries)
    assert not {":".join(name) for name in libraries} & set(wanted["exclude"])
    assert load_lock(line).version().startswith(line)


def test_signed_jars_are_copied_without_their_signatures(folders: Folders) -> None:
    """The Java machine archives no class of a signed jar."""
    class_path = jars.install(folders.cache).class_path
    copies = {path.name: path for path in class_path if path.name.startswith("eclipse-coll")}
    assert len(copies) == 2
    for path in (folders.cache / "maven").rglob("eclipse-collections-*.jar"):
        with zipfile.ZipFile(path) as jar, zipfile.ZipFile(copies[path.name]) as unsigned:
            gone = set(jar.namelist()) - set(unsigned.namelist())
        assert gone
        assert all(re.fullmatch(r"META-INF/[^/]+\.(SF|RSA)", name) for name in gone)


class Mirror(ThreadingHTTPServer):
    """A Maven repository on loopback with one jar; what it does wrong is set by each test."""

    data = os.urandom(1 << 20)

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Jar)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.asked: list[tuple[str, str | None]] = []
        #: How many answers are cut off in the middle; whether all bytes are wrong.
        self.cut, self.wrong = 0, False
        digest = hashlib.sha256(self.data).hexdigest()
        self.jar = Artifact("org.example:large:1.0", "lib", len(self.data), digest)
        self.root, self.path = root, root / self.jar.path

    def fetch(self) -> str:
        """Fetch what is missing or damaged; return what is told."""
        said: list[str] = []
        jars._fetch_missing(self.root, Lock((self.jar,)), said.append)
        assert self.path.read_bytes() == self.data
        return "\n".join(said)


class _Jar(BaseHTTPRequestHandler):
    server: Mirror
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        data = bytes(len(self.server.data)) if self.server.wrong else self.server.data
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(data) - begin))
        self.end_headers()
        if self.server.cut:
            self.server.cut -= 1
            data = data[: (begin + len(data)) // 2]
            self.close_connection = True
        with contextlib.suppress(ConnectionError):  # the client may leave early
            self.wfile.write(data[begin:])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    with Mirror(tmp_path) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        monkeypatch.setenv("KGP_NEO4J_MAVEN_MIRROR", made.address)
        monkeypatch.setattr(jars, "_MORE", 0.01)
        yield made
        made.shutdown()


def test_damaged_jar_is_found_and_fetched_anew_from_the_mirror(mirror: Mirror) -> None:
    write_file(mirror.path, "damaged")
    assert f"{mirror.path.name} is damaged" in mirror.fetch()
    assert mirror.asked == [(f"/{mirror.jar.path}", None)]
    mirror.fetch()
    assert len(mirror.asked) == 1, "a good cache asks nobody"


def test_all_jars_are_verified_when_asked(folders: Folders) -> None:
    said: list[str] = []
    jars.install(folders.cache, echo=said.append)
    assert said == []
    jars.install(folders.cache, verify=True, echo=said.append)
    assert said == [f"Verifying {len(load_lock().artifacts)} jars"]


def test_wrong_bytes_are_refused(mirror: Mirror) -> None:
    mirror.wrong = True
    with pytest.raises(ServerError, match=r"127\.0\.0\.1: the bytes received do not match the SHA"):
        mirror.fetch()
    assert not mirror.path.exists()


def test_broken_download_is_resumed_also_by_the_next_run(mirror: Mirror) -> None:
    mirror.cut = 4
    with pytest.raises(ServerError, match=r"the connection .*Run the command again"):
        mirror.fetch()
    mirror.fetch()
    asked = [int(wanted[6:-1]) if wanted else 0 for _, wanted in mirror.asked]
    assert len(asked) == 5
    assert asked == sorted(set(asked)), "it did not go on where it was cut off"


def test_mirror_must_be_an_address(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGP_NEO4J_MAVEN_MIRROR", "user:secret@somewhere")
    with pytest.raises(ConfigurationError, match="not an http or https address") as caught:
        mirror.fetch()
    assert "secret" not in str(caught.value)


_LANGUAGE = "SHOW DATABASES YIELD name, defaultLanguage WHERE name = 'neo4j' RETURN defaultLanguage"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folders]:
    monkeypatch.delenv("KGP_NEO4J_SERVER", raising=False)
    made = Folders.from_environment(tmp_path / "home")
    yield made
    server.stop(made)


def _digests(data: Path) -> dict[str, str]:
    files = [path for path in sorted(data.rglob("*")) if path.is_file()]
    return {str(path.relative_to(data)): sha256_of(path) for path in files}


@pytest.mark.slow
def test_data_are_upgraded_as_a_copy(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = server.start(home, memory="640m")
    value(connection, "CREATE (n:Kept {name: 'still here'}) RETURN n.name")
    data = home.home / "data"
    with monkeypatch.context() as patch:
        patch.setattr(server, "_LEAST_BESIDE", 10**18)
        with pytest.raises(ServerError, match=r"need \d+ MB, but .* The data are as they were"):
            server.use(home, "2026")
    assert server.status(home).running
    # What one that was cut off has left is in nobody's way.
    (home.home / "data-2026.part" / "databases" / "system").mkdir(parents=True)
    copied: list[dict[str, str]] = []
    copy = server.copytree

    def looking(old: Path, part: Path) -> None:
        copied.append(_digests(old))
        copy(old, part)

    monkeypatch.setattr(server, "copytree", looking)
    used = server.use(home, "2026")
    after = server.status(home)
    assert after.running, "the server ran before"
    assert used.version == after.version == load_lock("2026").version()
    assert used.data == after.data
    assert (after.heap, after.page_cache) == (400, 240)
    assert sorted(folder.name for folder in home.home.glob("data*")) == ["data", "data-2026"]
    assert used.backup == str(data)
    assert [_digests(data)] == copied
    upgraded = server.ensure(home)
    assert upgraded == connection, "the ports or the password changed"
    assert value(upgraded, "MATCH (n:Kept) RETURN n.name") == "still here"
    assert value(upgraded, _LANGUAGE) == "CYPHER 5", "queries mean what they meant"
    gds = load_lock("2026").version("org.neo4j.gds:proc")
    assert value(upgraded, "RETURN gds.version()") == gds
    # There is no way back for these data; those of before the upgrade are as they were.
    refused = kgp(home, "server", "use", "5.26")
    assert refused.returncode == 1
    assert "which 5.26 cannot read. Export what" in refused.stderr
    assert f"{data} has the data of before" in refused.stderr
    server.stop(home)
    Path(used.data).rename(home.home / "elsewhere")
    assert server.status(home).version == load_lock("5.26").version()


def test_a_failed_upgrade_changes_nothing(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(home.home / "data" / "databases" / "system" / "neostore", "kept")
    startup.password_file(home.home).write_text("secret")
    before = _digests(home.home / "data")
    monkeypatch.setenv("JAVA_HOME", str(java_home(home.home.parent / "java", "21.0.1")))
    with pytest.raises(ServerError, match=r"to Neo4j 2026: The server ended(.|\n)*broken"):
        server.use(home, "2026")
    assert [folder.name for folder in home.home.glob("data*")] == ["data"]
    assert _digests(home.home / "data") == before
    assert server.status(home).version == load_lock("5.26").version()


@pytest.mark.slow
def test_a_new_home_of_2026_has_cypher_25(home: Folders) -> None:
    used = kgp(home, "server", "use", "2026", "--json")
    assert json.loads(used.stdout)["version"] == load_lock("2026").version(), used.stderr
    connection = server.start(home, memory="640m")
    assert value(connection, _LANGUAGE) == "CYPHER 25"
    assert "WARN" not in (home.home / "logs" / "neo4j.log").read_text()


def test_a_home_without_data_changes_freely(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server.status(home).version == load_lock("5.26").version()
    monkeypatch.setenv("KGP_NEO4J_SERVER", "2026")
    assert server.status(home).version == load_lock("2026").version()
    assert server.status(home).data.endswith("data-2026")
    assert server.use(home, "5.26").backup is None
    assert server.status(home).version == load_lock("5.26").version(), (
        "the variable is for new ones"
    )
    server.use(home, "2026")
    assert [folder.name for folder in home.home.glob("data*")] == ["data-2026"]
    monkeypatch.setenv("KGP_NEO4J_SERVER", "4.4")
    with pytest.raises(ConfigurationError, match=r"'4\.4'.*Set it to 5\.26 or 2026"):
        server.status(home)
