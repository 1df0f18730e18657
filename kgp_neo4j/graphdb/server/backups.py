"""Backs up the embedded database into one file while it is stopped, restores it, and fills it.

A backup is a zip: `manifest.json` with the versions and the SHA-256 of every file, `password`, and
the files of the home's folder `data`, where Neo4j has all databases and users.

A restore unpacks into a folder of its own, checks every sum, puts it in the place of `data`, which
is moved aside, and starts it. What was there before is deleted only then; whatever stops the
restore earlier, `settle` puts it back, and every start and restore calls that first. An import of
files goes the same way.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from kgp_neo4j.graphdb.server.admin import run_admin
from kgp_neo4j.graphdb.server.disk import (
    disk_error,
    private_folder,
    require_free,
    write_private,
)
from kgp_neo4j.graphdb.server.jars import Installation
from kgp_neo4j.graphdb.server.java import Java
from kgp_neo4j.graphdb.server.neo4j_conf import Memory
from kgp_neo4j.graphdb.server.password import password_file, read_password
from kgp_neo4j.graphdb.statements import folder
from kgp_neo4j.types.errors import ServerError
from kgp_neo4j.types.transfer import StoreBackup

__all__ = ["fill", "is_restoring", "pack", "put_in_place", "settle", "transactions", "unpack"]

FORMAT = 1
_MANIFEST, _PASSWORD = "manifest.json", "password"
_PIECE = 1 << 20
_DATABASE = "neo4j"
_LARGEST_MANIFEST = 16 << 20
#: Names within a home: the restored data before they are in place, and those from before.
_NEW, _OLD, _OLD_PASSWORD = "data.restored", "data.before", "password.before"


def pack(home: Path, path: Path, neo4j: str, *, overwrite: bool) -> StoreBackup:
    """Write the data of a home, whose server is stopped, into a file that only its owner can read.

    The file is there whole or not at all; it has the database's password.
    """
    data = home / "data"
    if not (data / "databases").is_dir():
        raise ServerError("There is no database to back up", where=str(home))
    if path.exists() and not overwrite:
        raise ServerError("The file exists", where=str(path), hint="Add --overwrite to replace it.")
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "neo4j": neo4j,
        "kgp_neo4j": metadata.version("kgp-neo4j"),
        "layout": len(folder("schema/upgrades")),
        "files": {},
    }
    made = ""
    try:
        number, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(number, "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                for source in sorted(p for p in data.rglob("*") if p.is_file()):
                    name = source.relative_to(home).as_posix()
                    digest = hashlib.sha256()
                    with (
                        source.open("rb") as read,
                        archive.open(name, "w", force_zip64=True) as out,
                    ):
                        while piece := read.read(_PIECE):
                            out.write(piece)
                            digest.update(piece)
                        size = read.tell()
                    manifest["files"][name] = {"bytes": size, "sha256": digest.hexdigest()}
                archive.writestr(_PASSWORD, read_password(home))
                archive.writestr(_MANIFEST, json.dumps(manifest, indent=1))
            file.flush()
            os.fsync(file.fileno())
        Path(made).replace(path)
    except OSError as error:
        raise disk_error(error, path, "The backup could not be written") from error
    finally:
        with contextlib.suppress(OSError):
            Path(made).unlink()
    return _told(path, manifest)


def unpack(home: Path, path: Path, neo4j: str) -> StoreBackup:
    """Unpack a backup beside the data of a home and check all of it; the data stay as they are.

    Raises ServerError for a file that is damaged, no backup, or of a newer release than `neo4j`.
    """
    new = home / _NEW
    try:
        shutil.rmtree(new, ignore_errors=True)
        with zipfile.ZipFile(path) as archive:
            manifest = _manifest(archive, path, neo4j)
            require_free(home, sum(f["bytes"] for f in manifest["files"].values()), "The data")
            for name, told in manifest["files"].items():
                target = new / PurePosixPath(name).relative_to("data")
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                digest = hashlib.sha256()
                left = told["bytes"]
                with archive.open(name) as read, target.open("xb") as out:
                    while piece := read.read(_PIECE):
                        left -= len(piece)
                        if left < 0:
                            _damaged(path, f"{name} is longer than it says")
                        out.write(piece)
                        digest.update(piece)
                    out.flush()
                    os.fsync(out.fileno())
                if left or digest.hexdigest() != told["sha256"]:
                    _damaged(path, f"{name} has another SHA-256")
            password = archive.read(_PASSWORD).decode("ascii")
        write_private(new / _PASSWORD, password)
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, OSError):
            raise disk_error(error, path, "The backup could not be read") from error
        if isinstance(
            error,
            zipfile.BadZipFile | zlib.error | EOFError | NotImplementedError | RuntimeError
            | ValueError | KeyError | TypeError | AttributeError,
        ):  # fmt: skip
            _damaged(path, str(error))
        raise
    return _told(path, manifest)


def transactions(home: Path) -> dict[str, int]:
    """Return the files of the database's transactions with their bytes: they grow with each."""
    folder_ = home / "data" / "transactions" / _DATABASE
    return {path.name: path.stat().st_size for path in folder_.glob("neostore.transaction.db.*")}


