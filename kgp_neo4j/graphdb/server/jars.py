"""Installs the jars: each is verified once, then recognised by size and modification time."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from kgp_neo4j.environment.disk import disk_errors, replacing, write_private
from kgp_neo4j.graphdb.plugin import plugin_id, plugin_jar
from kgp_neo4j.graphdb.server.artifacts import Lock, load_lock, sha256_of
from kgp_neo4j.graphdb.server.lines import DEFAULT
from kgp_neo4j.graphdb.server.lock import locked

_Echo = Callable[[str], object]
#: Signed jars whose classes the server loads. The JVM checks the signature of each such class, and
#: archives none (archive.py): as the jars were compared with their SHA-256 before, copies without
#: their signatures serve. Bouncy Castle's are signed too, but some Javas require the signature, and
#: none of their classes are loaded.
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
    plugins = cache / "plugins" / f"{lock.id}-{plugin_id()}"
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
        laying_out = disk_errors(cache, "The jars could not be laid out")
        with locked(cache / "lock", busy, echo), laying_out:
            _fetch_missing(root, lock, echo)
            for jar, copy in copies.items():
                if not copy.exists():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    _copy_unsigned(jar, copy)
            write_private(verified, _stamps(root, lock))
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
        from kgp_neo4j.graphdb.server.fetch import fetch

        fetch(missing, root, "Neo4j", echo)


def _copy_unsigned(jar: Path, copy: Path) -> None:
    with (
        ZipFile(jar) as source,
        replacing(copy) as file,
        ZipFile(file, "w", ZIP_DEFLATED, compresslevel=1) as out,
    ):
        for entry in source.infolist():
            if not _SIGNATURE.fullmatch(entry.filename):
                out.writestr(entry, source.read(entry))
