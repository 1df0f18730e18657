"""The service: one database, the work for it in a bounded number of threads, its counts; who calls.

Work is CPU-bound between its statements, so threads carry it whole; a time limit and a cancelled
task reach the statement that runs, which the server then ends.
"""

import asyncio
import os
import re
import shutil
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from filelock import FileLock, Timeout
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from kgp_neo4j.corpus.answer.conversation import Said, understood
from kgp_neo4j.corpus.load.stored import corpora
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.environment.disk import private_folder
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.environment.job import Job, in_context, working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import MeteredModel, writer
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.bodies import ProblemError, busy, missing
from kgp_neo4j.serve.connections import json_response, while_connected
from kgp_neo4j.serve.tokens import Access, Tokens
from kgp_neo4j.types.corpus import LanguageModel, Usage
from kgp_neo4j.types.errors import KgpError
from kgp_neo4j.types.mindmap import MindMap
from kgp_neo4j.types.settings import ServeSettings


class Work:
    """Threads for requests behind a queue; a job, awaited or not, has its place till it ends."""

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
        """Begin a job; return its events, `last` its result; it ends with them unless to `keep`."""
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

        Then, and if it is cancelled, it ends at its next step, and its statement at once.
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


class Metrics:
    """What one service counts."""

    def __init__(self, works: Iterable[Work]) -> None:
        self._registry = CollectorRegistry()
        for work in works:
            name = f"kgp_{work.name}_waiting"
            waiting = Gauge(name, f"Waiting {work.name}", registry=self._registry)
            waiting.set_function(partial(getattr, work, "waiting"))
        counter = partial(Counter, registry=self._registry)
        self._requests = counter("kgp_requests", "Requests answered", ("method", "route", "status"))
        about = "Time until the last byte of a response"
        buckets = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.5, 5.0, 10.0, 30.0, 60.0)
        histogram = partial(Histogram, buckets=buckets, registry=self._registry)
        self._seconds = histogram("kgp_request_seconds", about, ("method", "route"))
        names = ("token", "corpus", "model")
        self._calls = counter("kgp_model_calls", "Calls of language models", names)
        about = "Tokens of language models; kind is prompt or reply"
        self._tokens = counter("kgp_model_tokens", about, (*names, "kind"))

    def count_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_usage(self, token: str, corpus: str, usage: Usage | None) -> None:
        """Count what a language model used for the holder of a token."""
        if usage is None or not usage.calls:
            return
        labels = (token, corpus, usage.model)
        self._calls.labels(*labels).inc(usage.calls)
        self._tokens.labels(*labels, "prompt").inc(usage.prompt_tokens)
        self._tokens.labels(*labels, "reply").inc(usage.reply_tokens)

    def text(self) -> bytes:
        """Return all of it in the text format."""
        return generate_latest(self._registry)


_RECEIVED = 8
#: The names that uploads have while they come, and the folders of corpora that they lie in.
_OURS = re.compile(r"incoming-[0-9a-f]{32}|c[0-9a-f]{16}")


