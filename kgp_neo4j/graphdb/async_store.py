"""Await the driver's work without holding up other work: in threads, limited, ended on the server.

The work itself is CPU-bound between its statements, so threads carry it whole; a time limit and a
cancelled task reach the statement that runs, which the server then ends.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import aclosing
from typing import Any, Generic, Self, TypeAlias, TypeVar

from kgp_neo4j.environment.job import Job, working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.store import Store
from kgp_neo4j.types.errors import ConfigurationError

__all__ = ["AsyncStore", "Told", "awaited", "begun_in", "events_of", "listen"]

_R = TypeVar("_R")
_S = TypeVar("_S", bound=Store)


def begun_in(threads: Executor, job: Job, work: Callable[[], _R]) -> Future[_R]:
    """Begin work for a job in another thread, as soon as one is free."""
    context = contextvars.copy_context()

    def run() -> _R:
        with working(job):
            job.check()
            return work()

    return threads.submit(context.run, run)


async def awaited(future: Future[_R], job: Job, database: Callable[[], Database]) -> _R:
    """Return what the work of a job returns.

    Where the task is cancelled or the job's time is over, the work ends at its next step, and the
    statement that runs on the server at once. Raises StoppedError where the time is over.
    """
    try:
        return await asyncio.wait_for(asyncio.wrap_future(future), job.left())
    except (asyncio.CancelledError, TimeoutError) as error:
        job.give_up()
        if not future.done():
            threading.Thread(target=lambda: database().end(job), daemon=True).start()
        if isinstance(error, TimeoutError):
            job.check()  # raises what says how long it may take
        raise


#: The events of a job as they come, and None once there are no more.
Told: TypeAlias = asyncio.Queue[tuple[str, Any] | None]


def listen(job: Job) -> Told:
    """Return a queue that the events of a job come into; to be called before its work begins."""
    loop = asyncio.get_running_loop()
    told: Told = asyncio.Queue()

    def put(event: str, value: Any) -> None:
        loop.call_soon_threadsafe(told.put_nowait, (event, value))

    job.on_event = put
    return told


async def events_of(
    told: Told, work: Coroutine[Any, Any, Any], *, last: str = "answer", keep: bool = False
) -> AsyncGenerator[tuple[str, Any]]:
    """Yield the events of the job that `work` awaits, and what that returns as the `last` one.

    The work is given up where the iteration is, unless it is to be kept.
    """
    task = asyncio.ensure_future(work)
    task.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while (event := await told.get()) is not None:
            yield event
        yield last, task.result()
    finally:
        if not keep:
            task.cancel()


class AsyncStore(Generic[_S]):
    """A corpus or graph to be awaited: its calls run in at most `threads` threads at once.

    `seconds` limits every question, None not at all.
    """

    def __init__(
        self,
        name: str,
        *,
        database: Database | None = None,
        threads: int = 4,
        seconds: float | None = None,
    ) -> None:
        if threads < 1:
            raise ConfigurationError(f"{threads} threads can do nothing", hint="Use 1 or more.")
        self.name = name
        self.seconds = seconds
        self._store = self._made(name, database)
        self._opening = threading.Lock()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="kgp-async")

    def _made(self, name: str, database: Database | None) -> _S:
        raise NotImplementedError

    def _database(self) -> Database:
        with self._opening:
            return self._store.database

    async def _do(self, work: Callable[[_S], _R], job: Job | None = None) -> _R:
        """Await a call of a store of its own, since a store serves one call at a time."""
        job = job or Job()
        future = begun_in(self._threads, job, lambda: work(self._made(self.name, self._database())))
        return await awaited(future, job, self._database)

    async def _stream(self, work: Callable[[_S], Any]) -> AsyncGenerator[tuple[str, Any]]:
        job = Job(self.seconds)
        async with aclosing(events_of(listen(job), self._do(work, job))) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Wait for the calls that run, and close the connection unless it was given."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)
        await asyncio.to_thread(self._store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
