"""The door for programs that speak OpenAI's protocol: corpora and graphs as models to chat with.

Nothing of a conversation is kept: earlier turns are read from the messages that a client sends.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import regex
from fastapi import APIRouter, Response

from kgp_neo4j.corpus.answer.conversation import Conversation, Said, by_rules
from kgp_neo4j.corpus.load.stored import corpora
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.environment.job import tell
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.bodies import Chat, ChatMessage, ProblemError, openai_record, problem_of
from kgp_neo4j.serve.connections import event_response, while_connected
from kgp_neo4j.serve.service import Caller, Reads, handles
from kgp_neo4j.show.pages import answer_markdown, map_markdown, read_answer
from kgp_neo4j.text.safe import as_markdown, cut
from kgp_neo4j.types.json_records import to_json
from kgp_neo4j.types.language import Usage

router = APIRouter(tags=["OpenAI's protocol"], prefix="/v1")

_UNDERSTOOD = "Understood as: "
#: Earlier turns that are read.
_TURNS = 12


@router.get("/models")
@handles
def models(caller: Reads) -> Any:
    """List the corpora and knowledge graphs that the token sees, as models."""
    return {"object": "list", "data": _models(caller)}


@router.get("/models/{model:path}")
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


@router.post("/chat/completions")
async def complete(body: Chat, caller: Reads) -> Response:
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


def _text(message: ChatMessage) -> str:
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
        yield None, openai_record(problem_of(error))
    yield None, None
