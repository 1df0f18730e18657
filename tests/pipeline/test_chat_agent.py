"""The agent chat, against a real local server with the OpenAI protocol."""

import json
import logging
from typing import Any

import pytest
from chat_server import ChatServer, Reply, completion
from commands import environment, kgp

from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.corpus.traverse.agents.generating import ChatAgent
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import Passage, Question, ReasoningPath, Step
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.settings import AgentSettings, TraversalSettings

_KEY = "sk-only-for-tests"


def _agent(chat_server: ChatServer, **settings: Any) -> ChatAgent:
    return ChatAgent(AgentSettings(**({"model": "m", "url": chat_server.url} | settings)), None)


def _next(agent: ChatAgent, *ids: str) -> list[str]:
    """Return what an agent expects on paths of one passage each."""
    paths = [ReasoningPath((Step(passage, "seed", 1.0),)) for passage in ids]
    passages = {i: Passage(i, "d", f"Title {i}", 0, 0, 1, f"Text {i}.") for i in ids}
    return [evidence.text for evidence in agent.next_evidence("Who?", paths, passages)]


def test_each_path_is_asked_for_with_its_evidence(
    chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{_KEY}\n")
    chat_server.answer = lambda body: (
        200,
        completion(f"after {body['messages'][1]['content'][-2:]}"),
    )
    agent = _agent(chat_server, temperature=0.5, seed=3)
    ids = [str(n) for n in range(9)]
    assert _next(agent, *ids) == [f"after {n}." for n in ids]
    assert set(chat_server.keys) == {f"Bearer {_KEY}"}
    assert len(chat_server.bodies) == 9
    body = next(b for b in chat_server.bodies if "Text 4." in b["messages"][1]["content"])
    assert (body["model"], body["temperature"], body["seed"]) == ("m", 0.5, 3)
    assert body["messages"][0]["role"] == "system"
    assert body["messages"][1]["content"] == "Question: Who?\nEvidence:\n1. Title 4: Text 4."


def test_the_server_of_the_environment_needs_no_key(
    chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    agent = ChatAgent(AgentSettings(model="m"), None)
    assert _next(agent, "a") == ["Ada Moor was born in Sund."]


@pytest.mark.parametrize(
    "reply", [completion(None, refusal="I will not."), completion("<think>I wonder", "length")]
)
def test_a_single_reply_without_evidence_leaves_the_question(
    chat_server: ChatServer, reply: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        lost = "Text b." in body["messages"][1]["content"]
        return 200, reply if lost else completion("Here.")

    chat_server.answer = answer
    with caplog.at_level(logging.WARNING, logger="kgp_neo4j"):
        assert _next(_agent(chat_server), "a", "b") == ["Here.", "Who?"]
    assert "gave no evidence for 1 of 2 paths" in caplog.text


def test_what_a_server_says_steers_the_traversal(
    chat_server: ChatServer, database: Database, demo_corpus: str
) -> None:
    """The same question and seed, and two replies: each leads to the passage that it speaks of."""
    said = {
        "Yusuf Arden": "He became an engineer to visit his grandmother in April.",
        "Sula Grey": "The ferry Sula Grey carried cars, sheep and schoolchildren.",
    }
    for title, text in said.items():
        chat_server.answer = lambda body, text=text: (200, completion(text))  # type: ignore[misc]
        retriever = PassageRetriever(
            database,
            demo_corpus,
            agent="chat",
            settings=TraversalSettings(budget=2, seeds=1, branching=1, hops=1),
            agent_settings=AgentSettings(model="m", url=chat_server.url),
        )
        question = "Why did the designer of the Hesk Bridge become an engineer?"
        found = retriever.retrieve(Question("", question))
        assert {p.title for p in found.passages} == {"Hesk Bridge", title}
        asked = chat_server.bodies[-1]["messages"][1]["content"]
        assert question in asked
        assert "designed by Yusuf Arden" in asked


def test_command_line(chat_server: ChatServer, demo_corpus: str, connection: Connection) -> None:
    line = ("ask", "Who designed the Hesk Bridge?", "--corpus", demo_corpus, "--json")
    chat = ("--agent", "chat", "--model", "m", "--chat-url", chat_server.url)
    done = kgp(*line, *chat, **environment(connection), OPENAI_API_KEY=_KEY)
    assert json.loads(done.stdout)["agent"] == "chat", done.stderr
    assert _KEY not in done.stdout + done.stderr
    assert chat_server.bodies


def test_keys_are_checked_before_they_are_sent(
    chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match="OpenAI's needs a key"):
        ChatAgent(AgentSettings(model="m"), None)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-\nX-Other: 1")
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as caught:
        _agent(chat_server)
    assert "sk-" not in str(caught.value)
