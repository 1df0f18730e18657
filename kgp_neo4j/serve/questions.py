"""Questions: asked whole or followed event by event."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import asdict
from typing import Any, TypeVar

from kgp_neo4j.corpus.answer.traces import with_trace
from kgp_neo4j.corpus.pipeline import Pipeline, make_pipeline
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.job import Job, tell
from kgp_neo4j.graphdb.async_store import events_of, listen
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.serve.answers import (
    answer_record,
    map_record,
    passage_records,
    reasoning_record,
)
from kgp_neo4j.serve.bodies import Ask, Map, Retrieve, body_of
from kgp_neo4j.serve.problems import ProblemError, problem_of
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.stream import EventResponse, while_connected
from kgp_neo4j.serve.tokens import Access
from kgp_neo4j.text.safe import Stream
from kgp_neo4j.types.json_records import to_json
from kgp_neo4j.types.settings import TraversalSettings

with needs("serve", "the service"):
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ask", "json_response", "mind_map", "retrieve"]

_R = TypeVar("_R")

#: How what is told of a job reads in an event.
_SHOWN: dict[str, Callable[[Any], Any]] = {
    "passages": passage_records,
    "entities": lambda found: [asdict(each) for each in found],
    "evidence": reasoning_record,
}


async def ask(service: Service, access: Access, request: Request) -> Response:
    """Answer a question over a corpus, with passages, paths and marks."""
    body = await body_of(request, Ask)
    if body.trace and "load" not in access.rights:
        raise ProblemError(403, "the token may not keep a trace")

    def work() -> dict[str, Any]:
        pipeline = _pipeline(service, body, model=body.model)
        told = Stream(lambda text: tell("text", lambda: text))
        answer = pipeline.ask(body.question, type_=body.type, on_text=told.write)
        told.close()
        service.metrics.count_usage(access.name, body.corpus, answer.usage)
        if body.trace:
            answer = with_trace(service.database, answer)
        return answer_record(answer)

    return await _answered(service, request, body, service.for_corpus(access, body.corpus, work))


async def retrieve(service: Service, access: Access, request: Request) -> Response:
    """Return the passages of a corpus that answer a question together, best first."""
    body = await body_of(request, Retrieve)

    def work() -> dict[str, Any]:
        pipeline = _pipeline(service, body, model=body.rerank == "llm")
        found = pipeline.retrieve(body.question)
        if pipeline.meter is not None:
            service.metrics.count_usage(access.name, body.corpus, pipeline.meter.take_usage())
        return {
            "passages": passage_records(found),
            "notes": list(found.notes),
            "seconds": found.seconds,
        }

    return await _answered(service, request, body, service.for_corpus(access, body.corpus, work))


async def mind_map(service: Service, access: Access, request: Request) -> Response:
    """Answer a question over a knowledge graph with a mind map whose every edge was checked."""
    body = await body_of(request, Map)

    def work() -> dict[str, Any]:
        service.require(access, "graph", body.graph)
        meter = MeteredModel(service.model) if service.model and body.model else None
        made = ask_graph(
            service.database,
            body.graph,
            body.question,
            write=writer(meter) if meter else None,
        )
        if meter is not None:
            service.metrics.count_usage(access.name, body.graph, meter.take_usage())
        return map_record(made)

    return await _answered(service, request, body, work)


def _pipeline(service: Service, body: Retrieve | Ask, *, model: bool) -> Pipeline:
    """Return a pipeline of this question's own: another may have loaded or connected meanwhile."""
    return make_pipeline(
        service.database,
        body.corpus,
        method=body.method,
        settings=TraversalSettings(budget=body.budget),
        model=service.model if model else None,
        form=body.form if isinstance(body, Ask) else "short",
        rerank=body.rerank,
    )


async def _answered(
    service: Service,
    request: Request,
    body: Ask | Retrieve | Map,
    work: Callable[[], dict[str, Any]],
) -> Response:
    """Do the work for a question; answer with the whole, or with events while it is done."""
    if service.settings.log_questions:
        request.state.noted["question"] = body.question
    job = service.question_job(request.state.id)
    told = listen(job)
    waiting = service.questions.begin(job, work)
    if body.stream or "text/event-stream" in request.headers.get("accept", ""):
        return EventResponse(_events(job, events_of(told, waiting)))
    return json_response(await while_connected(request, waiting))


async def _events(
    job: Job, told: AsyncGenerator[tuple[str, Any]]
) -> AsyncGenerator[tuple[str, Any]]:
    """Yield what is told as a response shows it, and `done` or `error` at the end."""
    began = time.perf_counter()
    try:
        async with aclosing(told):
            async for name, value in told:
                yield name, _SHOWN.get(name, lambda shown: shown)(value)
    except Exception as error:
        yield "error", problem_of(error).record()["error"]
    else:
        yield "done", {"seconds": round(time.perf_counter() - began, 4), "id": job.id}


def json_response(value: Any, status: int = 200) -> Response:
    """Return a record as a JSON response."""
    data = to_json(value).encode(errors="replace")
    return Response(data, status, media_type="application/json")
