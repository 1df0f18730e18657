"""A terminal for tests: a program runs in it as it does for a person."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from fcntl import ioctl
from termios import TIOCSCTTY
from typing import Self


def _take() -> None:
    """Make the terminal one's own, and heed Ctrl-C, which who runs in the background ignores."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ioctl(0, TIOCSCTTY, 0)


class Terminal:
    """Runs `kgp-neo4j` in a terminal of its own; what is typed is sent, what is shown is kept."""

    def __init__(self, arguments: Sequence[str], variables: dict[str, str]) -> None:
        self._end, other = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "kgp_neo4j.cli", *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            env=os.environ | {"TERM": "dumb"} | variables,
            start_new_session=True,
            preexec_fn=_take,
        )
        os.close(other)
        self._new = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._end)

    def type(self, keys: str) -> None:
        """Press keys; a line ends with a line break, Ctrl-C is \\x03."""
        os.write(self._end, keys.encode())

    def until(self, pattern: str, *, seconds: float = 120) -> str:
        """Return what is shown up to a pattern; fails where it does not come in time."""
        limit = time.monotonic() + seconds
        while not (found := re.search(pattern, self._new, re.DOTALL)):
            assert time.monotonic() < limit, f"no {pattern!r} in {self._new!r}"
            if select.select([self._end], [], [], 0.1)[0]:
                self._new += self._read()
            elif self._process.poll() is not None:
                raise AssertionError(f"it ended without {pattern!r}: {self._new!r}")
        shown, self._new = self._new[: found.end()], self._new[found.end() :]
        return shown.replace("\r\n", "\n")

    def ended(self, *, seconds: float = 60) -> int:
        """Return the exit code, once it has ended by itself."""
        return self._process.wait(seconds)

    def _read(self) -> str:
        try:
            return os.read(self._end, 65536).decode("utf-8", "replace")
        except OSError as error:  # nobody has the other end any more
            raise AssertionError(f"it ended: {self._new!r}") from error
