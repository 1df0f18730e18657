"""Responses to somebody who may leave: server-sent events, and work that ends with its client."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from starlette.requests import ClientDisconnect

from kgp_neo4j.serve.problems import problem_of
from kgp_neo4j.types.json_records import to_json

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
