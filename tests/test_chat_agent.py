"""The agent chat, against a real local server with the OpenAI protocol."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from click.testing import CliRunner
from commands import environment

from kgp_neo4j.cli import cli
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError, ModelError
from kgp_neo4j.evidence import Retriever
from kgp_neo4j.records import NextEvidence, Passage, Question, ReasoningPath, Step
from kgp_neo4j.settings import Connection
from kgp_neo4j.traverse import AgentSettings, ChatAgent, TraversalSettings

_KEY = "sk-only-for-tests"
_Reply = tuple[int, Any]


class _Server(ThreadingHTTPServer):
    """Answers by `answer`, a function of the request's body; keeps what it was sent."""

    answer: Callable[[dict[str, Any]], _Reply]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.answer = lambda body: (200, _completion("Ada Moor was born in Sund."))


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        self.server.keys.append(self.headers["Authorization"])
        status, answer = self.server.answer(body)
        if self.path != "/v1/chat/completions":
            status, answer = 404, {"error": {"message": "no such path"}}
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        kind = "text/html" if isinstance(answer, bytes) else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Retry-After-Ms", "1")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return None


def _completion(text: str | None, finish: str = "stop", **message: object) -> dict[str, Any]:
    said = {"role": "assistant", "content": text} | message
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
    }


