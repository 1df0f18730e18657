"""What the embedded server gives to Neo4j Browser: the jar with style and guide."""

import json
import os
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from kgp_neo4j.graphdb.server import jars
from kgp_neo4j.graphdb.server.jars import LINES, Artifact, Installation, Lock, load_lock


@dataclass
class Place:
    """A cache, and a small jar of Browser's shape."""

    cache: Path
    jar: Path

    def prepare(self, version: str = "5.26.0") -> Path:
        """Return our jar, for a version of Neo4j."""
        lock = Lock((Artifact(f"org.neo4j:neo4j:{version}", "lib", 1, "0"),))
        lock = load_lock(version) if version in LINES else lock
        installed = Installation(lock, self.cache / "plugins", self.jar, ())
        return jars.prepare_browser(self.cache, installed)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "cache", tmp_path / "neo4j-browser-1.jar")
    made.cache.mkdir()
    with zipfile.ZipFile(made.jar, "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "x")
        jar.writestr("browser/index.html", "<html><body></body></html>")
    return made


def test_the_style_is_laid_as_browser_keeps_it(place: Place) -> None:
    """Browser drops the quotes of a style, and keeps every other value as it stands."""
    with zipfile.ZipFile(place.prepare()) as made:
        assert {name.partition("/")[0] for name in made.namelist()} == {"browser"}
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
    first = place.prepare()
    made = first.stat()
    assert place.prepare() == first
    assert first.stat() == made
    second = place.prepare("2026")
    assert second != first
    monkeypatch.setattr(jars, "_text", lambda name: f"another {name}")
    third = place.prepare("5.26.1")
    with zipfile.ZipFile(third) as jar:
        assert jar.read("browser/kgp/guide.html") == b"another guide.html"
    assert set((place.cache / "browser").iterdir()) == {first, second, third}


@pytest.mark.parametrize("damage", ["cut off", "gone", "emptied"])
def test_a_damaged_jar_is_made_anew(place: Place, damage: str) -> None:
    kept = place.prepare()
    if damage == "cut off":
        os.truncate(kept, 100)
    elif damage == "gone":
        kept.unlink()
    else:
        kept.write_bytes(b"")
    with zipfile.ZipFile(place.prepare()) as made:
        assert made.testzip() is None
