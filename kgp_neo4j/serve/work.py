"""Work in a bounded number of threads, behind a queue of bounded length.

The work itself is CPU-bound between its statements, so threads carry it whole; a time limit and a
cancelled task reach the statement that runs, which the server then ends.
"""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from kgp_neo4j.environment.job import Job, in_context, working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.serve.problems import busy


class Work:
    """Threads that work for requests, and the queue before them.

    A job keeps its place until its thread has ended, also where nobody waits any longer.
    """

    def __init__(self, name: str, database: Database, threads: int, queue: int) -> None:
        self.name = name
        self.most = threads + queue
        self._database = database
        self._count = threads
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"kgp-{name}")
        self._jobs: dict[Future[Any], Job] = {}

    @property
    def inside(self) -> int:
        """How many jobs have a place."""
        return len(self._jobs)

    @property
    def waiting(self) -> int:
        """How many jobs wait for a thread."""
        return max(0, self.inside - self._count)

    def begin(self, job: Job, work: Callable[[], Any]) -> Coroutine[Any, Any, Any]:
        """Take a place for a job, and return what awaits its result; a problem if all are taken."""
        if self.inside >= self.most:
            raise busy(1 + self.waiting // self._count)

        def run() -> Any:
            with working(job):
                job.check()
                return work()

        future = self._threads.submit(in_context(run))
        self._jobs[future] = job
        future.add_done_callback(lambda done: self._jobs.pop(done, None))
        return self._result(future, job)

    def events(
        self, job: Job, work: Callable[[], Any], *, last: str = "answer", keep: bool = False
    ) -> AsyncGenerator[tuple[str, Any]]:
        """Begin a job as `begin` does; return its events, and its result as the `last` one.

        The work is given up where the iteration is, unless it is to be kept.
        """
        loop, told = asyncio.get_running_loop(), asyncio.Queue[tuple[str, Any] | None]()
        job.on_event = lambda name, value: loop.call_soon_threadsafe(told.put_nowait, (name, value))
        begun = self.begin(job, work)

        async def events() -> AsyncGenerator[tuple[str, Any]]:
            task = asyncio.ensure_future(begun)
            task.add_done_callback(lambda _: told.put_nowait(None))
            try:
                while (event := await told.get()) is not None:
                    yield event
                yield last, task.result()
            finally:
                if not keep:
                    task.cancel()

        return events()

    async def _result(self, future: Future[Any], job: Job) -> Any:
        """Return what the work of a job returns; raises StoppedError where its time is over.

        Then, and where the task is cancelled, the work ends at its next step, and the statement
        that runs on the server at once.
        """
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), job.left())
        except (asyncio.CancelledError, TimeoutError) as error:
            job.give_up()
            if not future.done():
                threading.Thread(target=self._database.end, args=(job,), daemon=True).start()
            if isinstance(error, TimeoutError):
                job.check()  # raises what says how long it may take
            raise

    def close(self) -> None:
        """Let what runs end at its next step, and what waits not begin."""
        for job in list(self._jobs.values()):
            job.give_up()
        self._threads.shutdown(wait=True, cancel_futures=True)
