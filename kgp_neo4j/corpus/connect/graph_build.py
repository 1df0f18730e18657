"""What a graph of a corpus is made with: its state, rows in batches, pairs of passages that share.

Relationships that are stored stay where nothing differs: their marks on a passage tell.
"""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from typing import Any, Generic, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.job import Progress, ahead
from kgp_neo4j.graphdb.database import Database, Row, in_batches
from kgp_neo4j.types.errors import StoppedError
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings

_Settings = TypeVar("_Settings", KeywordSettings, EntitySettings)


@dataclass(frozen=True, slots=True)
class GraphBuild(Generic[_Settings]):
    """The keyword or the entity graph (`graph`) of a corpus, while a run of `connect` makes it.

    With `anew` everything is written again. `seconds` gets the duration of each step, with what it
    waited for another graph. Graphs made at once share `statements` and `stopped`, which ends them.
    """

    database: Database
    corpus: str
    graph: str
    settings: _Settings
    seconds: dict[str, float]
    anew: bool = False
    statements: threading.Lock = field(default_factory=threading.Lock)
    stopped: threading.Event = field(default_factory=threading.Event)

    def _made_of(self) -> str:
        """Return what a graph of the same documents depends on: settings, this version's rules."""
        return json.dumps([asdict(self.settings), version("kgp-neo4j")], sort_keys=True)

    def is_current(self) -> bool:
        """Return whether no document has changed since the graph was made with these settings."""
        made = [row[self.graph] for row in self.read("connect/made")]
        return not self.anew and self._made_of() in made

    @contextmanager
    def making(self) -> Iterator[None]:
        """Mark the graph as unfinished while the block runs, and as made at its end.

        It can be asked meanwhile, and counts as made of what its documents are unless these change.
        """
        with self.turn():
            begun = self.database.write("connect/begin", corpus=self.corpus, graph=self.graph)
        yield
        # Where another run makes the graph too, `run` is None, since the result is of both. There
        # is no row where the corpus was deleted just now: nothing is found, and nothing written.
        self.database.write(
            "connect/finish", corpus=self.corpus, graph=self.graph,
            run=begun[0]["run"] if begun else None,
            settings=json.dumps(asdict(self.settings), sort_keys=True), madeOf=self._made_of(),
        )  # fmt: skip

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let the block run statements while no other graph of the same run does.

        A passage's relationships cannot be read while others of it are written. Raises StoppedError
        where the run has ended.
        """
        with self.statements:
            if self.stopped.is_set():
                raise StoppedError("connect has stopped")
            yield

    def read(self, path: str, **values: Any) -> list[Row]:
        """Return the rows of a statement; raises StoppedError where the run has ended."""
        with self.turn():
            return self.database.read(path, corpus=self.corpus, **values)

    def write_rows(
        self,
        path: str,
        rows: Iterable[Any],
        size: int,
        progress: Progress | None = None,
        weigh: Callable[[Any], int] = lambda _: 1,
        **values: Any,
    ) -> None:
        """Write rows in batches that weigh `size`, a transaction each; makes the next meanwhile."""
        for batch in ahead(in_batches(rows, size, weigh)):
            with self.turn():
                self.database.write(path, corpus=self.corpus, rows=batch, **values)
            if progress:
                progress.update(len(batch))


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the duration of a step to `seconds`."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - began


#: Whole numbers; of passages, items and their pairs there are few enough for 32 bits.
Numbers: TypeAlias = NDArray[np.integer[Any]]
#: An odd number, which spreads hashes over all bits.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
#: How far a weight w may move before it is written anew, in thousandths of w / (1 + w).
_TOLERANCE = 5
#: Pairs that are compared at once, which limits the memory.
_MOST_PAIRS = 1_000_000
#: Most shared items that are stored with a pair.
MOST_ITEMS = 5


def outdated(
    passage: Numbers,
    identity: NDArray[np.uint64],
    weight: NDArray[np.float64],
    stored: Sequence[str | None],
    complete: NDArray[np.bool_],
) -> dict[int, str]:
    """Return the passages whose relationships of one type have to be written, with their new marks.

    The arrays have an element for each relationship that there should be: the place of the passage
    that it starts from, a hash of what it says, and its weight (0 or more). `stored` are the marks
    that were written with each passage's relationships, None for none; `complete` says which
    passages still have all of these. Marks are base64 of 64-bit numbers, each 40 bits of a hash and
    ten of a weight. Weights that moved by less than 0.005 times (1 + weight) squared are the same.
    """
    level = np.rint(1000 * weight / (1 + weight)).astype(np.int64)
    code = (identity >> np.uint64(24)).astype(np.int64) << 10 | level
    order = np.lexsort((code, passage))
    passage, code = passage[order], code[order]
    size = np.bincount(passage, minlength=len(stored))
    decoded = [None if marks is None else base64.b64decode(marks) for marks in stored]
    sizes = [-1 if marks is None else len(marks) // 8 for marks in decoded]
    comparable = complete & (np.array(sizes, np.int64) == size)
    kept = [marks or b"" for marks, same in zip(decoded, comparable, strict=True) if same]
    before = np.frombuffer(b"".join(kept), np.int64)
    rows = comparable[passage]
    after = code[rows]
    moved = np.abs((before & 1023) - (after & 1023)) > _TOLERANCE
    wrong = ~comparable
    wrong[passage[rows][(before >> 10 != after >> 10) | moved]] = True
    ends = np.cumsum(size)
    return {
        at: base64.b64encode(code[ends[at] - size[at] : ends[at]].tobytes()).decode()
        for at in np.flatnonzero(wrong).tolist()
    }


def hash_texts(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a hash of each text, the same in every run."""
    digests = [hashlib.blake2b(text.encode(), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), ">u8").astype(np.uint64)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of passages, by their places: how many items they share, and the weight of these."""

    first: Numbers
    second: Numbers
    count: Numbers
    weight: NDArray[np.float64]
    #: A row for each pair: the first five items, -1 where there are fewer.
    items: Numbers

    def select(self, at: NDArray[Any]) -> Self:
        """Return the pairs at some places, or where a mask is true."""
        return type(self)(*(getattr(self, each.name)[at] for each in fields(self)))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the pairs of all parts."""
        none = np.zeros(0, np.int32)
        parts = [cls(none, none, none, np.zeros(0), np.zeros((0, MOST_ITEMS), np.int32)), *parts]
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def strongest_pairs(
    passage: Numbers,
    item: Numbers,
    weight: NDArray[np.float64],
    other_weight: NDArray[np.float64],
    names: Sequence[str],
    neighbours: int,
) -> Pairs:
    """Return each passage with the `neighbours` others that it shares the weightiest items with.

    The arrays have an element for each item of each passage, sorted by passage: the weight of a
    shared item is `weight` of the first passage times `other_weight` of the second. A pair that
    both chose comes once, from its lower passage.
    """
    by_item = np.argsort(item, kind="stable")
    size = np.bincount(item, minlength=1)
    rank = np.empty(len(names), dtype=np.int64)
    rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    begins = np.searchsorted(passage, np.arange(len(names) + 1))
    matches = np.bincount(passage, size[item], minlength=len(names))
    parts = []
    for low, high in ranges(matches, _MOST_PAIRS):
        own, other = match_items(np.arange(begins[low], begins[high]), item, by_item)
        apart = passage[own] != passage[other]
        own, other = own[apart], other[apart]
        pairs = group_pairs(passage, item, own, other, weight[own] * other_weight[other])
        best = np.lexsort((rank[pairs.second], -pairs.weight, pairs.first))
        place = np.arange(best.size) - np.searchsorted(pairs.first[best], pairs.first[best])
        parts.append(pairs.select(best[place < neighbours]))
    chosen = Pairs.concatenate(parts)
    _, once = np.unique(_unordered(chosen, len(names)), return_index=True)
    return chosen.select(np.sort(once))


