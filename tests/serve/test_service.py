"""The service: questions, documents, tokens, limits, work given up, what it shows of itself."""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from chat_server import ChatServer
from commands import environment
from graphs import load_records, rows, write_file
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from serving import Serving, events, serving
from small_graphs import keep_one, passages
from terminal import Terminal

from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.demo import QUESTION
from kgp_neo4j.environment.configuration import LanguageSettings
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.chat import open_language_model
from kgp_neo4j.serve.app import LogLines
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Tokens, add_token
from kgp_neo4j.types.settings import ServeSettings

_TEXT = "# The mill\n\nThe mill at Sund was built by Ada Moor in 1871. It ground rye and barley.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("serve")


@pytest.fixture(scope="module")
def served(database: Database, demo_graph: str, folder: Path) -> Iterator[Serving]:
    """One service with tokens: of a reader and a loader of the demo, of an administrator."""
    file = folder / "tokens.json"
    known = [demo_graph, "test served"]
    made = {
        "reader": add_token(file, "reader", corpora=[demo_graph], graphs=[demo_graph]),
        "loader": add_token(file, "loader", corpora=known, rights=["read", "load"]),
        "admin": add_token(
            file, "admin", corpora=["*"], graphs=["*"], rights=["read", "load", "admin"]
        ),
    }
    settings = ServeSettings(upload=1)
    service = Service(database, settings=settings, folder=folder / "uploads", tokens=Tokens(file))
    with serving(service, **made) as running:
        yield running


def _client_of(holder: str) -> Any:
    """Return a fixture: a client with the token of its holder."""

    @pytest.fixture
    def client(served: Serving) -> Iterator[httpx.Client]:
        with served.client(served.tokens[holder]) as made:
            yield made

    return client


reader, loader, admin = map(_client_of, ("reader", "loader", "admin"))


@asynccontextmanager
async def _tools(served: Serving, token: str) -> AsyncIterator[Client]:
    """Yield a client of the protocol for models with a token."""
    async with create_mcp_http_client({"authorization": f"Bearer {token}"}) as http:
        transport = streamable_http_client(f"{served.address}/mcp", http_client=http)
        async with Client(transport) as client:
            yield client


def test_an_answer_comes_whole_with_its_evidence(reader: httpx.Client, demo_graph: str) -> None:
    made = reader.post("/ask", json={"question": QUESTION, "corpus": demo_graph}).json()
    assert "grandmother" in made["text"]
    passages = {each["id"]: each for each in made["passages"]}
    assert set(made["cited"]) <= set(passages)
    cited = made["cited"][0]
    marked = [passages[cited]["text"][a:b] for a, b in made["marks"][cited]["sentences"]]
    assert any("grandmother" in sentence for sentence in marked)
    assert any(len(each["path"]) > 1 for each in made["passages"])
    assert not any("/" in each["source"] for each in made["passages"])  # no folder of the server's

    asked = {"question": QUESTION, "corpus": demo_graph, "budget": 3}
    found = reader.post("/retrieve", json=asked).json()
    assert len(found["passages"]) == 3


def test_events_come_in_their_order(reader: httpx.Client, demo_graph: str) -> None:
    asked = {"question": QUESTION, "corpus": demo_graph, "stream": True}
    response = reader.post("/ask", json=asked)
    assert response.headers["content-type"].startswith("text/event-stream")
    told = events(response.text)
    assert [name for name, _ in told] == ["hop", "hop", "hop", "passages", "answer", "done"]
    hops = [value for name, value in told if name == "hop"]
    assert [each["hop"] for each in hops] == [0, 1, 2]
    assert all(step["before"] is None for step in hops[0]["reached"])
    assert any(step["before"] for step in hops[1]["reached"])
    found = {each["id"] for each in dict(told)["passages"]}
    assert found == {each["id"] for each in dict(told)["answer"]["passages"]}

    mapped = reader.post(
        "/mindmap",
        json={"question": "I feel tired and dizzy. What can it be?", "graph": demo_graph},
        headers={"accept": "text/event-stream"},
    )
    told = events(mapped.text)
    assert [name for name, _ in told] == ["entities", "evidence", "answer", "done"]
    assert {edge["status"] for edge in dict(told)["answer"]["edges"]} == {"grounded"}


