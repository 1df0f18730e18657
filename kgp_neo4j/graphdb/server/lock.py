"""A lock between processes, so that two commands at once start one server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kgp_neo4j.environment.disk import disk_errors, private_folder
from kgp_neo4j.types.errors import ServerError


@contextmanager
def locked(path: Path, busy: str, echo: Callable[[str], object]) -> Iterator[None]:
    """Hold the lock file `path`; echo `busy` once when another process holds it.

    The system frees the lock when its holder ends in any way, so that no lock is ever stale.
    """
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
