"""The service as tests need it: a real one on loopback, in a thread of its own."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from kgp_neo4j.environment.job import Job
from kgp_neo4j.serve.app import listen, make_server_of
from kgp_neo4j.serve.service import Service


@dataclass
class Serving:
    """A service that runs: its address, the loop that it runs in, and tokens by their holders."""

    service: Service
    address: str
    loop: asyncio.AbstractEventLoop
    tokens: dict[str, str]

    def client(self, token: str = "") -> httpx.Client:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.address, headers=headers, timeout=60)

    def settled(self) -> bool:
        """Return whether no job runs, at the latest after ten seconds."""
        for _ in range(200):
            if self.service.questions.inside == self.service.loads.inside == 0:
                return True
            time.sleep(0.05)
        return False

    @contextmanager
    def occupied(self) -> Iterator[None]:
        """Keep a thread of the questions busy until the end of the block."""
        free = threading.Event()

        async def occupy() -> None:
            await self.service.questions.begin(Job(), free.wait)

        busy = asyncio.run_coroutine_threadsafe(occupy(), self.loop)
        while not self.service.questions.inside:
            time.sleep(0.01)
        try:
            yield
        finally:
            free.set()
            busy.result(10)


@contextmanager
def serving(service: Service, **tokens: str) -> Iterator[Serving]:
    """Run a service, to which `tokens` are known, until the end of the block."""
    server, at = make_server_of(service), listen("127.0.0.1", 0)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(server.serve([at]),))
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = at.getsockname()[1]
    try:
        yield Serving(service, f"http://127.0.0.1:{port}", loop, tokens)
    finally:
        server.should_exit = True
        thread.join()
        loop.close()


def events(text: str) -> list[tuple[str, Any]]:
    """Return the events of a stream that has ended."""
    made = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in lines:
            made.append((lines["event"], json.loads(lines["data"])))
    return made