def test_what_is_wrong_in_a_request_is_said(reader: httpx.Client, demo_graph: str) -> None:
    def wrong(status: int, **body: object) -> str:
        response = reader.post("/ask", json={"question": "?", "corpus": demo_graph} | body)
        assert response.status_code == status
        assert response.json()["error"]["status"] == status
        what: str = response.json()["error"]["what"]
        return what

    assert "question" in wrong(422, question="")
    assert "10000" in wrong(422, question="x" * 10_001)
    assert "budget" in wrong(422, budget="30")
    assert "budget" in wrong(422, budget=10_000)
    assert "cypher" in wrong(422, cypher="MATCH (n) DETACH DELETE n")
    assert "the question is empty" in wrong(400, question="   ")
    assert wrong(413, question="x" * 300_000)
    assert reader.post("/ask", content=b"question=x").status_code == 415
    as_json = {"content-type": "application/json"}
    half = reader.post("/ask", content=b'{"question": "\\ud800"}', headers=as_json)
    assert half.status_code == 422
    assert reader.get("/ask").status_code == 405
    assert reader.get("/nothing").json()["error"]["status"] == 404
    assert reader.get("/static/..%2fapp.py").status_code == 404
    empty = {"question": " ", "corpus": demo_graph, "stream": True}
    failed = events(reader.post("/ask", json=empty).text)
    assert failed == [("error", {"status": 400, "what": "the question is empty", "hint": ""})]


def test_nothing_but_the_page_is_seen_without_a_token(served: Serving) -> None:
    with served.client("kgp_wrong") as client:
        shown = set()
        for path, methods in client.get("/openapi.json").json()["paths"].items():
            for method in methods:
                address = re.sub(r"{\w+}", "0" * 32, path)
                if client.request(method, address).status_code != 401:
                    shown.add((method, path))
        assert shown == {("get", "/"), ("get", "/docs"), ("get", "/healthz")}
        assert client.post("/mcp", json={}).status_code == 401
        assert client.get("/static/app.js").status_code == 200


def test_what_a_token_may_not_see_looks_as_if_it_were_not_there(
    reader: httpx.Client, database: Database, demo_graph: str, corpus: str, tmp_path: Path
) -> None:
    load(database, [write_file(tmp_path / "mill.md", _TEXT)], corpus)
    kept = keep_one(database, corpus)
    (found,) = rows(database, "MATCH (d:Document {corpus: $c}) RETURN d.id AS id LIMIT 1", c=corpus)

    def same(method: str, path: str, **options: object) -> None:
        """Ask for a corpus of others and for none, and compare all but their names."""
        told = []
        for name in (corpus, "test " + "0" * 12):
            filled = json.loads(json.dumps(options).replace("NAME", name))
            response = reader.request(method, path.replace("NAME", name), **filled)
            assert response.status_code == 404, (path, response.text)
            told.append(response.text.replace(name, "NAME"))
        assert told[0] == told[1]

    same("POST", "/ask", json={"question": "?", "corpus": "NAME"})
    same("POST", "/retrieve", json={"question": "?", "corpus": "NAME"})
    same("POST", "/mindmap", json={"question": "?", "graph": "NAME"})
    same("GET", "/documents", params={"corpus": "NAME"})
    same("GET", f"/documents/{found['id']}", params={"corpus": "NAME"})
    same("GET", "/traces", params={"corpus": "NAME"})
    same("GET", f"/traces/{kept}", params={"corpus": "NAME"})
    listed = reader.get("/corpora").json()
    assert [each["name"] for each in listed["corpora"]] == [demo_graph]
    assert listed["rights"] == ["read"]

    # Ids of others, asked for in a corpus that may be seen, are as unknown as those of nobody.
    for path, key in (("documents", found["id"]), ("traces", kept)):
        at = {"corpus": demo_graph}
        told = [reader.get(f"/{path}/{each}", params=at) for each in (key, "0" * 32, key[:6])]
        assert [each.status_code for each in told] == [404] * 3
        assert told[0].text.replace(key, "KEY") == told[1].text.replace("0" * 32, "KEY")


def test_rights_are_asked_for(reader: httpx.Client, loader: httpx.Client, demo_graph: str) -> None:
    at = {"corpus": demo_graph, "name": "a.txt"}
    assert reader.post("/documents", params=at, content=b"x").status_code == 403
    assert reader.delete(f"/documents/{'0' * 32}", params=at).status_code == 403
    assert reader.get("/metrics").status_code == 403
    asked = {"question": "?", "corpus": demo_graph, "trace": True}
    assert reader.post("/ask", json=asked).status_code == 403
    assert loader.delete(f"/corpora/{demo_graph}").status_code == 403
    foreign = at | {"corpus": "another"}
    assert loader.post("/documents", params=foreign, content=b"x").status_code == 403


