"""`ask` and `chat`: what is printed and kept, files without a corpus, follow-ups, pipes."""

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Pause, completion, stream
from commands import begin, environment, kgp, prints, refuses
from graphs import rows
from scripted_model import Scripted
from terminal import Terminal

from kgp_neo4j.corpus.answer.check import MARK
from kgp_neo4j.corpus.answer.conversation import Conversation, Said, by_rules, understood
from kgp_neo4j.corpus.answer.traces import explain, remove
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.demo import SETTINGS
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import Reply
from kgp_neo4j.types.errors import ConfigurationError, ModelError

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


def test_the_question_comes_from_standard_input(database: Database, demo_corpus: str) -> None:
    line = ("ask", "-", "--corpus", demo_corpus, "--json")
    server = environment(database.connection)
    asked = "Who designed\nthe Hesk Bridge?"
    assert json.loads(prints(*line, typed=f"{asked}\n", **server))["question"] == asked
    assert "�" in json.loads(prints(*line, typed=b"caf\xe9?", **server))["question"]
    assert refuses(*line, typed=" \n", **server).startswith("Error: standard input: there is no")


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
def test_ctrl_c_or_the_next_run_removes_the_corpus(database: Database, files: Path) -> None:
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


_WHO = Said("Who designed the Hesk Bridge?", "Yusuf Arden", ("Hesk Bridge", "Yusuf Arden"))
_WHERE = Said(
    "Where was the designer of the Hesk Bridge born?", "Kettlehaven", ("Yusuf Arden", "Kettlehaven")
)
_WHEN = Said("When was the lighthouse lit?", "1871", ("Ardfin Lighthouse",))

_SHIPS = Said("How many ships called at Kettlehaven in 1893?", "412", ("Harbour book",))
_WHY = Said("Why did Yusuf Arden become an engineer?", "To visit his mother.", ("Yusuf Arden",))


@pytest.mark.parametrize(
    ("last", "said", "meant"),
    [
        (_WHO, "Where was he born?", "Where was Yusuf Arden born?"),
        (_WHO, "What is his trade?", "What is Yusuf Arden's trade?"),
        (_WHO, "What about him?", "What about Yusuf Arden?"),
        (_WHO, "When was it built?", "When was Hesk Bridge built?"),
        (_WHERE, "What else happened there?", "What else happened in Kettlehaven?"),
        (_WHERE, "Why did he become an engineer?", "Why did Yusuf Arden become an engineer?"),
        (_WHEN, "Who designed it?", "Who designed Ardfin Lighthouse?"),
        # One name is not both "he" and "it".
        (_WHY, "When did he do it?", "When did Yusuf Arden do it?"),
        # The same of something else, of another time or place.
        (_WHO, "And the Ardfin Lighthouse?", "Who designed the Ardfin Lighthouse?"),
        (_WHEN, "And the Hesk Bridge?", "When was the Hesk Bridge lit?"),
        (_WHERE, "What about Isobel Tarn?", "Where was the designer of Isobel Tarn born?"),
        (_SHIPS, "And in 1894?", "How many ships called at Kettlehaven in 1894?"),
        (_SHIPS, "and at Hesk?", "How many ships called at Hesk in 1893?"),
        (_WHO, "In 1994?", "Who designed the Hesk Bridge in 1994?"),
        # Another part of the same.
        (_WHO, "Why?", "Why was it that Yusuf Arden designed the Hesk Bridge?"),
        (_WHO, "In which year?", "In which year was it that Yusuf Arden designed the Hesk Bridge?"),
        (_WHEN, "By whom?", "By whom was the lighthouse lit?"),
        (_WHERE, "and when?", "When was the designer of the Hesk Bridge born (Kettlehaven)?"),
        (_SHIPS, "For whom?", "For whom: How many ships called at Kettlehaven in 1893?"),
        (_WHO, "Who else?", "Who else: Who designed the Hesk Bridge (Yusuf Arden)?"),
    ],
)
def test_rules(last: Said, said: str, meant: str) -> None:
    assert by_rules(said, [last]) == meant


