"""What requests may hold: read strictly, with plain messages for what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated, Literal, TypeVar

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.question import LONGEST_QUESTION
from kgp_neo4j.serve.problems import ProblemError
from kgp_neo4j.types.corpus import Form, QuestionType, Rerank

with needs("serve", "the service"):
    from pydantic import BaseModel, ConfigDict, Field, ValidationError
    from starlette.requests import ClientDisconnect, Request

__all__ = ["Ask", "Body", "Map", "Retrieve", "body_of", "pieces"]

#: Most bytes of a JSON body, and seconds until the next piece of any body has to be there.
_MOST = 256 * 1024
_PIECE_SECONDS = 30.0

_Name = Annotated[str, Field(min_length=1, max_length=200)]
_Question = Annotated[
    str, Field(min_length=1, max_length=LONGEST_QUESTION, description="As a person would ask it.")
]


class Body(BaseModel):
    """What all bodies have in common: nothing unknown, and no text for a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _Search(Body):
    question: _Question
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
    stream: bool = Field(False, description="Answer with server-sent events.")


class Retrieve(_Search):
    """A question whose passages are wanted."""


class Ask(_Search):
    """A question over a corpus."""

    type: QuestionType | None = Field(
        None, description="What it is about; left out, it is decided."
    )
    model: bool = Field(True, description="Use the service's language model, if it has one.")
    form: Form = Field("short", description="What a language model writes.")
    trace: bool = Field(False, description="Keep the traversal; needs the right `load`.")


class Map(Body):
    """A question over a knowledge graph."""

    question: _Question
    graph: _Name
    model: bool = Field(True, description="Use the service's language model, if it has one.")
    stream: bool = Field(False, description="Answer with server-sent events.")


_B = TypeVar("_B", bound=Body)


async def body_of(request: Request, kind: type[_B]) -> _B:
    """Return a request's JSON as one of the bodies; raises ProblemError for any other content."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise ProblemError(
            415, "the body is not JSON", "Send it with Content-Type: application/json."
        )
    data = bytearray()
    async for piece in pieces(request):
        data += piece
        if len(data) > _MOST:
            raise ProblemError(413, f"the body has more than {_MOST // 1024} KiB")
    try:
        return kind.model_validate_json(bytes(data))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}"
            for each in error.errors(include_input=False, include_url=False, include_context=False)
        )
        raise ProblemError(422, wrong[:500]) from None


async def pieces(request: Request) -> AsyncGenerator[bytes]:
    """Yield a body as it comes; raises ProblemError where it stops coming."""
    stream = request.stream()
    while True:
        try:
            async with asyncio.timeout(_PIECE_SECONDS):
                piece = await anext(stream, None)
        except TimeoutError:
            raise ProblemError(408, "the body does not come on") from None
        except ClientDisconnect:
            raise ProblemError(400, "the body is not whole") from None
        if piece is None:
            return
        yield piece