def test_a_page_of_another_origin_is_refused(database: Database, folder: Path) -> None:
    """Without tokens whoever reaches the service may write; a browser must not do it for others."""
    service = Service(database, folder=folder)
    with serving(service) as running, running.client() as client:
        assert client.get("/corpora").status_code == 200
        assert client.get("/corpora", headers={"host": "rebound.example"}).status_code == 421
        port = running.address.rpartition(":")[2]
        body = {"question": "?", "corpus": "nowhere"}
        for origin, status in (
            ("http://evil.example", 403),
            ("null", 403),
            ("http://[", 403),
            (f"http://127.0.0.1:{port}", 404),
        ):
            asked = client.post("/ask", json=body, headers={"origin": origin})
            assert asked.status_code == status
        crossing = client.post("/ask", json=body, headers={"sec-fetch-site": "cross-site"})
        assert crossing.status_code == 403
        assert "access-control-allow-origin" not in client.get("/corpora").headers


def test_the_protocol_for_models_has_the_same_tokens(
    served: Serving, demo_graph: str, database: Database, corpus: str, folder: Path
) -> None:
    passages(database, corpus)
    stranger = add_token(folder / "tokens.json", "stranger", corpora=["another"])

    async def refused(client: Client, name: str) -> str:
        made = await client.call_tool("ask", {"question": QUESTION, "corpus": name})
        assert made.is_error
        text: str = made.content[0].text
        return text.replace(name, "nowhere")

    async def talk() -> None:
        async with _tools(served, served.tokens["reader"]) as client:
            there = (await client.call_tool("corpora", {})).structured_content
            assert [each["name"] for each in there["corpora"]] == [demo_graph]
            made = await client.call_tool("ask", {"question": QUESTION, "corpus": demo_graph})
            assert "grandmother" in made.structured_content["answer"]
            assert made.structured_content["browser"] is None  # it is not theirs to reach
            unknown = await refused(client, "nowhere")
            assert await refused(client, corpus) == unknown
        # What one token was answered from stays hidden from another.
        async with _tools(served, stranger) as client:
            assert await refused(client, demo_graph) == await refused(client, "nowhere") == unknown

    asyncio.run(talk())


def test_a_token_made_late_and_taken_away(served: Serving, demo_graph: str, folder: Path) -> None:
    file = folder / "tokens.json"
    late = add_token(file, "late", corpora=[demo_graph])

    async def seen() -> list[str]:
        async with _tools(served, late) as client:
            there = (await client.call_tool("corpora", {})).structured_content
            return [each["name"] for each in there["corpora"] + there["graphs"]]

    with served.client(late) as client:
        assert client.get("/corpora").json()["corpora"][0]["name"] == demo_graph
        assert asyncio.run(seen()) == [demo_graph]  # the corpus, and not the graph of that name
        held = json.loads(file.read_text())
        held["tokens"] = [each for each in held["tokens"] if each["name"] != "late"]
        file.write_text(json.dumps(held))
        assert client.get("/corpora").status_code == 401


def test_a_file_comes_and_goes(served: Serving, loader: httpx.Client, admin: httpx.Client) -> None:
    at = {"corpus": "test served", "name": "../../etc/the mill.md"}
    try:
        made = loader.post("/documents", params=at, content=_TEXT.encode())
        assert made.status_code == 201
        assert made.json()["loaded"]["new"] == 1
        assert made.json()["connected"]
        asked = {"question": "Who built the mill?", "corpus": "test served", "trace": True}
        answer = loader.post("/ask", json=asked).json()
        assert "Ada Moor" in answer["passages"][0]["text"]
        assert answer["passages"][0]["source"] == "the mill.md"

        (kept,) = loader.get("/traces", params=at).json()["traces"]
        replayed = loader.get(f"/traces/{kept['id']}", params=at).json()
        assert replayed["answer"]["passages"] == answer["passages"]
        refused = loader.get("/traces", params={**at, "words": "mill " * 30})
        assert refused.status_code == 400
        assert "at most 20" in refused.text
        assert loader.delete(f"/traces/{kept['id']}", params=at).json() == {"removed": 1}

        # The same name again replaces the document, told by events this time.
        again = loader.post(
            "/documents",
            params=at,
            content=_TEXT.replace("Ada Moor", "Eva Lund").encode(),
            headers={"accept": "text/event-stream"},
        )
        told = events(again.text)
        assert {"progress", "loaded", "done"} == {name for name, _ in told}
        assert told[-1][1]["loaded"]["replaced"] == 1
        (document,) = loader.get("/documents", params=at).json()["documents"]
        opened = loader.get(f"/documents/{document['id']}", params=at).json()
        assert "Eva Lund" in opened["passages"][0]["text"]
        gone = loader.delete(f"/documents/{document['id']}", params=at)
        assert gone.json()["documents"] == 1
        assert loader.delete(f"/documents/{document['id']}", params=at).status_code == 404
        assert not [each for each in served.service.folder.rglob("*") if each.is_file()]
    finally:
        assert admin.delete("/corpora/test served").status_code == 200