def _unordered(pairs: Pairs, passages: int) -> NDArray[np.int64]:
    """Return a number for each pair that is the same in both directions."""
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    return low.astype(np.int64) * passages + high


def match_items(places: Numbers, item: Numbers, by_item: Numbers) -> tuple[Numbers, Numbers]:
    """Return each of `places` with each of the places `by_item` that has the same item."""
    size = np.bincount(item[by_item], minlength=int(item.max(initial=0)) + 1)
    begin, size = (np.cumsum(size) - size)[item[places]], size[item[places]]
    own = np.repeat(np.arange(places.size), size)
    return places[own], by_item[np.arange(own.size) + (begin - (np.cumsum(size) - size))[own]]


def group_pairs(
    passage: Numbers, item: Numbers, own: Numbers, other: Numbers, weight: NDArray[np.float64]
) -> Pairs:
    """Return the pairs of passages that share items at the places `own` and `other`."""
    first, second = passage[own], passage[other]
    # Stable, so that the items of a pair stay in the order of its first passage.
    order = np.lexsort((second, first))
    first, second, items, weight = first[order], second[order], item[own][order], weight[order]
    begins = np.flatnonzero((np.diff(first, prepend=-1) != 0) | (np.diff(second, prepend=-1) != 0))
    if not begins.size:
        return Pairs.concatenate(())
    count = np.diff(begins, append=first.size).astype(np.int32)
    places = np.minimum(begins[:, None] + np.arange(MOST_ITEMS), items.size - 1)
    items = np.where(np.arange(MOST_ITEMS) < count[:, None], items[places], -1)
    weight = np.add.reduceat(weight, begins)
    return Pairs(first[begins], second[begins], count, weight, items)


