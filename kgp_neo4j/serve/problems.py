"""What goes wrong, as a response: a status, what happened, what to do."""

from __future__ import annotations

import logging
from pathlib import PurePath
from typing import Any

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.serve.stream import ClientGoneError
from kgp_neo4j.serve.work import BusyError
from kgp_neo4j.types.errors import (
    ConfigurationError,
    CorpusError,
    DatabaseError,
    GraphError,
    InputError,
    KgpError,
    ModelError,
    ServerError,
    StoppedError,
    TraceError,
)

with needs("serve", "the service"):
    from starlette.exceptions import HTTPException
    from starlette.responses import JSONResponse

__all__ = ["ProblemError", "missing", "problem_of", "response_to"]

_LOG = logging.getLogger("kgp_neo4j.serve")


class ProblemError(Exception):
    """A request that is answered with an error status; `hint` is a sentence with the remedy."""

    def __init__(
        self, status: int, what: str, hint: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(what)
        self.status, self.what, self.hint = status, what, hint
        self.headers = headers or {}

    def record(self) -> dict[str, Any]:
        """Return what the response says."""
        return {"error": {"status": self.status, "what": self.what, "hint": self.hint}}


def missing(what: str, name: str) -> ProblemError:
    """Return the problem of a thing that is not there, or that the token does not see."""
    return ProblemError(404, f"there is no {what} named {name!r}")


def problem_of(error: Exception) -> ProblemError:
    """Return any error as a problem that tells nothing of other corpora, folders or addresses.

    What is left out stands in the service's log.
    """
    match error:
        case ProblemError():
            return error
        case BusyError():
            return ProblemError(
                429,
                "the service has as much to do as it takes on",
                f"Come again in {error.seconds} s.",
                {"retry-after": str(error.seconds)},
            )
        case ClientGoneError():
            return ProblemError(499, "the client has gone")
        case HTTPException():
            return ProblemError(error.status_code, error.detail, headers=dict(error.headers or {}))
        case StoppedError():
            return ProblemError(504, error.what)
        case InputError():
            where = PurePath(error.where).name if error.where else ""
            return ProblemError(
                400, f"{where}: {error.what}" if where else error.what, error.hint or ""
            )
        case ConfigurationError():
            return ProblemError(400, error.what)
        case CorpusError() | GraphError() | TraceError():
            # Their hints name what else there is.
            return ProblemError(409, error.what)
    _LOG.error("failed", exc_info=error)
    match error:
        case DatabaseError() | ServerError():
            return ProblemError(
                503, "the database does not answer this", headers={"retry-after": "5"}
            )
        case ModelError():
            return ProblemError(502, "the language model does not answer")
        case KgpError():
            return ProblemError(500, error.what)
    return ProblemError(500, "the service failed; its log says why")


def response_to(error: Exception) -> JSONResponse:
    """Return the response to a request that failed."""
    problem = problem_of(error)
    return JSONResponse(problem.record(), problem.status, headers=problem.headers)
