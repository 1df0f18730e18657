"""Questions: asked whole or followed event by event."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from kgp_neo4j.corpus.answer.traces import with_trace
from kgp_neo4j.corpus.pipeline import Pipeline, make_pipeline
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.job import Job, tell
from kgp_neo4j.graphdb.async_store import events_of, listen
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.serve.access import Reads, TheService
from kgp_neo4j.serve.answers import (
    answer_record,
    map_record,
    passage_records,
    reasoning_record,
)
from kgp_neo4j.serve.bodies import Ask, Map, Retrieve
from kgp_neo4j.serve.problems import ProblemError, problem_of
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.stream import event_response, json_response, wants_events, while_connected
from kgp_neo4j.text.safe import Stream
from kgp_neo4j.types.corpus import Form
from kgp_neo4j.types.settings import TraversalSettings

with needs("serve", "the service"):
    from fastapi import APIRouter, Request, Response

__all__ = ["router"]

router = APIRouter(tags=["questions"])

#: How what is told of a job reads in an event.
_SHOWN: dict[str, Callable[[Any], Any]] = {
    "passages": passage_records,
    "entities": lambda entities: [asdict(each) for each in entities],
    "evidence": reasoning_record,
}


@router.post("/ask")
async def ask(body: Ask, access: Reads, service: TheService, request: Request) -> Response:
    """Answer a question over a corpus, with passages, paths and marks.

    As events: `hop`, `passages`, `text` (pieces of a model's reply), `answer`, `done` or `error`.
    """
    if body.trace and "load" not in access.rights:
        raise ProblemError(403, "the token may not keep a trace")

    def answer() -> dict[str, Any]:
        pipeline = _pipeline(service, body, model=body.model, form=body.form)
        reply = Stream(lambda text: tell("text", lambda: text))
        answer = pipeline.ask(body.question, type_=body.type, on_text=reply.write)
        reply.close()
        service.metrics.count_usage(access.name, body.corpus, answer.usage)
        if body.trace:
            answer = with_trace(service.database, answer)
        return answer_record(answer)

    return await _answered(service, request, body, service.for_corpus(access, body.corpus, answer))


@router.post("/retrieve")
async def retrieve(
    body: Retrieve, access: Reads, service: TheService, request: Request
) -> Response:
    """Return the passages of a corpus that answer a question together, best first.

    As events: `hop`, `passages`, `answer`, `done` or `error`.
    """

    def search() -> dict[str, Any]:
        pipeline = _pipeline(service, body, model=body.rerank == "llm")
        retrieval = pipeline.retrieve(body.question)
        if pipeline.meter is not None:
            service.metrics.count_usage(access.name, body.corpus, pipeline.meter.take_usage())
        return {
            "passages": passage_records(retrieval),
            "notes": list(retrieval.notes),
            "seconds": retrieval.seconds,
        }

    return await _answered(service, request, body, service.for_corpus(access, body.corpus, search))


@router.post("/mindmap")
async def mind_map(body: Map, access: Reads, service: TheService, request: Request) -> Response:
    """Answer a question over a knowledge graph with a mind map whose every edge was checked.

    As events: `entities`, `evidence`, `answer`, `done` or `error`.
    """

    def answer() -> dict[str, Any]:
        service.require(access, "graph", body.graph)
        meter = MeteredModel(service.model) if service.model and body.model else None
        mind_map = ask_graph(
            service.database,
            body.graph,
            body.question,
            write=writer(meter) if meter else None,
        )
        if meter is not None:
            service.metrics.count_usage(access.name, body.graph, meter.take_usage())
        return map_record(mind_map)

    return await _answered(service, request, body, answer)


def _pipeline(service: Service, body: Retrieve, *, model: bool, form: Form = "short") -> Pipeline:
    """Return a pipeline of this question's own: another may have loaded or connected meanwhile."""
    return make_pipeline(
        service.database,
        body.corpus,
        method=body.method,
        settings=TraversalSettings(budget=body.budget),
        model=service.model if model else None,
        form=form,
        rerank=body.rerank,
    )


async def _answered(
    service: Service, request: Request, body: Retrieve | Map, work: Callable[[], dict[str, Any]]
) -> Response:
    """Do the work for a question; answer with the whole, or with events while it is done."""
    if service.settings.log_questions:
        request.state.logged["question"] = body.question
    job = service.question_job(request.state.id)
    events = listen(job)
    waiting = service.questions.begin(job, work)
    if body.stream or wants_events(request):
        return event_response(_shown_events(job, events_of(events, waiting)))
    return json_response(await while_connected(request, waiting))


async def _shown_events(
    job: Job, events: AsyncGenerator[tuple[str, Any]]
) -> AsyncGenerator[tuple[str, Any]]:
    """Yield events as a response shows them, and `done` or `error` at the end."""
    began = time.perf_counter()
    try:
        async with aclosing(events):
            async for name, value in events:
                yield name, _SHOWN.get(name, lambda shown: shown)(value)
    except Exception as error:
        yield "error", problem_of(error).record()["error"]
    else:
        yield "done", {"seconds": round(time.perf_counter() - began, 4), "id": job.id}
