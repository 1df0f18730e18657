"""Questions: asked whole or followed event by event."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial, wraps
from typing import Any

from fastapi import APIRouter, Response

from kgp_neo4j.corpus.answer.traces import with_trace
from kgp_neo4j.corpus.pipeline import Pipeline, make_pipeline
from kgp_neo4j.environment.job import tell
from kgp_neo4j.serve.answers import answer_record, map_record, passage_records, reasoning_record
from kgp_neo4j.serve.bodies import Ask, Map, Retrieve
from kgp_neo4j.serve.connections import event_response, wants_events
from kgp_neo4j.serve.service import Caller, Reads, Service, require_right
from kgp_neo4j.text.safe import Stream
from kgp_neo4j.types.corpus import Form
from kgp_neo4j.types.json_records import parts
from kgp_neo4j.types.settings import TraversalSettings

router = APIRouter(tags=["questions"])

#: How what is told of a job reads in an event.
_SHOWN: dict[str, Callable[[Any], Any]] = {
    "passages": passage_records,
    "evidence": reasoning_record,
}


def _answers(function: Callable[[Any, Caller], Any]) -> Callable[..., Awaitable[Response]]:
    """Make a handler of a function: it answers with the whole, or with events while it is done."""

    @wraps(function)
    async def handle(body: Ask | Retrieve | Map, caller: Caller) -> Response:
        request = caller.request
        if isinstance(body, Ask) and body.trace:
            require_right(caller.access, "load")
        if caller.service.settings.log_questions:
            request.state.logged["question"] = body.question
        of = ("graph", body.graph) if isinstance(body, Map) else ("corpus", body.corpus)
        work = caller.seeing(*of, partial(function, body, caller))
        if not (body.stream or wants_events(request)):
            return await caller.look(work)
        return event_response(_shown_events(request.state.id, caller.events(work)))

    return handle


@router.post("/ask")
@_answers
def ask(body: Ask, caller: Reads) -> Any:
    """Answer a question over a corpus, with passages, paths and marks.

    As events: `hop`, `passages`, `text` (pieces of a model's reply), `answer`, `done` or `error`.
    """
    service = caller.service
    pipeline = _pipeline(service, body, model=body.model, form=body.form)
    reply = Stream(lambda text: tell("text", lambda: text))
    answer = pipeline.ask(body.question, type_=body.type, on_text=reply.write)
    reply.close()
    caller.count(body.corpus, answer.usage)
    if body.trace or not service.settings.forget_questions:
        answer = with_trace(service.database, answer)
    return answer_record(answer)


@router.post("/retrieve")
@_answers
def retrieve(body: Retrieve, caller: Reads) -> Any:
    """Return the passages of a corpus that answer a question together, best first.

    As events: `hop`, `passages`, `answer`, `done` or `error`.
    """
    pipeline = _pipeline(caller.service, body, model=body.rerank == "llm")
    retrieval = pipeline.retrieve(body.question)
    usage = pipeline.meter.take_usage() if pipeline.meter is not None else None
    caller.count(body.corpus, usage)
    return {"passages": passage_records(retrieval), **parts(retrieval, "notes", "seconds")}


@router.post("/mindmap")
@_answers
def mind_map(body: Map, caller: Reads) -> Any:
    """Answer a question over a knowledge graph with a mind map whose every edge was checked.

    As events: `entities`, `evidence`, `answer`, `done` or `error`.
    """
    return map_record(caller.map_mind(body.graph, body.question, body.model)[0])


def _pipeline(
    service: Service, body: Retrieve, *, model: bool | str, form: Form = "short"
) -> Pipeline:
    """Return a pipeline of this question's own: another may have loaded or connected meanwhile."""
    return make_pipeline(
        service.database,
        body.corpus,
        method=body.method,
        settings=TraversalSettings(budget=body.budget),
        model=service.model(model),
        form=form,
        rerank=body.rerank,
    )


async def _shown_events(
    key: str, events: AsyncGenerator[tuple[str, Any]]
) -> AsyncGenerator[tuple[str, Any]]:
    began = time.perf_counter()
    async with aclosing(events):
        async for name, value in events:
            yield name, _SHOWN.get(name, lambda shown: shown)(value)
    yield "done", {"seconds": round(time.perf_counter() - began, 4), "id": key}
