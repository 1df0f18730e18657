"""WAT and TAGME: their protocol on a local server, what goes wrong, and going on after it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from graphs import rows, write_jsonl

from kgp_neo4j.corpus.connect.entities.service import LinkingService, WikipediaMention
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import ConfigurationError, LinkerError
from kgp_neo4j.types.settings import EntitySettings

_TOKEN = "a-secret-of-the-test"
_ARTICLES = {"Tim Burton": "Tim_Burton", "Batman": "Batman_(1989_film)", "film": "Film"}


class _Service:
    """A server that speaks WAT's protocol; `refusals` are sent before any answer."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.refusals: list[tuple[int, dict[str, str], bytes]] = []
        self.answers = 10**9
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                asked = {name: values[0] for name, values in parse_qs(body).items()}
                asked["path"] = self.path
                outer.asked.append(asked)
                status, headers, content = outer.answer(asked)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/wat/tag/tag"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, asked: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        if self.refusals:
            return self.refusals.pop(0)
        if asked.get("gcube-token") != _TOKEN:
            return 403, {}, b"no"
        if self.answers <= 0:
            return 429, {"Retry-After": "0"}, b"quota"
        self.answers -= 1
        annotations = []
        for spot, title in _ARTICLES.items():
            at = asked["text"].find(spot)
            if at >= 0:
                # As Java counts: two for a character outside the basic plane.
                start = len(asked["text"][:at].encode("utf-16-le")) // 2
                prior = 0.5 if spot == "film" else 0.95
                annotations.append(
                    {
                        "start": start,
                        "end": start + len(spot),
                        "spot": spot,
                        "title": title,
                        "id": 1,
                        "rho": 0.6,
                        "explanation": {"prior_explanation": {"entity_mention_probability": prior}},
                    }
                )
        return 200, {}, json.dumps({"annotations": annotations}).encode()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Service]:
    monkeypatch.setenv("GCUBE_TOKEN", _TOKEN)
    made = _Service()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()


def _client(service: _Service, waits: list[float] | None = None, **values: Any) -> LinkingService:
    pause = waits.append if waits is not None else lambda _: None
    return LinkingService("wat", url=service.url, pause=pause, **values)


def test_annotations(service: _Service) -> None:
    found = _client(service, language="en").link("𝔘𝔫𝔦: Tim Burton made Batman, a film.")
    assert found == [
        WikipediaMention(5, 15, "Tim Burton", 0.95, 0.6),
        WikipediaMention(21, 27, "Batman (1989 film)", 0.95, 0.6),
        WikipediaMention(31, 35, "Film", 0.5, 0.6),
    ]
    assert service.asked == [
        {
            "gcube-token": _TOKEN,
            "text": "𝔘𝔫𝔦: Tim Burton made Batman, a film.",
            "lang": "en",
            "path": "/wat/tag/tag",
        }
    ]


def test_annotations_of_tagme_and_broken_ones(service: _Service) -> None:
    good = {
        "spot": "Kim",
        "start": 0,
        "end": 3,
        "rho": 0.3,
        "link_probability": 0.4,
        "title": "Kim",
    }
    bad: list[Any] = [{}, None, 7, {**good, "start": "x"}, {**good, "start": 90, "end": 99}]
    body = json.dumps({"annotations": [good, *bad]}).encode()
    service.refusals = [(200, {}, body)]
    assert _client(service).link("Kim") == [WikipediaMention(0, 3, "Kim", 0.4, 0.3)]


def test_passing_failures_are_tried_again(service: _Service) -> None:
    service.refusals = [
        (500, {}, b""),
        (429, {"Retry-After": "7"}, b""),
        (200, {}, b"<html>busy"),
        (503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, b""),
    ]
    waits: list[float] = []
    assert _client(service, waits).link("Batman")[0].title == "Batman (1989 film)"
    assert waits == [1.0, 7.0, 4.0, 0.0]