def ranges(sizes: NDArray[Any], most: int) -> Iterator[tuple[int, int]]:
    """Yield ranges [low, high) of places whose sizes are `most` at most together, or of one."""
    ends = np.cumsum(sizes)
    low = 0
    while low < ends.size:
        before = ends[low - 1] if low else 0
        high = max(int(np.searchsorted(ends, before + most, "right")), low + 1)
        yield low, high
        low = high


def write_pairs(
    build: GraphBuild[Any],
    edge: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    named: Pairs,
    shared: Pairs,
    titles: Sequence[str],
) -> None:
    """Write what changed of the edges that pairs make.

    `edge` has their type and the properties for their items and, on passages, for their marks. The
    pairs in `named` come from a title; those in `shared` are left out where these join them. `rows`
    are the passages: node, id, `sharedMarks` and how many edges go out (`shared`).
    """
    shared = shared.select(~np.isin(_unordered(shared, len(rows)), _unordered(named, len(rows))))
    pairs = Pairs.concatenate((named, shared))
    titled = np.arange(pairs.first.size) < named.first.size
    # A hash of everything that an edge says but its weight.
    identity = hash_texts(row["id"] for row in rows)[pairs.second]
    identity += (2 * pairs.count + titled).astype(np.uint64) * MULTIPLIER
    title_hashes = np.append(hash_texts(titles), np.uint64(0))  # the last: no item, at place -1
    for at in range(MOST_ITEMS):
        identity = (identity ^ title_hashes[pairs.items[:, at]]) * MULTIPLIER
    del title_hashes
    stored, counts = ([row[each] for row in rows] for each in ("sharedMarks", "shared"))
    complete = np.bincount(pairs.first, minlength=len(rows)) == counts
    changed = outdated(pairs.first, identity, pairs.weight, stored, complete)
    order = np.argsort(pairs.first, kind="stable")
    ends = np.searchsorted(pairs.first[order], np.arange(len(rows) + 1))

    def edges(place: int) -> Iterator[list[Any]]:
        for at in order[ends[place] : ends[place + 1]].tolist():
            items = [titles[n] for n in pairs.items[at].tolist() if n >= 0]
            node = rows[int(pairs.second[at])]["node"]
            yield [node, int(pairs.count[at]), float(pairs.weight[at]), items, bool(titled[at])]

    changes = (
        {"node": rows[at]["node"], "marks": marks, "edges": list(edges(at))}
        for at, marks in changed.items()
    )
    build.write_rows("connect/shared", changes, 1000, **edge)
