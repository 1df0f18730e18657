"""The door for OpenAI's protocol, by the client that programs use for it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from serving import Serving, serving

from kgp_neo4j.corpus.answer.conversation import Said
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.serve.questions import past_turns
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Tokens, add_token
from kgp_neo4j.types.settings import ServeSettings

_ASKED = "Who designed the Hesk Bridge?"


@pytest.fixture(scope="module")
def served(
    database: Database, demo_graph: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("door")
    file = folder / "tokens.json"
    token = add_token(file, "reader", corpora=[demo_graph], graphs=[demo_graph])
    service = Service(database, folder=folder / "uploads", tokens=Tokens(file))
    with serving(service, reader=token) as running:
        yield running


@pytest.fixture(scope="module")
def client(served: Serving) -> openai.OpenAI:
    return _client(served, served.tokens["reader"])


def _client(served: Serving, token: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{served.address}/v1", api_key=token, max_retries=0)


def _said(client: openai.OpenAI, model: str, *turns: str) -> str:
    """Return the answer to the last of some turns, of the user and the assistant in turn."""
    roles = ("user", "assistant")
    messages = [{"role": roles[at % 2], "content": text} for at, text in enumerate(turns)]
    made = client.chat.completions.create(model=model, messages=messages)  # type: ignore[arg-type]
    assert made.choices[0].finish_reason == "stop"
    return made.choices[0].message.content or ""


def test_corpora_and_graphs_are_models(client: openai.OpenAI, demo_graph: str) -> None:
    listed = {each.id for each in client.models.list()}
    assert listed == {f"corpus/{demo_graph}", f"graph/{demo_graph}"}
    assert client.models.retrieve(f"corpus/{demo_graph}").object == "model"


def test_an_answer_links_to_the_page_and_follow_ups_are_understood(
    client: openai.OpenAI, served: Serving, demo_graph: str
) -> None:
    first = _said(client, f"corpus/{demo_graph}", _ASKED)
    assert first.startswith("**Yusuf Arden** [1]")
    assert "- [1]: [Hesk Bridge, passage 1, characters 0–" in first
    assert f"]({served.address}/#document=" in first
    then = _said(client, f"corpus/{demo_graph}", _ASKED, first, "Why did he become an engineer?")
    assert then.startswith("Understood as: Why did Yusuf Arden become an engineer?\n\n")
    assert "grandmother" in then


def test_past_answers_are_read_from_their_markdown() -> None:
    source = "- [1]: [The \\[old\\] mill, page 3, passage 5, characters 0–9](http://x/#d)"
    reply = f"**Ada Moor** [1] (probably, 85 %)\n\n> It was.\n{source}"
    again = (
        "Understood as: Why did Ada Moor build it?\n\nThe sentences that say most:\n\n> For rye."
    )
    turns = [("user", "Who?"), ("user", "Who built it?"), ("assistant", reply)]
    assert past_turns([*turns, ("user", "Why?"), ("assistant", again)]) == [
        Said("Who built it?", "Ada Moor", ("The [old] mill",)),
        Said("Why did Ada Moor build it?", "For rye.", ()),
    ]


def test_a_stream_has_the_answer_in_chunks(client: openai.OpenAI, demo_graph: str) -> None:
    asked: Any = [{"role": "user", "content": [{"type": "text", "text": _ASKED}]}]
    stream = client.chat.completions.create(
        model=f"corpus/{demo_graph}", messages=asked, stream=True, temperature=0.3, max_tokens=5
    )
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert said == _said(client, f"corpus/{demo_graph}", _ASKED)
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_a_graph_answers_with_its_mind_map(client: openai.OpenAI, demo_graph: str) -> None:
    said = _said(client, f"graph/{demo_graph}", "I feel tired and dizzy. What can it be?")
    assert "Pale tide" in said
    assert "\nMind map:\n\n- " in said
    assert "– has symptom → Dizziness (on a path from Fatigue)" in said
    assert "(around Dizziness)" in said


@pytest.mark.parametrize(
    ("model", "messages", "more", "error", "told"),
    [
        ("corpus/nowhere", [("user", "Who?")], {}, openai.NotFoundError, "no corpus"),
        ("gpt-4o", [("user", "Who?")], {}, openai.NotFoundError, "GET /v1/models"),
        ("{}", [("user", "Who?")], {"n": 2}, openai.BadRequestError, "Leave n out"),
        ("{}", [("user", " ")], {}, openai.BadRequestError, "no question"),
        ("{}", [], {"stream": True}, openai.BadRequestError, "no question"),
        ("corpus/nowhere", [("user", "Who?")], {"stream": True}, openai.NotFoundError, "v1/models"),
    ],
)
def test_what_cannot_be_answered_is_said_in_the_protocols_form(
    client: openai.OpenAI,
    demo_graph: str,
    model: str,
    messages: list[tuple[str, str]],
    more: dict[str, Any],
    error: type[openai.APIStatusError],
    told: str,
) -> None:
    sent: Any = [{"role": role, "content": text} for role, text in messages]
    with pytest.raises(error, match=told) as caught:
        client.chat.completions.create(
            model=model.format(f"corpus/{demo_graph}"), messages=sent, **more
        )
    assert caught.value.type == "invalid_request_error"


def test_a_picture_and_a_wrong_token_are_refused(
    client: openai.OpenAI, served: Serving, demo_graph: str, tmp_path: Path
) -> None:
    picture: Any = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
    with pytest.raises(openai.BadRequestError, match="text alone"):
        client.chat.completions.create(
            model=f"corpus/{demo_graph}", messages=[{"role": "user", "content": picture}]
        )
    with pytest.raises(openai.AuthenticationError, match="token"):
        _client(served, "wrong").models.list()


def test_what_open_webui_adds_is_no_question(client: openai.OpenAI, demo_graph: str) -> None:
    model = f"corpus/{demo_graph}"
    task = f"### Task:\nWrite a title.\n<chat_history>\nUSER: {_ASKED}\nASSISTANT: Yes.\n"
    assert json.loads(_said(client, model, f"{task}</chat_history>"))["title"] == _ASKED
    around = f"### Task:\nUse this.\n<context>\nA file of hers.\n</context>\n\n{_ASKED}"
    assert _said(client, model, around) == _said(client, model, _ASKED)


def test_time_and_queue_are_the_same(database: Database, demo_graph: str, tmp_path: Path) -> None:
    settings = ServeSettings(threads=1, queue=0, seconds=1.0)
    service = Service(database, folder=tmp_path, settings=settings)
    with serving(service) as running, running.occupied():
        client = _client(running, "none")
        said = [{"role": "user", "content": "?"}]
        asked: Any = {"model": f"corpus/{demo_graph}", "messages": said}
        for stream in (False, True):
            with pytest.raises(openai.RateLimitError) as refused:
                client.chat.completions.create(**asked, stream=stream)
            assert refused.value.code == "rate_limit_exceeded"
            assert int(refused.value.response.headers["retry-after"]) >= 1

        # With a place in the queue it waits, until its time is over.
        service.questions.most = 4
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError, match="longer than the 1 s") as late:
                client.chat.completions.create(**asked, stream=stream)
            assert (late.value.status_code, late.value.code) == (504, "timeout")


def test_an_address_with_nothing_is_no_missing_model(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="GET /docs") as caught:
        client.get("/nothing", cast_to=object)
    assert caught.value.code == "unknown_url"
    with pytest.raises(openai.NotFoundError, match="no model 'corpus/nowhere'") as caught:
        client.models.retrieve("corpus/nowhere")
    assert caught.value.code == "model_not_found"
