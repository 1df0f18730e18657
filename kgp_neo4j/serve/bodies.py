"""What requests may hold: read strictly by FastAPI, and described in the OpenAPI document."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kgp_neo4j.environment.configuration import LONGEST_QUESTION
from kgp_neo4j.types.corpus import Form, QuestionType, Rerank

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