@pytest.mark.parametrize(
    ("refusal", "reason", "asked"),
    [
        ((401, {}, b""), "refuses the token", 1),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), "refuses the request", 1),
        ((429, {"Retry-After": "999999"}, b""), "quota", 3),
        ((502, {}, b""), r"failed \(502\)", 3),
        ((200, {}, b"[" * 100_000), "not what the service sends", 3),
    ],
)
def test_lasting_failures(
    service: _Service, refusal: tuple[int, dict[str, str], bytes], reason: str, asked: int
) -> None:
    service.refusals = [refusal] * 9
    waits: list[float] = []
    with pytest.raises(LinkerError, match=reason) as raised:
        _client(service, waits, tries=3).link("Batman")
    assert len(service.asked) == asked
    assert max(waits, default=0) <= 120
    assert _TOKEN not in str(raised.value)


def test_nobody_there_and_too_slow(service: _Service) -> None:
    service.server.shutdown()
    service.server.server_close()
    with pytest.raises(LinkerError, match="does not answer") as raised:
        _client(service, tries=2).link("Batman")
    assert _TOKEN not in str(raised.value)


def test_token_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GCUBE_TOKEN", _TOKEN)
    assert LinkingService("tagme").url == "https://tagme.d4science.org/tagme/tag"
    assert LinkingService("wat").url == "https://wat.d4science.org/wat/tag/tag"
    with pytest.raises(ConfigurationError, match="unencrypted"):
        LinkingService("wat", url="http://linker.example/tag")
    with pytest.raises(ConfigurationError, match="no web address"):
        LinkingService("wat", url="file:///etc/passwd")
    monkeypatch.delenv("GCUBE_TOKEN")
    with pytest.raises(ConfigurationError, match="needs a token"):
        LinkingService("wat")


def test_a_run_cut_short_goes_on(
    database: Database, corpus: str, tmp_path: Path, service: _Service
) -> None:
    records = [("Tim Burton", "He is a director.")]
    records += [(f"Film {n}", f"Tim Burton made Batman, film {n}.") for n in range(24)]
    load(database, [write_jsonl(tmp_path / "r.jsonl", *records)], corpus)
    settings = EntitySettings(linker="wat", url=service.url)
    service.answers = 15
    with pytest.raises(LinkerError, match="quota"):
        connect(database, corpus, edges=["entity"], entities=settings)
    state = database.read("inspect/corpus", corpus=corpus)[0]
    assert state["connected"] == []
    service.answers = 10**9
    service.asked.clear()
    report = connect(database, corpus, edges=["entity"], entities=settings)
    assert len(service.asked) == 15  # ten of 25 were written before
    # Tim Burton is a document, Batman an entity; the prior of "film" is too low.
    assert (report.mentions, report.entities) == (48, 1)
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[m:MENTIONS]->(e) "
        "RETURN labels(e)[0] AS label, e.title AS title, m.surface AS surface, "
        "m.commonness AS commonness, m.score AS score, count(*) AS n ORDER BY title",
        c=corpus,
    )
    common = {"commonness": 0.95, "score": 0.6, "n": 24}
    assert found == [
        {"label": "NamedEntity", "title": "Batman (1989 film)", "surface": "Batman", **common},
        {"label": "Document", "title": "Tim Burton", "surface": "Tim Burton", **common},
    ]
    service.asked.clear()
    again = connect(database, corpus, edges=["entity"], entities=settings)
    assert service.asked == []
    assert (again.mentions, again.shared_entity_edges) == (48, report.shared_entity_edges)
    # Another linker starts anew.
    fresh = connect(database, corpus, edges=["entity"])
    assert {row["linkedBy"] for row in database.read("connect/entity_passages", corpus=corpus)} == {
        "titles"
    }
    assert fresh.mentions >= 24
    stored = rows(database, "MATCH (n {corpus: $c}) RETURN properties(n) AS p", c=corpus)
    assert _TOKEN not in str(stored)
