"""The door for programs that speak OpenAI's protocol: corpora and graphs as models to chat with.

Nothing of a conversation is kept: earlier turns are read from the messages that a client sends.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any
from urllib.parse import quote, urlencode

import regex
from fastapi import APIRouter, Response

from kgp_neo4j.corpus.answer.check import marked
from kgp_neo4j.corpus.answer.conversation import Conversation, Turn
from kgp_neo4j.corpus.answer.follow_up import Said, by_rules, understood
from kgp_neo4j.corpus.load.listing import corpora
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.environment.job import tell
from kgp_neo4j.llm.call import MeteredModel, writer
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.serve.access import Caller, Reads, handles
from kgp_neo4j.serve.bodies import Chat, ChatMessage
from kgp_neo4j.serve.problems import ProblemError, openai_record, problem_of
from kgp_neo4j.serve.stream import event_response, while_connected
from kgp_neo4j.show.marks import STATUS_MARKS
from kgp_neo4j.text.safe import as_markdown, cut, printable
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.json_records import to_json
from kgp_neo4j.types.language import Usage
from kgp_neo4j.types.mindmap import MapEdge, MindMap, Triple
from kgp_neo4j.types.tables import StructuralAnswer

router = APIRouter(tags=["OpenAI's protocol"], prefix="/v1")

#: A source in an earlier answer of ours: its number, its title, its page.
_SOURCE = regex.compile(r"^- \[\d+\]: \[((?:[^\]\\]|\\.)+)\]\(", regex.MULTILINE)
_SIGNS_IN_ROWS = regex.compile(r"([`*_\[\]<>!])")
_MARKUP = regex.compile(r"\[\d+\]|[*>\\]")
_UNDERSTOOD = "Understood as: "
#: Earlier turns that are read, passages that an answer's Markdown lists, and characters of a piece
#: of a streamed one.
_TURNS, _SOURCES, _PIECE = 12, 20, 200


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
        usage: Usage | None = None
        if question.startswith("### Task:") and "<chat_history>" in question:
            content = _about_chat(question)
        else:
            ask = _map_text if kind == "graph" else _answer_text
            content, usage = ask(caller, name, past_turns(turns), question)
        asked, written = (usage.prompt_tokens, usage.reply_tokens) if usage else (0, 0)
        tokens = {"prompt_tokens": asked, "completion_tokens": written}
        return content, tokens | {"total_tokens": asked + written}

    def whole() -> dict[str, Any]:
        content, tokens = work()
        message = {"role": "assistant", "content": content}
        return _record(begun, {"message": message}, "stop") | {"usage": tokens}

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
    """Return the turns of a conversation as they were understood, from (role, text) messages.

    Answers say how a question was understood; their first line is the answer itself, and the titles
    of its sources stand below.
    """
    history: list[Said] = []
    for (role, text), (next_role, reply) in pairwise(messages[-2 * _TURNS :]):
        if (role, next_role) != ("user", "assistant"):
            continue
        lines = [bare for line in reply.splitlines() if (bare := _MARKUP.sub("", line).strip())]
        question = by_rules(text, history)
        if lines and lines[0].startswith(_UNDERSTOOD):
            question = lines.pop(0).removeprefix(_UNDERSTOOD)
        said = [line.partition(" (probably")[0].strip() for line in lines if line[-1] != ":"]
        titles = (title.rpartition(", ")[0] or title for title in _SOURCE.findall(reply))
        known = tuple(dict.fromkeys(_MARKUP.sub("", title) for title in titles))
        history.append(Said(question, said[0] if said else "", known))
    return history


def _answer_text(
    caller: Caller, corpus: str, history: Sequence[Said], question: str
) -> tuple[str, Usage | None]:
    service = caller.service
    pipeline = make_pipeline(service.database, corpus, model=service.model())
    keep = not service.settings.forget_questions
    turn = Conversation(pipeline, trace=keep, history=history).ask(question)
    service.metrics.count_usage(caller.access.name, corpus, turn.answer.usage)
    return answer_markdown(turn, f"{caller.request.base_url}"), turn.answer.usage


def _map_text(
    caller: Caller, graph: str, history: Sequence[Said], said: str
) -> tuple[str, Usage | None]:
    service = caller.service
    model = service.model()
    meter = MeteredModel(model) if model else None
    question = understood(said, history, meter)
    made = ask_graph(service.database, graph, question, write=writer(meter) if meter else None)
    usage = meter.take_usage() if meter else None
    service.metrics.count_usage(caller.access.name, graph, usage)
    return _as_understood(question, said) + map_markdown(made), usage


def _as_understood(question: str, said: str) -> str:
    return f"{_UNDERSTOOD}{as_markdown(question)}\n\n" if question != said else ""


def map_markdown(made: MindMap) -> str:
    """Return a mind map as Markdown: its answer, and each edge with what it rests on."""
    facts = {triple.id: _edge(triple) for triple in made.reasoning.triples}
    found = {
        triple.id: f"{'on a path from' if each.kind == 'path' else 'around'} {each.entity}"
        for each in sorted(made.reasoning.evidence, key=lambda each: each.kind == "path")
        for triple in each.triples
    }
    lines = [*(f"Note: {as_markdown(note)}\n" for note in made.notices)]
    lines += [_rows(made.text or "The graph says nothing of this.")]
    if made.edges:
        lines += ["", "Mind map:", ""]
    for edge in made.edges:
        own = _edge(edge)
        told = f"({edge.note})" if edge.note else STATUS_MARKS[edge.status]
        if edge.status == "grounded":
            rest = next((found[each] for each in edge.triples if each in found), "in the graph")
            others = [facts[each] for each in edge.triples if facts.get(each, own) != own]
            told = f"({'; '.join([rest, *others])})"
        lines.append(f"- {as_markdown(f'{own} {told}')}")
    return "\n".join(lines)


def _edge(fact: MapEdge | Triple) -> str:
    return f"{fact.head} – {readable(fact.relation)} → {fact.tail}"


def answer_markdown(turn: Turn, address: str) -> str:
    """Return a turn's answer as Markdown, with links to the documents on the page at `address`."""
    answer = turn.answer
    numbers = {passage.id: n for n, passage in enumerate(answer.passages, 1)}
    quoted = [each for each in answer.shown_sentences if each.text != answer.said]
    cited = list(answer.rests_on) or [each.passage for each in quoted]
    lines: list[str] = []
    if answer.statements:
        lines.append(marked(answer.statements, numbers))
        cited, quoted = [each for said in answer.statements for each in said.passages], []
    elif answer.said:
        how = f" ({answer.probably})" if answer.probably else ""
        marks = "".join(f"[{numbers[each]}]" for each in cited if each in numbers)
        told = _rows(answer.said) if answer.from_structure else f"**{as_markdown(answer.said)}**"
        lines.append(f"{told} {marks}".rstrip() + how)
    else:
        lines += [f"{answer.heading}{'.' if answer.tier == 'none' else ':'}"]
        lines += ["", "The closest sentence:"] if quoted and answer.tier == "none" else []
    cited += [each.passage for each in quoted]
    for sentence in quoted:
        number = f" [{numbers[sentence.passage]}]" if sentence.passage in numbers else ""
        lines += ["", f"> {as_markdown(sentence.text)}{number}"]
    if answer.structural is not None:
        lines += ["", *_from_tables(answer.structural, answer, address)]
    lines += ["", *(f"{as_markdown(note)}\n" for note in answer.notes)]
    for each in [passage for passage in answer.passages if passage.id in cited][:_SOURCES]:
        place = f"page {each.page}" if each.page else f"passage {each.position + 1}"
        at = {"document": each.document, "corpus": answer.corpus, "passage": each.id}
        lines.append(f"- [{numbers[each.id]}]: {_link(f'{each.name}, {place}', address, at)}")
    return _as_understood(turn.question, turn.said) + "\n".join(lines).strip()


