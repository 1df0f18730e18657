"""The service's connections: how many, how long each may be silent; responses to who may leave."""

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from kgp_neo4j.serve.bodies import problem_of
from kgp_neo4j.text.safe import to_json

#: Seconds from a connection's beginning, or from a response, to the whole head of a request.
HEAD = 15
#: Seconds in which what was written has to be taken.
_TAKEN = 60.0
#: Open files that the service needs beside its connections: of the database, models, uploads.
_OTHERS = 128
#: Connections that are accepted at a time: those that are then refused need a file each, too.
BACKLOG = 64
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
)
_WHY = (
    b'{"error": {"status": 503, "what": "the service has as many connections as it takes",'
    b' "hint": "Come again in 5 s."}}'
)
_LOG = logging.getLogger("kgp_neo4j.serve")


class Connection(H11Protocol):
    """A connection as uvicorn's, closed where it asks nothing or takes nothing for too long.

    There are at most `most` of them, half of them from one address; others are refused with 503.
    """

    def __init__(self, *, most: int, **given: Any) -> None:
        super().__init__(**given)
        self._most = most

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a place, or say that all are taken."""
        super().connection_made(transport)
        self._asking = self._taking = self.loop.call_later(HEAD, transport.abort)
        own = sum(_address(each) == _address(self) for each in self.connections)
        if len(self.connections) > self._most or own > max(1, self._most // 2):
            self.connections.discard(self)
            transport.write(_FULL % (len(_WHY), _WHY))
            transport.close()

    def data_received(self, data: bytes) -> None:
        """Take what comes; only a whole head ends the wait for one."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._asking.cancel()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is there already."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is before:
            self._asking.cancel()
            self._asking = self.loop.call_later(HEAD, self.transport.abort)

    def pause_writing(self) -> None:
        """Wait until some of what was written is taken."""
        super().pause_writing()
        self._taking = self.loop.call_later(_TAKEN, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on, for what was written is taken."""
        super().resume_writing()
        self._taking.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any longer."""
        super().connection_lost(exc)
        self._asking.cancel()
        self._taking.cancel()


def _address(connection: Any) -> str:
    return connection.client[0] if connection.client else ""


def connections_at_most(wanted: int) -> int:
    """Return how many of those wanted the system's open files allow; all it allows are taken."""
    if sys.platform == "win32":  # it has no such limit
        return wanted
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHERS
    if resource.RLIM_INFINITY != soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(hard, needed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    most = wanted if soft == resource.RLIM_INFINITY else min(wanted, max(2, soft - _OTHERS))
    if most < wanted:
        _LOG.warning("%d open files are allowed: %d connections at most", soft, most)
    return most


#: Seconds of silence after which a comment shows proxies that the connection lives.
_SILENCE = 15.0


def json_response(value: Any, status: int = 200) -> Response:
    """Return a record as a JSON response."""
    data = to_json(value).encode(errors="replace")
    return Response(data, status, media_type="application/json")


def wants_events(request: Request) -> bool:
    """Return whether a request asks for server-sent events by its header."""
    return "text/event-stream" in request.headers.get("accept", "")


async def while_connected(request: Request, work: Coroutine[Any, Any, Any]) -> Any:
    """Return what `work` returns; it is cancelled when the client goes."""
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientDisconnect
    finally:
        task.cancel()
        leaving.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def event_response(events: AsyncGenerator[tuple[str | None, Any]]) -> Response:
    """Return server-sent events, a raised `error` as the last; None is OpenAI's sign of the end."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_lines(events), headers=headers, media_type="text/event-stream")


async def _lines(events: AsyncGenerator[tuple[str | None, Any]]) -> AsyncGenerator[bytes]:
    # The next event is awaited in a task of its own: a comment sent meanwhile must not cancel it.
    following = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({following}, timeout=_SILENCE)
            if not done:
                yield KEEPALIVE_COMMENT
                continue
            try:
                event = following.result()
            except Exception as error:
                event = "error", problem_of(error).record()["error"]
            if event is None:
                return
            following = asyncio.ensure_future(anext(events, None))
            name, value = event
            data = "[DONE]" if value is None else to_json(value).encode(errors="replace").decode()
            yield format_sse_event(event=name, data_str=data)
    finally:
        following.cancel()
