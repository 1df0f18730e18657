"""A conversation: follow-up questions, commands, pipes and JSON lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from chat_server import ChatServer, completion
from click.testing import CliRunner, Result
from commands import environment
from scripted_model import Scripted

from kgp_neo4j.answer.conversation import Conversation, sources
from kgp_neo4j.answer.follow_up import Said, by_model, by_rules
from kgp_neo4j.cli import cli
from kgp_neo4j.database import Database
from kgp_neo4j.demo import SETTINGS
from kgp_neo4j.errors import ConfigurationError, ModelError
from kgp_neo4j.evidence import Retriever
from kgp_neo4j.language import Reply

_WHO = Said("Who designed the Hesk Bridge?", "Yusuf Arden", ("Hesk Bridge", "Yusuf Arden"))
_WHERE = Said(
    "Where was the designer of the Hesk Bridge born?", "Kettlehaven", ("Yusuf Arden", "Kettlehaven")
)
_WHEN = Said("When was the lighthouse lit?", "1871", ("Ardfin Lighthouse",))


# --- Follow-up questions --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "said", "meant"),
    [
        (_WHO, "Where was he born?", "Where was Yusuf Arden born?"),
        (_WHO, "What is his trade?", "What is Yusuf Arden's trade?"),
        (_WHO, "Who was her father?", "Who was Yusuf Arden's father?"),
        (_WHO, "When was it built?", "When was Hesk Bridge built?"),
        (_WHO, "And the Ardfin Lighthouse?", "Who designed the Ardfin Lighthouse?"),
        (_WHO, "What about the Halse Breakwater?", "Who designed the Halse Breakwater?"),
        (_WHO, "Why?", "Why: Who designed the Hesk Bridge (Yusuf Arden)?"),
        (_WHERE, "What else happened there?", "What else happened in Kettlehaven?"),
        (_WHERE, "Why did he become an engineer?", "Why did Yusuf Arden become an engineer?"),
        (_WHEN, "Who designed it?", "Who designed Ardfin Lighthouse?"),
        (_WHEN, "And the Hesk Bridge?", "When was Hesk Bridge lit?"),
        # Nothing points back.
        (_WHO, "Who is Isobel Tarn?", "Who is Isobel Tarn?"),
        (_WHO, "Is there a ferry?", "Is there a ferry?"),
        (_WHO, "What did that bridge replace?", "What did that bridge replace?"),
    ],
)
def test_rules(last: Said, said: str, meant: str) -> None:
    assert by_rules(said, [last]) == meant


def test_rules_look_further_back() -> None:
    nameless = Said("How many are there?", "7")
    assert by_rules("Where was he born?", [_WHO, nameless]) == "Where was Yusuf Arden born?"
    assert by_rules("Where was he born?", []) == "Where was he born?"


def test_a_model_rewrites() -> None:
    model = Scripted(["Question: Where was Yusuf Arden born?\nBecause he did."])
    assert by_model("Where was he born?", [_WHO], model) == "Where was Yusuf Arden born?"
    assert "Answer: Yusuf Arden" in model.prompts[0]
    # The first question has nothing to be resolved from.
    assert by_model("Where was he born?", [], Scripted([])) == "Where was he born?"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Where was Napoleon Bonaparte born?",
        "Where was he in 1850?",
        "word " * 200,
        Reply("Where was Yu", "length"),
        Reply("", "refused"),
    ],
)
def test_a_reply_of_no_use_leaves_it_to_the_rules(reply: str | Reply) -> None:
    made = by_model("Where was he born?", [_WHO], Scripted([reply]))
    assert made == "Where was Yusuf Arden born?"


# --- A conversation -------------------------------------------------------------------------------


def test_turns_share_one_retriever(database: Database, demo_corpus: str) -> None:
    made: list[Retriever] = []

    def make() -> Retriever:
        made.append(Retriever(database, demo_corpus, agent="tfidf", settings=SETTINGS))
        return made[0]

    talk = Conversation(database, demo_corpus, make)
    first = talk.ask("Who designed the Hesk Bridge?")
    assert first.question == first.said
    assert sources(first.answer)
    second = talk.ask("And the Ardfin Lighthouse?")
    assert second.question == "Who designed the Ardfin Lighthouse?"
    assert talk.turns == [first, second]
    assert len(made) == 1
    with pytest.raises(ConfigurationError, match="empty"):
        talk.ask(" ")
    assert len(talk.turns) == 2


def test_a_model_resolves_and_answers(database: Database, demo_corpus: str) -> None:
    model = Scripted(
        [
            "Answer: Yusuf Arden\nBecause: The Hesk Bridge was designed by Yusuf Arden.",
            "Why did Yusuf Arden become an engineer?",
            "not in the evidence",
            ModelError("out of reach"),
        ]
    )
    talk = Conversation(
        database,
        demo_corpus,
        lambda: Retriever(database, demo_corpus, agent="tfidf", settings=SETTINGS),
        model=model,
    )
    first = talk.ask("Who designed the Hesk Bridge?")
    assert first.answer.text.startswith("Yusuf Arden [")
    second = talk.ask("Why did he become an engineer?")
    assert second.question == "Why did Yusuf Arden become an engineer?"
    assert first.answer.usage is not None
    assert second.answer.usage is not None
    assert (first.answer.usage.calls, second.answer.usage.calls) == (1, 2)
    with pytest.raises(ModelError):
        talk.ask("And the Ardfin Lighthouse?")
    assert talk.turns == [first, second]


# --- The command ----------------------------------------------------------------------------------


def _chat(database: Database, corpus: str, said: str, *options: str) -> Result:
    arguments = ["chat", "--corpus", corpus, "--agent", "tfidf", "--seeds", "1", "--budget", "8"]
    return CliRunner().invoke(
        cli, [*arguments, *options], input=said, env=environment(database.connection)
    )


def test_questions_are_piped_in(database: Database, demo_corpus: str) -> None:
    said = (
        "/sources\nWho designed the Hesk Bridge?\n\nAnd the Ardfin Lighthouse?\n/sources\n/path\n"
        "/help\n/nonsense\n/quit\nNever asked?\n"
    )
    done = _chat(database, demo_corpus, said)
    assert done.exit_code == 0, done.output
    assert "Nothing was asked yet." in done.stderr
    assert "Understood as: Who designed the Ardfin Lighthouse?" in done.stdout
    assert "There is no /nonsense." in done.stderr
    assert "characters 0-" in done.stdout
    assert "found by" in done.stdout
    assert "by the offline reader, confidence" in done.stdout
    assert "Never asked" not in done.output


def test_json_prints_a_line_for_each_turn(database: Database, demo_corpus: str) -> None:
    said = "Who designed the Hesk Bridge?\nWhat about the Ardfin Lighthouse?\n"
    done = _chat(database, demo_corpus, said, "--json")
    assert done.exit_code == 0, done.output
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["question"] == first["said"] == "Who designed the Hesk Bridge?"
    assert second["said"] == "What about the Ardfin Lighthouse?"
    assert second["question"] == "Who designed the Ardfin Lighthouse?"
    assert second["answer"]["passages"]


def test_a_turn_that_fails_is_told_and_the_next_is_asked(
    database: Database, demo_corpus: str, chat_server: ChatServer
) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if len(chat_server.bodies) == 1:
            return 401, {"error": {"message": "wrong key"}}
        return 200, completion("Answer: Yusuf Arden")

    chat_server.answer = answer
    said = "Who designed the Hesk Bridge?\nWho designed the Hesk Bridge?\n"
    options = ("--llm", "m", "--chat-url", chat_server.url)
    done = _chat(database, demo_corpus, said, *options, "--json")
    assert done.exit_code == 1
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert "refused the key" in first["error"]
    assert second["answer"]["statements"][0]["text"] == "Yusuf Arden"
    assert second["answer"]["usage"]["model"] == "m"
    chat_server.bodies.clear()
    told = _chat(database, demo_corpus, said, *options)
    assert told.exit_code == 1
    assert "Error:" in told.stderr
    assert "Yusuf Arden [" in told.stdout


def test_a_corpus_that_is_not_there_is_said_at_once(database: Database) -> None:
    done = _chat(database, "nowhere at all", "Who?\n")
    assert done.exit_code == 1
    assert "no corpus named" in str(done.exception)
