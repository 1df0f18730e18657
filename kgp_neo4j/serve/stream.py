"""Responses to somebody who may leave: server-sent events, and work that ends with its client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Mapping
from typing import Any, TypeVar

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.types.json_records import to_json

with needs("serve", "the service"):
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

__all__ = ["ClientGoneError", "EventResponse", "while_connected"]

_R = TypeVar("_R")
#: Seconds of silence after which a comment shows proxies that the connection lives.
_SILENCE = 15.0


class ClientGoneError(Exception):
    """Nobody waits for the response any longer."""


async def while_connected(request: Request, work: Coroutine[Any, Any, _R]) -> _R:
    """Return what `work` returns; it is cancelled when the client goes."""
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request.receive))
    try:
        await asyncio.wait({task, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGoneError
    finally:
        task.cancel()
        leaving.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventResponse(Response):
    """Server-sent events from pairs of a name and a value, which becomes JSON."""

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[tuple[str, Any]],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status_code = 200
        self.background = None
        self._events = events
        self.init_headers(
            {"cache-control": "no-store", "x-accel-buffering": "no", **(headers or {})}
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the last of them, or until the client goes."""
        sending = asyncio.ensure_future(self._send(send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            leaving.cancel()
            sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await sending
            await self._events.aclose()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        following = asyncio.ensure_future(anext(self._events))
        try:
            while True:
                done, _ = await asyncio.wait({following}, timeout=_SILENCE)
                if not done:
                    await send(_body(b":\n\n", more=True))
                    continue
                try:
                    name, value = following.result()
                except StopAsyncIteration:
                    break
                data = to_json(value).replace("\u2028", "\\u2028").encode(errors="replace")
                await send(_body(b"event: %s\ndata: %s\n\n" % (name.encode(), data), more=True))
                following = asyncio.ensure_future(anext(self._events))
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await following
        await send(_body(b"", more=False))


def _body(data: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.response.body", "body": data, "more_body": more}
