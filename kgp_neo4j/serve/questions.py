"""Questions, asked whole, followed event by event, or by OpenAI's protocol; answers, with marks.

Of a file a response has the name alone, since others see it.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial, wraps
from itertools import pairwise
from pathlib import PurePath
from typing import Any

import regex
from fastapi import APIRouter, Response

from kgp_neo4j.corpus.answer.conversation import Conversation, Said, by_rules
from kgp_neo4j.corpus.answer.traces import with_trace
from kgp_neo4j.corpus.load.stored import corpora
from kgp_neo4j.corpus.pipeline import Pipeline, make_pipeline
from kgp_neo4j.environment.job import tell
from kgp_neo4j.integrations.records import structural_record
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve import bodies
from kgp_neo4j.serve.bodies import Ask, Map, ProblemError, Retrieve
from kgp_neo4j.serve.connections import event_response, wants_events, while_connected
from kgp_neo4j.serve.service import Caller, Reads, Service, handles, require_right
from kgp_neo4j.show.pages import answer_markdown, map_markdown, read_answer
from kgp_neo4j.show.trees import map_tree, path_tree
from kgp_neo4j.show.view import marks_of
from kgp_neo4j.text.safe import Stream, as_markdown, cut, parts, to_json
from kgp_neo4j.types.corpus import Answer, Document, Form, Passage, Retrieval, Usage
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


#: The door for programs that speak OpenAI's protocol: corpora and graphs as models to chat with.
#: Nothing of a conversation is kept: earlier turns are read from the messages that a client sends.
openai = APIRouter(tags=["OpenAI's protocol"], prefix="/v1")

_UNDERSTOOD = "Understood as: "
#: Earlier turns that are read.
_TURNS = 12


@openai.get("/models")
@handles
def models(caller: Reads) -> Any:
    """List the corpora and knowledge graphs that the token sees, as models."""
    return {"object": "list", "data": _models(caller)}


@openai.get("/models/{model:path}")
@handles
def model(model: str, caller: Reads) -> Any:
    """Return one of the models that the token sees."""
    listed = [each for each in _models(caller) if each["id"] == model]
    if not listed:
        raise ProblemError(404, f"there is no model {model!r}")
    return listed[0]


def _models(caller: Caller) -> list[dict[str, Any]]:
    """Return the corpora and graphs that a token sees as the protocol's models."""
    database, access = caller.service.database, caller.access
    names = [("corpus", each.name) for each in corpora(database)]
    names += [("graph", each.name) for each in graphs(database)]
    return [
        {"id": f"{kind}/{name}", "object": "model", "created": 0, "owned_by": "kgp-neo4j"}
        for kind, name in names
        if access.sees(kind, name)
    ]


@openai.post("/chat/completions")
async def complete(body: bodies.Chat, caller: Reads) -> Response:
    """Answer the last question of a conversation over a corpus or a knowledge graph.

    The content is Markdown: the answer, what it rests on, and links to the page of the service.
    """
    kind, _, name = body.model.partition("/")
    if kind not in ("corpus", "graph") or not name:
        raise ProblemError(404, f"there is no model {body.model!r}")
    if body.n not in (None, 1):
        raise ProblemError(400, "one answer is given to a question", "Leave n out.")
    messages = [each for each in body.messages if each.role in ("user", "assistant")]
    while messages and messages[-1].role != "user":
        messages.pop()
    last = messages[-1].content if messages else ""
    if isinstance(last, list) and any(part.get("type") != "text" for part in last):
        hint = "Leave pictures, sounds and files out."
        raise ProblemError(400, "a question may hold text alone", hint)
    *turns, (_, question) = [(each.role, _text(each)) for each in messages] or [("user", "")]
    if not question:
        raise ProblemError(400, "there is no question", "Send one as a message of the user.")
    if caller.service.settings.log_questions:
        caller.request.state.logged["question"] = question

    def answer() -> tuple[str, dict[str, int]]:
        tell("begun", lambda: None)
        if question.startswith("### Task:") and "<chat_history>" in question:
            content, usage = _about_chat(question), None
        else:
            content, usage = _answered(caller, kind, name, past_turns(turns), question)
        asked, written = (usage.prompt_tokens, usage.reply_tokens) if usage else (0, 0)
        tokens = {"prompt_tokens": asked, "completion_tokens": written}
        return content, tokens | {"total_tokens": asked + written}

    def whole() -> dict[str, Any]:
        content, tokens = work()
        message = {"role": "assistant", "content": content}
        return _record(begun, "stop", message=message) | {"usage": tokens}

    work = caller.seeing(kind, name, answer)
    key, now = f"chatcmpl-{caller.request.state.id}", int(time.time())
    begun = {"id": key, "created": now, "model": body.model}
    if not body.stream:
        return await caller.look(whole)
    events = caller.events(work)
    # What is wrong with the request is its status; what goes wrong later is the last chunk.
    await while_connected(caller.request, events.__anext__())
    return event_response(_chunks(begun, events))


