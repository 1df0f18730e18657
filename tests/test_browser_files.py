"""What the embedded server gives to Neo4j Browser: the zip with style and guide, the favourites."""

from __future__ import annotations

import json
import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from graphs import rows

from kgp_neo4j import server
from kgp_neo4j.cli import cli
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ServerError
from kgp_neo4j.queries import folder
from kgp_neo4j.server import browser, supervise
from kgp_neo4j.server.artifacts import Artifact, Lock
from kgp_neo4j.server.favourites import write_favourites
from kgp_neo4j.server.install import Installation
from kgp_neo4j.settings import Connection, Folders

_PAGE = b'<html><body><script src="app.js"></script></body></html>'
_FILES = {"browser/index.html": _PAGE, "browser/assets/a.js": b"1;" * 5000}


@dataclass
class Place:
    """A cache and a home, and a small jar of Browser's shape."""

    cache: Path
    home: Path
    jar: Path
    said: list[str]

    @property
    def zip(self) -> Path:
        return self.home / "web" / "neo4j-browser.zip"

    def installed(self, sha256: str = "0") -> Installation:
        coordinate = "org.neo4j.client:neo4j-browser:1"
        artifact = Artifact(coordinate, "lib", self.jar.stat().st_size, sha256)
        lock = Lock({}, (artifact,), "x")
        return Installation(lock, self.cache / "plugins", (self.cache / "other.jar", self.jar))

    def prepare(self, sha256: str = "0") -> bool:
        made = self.installed(sha256)
        return browser.prepare_browser(self.cache, self.home, made, self.said.append)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "cache", tmp_path / "home", tmp_path / "neo4j-browser-1.jar", [])
    made.cache.mkdir()
    made.home.mkdir()
    with zipfile.ZipFile(made.jar, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "x")
        for name, content in _FILES.items():
            jar.writestr(name, content)
    return made


def test_the_zip_holds_browser_with_style_and_guide(place: Place) -> None:
    assert place.prepare()
    with zipfile.ZipFile(place.zip) as made:
        names = made.namelist()
        assert names[0] == "browser/"  # what Neo4j takes for its folder
        page = made.read("browser/index.html").decode()
        assert page.replace('<script src="kgp/style.js"></script>', "").encode() == _PAGE
        assert page.index("kgp/style.js") < page.index("app.js")
        assert made.read("browser/assets/a.js") == _FILES["browser/assets/a.js"]
        assert not any(name.startswith("META-INF") for name in names)
        assert b'class="guide"' in made.read("browser/kgp/guide.html")
        assert b"node.Passage" in made.read("browser/kgp/style.grass")
        assert names.index("browser/kgp/") < names.index("browser/kgp/style.grass")
    assert place.said == []


def test_the_style_is_laid_as_browser_keeps_it(place: Place) -> None:
    """Browser drops the quotes of a style, and keeps every other value as it stands."""
    assert place.prepare()
    with zipfile.ZipFile(place.zip) as made:
        script = made.read("browser/kgp/style.js").decode()
        grass = made.read("browser/kgp/style.grass").decode()
    literal, version = re.findall(r'^\}\)\((".*"), (".*")\);$', script, re.MULTILINE)[0]
    style = json.loads(json.loads(literal))
    assert style["node.Passage"]["caption"] == "{title}"
    assert style["relationship"]["caption"] == "<type>"
    assert style["node.Passage"]["color"].startswith("#")
    assert len(style) == grass.count("{\n")
    assert sum(map(len, style.values())) == grass.count(";")
    assert len(json.loads(version)) == 16


