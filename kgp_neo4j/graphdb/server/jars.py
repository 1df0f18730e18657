"""Installs the jars: each is verified once, then recognised by size and modification time."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.environment.disk import disk_error, private_folder, write_private
from kgp_neo4j.graphdb.server.artifacts import Artifact, Lock, load_lock, sha256_of
from kgp_neo4j.graphdb.server.lock import locked

__all__ = ["Installation", "install"]

_Echo = Callable[[str], object]
#: Size and modification time (ns) of each jar that was verified, by its path in a repository.
_Stamps = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Installation:
    """The paths of the installed jars."""

    lock: Lock
    #: The folder that Neo4j scans for procedures.
    plugins: Path
    #: Every jar, in an order that does not change from start to start.
    class_path: tuple[Path, ...]


def install(cache: Path, *, verify: bool = False, echo: _Echo = lambda _: None) -> Installation:
    """Return the jars of the embedded database, fetching what is missing or damaged.

    Each jar's SHA-256 is computed once and then again only when its size or modification time
    has changed, or with `verify`; a call with all jars verified takes about 10 ms.
    """
    lock = load_lock()
    root, plugins = cache / "maven", cache / "plugins" / lock.id
    stamp_file = cache / f"verified-{lock.id}.json"
    class_path = tuple(
        plugins / a.path.name if a.role == "plugin" else root / a.path for a in lock.artifacts
    )
    verified = {} if verify else _read_stamps(stamp_file)
    if verified != _stamps(root, lock) or not all(path.exists() for path in class_path):
        private_folder(cache)
        with locked(
            cache / "lock", "Another process is fetching the database; waiting for it", echo
        ):
            _verify_and_fetch(root, lock, {} if verify else _read_stamps(stamp_file), echo)
            _link_plugins(plugins, root, lock)
            write_private(stamp_file, json.dumps(_stamps(root, lock)))
    return Installation(lock, plugins, class_path)


def _stamps(root: Path, lock: Lock) -> _Stamps:
    stamps = {}
    for artifact in lock.artifacts:
        try:
            file = (root / artifact.path).stat()
        except OSError:
            continue
        stamps[str(artifact.path)] = [file.st_size, file.st_mtime_ns]
    return stamps


def _read_stamps(path: Path) -> _Stamps:
    try:
        stamps: _Stamps = json.loads(path.read_text(encoding="utf-8"))
        return dict(stamps)
    except (OSError, ValueError, TypeError):
        return {}


def _verify_and_fetch(root: Path, lock: Lock, verified: _Stamps, echo: _Echo) -> None:
    """Verify the jars that have changed, and fetch those that are damaged or missing."""
    stamps = _stamps(root, lock)
    changed = [
        a
        for a in lock.artifacts
        if str(a.path) in stamps and verified.get(str(a.path)) != stamps[str(a.path)]
    ]
    if changed:
        echo(f"Verifying {len(changed)} jars")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        sums = list(pool.map(lambda artifact: _sum(root / artifact.path), changed))
    for artifact, sum_ in zip(changed, sums, strict=True):
        if sum_ != artifact.sha256:
            path = root / artifact.path
            echo(
                f"{path.name} is damaged (its SHA-256 differs from the lock file): fetching it anew"
            )
            try:
                path.unlink()
            except OSError as error:
                raise disk_error(error, path, "The damaged jar could not be removed") from error
    missing: list[Artifact] = [a for a in lock.artifacts if not (root / a.path).is_file()]
    if missing:
        from kgp_neo4j.graphdb.server.fetch import fetch

        fetch(missing, root, "Neo4j", echo)


def _sum(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError:
        return "unreadable"


def _link_plugins(folder: Path, root: Path, lock: Lock) -> None:
    """Link the jars with procedures into a folder of their own, or copy them where links fail."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for artifact in lock.artifacts:
            if artifact.role == "plugin":
                source, target = root / artifact.path, folder / artifact.path.name
                if target.exists() and target.samefile(source):
                    continue
                target.unlink(missing_ok=True)
                try:
                    os.link(source, target)
                except OSError:
                    shutil.copyfile(source, target)
    except OSError as error:
        raise disk_error(error, folder, "The plugins could not be laid out") from error
