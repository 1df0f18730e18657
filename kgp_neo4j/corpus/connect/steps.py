"""Helpers of all graphs of `connect`: timed steps, rows in batches, what changed, and pairs."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.counts import Counts, keep_counts, kept_counts
from kgp_neo4j.environment.progress import Progress, bar, is_shown
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.errors import DatabaseError
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings

__all__ = [
    "MIXED",
    "MOST_ITEMS",
    "Making",
    "Numbers",
    "Pairs",
    "chosen_pairs",
    "grouped",
    "hashed",
    "joined",
    "made_of",
    "outdated",
    "paged",
    "pair_hashes",
    "read_rows",
    "strongest_pairs",
    "timed",
    "watched",
    "write_pairs",
    "write_rows",
]

#: Whole numbers; of passages, items and their pairs there are few enough for 32 bits.
Numbers: TypeAlias = NDArray[np.integer[Any]]

#: An odd number, which spreads hashes over all bits.
MIXED = np.uint64(0x9E3779B97F4A7C15)


def made_of(settings: KeywordSettings | EntitySettings) -> str:
    """Return what a graph of the same documents depends on: settings, and this version's rules."""
    return json.dumps([asdict(settings), version("kgp-neo4j")], sort_keys=True)


class Making:
    """A run that makes the keyword or the entity graph of a corpus; it begins at once."""

    def __init__(
        self,
        database: Database,
        corpus: str,
        graph: str,
        settings: KeywordSettings | EntitySettings,
        *,
        keep: bool = True,
    ) -> None:
        self._database = database
        self._settings = settings
        self._of = {"corpus": corpus, "graph": graph}
        self._made = made_of(settings)
        # No run where another one makes the graph too: what stands there at the end is of both.
        begun = database.write("connect/begin", **self._of, keep=keep)
        # Nothing where the corpus was deleted just now: nothing is found, and nothing written.
        self._run = begun[0]["run"] if begun else None

    def pending(self) -> tuple[int, list[str]] | None:
        """Return how many passages the corpus has, and which are not in the graph (ids, in order).

        None where another run is at it, or one was cut short.
        """
        if self._run is None:
            return None
        (state,) = self._database.read("connect/pending", **self._of)
        return state["passages"], state["pending"]

    def kept(self) -> dict[str, NDArray[Any]] | None:
        """Return what was counted in the corpus's texts for the same graph, where it was kept."""
        return kept_counts(self._database, **self._of, made=self._made)

    def keep(self, counts: Counts) -> None:
        """Keep what was counted in the corpus's texts, unless another run is beside this one."""
        if self._run:
            keep_counts(self._database, **self._of, run=self._run, made=self._made, counts=counts)

    def count_anew(self) -> None:
        """Forget what was counted in the corpus's texts, since all are counted now."""
        self._database.write("connect/drop_counts", **self._of)

    def finish(self) -> None:
        """Mark the graph as finished, and keep what it is made of unless that changed meanwhile."""
        kept = json.dumps(asdict(self._settings), sort_keys=True)
        self._database.write(
            "connect/finish", **self._of, settings=kept, of=self._made, run=self._run
        )


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the duration of a step to `seconds`."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - began


def paged(database: Database, path: str, key: str, **values: Any) -> Iterator[Row]:
    """Yield the rows of a statement that returns those `after` a key, in its order, in pages.

    Neither the server nor the client holds more than a page, and rows come packed.
    """
    after = ""
    while page := database.read_packed(path, after=after, **values):
        yield from page
        after = page[-1][key]


def read_rows(
    database: Database, path: str, rows: Sequence[Any], size: int, **values: Any
) -> Iterator[Row]:
    """Yield what a statement returns of rows, which it gets in batches of `size`."""
    for start in range(0, len(rows), size):
        yield from database.read_packed(path, rows=rows[start : start + size], **values)


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


# --- What has changed ---

#: How far a weight w may move before it is written anew, in thousandths of w / (1 + w).
_TOLERANCE = 5


