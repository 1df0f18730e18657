"""One graph of a corpus while `connect` makes it: steps, stored counts, and new passages."""

from __future__ import annotations

import dataclasses
import io
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from kgp_neo4j.environment.progress import Progress
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings

__all__ = [
    "MOST_HITS",
    "MOST_NAMING",
    "Counts",
    "GraphBuild",
    "NewPassages",
    "as_array",
    "from_array",
    "timed",
]

#: Arrays by name; other values as `as_array` makes them.
Counts = Mapping[str, NDArray[Any]]
#: A corpus of fewer passages is counted anew, which takes less than a minute.
LEAST = 20_000
#: Of the passages that were counted, the share that may come and go before all are counted anew.
MOST = 0.01
#: Passages that are looked through for a phrase that at most one of them has, or so it seems.
MOST_HITS = 20
#: Passages that are looked through for the name of a new document.
MOST_NAMING = 1_000
#: Phrases that are searched for at once, and passages that neighbours are found for at once.
_SEARCHED, _JOINED = 200, 100
#: Bytes of counts in one node.
_PART = 4 << 20
#: What would end a phrase in a full-text query.
_QUOTES = regex.compile(r"[\"\\]")


@dataclass(frozen=True, slots=True)
class NewPassages:
    """Passages (ids, in order) that are not in a graph yet, and what was counted in the others.

    `passages` are all of the corpus; `counted` were counted anew at last, and `joined` since.
    """

    ids: list[str]
    passages: int
    counted: int
    joined: int
    counts: Counts