@dataclass(eq=False, kw_only=True)
class Service:
    """What all handlers share, made once; files wait in `folder` while they are loaded."""

    database: Database = field(kw_only=False)
    settings: ServeSettings = field(default_factory=ServeSettings)
    folder: Path = field(default_factory=lambda: Folders.from_environment().home / "uploads")
    tokens: Tokens | None = None
    #: Those that may be asked for; the first one answers where none is named.
    models: Sequence[LanguageModel] = ()

    def __post_init__(self) -> None:
        threads = self.settings.threads or os.cpu_count() or 1
        self.questions = Work("questions", self.database, threads, self.settings.queue)
        # Loading takes minutes: it must not hold up questions, nor take all cores from them.
        self.loads = Work("loads", self.database, 1, self.settings.queue)
        #: Uploads that are received at once.
        self.receiving = asyncio.Semaphore(_RECEIVED)
        self.metrics = Metrics((self.questions, self.loads))
        self._alone = FileLock(f"{self.folder}.lock", mode=0o600, thread_local=False)

    def begin(self) -> None:
        """Remove what a service that was killed left of its uploads, if no other one runs."""
        private_folder(self.folder)
        with suppress(Timeout):
            self._alone.acquire(timeout=0)
            for left in self.folder.iterdir():
                if _OURS.fullmatch(left.name) and left.is_dir():
                    shutil.rmtree(left, ignore_errors=True)
                elif _OURS.fullmatch(left.name):
                    left.unlink(missing_ok=True)

    def warm(self) -> None:
        """Load the models before the first question, where there is something to ask."""
        question = "What is this about?"
        with suppress(KgpError):
            for corpus in corpora(self.database)[:1]:
                make_pipeline(self.database, corpus.name).ask(question)
            for graph in graphs(self.database)[:1]:
                ask_graph(self.database, graph.name, question)

    def model(self, wanted: bool | str = True) -> LanguageModel | None:
        """Return the model of a name (True: the first, False: none); ProblemError if unknown."""
        if isinstance(wanted, bool):
            return self.models[0] if wanted and self.models else None
        for model in self.models:
            if model.name == wanted:
                return model
        raise missing("language model", wanted[:64])

    def question_job(self, key: str) -> Job:
        """Return the job of a request, which may take as long as a question."""
        return Job(self.settings.seconds, id_=key)

    def close(self) -> None:
        """Let what runs end."""
        self.questions.close()
        self.loads.close()
        self._alone.release()


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request, with the right that its answer asks for."""

    request: Request
    service: Service
    access: Access

    def seeing(self, kind: str, name: str, work: Callable[[], Any]) -> Callable[[], Any]:
        """Return the work, to be done where the "corpus" or "graph" is there and may be seen.

        Both are looked up, so that the time does not tell a hidden one from one that is not there.
        """

        def checked() -> Any:
            label = "Corpus" if kind == "corpus" else "KnowledgeGraph"
            rows = self.service.database.read("inspect/names", label=label)
            if {"name": name} not in rows or not self.access.sees(kind, name):
                raise missing("corpus" if kind == "corpus" else "knowledge graph", name)
            return work()

        return checked

    def map_mind(
        self, graph: str, question: str, wanted: bool | str = True, *, history: Sequence[Said] = ()
    ) -> tuple[MindMap, Usage | None]:
        """Answer over a graph what a question means after `history`; count the use of the model."""
        model = self.service.model(wanted)
        meter = MeteredModel(model) if model else None
        asked = understood(question, history, meter)
        write = writer(meter) if meter else None
        made = ask_graph(self.service.database, graph, asked, write=write)
        usage = meter.take_usage() if meter else None
        self.count(graph, usage)
        return made, usage

    def count(self, corpus: str, usage: Usage | None) -> None:
        """Count what a language model used for the sender, over a corpus or a graph."""
        self.service.metrics.count_usage(self.access.name, corpus, usage)

    def events(self, work: Callable[[], Any]) -> AsyncGenerator[tuple[str, Any]]:
        """Begin the work for a question, and return its events."""
        job = self.service.question_job(self.request.state.id)
        return self.service.questions.events(job, work)

    async def look(self, work: Callable[[], Any]) -> Response:
        """Answer with what is looked up, within the time and the queue of a question."""
        job = self.service.question_job(self.request.state.id)
        waiting = self.service.questions.begin(job, work)
        found = await while_connected(self.request, waiting)
        return found if isinstance(found, Response) else json_response(found)

    async def change(self, work: Callable[[], Any]) -> Response:
        """Do what changes a corpus, after the loads that were there before, and to its end."""
        return json_response(await self.service.loads.begin(Job(), work))


def handles(function: Callable[..., Any]) -> Callable[..., Awaitable[Response]]:
    """Make a handler: it looks up by GET, else changes, a `corpus` that the `caller` sees."""

    @wraps(function)
    async def handle(caller: Caller, **values: Any) -> Response:
        work: Callable[[], Any] = partial(function, caller=caller, **values)
        if "corpus" in values:
            work = caller.seeing("corpus", values["corpus"], work)
        return await (caller.look if caller.request.method == "GET" else caller.change)(work)

    return handle


def require_right(access: Access, right: str) -> None:
    """Raise the problem of a token that lacks a right."""
    if right not in access.rights:
        raise ProblemError(403, f"this needs the right {right!r}")


def _with_right(right: str) -> Callable[[Request], Awaitable[Caller]]:
    async def check(request: Request) -> Caller:
        require_right(request.state.access, right)
        return Caller(request, request.app.state.service, request.state.access)

    return check


#: The sender of a request whose token was checked for a right.
Reads = Annotated[Caller, Depends(_with_right("read"))]
Loads = Annotated[Caller, Depends(_with_right("load"))]
Administers = Annotated[Caller, Depends(_with_right("admin"))]
CorpusName = Annotated[str, Query(min_length=1, max_length=200, description="The corpus's name.")]
