"""Helpers of all graphs of `connect`: timed steps, rows in batches, and pairs that share items."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.progress import Progress, bar, is_shown
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import DatabaseError

__all__ = ["strongest_pairs", "timed", "watched", "write_rows"]


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the duration of a step to `seconds`."""
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
        remaining = iter(rows)
        while batch := list(islice(remaining, size)):
            yield {"rows": batch, **values}
            if progress:
                progress.update(len(batch))

    return sum(
        int(written[0]["written"]) for written in database.write_all(path, batches()) if written
    )


@contextmanager
def watched(database: Database, task: str, title: str) -> Iterator[None]:
    """Show the progress that GDS reports for a job while the block runs."""
    if not is_shown():
        yield
        return
    ended = threading.Event()

    def watch() -> None:
        shown = 0
        with bar(title, 100, "%") as progress:
            while not ended.wait(0.5):
                try:
                    percent = database.read("inspect/gds_progress", task=task)[0]["percent"]
                except DatabaseError:
                    return  # the job goes on without its bar
                progress.update(max(int(percent or 0) - shown, 0))
                shown = max(int(percent or 0), shown)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()


# --- Pairs of passages ---

#: Pairs that are compared at once, which limits the memory.
_MOST_PAIRS = 1_000_000
#: Most shared items whose titles are stored with a pair.
_MOST_TITLES = 5


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

    The arrays have an element for each item of each passage, sorted by passage: the weight of a
    shared item is `weight` of the first passage times `other_weight` of the second. Ties are broken
    by name. A pair comes once, from its lower passage where both chose each other, as a row for the
    database: both nodes, the number of shared items, their total weight, and the first titles.
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
        own = np.repeat(here, many)
        within = np.arange(own.size) - np.repeat(np.cumsum(many) - many, many)
        other = by_item[np.repeat(start[item[here]], many) + within]
        apart = passage[own] != passage[other]
        own, other = own[apart], other[apart]
        # Stable, so that the items of a pair stay in the order of its first passage.
        pair = passage[own] * len(names) + passage[other]
        order = np.argsort(pair, kind="stable")
        own, other, pair = own[order], other[order], pair[order]
        begins = np.flatnonzero(np.diff(pair, prepend=-1))
        count = np.diff(begins, append=pair.size)
        total = (
            np.add.reduceat(weight[own] * other_weight[other], begins) if pair.size else np.zeros(0)
        )
        first, second = np.divmod(pair[begins], len(names))
        best = np.lexsort((rank[second], -total, first))
        place = np.arange(best.size) - np.searchsorted(first[best], first[best])
        for at in best[place < neighbours].tolist():
            a, b = int(first[at]), int(second[at])
            if (b, a) not in chosen:
                chosen.add((a, b))
                items = item[own[begins[at] : begins[at] + min(_MOST_TITLES, count[at])]].tolist()
                yield [
                    nodes[a], nodes[b], int(count[at]), float(total[at]), [titles[n] for n in items]
                ]  # fmt: skip


def _parts(passage: NDArray[np.int64], pairs: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges [low, high) of whole passages, each with about a million pairs."""
    ends = np.flatnonzero(np.diff(passage, append=-1)) + 1
    low = 0
    before = 0
    for high, total in zip(ends.tolist(), np.cumsum(pairs)[ends - 1].tolist(), strict=True):
        if total - before > _MOST_PAIRS or high == passage.size:
            yield low, high
            low, before = high, total
