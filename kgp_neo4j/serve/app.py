"""The application: FastAPI's, behind the guard, with the page, the tools, and what runs it."""

import asyncio
import ipaddress
import socket
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from kgp_neo4j.environment.job import working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.mcp import make_server
from kgp_neo4j.serve import completions, connections, documents, questions, uploads
from kgp_neo4j.serve.bodies import FAILURES, Problem, busy, respond
from kgp_neo4j.serve.guard import Guard, set_up_log
from kgp_neo4j.serve.service import Administers, Service, require_right
from kgp_neo4j.serve.tokens import NOTHING, Access
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
    for each in (router, questions.router, completions.router, documents.router, uploads.router):
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
