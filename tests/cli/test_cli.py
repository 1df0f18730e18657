"""What holds for every command: exit codes, help, JSON, errors without a traceback."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest
from commands import begin, environment, kgp, prints, refuses
from graphs import write_file
from reference import all_commands
from terminal import Terminal

from kgp_neo4j import Database, KgpError
from kgp_neo4j.cli import _was_interrupted, cli
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.demo import DOCUMENTS
from kgp_neo4j.environment.folders import Connection

_NOWHERE = {"NEO4J_URI": "bolt://127.0.0.1:9", "NEO4J_PASSWORD": "wrong"}
_COMMANDS = dict(all_commands("kgp-neo4j", cli))
#: Runs commands one after another; the words of each are parted by tabs.
_EACH = """
import sys
from kgp_neo4j.cli import run
sys.exit(max(run(line.split("\\t")) for line in sys.argv[1:]))
"""


@pytest.mark.parametrize("path", _COMMANDS)
def test_the_help_of_every_command_has_an_example(path: str) -> None:
    command = _COMMANDS[path]
    # As `kgp-neo4j` calls it: a command keeps what its first context says of the help option.
    names = cli.context_settings["help_option_names"]
    shown = command.get_help(click.Context(command, info_name=path, help_option_names=names))
    assert command.help
    assert f"  {path}" in shown, shown
    options = [each for each in command.params if isinstance(each, click.Option)]
    assert all(each.help or each.name in ("lines", "help") for each in options)


def test_every_command_with_a_result_takes_json() -> None:
    # Groups only hold commands; `mcp` speaks a protocol, `server logs` prints a file as it is, and
    # a token is printed alone.
    without = [
        path.removeprefix("kgp-neo4j ")
        for path, command in _COMMANDS.items()
        if not isinstance(command, click.Group)
        and "as_json" not in {p.name for p in command.params}
    ]
    assert without == ["serve token", "mcp", "server logs"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["ask"],
        ["ask", "Who?"],
        ["ask", "Who?", "Where?", "--corpus", "c"],
        ["ask", "a.md", "-q", "Who?", "--corpus", "c"],
        ["ask", "-q", "Who?"],
        ["ask", "Who?", "--corpus", "c", "--json", "--mermaid"],
        ["load", "--corpus", "c"],
        ["connect", "--corpus", "c", "--edges", "none-such"],
        ["delete", "--corpus", "c"],
        ["explain", "4f", "--json", "--mermaid"],
        ["mindmap", "What?", "--graph", "g", "--json", "--mermaid"],
    ],
    ids=" ".join,
)
def test_wrong_use_exits_2_before_any_server_is_asked(arguments: list[str]) -> None:
    said = refuses(*arguments, code=2, **_NOWHERE)
    assert ("Choose one of --json, --mermaid and --as" in said) == ("--mermaid" in arguments)


@pytest.mark.parametrize(
    "variables",
    [_NOWHERE, {"NEO4J_URI": "http://127.0.0.1:7474"}, {"NEO4J_URI": "bolt://127.0.0.1:9"}],
    ids=["nobody listens", "not a Bolt address", "no password"],
)
def test_a_wrong_server_exits_1_with_a_message(variables: dict[str, str]) -> None:
    said = refuses("corpora", **variables)
    assert said.startswith("Error: ")
    assert "NEO4J_URI" in said


def test_debug_shows_the_traceback() -> None:
    done = kgp("--debug", "corpora", **_NOWHERE)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "Error: " in done.stderr


def test_a_wrong_password_is_named(connection: Connection) -> None:
    said = refuses("corpora", **environment(connection) | {"NEO4J_PASSWORD": "not the password"})
    assert "NEO4J_PASSWORD" in said
    assert connection.password not in said


@pytest.mark.slow
def test_keyword_graph_on_its_own_from_files_to_answer(
    connection: Connection, database: Database, corpus: str, tmp_path: Path
) -> None:
    """The whole way by the command line; every --json parses and no output has colour."""
    (tmp_path / "a.md").write_text("# Blue Bridge\n\nIt was built by Ada Stone in 1901.\n")
    (tmp_path / "b.md").write_text("# Ada Stone\n\nShe was born in a mill.\n")
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "Who built Blue Bridge?"}\n')
    question = "Where was the builder of Blue Bridge born?"
    of = ("--corpus", corpus)
    for line in (
        ("load", "a.md", "b.md", *of),
        ("corpora",),
        ("connect", *of, "--edges", "tfidf"),
        ("ask", question, *of),
        ("retrieve", "q.jsonl", *of, "--out", "run.jsonl"),
        ("doctor",),
        ("install",),
        ("corpora", "--documents", corpus),
        ("evaluate", "--list"),
        ("server", "status"),
        ("delete", *of, "--document", "Ada Stone", "--yes"),
        ("delete", *of, "--yes"),
    ):
        arguments = (*line, "--json")
        done = kgp(*arguments, cwd=tmp_path, **environment(connection))
        assert done.returncode == 0, (arguments, done.stderr)
        assert done.stdout
        assert "\x1b" not in done.stdout + done.stderr, arguments
        assert connection.password not in done.stdout + done.stderr, arguments
        parsed = [json.loads(text) for text in done.stdout.splitlines()]
        assert all(parsed)
        if arguments[0] == "ask":
            assert {"Blue Bridge", "Ada Stone"} <= {p["title"] for p in parsed[0]["passages"]}
        if arguments[:2] == ("corpora", "--documents"):
            assert [each["title"] for each in parsed] == ["Ada Stone", "Blue Bridge"]
    run = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert run[0]["id"] == "1"
    assert {"name": corpus} not in database.read("inspect/names")


@pytest.mark.slow
@pytest.mark.parametrize("plain", [None, "--no-color", "NO_COLOR", "TERM"])
def test_colours_and_links_are_for_terminals_that_want_them(
    plain: str | None, connection: Connection, demo_corpus: str
) -> None:
    variables = environment(connection) | {"TERM": "xterm-256color", "COLUMNS": "100"}
    variables |= {"NO_COLOR": {"NO_COLOR": "1"}, "TERM": {"TERM": "dumb"}}.get(plain or "", {})
    arguments = ["ask", "Who designed the Hesk Bridge?", "--corpus", demo_corpus]
    arguments += ["--seeds", "1", "--budget", "8", "--show", "2"]
    if plain == "--no-color":
        arguments.insert(0, plain)
    with Terminal(arguments, variables) as shown:
        told = shown.until("confidence .*\n")
    page = (DOCUMENTS / "hesk-bridge.md").as_uri()
    assert ("\x1b" in told) == (plain is None)
    if plain is None:
        assert "\x1b[1;32mAnswer\x1b[0m\n  \x1b[1mYusuf Arden\x1b[0m\n" in told
        assert told.count(f";{page}\x1b\\") == 1
    told = re.sub(r"\x1b(\][^\x1b]*\x1b\\|\[[\d;]*m)", "", told)
    assert "  Hesk Bridge [1]  found by" in told
    assert re.search(r"^  [├└]── both mention Yusuf Arden ─▶ Yusuf Arden \[\d\]", told, re.M)


def test_a_pipe_gets_no_colours_even_when_forced(database: Database, demo_corpus: str) -> None:
    line = ("ask", "Who designed the Hesk Bridge?", "--corpus", demo_corpus)
    forced = environment(database.connection) | {"FORCE_COLOR": "1"}
    assert "\x1b" not in prints(*line, **forced)


def test_an_interrupt_leaves_with_130() -> None:
    # A server that takes the connection and never says a word: the command waits for it.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"bolt://127.0.0.1:{silent.getsockname()[1]}"
        waiting = begin("corpora", NEO4J_URI=uri, NEO4J_PASSWORD="none")
        with silent.accept()[0]:
            waiting.send_signal(signal.SIGINT)
            told = waiting.communicate(timeout=60)
    assert waiting.returncode == 130
    assert told[0] == ""
    assert told[1].strip() == "Interrupted."


def test_an_error_upon_an_interrupt_is_an_interrupt() -> None:
    lost, alone = KgpError("the connection is lost"), KgpError("the disk is full")
    lost.__context__ = KeyboardInterrupt()
    assert _was_interrupted(lost)
    assert not _was_interrupted(alone)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii:strict"])
def test_no_console_breaks_what_is_printed(
    encoding: str, connection: Connection, database: Database, corpus: str, tmp_path: Path
) -> None:
    text = "# Sign → 日本\n\nThe sign in the café “Zoë” was put up by Ada Holm © 1911.\n"
    load(database, [write_file(tmp_path / "Zoë → 日本.md", text)], corpus)
    connect(database, corpus, edges=("tfidf",))
    ask = ("ask", "Who put up the sign → 日本?", "--corpus", corpus, "--method", "bm25")
    given = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "1"}
    lines = (
        ("corpora", "--documents", corpus),
        (*ask, "--html", str(tmp_path / "page.html")),
        (*ask, "--json"),
        ("chat", "--corpus", corpus, "--json"),
    )
    done = subprocess.run(
        [sys.executable, "-c", _EACH, *map("\t".join, lines)],
        env=os.environ | environment(connection) | given,
        input=b"Who put up the sign?\n",
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    for line in done.stdout.splitlines()[-2:]:
        told = json.loads(line.decode("ascii"))
        assert told.get("answer", told)["passages"][0]["text"] == text
    assert "Sign → 日本" in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("place", ["/dev/full", None])
def test_what_cannot_be_printed_ends_without_a_traceback(place: str | None) -> None:
    closing = (lambda: os.close(1)) if place is None else None
    with Path(place or os.devnull).open("w") as out:
        done = subprocess.run(
            [sys.executable, "-m", "kgp_neo4j.cli", "load", "--help"],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=closing,
        )
    assert done.returncode == (1 if place else 0)
    assert len(done.stderr.splitlines()) == (1 if place else 0)


def test_a_closed_pipe_ends_it_silently(connection: Connection) -> None:
    with begin("doctor", "--json", **environment(connection)) as process:
        process.stdout.close()
        assert process.stderr.read() == ""


def test_a_closed_input_is_an_empty_one() -> None:
    command = [sys.executable, "-m", "kgp_neo4j.cli", "delete", "--corpus", "x"]
    done = subprocess.run(command, preexec_fn=lambda: os.close(0), capture_output=True, text=True)
    assert "no terminal to ask on" in done.stderr
