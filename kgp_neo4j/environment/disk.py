"""Writes files and folders whole or not at all, with clear errors for a full disk; locks them."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from kgp_neo4j.types.errors import ConfigurationError, KgpError, ServerError

_OTHER_DISK = "choose folders on another disk with KGP_NEO4J_HOME and KGP_NEO4J_CACHE."
_REASONS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "the disk is full"),
    errno.EROFS: "the disk is read-only",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "no right to write"),
    **dict.fromkeys((errno.ENOTDIR, errno.EEXIST), "a file stands where a folder is needed"),
}


@contextmanager
def disk_errors(
    path: Path, message: str, error: type[KgpError] = ServerError, hint: str = ""
) -> Iterator[None]:
    """Turn an OSError in the block into an `error` with a hint on what to do."""
    try:
        yield
    except OSError as failure:
        usual = "Choose a folder you can write to with KGP_NEO4J_HOME or --home (data) and "
        usual += "KGP_NEO4J_CACHE (jars)."
        if failure.errno in (errno.ENOSPC, errno.EDQUOT):
            usual = f"Free some space, or {_OTHER_DISK}"
        what = f"{message}: {_REASONS.get(failure.errno or 0, failure.strerror or str(failure))}"
        raise error(what, where=str(failure.filename or path), hint=hint or usual) from failure


def private_folder(path: Path) -> None:
    """Create a folder that only its owner can read, if it does not exist."""
    with disk_errors(path, "The folder could not be made"):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def replacing(path: Path, *, private: bool = True) -> Iterator[IO[bytes]]:
    """Yield a file that replaces `path` once the block ends without an error.

    A `private` one is always its owner's alone. Raises ServerError where the disk refuses.
    """
    with disk_errors(path, "The file could not be written"):
        # mkstemp creates the file with mode 0600.
        number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(number, "w+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if not private:
                temporary.chmod(0o644)
            temporary.replace(path)
        finally:
            with suppress(OSError):
                temporary.unlink()


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically."""
    with replacing(path) as file:
        file.write(text.encode())


def read_private(path: Path, subject: str, hint: str) -> bytes:
    """Return what a file with secrets holds.

    Raises ConfigurationError where it cannot be read (with the hint), and where others may read it.
    """
    try:
        with path.open("rb") as file:
            mode, data = os.fstat(file.fileno()).st_mode, file.read()
    except OSError as error:
        what = f"{subject} cannot be read ({error.strerror})"
        raise ConfigurationError(what, where=str(path), hint=hint) from error
    if os.name == "posix" and mode & 0o077:  # Windows has no such permission bits
        what = f"others may read {subject} (mode {mode & 0o777:o})"
        raise ConfigurationError(what, where=str(path), hint=f"Close it: chmod 600 {path}")
    return data


def require_free(folder: Path, size: int, subject: str) -> None:
    """Raise ServerError when the disk of `folder` has fewer than `size` bytes free."""
    existing = next((each for each in (folder, *folder.parents) if each.exists()), folder)
    try:
        free = shutil.disk_usage(existing).free
    except OSError:
        return  # unknown: writing will raise the error
    if free < size:
        what = f"{subject} need {size / 1e6:.0f} MB, but the disk has {free / 1e6:.0f} MB free"
        raise ServerError(what, where=str(folder), hint=f"Free some space, or {_OTHER_DISK}")


@contextmanager
def locked(path: Path, busy: str, echo: Callable[[str], object]) -> Iterator[None]:
    """Hold the lock file `path`; echo `busy` once when another process holds it.

    The system frees the lock when its holder ends in any way, so that no lock is ever stale.
    """
    from filelock import FileLock, Timeout  # takes time

    private_folder(path.parent)
    lock = FileLock(path, mode=0o600)
    with disk_errors(path, "The lock file could not be made"):
        try:
            try:
                held = lock.acquire(timeout=0)
            except Timeout:
                echo(busy)
                # It may fetch over a slow line.
                held = lock.acquire(timeout=900.0, poll_interval=0.1)
        except Timeout:
            what = "Another kgp-neo4j process has been busy here for 15 minutes"
            hint = "End that process, then run the command again."
            raise ServerError(what, where=str(path), hint=hint) from None
    with held:
        yield
