"""`ask` with a language model on the command line: what is printed, written and kept."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, completion
from commands import begin, environment, kgp, prints, refuses
from graphs import rows

from kgp_neo4j.corpus.answer.check import MARK
from kgp_neo4j.corpus.answer.traces import remove, traces
from kgp_neo4j.graphdb.database import Database

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
    assert made["reading"]["text"] == "Yusuf Arden"


def test_a_page_a_diagram_and_a_trace(
    database: Database, demo_corpus: str, llm: tuple[str, ...], tmp_path: Path
) -> None:
    page = tmp_path / "answer.html"
    before = {each.id for each in traces(database, demo_corpus)}
    done = _ask(database, demo_corpus, *llm, "--html", str(page), "--mermaid", "--trace")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("flowchart", "graph"))
    assert f"Written: {page}" in done.stderr
    assert "Yusuf Arden" in page.read_text(encoding="utf-8")
    kept = json.loads(_ask(database, demo_corpus, "--llm", "none", "--trace", "--json").stdout)
    assert any(kept["trace"] in json.dumps(query) for query in kept["queries"])
    made = {each.id for each in traces(database, demo_corpus)} - before
    assert remove(database, made) == 2


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
    without = _ask(database, demo_corpus, "--llm", "none", "--method", "ircot")
    assert "IRCoT reasons with a language model" in without.stderr


def test_the_question_comes_from_standard_input(database: Database, demo_corpus: str) -> None:
    line = ("ask", "-", "--corpus", demo_corpus, "--json")
    server = environment(database.connection)
    asked = "Who designed\nthe Hesk Bridge?"
    assert json.loads(prints(*line, typed=f"{asked}\n", **server))["question"] == asked
    assert "�" in json.loads(prints(*line, typed=b"caf\xe9?", **server))["question"]
    assert refuses(*line, typed=" \n", **server).startswith("Error: standard input: there is no")


# --- Files without a corpus -----------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "a.md").write_text("# Blue Bridge\n\nIt was built by Ada Stone in 1901.\n")
    (tmp_path / "notes" / "b.md").write_text("# Ada Stone\n\nShe was born in a mill.\n")
    return tmp_path


def _temporary(database: Database, files: Path) -> list[str]:
    """Return the temporary corpora of these files; tests beside this one make others."""
    found = rows(
        database,
        "MATCH (d:Document) WHERE d.corpus STARTS WITH 'temporary ' "
        "AND d.source STARTS WITH $folder RETURN DISTINCT d.corpus AS name",
        folder=str(files),
    )
    return [row["name"] for row in found]


@pytest.mark.slow
def test_files_are_asked_and_no_corpus_stays(database: Database, files: Path) -> None:
    variables = environment(database.connection) | {"KGP_NEO4J_HISTORY": "true"}
    variables |= {"KGP_NEO4J_HOME": str(files / "home"), "KGP_NEO4J_CORPUS": "other"}
    line = ("ask", "a.md", "notes", "-q", "Who built the Blue Bridge?", "--html", "a.html")
    made = json.loads(prints(*line, "--json", cwd=files, **variables))
    assert (made["text"], made["corpus"]) == ("Ada Stone", "a.md, notes")
    assert {passage["title"] for passage in made["passages"]} == {"Blue Bridge", "Ada Stone"}
    assert (made["browser"], made["queries"], made["trace"]) == (None, [], None)
    assert "Ada Stone" in (files / "a.html").read_text(encoding="utf-8")
    partly = kgp("ask", "a.md", "gone.md", "-q", "Who built it?", cwd=files, **variables)
    assert partly.returncode == 1
    assert "not loaded  1\n  gone.md: there is no such file" in partly.stderr
    assert "Note: Not loaded: gone.md" in partly.stdout
    assert "no such file" in refuses("ask", "gone.md", "-q", "Who?", cwd=files, **variables)
    left = [path.name for path in (files / "home").rglob("*") if path.is_file()]
    assert (_temporary(database, files), left) == ([], [".lock"])


@pytest.mark.slow
def test_ctrl_c_removes_the_corpus_and_the_next_run_what_a_killed_one_left(
    database: Database, files: Path
) -> None:
    with (files / "many.jsonl").open("w") as many:
        many.writelines(f'{{"title": "T{n}", "text": "Word{n} is here."}}\n' for n in range(20_000))
    variables = environment(database.connection) | {"KGP_NEO4J_HOME": str(files / "home")}
    line = ("ask", str(files / "many.jsonl"), "-q", "Who?")
    for signal_, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        with begin(*line, **variables) as run:
            while not _temporary(database, files):
                assert run.poll() is None
                time.sleep(0.1)
            if signal_ == signal.SIGKILL:  # another run leaves alone what this one uses
                assert prints("ask", "a.md", "-q", "Who?", cwd=files, **variables)
                assert len(_temporary(database, files)) == 1
            run.send_signal(signal_)
            got = run.wait(120)
            assert got == code, run.stderr.read()[-3000:]
        assert len(_temporary(database, files)) == (signal_ == signal.SIGKILL)
    assert prints("ask", "a.md", "-q", "Who?", cwd=files, **variables)
    assert _temporary(database, files) == []
