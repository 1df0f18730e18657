"""Writes files and folders of the embedded database, with clear errors for a full disk."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from pathlib import Path

from kgp_neo4j.types.errors import ServerError

__all__ = ["disk_error", "private_folder", "require_free", "store_size", "write_private"]


def disk_error(error: OSError, path: Path, message: str) -> ServerError:
    """Return a ServerError for an OSError, with a hint on what to do."""
    where = str(error.filename or path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ServerError(
            f"{message}: the disk is full",
            where=where,
            hint="Free some space, or choose folders on another disk with KGP_NEO4J_HOME and "
            "KGP_NEO4J_CACHE.",
        )
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        reason = "the disk is read-only" if error.errno == errno.EROFS else "no right to write"
    elif error.errno in (errno.ENOTDIR, errno.EEXIST):
        reason = "a file stands where a folder is needed"
    else:
        reason = error.strerror or str(error)
    return ServerError(
        f"{message}: {reason}",
        where=where,
        hint="Choose a folder you can write to with KGP_NEO4J_HOME or --home (data) and "
        "KGP_NEO4J_CACHE (jars).",
    )


def store_size(home: Path) -> int:
    """Return the bytes of the graph's files, which the page cache holds; indexes have their own."""
    size = 0
    for file in (home / "data" / "databases" / "neo4j").glob("*"):
        with contextlib.suppress(OSError):  # a file that went meanwhile
            size += file.stat().st_size if file.is_file() else 0
    return size


def private_folder(path: Path) -> None:
    """Create a folder that only its owner can read, if it does not exist."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path, "The folder could not be made") from error


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically."""
    try:
        # mkstemp creates the file with mode 0600, so that others can never read it.
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise disk_error(error, path, "The file could not be written") from error


def require_free(folder: Path, size: int, subject: str) -> None:
    """Raise ServerError when the disk of `folder` has fewer than `size` bytes free."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        free = shutil.disk_usage(existing).free
    except OSError:
        return  # unknown: writing will raise the error
    if free < size:
        raise ServerError(
            f"{subject} need {size / 1e6:.0f} MB, but the disk has {free / 1e6:.0f} MB free",
            where=str(folder),
            hint="Free some space, or choose folders on another disk with KGP_NEO4J_HOME and "
            "KGP_NEO4J_CACHE.",
        )
