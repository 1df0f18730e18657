"""Progress bars on long work: shown on a terminal, told to who waits for a job, else silent."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Protocol, Self

from kgp_neo4j.environment.job import current_job, tell

__all__ = ["Progress", "bar", "is_shown"]


#: Seconds between two events of one bar.
_EVERY = 0.2


class Progress(Protocol):
    """A progress bar, as long loops use it."""

    def update(self, n: int = 1) -> object:
        """Count `n` more units as done."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> object: ...


class _Silent:
    def update(self, n: int = 1) -> None:
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class _Told:
    """A bar whose steps are events of the job that runs; a few a second are enough to see."""

    def __init__(self, title: str, total: int | None) -> None:
        self._title, self._total = title, total
        self._done = 0
        self._told = 0.0

    def update(self, n: int = 1) -> None:
        self._done += n
        if time.monotonic() - self._told > _EVERY:
            self._tell()

    def __enter__(self) -> Self:
        self._tell()
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def _tell(self) -> None:
        self._told = time.monotonic()
        tell("progress", lambda: {"step": self._title, "done": self._done, "total": self._total})


def is_shown() -> bool:
    """Return whether bars are drawn, which is where stderr is a terminal."""
    return sys.stderr.isatty()


def bar(title: str, total: int | None, unit: str = "", *, bytes_: bool = False) -> Progress:
    """Return a bar on stderr when that is a terminal, else one that prints nothing.

    `total` is in `unit`s (or bytes with `bytes_`), None when it is not known.
    """
    job = current_job()
    if job is not None:
        return _Told(title, total)
    if not is_shown():
        return _Silent()
    from tqdm import tqdm  # a slow import, needed only where a bar is drawn

    progress: Progress = tqdm(
        desc=title,
        total=total,
        unit="B" if bytes_ else (f" {unit}" if unit else "it"),
        unit_scale=bytes_,
        unit_divisor=1024 if bytes_ else 1000,
        leave=False,
        dynamic_ncols=True,
    )
    return progress
