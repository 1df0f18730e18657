"""The door for programs that speak OpenAI's protocol: corpora and graphs as models to chat with.

Nothing of a conversation is kept: earlier turns are read from the messages that a client sends.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import regex
from fastapi import APIRouter, Response

from kgp_neo4j.corpus.answer.check import marked
from kgp_neo4j.corpus.answer.conversation import Conversation, Turn
from kgp_neo4j.corpus.answer.follow_up import Said, by_rules
from kgp_neo4j.corpus.load.listing import corpora
from kgp_neo4j.corpus.pipeline import answered_by, make_pipeline
from kgp_neo4j.environment.question import LONGEST_QUESTION
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.ask_graph import as_question, ask_graph
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.access import Caller, Reads
from kgp_neo4j.serve.bodies import Chat, ChatMessage
from kgp_neo4j.serve.problems import ProblemError, openai_record, problem_of
from kgp_neo4j.serve.stream import event_response
from kgp_neo4j.serve.work import events_of, listen
from kgp_neo4j.show.marks import STATUS_MARKS, rests_on
from kgp_neo4j.text.safe import plain
from kgp_neo4j.types.corpus import Answer, Passage
from kgp_neo4j.types.language import Usage

router = APIRouter(tags=["OpenAI's protocol"], prefix="/v1")

#: A source in an earlier answer of ours: its number, its title, its page.
_SOURCE = regex.compile(r"^- \[\d+\] \[((?:[^\]\\]|\\.)+)\]\(", regex.MULTILINE)
_SIGNS = regex.compile(r"([\\`*_\[\]<>#|!])")
_MARKUP = regex.compile(r"\[\d+\]|[*>\\]")
#: Passages that an answer's Markdown lists, and characters of a piece of a streamed one.
_SOURCES, _PIECE = 20, 200


@router.get("/models")
async def models(caller: Reads) -> Response:
    """List the corpora and knowledge graphs that the token sees, as models."""

    def look() -> dict[str, Any]:
        database, access = caller.service.database, caller.access
        names = [("corpus", each.name) for each in corpora(database)]
        names += [("graph", each.name) for each in graphs(database)]
        listed = [f"{kind}/{name}" for kind, name in names if access.sees(kind, name)]
        data = [
            {"id": each, "object": "model", "created": 0, "owned_by": "kgp-neo4j"}
            for each in listed
        ]
        return {"object": "list", "data": data}

    return await caller.look(look)


@router.post("/chat/completions")
async def complete(body: Chat, caller: Reads) -> Response:
    """Answer the last question of a conversation over a corpus or a knowledge graph.

    The content is Markdown: the answer, what it rests on, and links to the page of the service.
    """
    kind, _, name = body.model.partition("/")
    if kind not in ("corpus", "graph") or not name:
        raise ProblemError(404, f"there is no model {body.model!r}", "GET /v1/models lists them.")
    turns = [(message.role, _text(message)) for message in body.messages]
    asked = [text for role, text in turns if role == "user" and text.strip()]
    if body.n not in (None, 1):
        raise ProblemError(400, "one answer is given to a question", "Leave n out.")
    if not asked or turns[-1][0] != "user" or not turns[-1][1].strip():
        raise ProblemError(400, "the last message is not a question of the user")
    if max(map(len, asked)) > LONGEST_QUESTION:
        raise ProblemError(400, f"a question has at most {LONGEST_QUESTION} characters")
    if caller.service.settings.log_questions:
        caller.request.state.logged["question"] = asked[-1]

    def answer() -> tuple[str, Usage | None]:
        if kind == "graph":
            return _map_text(caller, name, asked)
        return _answer_text(caller, name, past_turns(turns[:-1]), asked[-1])

    work = caller.seeing(kind, name, answer)
    job = caller.service.question_job(caller.request.state.id)
    if not body.stream:
        return await caller.look(lambda: _completion(job.id, body.model, *work()))
    events = events_of(listen(job), caller.service.questions.begin(job, work))
    return event_response(_chunks(job.id, body.model, events))


def _text(message: ChatMessage) -> str:
    """Return the text of a message; pictures and sounds are refused."""
    content = message.content
    if isinstance(content, str):
        return content
    parts = content or []
    if any(part.get("type") != "text" for part in parts):
        raise ProblemError(400, "a message may hold text alone")
    return "\n".join(str(part.get("text", "")) for part in parts)


def past_turns(messages: Sequence[tuple[str, str]]) -> list[Said]:
    """Return the turns of a conversation as they were understood, from (role, text) messages.

    An answer's first line is the answer itself, and the titles of its sources stand below.
    """
    history: list[Said] = []
    for (role, text), (next_role, reply) in pairwise(messages):
        if role == "user" and next_role == "assistant":
            titles = (title.rpartition(", ")[0] or title for title in _SOURCE.findall(reply))
            said = _MARKUP.sub("", reply.partition("\n")[0]).partition(" (probably")[0].strip()
            known = tuple(dict.fromkeys(_MARKUP.sub("", title) for title in titles))
            history.append(Said(by_rules(text, history), said, known))
    return history


def _answer_text(
    caller: Caller, corpus: str, history: Sequence[Said], question: str
) -> tuple[str, Usage | None]:
    service = caller.service
    pipeline = make_pipeline(service.database, corpus, model=service.model)
    keep = not service.settings.forget_questions
    turn = Conversation(pipeline, trace=keep, history=history).ask(question)
    service.metrics.count_usage(caller.access.name, corpus, turn.answer.usage)
    return answer_markdown(turn, f"{caller.request.base_url}"), turn.answer.usage


def _map_text(caller: Caller, graph: str, asked: Sequence[str]) -> tuple[str, Usage | None]:
    service = caller.service
    meter = MeteredModel(service.model) if service.model else None
    write = writer(meter) if meter else None
    made = ask_graph(service.database, graph, as_question(asked), write=write)
    usage = meter.take_usage() if meter else None
    service.metrics.count_usage(caller.access.name, graph, usage)
    edges = [
        f"- {plain(edge.head)} – {readable(edge.relation)} → {plain(edge.tail)} "
        f"{STATUS_MARKS[edge.status]}".rstrip()
        for edge in made.edges
    ]
    listed = ["", "Mind map:", *edges] if edges else []
    said = made.text or "The graph says nothing of this."
    return "\n".join([said, *listed, *made.notices]), usage


def answer_markdown(turn: Turn, address: str) -> str:
    """Return a turn's answer as Markdown, with links to the documents on the page at `address`."""
    answer = turn.answer
    numbers = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    cited = list(rests_on(answer)) or [each.passage for each in answer.shown_sentences]
    quoted = [each for each in answer.shown_sentences if each.text != answer.text]
    lines: list[str] = []
    by = answered_by(answer)
    structural = answer.structural
    if by == "structure" and structural is not None:
        lines = [structural.text, *([structural.doubt] if structural.doubt else []), ""]
        for cell in structural.citations[:_SOURCES]:
            at = {"document": cell.document, "corpus": answer.corpus}
            place = [cell.title, f"page {cell.page}" if cell.page else "", cell.table_name]
            named = ", ".join(filter(None, [*place, cell.row_name, cell.column_name]))
            lines.append(f"- {_link(named, address, at)}: {_escaped(cell.text)}")
        return "\n".join([*lines, *answer.notes])
    if answer.statements:
        lines.append(marked(answer.statements, numbers))
        cited = [each for statement in answer.statements for each in statement.passages]
    elif answer.tier in ("stated", "probable"):
        how = f" ({answer.probably})" if answer.probably else ""
        marks = "".join(f"[{numbers[each]}]" for each in cited if each in numbers)
        lines.append(f"**{_escaped(answer.text)}** {marks}{how}".rstrip())
    else:
        lines.append(f"{answer.summary}.")
    if not answer.statements:
        for sentence in quoted:
            number = f" [{numbers[sentence.passage]}]" if sentence.passage in numbers else ""
            lines += ["", f"> {_escaped(sentence.text)}{number}"]
    if turn.question != turn.said:
        lines += ["", f"Understood as: {_escaped(turn.question)}"]
    lines += ["", *answer.notes]
    listed = [passage for passage in answer.passages if passage.id in cited][:_SOURCES]
    lines += [f"- [{numbers[each.id]}] {_source(each, answer, address)}" for each in listed]
    return "\n".join(lines).strip()


