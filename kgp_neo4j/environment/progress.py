"""Progress bars on long work: shown on a terminal, silent everywhere else."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Protocol, Self

__all__ = ["Progress", "bar", "is_shown"]


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


def is_shown() -> bool:
    """Return whether bars are drawn, which is where stderr is a terminal."""
    return sys.stderr.isatty()


def bar(title: str, total: int | None, unit: str = "", *, bytes_: bool = False) -> Progress:
    """Return a bar on stderr when that is a terminal, else one that prints nothing.

    `total` is in `unit`s (or bytes with `bytes_`), None when it is not known.
    """
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
