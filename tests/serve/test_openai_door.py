"""The door for OpenAI's protocol, by the client that programs use for it."""

from collections.abc import Iterator
from pathlib import Path

import openai
import pytest
from serving import Serving, serving

from kgp_neo4j.corpus.answer.follow_up import Said
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.serve.completions import past_turns
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Tokens, add_token

_ASKED = "Who designed the Hesk Bridge?"


@pytest.fixture(scope="module")
def served(
    database: Database, demo_graph: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("door")
    file = folder / "tokens.json"
    token = add_token(file, "reader", corpora=[demo_graph], graphs=[demo_graph])
    service = Service(database, folder=folder / "uploads", tokens=Tokens(file))
    with serving(service) as running:
        running.tokens = {"reader": token}
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
    assert {each.id for each in client.models.list()} == {
        f"corpus/{demo_graph}",
        f"graph/{demo_graph}",
    }


def test_an_answer_links_to_the_page_and_follow_ups_are_understood(
    client: openai.OpenAI, served: Serving, demo_graph: str
) -> None:
    first = _said(client, f"corpus/{demo_graph}", _ASKED)
    assert first.startswith("**Yusuf Arden** [1]")
    assert f"- [1] [Hesk Bridge, passage 1]({served.address}/#document=" in first
    then = _said(client, f"corpus/{demo_graph}", _ASKED, first, "Why did he become an engineer?")
    assert "Understood as: Why did Yusuf Arden become an engineer?" in then
    assert "grandmother" in then


def test_past_answers_are_read_from_their_markdown() -> None:
    source = "- [1] [The \\[old\\] mill, page 3](http://x/#d)"
    reply = f"**Ada Moor** [1] (probably, 85 %)\n\n> It was.\n{source}"
    turns = [("system", "Be brief."), ("user", "Who built it?"), ("assistant", reply)]
    assert past_turns(turns) == [Said("Who built it?", "Ada Moor", ("The [old] mill",))]


def test_a_stream_has_the_answer_in_chunks(client: openai.OpenAI, demo_graph: str) -> None:
    asked = [{"role": "user", "content": [{"type": "text", "text": _ASKED}]}]
    stream = client.chat.completions.create(
        model=f"corpus/{demo_graph}", messages=asked, stream=True, temperature=0.3, max_tokens=5
    )  # type: ignore[call-overload]
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert said == _said(client, f"corpus/{demo_graph}", _ASKED)
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_a_graph_answers_with_its_mind_map(client: openai.OpenAI, demo_graph: str) -> None:
    said = _said(client, f"graph/{demo_graph}", "I feel tired and dizzy. What can it be?")
    assert "Pale tide" in said
    assert "\nMind map:\n- " in said


@pytest.mark.parametrize(
    ("model", "messages", "more", "error", "told"),
    [
        ("corpus/nowhere", [("user", "Who?")], {}, openai.NotFoundError, "no corpus"),
        ("gpt-4o", [("user", "Who?")], {}, openai.NotFoundError, "GET /v1/models"),
        ("corpus/", [("user", "Who?")], {}, openai.NotFoundError, "no model"),
        ("{}", [("user", "Who?")], {"n": 2}, openai.BadRequestError, "Leave n out"),
        ("{}", [("user", " ")], {}, openai.BadRequestError, "not a question"),
        ("{}", [("assistant", "Yes.")], {}, openai.BadRequestError, "not a question"),
        ("{}", [], {}, openai.UnprocessableEntityError, "messages"),
    ],
)
def test_what_cannot_be_answered_is_said_in_the_protocols_form(
    client: openai.OpenAI,
    demo_graph: str,
    model: str,
    messages: list[tuple[str, str]],
    more: dict[str, int],
    error: type[openai.APIStatusError],
    told: str,
) -> None:
    sent = [{"role": role, "content": text} for role, text in messages]
    with pytest.raises(error, match=told) as caught:
        client.chat.completions.create(
            model=model.format(f"corpus/{demo_graph}"), messages=sent, **more
        )  # type: ignore[call-overload]
    assert caught.value.type == "invalid_request_error"


def test_a_picture_and_a_wrong_token_are_refused(
    client: openai.OpenAI, served: Serving, demo_graph: str, tmp_path: Path
) -> None:
    picture = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]
    with pytest.raises(openai.BadRequestError, match="text alone"):
        client.chat.completions.create(
            model=f"corpus/{demo_graph}", messages=[{"role": "user", "content": picture}]
        )  # type: ignore[call-overload]
    with pytest.raises(openai.AuthenticationError, match="token"):
        _client(served, "wrong").models.list()


def test_a_question_that_takes_too_long_ends_the_stream_with_its_problem(
    database: Database, demo_graph: str, tmp_path: Path
) -> None:
    from kgp_neo4j.types.settings import ServeSettings

    service = Service(database, folder=tmp_path, settings=ServeSettings(seconds=0.1))
    with serving(service) as running:
        client = _client(running, "none")
        asked = [{"role": "user", "content": " ".join(["Who designed the bridge?"] * 100)}]
        with pytest.raises(openai.APIError, match=r"0\.1 s"):
            list(
                client.chat.completions.create(
                    model=f"corpus/{demo_graph}", messages=asked, stream=True
                )  # type: ignore[call-overload]
            )
