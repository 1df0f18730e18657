"""Limits the requests and tokens sent to a server in any minute."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache

__all__ = ["Limiter", "limiter"]

_MINUTE = 60.0


class Limiter:
    """Delays requests to keep to a limit per minute; safe to share between threads.

    `clock` and `sleep` are in seconds. A request of more tokens than the limit is sent alone.
    """

    def __init__(
        self,
        requests: int | None,
        tokens: int | None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._requests = requests
        self._tokens = tokens
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        #: The time and the tokens of each request of the last minute.
        self._passed: deque[tuple[float, int]] = deque()

    def wait(self, tokens: int) -> None:
        """Wait until a request of that many tokens, prompt and reply, is within the limits."""
        if self._requests is None and self._tokens is None:
            return
        while True:
            with self._lock:
                seconds = self._seconds_to_wait(tokens)
                if seconds <= 0:
                    self._passed.append((self._clock(), tokens))
                    return
            self._sleep(seconds)

    def _seconds_to_wait(self, tokens: int) -> float:
        """Return the seconds until the oldest request is a minute old, 0 where there is room."""
        now = self._clock()
        while self._passed and self._passed[0][0] <= now - _MINUTE:
            self._passed.popleft()
        spent = sum(spent for _, spent in self._passed)
        over = self._tokens is not None and spent + tokens > self._tokens
        full = self._requests is not None and len(self._passed) >= self._requests
        if not self._passed or not (over or full):
            return 0.0
        return self._passed[0][0] + _MINUTE - now


@lru_cache(maxsize=64)
def limiter(where: str, requests: int | None, tokens: int | None) -> Limiter:
    """Return the limiter that this process shares for a server and model, named by `where`."""
    return Limiter(requests, tokens)
