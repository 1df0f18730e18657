"""A lock between processes, so that two commands at once start one server."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from kgp_neo4j.graphdb.server.disk import disk_error, private_folder
from kgp_neo4j.types.errors import ServerError

__all__ = ["locked"]

_PATIENCE = 900.0  # seconds: another process may be fetching over a slow line


def _try_lock(number: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def locked(path: Path, busy: str, echo: Callable[[str], object]) -> Iterator[None]:
    """Hold the lock file `path`; echo `busy` once when another process holds it.

    The system frees the lock when its holder ends in any way, so that no lock is ever stale.
    """
    private_folder(path.parent)
    try:
        # Not inherited by child processes (PEP 446): the server must not keep the lock.
        number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise disk_error(error, path, "The lock file could not be made") from error
    try:
        began, echoed = time.monotonic(), False
        while not _try_lock(number):
            if not echoed:
                echo(busy)
                echoed = True
            if time.monotonic() - began > _PATIENCE:
                raise ServerError(
                    "Another kgp-neo4j process has been busy here for 15 minutes",
                    where=str(path),
                    hint="End that process, then run the command again.",
                )
            time.sleep(0.1)
        yield
    finally:
        os.close(number)
