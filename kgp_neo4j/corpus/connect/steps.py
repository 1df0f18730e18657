"""What both graphs need of `connect`: timed steps and rows in batches."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.progress import Progress, bar, is_shown
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import DatabaseError

__all__ = ["strongest_pairs", "timed", "watched", "write_rows"]


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
    rows: Iterable[Any],
    size: int,
    progress: Progress | None,
    **values: Any,
) -> int:
    """Write rows in batches of `size`, one transaction each, and return how many were written."""

    def batches() -> Iterator[dict[str, Any]]:
        batch: list[Any] = []
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


# --- Which passages share most: pairs by the keywords or entities that both have, in arrays -------

#: So many pairs are compared at once, which bounds the memory.
_PAIRS = 1_000_000
#: Of all that two passages share, so many items are told.
_TITLES = 5


def strongest_pairs(
    passage: NDArray[np.int64],
    item: NDArray[np.int64],
    weight: NDArray[np.float64],
    other_weight: NDArray[np.float64],
    titles: Sequence[str],
    nodes: Sequence[str],
    names: Sequence[str],
    neighbours: int,
) -> Iterator[list[Any]]:
    """Yield each passage with the `neighbours` others that it shares the weightiest items with.

    Arrays have a place for each item of each passage, by passage: an item that two have weighs
    `weight` of the first times `other_weight` of the second. Among equals the first by name is
    taken. A pair comes once, from its lower passage where both have chosen the other, as a row for
    the database: both nodes, how many items they share, their weight, and titles of the first.
    """
    by_item = np.argsort(item, kind="stable")
    size = np.bincount(item, minlength=1)
    start = np.cumsum(size) - size
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    chosen: set[tuple[int, int]] = set()
    for low, high in _parts(passage, size[item]):
        here = np.arange(low, high)
        many = size[item[here]]
        mine = np.repeat(here, many)
        within = np.arange(mine.size) - np.repeat(np.cumsum(many) - many, many)
        theirs = by_item[np.repeat(start[item[here]], many) + within]
        apart = passage[mine] != passage[theirs]
        mine, theirs = mine[apart], theirs[apart]
        # Stable, so that the items of a pair stay in the order of its first passage.
        pair = passage[mine] * len(names) + passage[theirs]
        order = np.argsort(pair, kind="stable")
        mine, theirs, pair = mine[order], theirs[order], pair[order]
        begins = np.flatnonzero(np.diff(pair, prepend=-1))
        count = np.diff(begins, append=pair.size)
        total = (
            np.add.reduceat(weight[mine] * other_weight[theirs], begins)
            if pair.size
            else np.zeros(0)
        )
        first, second = np.divmod(pair[begins], len(names))
        best = np.lexsort((rank[second], -total, first))
        place = np.arange(best.size) - np.searchsorted(first[best], first[best])
        for at in best[place < neighbours].tolist():
            a, b = int(first[at]), int(second[at])
            if (b, a) not in chosen:
                chosen.add((a, b))
                items = item[mine[begins[at] : begins[at] + min(_TITLES, count[at])]].tolist()
                yield [
                    nodes[a], nodes[b], int(count[at]), float(total[at]), [titles[n] for n in items]
                ]  # fmt: skip


def _parts(passage: NDArray[np.int64], pairs: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the places [low, high) of whole passages that have some million pairs together."""
    ends = np.flatnonzero(np.diff(passage, append=-1)) + 1
    low = 0
    before = 0
    for high, total in zip(ends.tolist(), np.cumsum(pairs)[ends - 1].tolist(), strict=True):
        if total - before > _PAIRS or high == passage.size:
            yield low, high
            low, before = high, total
