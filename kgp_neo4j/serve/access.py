"""What the functions that answer a call depend on: the service, and the rights of who calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.serve.problems import ProblemError
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Access

with needs("serve", "the service"):
    from fastapi import Depends, Query, Request

__all__ = ["Administers", "CorpusName", "Loads", "Reads", "TheService", "require_right"]


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


def require_right(access: Access, right: str) -> None:
    """Raise the problem of a token that lacks a right."""
    if right not in access.rights:
        raise ProblemError(403, f"this needs the right {right!r}")


def _with_right(right: str) -> Callable[[Request], Awaitable[Access]]:
    async def check(request: Request) -> Access:
        access: Access = request.state.access
        require_right(access, right)
        return access

    return check


TheService = Annotated[Service, Depends(_service)]
#: The access of the token that a request was sent with, checked for a right.
Reads = Annotated[Access, Depends(_with_right("read"))]
Loads = Annotated[Access, Depends(_with_right("load"))]
Administers = Annotated[Access, Depends(_with_right("admin"))]
CorpusName = Annotated[str, Query(min_length=1, max_length=200, description="The corpus's name.")]
