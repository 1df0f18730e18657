"""What both graphs need of `connect`: timed steps and rows in batches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kgp_neo4j.database import Database
from kgp_neo4j.progress import Progress

__all__ = ["timed", "write_rows"]


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
    progress: Progress,
    **values: Any,
) -> int:
    """Write rows in batches of `size`, one transaction each, and return how many were written."""

    def batches() -> Iterator[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        for row in rows:
            batch.append(row)
            if len(batch) == size:
                yield {"rows": batch, **values}
                progress.update(len(batch))
                batch = []
        if batch:
            yield {"rows": batch, **values}
            progress.update(len(batch))

    return sum(int(done[0]["written"]) for done in database.write_all(path, batches()) if done)