def _source(passage: Passage, answer: Answer, address: str) -> str:
    place = f"page {passage.page}" if passage.page else f"passage {passage.position + 1}"
    at = {"document": passage.document, "corpus": answer.corpus, "passage": passage.id}
    return _link(f"{passage.name}, {place}", address, at)


def _link(text: str, address: str, at: dict[str, str]) -> str:
    return f"[{_escaped(text)}]({address}#{urlencode(at)})"


def _escaped(text: str) -> str:
    """Return a text on one line, none of it Markdown or HTML."""
    escaped: str = _SIGNS.sub(r"\\\1", plain(text))
    return escaped


def _completion(key: str, model: str, content: str, usage: Usage | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**_head(key, model, ""), "choices": [choice], "usage": _usage_record(usage)}


def _head(key: str, model: str, kind: str) -> dict[str, Any]:
    name = f"chat.completion{kind}"
    return {"id": f"chatcmpl-{key}", "object": name, "created": int(time.time()), "model": model}


def _usage_record(usage: Usage | None) -> dict[str, int]:
    asked, written = (usage.prompt_tokens, usage.reply_tokens) if usage else (0, 0)
    return {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}


async def _chunks(
    key: str, model: str, events: AsyncGenerator[tuple[str, Any]]
) -> AsyncGenerator[tuple[None, Any]]:
    """Yield the answer as chunks; only what was checked is sent."""

    def chunk(delta: dict[str, str], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {**_head(key, model, ".chunk"), "choices": [choice]}

    yield None, chunk({"role": "assistant", "content": ""})
    try:
        async with aclosing(events):
            async for event, value in events:
                if event == "answer":
                    content, usage = value
                    for at in range(0, len(content), _PIECE):
                        yield None, chunk({"content": content[at : at + _PIECE]})
                    yield None, {**chunk({}, "stop"), "usage": _usage_record(usage)}
    except Exception as error:
        yield None, openai_record(problem_of(error))
    yield None, None