@pytest.mark.parametrize(
    "said",
    [
        "Who is Isobel Tarn?",
        "What did that bridge replace?",
        # What its own pronouns mean stands in the question.
        "Did Isobel Tarn finish her work?",
        "Who designed the Ardfin Lighthouse and where was he born?",
        "Who wrote It?",
        "What did the IT department do?",
        'Who sings "Where is he now"?',
        "And tell me more",
        "And the ferry was built when?",
        "And before that?",
        "In which year was the ferry built?",
        "But  no",
        # Other languages: "he" is "I have" in Spanish.
        "Wo wurde er geboren?",
        "¿Qué he leído de la isla?",
        "Und die Fähre?",
        # Too long to be a follow-up.
        "Where was he " + "and " * 200,
        "and" + " " * 100_000 + "x" * 500,
    ],
)
def test_what_stands_alone_stays_as_it_is(said: str) -> None:
    assert by_rules(said, [_WHO]) == said


def test_rules_look_further_back() -> None:
    nameless = Said("How many are there?", "7")
    assert by_rules("Where was he born?", [_WHO, nameless]) == "Where was Yusuf Arden born?"
    assert by_rules("Where was he born?", []) == "Where was he born?"


def test_a_model_rewrites() -> None:
    model = Scripted(["Question: Where was Yusuf Arden born?\nBecause he did."])
    assert understood("Where was he born?", [_WHO], model) == "Where was Yusuf Arden born?"
    assert "Answer: Yusuf Arden" in model.prompts[0]
    # The first question has nothing to be resolved from.
    assert understood("Where was he born?", [], Scripted([])) == "Where was he born?"


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
    made = understood("Where was he born?", [_WHO], Scripted([reply]))
    assert made == "Where was Yusuf Arden born?"


_FIRST = "Answer: Yusuf Arden\nBecause: The Hesk Bridge was designed by Yusuf Arden [1]."


def _talk(database: Database, corpus: str, *replies: str | Exception) -> Conversation:
    """Begin a conversation in which a model replies so."""
    given = {"settings": SETTINGS, "model": Scripted(replies)}
    return Conversation(make_pipeline(database, corpus, agent="tfidf", **given))


def test_a_model_resolves_and_answers(database: Database, demo_corpus: str) -> None:
    meant, lost = "Why did Yusuf Arden become an engineer?", ModelError("out of reach")
    talk = _talk(database, demo_corpus, _FIRST, meant, "not in the evidence", lost)
    with pytest.raises(ConfigurationError, match="empty"):
        talk.ask(" ")
    first = talk.ask("Who designed the Hesk Bridge?")
    assert first.answer.text.startswith("Yusuf Arden [")
    second = talk.ask("Why did he become an engineer?")
    assert second.question == meant
    assert (first.answer.usage.calls, second.answer.usage.calls) == (1, 2)
    with pytest.raises(ModelError):
        talk.ask("And the Ardfin Lighthouse?")
    assert talk.turns == [first, second]


def test_citations_are_numbered_by_the_conversation(database: Database, demo_corpus: str) -> None:
    said = "Answer: Kettlehaven\nBecause: So sank it [8]. Isobel Tarn was born in Kettlehaven [1]."
    talk = _talk(database, demo_corpus, _FIRST, "Where was Isobel Tarn born?", said)
    first, second = talk.ask("Who designed the Hesk Bridge?"), talk.ask("Where was Isobel born?")
    assert [source.title for source in second.sources] == ["Isobel Tarn"]
    assert second.answer.text.endswith("[1]")  # as `ask` counts: the first of its passages
    assert talk.shown(first).text.endswith("[1]")
    assert talk.shown(second).text.endswith("[2]")
    assert talk.shown(second).passages == tuple(talk.sources)
    assert second.sources[0].number == 2
    assert "[8] does not carry it" in "".join(second.answer.notes)
    eighth = second.answer.passages[7].cited
    assert f"“{eighth}” does not carry it" in "".join(talk.shown(second).notes)


def _chat(database: Database, corpus: str, said: str | bytes, *options: str) -> Any:
    arguments = ("chat", "--corpus", corpus, "--agent", "tfidf", "--seeds", "1", "--budget", "8")
    return kgp(*arguments, *options, typed=said, **environment(database.connection))