def _from_tables(structural: StructuralAnswer, answer: Answer, address: str) -> list[str]:
    """Return the lines of what pages and tables show: the doubt, the table, each cell's place."""
    lines = [f"{as_markdown(structural.doubt)}\n"] if structural.doubt else []
    if structural.markdown and structural.markdown not in answer.said:
        lines += [_rows(structural.markdown), ""]
    for cell in structural.citations[:_SOURCES]:
        at = {"document": cell.document, "corpus": answer.corpus}
        place = [cell.title, f"page {cell.page}" if cell.page else "", cell.table_name]
        named = ", ".join(filter(None, [*place, cell.row_name, cell.column_name]))
        lines.append(f"- {_link(named, address, at)}: {as_markdown(cell.text)}")
    return lines


def _link(text: str, address: str, at: dict[str, str]) -> str:
    return f"[{as_markdown(text)}]({address}#{urlencode(at, quote_via=quote)})"


def _rows(text: str) -> str:
    """Return a text of several lines, of which nothing but its tables is Markdown."""
    return "\n".join(
        _SIGNS_IN_ROWS.sub(r"\\\1", line) if line.startswith("|") else as_markdown(line)
        for line in printable(text).splitlines()
    )


def _record(begun: dict[str, Any], said: dict[str, Any], ended: str | None) -> dict[str, Any]:
    """Return the protocol's object of what is said: a `message`, or the `delta` of a chunk."""
    choice = {"index": 0, **said, "finish_reason": ended}
    name = "chat.completion" if "message" in said else "chat.completion.chunk"
    return {**begun, "object": name, "choices": [choice]}


async def _chunks(
    begun: dict[str, Any], events: AsyncGenerator[tuple[str, Any]]
) -> AsyncGenerator[tuple[None, Any]]:
    """Yield the answer as chunks; only what was checked is sent."""

    def chunk(delta: dict[str, str], ended: str | None = None) -> dict[str, Any]:
        return _record(begun, {"delta": delta}, ended)

    yield None, chunk({"role": "assistant", "content": ""})
    try:
        async with aclosing(events):
            async for event, value in events:
                if event == "answer":
                    content, tokens = value
                    for at in range(0, len(content), _PIECE):
                        yield None, chunk({"content": content[at : at + _PIECE]})
                    yield None, chunk({}, "stop") | {"usage": tokens}
    except Exception as error:
        yield None, openai_record(problem_of(error))
    yield None, None