def _text(message: bodies.ChatMessage) -> str:
    """Return the text of a message, without what Open WebUI puts before a question."""
    content = message.content or ""
    if not isinstance(content, str):
        content = "\n".join(str(part.get("text", "")) for part in content)
    if content.startswith("### Task:"):
        content = content.rpartition("</context>")[2]
    return content.strip()


def _about_chat(task: str) -> str:
    """Return what Open WebUI asks of a chat: its first question as title, and no more."""
    first = regex.search(r"<chat_history>\s*(?:USER:)?(.*)", task)
    title = cut(first[1], 60) if first else ""
    return to_json({"title": title, "tags": [], "follow_ups": [], "queries": [], "text": ""})


def past_turns(messages: Sequence[tuple[str, str]]) -> list[Said]:
    """Return the turns of a conversation as they were understood, from (role, text) messages."""
    history: list[Said] = []
    for (role, text), (next_role, reply) in pairwise(messages[-2 * _TURNS :]):
        if (role, next_role) == ("user", "assistant"):
            question = by_rules(text, history)
            if reply.startswith(_UNDERSTOOD):
                first, _, reply = reply.removeprefix(_UNDERSTOOD).partition("\n")
                question = first.replace("\\", "")
            history.append(Said(question, *read_answer(reply)))
    return history


def _answered(
    caller: Caller, kind: str, name: str, history: Sequence[Said], said: str
) -> tuple[str, Usage | None]:
    """Return the Markdown that answers over a corpus or a graph, and the model's use."""
    if kind == "graph":
        made, usage = caller.map_mind(name, said, history=history)
        question, text = made.question, map_markdown(made)
    else:
        service = caller.service
        pipeline = make_pipeline(service.database, name, model=service.model())
        keep = not service.settings.forget_questions
        turn = Conversation(pipeline, trace=keep, history=history).ask(said)
        question, usage = turn.question, turn.answer.usage
        text = answer_markdown(turn.answer, f"{caller.request.base_url}")
        caller.count(name, usage)
    return (f"{_UNDERSTOOD}{as_markdown(question)}\n\n" if question != said else "") + text, usage


def _record(begun: dict[str, Any], ended: str | None = None, **said: Any) -> dict[str, Any]:
    """Return the protocol's object of what is said: a `message`, or the `delta` of a chunk."""
    choice = {"index": 0, **said, "finish_reason": ended}
    name = "chat.completion" if "message" in said else "chat.completion.chunk"
    return {**begun, "object": name, "choices": [choice]}


async def _chunks(
    begun: dict[str, Any], events: AsyncGenerator[tuple[str, Any]]
) -> AsyncGenerator[tuple[None, Any]]:
    """Yield the answer as chunks; only what was checked is sent."""
    yield None, _record(begun, delta={"role": "assistant", "content": ""})
    try:
        async with aclosing(events):
            async for event, value in events:
                if event == "answer":
                    yield None, _record(begun, delta={"content": value[0]})
                    yield None, _record(begun, "stop", delta={}) | {"usage": value[1]}
    except Exception as error:
        yield None, bodies.openai_record(bodies.problem_of(error))
    yield None, None
