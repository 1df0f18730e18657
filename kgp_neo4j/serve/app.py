"""The application: which call goes where, with which right."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from importlib import resources
from typing import Any, TypeAlias

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.job import working
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.serve import documents, questions, uploads
from kgp_neo4j.serve.bodies import Ask, Map, Retrieve
from kgp_neo4j.serve.guard import Guard
from kgp_neo4j.serve.openapi import Described, docs_page, openapi
from kgp_neo4j.serve.problems import ProblemError, response_to
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import NOTHING, Access
from kgp_neo4j.types.errors import KgpError

with needs("serve", "the service"):
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Receive, Scope, Send

    from kgp_neo4j.integrations.mcp import make_server

__all__ = ["make_app"]

Handler: TypeAlias = Callable[[Service, Access, Request], Awaitable[Response]]

_CONNECT = {"connect": "false leaves the new passages unconnected"}
#: Files of the page by the kind that a browser takes them for.
_KINDS = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
}
#: Seconds for which the answer of `/healthz` is kept: anybody may ask it.
_FRESH = 2.0


async def _page(service: Service, access: Access, request: Request) -> Response:
    return _file("index.html")


async def _static(service: Service, access: Access, request: Request) -> Response:
    return _file(request.path_params["name"])


def _file(name: str) -> Response:
    """Return a file of the page; the folder is flat, and nothing but its files has a name."""
    files = {
        file.name: file for file in resources.files("kgp_neo4j.serve").joinpath("page").iterdir()
    }
    kind = _KINDS.get(name[name.rfind(".") :])
    if name not in files or kind is None:
        raise ProblemError(404, "there is no such page")
    return Response(
        files[name].read_bytes(),
        media_type=f"{kind}; charset=utf-8",
        headers={"cache-control": "no-cache"},
    )


async def _metrics(service: Service, access: Access, request: Request) -> Response:
    return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")


async def _openapi(service: Service, access: Access, request: Request) -> Response:
    return questions.json_response(openapi(described for described, _ in CALLS))


async def _docs(service: Service, access: Access, request: Request) -> Response:
    return Response(docs_page(described for described, _ in CALLS), media_type="text/html")


class _Health:
    """Whether the database answers, looked up at most every other second."""

    def __init__(self) -> None:
        self._asked, self._well = 0.0, False

    async def __call__(self, service: Service, access: Access, request: Request) -> Response:
        if time.monotonic() - self._asked > _FRESH:
            self._asked = time.monotonic()
            self._well = await asyncio.to_thread(_answers, service.database)
        status = "ok" if self._well else "the database does not answer"
        return questions.json_response({"status": status}, 200 if self._well else 503)


def _answers(database: Database) -> bool:
    try:
        database.read("inspect/server")
    except KgpError:
        return False
    return True


def _about(handler: Handler) -> str:
    """Return what a handler says of itself, on one line."""
    return " ".join((handler.__doc__ or "").split())


_EVENTS = ("hop", "passages", "text", "answer", "done", "error")
_OF_CORPUS = ("corpus",)

#: Every call with its handler; the order is that of the reference.
CALLS: tuple[tuple[Described, Handler], ...] = (
    (Described("GET", "/", "The page to work with.", gives="text/html"), _page),
    (
        Described("POST", "/ask", _about(questions.ask), "read", Ask, events=_EVENTS),
        questions.ask,
    ),
    (
        Described(
            "POST", "/retrieve", _about(questions.retrieve), "read", Retrieve, events=_EVENTS
        ),
        questions.retrieve,
    ),
    (
        Described(
            "POST",
            "/mindmap",
            _about(questions.mind_map),
            "read",
            Map,
            events=("entities", "evidence", "answer", "done", "error"),
        ),
        questions.mind_map,
    ),
    (
        Described("GET", "/corpora", _about(documents.show_corpora), "read"),
        documents.show_corpora,
    ),
    (
        Described("DELETE", "/corpora/{name}", _about(documents.drop_corpus), "admin"),
        documents.drop_corpus,
    ),
    (
        Described("GET", "/documents", _about(documents.show_documents), "read", query=_OF_CORPUS),
        documents.show_documents,
    ),
    (
        Described(
            "POST",
            "/documents",
            _about(uploads.upload),
            "load",
            query=("corpus", "name"),
            optional=_CONNECT,
            file=True,
            events=("progress", "loaded", "done", "error"),
            status=201,
        ),
        uploads.upload,
    ),
    (
        Described(
            "GET", "/documents/{id}", _about(documents.one_document), "read", query=_OF_CORPUS
        ),
        documents.one_document,
    ),
    (
        Described(
            "DELETE",
            "/documents/{id}",
            _about(documents.drop_document),
            "load",
            query=_OF_CORPUS,
        ),
        documents.drop_document,
    ),
    (
        Described("GET", "/traces", _about(documents.show_traces), "read", query=_OF_CORPUS),
        documents.show_traces,
    ),
    (
        Described("GET", "/traces/{id}", _about(documents.one_trace), "read", query=_OF_CORPUS),
        documents.one_trace,
    ),
    (
        Described("DELETE", "/traces/{id}", _about(documents.drop_trace), "load", query=_OF_CORPUS),
        documents.drop_trace,
    ),
    (Described("GET", "/healthz", "Say whether the database answers."), _Health()),
    (
        Described(
            "GET", "/metrics", "Counts and times for Prometheus.", "admin", gives="text/plain"
        ),
        _metrics,
    ),
    (Described("GET", "/openapi.json", "This description."), _openapi),
    (Described("GET", "/docs", "The same as a page.", gives="text/html"), _docs),
)


def make_app(service: Service) -> ASGIApp:
    """Return the ASGI application of a service."""
    tools = _Tools(service)

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncGenerator[None]:
        async with tools.running():
            yield
        await asyncio.to_thread(service.close)

    app = Starlette(
        routes=[
            *(_route(service, described, handler) for described, handler in CALLS),
            _route(service, Described("GET", "/static/{name}", ""), _static),
            Route("/mcp", tools),
        ],
        lifespan=running,
        exception_handlers={Exception: _failed, 404: _failed, 405: _failed},
    )
    app.router.redirect_slashes = False
    return Guard(app, service.tokens, service.metrics)


def _route(service: Service, described: Described, handler: Handler) -> Route:
    """Return the route of a call, which asks for its right first."""

    async def endpoint(request: Request) -> Response:
        request.state.route = described.path
        access: Access = request.state.access
        try:
            if described.right and described.right not in access.rights:
                raise ProblemError(403, f"this needs the right {described.right!r}")
            return await handler(service, access, request)
        except Exception as error:
            return response_to(error)

    return Route(described.path, endpoint, methods=[described.method])


async def _failed(request: Request, error: Exception) -> Response:
    return response_to(error)


#: Who calls a tool; the protocol's library runs it in a copy of the call's context.
_ASKING: ContextVar[Access] = ContextVar("asking", default=NOTHING)


class _Tools:
    """The Model Context Protocol under `/mcp`; a call sees what its token may."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._inside = 0
        self._manager: Any = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep the server running."""
        with Database(self._service.database.connection, read_only=True) as reading:
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
        scope["state"]["route"] = "/mcp"
        settings = self._service.settings
        if "read" not in access.rights:
            await response_to(ProblemError(403, "this needs the right 'read'"))(
                scope, receive, send
            )
        elif self._inside >= settings.threads + settings.queue:
            busy = ProblemError(429, "the service has too much to do", "", {"retry-after": "1"})
            await response_to(busy)(scope, receive, send)
        else:
            self._inside += 1
            asking = _ASKING.set(access)
            try:
                with working(self._service.question_job(scope["state"]["id"])):
                    await self._manager.handle_request(scope, receive, send)
            finally:
                _ASKING.reset(asking)
                self._inside -= 1