def _error(text: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": text, "type": "error", "param": param, "code": None}}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Server]:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    made = _Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def _agent(server: _Server, **settings: Any) -> ChatAgent:
    return ChatAgent(AgentSettings(**({"model": "m", "url": server.url} | settings)), None)


def _next(agent: ChatAgent, *ids: str) -> list[str]:
    """Return what an agent expects on paths of one passage each."""
    paths = [ReasoningPath((Step(passage, "seed", 1.0),)) for passage in ids]
    passages = {i: Passage(i, "d", f"Title {i}", 0, 0, 1, f"Text {i}.") for i in ids}
    return [evidence.text for evidence in agent.next_evidence("Who?", paths, passages)]


def test_each_path_is_asked_for_with_its_evidence(
    server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{_KEY}\n")
    server.answer = lambda body: (200, _completion(f"after {body['messages'][1]['content'][-2:]}"))
    agent = _agent(server, temperature=0.5, seed=3)
    ids = [str(n) for n in range(9)]
    assert _next(agent, *ids) == [f"after {n}." for n in ids]
    assert set(server.keys) == {f"Bearer {_KEY}"}
    assert len(server.bodies) == 9
    body = next(b for b in server.bodies if "Text 4." in b["messages"][1]["content"])
    assert (body["model"], body["temperature"], body["seed"]) == ("m", 0.5, 3)
    assert body["messages"][0]["role"] == "system"
    assert body["messages"][1]["content"] == "Question: Who?\nEvidence:\n1. Title 4: Text 4."


def test_the_server_of_the_environment_needs_no_key(
    server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    agent = ChatAgent(AgentSettings(model="m"), None)
    assert _next(agent, "a") == ["Ada Moor was born in Sund."]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: _Server, status: int) -> None:
    replies = iter([(status, _error("busy")), (status, _error("busy"))])
    server.answer = lambda body: next(replies, (200, _completion("Here.")))
    assert _next(_agent(server), "a") == ["Here."]
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ((401, _error(f"wrong key {_KEY}")), r"refused the key \(401\).*OPENAI_API_KEY"),
        ((403, _error("no")), r"refused the key \(403\)"),
        ((404, _error("no such model")), r"has no model 'm'.*\(404\)"),
        ((429, _error("quota")), r"no room for more requests \(429\)"),
        ((500, _error("boom")), r"failed \(500\)"),
        ((400, _error(f"too long, {_KEY}")), r"\(400: .*too long, \*\*\*"),
        ((200, b"<html>a proxy</html>"), "OpenAI protocol"),
        ((200, {"choices": []}), "OpenAI protocol"),
        ((200, {"detail": "hello"}), "OpenAI protocol"),
        ((200, b"{"), "OpenAI protocol"),
    ],
)
def test_a_server_that_cannot_be_used_is_said(
    server: _Server, monkeypatch: pytest.MonkeyPatch, reply: _Reply, said: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", _KEY)
    server.answer = lambda body: reply
    with pytest.raises(ModelError, match=said) as caught:
        _next(_agent(server), "a")
    assert server.url in str(caught.value)
    assert _KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_server_that_is_not_there_is_said(server: _Server) -> None:
    agent = _agent(server, url="http://127.0.0.1:1/v1")
    agent._model._client = agent._client.with_options(max_retries=0)
    with pytest.raises(ModelError, match="cannot be reached"):
        _next(agent, "a")


def test_a_server_that_does_not_reply_in_time_is_said(server: _Server) -> None:
    waiting = threading.Event()

    def late(body: dict[str, Any]) -> _Reply:
        waiting.wait(5)
        return 200, _completion("late")

    server.answer = late
    agent = _agent(server)
    agent._model._client = agent._client.with_options(max_retries=0, timeout=0.05)
    with pytest.raises(ModelError, match="gave no reply within"):
        _next(agent, "a")
    waiting.set()


@pytest.mark.parametrize(
    "reply",
    [
        _completion(""),
        _completion(None),
        _completion(None, refusal="I will not."),
        _completion("half of", "content_filter"),
        _completion("<think>I wonder", "length"),
    ],
)
def test_a_single_reply_without_evidence_leaves_the_question(
    server: _Server, reply: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    def answer(body: dict[str, Any]) -> _Reply:
        lost = "Text b." in body["messages"][1]["content"]
        return 200, reply if lost else _completion("Here.")

    server.answer = answer
    with caplog.at_level(logging.WARNING, logger="kgp_neo4j"):
        assert _next(_agent(server), "a", "b") == ["Here.", "Who?"]
    assert "gave no evidence for 1 of 2 paths" in caplog.text


def test_a_reply_that_was_cut_off_or_reasons_aloud_is_text(server: _Server) -> None:
    server.answer = lambda body: (200, _completion("<think>Hm.</think> Ada Moor\nwas", "length"))
    assert _next(_agent(server), "a") == ["Ada Moor was"]


def test_settings_that_the_model_does_not_take_are_left_out(server: _Server) -> None:
    def picky(body: dict[str, Any]) -> _Reply:
        for name in ("temperature", "seed", "max_tokens"):
            if name in body:
                return 400, _error(f"{name} is not supported", name)
        return 200, _completion("Here.")

    server.answer = picky
    agent = _agent(server)
    assert _next(agent, "a") == ["Here."]
    assert set(server.bodies[-1]) == {"model", "messages", "max_completion_tokens"}
    asked = len(server.bodies)
    assert _next(agent, "b") == ["Here."]
    assert len(server.bodies) == asked + 1  # it remembers


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("127.0.0.1:8000/v1", "no http address"),
        ("file:///etc/passwd", "no http address"),
        ("http://[", "no http address"),
        ("http://me:secret@127.0.0.1/v1", "a user, a password or a query"),
        ("http://127.0.0.1/v1?key=secret", "a user, a password or a query"),
    ],
)
def test_an_address_that_cannot_be_used(server: _Server, url: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        _agent(server, url=url)
    assert "secret" not in str(caught.value)


def test_keys_are_checked_before_they_are_sent(
    server: _Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="OpenAI's needs a key"):
        ChatAgent(AgentSettings(model="m"), None)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-\nX-Other: 1")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as caught:
        _agent(server)
    assert "sk-" not in str(caught.value)


def test_what_a_server_says_steers_the_traversal(
    server: _Server, database: Database, demo_corpus: str
) -> None:
    """The same question and seed, and two replies: each leads to the passage that it speaks of."""
    said = {
        "Yusuf Arden": "He became an engineer to visit his grandmother in April.",
        "Sula Grey": "The ferry Sula Grey carried cars, sheep and schoolchildren.",
    }
    for title, text in said.items():
        server.answer = lambda body, text=text: (200, _completion(text))  # type: ignore[misc]
        retriever = Retriever(
            database,
            demo_corpus,
            agent="chat",
            settings=TraversalSettings(budget=2, seeds=1, branching=1, hops=1),
            agent_settings=AgentSettings(model="m", url=server.url),
        )
        question = "Why did the designer of the Hesk Bridge become an engineer?"
        found = retriever.retrieve(Question("", question))
        assert {p.title for p in found.passages} == {"Hesk Bridge", title}
        asked = server.bodies[-1]["messages"][1]["content"]
        assert question in asked
        assert "designed by Yusuf Arden" in asked


def test_ask_over_the_command_line(
    server: _Server, demo_corpus: str, connection: Connection
) -> None:
    line = ["ask", "Who designed the Hesk Bridge?", "--corpus", demo_corpus, "--json"]
    chat = ["--agent", "chat", "--model", "m", "--chat-url", server.url]
    variables = environment(connection) | {"OPENAI_API_KEY": _KEY}
    done = CliRunner().invoke(cli, [*line, *chat], env=variables)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["agent"] == "chat"
    assert _KEY not in done.output
    assert server.bodies


def test_begin_is_the_question(server: _Server) -> None:
    assert _agent(server).begin("Who?") == NextEvidence(text="Who?")
    assert server.bodies == []
