"""The lines of Neo4j that the embedded server can be, and their jars: fetched, verified, laid out.

Each line keeps its data in a folder of its own, and the newest that is there says which one the
home has: so an upgrade works on a copy, and counts from the moment when that copy is renamed.

Neo4j serves the Browser of its class path, where our jar replaces Browser's own: a copy of it, with
`cypher/browser/style.grass` and `guide.html` added, so that all are served from the same address. A
command opens the guide after the login. A style loaded by such a command would be shown as a
listing, so a script in Browser's page stores ours in the browser's local storage before it starts.
"""

import contextlib
import hashlib
import json
import os
import re
import threading
import time
import tomllib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit
from zipfile import ZIP_DEFLATED, ZipFile, is_zipfile

import msgspec

from kgp_neo4j.environment import disk
from kgp_neo4j.environment.job import bar
from kgp_neo4j.graphdb.plugin import plugin_jar
from kgp_neo4j.types.errors import ConfigurationError, ServerError

_Echo = Callable[[str], object]
_HERE = files(__package__)
#: Names the line of a home that has none yet.
VARIABLE = "KGP_NEO4J_SERVER"


@dataclass(frozen=True, slots=True)
class Line:
    """Releases of Neo4j that read each other's data; lines.toml describes the fields."""

    name: str
    data: str
    main: str
    java: tuple[str, ...]
    conf: str


#: By name, from the oldest; the first is the default.
LINES = {
    name: msgspec.convert({"name": name, **told}, Line)
    for name, told in tomllib.loads((_HERE / "lines.toml").read_text("utf-8")).items()
}
DEFAULT = next(iter(LINES))


def line_of(home: Path) -> Line:
    """Return the line of a home; of a new one, what KGP_NEO4J_SERVER says, or the default.

    Raises ConfigurationError where that variable names no line.
    """
    name = os.environ.get(VARIABLE, "").strip() or DEFAULT
    if name not in LINES:
        what = f"{VARIABLE} is {name!r}, which is no line of Neo4j that can be embedded"
        raise ConfigurationError(what, hint=f"Set it to {' or '.join(LINES)}, or unset it.")
    there = [line for line in LINES.values() if (home / line.data).is_dir()]
    return there[-1] if there else LINES[name]


def has_data(data: Path) -> bool:
    """Return whether a server has started in a folder of data."""
    return (data / "databases" / "system").exists()


@dataclass(frozen=True, slots=True)
class Artifact:
    """A jar `group:name:version[:classifier]`; its role is `plugin` with procedures, else `lib`."""

    coordinate: str
    role: str
    size: int
    sha256: str

    @property
    def path(self) -> PurePosixPath:
        """The path of the jar in a Maven repository, and below our cache folder."""
        group, name, version, *classifier = self.coordinate.split(":")
        file = "-".join([name, version, *classifier])
        return PurePosixPath(*group.split("."), name, version, f"{file}.jar")


@dataclass(frozen=True, slots=True)
class Lock:
    """The jars of one line of Neo4j."""

    artifacts: tuple[Artifact, ...]

    @property
    def id(self) -> str:
        """What identifies this list of jars; it changes with any of them."""
        digest = hashlib.sha256("".join(a.role + a.sha256 for a in self.artifacts).encode())
        return f"{self.version()}-{digest.hexdigest()[:12]}"

    def version(self, library: str = "org.neo4j:neo4j") -> str:
        """Return the version of a library, `group:name`; of Neo4j without one."""
        names = (each.coordinate.split(":") for each in self.artifacts)
        return next(version for group, name, version, *_ in names if f"{group}:{name}" == library)


@cache
def load_lock(line: str = DEFAULT) -> Lock:
    """Return the lock file of a line of Neo4j, which is part of this package."""
    lines = (_HERE / f"neo4j-{line}.lock").read_text(encoding="utf-8").splitlines()
    rows = [row.split() for row in lines if row[0] != "#"]
    return Lock(tuple(Artifact(name, role, int(size), sum_) for name, role, size, sum_ in rows))


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


#: Signed jars whose classes the server loads. The JVM checks the signature of each such class, and
#: archives none (startup.py): as the jars were compared with their SHA-256 before, copies without
#: their signatures serve. Some Javas require those of Bouncy Castle, whose classes are not loaded.
_SIGNED = "eclipse-collections-"
_SIGNATURE = re.compile(r"META-INF/[^/]+\.(SF|RSA|DSA|EC)")


@dataclass(frozen=True, slots=True)
class Installation:
    """The paths of the installed jars."""

    lock: Lock
    #: The folder that Neo4j scans for procedures: copies of jars of the class path, and our own.
    plugins: Path
    #: Neo4j Browser as it was published.
    browser: Path
    #: Every other jar but our own, in an order that does not change from start to start.
    class_path: tuple[Path, ...]