def test_a_folder_is_followed(served: Serving, loader: httpx.Client, admin: httpx.Client) -> None:
    corpus = "test served"

    def load(folder: str, name: str, text: str) -> dict[str, Any]:
        at = {"corpus": corpus, "folder": folder, "name": name, "connect": "false"}
        return dict(loader.post("/documents", params=at, content=text.encode()).json())

    def follow(*files: str, prune: bool = False) -> Any:
        asked = {"corpus": corpus, "folder": "notes", "files": files, "prune": prune}
        answer = loader.post("/folders", json=asked)
        return answer.json() if answer.status_code == 200 else answer.status_code

    def titles() -> list[str]:
        listed = loader.get("/documents", params={"corpus": corpus}).json()["documents"]
        return sorted(each["title"] for each in listed)

    assert follow("notes/a.md") == 404  # no such corpus
    try:
        # Files of one name in two folders, and a way out of the folder that leads nowhere.
        load("notes", "a.md", "# Mill\n\nThe mill grinds oats.")
        load("notes/old", "a.md", "# Quay\n\nThe quay is of granite.")
        load("../../notes/old", "b.md", "# Inn\n\nThe inn has six beds.")
        # A name that is cut, and a file of a kind that is not loaded, are no less there.
        long = f"{'x' * 130}.md"
        load("notes", long, "# Weir\n\nThe weir is low.")
        names = ("a.md", "old/a.md", "old/b.md", long, "a.exe")
        everything = [f"notes/{name}" for name in names]
        assert follow(*everything) == {"gone": [], "pruned": []}
        assert titles() == ["Inn", "Mill", "Quay", "Weir"]
        # One is gone, and one has moved.
        load("notes/new", "b.md", "# Inn\n\nThe inn has six beds.")
        left = ["notes/a.md", "notes/new/b.md", f"notes/{long}"]
        for _ in range(2):
            assert follow(*left) == {"gone": ["notes/old/a.md"], "pruned": []}
        assert titles() == ["Inn", "Mill", "Quay", "Weir"]
        assert follow(*left, prune=True) == {"gone": [], "pruned": ["notes/old/a.md"]}
        assert titles() == ["Inn", "Mill", "Weir"]
        assert follow(*left) == {"gone": [], "pruned": []}
        assert follow(prune=True) == 422
        assert not [each for each in served.service.folder.rglob("*") if each.is_file()]
    finally:
        admin.delete(f"/corpora/{corpus}")


def test_a_bad_upload_leaves_nothing(served: Serving, loader: httpx.Client) -> None:
    at = {"corpus": "test served", "name": "a.pdf"}

    def refused(content: bytes, **changed: str) -> tuple[int, str]:
        response = loader.post("/documents", params=at | changed, content=content)
        return response.status_code, response.json()["error"]["what"]

    assert refused(b"x" * (1024 * 1024 + 1))[0] == 413
    status, what = refused(b"not a PDF")
    assert status == 400
    assert what.startswith("a.pdf: ")
    assert refused(b"")[0] == 400
    assert refused(b"x", name="a.exe")[0] == 415
    assert refused(b"x", name="../..")[0] == 415
    assert not [each for each in served.service.folder.rglob("*") if each.is_file()]
    listed = loader.get("/corpora").json()["corpora"]
    assert "test served" not in {each["name"] for each in listed}


def test_a_full_queue_says_when_to_come(database: Database, demo_graph: str, folder: Path) -> None:
    settings = ServeSettings(threads=1, queue=0)
    with (
        serving(Service(database, settings=settings, folder=folder)) as running,
        running.client() as client,
    ):
        with running.occupied():
            for stream in (False, True):
                asked = {"question": "?", "corpus": demo_graph, "stream": stream}
                refused = client.post("/ask", json=asked)
                assert refused.status_code == 429
                assert int(refused.headers["retry-after"]) >= 1
            assert client.get("/healthz").json() == {"status": "ok"}
        assert running.settled()
        assert client.get("/corpora").status_code == 200


