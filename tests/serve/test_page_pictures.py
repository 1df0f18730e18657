"""Pages of PDF files over the service: pictures, marks, and whose files are shown."""

import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from graphs import rows, write_file
from PIL import Image
from serving import Serving, serving
from small_pdfs import ENDLESS, RULED, Page, pdf, prose, written_pages

from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.serve import documents
from kgp_neo4j.serve.service import Service
from kgp_neo4j.serve.tokens import Tokens, add_token
from kgp_neo4j.types.settings import ServeSettings

_ROWS = [["Town", "Boats"], ["Sund", "12"], ["Moss", "40"]]


def _file(word: str = "ferry") -> bytes:
    def first(page: Page) -> None:
        page.line(60, 60, "The harbours", size=18, font="Times-Bold")
        page.text(60, 90, 400, f"The {word} to Sund leaves at noon. {prose(60)}")
        page.line(60, 200, "The boats of each", size=14, font="Times-Bold")
        page.text(60, 220, 400, prose(60, 5))
        page.table(60, 300, _ROWS, [80, 80], RULED)

    return pdf(first, lambda page: page.text(60, 90, 400, prose(90, 3)))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, where uploads are kept."""
    monkeypatch.setenv("KGP_NEO4J_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def served(database: Database, corpus: str, home: Path, tmp_path: Path) -> Iterator[Serving]:
    """A service with tokens: of one that may do all with the corpus, and of one that may not."""
    file = tmp_path / "tokens.json"
    made = {
        "owner": add_token(file, "owner", corpora=[corpus], rights=["read", "load", "admin"]),
        "other": add_token(file, "other", corpora=["test other"]),
    }
    service = Service(database, folder=home / "uploads", tokens=Tokens(file))
    with serving(service, **made) as running:
        yield running


@pytest.fixture
def owner(served: Serving) -> Iterator[httpx.Client]:
    with served.client(served.tokens["owner"]) as client:
        yield client


def _documents(client: httpx.Client, corpus: str) -> list[Any]:
    return list(client.get("/documents", params={"corpus": corpus}).json()["documents"])


def _kept(home: Path) -> list[Path]:
    return [path for path in (home / "kept").rglob("*") if path.is_file()]


def test_a_page_is_shown_with_its_marks(
    database: Database, corpus: str, served: Serving, owner: httpx.Client, tmp_path: Path
) -> None:
    load(database, [write_file(tmp_path / "harbours.pdf", _file())], corpus)
    (document,) = _documents(owner, corpus)
    place, at = f"/documents/{document['id']}/pages/1", {"corpus": corpus}
    passages = owner.get(f"/documents/{document['id']}", params=at).json()["passages"]
    first = passages[0]["id"]

    drawn = owner.get(f"{place}.png", params=at | {"scale": 1})
    assert Image.open(BytesIO(drawn.content)).size == (612, 792)
    assert drawn.headers["content-type"] == "image/png"
    assert drawn.headers["cache-control"].startswith("private")
    assert owner.get(f"{place}.png", params=at | {"scale": 90}).status_code == 400
    large = owner.get(f"{place}.png", params=at | {"scale": 8})
    width, height = Image.open(BytesIO(large.content)).size
    assert 7e6 < width * height <= 8.1e6

    asked = at | {"passage": first, "words": ["the ferry to Sund", "Moss", "no such words"]}
    page = owner.get(place, params=asked).json()
    assert (page["width"], page["height"], page["pages"], page["parts"]) == (612, 792, 2, [])
    whole, *marks = page["marks"]
    assert whole["passage"] == first
    assert [mark["words"] for mark in marks] == asked["words"]
    assert [len(mark["boxes"]) for mark in marks] == [1, 1, 0]
    ((x0, top, x1, bottom),) = marks[0]["boxes"]
    assert 60 <= x0 < x1 < 300
    assert 85 < top < bottom < 110

    parts = owner.get(place, params=at | {"view": "read"}).json()["parts"]
    assert {part["kind"] for part in parts} == {"passage", "heading", "table"}
    assert {part["passage"] for part in parts} <= {each["id"] for each in passages}
    ((heading,),) = [part["boxes"] for part in parts if part["kind"] == "heading"]
    assert 180 < heading[1] < heading[3] < 210
    (table,) = [part["boxes"] for part in parts if part["kind"] == "table"]
    assert 295 < table[0][1] < table[0][3] < 360

    for path_ in (place, f"{place}.png"):
        missing = f"/documents/{document['id']}/pages/3"
        assert owner.get(missing, params=at).status_code == 404
        with served.client(served.tokens["other"]) as other:
            answers = [other.get(path_, params={"corpus": each}) for each in (corpus, "none")]
        assert [each.status_code for each in answers] == [404, 404]
        assert answers[0].text.replace(corpus, "none") == answers[1].text


def test_a_page_that_cannot_be_drawn_in_time_holds_up_no_other(
    database: Database,
    corpus: str,
    owner: httpx.Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents, "_SECONDS", 2)
    # A page without text is not drawn by who loads it.
    data = written_pages(b"0 0 m 99 99 l S", b"% no text\n" + ENDLESS)
    load(database, [write_file(tmp_path / "pattern.pdf", data)], corpus)
    (document,) = _documents(owner, corpus)
    place, at = f"/documents/{document['id']}/pages", {"corpus": corpus}
    with ThreadPoolExecutor(1) as beside:
        hostile = beside.submit(owner.get, f"{place}/2.png", params=at)
        for _ in range(3):
            assert owner.get(f"{place}/1.png", params=at).status_code == 200
            assert owner.get(f"{place}/1", params=at).status_code == 200
        answer = hostile.result()
    assert answer.status_code == 404
    assert "2 s of processor time" in answer.json()["error"]["what"]
    assert owner.get(f"{place}/2", params=at).status_code == 200  # nothing is drawn for its marks


def test_only_the_file_that_was_loaded_is_shown(
    database: Database, corpus: str, owner: httpx.Client, tmp_path: Path
) -> None:
    content = _file()
    path = write_file(tmp_path / "harbours.pdf", content)
    load(database, [path, write_file(tmp_path / "note.txt", "The mill at Sund.")], corpus)
    stored = _documents(owner, corpus)
    pages = {each["source"]: f"/documents/{each['id']}/pages/1" for each in stored}

    def status(name: str = "harbours.pdf") -> int:
        at = {"corpus": corpus}
        shown, drawn = (owner.get(f"{pages[name]}{end}", params=at) for end in ("", ".png"))
        assert shown.status_code == drawn.status_code
        return shown.status_code

    assert status() == 200
    assert status("note.txt") == 404
    path.write_bytes(_file("steamer"))
    assert status() == 404
    path.unlink()
    assert status() == 404
    path.mkdir()
    assert status() == 404
    path.rmdir()
    path.write_bytes(content)
    assert status() == 200

    # What an earlier version loaded is known once it is loaded again, and stays as it is.
    rows(database, "MATCH (d:Document {corpus: $c}) REMOVE d.fileHash", c=corpus)
    assert status() == 404
    assert load(database, [path], corpus).unchanged == 1
    assert status() == 200


def test_an_uploaded_file_is_kept_as_long_as_its_document(
    database: Database, corpus: str, served: Serving, owner: httpx.Client, home: Path
) -> None:
    at = {"corpus": corpus, "name": "harbours.pdf", "connect": "false"}

    def uploaded(content: bytes) -> str:
        assert owner.post("/documents", params=at, content=content).status_code == 201
        (document,) = _documents(owner, corpus)
        return f"/documents/{document['id']}"

    document = uploaded(_file())
    assert owner.get(f"{document}/pages/2.png", params=at).status_code == 200
    (kept,) = _kept(home)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (kept, kept.parent)] == [0o600, 0o700]
    # The next one of that name replaces it.
    uploaded(_file("steamer"))
    (now,) = _kept(home)
    assert now != kept
    assert owner.get(f"{document}/pages/1.png", params=at).status_code == 200
    assert owner.delete(document, params=at).status_code == 200
    assert not _kept(home)

    uploaded(_file())
    assert len(_kept(home)) == 1
    assert owner.delete(f"/corpora/{corpus}").status_code == 200
    assert not _kept(home)

    served.service.settings = ServeSettings(forget_uploads=True)
    document = uploaded(_file())
    assert not _kept(home)
    gone = owner.get(f"{document}/pages/1", params=at)
    assert gone.status_code == 404
    assert gone.json()["error"]["hint"] == "Load the PDF file again to see its pages."