def test_questions_and_commands_are_piped_in(database: Database, demo_corpus: str) -> None:
    said = (
        "/sources\n/sources 1\nWho designed the Hesk Bridge?\n\nAnd the Ardfin Lighthouse?\n"
        "/sources\n/sources 1\n/sources [2]\n/sources 9\n/sources ²\n/nonsense\n/\x1b[31mred\n"
        "Who designed the Hesk Bridge?\n/quit\nNever asked?\n"
    )
    done = _chat(database, demo_corpus, said, "--trace")
    assert done.returncode == 0, done.stderr
    assert "No answer rests on a passage yet." in done.stderr
    assert "There is no source 1; they go to 0." in done.stderr
    assert "Understood as: Who designed the Ardfin Lighthouse?" in done.stdout
    assert "by the offline reader, confidence" in done.stdout
    # A passage keeps its number: under its answers, and asked for.
    assert len(re.findall(r"^  \[1\] Hesk Bridge", done.stdout, re.MULTILINE)) == 2
    assert re.search(r"^\[1\] Hesk Bridge  \S+, passage 1, characters 0–", done.stdout, re.M)
    assert len(re.findall(r"^\[2\] .+, characters \d", done.stdout, re.MULTILINE)) == 2
    assert "There is no source 9; they go to 2." in done.stderr
    assert "There is no source ²;" in done.stderr
    assert "There is no /nonsense." in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert "Never asked" not in done.stdout + done.stderr
    kept = re.findall(r"Kept: kgp-neo4j explain (\w+)", done.stdout)
    first, second, third = (explain(database, trace).answer.question for trace in kept)
    assert first == third == "Who designed the Hesk Bridge?"
    assert second == "Who designed the Ardfin Lighthouse?"
    assert remove(database, kept) == 3


def test_any_bytes_may_come_from_a_pipe(database: Database, demo_corpus: str) -> None:
    said = b"caf\xe9?\n\x00\x1b[2J\n" + b"x " * 20_000
    said += b"\nWho designed the Hesk Bridge?\nWhat about the Ardfin Lighthouse?"
    done = _chat(database, demo_corpus, said, "--json")
    assert done.returncode == 1, done.stderr  # one of them is too long, and the others are answered
    odd, control, long, first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert "characters" in long["error"]
    assert not any("error" in turn for turn in (odd, control, first, second))
    assert odd["said"] == "caf\ufffd?"
    assert first["question"] == first["said"] == "Who designed the Hesk Bridge?"
    assert first["sources"][0].keys() == {"number", "id", "title", "section", "name"}
    assert second["said"] == "What about the Ardfin Lighthouse?"
    assert second["question"] == "Who designed the Ardfin Lighthouse?"
    assert second["answer"]["passages"]


@pytest.mark.slow
def test_in_a_terminal(connection: Connection, demo_corpus: str, chat_server: ChatServer) -> None:
    """The line before, Ctrl-C in the middle of an answer and at the prompt, and the end."""

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if len(chat_server.bodies) == 1:
            return 200, stream("Answer: Yusuf ", "Arden [1] ", Pause(60))
        return 200, stream("Answer: Yusuf Arden [1]\n", "Because: He designed the bridge [1].")

    chat_server.answer = answer
    arguments = ["chat", "--corpus", demo_corpus, "--agent", "tfidf", "--seeds", "1"]
    arguments += ["--llm", "m", "--chat-url", chat_server.url]
    with Terminal(arguments, environment(connection)) as person:
        person.until("\n> $")
        person.type("Who designed the Hesk Bridge?\n")
        assert "not checked yet" in person.until("Answer: ")
        began = time.monotonic()
        person.type("\x03")
        assert "Stopped." in person.until("\n> $")
        assert time.monotonic() - began < 30
        person.type("\x10\n")  # Ctrl-P: the line before
        shown = person.until("1 call, .*\n> $")
        assert shown.startswith("Who designed the Hesk Bridge?\n")
        assert "Yusuf Arden [1]" in shown
        person.type("/nonsense\n")
        person.until("anything else is a question.*\n> $")
        # A line break behind it: what comes just before the prompt waits is seen with the next key.
        person.type("\x03\n")
        assert person.ended() == 0


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
    assert done.returncode == 1
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert "refused the key" in first["error"]
    assert second["answer"]["statements"][0]["text"] == "Yusuf Arden"
    assert second["answer"]["usage"]["model"] == "m"
    chat_server.bodies.clear()
    told = _chat(database, demo_corpus, said, *options)
    assert told.returncode == 1
    assert "Error:" in told.stderr
    assert "Yusuf Arden [" in told.stdout
