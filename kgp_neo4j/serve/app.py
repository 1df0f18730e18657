"""The application: FastAPI's, behind the guard, with the page, the tools, and what runs it."""

import asyncio
import ipaddress
import json
import logging
import socket
import sys
import time
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata, resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers, MutableHeaders
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgp_neo4j.environment.job import working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.mcp import make_server
from kgp_neo4j.serve import connections, documents, questions
from kgp_neo4j.serve.bodies import FAILURES, LARGEST_BODY, Problem, ProblemError, busy, respond
from kgp_neo4j.serve.service import Administers, Metrics, Service, require_right
from kgp_neo4j.serve.tokens import EVERYTHING, NOTHING, Access, Tokens
from kgp_neo4j.types.errors import ConfigurationError, KgpError

router = APIRouter(tags=["service"])


@router.get("/", response_class=HTMLResponse)
async def page() -> Response:
    """Return the page to work with."""
    file = resources.files("kgp_neo4j.serve").joinpath("page", "index.html")
    return HTMLResponse(file.read_bytes(), headers={"cache-control": "no-cache"})


@router.get("/docs", response_class=HTMLResponse)
async def docs(request: Request) -> Response:
    """Return the description of all calls as a page."""
    state = request.app.state
    if not state.docs:  # anybody may ask
        templates = Environment(loader=PackageLoader("kgp_neo4j.serve", "page"), autoescape=True)
        state.docs = templates.get_template("docs.html").render(request.app.openapi())
    return HTMLResponse(state.docs)


@router.get("/healthz")
async def health(request: Request) -> Response:
    """Say whether the database answers, as looked up at most every other second."""
    state = request.app.state
    if time.monotonic() - state.health_asked > 2.0:  # anybody may ask
        state.health_asked = time.monotonic()
        healthy = False
        with suppress(KgpError):
            await asyncio.to_thread(state.service.database.read, "inspect/server")
            healthy = True
        state.healthy = healthy
    status = "ok" if state.healthy else "the database does not answer"
    return connections.json_response({"status": status}, 200 if state.healthy else 503)


@router.get("/metrics")
async def metrics(caller: Administers) -> Response:
    """Return counts and times for Prometheus."""
    return Response(caller.service.metrics.text(), media_type="text/plain; version=0.0.4")


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


def make_app(service: Service) -> ASGIApp:
    """Return the ASGI application of a service."""
    tools = _Tools(service)

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncGenerator[None]:
        await asyncio.to_thread(service.begin)
        async with tools.running():
            yield
        await asyncio.to_thread(service.close)

    app = FastAPI(
        title="kgp-neo4j",
        version=metadata.version("kgp-neo4j"),
        description="Questions over documents and knowledge graphs, with evidence. Where the "
        "service has tokens, send one as `Authorization: Bearer TOKEN`.",
        lifespan=running,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(FAILURES, respond),
        responses={422: {"model": Problem}, "default": {"model": Problem}},
    )
    app.state.service, app.state.docs = service, ""
    app.state.health_asked, app.state.healthy = float("-inf"), False
    for each in (router, questions.router, questions.openai, documents.router):
        app.include_router(each)
    shared = ("kgp_neo4j.show", "templates")  # the style of trees
    app.mount("/static", StaticFiles(packages=[("kgp_neo4j.serve", "page"), shared]))
    app.router.routes.append(Route("/mcp", tools))
    return Guard(app, service.tokens, service.metrics)


#: Who calls a tool; the protocol's library runs it in a copy of the call's context.
_ASKING: ContextVar[Access] = ContextVar("asking", default=NOTHING)


class _Tools:
    """The Model Context Protocol under `/mcp`; a call sees what its token may."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._places = asyncio.Semaphore(service.questions.most)
        self._manager: Any = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        # A link to Browser is for who can reach it, and has the server's address and user.
        connection = replace(self._service.database.connection, browser=None)
        with Database(connection, read_only=True) as reading:
            server = make_server(reading, sees=lambda kind, name: _ASKING.get().sees(kind, name))
            # Each call stands for itself: no session that another token could take over. The guard
            # has checked host and origin.
            server.streamable_http_app(
                json_response=True,
                stateless_http=True,
                transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            )
            self._manager = server.session_manager
            async with self._manager.run():
                yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call of the protocol, within the limits of a question."""
        access: Access = scope["state"]["access"]
        require_right(access, "read")
        if self._places.locked():
            raise busy(1)
        _ASKING.set(access)
        async with self._places:
            with working(self._service.question_job(scope["state"]["id"])):
                await self._manager.handle_request(scope, receive, send)


def check_address(host: str, tokens: Path | None) -> None:
    """Raise ConfigurationError for an address that others reach, where there are no tokens."""
    if tokens is not None or host == "localhost":
        return
    with suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return
    raise ConfigurationError(
        f"without tokens the service is for this machine alone, not for {host}",
        hint="Make a token (`kgp-neo4j serve token NAME --tokens FILE`) and give --tokens FILE, or "
        "leave --host out.",
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a socket at an address, a free port for 0; raises ConfigurationError if it's taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        what = f"the service cannot listen at {host}, port {port} ({error.strerror or error})"
        hint = "Choose another --port, or 0 for any that is free."
        raise ConfigurationError(what, hint=hint) from error


def make_server_of(service: Service) -> uvicorn.Server:
    """Return the server of a service, within its limits of connections, heads and bodies."""
    most = connections.connections_at_most(service.settings.connections)
    config = uvicorn.Config(
        make_app(service),
        http=partial(connections.Connection, most=most),  # type: ignore[arg-type]
        ws="none",
        backlog=connections.BACKLOG,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=connections.HEAD,
        timeout_graceful_shutdown=30,
        h11_max_incomplete_event_size=32 * 1024,
    )
    return uvicorn.Server(config)


def run(service: Service, at: socket.socket, *, log_json: bool = False) -> None:
    """Answer requests until the process is told to end; what runs then is finished."""
    set_up_log(log_json)
    make_server_of(service).run(sockets=[at])
