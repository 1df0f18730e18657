"""What every request passes: host and origin, token, headers, counts and the log."""

import asyncio
import json
import logging
import sys
import time
import uuid
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgp_neo4j.serve.bodies import LARGEST_BODY, ProblemError, respond
from kgp_neo4j.serve.service import Metrics
from kgp_neo4j.serve.tokens import EVERYTHING, NOTHING, Access, Tokens

#: The names under which a service without tokens answers: no page of a foreign name reaches it.
LOOPBACK = ("localhost", "127.0.0.1", "::1")
#: What anybody may see: no page and no list has data in it.
_OPEN = ("/", "/healthz", "/docs", "/openapi.json")
_SECURE = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; object-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
#: Seconds that a body may take, and bytes of it that have to come in each further one.
_BODY, _PACE = 30.0, 16 * 1024
_LOG = logging.getLogger("kgp_neo4j.serve")


class Guard:
    """Let requests through that may pass, and note how each was answered.

    The access of a request stands in its state, beside its `id`; what the functions that answer add
    to `logged` stands in the log, too. A body must not be too large, and has to come on.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens | None, metrics: Metrics) -> None:
        self._app, self._tokens, self._metrics = app, tokens, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered, or turn it away, and log how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status, size, whole = 500, 0, False
        key = uuid.uuid4().hex
        logged: dict[str, Any] = {}
        state = scope.setdefault("state", {})
        state.update(id=key, logged=logged)
        static = scope["path"].startswith("/static/")

        async def send_secured(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update(_SECURE)
                headers["x-request-id"] = key
                headers.setdefault("cache-control", "no-cache" if static else "no-store")
            await send(message)

        async def receive_in_time() -> Message:
            nonlocal size, whole
            if whole:  # what comes now is that the client goes
                return await receive()
            left = _BODY + size / _PACE - (time.perf_counter() - began)
            try:
                async with asyncio.timeout(max(0.0, min(left, _BODY))):
                    message = await receive()
            except TimeoutError:
                raise ProblemError(408, "the body does not come on") from None
            size += len(message.get("body", b""))
            # Uploads have a limit of their own.
            if size > LARGEST_BODY and scope["path"] != "/documents":
                raise ProblemError(413, f"the body has more than {LARGEST_BODY // 1024} KiB")
            whole = not message.get("more_body", False)
            return message

        try:
            state["access"] = access = self._admitted(scope)
            logged["token"] = access.name
            await self._app(scope, receive_in_time, send_secured)
        except ProblemError as problem:
            response = await respond(Request(scope), problem)
            await response(scope, receive, send_secured)
        finally:
            seconds = time.perf_counter() - began
            route = "/static" if static else getattr(scope.get("route"), "path", "(none)")
            known = scope["method"].isalpha() and len(scope["method"]) < 9
            request = {"method": scope["method"] if known else "?", "route": route}
            self._metrics.count_request(**request, status=status, seconds=seconds)
            told = {"id": key, **request, "status": status, "seconds": round(seconds, 4)}
            _LOG.info("request", extra={"request": told | logged})

    def _admitted(self, scope: Scope) -> Access:
        """Return what the sender of a request may see and do; raises ProblemError where nothing."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._tokens is None and _name_of(host) not in LOOPBACK:
            raise ProblemError(421, "the service answers under the name localhost alone")
        origin = headers.get("origin")
        foreign = origin is not None and origin.partition("://")[2].lower() != host.lower()
        if scope["method"] not in ("GET", "HEAD") and (
            foreign or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        ):
            raise ProblemError(403, "a page of another origin may not send this")
        if self._tokens is None:
            return EVERYTHING
        access = self._tokens.find(headers.get("authorization", ""))
        if access is not None:
            return access
        if scope["path"] in _OPEN or scope["path"].startswith("/static/"):
            return NOTHING
        hint, asking = "Send it as Authorization: Bearer TOKEN.", {"www-authenticate": "Bearer"}
        raise ProblemError(401, "this needs a token", hint, asking)


def _name_of(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def set_up_log(as_json: bool) -> None:
    """Write the service's log to standard error, a line for each request."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LogLines(as_json))
    # With a handler here no library sets up another, which may need files when there are none left.
    logging.getLogger().handlers = [handler]
    logging.getLogger("kgp_neo4j.serve").setLevel(logging.INFO)


class LogLines(logging.Formatter):
    """A line for each record with what it knows of its request: to be read, or as JSON."""

    def __init__(self, as_json: bool) -> None:
        super().__init__("%(asctime)s %(message)s")
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; an error's traceback stands below it, in JSON within it."""
        request = getattr(record, "request", {})
        if not self._as_json:
            fields = " ".join(f"{name}={value!r}" for name, value in request.items())
            return f"{super().format(record)} {fields}".rstrip()
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {"time": at, "level": record.levelname.lower(), "event": record.getMessage()}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line | request)
