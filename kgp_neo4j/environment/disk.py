"""Writes files whole or not at all, with clear errors for a full disk; locks; keeps values."""

import errno
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

from kgp_neo4j.types.errors import ConfigurationError, KgpError, ServerError

_OTHER_DISK = "choose folders on another disk with KGP_NEO4J_HOME and KGP_NEO4J_CACHE."
_REASONS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "the disk is full"),
    errno.EROFS: "the disk is read-only",
    **dict.fromkeys((errno.EACCES, errno.EPERM), "no right to write"),
    **dict.fromkeys((errno.ENOTDIR, errno.EEXIST), "a file stands where a folder is needed"),
}
_USED = """
SELECT (page_count - freelist_count) * page_size
FROM pragma_page_count, pragma_freelist_count, pragma_page_size
"""
_log = logging.getLogger("kgp_neo4j")
V = TypeVar("V", str, bytes)
T = TypeVar("T")


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


class KeptValues(Generic[V]):
    """Values of one type by their keys, in an SQLite file that processes may share.

    The folder is created for its owner alone; the oldest values go at `largest` bytes. A damaged
    file is deleted with a warning; where it cannot be used, nothing is kept.
    """

    def __init__(self, path: Path, kind: type[V], largest: int) -> None:
        self.path = path
        self._kind: type[V] = kind
        self._largest = largest
        self._table = path.stem
        self._warned = False

    def find(self, keys: Iterable[str]) -> dict[str, V]:
        """Return the values of those keys that have one."""
        select = f"SELECT text FROM {self._table} WHERE key = ?"

        def read(kept: Any) -> dict[str, V]:
            rows = ((key, kept.execute(select, (key,)).fetchone()) for key in keys)
            return {key: row[0] for key, row in rows if row and isinstance(row[0], self._kind)}

        return self._run(read, {})

    def keep(self, values: Mapping[str, V]) -> None:
        """Store values; the oldest ones are dropped where there is no room."""
        insert = f"INSERT OR IGNORE INTO {self._table} VALUES (?, ?)"
        # Large files lose more at a time.
        oldest = f"SELECT rowid FROM {self._table} ORDER BY rowid LIMIT {max(10, len(values))}"

        def store(kept: Any) -> None:
            kept.executemany(insert, values.items())
            while kept.execute(_USED).fetchone()[0] > self._largest:
                kept.execute(f"DELETE FROM {self._table} WHERE rowid IN ({oldest})")

        self._run(store, None)

    def clear(self) -> int:
        """Delete all values and return their number."""
        if not self.path.exists():
            return 0
        return self._run(lambda kept: kept.execute(f"DELETE FROM {self._table}").rowcount, 0)

    def _run(self, use: Callable[[Any], T], missing: T) -> T:
        """Call `use` in a transaction; return `missing` where the file cannot be used."""
        import sqlite3  # takes time

        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives the files beside it the same mode.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(sqlite3.connect(self.path, timeout=10.0)) as kept, kept:
                columns = "(key TEXT PRIMARY KEY, text BLOB NOT NULL)"
                kept.execute(f"CREATE TABLE IF NOT EXISTS {self._table} {columns}")
                return use(kept)
        except (sqlite3.OperationalError, OSError) as error:  # locked, full, not writable
            if not self._warned:
                _log.warning("Warning: %s are not kept in %s (%s).", self._table, self.path, error)
            self._warned = True
        except sqlite3.DatabaseError as error:
            told = (self._table, error, self.path)
            _log.warning("Warning: the kept %s are damaged (%s) and begun afresh: %s.", *told)
            self.path.unlink(missing_ok=True)
        return missing
