"""Files and folders of the embedded database, and clear words when a disk says no."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from pathlib import Path

from kgp_neo4j.types.errors import ServerError

__all__ = ["disk_error", "private_folder", "require_free", "write_private"]


def disk_error(error: OSError, path: Path, what: str) -> ServerError:
    """Turn an OSError into a ServerError that says what to do about it."""
    where = str(error.filename or path)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ServerError(
            f"{what}: the disk is full",
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
        f"{what}: {reason}",
        where=where,
        hint="Choose a folder you can write to with KGP_NEO4J_HOME or --home (data) and "
        "KGP_NEO4J_CACHE (jars).",
    )


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can read, if it is not there."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, path, "The folder could not be made") from error


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, all of it or nothing."""
    try:
        # mkstemp makes the file with mode 0600, so it is never open to others, even for a moment.
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


def require_free(folder: Path, size: int, what: str) -> None:
    """Raise ServerError when the disk of `folder` has fewer than `size` bytes free."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        free = shutil.disk_usage(there).free
    except OSError:
        return  # no answer is no reason to stop: writing will tell
    if free < size:
        raise ServerError(
            f"{what} need {size / 1e6:.0f} MB, but the disk has {free / 1e6:.0f} MB free",
            where=str(folder),
            hint="Free some space, or choose folders on another disk with KGP_NEO4J_HOME and "
            "KGP_NEO4J_CACHE.",
        )
