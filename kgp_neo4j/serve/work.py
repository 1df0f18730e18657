"""Work in a bounded number of threads, behind a queue of bounded length."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from kgp_neo4j.environment.job import Job
from kgp_neo4j.graphdb.async_store import awaited, begun_in
from kgp_neo4j.graphdb.database import Database

__all__ = ["BusyError", "Work"]

_R = TypeVar("_R")


class BusyError(Exception):
    """The queue is full; `seconds` is when it is worth to come again."""

    def __init__(self, seconds: int) -> None:
        super().__init__("the queue is full")
        self.seconds = seconds


class Work:
    """Threads that work for requests, and the queue before them.

    A job keeps its place until its thread has ended, also where nobody waits any longer.
    """

    def __init__(self, name: str, database: Database, threads: int, queue: int) -> None:
        self.name = name
        self.threads = threads
        self.inside = 0
        self.most = threads + queue
        self._database = database
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"kgp-{name}")

    @property
    def waiting(self) -> int:
        """How many jobs wait for a thread."""
        return max(0, self.inside - self.threads)

    def begin(self, job: Job, work: Callable[[], _R]) -> Coroutine[Any, Any, _R]:
        """Take a place for a job now, and return what awaits its result.

        Raises BusyError where no place is free.
        """
        if self.inside >= self.most:
            raise BusyError(1 + self.waiting // self.threads)
        self.inside += 1
        future = begun_in(self._threads, job, work)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: self._leave(loop))
        return awaited(future, job, lambda: self._database)

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._left)

    def _left(self) -> None:
        self.inside -= 1

    def close(self) -> None:
        """Let what runs end, and what waits not begin."""
        self._threads.shutdown(wait=True, cancel_futures=True)
