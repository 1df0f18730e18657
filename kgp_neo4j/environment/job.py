"""Work that somebody waits for: its time limit, whether it was given up, who is told of it; bars.

A job is known to all code that runs for it, through a context variable: statements take their time
limit from it, and long work asks it between two steps whether anybody still waits.
"""

import contextvars
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

from kgp_neo4j.types.errors import ConfigurationError, StoppedError

_R = TypeVar("_R")


class Job:
    """One piece of work; safe to share between threads.

    `seconds` limits it from now on, None not at all. Where `on_event` is set, it is called in the
    thread that does the work, with the name of each event and what there is to tell.
    """

    def __init__(self, seconds: float | None = None, *, id_: str | None = None) -> None:
        self.id = id_ or uuid.uuid4().hex
        self.seconds = seconds
        self.on_event: Callable[[str, Any], object] | None = None
        self._end = None if seconds is None else time.monotonic() + seconds
        self._given_up = threading.Event()

    def give_up(self) -> None:
        """Let the work end at its next step: nobody waits for it any longer."""
        self._given_up.set()

    def left(self) -> float | None:
        """Return the seconds left (0 where there are none), None without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def check(self) -> None:
        """Raise StoppedError where the work was given up, or its time is over."""
        if self.left() == 0.0:
            what = f"this took longer than the {self.seconds:g} s that it may take"
            raise StoppedError(what, hint="Ask for less, or allow more time.")
        if self._given_up.is_set():
            raise StoppedError("nobody waits for this any longer")


_CURRENT: contextvars.ContextVar[Job | None] = contextvars.ContextVar("job", default=None)


def check_job() -> None:
    """Raise StoppedError where the running code works for a job that has to end."""
    if job := _CURRENT.get():
        job.check()


def current_job() -> Job | None:
    """Return the job that the running code works for, if any."""
    return _CURRENT.get()


@contextmanager
def working(job: Job) -> Iterator[Job]:
    """Let the code in the block work for a job."""
    before = _CURRENT.set(job)
    try:
        yield job
    finally:
        _CURRENT.reset(before)


def tell(event: str, make: Callable[[], Any]) -> None:
    """Tell who listens, if any, of an event by `make`; raises StoppedError where nobody waits."""
    job = _CURRENT.get()
    if job is None:
        return
    job.check()
    if job.on_event is not None:
        job.on_event(event, make())


def in_context(function: Callable[..., _R]) -> Callable[..., _R]:
    """Return the function to be called in another thread, for the same job as here."""
    return partial(contextvars.copy_context().run, function)


def whole_number(variable: str, default: int) -> int:
    """Return the number above 0 in a variable of the environment; ConfigurationError for others."""
    text = os.environ.get(variable, "").strip() or str(default)
    if not text.isdecimal() or not 0 < int(text) < 1 << 30:
        hint = f"Set it to a whole number such as {default}, or unset it."
        raise ConfigurationError(f"{variable} is {text!r}", hint=hint)
    return int(text)


def thread_count() -> int:
    """Return the number of threads: KGP_NEO4J_THREADS, else the cores this process may use."""
    has_cores = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_cores else os.cpu_count() or 1
    return whole_number("KGP_NEO4J_THREADS", cores)


def ahead(items: Iterable[_R]) -> Iterator[_R]:
    """Yield items, none of them None; each is made in a thread while the one before is used."""
    remaining = iter(items)
    with ThreadPoolExecutor(1) as beside:
        following = beside.submit(in_context(next), remaining, None)
        while (item := following.result()) is not None:
            following = beside.submit(in_context(next), remaining, None)
            yield item


class Progress(AbstractContextManager["Progress"]):
    """A progress bar, as long loops use it; this one is silent."""

    def update(self, n: int = 1) -> None:
        """Count `n` more units as done."""

    def __exit__(self, *_: object) -> None:
        return None


class _Told(Progress):
    """A bar whose steps are events of the job that runs; a few a second are enough to see."""

    def __init__(self, title: str, total: int | None) -> None:
        self._title, self._total = title, total
        self._done = 0
        self._told = 0.0

    def update(self, n: int = 1, *, now: bool = False) -> None:
        self._done += n
        if now or time.monotonic() - self._told > 0.2:
            self._told = time.monotonic()
            told = {"step": self._title, "done": self._done, "total": self._total}
            tell("progress", lambda: told)

    def __enter__(self) -> Self:
        self.update(0, now=True)
        return self

    def __exit__(self, *error: object) -> None:
        if not any(error):  # all of it, also what came quickly
            self.update(0, now=True)


class _Drawn(Progress):
    """A bar on stderr that goes once its work is done; several share one display."""

    _display: ClassVar[Any] = None
    _lock = threading.Lock()

    def __init__(self, title: str, total: int | None, unit: str) -> None:
        # Bytes are shown as megabytes.
        self._scale, form = (1e-6, ",.1f") if unit == "bytes" else (1.0, ",.0f")
        self._title, self._total = title, total and total * self._scale
        rest = f" of {self._total:{form}}" if total else ""
        self._fields = {"form": form, "rest": f"{rest} {unit.replace('bytes', 'MB')}"}

    def __enter__(self) -> Self:
        with self._lock:
            if _Drawn._display is None:
                from rich.console import Console
                from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
                from rich.progress import Progress as Display

                count = TextColumn("{task.completed:{task.fields[form]}}{task.fields[rest]}")
                title = TextColumn("{task.description}")
                columns = (title, BarColumn(), count, TimeRemainingColumn())
                _Drawn._display = Display(*columns, console=Console(stderr=True), transient=True)
                _Drawn._display.start()
            self._task = self._display.add_task(self._title, total=self._total, **self._fields)
        return self

    def update(self, n: int = 1) -> None:
        self._display.advance(self._task, n * self._scale)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._display.remove_task(self._task)
            if not self._display.tasks:
                self._display.stop()
                _Drawn._display = None


def bar(title: str, total: int | None, unit: str = "", *, bytes_: bool = False) -> Progress:
    """Return a bar of `total` units (None: unknown) on a terminal's stderr, else a silent one."""
    if current_job() is not None:
        return _Told(title, total)
    return _Drawn(title, total, "bytes" if bytes_ else unit) if sys.stderr.isatty() else Progress()
