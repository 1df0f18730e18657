"""The wheel and the sdist: built, installed where the repository is not, and used from there."""

import json
import os
import re
import shutil
import site
import sys
import sysconfig
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from commands import environment, output
from graphs import write_file

from kgp_neo4j.demo import QUESTION
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graphs import delete_graph

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_SDIST = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
#: Reads, in the folders it was installed to, what no other module of the package checks by itself.
_USE = """
from importlib import resources
import kgp_neo4j
from kgp_neo4j.corpus.read.reader import load_reader
from kgp_neo4j.corpus.tables.questions.ranker import load_ranker
from kgp_neo4j.graphdb.server.jars import load_lock
from kgp_neo4j.graphdb.statements import folder
from kgp_neo4j.mindmap.load.graph_files import built_in, read_mapping
from kgp_neo4j.models.engine import load_scorer
places = [p for p in resources.files("kgp_neo4j.cypher").iterdir() if p.is_dir()]
names = [place.name for place in places if place.name[0] != "_" and place.name != "include"]
statements = [made for name in names for made in folder(name)]
load_reader(); load_ranker(); load_scorer(); load_lock()
mappings = [read_mapping(name) for name in built_in()]
print(kgp_neo4j.__file__, len(statements), len(mappings), sep="\\n")
"""


@dataclass(frozen=True)
class _Installed:
    """An environment with the wheel in it, and the packages of the one that runs the tests."""

    wheel: Path
    folder: Path
    scripts: Path

    def run(self, *command: str, **variables: str) -> str:
        """Run one of its programs, outside the repository, and return what it printed."""
        kept = ("PYTHON", "NEO4J_", "KGP_NEO4J_CORPUS", "VIRTUAL_ENV")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(kept)}
        program = shutil.which(command[0], path=str(self.scripts))
        assert program, f"{command[0]} was not installed"
        work = self.folder / "work"
        work.mkdir(exist_ok=True)
        return output(program, *command[1:], cwd=work, env=inherited | variables)

    def install(self, package: Path) -> None:
        """Install a wheel, without what it needs."""
        python = shutil.which("python", path=str(self.scripts))
        assert python
        pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
        options = ("--no-deps", "--no-index", "--ignore-installed", "-q")
        output(*pip, "install", *options, str(package), cwd=self.folder)


