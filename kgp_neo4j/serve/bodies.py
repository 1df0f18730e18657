"""What requests hold, read strictly by FastAPI and described in OpenAPI; what goes wrong, too."""

import logging
from pathlib import PurePath
from typing import Annotated, Any, Literal

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as AnyHTTPException
from starlette.requests import ClientDisconnect

from kgp_neo4j.environment.configuration import LONGEST_QUESTION
from kgp_neo4j.types import errors
from kgp_neo4j.types.corpus import Form, QuestionType, Rerank
from kgp_neo4j.types.settings import wrong_fields

#: Most bytes of a JSON body.
LARGEST_BODY = 256 * 1024

_Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Question(BaseModel):
    """What all questions have in common: nothing unknown, and no text for a number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(
        min_length=1, max_length=LONGEST_QUESTION, description="As a person would ask it."
    )
    stream: bool = Field(False, description="Answer with server-sent events.")


_MODEL = Field(
    True, description="A language model of the service by its name, or whether to use it."
)


class Retrieve(_Question):
    """A question whose passages are wanted."""

    corpus: _Name
    method: Literal["kgp", "bm25", "dense", "hybrid"] = Field(
        "kgp", description="The traversal, or one of its baselines."
    )
    budget: int = Field(30, ge=1, le=200, description="Passages at most.")
    rerank: Rerank = Field(
        "none",
        description="Who puts the passages in order: an encoder that expects the next one (`mdr`), "
        "or the service's language model (`llm`).",
    )


class Ask(Retrieve):
    """A question over a corpus."""

    type: QuestionType | None = Field(
        None, description="What it is about; left out, it is decided."
    )
    model: bool | str = _MODEL
    form: Form = Field("short", description="What a language model writes.")
    trace: bool = Field(False, description="Keep the traversal; needs the right `load`.")


class Map(_Question):
    """A question over a knowledge graph."""

    graph: _Name
    model: bool | str = _MODEL


class ChatMessage(BaseModel):
    """A message of OpenAI's protocol; of its other fields nothing is used."""

    role: str
    content: str | list[dict[str, Any]] | None = None


class Chat(BaseModel):
    """A conversation of OpenAI's protocol; fields that are not listed are accepted, not used."""

    model: _Name = Field(description="`corpus/NAME` or `graph/NAME`.")
    messages: list[ChatMessage] = Field(
        max_length=1000, description="The last one of the user is the question."
    )
    stream: bool | None = Field(None, description="Answer with chunks as server-sent events.")
    n: int | None = 1


class _Error(BaseModel):
    status: int
    what: str
    hint: str


class Problem(BaseModel):
    """What went wrong, and what to do."""

    error: _Error


class UploadedFolder(BaseModel):
    """A folder whose files were loaded one by one."""

    model_config = ConfigDict(extra="forbid", strict=True)

    corpus: _Name
    folder: str = Field(min_length=1, max_length=1000, description="Its name.")
    files: list[str] = Field(
        min_length=1, max_length=10_000, description="The files in it now, each with its folders."
    )
    prune: bool = Field(False, description="Remove what was loaded of files that are gone.")


_LOG = logging.getLogger("kgp_neo4j.serve")
#: What OpenAI calls an error of some status.
_CODES = {
    401: "invalid_api_key",
    404: "model_not_found",
    429: "rate_limit_exceeded",
    504: "timeout",
}
#: The remedy for an address at which nothing is.
_CALLS = "GET /docs lists the calls."
#: The errors that become a response; of any other the service says only that it failed.
FAILURES = errors.KgpError, ClientDisconnect, AnyHTTPException, RequestValidationError, Exception


class ProblemError(HTTPException):
    """A request that is answered with an error status; `hint` is a sentence with the remedy."""

    def __init__(
        self, status: int, what: str, hint: str = "", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status, what, headers)
        self.hint = hint

    def record(self) -> dict[str, Any]:
        """Return what the response says."""
        return {"error": {"status": self.status_code, "what": self.detail, "hint": self.hint}}


def missing(what: str, name: str) -> ProblemError:
    """Return the problem of a thing that does not exist, or that the token does not see."""
    return ProblemError(404, f"there is no {what} named {name!r}")


def busy(seconds: int) -> ProblemError:
    """Return the problem of a service that has enough to do, for so many seconds."""
    what, headers = "the service has as much to do as it takes on", {"retry-after": str(seconds)}
    return ProblemError(429, what, f"Come again in {seconds} s.", headers)


def problem_of(error: Exception) -> ProblemError:
    """Return an error as a problem without other corpora, folders, addresses: the log has them."""
    match error:
        case ProblemError():
            return error
        case ClientDisconnect():
            return ProblemError(499, "the client has gone")
        case AnyHTTPException(status_code=404):
            return ProblemError(404, "there is nothing at this address", _CALLS)
        case AnyHTTPException():
            return ProblemError(error.status_code, error.detail, headers=dict(error.headers or {}))
        case RequestValidationError() if isinstance(error.body, bytes):
            hint = "Send it with Content-Type: application/json."
            return ProblemError(415, "the body is not JSON", hint)
        case RequestValidationError():  # values are not repeated
            in_address = all(each["loc"][0] != "body" for each in error.errors())
            return ProblemError(400 if in_address else 422, wrong_fields(error.errors())[:500])
        case errors.StoppedError():
            # OpenAI's client would ask twice more.
            return ProblemError(504, error.what, error.hint or "", {"x-should-retry": "false"})
        case errors.InputError():
            where = f"{PurePath(error.where).name}: " if error.where else ""
            return ProblemError(400, where + error.what, error.hint or "")
        case errors.ConfigurationError():
            return ProblemError(400, error.what)
        case errors.CorpusError() | errors.GraphError() | errors.TraceError():
            # Their hints name what other corpora and graphs exist.
            return ProblemError(409, error.what)
    _LOG.error("failed", exc_info=error)
    match error:
        case errors.DatabaseError() | errors.ServerError():
            headers = {"retry-after": "5"}
            return ProblemError(503, "the database does not answer this", headers=headers)
        case errors.ModelError():
            return ProblemError(502, "the language model does not answer")
        case errors.KgpError():
            return ProblemError(500, error.what)
    return ProblemError(500, "the service failed; its log says why")


async def respond(request: Request, error: Exception) -> JSONResponse:
    """Return the response to a request that failed, in OpenAI's form under `/v1`."""
    problem = problem_of(error)
    by_openai = request.url.path.startswith("/v1/")
    record = openai_record(problem) if by_openai else problem.record()
    return JSONResponse(record, problem.status_code, headers=problem.headers)


def openai_record(problem: ProblemError) -> dict[str, Any]:
    """Return what a response says to a client of OpenAI's protocol."""
    status = problem.status_code
    kind = "invalid_request_error" if status < 500 else "server_error"
    models = "GET /v1/models lists those that the token sees." if status == 404 else ""
    message = f"{problem.detail}. {problem.hint or models}".removesuffix(" ")
    code = "unknown_url" if problem.hint == _CALLS else _CODES.get(status)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