def fill(
    home: Path,
    installed: Installation,
    java: Java,
    memory: Memory,
    source: Path,
    arguments: Sequence[str],
) -> None:
    """Import files into a database beside the data of a home, which stay as they are.

    `arguments` are those of Neo4j's admin tool, with paths that begin in `source`. All but the
    database that is imported is copied. The server must be stopped. Raises ServerError.
    """
    new = home / _NEW
    conf = home / "run" / "import"
    try:
        shutil.rmtree(new, ignore_errors=True)
        size = sum(path.stat().st_size for path in source.iterdir())
        require_free(home, 2 * size, "The data")
        shutil.copytree(
            home / "data", new, ignore=shutil.ignore_patterns(_DATABASE, "store_lock", "*_lock")
        )
        private_folder(conf)
        where = str(new).replace("\\", "/")
        write_private(conf / "neo4j.conf", f"server.directories.data={where}\n")
        write_private(new / _PASSWORD, read_password(home) + "\n")
    except OSError as error:
        raise disk_error(error, new, "The data could not be written") from error
    limits = [f"--max-off-heap-memory={memory.page_cache}m", f"--report-file={conf / 'report'}"]
    run_admin(
        home,
        installed,
        java,
        [*arguments, *limits],
        options=["-XX:+UseParallelGC", f"-Xmx{memory.heap}m"],
        conf=conf,
        folder=source,
    )


def _manifest(archive: zipfile.ZipFile, path: Path, neo4j: str) -> dict[str, Any]:
    info = archive.getinfo(_MANIFEST)
    if info.file_size > _LARGEST_MANIFEST or archive.getinfo(_PASSWORD).file_size > 1_000:
        _damaged(path, "the manifest is too large")
    manifest: dict[str, Any] = json.loads(archive.read(_MANIFEST))
    newer = manifest["format"] > FORMAT or manifest["layout"] > len(folder("schema/upgrades"))
    if newer or _version(manifest["neo4j"]) > _version(neo4j):
        raise ServerError(
            f"The backup is of a newer release (kgp-neo4j {manifest['kgp_neo4j']}, "
            f"Neo4j {manifest['neo4j']}) than this one (Neo4j {neo4j})",
            where=str(path),
            hint="Upgrade kgp-neo4j.",
        )
    names = manifest["files"].keys()
    if sorted(archive.namelist()) != sorted([*names, _MANIFEST, _PASSWORD]):
        _damaged(path, "other files than it says")
    for name in names:
        if not name.startswith("data/") or ".." in PurePosixPath(name).parts or "\\" in name:
            _damaged(path, "a file outside of the data")
    return manifest


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def _damaged(path: Path, what: str) -> NoReturn:
    raise ServerError(
        f"The file is damaged, or no backup ({what})",
        where=str(path),
        hint="The database is as it was.",
    )


def _told(path: Path, manifest: dict[str, Any]) -> StoreBackup:
    return StoreBackup(
        file=str(path),
        neo4j=manifest["neo4j"],
        kgp_neo4j=manifest["kgp_neo4j"],
        files=len(manifest["files"]),
        bytes=path.stat().st_size,
    )


def put_in_place(home: Path, prove: Callable[[], object]) -> None:
    """Put what `unpack` has made in the place of the data, and keep it once `prove` returns.

    Otherwise everything is as it was before; the server must be stopped.
    """
    data, old = home / "data", home / _OLD
    try:
        if password_file(home).exists():
            write_private(home / _OLD_PASSWORD, read_password(home) + "\n")
        data.mkdir(mode=0o700, exist_ok=True)
        # From here on the folder says that a restore is on its way.
        data.replace(old)
        write_private(password_file(home), (home / _NEW / _PASSWORD).read_text("ascii"))
        (home / _NEW / _PASSWORD).unlink()
        (home / _NEW).replace(data)
        prove()
    except OSError as error:
        settle(home)
        raise disk_error(error, home, "The backup could not be put in place") from error
    except BaseException:
        settle(home)
        raise
    # Renamed first: a folder that is half deleted must not be taken for the one to put back.
    gone = home / "data.gone"
    shutil.rmtree(gone, ignore_errors=True)
    old.replace(gone)
    (home / _OLD_PASSWORD).unlink(missing_ok=True)
    shutil.rmtree(gone, ignore_errors=True)


def is_restoring(home: Path) -> bool:
    """Return whether a restore is on its way, or was cut off before it was proven."""
    return (home / _OLD).exists()


def settle(home: Path) -> str:
    """Put back what was there before a restore that was cut off; say so, or nothing."""
    data, old = home / "data", home / _OLD
    shutil.rmtree(home / "data.gone", ignore_errors=True)
    if not is_restoring(home):
        return ""
    if data.exists():
        new = home / _NEW
        shutil.rmtree(new, ignore_errors=True)
        data.replace(new)
    kept = home / _OLD_PASSWORD
    if kept.exists():
        write_private(password_file(home), kept.read_text("ascii"))
    old.replace(data)
    kept.unlink(missing_ok=True)
    shutil.rmtree(home / _NEW, ignore_errors=True)
    return "A restore or a first load was cut off: the database is the one from before it."