class GraphBuild:
    """The keyword or the entity graph (`graph`) of a corpus, while a run of `connect` makes it.

    With `anew` everything is written again, not only what differs from what is stored; with `whole`
    all texts are counted again. `meanwhile` is called between the steps; `seconds` gets the
    duration of each step.
    """

    def __init__(
        self,
        database: Database,
        corpus: str,
        graph: str,
        settings: KeywordSettings | EntitySettings,
        seconds: dict[str, float],
        *,
        anew: bool = False,
        whole: bool = False,
        meanwhile: Callable[[], object] = lambda: None,
    ) -> None:
        self.database = database
        self.corpus = corpus
        self.seconds = seconds
        self.anew = anew
        self.meanwhile = meanwhile
        self._graph = graph
        self._settings = settings
        #: What a graph of the same documents depends on: settings, and this version's rules.
        self._made_of = json.dumps(
            [dataclasses.asdict(settings), version("kgp-neo4j")], sort_keys=True
        )
        self._whole = whole
        self._run: str | None = None

    def begin(self, *, keep: bool = True) -> None:
        """Mark the graph as unfinished; it can be asked meanwhile unless `keep` is false."""
        begun = self.database.write(
            "connect/begin", corpus=self.corpus, graph=self._graph, keep=keep
        )
        # None where another run makes the graph too, since the result is of both then. There is no
        # row where the corpus was deleted just now: nothing is found, and nothing written.
        self._run = begun[0]["run"] if begun else None

    def make(
        self,
        connect_all: Callable[[], object],
        join: Callable[[NewPassages], object],
        *,
        same_again: bool = True,
    ) -> int:
        """Join a few new passages into the graph where that is possible, else connect all.

        Where no document has changed since it was made, it stays as it is. Everything is connected
        where the same documents may not make the same graph (`same_again` is false). Returns how
        many passages were joined.
        """
        may_keep = same_again and not (self.anew or self._whole)
        if may_keep and self._made_of in [row[self._graph] for row in self.read("connect/made")]:
            return 0
        self.begin()
        new = self._new_passages() if may_keep else None
        if new is None:
            connect_all()
        elif new.ids:
            join(new)
        self.finish()
        return len(new.ids) if new else 0

    def _new_passages(self) -> NewPassages | None:
        """Return the passages that can be joined into a graph, or None where all are counted."""
        if self._run is None:
            return None
        (state,) = self.read("connect/pending", graph=self._graph)
        passages, ids = state["passages"], state["pending"]
        if passages < LEAST or len(ids) > MOST * passages:
            return None
        parts = self.database.stream(
            "connect/kept_counts", corpus=self.corpus, graph=self._graph, madeOf=self._made_of
        )
        data = b"".join(row["data"] for row in parts)
        if not data:
            return None
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            counts = dict(file)
        counted, joined = counts["passages"].tolist()
        gone = counted + joined + len(ids) - passages
        if gone < 0 or joined + len(ids) + gone > MOST * counted:
            return None
        return NewPassages(ids, passages, counted, joined, counts)

    def keep_counts(self, counts: Counts, passages: int, joined: int = 0) -> None:
        """Keep what was counted in so many passages, and those joined since, if it may be of use.

        They are valid once the graph is finished, unless another run has begun meanwhile.
        """
        if passages < LEAST or self._run is None:
            return
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **{**counts, "passages": np.array([passages, joined])})
        data = file.getbuffer()
        values = {"corpus": self.corpus, "graph": self._graph, "run": self._run}
        with self.timed("keep counts"):
            for part, start in enumerate(range(0, len(data), _PART)):
                some = bytes(data[start : start + _PART])
                self.database.write("connect/keep_counts", **values, part=part, data=some)

    def finish(self) -> None:
        """Mark the graph as made, of what its documents are unless these changed meanwhile."""
        self.database.write(
            "connect/finish", corpus=self.corpus, graph=self._graph, run=self._run,
            settings=json.dumps(dataclasses.asdict(self._settings), sort_keys=True),
            madeOf=self._made_of,
        )  # fmt: skip

    # --- Statements on the corpus ---

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the duration of a step to `seconds`."""
        with timed(self.seconds, step):
            yield

    def read(self, path: str, **values: Any) -> list[Row]:
        """Return the rows of a statement."""
        return self.database.read(path, corpus=self.corpus, **values)

    def read_rows(
        self, path: str, rows: Sequence[Any], size: int, parameter: str = "rows", **values: Any
    ) -> Iterator[Row]:
        """Yield what a statement returns of rows, its `parameter`, in batches of `size`."""
        for start in range(0, len(rows), size):
            some = {parameter: rows[start : start + size]}
            yield from self.database.read_packed(path, corpus=self.corpus, **some, **values)

    def read_pages(self, path: str, key: str) -> Iterator[Row]:
        """Yield the rows of a statement that returns those `after` a key, in its order, in pages.

        Neither the server nor the client holds more than a page, and rows come packed.
        """
        after = ""
        while page := self.database.read_packed(path, corpus=self.corpus, after=after):
            yield from page
            after = page[-1][key]

    def write_rows(
        self,
        path: str,
        rows: Iterable[Any],
        size: int,
        progress: Progress | None = None,
        **values: Any,
    ) -> None:
        """Write rows in batches of `size`, one transaction each."""

        def batches() -> Iterator[dict[str, Any]]:
            remaining = iter(rows)
            while batch := list(islice(remaining, size)):
                yield {"corpus": self.corpus, "rows": batch, **values}
                if progress:
                    progress.update(len(batch))

        for _ in self.database.write_all(path, batches()):
            pass

    # --- Joining new passages ---

    def passages_with(
        self, phrases: Iterable[tuple[str, str, str]], most: int, cased: bool = False
    ) -> dict[str, list[str]]:
        """Return the passages (ids) that seem to have each phrase, the best `most` of each.

        A phrase has a key, its words joined by spaces, in lower case or as they are written
        (`cased`), and how a text writes it (`whole_words`).
        """
        rows = [[key, words, _QUOTES.sub(" ", text)] for key, words, text in phrases]
        ids: dict[str, list[str]] = {}
        for row in self.read_rows("connect/having", rows, _SEARCHED, most=most, cased=cased):
            ids.setdefault(row["key"], []).extend(row["passages"])
        return ids

    def join_passages(
        self, find: str, edge: Mapping[str, Any], nodes: Sequence[str], **values: Any
    ) -> None:
        """Add the edges from and to new passages (by node) that the statement `find` returns.

        `edge` says which, as `write_pairs` takes it.
        """
        rows = list(self.read_rows(find, nodes, _JOINED, **values))
        new = set(nodes)
        named = {(r["first"], r["second"]): r for r in rows if r["namesTitle"]}
        joined = set(map(frozenset, named))
        edges = list(named.values())
        for row in rows:
            pair = frozenset((row["first"], row["second"]))
            # What a new passage has among its strongest is told where it is the first.
            if pair not in joined and (row["chosen"] or row["second"] not in new):
                joined.add(pair)
                edges.append(row)
        columns = ("second", "count", "weight", "items", "namesTitle")
        added = (
            {"node": row["first"], "edges": [[row[column] for column in columns]]} for row in edges
        )
        self.write_rows("connect/shared", added, 1000, replace=False, **edge)


@contextmanager
def timed(seconds: dict[str, float], step: str) -> Iterator[None]:
    """Add the duration of a step to `seconds`."""
    began = time.perf_counter()
    try:
        yield
    finally:
        seconds[step] = seconds.get(step, 0.0) + time.perf_counter() - began


def as_array(value: Any) -> NDArray[np.uint8]:
    """Return a value of JSON as an array."""
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), np.uint8)


def from_array(array: NDArray[Any]) -> Any:
    """Return the value that `as_array` made an array of."""
    return json.loads(array.tobytes())