def install(
    cache: Path, line: str = DEFAULT, *, verify: bool = False, echo: _Echo = lambda _: None
) -> Installation:
    """Return the jars of a line of Neo4j, fetching what is missing or damaged.

    The SHA-256 of all jars is computed where size or modification time of one has changed since,
    or with `verify`; a call with all jars verified takes about 10 ms.
    """
    lock, root = load_lock(line), cache / "maven"
    jars = [root / artifact.path for artifact in lock.artifacts]
    # Named by all that is in it, so that packages with other jars may share a cache.
    plugins = cache / "plugins" / f"{lock.id}-{sha256_of(plugin_jar())[:12]}"
    scanned = [root / each.path for each in lock.artifacts if each.role == "plugin"]
    unsigned = {jar: cache / "classes" / jar.name for jar in jars if jar.name.startswith(_SIGNED)}
    copies = unsigned | {jar: plugins / jar.name for jar in (*scanned, plugin_jar())}
    verified = cache / f"verified-{lock.id}.txt"
    try:
        is_verified = verified.read_text(encoding="utf-8") == _stamps(root, lock)
    except (OSError, UnicodeDecodeError):
        is_verified = False
    if verify or not is_verified or not all(map(Path.exists, copies.values())):
        busy = "Another process is fetching the database; waiting for it"
        laying_out = disk.disk_errors(cache, "The jars could not be laid out")
        with disk.locked(cache / "lock", busy, echo), laying_out:
            _fetch_missing(root, lock, echo)
            for jar, copy in copies.items():
                if not copy.exists():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    _copy_jar(jar, copy, _unsigned)
            disk.write_private(verified, _stamps(root, lock))
    browser = next(jar for jar in jars if jar.name.startswith("neo4j-browser-"))
    class_path = tuple(unsigned.get(jar, jar) for jar in jars if jar != browser)
    return Installation(lock, plugins, browser, class_path)


def _stamps(root: Path, lock: Lock) -> str:
    """Return size and modification time of each jar, as the file of those verified has them."""
    stats = [(root / artifact.path).stat() for artifact in lock.artifacts]
    return "".join(f"{stat.st_size} {stat.st_mtime_ns}\n" for stat in stats)


def _fetch_missing(root: Path, lock: Lock, echo: _Echo) -> None:
    present = [a for a in lock.artifacts if (root / a.path).is_file()]
    if present:
        echo(f"Verifying {len(present)} jars")
    for artifact in present:
        path = root / artifact.path
        if sha256_of(path) != artifact.sha256:
            echo(f"{path.name} is damaged (its SHA-256 is another): fetching it anew")
            path.unlink()
    if missing := [a for a in lock.artifacts if not (root / a.path).is_file()]:
        fetch(missing, root, "Neo4j", echo)


def _unsigned(name: str, content: bytes) -> bytes | None:
    return None if _SIGNATURE.fullmatch(name) else content


def _copy_jar(
    jar: Path,
    copy: Path,
    change: Callable[[str, bytes], bytes | None],
    added: Mapping[str, str] | None = None,
) -> None:
    """Copy a jar with its entries changed or left out, and others added."""
    with (
        ZipFile(jar) as source,
        disk.replacing(copy) as file,
        ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as out,
    ):
        for entry in source.infolist():
            content = change(entry.filename, source.read(entry))
            if content is not None:
                out.writestr(entry, content)
        for name, text in (added or {}).items():
            out.writestr(name, text)


#: Folders in the jar: Browser's and ours.
_ROOT, _FOLDER = "browser/", "browser/kgp/"
_PAGE, _BODY = "browser/index.html", b"<body>"
_OWN_SCRIPT = b'<script src="kgp/style.js"></script>'


def prepare_browser(cache: Path, installed: Installation) -> Path:
    """Return the jar of Browser with our style and guide.

    The cache has one for each Browser jar and version of our files. Raises ServerError.
    """
    style, guide = _text("style.grass"), _text("guide.html")
    ours = {"style.grass": style, "guide.html": guide, "style.js": _style_script(style)}
    digest = hashlib.sha256("\0".join(ours.values()).encode())
    path = cache / "browser" / f"{installed.lock.id}-{digest.hexdigest()[:16]}.jar"
    if not is_zipfile(path):
        disk.private_folder(path.parent)
        for old in path.parent.glob(f"{installed.lock.id}-*.jar"):
            with contextlib.suppress(OSError):  # Windows: another server has it open
                old.unlink()
        # Neo4j looks for the folder itself.
        added = {_ROOT: ""} | {f"{_FOLDER}{name}": text for name, text in ours.items()}
        _copy_jar(installed.browser, path, _with_script, added)
    return path


def _with_script(name: str, content: bytes) -> bytes | None:
    if not name.startswith(_ROOT) or name == _ROOT:
        return None
    # Before Browser's own.
    return content.replace(_BODY, _BODY + _OWN_SCRIPT) if name == _PAGE else content


def _text(name: str) -> str:
    return files("kgp_neo4j.cypher").joinpath("browser", name).read_text(encoding="utf-8")


