"""Backs up the embedded database into one file while it is stopped, and restores it.

A backup is a zip: `manifest.json` with the versions and the SHA-256 of every file, `password`, and
the files of the home's folder `data`, where Neo4j has all databases and users.

A restore unpacks into a folder of its own, checks every sum, puts it in the place of `data`, which
is moved aside, and starts it. What was there before is deleted only then; whatever stops the
restore earlier, `settle` puts it back, and every start and restore calls that first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import IO, NoReturn

import msgspec

from kgp_neo4j.environment.disk import disk_error, replacing, require_free, write_private
from kgp_neo4j.graphdb.server.admin import password_file, read_password
from kgp_neo4j.types.errors import ServerError
from kgp_neo4j.types.transfer import StoreBackup

__all__ = ["is_restoring", "pack", "put_in_place", "settle", "unpack"]

FORMAT = 2
_MANIFEST, _PASSWORD = "manifest.json", "password"
_PIECE = 1 << 20
_LARGEST_MANIFEST, _LONGEST_PASSWORD = 16 << 20, 1_000
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, KeyError),
    msgspec.MsgspecError,
)
#: Names within a home: the restored data before they are in place, and those from before.
_NEW, _OLD, _OLD_PASSWORD, _DELETED = "data.restored", "data.before", "password.before", "data.gone"


class _File(msgspec.Struct):
    bytes: int
    sha256: str


class _Manifest(msgspec.Struct):
    format: int
    neo4j: str
    kgp_neo4j: str
    files: dict[str, _File]


def pack(home: Path, path: Path, neo4j: str, *, overwrite: bool) -> StoreBackup:
    """Write the data of a home, whose server is stopped, into a file that only its owner can read.

    The file is there whole or not at all; it has the database's password.
    """
    data = home / "data"
    if not (data / "databases").is_dir():
        raise ServerError("There is no database to back up", where=str(home))
    if path.exists() and not overwrite:
        raise ServerError("The file exists", where=str(path), hint="Add --overwrite to replace it.")
    manifest = _Manifest(FORMAT, neo4j, metadata.version("kgp-neo4j"), {})
    with (
        replacing(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for source in sorted(p for p in data.rglob("*") if p.is_file()):
            name = source.relative_to(home).as_posix()
            with source.open("rb") as read, archive.open(name, "w", force_zip64=True) as out:
                manifest.files[name] = _copy(read, out)
        archive.writestr(_PASSWORD, read_password(home))
        archive.writestr(_MANIFEST, msgspec.json.encode(manifest))
    return _summary(path, manifest)


def unpack(home: Path, path: Path, neo4j: str) -> StoreBackup:
    """Unpack a backup beside the data of a home and check all of it; the data stay as they are.

    Raises ServerError for a file that is damaged, no backup, or of a newer release than `neo4j`.
    """
    new = home / _NEW
    try:
        shutil.rmtree(new, ignore_errors=True)
        with zipfile.ZipFile(path) as archive:
            manifest = _read_manifest(archive, path, neo4j)
            require_free(home, sum(file.bytes for file in manifest.files.values()), "The data")
            for name, expected in manifest.files.items():
                target = new / PurePosixPath(name).relative_to("data")
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with archive.open(name) as read, target.open("xb") as out:
                    if _copy(read, out, expected.bytes) != expected:
                        _damaged(path, f"{name} has another length or SHA-256")
                    out.flush()
                    os.fsync(out.fileno())
            write_private(new / _PASSWORD, archive.read(_PASSWORD).decode("ascii"))
    except BaseException as error:
        shutil.rmtree(new, ignore_errors=True)
        if isinstance(error, OSError):
            raise disk_error(error, path, "The backup could not be read") from error
        if isinstance(error, _DAMAGED):
            _damaged(path, str(error))
        raise
    return _summary(path, manifest)


def _copy(read: IO[bytes], out: IO[bytes], most: int | None = None) -> _File:
    """Copy a file; return its length and SHA-256. A little more than `most` is read at most."""
    digest, size = hashlib.sha256(), 0
    while (most is None or size <= most) and (piece := read.read(_PIECE)):
        out.write(piece)
        digest.update(piece)
        size += len(piece)
    return _File(size, digest.hexdigest())


def _read_manifest(archive: zipfile.ZipFile, path: Path, neo4j: str) -> _Manifest:
    for name, most in ((_MANIFEST, _LARGEST_MANIFEST), (_PASSWORD, _LONGEST_PASSWORD)):
        if archive.getinfo(name).file_size > most:
            _damaged(path, f"{name} is too large")
    manifest = msgspec.json.decode(archive.read(_MANIFEST), type=_Manifest)
    if manifest.format > FORMAT or _version(manifest.neo4j) > _version(neo4j):
        raise ServerError(
            f"The backup is of a newer release (kgp-neo4j {manifest.kgp_neo4j}, "
            f"Neo4j {manifest.neo4j}) than this one (Neo4j {neo4j})",
            where=str(path),
            hint="Upgrade kgp-neo4j.",
        )
    if sorted(archive.namelist()) != sorted([*manifest.files, _MANIFEST, _PASSWORD]):
        _damaged(path, "other files than it says")
    for name in manifest.files:
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


def _summary(path: Path, manifest: _Manifest) -> StoreBackup:
    return StoreBackup(
        file=str(path),
        neo4j=manifest.neo4j,
        kgp_neo4j=manifest.kgp_neo4j,
        files=len(manifest.files),
        bytes=path.stat().st_size,
    )


def put_in_place(home: Path, prove: Callable[[], object]) -> None:
    """Put what `unpack` has made in the place of the data, and keep it once `prove` returns.

    Otherwise everything is as it was before; the server must be stopped.
    """
    data, old, new = home / "data", home / _OLD, home / _NEW
    try:
        if password_file(home).exists():
            write_private(home / _OLD_PASSWORD, read_password(home) + "\n")
        data.mkdir(mode=0o700, exist_ok=True)
        # From here on the folder says that a restore is on its way.
        data.replace(old)
        write_private(password_file(home), (new / _PASSWORD).read_text("ascii"))
        (new / _PASSWORD).unlink()
        new.replace(data)
        prove()
    except BaseException as error:
        settle(home)
        if isinstance(error, OSError):
            raise disk_error(error, home, "The backup could not be put in place") from error
        raise
    # Renamed first: a folder that is half deleted must not be taken for the one to put back.
    deleted = home / _DELETED
    shutil.rmtree(deleted, ignore_errors=True)
    old.replace(deleted)
    (home / _OLD_PASSWORD).unlink(missing_ok=True)
    shutil.rmtree(deleted, ignore_errors=True)


def is_restoring(home: Path) -> bool:
    """Return whether a restore is on its way, or was cut off before it was proven."""
    return (home / _OLD).exists()


def settle(home: Path) -> str:
    """Put back what was there before a restore that was cut off; say so, or nothing."""
    data, new, password = home / "data", home / _NEW, home / _OLD_PASSWORD
    shutil.rmtree(home / _DELETED, ignore_errors=True)
    if not is_restoring(home):
        return ""
    if data.exists():
        shutil.rmtree(new, ignore_errors=True)
        data.replace(new)
    if password.exists():
        write_private(password_file(home), password.read_text("ascii"))
    (home / _OLD).replace(data)
    password.unlink(missing_ok=True)
    shutil.rmtree(new, ignore_errors=True)
    return "A restore was cut off: the database is the one from before it."
