"""Who asks nothing, sends slowly or takes nothing does not keep the service from others."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from commands import environment
from graphs import write_file
from serving import Serving, serving

from kgp_neo4j import Corpus, Database, Question, Retrieval
from kgp_neo4j.corpus.load.ids import corpus_scope
from kgp_neo4j.corpus.load.stored import delete_document
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.serve import app, connections
from kgp_neo4j.serve.connections import connections_at_most
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Tokens, add_token
from kgp_neo4j.types.settings import ServeSettings


@pytest.fixture
def served(database: Database, tmp_path: Path) -> Iterator[Serving]:
    """A service of ten connections, of these five from one address."""
    settings = ServeSettings(connections=10)
    with serving(Service(database, settings=settings, folder=tmp_path / "uploads")) as running:
        yield running


def _port(served: Serving) -> int:
    return int(served.address.rpartition(":")[2])


def _half_open(port: int, data: bytes = b"GET / HTTP/1.1\r\nHost: loc") -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=20)
    made.sendall(data)
    return made


def _all_of(made: socket.socket) -> bytes:
    """Return what comes until the other side closes."""
    told = b""
    try:
        while piece := made.recv(65536):
            told += piece
    except ConnectionError:
        pass
    return told


def test_connections_have_a_limit_and_half_a_head_a_deadline(
    served: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD", 2.0)
    with ExitStack() as stack:
        held = [stack.enter_context(_half_open(_port(served))) for _ in range(5)]
        more = _all_of(stack.enter_context(_half_open(_port(served), b"")))
        assert more.startswith(b"HTTP/1.1 503")
        assert b"retry-after" in more
        # What comes slowly is no request either.
        for _ in range(10):
            time.sleep(0.3)
            for each in held:
                try:
                    each.send(b"a")
                except ConnectionError:
                    break
        assert [_all_of(each) for each in held] == [b""] * 5
    with served.client() as client:
        assert client.get("/healthz").status_code == 200
        # A connection that stays open serves one request after another.
        assert client.get("/healthz").status_code == 200


def test_a_body_has_to_come_on(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_BODY", 1.0)
    head = b"POST /ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with _half_open(_port(served), head + b"Content-Length: 1000\r\n\r\n{") as slow:
        for _ in range(8):  # never silent for long
            time.sleep(0.2)
            try:
                slow.send(b" ")
            except ConnectionError:
                break
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


def test_who_takes_nothing_is_left(served: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_TAKEN", 0.5)
    many = 600
    with socket.socket() as greedy:
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        greedy.connect(("127.0.0.1", _port(served)))
        greedy.settimeout(20)
        asked = b"GET /static/app.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * many
        try:
            greedy.sendall(asked)
        except ConnectionError:
            return
        time.sleep(2.0)
        assert _all_of(greedy).count(b"HTTP/1.1 200") < many


def test_running_out_of_files_is_survived_and_told(database: Database, tmp_path: Path) -> None:
    """Of a library's log handler, which imports at that moment, the process came to its end."""

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (160, 160))
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = [sys.executable, "-m", "kgp_neo4j.cli", "serve", "--port", "0"]
    home = {"KGP_NEO4J_HOME": str(tmp_path)}
    variables = os.environ | environment(database.connection) | home
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(command, env=variables, stdout=log, stderr=log, preexec_fn=few) as service,
        ExitStack() as stack,
    ):
        stack.callback(service.kill)
        found = None
        while found is None:
            assert service.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.1)
            found = re.search(r"127\.0\.0\.1:(\d+)/ ", (tmp_path / "log").read_text())
        address = f"http://localhost:{found[1]}/healthz"
        while not _answers(address):
            assert service.poll() is None
            time.sleep(0.1)
        with ExitStack() as attack:
            for _ in range(300):
                try:
                    attack.enter_context(_half_open(int(found[1])))
                except OSError:
                    break
        while not _answers(address):
            assert service.poll() is None
            time.sleep(0.1)
        service.send_signal(signal.SIGTERM)
        assert service.wait(60) in (0, -signal.SIGTERM)
    log_text = (tmp_path / "log").read_text()
    assert "160 open files are allowed: 32 connections at most" in log_text


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=10).status_code == 200
    except httpx.TransportError:
        return False


def test_open_files_are_taken_as_far_as_they_are_allowed() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, before[1]))
        assert connections_at_most(512) == 512
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 512
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_start_removes_what_a_killed_service_left(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "uploads"
    left = [folder / f"incoming-{'0a' * 16}", folder / corpus_scope("x") / "notes" / "a.md"]
    own = folder / "mine.md"
    for each in (*left, own):
        each.parent.mkdir(parents=True, exist_ok=True)
        write_file(each, b"left")
    with serving(Service(database, folder=folder)):
        assert [each.exists() for each in (*left, own)] == [False, False, True]
        # Beside a service that runs nothing is removed: it may be loading that.
        write_file(left[0], b"coming")
        with serving(Service(database, folder=folder)):
            assert left[0].exists()


def test_tokens_made_at_once_are_all_stored(tmp_path: Path) -> None:
    file = tmp_path / "tokens.json"
    names = [f"holder {n}" for n in range(8)]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda name: add_token(file, name), names))
    tokens = Tokens(file)
    found = [tokens.find(f"Bearer {token}") for token in made]
    assert [each and each.name for each in found] == names


def test_no_answer_cites_deleted_documents(database: Database, corpus: str, tmp_path: Path) -> None:
    texts = {
        "harbour": "The harbour master of Sund is Ida Kroll. She keeps the log of all ships.\n",
        "market": "The market of Sund is held on Fridays. It begins at seven.\n",
    }
    paths = [write_file(tmp_path / f"{name}.txt", text.encode()) for name, text in texts.items()]
    mine = Corpus(corpus, database=database)
    mine.load(paths)
    mine.connect()

    class Deleting(PassageRetriever):
        """Finds passages, and then the document is gone."""

        def retrieve(self, question: Question) -> Retrieval:
            found = super().retrieve(question)
            for each in mine.documents():
                if each.title == "harbour":
                    delete_document(database, corpus, each.id)
            return found

    question = "Who is the harbour master of Sund?"
    assert "Ida Kroll" in mine.ask(question).text
    answer = mine.ask(question, retriever=Deleting(database, corpus))
    there = {each.id for each in mine.passages()}
    assert set(answer.rests_on) <= there
    assert "Ida Kroll" not in answer.text