def _style_script(grass: str) -> str:
    """Return the script that stores a style in Browser's format: JSON."""
    style = {
        name: dict(re.findall(r'([\w-]+):\s*"?([^";\n]*)"?;', body))
        for name, body in re.findall(r"([\w.]+)\s*\{(.*?)\n\}", grass, re.DOTALL)
    }
    text = json.dumps(style, separators=(",", ":"))
    version = hashlib.sha256(text.encode()).hexdigest()[:16]
    script = _text("style.js").replace("VERSION", json.dumps(version))
    return script.replace("STYLE", json.dumps(text))


_THREADS = 12
_TIMEOUT = (15, 60)  # seconds to connect, seconds between two pieces
_TRIES = 4
_MORE = 1.0  # seconds more that each further try waits for
_PIECE = 64 * 1024  # bytes; a cut connection loses one at most
_CENTRAL = "https://repo.maven.apache.org/maven2"
_MIRROR = "KGP_NEO4J_MAVEN_MIRROR"


def repository() -> str:
    """Return the address of the Maven repository: what KGP_NEO4J_MAVEN_MIRROR says, or Central."""
    address = os.environ.get(_MIRROR, "").strip().rstrip("/") or _CENTRAL
    if urlsplit(address).scheme not in ("http", "https") or not urlsplit(address).hostname:
        hint = "Set it to the root of a Maven repository, or unset it."
        raise ConfigurationError(f"{_MIRROR} is not an http or https address", hint=hint)
    return address


def fetch(artifacts: list[Artifact], root: Path, what: str, echo: _Echo) -> None:
    """Fetch `artifacts` into the folder `root`, laid out as in Maven, and verify each.

    `what` names them on the progress bar and in errors. Raises ServerError when one cannot be
    fetched; complete jars and `.part` files stay for the next run.
    """
    import requests  # takes time
    from requests.adapters import HTTPAdapter

    address, total = repository(), sum(artifact.size for artifact in artifacts)
    disk.require_free(root, total, f"The files of {what}")
    echo(f"Fetching {len(artifacts)} jars, {total / 1e6:.0f} MB, into {root}")
    began = time.monotonic()
    with (
        requests.Session() as session,
        bar(f"Fetching {what}", total, bytes_=True) as progress,
        ThreadPoolExecutor(_THREADS, thread_name_prefix="kgp-fetch") as pool,
    ):
        session.mount(address, HTTPAdapter(pool_maxsize=_THREADS))
        stop = threading.Event()  # set where another jar has failed for good, and at the end

        def attempt(artifact: Artifact, part: Path) -> str:
            """Fetch the missing part of a jar and verify the whole; return why it failed, if so."""
            have = part.stat().st_size if part.is_file() else 0
            if have >= artifact.size:
                part.unlink()
                have = 0
            resumed = {"Range": f"bytes={have}-"} if have else {}
            headers = {"Accept-Encoding": "identity"} | resumed
            try:
                url = f"{address}/{artifact.path}"
                with session.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as answer:
                    if answer.status_code not in (200, 206):
                        return f"HTTP {answer.status_code}"
                    # A server that cannot resume sends all of it.
                    with part.open("ab" if answer.status_code == 206 else "wb") as file:
                        for piece in answer.iter_content(_PIECE):
                            if stop.is_set() or file.tell() > artifact.size:
                                break  # too long: not our jar, as its SHA-256 will say
                            file.write(piece)
                            progress.update(len(piece))
            except requests.RequestException as error:
                # Only the type: the text of the error may contain an address with a password.
                return f"the connection failed, {type(error).__name__}"
            if part.stat().st_size < artifact.size:
                return "the connection was cut off"
            if sha256_of(part) != artifact.sha256:
                part.unlink()
                return "the bytes received do not match the SHA-256 of the lock file"
            part.replace(root / artifact.path)
            return ""

        def fetch_one(artifact: Artifact) -> None:
            part = (root / artifact.path).with_suffix(".jar.part")
            with disk.disk_errors(part, "The jar could not be written"):
                part.parent.mkdir(parents=True, exist_ok=True)
                for number in range(_TRIES):
                    stop.wait(number * _MORE)
                    if stop.is_set() or not (why := attempt(artifact, part)):
                        return
            raise ServerError(
                f"Fetching {artifact.path.name} failed ({urlsplit(address).hostname}: {why})",
                where=str(part),
                hint="Run the command again: it resumes the download. Behind a firewall, set "
                f"{_MIRROR} to a Maven repository you can reach, or HTTPS_PROXY to a proxy.",
            )

        try:
            # Largest first, so that no large jar is left for the end.
            list(pool.map(fetch_one, sorted(artifacts, key=lambda each: -each.size)))
        finally:  # also on Ctrl-C: let the threads end at their next piece
            stop.set()
    echo(f"Fetched and verified in {time.monotonic() - began:.0f} s")
