"""Installs the jars: each is verified once, then recognised by size and modification time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.graphdb.server.artifacts import Artifact, Lock, load_lock, sha256_of
from kgp_neo4j.graphdb.server.disk import disk_error, private_folder, write_private
from kgp_neo4j.graphdb.server.lock import locked

__all__ = ["Installation", "install"]

_Echo = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Installation:
    """The paths of the installed jars."""

    lock: Lock
    #: The folder that Neo4j scans for procedures.
    plugins: Path
    #: Every jar, in an order that does not change from start to start.
    class_path: tuple[Path, ...]


def _file_marks(paths: dict[Path, Artifact]) -> dict[Path, list[int]]:
    """Return size and modification time of each file that exists."""
    marks = {}
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            continue
        marks[path] = [found.st_size, found.st_mtime_ns]
    return marks


def _read_stamp(stamp: Path) -> dict[str, list[int]]:
    try:
        known: dict[str, list[int]] = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _link_plugins(folder: Path, root: Path, lock: Lock) -> None:
    """Link the jars with procedures into a folder of their own, or copy them where links fail."""
    wanted = {a.path.name: root / a.path for a in lock.artifacts if a.role == "plugin"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for stray in folder.iterdir():
            if stray.name not in wanted:
                stray.unlink()
        for name, source in wanted.items():
            target = folder / name
            if target.exists():
                if target.samefile(source):
                    continue
                target.unlink()
            try:
                os.link(source, target)
            except OSError:
                shutil.copyfile(source, target)
    except OSError as error:
        raise disk_error(error, folder, "The plugins could not be laid out") from error


def install(cache: Path, *, verify: bool = False, echo: _Echo = lambda _: None) -> Installation:
    """Return the jars of the embedded database, fetching what is missing or damaged.

    Each jar's SHA-256 is computed once and then again only when its size or modification time
    has changed, or with `verify`; a call with all jars verified takes about 10 ms.
    """
    lock = load_lock()
    root = cache / "maven"
    paths = {root / artifact.path: artifact for artifact in lock.artifacts}
    plugins = cache / "plugins" / lock.id
    stamp = cache / f"verified-{lock.id}.json"
    installation = Installation(
        lock,
        plugins,
        tuple(
            plugins / a.path.name if a.role == "plugin" else root / a.path for a in lock.artifacts
        ),
    )
    known = {} if verify else _read_stamp(stamp)
    if not verify and len(known) == len(paths):
        marks = _file_marks(paths)
        if all(known.get(str(a.path)) == marks.get(path) for path, a in paths.items()) and all(
            path.exists() for path in installation.class_path
        ):
            return installation
    private_folder(cache)
    with locked(cache / "lock", "Another process is fetching the database; waiting for it", echo):
        _verify_and_fetch(root, paths, {} if verify else _read_stamp(stamp), echo)
        _link_plugins(plugins, root, lock)
        marks = _file_marks(paths)
        write_private(stamp, json.dumps({str(a.path): marks[path] for path, a in paths.items()}))
    return installation


def _verify_and_fetch(
    root: Path, paths: dict[Path, Artifact], known: dict[str, list[int]], echo: _Echo
) -> None:
    """Verify the jars that have changed, and fetch those that are damaged or missing."""
    marks = _file_marks(paths)
    unverified = [path for path in marks if known.get(str(paths[path].path)) != marks[path]]
    if unverified:
        echo(f"Verifying {len(unverified)} jars")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        sums = dict(zip(unverified, pool.map(_sum, unverified), strict=True))
    damaged = [path for path in unverified if sums[path] != paths[path].sha256]
    for path in damaged:
        echo(f"{path.name} is damaged (its SHA-256 differs from the lock file): fetching it anew")
        try:
            path.unlink()
        except OSError as error:
            raise disk_error(error, path, "The damaged jar could not be removed") from error
    missing = [a for path, a in paths.items() if path not in marks or path in damaged]
    if missing:
        from kgp_neo4j.graphdb.server.fetch import fetch

        fetch(missing, root, "Neo4j", echo)


def _sum(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError:
        return "unreadable"