def outdated(
    passage: Numbers,
    identity: NDArray[np.uint64],
    weight: NDArray[np.float64],
    stored: Sequence[str | None],
    whole: NDArray[np.bool_],
) -> dict[int, str]:
    """Return the passages whose relationships of one type have to be written, with their new marks.

    The arrays have an element for each relationship that there should be: the place of the passage
    that it starts from, a hash of what it says, and its weight (0 or more). `stored` are the marks
    that were written with each passage's relationships, None for none; `whole` says which passages
    still have all of these, since a deleted passage takes those to it along. Marks are base64 of
    64-bit numbers, each 40 bits of a hash and ten of a weight. Weights that moved by less than
    0.005 times (1 + weight) squared count as the same.
    """
    level = np.rint(1000 * weight / (1 + weight)).astype(np.int64)
    code = (identity >> np.uint64(24)).astype(np.int64) << 10 | level
    order = np.lexsort((code, passage))
    passage, code = passage[order], code[order]
    size = np.bincount(passage, minlength=len(stored))
    had = np.array([-1 if marks is None else _marked(marks) for marks in stored], np.int64)
    alike = whole & (had == size)
    known = b"".join(
        base64.b64decode(marks) for marks, same in zip(stored, alike.tolist(), strict=True)
        if same and marks
    )  # fmt: skip
    old, here = np.frombuffer(known, np.int64), alike[passage]
    new = code[here]
    moved = np.abs((old & 1023) - (new & 1023)) > _TOLERANCE
    wrong = ~alike
    wrong[passage[here][(old >> 10 != new >> 10) | moved]] = True
    ends = np.cumsum(size)
    return {
        at: base64.b64encode(code[ends[at] - size[at] : ends[at]].tobytes()).decode()
        for at in np.flatnonzero(wrong).tolist()
    }


