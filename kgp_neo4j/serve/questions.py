"""Questions, asked whole or followed event by event; answers as responses show them, with marks.

Of a file a response has the name alone, since others see it.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from functools import partial, wraps
from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Response

from kgp_neo4j.corpus.answer.traces import with_trace
from kgp_neo4j.corpus.pipeline import Pipeline, make_pipeline
from kgp_neo4j.environment.job import tell
from kgp_neo4j.integrations.records import structural_record
from kgp_neo4j.serve.bodies import Ask, Map, Retrieve
from kgp_neo4j.serve.connections import event_response, wants_events
from kgp_neo4j.serve.service import Caller, Reads, Service, require_right
from kgp_neo4j.show.trees import map_tree, path_tree
from kgp_neo4j.show.view import marks_of
from kgp_neo4j.text.safe import Stream
from kgp_neo4j.types.corpus import Answer, Document, Form, Passage, Retrieval
from kgp_neo4j.types.json_records import parts
from kgp_neo4j.types.mindmap import MindMap, ReasoningGraph
from kgp_neo4j.types.settings import TraversalSettings


def passage_record(passage: Passage) -> dict[str, Any]:
    """Return a passage; of its file only the name, since others see it."""
    names = "id document title name position start end text score page section recognised"
    return parts(passage, *names.split()) | {"source": PurePath(passage.source).name}


def passage_records(retrieval: Retrieval | Answer) -> list[dict[str, Any]]:
    """Return passages, best first, each with the path that led to it."""
    names = ("passage", "edge", "reason", "why", "score")
    paths = {path.last: [parts(step, *names) for step in path.steps] for path in retrieval.paths}
    return [passage_record(p) | {"path": paths.get(p.id, [])} for p in retrieval.passages]


def document_record(document: Document, apart: str) -> dict[str, Any]:
    """Return a document; of its files only the names, or what tells it `apart` from others."""
    record = parts(document, "id", "title", "characters", "passages")
    names = dict.fromkeys(PurePath(source).name for source in document.sources)
    return record | {"source": apart or ", ".join(names)}


def answer_record(answer: Answer) -> dict[str, Any]:
    """Return an answer with its passages, and what it marks in them.

    `said` is what is shown as the answer below `heading`, `by` says who answered; `cited` are the
    ids of the passages that it rests on; `marks` has by id the intervals of a passage's text that
    are the answer's words, and those of its sentences; `tree` is how it was found, to be drawn.
    """
    marks = {passage.id: marks_of(answer, passage) for passage in answer.passages}
    names = "question corpus text said heading summary stated tier probably confidence by agent"
    return {
        **parts(answer, *names.split()),
        "type": answer.type.type,
        "sentences": answer.shown_sentences,
        "statements": answer.statements,
        "cited": answer.rests_on,
        "passages": passage_records(answer),
        "marks": {key: parts(each, "answer", "sentences") for key, each in marks.items() if each},
        "structural": structural_record(answer.structural),
        "tree": path_tree(answer),
        **parts(answer, "usage", "notes", "trace", "seconds"),
    }


def reasoning_record(reasoning: ReasoningGraph) -> dict[str, Any]:
    """Return the evidence of a question over a knowledge graph."""
    return {
        "entities": reasoning.entities,
        "triples": [parts(triple, "head", "relation", "tail") for triple in reasoning.triples],
        "routes": reasoning.routes[:50],
    }


def map_record(mind_map: MindMap) -> dict[str, Any]:
    """Return a mind map with the evidence that it was checked against."""
    names = ("question", "graph", "text", "by", "edges", "notices", "seconds")
    drawn = {"evidence": reasoning_record(mind_map.reasoning), "tree": map_tree(mind_map)}
    return parts(mind_map, *names) | drawn


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
