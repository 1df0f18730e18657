"""One graph of a corpus while `connect` makes it: its state, its steps, rows in batches."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any, Generic, TypeVar

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
