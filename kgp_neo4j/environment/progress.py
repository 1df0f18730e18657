"""Progress bars on long work: shown on a terminal, told to who waits for a job, else silent."""

import sys
import threading
import time
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self

from kgp_neo4j.environment.job import current_job, tell


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
                _Drawn._display = _display()
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


def _display() -> Any:
    """Return a display of rich's: title, bar, what is done, and the time left."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Display

    count = TextColumn("{task.completed:{task.fields[form]}}{task.fields[rest]}")
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    return Display(*columns, console=Console(stderr=True), transient=True)


def bar(title: str, total: int | None, unit: str = "", *, bytes_: bool = False) -> Progress:
    """Return a bar of `total` units (None: unknown) on a terminal's stderr, else a silent one."""
    if current_job() is not None:
        return _Told(title, total)
    return _Drawn(title, total, "bytes" if bytes_ else unit) if sys.stderr.isatty() else Progress()
