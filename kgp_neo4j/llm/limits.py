"""Keeps to a server's limits: so many requests and tokens in any minute."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache

__all__ = ["Limiter", "limiter"]

_MINUTE = 60.0


class Limiter:
    """Lets a request pass once the last minute has room for it; for any number of threads.

    `clock` and `sleep` are in seconds. A request of more tokens than a minute has passes alone.
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
        #: When each request of the last minute passed, and its tokens.
        self._passed: deque[tuple[float, int]] = deque()

    def wait(self, tokens: int) -> None:
        """Wait until a request of that many tokens, prompt and reply, keeps to the limits."""
        if self._requests is None and self._tokens is None:
            return
        while True:
            with self._lock:
                rest = self._rest(tokens)
                if rest <= 0:
                    self._passed.append((self._clock(), tokens))
                    return
            self._sleep(rest)

    def _rest(self, tokens: int) -> float:
        """Return the seconds until the oldest request that is in the way is a minute old."""
        now = self._clock()
        while self._passed and self._passed[0][0] <= now - _MINUTE:
            self._passed.popleft()
        spent = sum(each for _, each in self._passed)
        over = self._tokens is not None and spent + tokens > self._tokens
        full = self._requests is not None and len(self._passed) >= self._requests
        if not self._passed or not (over or full):
            return 0.0
        return self._passed[0][0] + _MINUTE - now


@lru_cache(maxsize=64)
def limiter(where: str, requests: int | None, tokens: int | None) -> Limiter:
    """Return the one limiter of a server and model in this process; `where` names them."""
    return Limiter(requests, tokens)