def test_it_is_made_once_and_anew_when_browser_or_our_files_change(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place.prepare()
    first = place.zip.stat()
    assert place.prepare()
    assert place.zip.stat() == first
    assert place.prepare("another jar")
    second = place.zip.stat()
    assert second.st_ino != first.st_ino
    monkeypatch.setattr(browser, "_text", lambda name: f"another {name}")
    assert place.prepare("another jar")
    with zipfile.ZipFile(place.zip) as made:
        assert made.read("browser/kgp/guide.html") == b"another guide.html"
    assert len(list((place.cache / "browser").iterdir())) == 1  # the old ones are gone


@pytest.mark.parametrize("damage", ["cut off", "gone", "emptied"])
def test_a_damaged_zip_is_made_anew(place: Place, damage: str) -> None:
    assert place.prepare()
    (kept,) = (place.cache / "browser").iterdir()
    if damage == "cut off":
        os.truncate(kept, 100)
    elif damage == "gone":
        place.zip.unlink()
    else:
        kept.unlink()
        place.zip.write_bytes(b"")
    assert place.prepare()
    with zipfile.ZipFile(place.zip) as made:
        assert made.testzip() is None


def test_what_goes_wrong_is_told_and_stops_nothing(place: Place) -> None:
    assert place.prepare()
    place.jar.write_bytes(b"not a zip")
    assert not place.prepare("another jar")
    assert not place.zip.exists()  # so that the plain Browser is served
    assert place.said[0].startswith("Neo4j Browser comes without the guide")
    with zipfile.ZipFile(place.jar, "w") as jar:
        jar.writestr("browser/index.html", "<main>")
    assert not place.prepare("a third jar")
    assert "page is not as expected" in place.said.pop()
    (place.home / "web").rmdir()
    (place.home / "web").write_text("a file where the folder should be")
    assert not place.prepare("0")
    assert len(place.said) == 2


def test_a_server_that_does_not_start_with_it_starts_without(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real server, with a zip that ends it: a file before its folder."""

    def spoilt(cache: Path, home: Path, *_: object) -> bool:
        target = home / "web" / "neo4j-browser.zip"
        target.parent.mkdir()
        with zipfile.ZipFile(target, "w") as made:
            made.mkdir("browser/")
            made.writestr("browser/no/such/folder.html", "x")
        return True

    own = Folders(folders.cache, tmp_path / "home")
    said: list[str] = []
    monkeypatch.setattr(supervise, "prepare_browser", spoilt)
    try:
        connection = server.start(own, echo=said.append)
        with Database(connection) as database:
            assert rows(database, "RETURN 1 AS one") == [{"one": 1}]
    finally:
        server.stop(own)
    assert any("does not start with the guide" in line for line in said)
    assert not (own.home / "web" / "neo4j-browser.zip").exists()
    assert "post_connect" not in (own.home / "conf" / "neo4j.conf").read_text(encoding="utf-8")


def test_the_address_of_browser_holds_no_password() -> None:
    made = Connection("bolt://127.0.0.1:7687", "neo4j", "secret", browser="http://127.0.0.1:7474")
    assert made.browser_address == (
        "http://127.0.0.1:7474/browser/?dbms=bolt%3A%2F%2Fneo4j%40127.0.0.1%3A7687"
        "&db=neo4j&preselectAuthMethod=NATIVE"
    )
    assert Connection("bolt://127.0.0.1:7687", "neo4j", "secret").browser_address is None


# --- Favourites -----------------------------------------------------------------------------------


def test_favourites_are_the_procedures_examples(tmp_path: Path) -> None:
    out = tmp_path / "favourites.zip"
    assert cli.main(["server", "favourites", "--out", str(out)], standalone_mode=False) is None
    examples = {made.example for made in folder("procedures")}
    with zipfile.ZipFile(out) as made:
        texts = {name: made.read(name).decode() for name in made.namelist()}
    assert len(texts) == len(examples)
    for name, text in texts.items():
        assert name.startswith("kgp-neo4j/")
        assert name.endswith(".cypher")
        title, example = text.rstrip("\n").split("\n", 1)
        short = name.removeprefix("kgp-neo4j/").removesuffix(".cypher")
        assert title.startswith(f"// {short}: ")
        assert len(title) <= 64
        assert example in examples
    before = out.read_bytes()
    write_favourites(out)
    assert out.read_bytes() == before


def test_favourites_that_cannot_be_written_say_so(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="favourites could not be written"):
        write_favourites(tmp_path / "nowhere" / "f.zip")
    (tmp_path / "folder.zip").mkdir()
    with pytest.raises(ServerError, match="favourites could not be written"):
        write_favourites(tmp_path / "folder.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.zip"]