def _wheel(source: Path, out: Path) -> Path:
    """Build the wheel of a source tree or an sdist, with the setuptools that is there."""
    options = ("--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-q")
    wheel = (sys.executable, "-m", "pip", "wheel", *options, "-w", str(out), str(source))
    output(*wheel, cwd=out.parent)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the package is built of, without what builds leave behind in a repository."""
    tree = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(_ROOT / name, tree)
    for name in ("kgp_neo4j", "cypher"):
        # A checkout may have a link kgp_neo4j/cypher, by which it runs without an installation.
        hidden = {"__pycache__", *(["cypher"] if name == "kgp_neo4j" else [])}
        shutil.copytree(_ROOT / name, tree / name, ignore=lambda _, names, h=hidden: h & set(names))
    return tree


@pytest.fixture(scope="module")
def installed(source: Path, tmp_path_factory: pytest.TempPathFactory) -> _Installed:
    folder = tmp_path_factory.mktemp("installed")
    wheel = _wheel(source, folder / "wheel")
    home = folder / "venv"
    venv.create(home, with_pip=False)
    paths = sysconfig.get_paths("venv", {"base": str(home), "platbase": str(home)})
    scripts = Path(paths["scripts"])
    # After its own packages come those of this environment; that one's .pth files, and so an
    # editable installation of the repository, count for nothing there.
    others = [*site.getsitepackages(), *sys.path]
    lines = [each for each in dict.fromkeys(others) if Path(each).name.endswith("-packages")]
    Path(paths["purelib"], "packages.pth").write_text("\n".join(lines), encoding="utf-8")
    made = _Installed(wheel, folder, scripts)
    made.install(wheel)
    return made


def _held(wheel: Path) -> dict[str, int]:
    """Return the files of a wheel with their sums."""
    with zipfile.ZipFile(wheel) as archive:
        return {each.filename: each.CRC for each in archive.infolist()}


def test_the_wheel_holds_every_file_and_no_other(source: Path, installed: _Installed) -> None:
    expected = {
        (Path("kgp_neo4j") if top == "cypher" else Path()) / path.relative_to(source)
        for top in ("kgp_neo4j", "cypher")
        for path in (source / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {Path(name) for name in _held(installed.wheel) if ".dist-info/" not in name}
    assert held == expected


def test_the_sdist_builds_that_wheel(source: Path, installed: _Installed, tmp_path: Path) -> None:
    output(sys.executable, "-c", _SDIST, str(tmp_path), cwd=source)
    (sdist,) = tmp_path.glob("*.tar.gz")
    assert _held(_wheel(sdist, tmp_path / "wheel")) == _held(installed.wheel)


def test_what_it_brings_is_read_from_where_it_was_installed(installed: _Installed) -> None:
    place, statements, mappings = installed.run("python", "-c", _USE).splitlines()
    assert installed.folder in Path(place).parents
    files = (_ROOT / "cypher").glob("*/*.cypher")
    assert int(statements) == sum(file.parent.name != "include" for file in files)
    assert int(mappings) == len(list(_ROOT.glob("kgp_neo4j/mindmap/load/mappings/*.toml")))


def test_the_demo_runs_from_it(
    installed: _Installed, connection: Connection, database: Database, corpus: str
) -> None:
    version = installed.run("kgp-neo4j", "--version")
    assert installed.wheel.name.split("-")[1] in version
    try:
        shown = installed.run("kgp-neo4j", "demo", "--corpus", corpus, **environment(connection))
    finally:
        delete_graph(database, corpus)
    assert QUESTION in shown
    assert "grandmother" in shown


#: Loads a file by the service and prints what it says of it.
_SERVED = """
import sys
from starlette.testclient import TestClient
from kgp_neo4j import open_database
from kgp_neo4j.serve.app import make_app
from kgp_neo4j.serve.service import Service
asked, local = {"corpus": sys.argv[1], "name": "more.vcf"}, "http://localhost"
with open_database() as database, TestClient(make_app(Service(database)), local) as client:
    for content in sys.argv[2:]:
        print(client.post("/documents", params=asked, content=content).text)
"""
_CARD = "BEGIN:VCARD\nFN:{}\nTITLE:{}\nEND:VCARD\n"


def test_a_package_of_others_plugs_in(
    installed: _Installed, connection: Connection, corpus: str, tmp_path: Path
) -> None:
    """That of docs/plugins.md: its loader, agent and model are there by their names."""
    text = (_ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    project, cards = tmp_path / "project", tmp_path / "friends.vcf"
    project.mkdir()
    for name, kind in (("pyproject.toml", "toml"), ("address_book.py", "python")):
        blocks = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        write_file(project / name, "\n\n".join(b for b in blocks if "print(" not in b))
    people = (("Ada Holm", "keeper of bees"), ("Jon Reed", "mender of clocks"))
    write_file(cards, "".join(_CARD.format(*each) for each in people))
    installed.install(_wheel(project, tmp_path / "wheel"))

    def run(*command: str) -> str:
        return installed.run("kgp-neo4j", *command, **environment(connection))

    listed = [json.loads(line) for line in run("plugins", "--json").splitlines()]
    own = {(e["kind"], e["name"]) for e in listed if e["package"] == "kgp-address-book"}
    assert own == {("loader", "vcf"), ("agent", "title-words"), ("model", "quotes")}
    assert json.loads(run("load", str(cards), "--corpus", corpus, "--json"))["documents"] == 2
    run("connect", "--corpus", corpus)
    ask = ("ask", "Who is a mender of clocks?", "--corpus", corpus, "--agent", "title-words")
    answer = json.loads(run(*ask, "--llm", "quotes:x", "--json"))
    assert (answer["agent"], answer["usage"]["model"]) == ("title-words", "x")
    assert answer["passages"][0]["title"] == "Jon Reed"
    said = answer["statements"] or answer["overruled"]
    assert said[0]["text"] in ("title: mender of clocks", "title: keeper of bees")
    more = (_CARD.format("Bo Lind", "baker"), "BEGIN:VCARD\n")
    told = installed.run("python", "-c", _SERVED, corpus, *more, **environment(connection))
    assert '"documents":1,' in told.replace(" ", "")
    assert "more.vcf:1: a card without a name" in told