def _marked(marks: str) -> int:
    """Return how many numbers of eight bytes a text in base64 has."""
    return (len(marks) // 4 * 3 - marks.count("=")) // 8


def hashed(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a hash of each text, the same in every run."""
    return np.array(
        [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in texts],
        np.uint64,
    )


# --- Pairs of passages ---

#: Pairs that are compared at once, which limits the memory.
_MOST_PAIRS = 1_000_000
#: Most shared items that are stored with a pair.
MOST_ITEMS = 5


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of passages, by their places: how many items they share, and the weight of these.

    `items` has a row for each pair: the first five items, -1 where there are fewer.
    """

    first: Numbers
    second: Numbers
    count: Numbers
    weight: NDArray[np.float64]
    items: Numbers

    def chosen(self, at: NDArray[Any]) -> Pairs:
        """Return the pairs at some places, or where a mask is true."""
        return Pairs(
            self.first[at], self.second[at], self.count[at], self.weight[at], self.items[at]
        )


def pairs_of(parts: Sequence[Pairs]) -> Pairs:
    """Return the pairs of all parts."""
    none = np.zeros(0, np.int32)
    parts = [Pairs(none, none, none, np.zeros(0), np.zeros((0, MOST_ITEMS), np.int32)), *parts]
    return Pairs(
        np.concatenate([part.first for part in parts]),
        np.concatenate([part.second for part in parts]),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate([part.items for part in parts]),
    )


def strongest_pairs(
    passage: Numbers,
    item: Numbers,
    weight: NDArray[np.float64],
    other_weight: NDArray[np.float64],
    names: Sequence[str],
    neighbours: int,
) -> Pairs:
    """Return the pairs of `chosen_pairs`, each once: from its lower passage where both chose."""
    found = chosen_pairs(passage, item, weight, other_weight, names, neighbours)
    _, once = np.unique(unordered(found, len(names)), return_index=True)
    return found.chosen(np.sort(once))


def chosen_pairs(
    passage: Numbers,
    item: Numbers,
    weight: NDArray[np.float64],
    other_weight: NDArray[np.float64],
    names: Sequence[str],
    neighbours: int,
    choosing: int | None = None,
) -> Pairs:
    """Return each passage with the `neighbours` others that it shares the weightiest items with.

    The arrays have an element for each item of each passage, sorted by passage: the weight of a
    shared item is `weight` of the first passage times `other_weight` of the second. Ties are broken
    by name. Only the first `choosing` passages choose, or all.
    """
    by_item = np.argsort(item, kind="stable")
    size = np.bincount(item, minlength=1)
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    parts = []
    chosen_by = passage if choosing is None else passage[passage < choosing]
    for low, high in _parts(chosen_by, size[item[: chosen_by.size]]):
        own, other = joined(np.arange(low, high), item, by_item)
        apart = passage[own] != passage[other]
        pairs = grouped(
            passage, item, own[apart], other[apart], weight[own[apart]] * other_weight[other[apart]]
        )
        best = np.lexsort((rank[pairs.second], -pairs.weight, pairs.first))
        place = np.arange(best.size) - np.searchsorted(pairs.first[best], pairs.first[best])
        parts.append(pairs.chosen(best[place < neighbours]))
    return pairs_of(parts)


def unordered(pairs: Pairs, passages: int) -> NDArray[np.int64]:
    """Return a number for each pair that is the same in both directions."""
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    return low.astype(np.int64) * passages + high


def joined(here: Numbers, item: Numbers, by_item: Numbers) -> tuple[Numbers, Numbers]:
    """Return each of `here` with each of `by_item` that has the same item; both are places."""
    size = np.bincount(item[by_item], minlength=int(item.max(initial=0)) + 1)
    many = size[item[here]]
    own = np.repeat(here, many)
    within = np.arange(own.size) - np.repeat(np.cumsum(many) - many, many)
    return own, by_item[np.repeat((np.cumsum(size) - size)[item[here]], many) + within]


def grouped(
    passage: Numbers,
    item: Numbers,
    own: Numbers,
    other: Numbers,
    weight: NDArray[np.float64],
) -> Pairs:
    """Return the pairs of passages that share items at the places `own` and `other`."""
    first, second = passage[own], passage[other]
    # Stable, so that the items of a pair stay in the order of its first passage.
    order = np.lexsort((second, first))
    first, second, items, weight = first[order], second[order], item[own][order], weight[order]
    new = (np.diff(first, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 0)
    begins = np.flatnonzero(new)
    count = np.diff(begins, append=first.size).astype(np.int32)
    places = begins[:, None] + np.arange(MOST_ITEMS)
    return Pairs(
        first[begins],
        second[begins],
        count,
        np.add.reduceat(weight, begins) if begins.size else np.zeros(0),
        np.where(
            np.arange(MOST_ITEMS) < count[:, None],
            items[np.minimum(places, max(items.size - 1, 0))] if items.size else -1,
            -1,
        ),
    )


def _parts(passage: Numbers, pairs: Numbers) -> Iterator[tuple[int, int]]:
    """Yield ranges [low, high) of whole passages, each with about a million pairs."""
    ends = np.flatnonzero(np.diff(passage, append=-1)) + 1
    low = 0
    before = 0
    for high, total in zip(ends.tolist(), np.cumsum(pairs)[ends - 1].tolist(), strict=True):
        if total - before > _MOST_PAIRS or high == passage.size:
            yield low, high
            low, before = high, total


def pair_hashes(
    pairs: Pairs, titled: NDArray[np.bool_], ids: Sequence[str], titles: Sequence[str]
) -> NDArray[np.uint64]:
    """Return a hash of everything that the edge of each pair says but its weight.

    `titled` are those of a title, `ids` the passages' by their places, `titles` those of the items.
    """
    what = hashed(titles)
    identity = hashed(ids)[pairs.second] + (2 * pairs.count + titled).astype(np.uint64) * MIXED
    for at in range(MOST_ITEMS):
        item = pairs.items[:, at]
        known = what[item] if what.size else np.zeros(item.size, np.uint64)
        identity = (identity ^ np.where(item < 0, np.uint64(0), known)) * MIXED
    return identity


def write_pairs(
    database: Database,
    path: str,
    corpus: str,
    rows: Sequence[Mapping[str, Any]],
    named: Pairs,
    shared: Pairs,
    titles: Sequence[str],
) -> None:
    """Write what changed of the edges that pairs make.

    The pairs in `named` come from a title and are edges from the first to the second; those in
    `shared` are left out where these join them. `rows` are the passages: node, id, `sharedMarks`
    and how many edges go out (`shared`).
    """
    shared = shared.chosen(~np.isin(unordered(shared, len(rows)), unordered(named, len(rows))))
    pairs = pairs_of((named, shared))
    titled = np.arange(pairs.first.size) < named.first.size
    identity = pair_hashes(pairs, titled, [row["id"] for row in rows], titles)
    size = np.bincount(pairs.first, minlength=len(rows))
    changed = outdated(
        pairs.first, identity, pairs.weight, [row["sharedMarks"] for row in rows],
        size == [row["shared"] for row in rows],
    )  # fmt: skip
    order = np.argsort(pairs.first, kind="stable")
    ends = np.searchsorted(pairs.first[order], np.arange(len(rows) + 1))

    def edges(place: int) -> Iterator[list[Any]]:
        for at in order[ends[place] : ends[place + 1]].tolist():
            items = [titles[n] for n in pairs.items[at].tolist() if n >= 0]
            yield [
                rows[int(pairs.second[at])]["node"], int(pairs.count[at]), float(pairs.weight[at]),
                items, bool(titled[at]),
            ]  # fmt: skip

    written = (
        {"node": rows[at]["node"], "marks": marks, "edges": list(edges(at))}
        for at, marks in changed.items()
    )
    write_rows(database, path, written, 1000, None, corpus=corpus)
