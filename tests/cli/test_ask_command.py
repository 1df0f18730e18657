"""`ask` with a language model on the command line: what is printed, written and kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, completion
from commands import environment, kgp, prints

from kgp_neo4j.corpus.answer.check import MARK
from kgp_neo4j.corpus.answer.traces import remove, traces
from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest

_QUESTION = "Who designed the Hesk Bridge?"
_REPLY = (
    "Answer: Yusuf Arden [1]\n"
    "Because: The Hesk Bridge was designed by Yusuf Arden [1]. It was opened in 1850 [1]."
)


def _ask(database: Database, corpus: str, *options: str) -> Any:
    arguments = ("ask", _QUESTION, "--corpus", corpus, "--agent", "tfidf", "--seeds", "1")
    return kgp(*arguments, "--budget", "8", *options, **environment(database.connection))


@pytest.fixture
def llm(chat_server: ChatServer) -> tuple[str, ...]:
    chat_server.answer = lambda body: (200, completion(_REPLY, usage=(321, 45)))
    return ("--llm", "m", "--chat-url", chat_server.url)


def test_who_answered_is_said(
    database: Database, demo_corpus: str, llm: tuple[str, ...], chat_server: ChatServer
) -> None:
    shown = _ask(database, demo_corpus, *llm)
    assert shown.returncode == 0, shown.stderr
    assert "\n  Yusuf Arden [1]\n" in shown.stdout
    assert f"It was opened in 1850. {MARK}" in shown.stdout
    assert "The evidence carries 2 of 3 statements." in shown.stdout
    assert "by m, 1 call, 321 + 45 tokens" in shown.stdout
    assert len(chat_server.bodies) == 1
    offline = _ask(database, demo_corpus, "--llm", "none")
    assert "by the offline reader, confidence" in offline.stdout
    assert len(chat_server.bodies) == 1


def test_json_has_everything(database: Database, demo_corpus: str, llm: tuple[str, ...]) -> None:
    made = json.loads(_ask(database, demo_corpus, *llm, "--json").stdout)
    assert [s["carried"] for s in made["statements"]] == [True, True, False]
    assert made["usage"]["prompt_tokens"] == 321
    assert made["settings"]["budget"] == 8
    assert made["queries"]
    assert made["notes"]
    assert made["reading"] is None


def test_a_page_a_diagram_and_a_trace(
    database: Database, demo_corpus: str, llm: tuple[str, ...], tmp_path: Path
) -> None:
    page = tmp_path / "answer.html"
    done = _ask(database, demo_corpus, *llm, "--html", str(page), "--mermaid", "--trace")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("flowchart", "graph"))
    assert f"Written: {page}" in done.stderr
    assert "Yusuf Arden" in page.read_text(encoding="utf-8")
    kept = json.loads(_ask(database, demo_corpus, "--llm", "none", "--trace", "--json").stdout)
    assert kept["trace"]
    assert any(kept["trace"] in json.dumps(query) for query in kept["queries"])
    assert remove(database, [each.id for each in traces(database, demo_corpus)]) == 2


def test_ircot_thinks_before_it_answers(
    database: Database, demo_corpus: str, llm: tuple[str, ...], chat_server: ChatServer
) -> None:
    replies = iter(["Yusuf Arden designed it.", "So the answer is: Yusuf Arden.", _REPLY])
    chat_server.answer = lambda body: (200, completion(next(replies)))
    line = ("ask", _QUESTION, "--corpus", demo_corpus, "--method", "ircot", *llm)
    shown = prints(*line, **environment(database.connection))
    assert "agent ircot" in shown
    assert "Yusuf Arden [" in shown
    assert len(chat_server.bodies) == 3


def test_wrong_use(database: Database, demo_corpus: str) -> None:
    both = _ask(database, demo_corpus, "--json", "--mermaid")
    assert both.returncode == 2
    assert "Choose one of --json and --mermaid" in both.stderr
    ircot = _ask(database, demo_corpus, "--llm", "none", "--method", "ircot")
    assert "IRCoT reasons with a language model" in ircot.stderr