def test_the_time_limit_and_a_client_that_goes_reach_the_database(
    database: Database, corpus: str, folder: Path, tmp_path: Path
) -> None:
    """A trace is kept behind a lock that nobody opens: the statement would wait for ever."""
    load_records(database, corpus, tmp_path, ("Ardfin", "Ardfin has a harbour."))
    asked = {"question": "Where is a harbour?", "corpus": corpus, "trace": True}
    asked["method"] = "bm25"
    settings = ServeSettings(threads=1, seconds=3.0)
    waiting = "SHOW TRANSACTIONS YIELD metaData WHERE metaData.kgp_job IS NOT NULL RETURN metaData"
    with (
        serving(Service(database, settings=settings, folder=folder)) as running,
        running.client() as client,
    ):
        assert client.post("/ask", json=asked).status_code == 200  # loads what it needs
        name = database.connection.database
        with database.driver.session(database=name) as session:
            lock = session.begin_transaction()
            lock.run("MATCH (p:Passage {corpus: $c}) DETACH DELETE p", c=corpus).consume()
            late = client.post("/ask", json=asked)
            assert late.status_code == 504
            assert "longer than the 3 s" in late.json()["error"]["what"]
            assert running.settled()

            with client.stream("POST", "/ask", json=asked | {"stream": True}) as response:
                lines = response.iter_lines()
                while "passages" not in next(lines):
                    pass
                while not rows(database, waiting):
                    time.sleep(0.02)
            # The connection is closed, in the middle of the statement.
            began = time.monotonic()
            assert running.settled()
            assert time.monotonic() - began < 2.5  # before its time was over
            assert not rows(database, waiting)
            lock.rollback()


def test_requests_and_the_use_of_a_model_are_counted(
    database: Database, demo_graph: str, folder: Path, chat_server: ChatServer
) -> None:
    settings = LanguageSettings(model="m", url=chat_server.url)
    model = open_language_model(settings)
    service = Service(database, folder=folder, models=[model])
    with serving(service) as running, running.client() as client:
        asked = {"question": "Who designed the bridge?", "corpus": demo_graph}
        told = events(client.post("/ask", json=asked | {"stream": True}).text)
        usage = dict(told)["answer"]["usage"]
        assert "text" in dict(told)
        assert usage["prompt_tokens"] > 0
        unused = client.post("/ask", json=asked | {"model": False}).json()
        assert unused["usage"] is None
        assert client.get("/corpora").json()["models"] == ["m"]
        unknown = client.post("/ask", json=asked | {"model": "other"})
        assert (unknown.status_code, "named 'other'" in unknown.text) == (404, True)
        text = client.get("/metrics").text
        labels = f'corpus="{demo_graph}",kind="prompt",.*token="local"'
        found = re.search(rf"kgp_model_tokens_total{{{labels}}} (.+)", text)
        assert float(found[1]) == usage["prompt_tokens"]
        assert 'kgp_requests_total{method="POST",route="/ask",status="200"} 2.0' in text
        assert "kgp_questions_waiting 0.0" in text
        assert "Who designed" not in text


def test_the_log_has_the_requests_id_and_neither_question_nor_token(
    served: Serving, reader: httpx.Client, demo_graph: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "kgp_neo4j.serve"):
        response = reader.post("/ask", json={"question": QUESTION, "corpus": demo_graph})
        reader.get("/documents?corpus=nowhere&token=secret")
    lines = [LogLines(as_json=True).format(record) for record in caplog.records]
    first = json.loads(lines[0])
    assert first["id"] == response.headers["x-request-id"]
    assert (first["route"], first["status"], first["token"]) == ("/ask", 200, "reader")
    whole = "\n".join(lines)
    assert "Hesk" not in whole
    assert "secret" not in whole
    assert served.tokens["reader"] not in whole


def test_every_call_is_described(reader: httpx.Client) -> None:
    described = reader.get("/openapi.json").json()
    calls = [call for methods in described["paths"].values() for call in methods.values()]
    assert len(calls) > 12
    assert all(call["description"].strip().endswith(".") for call in calls)
    assert described["components"]["schemas"]["Ask"]["additionalProperties"] is False
    page = reader.get("/docs")
    assert "/documents/{id}" in page.text
    assert "Keep the traversal" in page.text
    assert "<script" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'self'")


def test_the_command_serves_until_it_is_interrupted(database: Database, demo_graph: str) -> None:
    with Terminal(["serve", "--port", "0"], environment(database.connection)) as person:
        address = person.until(r"http://127\.0\.0\.1:\d+/").split()[-1]
        asked = {"question": QUESTION, "corpus": demo_graph}
        assert httpx.post(f"{address}ask", json=asked, timeout=120).status_code == 200
        logged = person.until("/ask.*\n")
        person.type("\x03")
        person.ended()
    # What was asked stays in the service.
    assert "Hesk" not in logged
