"""What both graphs need of `connect`: timed steps and rows in batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kgp_neo4j.database import Database
from kgp_neo4j.errors import DatabaseError
from kgp_neo4j.progress import Progress, bar, is_shown

__all__ = ["timed", "watched", "write_rows"]


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Write the seconds that a step took into `seconds`."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - began


def write_rows(
    database: Database,
    path: str,
    rows: Iterable[dict[str, Any]],
    size: int,
    progress: Progress | None,
    **values: Any,
) -> int:
    """Write rows in batches of `size`, one transaction each, and return how many were written."""

    def batches() -> Iterator[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        for row in rows:
            batch.append(row)
            if len(batch) == size:
                yield {"rows": batch, **values}
                if progress:
                    progress.update(len(batch))
                batch = []
        if batch:
            yield {"rows": batch, **values}
            if progress:
                progress.update(len(batch))

    return sum(int(done[0]["written"]) for done in database.write_all(path, batches()) if done)


@contextmanager
def watched(database: Database, task: str, title: str) -> Iterator[None]:
    """Draw the progress of a GDS job that runs meanwhile, as GDS itself reports it."""
    if not is_shown():
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        done = 0
        with bar(title, 100, "%") as progress:
            while not ended.wait(0.5):
                try:
                    percent = database.read("inspect/gds_progress", task=task)[0]["percent"]
                except DatabaseError:
                    return  # the job goes on without its bar
                progress.update(max(int(percent or 0) - done, 0))
                done = max(int(percent or 0), done)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
