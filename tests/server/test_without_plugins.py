"""A server with no plugin at all, as Aura is: no procedures of ours, no Graph Data Science."""

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import environment, prints
from graphs import rows

from kgp_neo4j import Corpus, Database, KnowledgeGraph
from kgp_neo4j.corpus.load import stored
from kgp_neo4j.demo import DOCUMENTS, GRAPH, QUESTION, SETTINGS, SYMPTOMS, TABLE_QUESTION
from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.graphdb.database import make_schema
from kgp_neo4j.graphdb.server import jars, startup
from kgp_neo4j.graphdb.server.jars import line_of

_NEAREST = """
MATCH (p:Passage {corpus: $c})-[s:SIMILAR_ST]->(q)
RETURN p.text AS passage, q.text AS near, s.score AS score
"""


@pytest.fixture(scope="module")
def bare(folders: Folders, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A server named by NEO4J_URI, with the jars of the embedded one but for its plugins."""
    own = Folders.from_environment(tmp_path_factory.mktemp("bare"))
    whole = jars.install(folders.cache, line_of(own.home).name)
    scanned = {jar.name for jar in whole.plugins.iterdir()}
    few = dataclasses.replace(
        whole,
        plugins=tmp_path_factory.mktemp("plugins"),
        class_path=tuple(
            jar
            for jar in whole.class_path
            # Graph Data Science begins with an extension, which wants all of its plugins.
            if jar.name not in scanned and "opengds" not in jar.name
        ),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(startup.jars, "install", lambda *_, **__: few)
        patch.setattr(startup, "make_archive", lambda *_: None)
        try:
            yield dataclasses.replace(startup.start(own, memory="1g"), embedded=False)
        finally:
            startup.stop(own)


@pytest.fixture(scope="module")
def opened(bare: Connection) -> Iterator[Database]:
    with Database(bare) as made:
        make_schema(made)
        yield made


@pytest.mark.newest
@pytest.mark.slow
def test_a_corpus_is_loaded_connected_asked_and_deleted(
    opened: Database, demo: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not opened.capabilities().gds
    monkeypatch.setattr(stored, "LARGE", 20)  # with indexes of its own
    with Corpus("large", database=opened) as large:
        large.load([DOCUMENTS])
        large.connect()
        assert rows(opened, "MATCH (c:Corpus {name: 'large'}) RETURN c.shelf = c.scope AS own") == [
            {"own": True}
        ]
    monkeypatch.undo()
    with Corpus("small", database=opened) as small:
        small.load([DOCUMENTS])
        report = small.connect()
        known = {
            (row["passage"], row["near"]): pytest.approx(row["score"], abs=1e-5)
            for row in rows(demo.database, _NEAREST, c=demo.name)
        }
        for corpus in ("small", "large"):
            made = rows(opened, _NEAREST, c=corpus)
            assert {(row["passage"], row["near"]): row["score"] for row in made} == known
        assert report.similarity_edges == len(known)
        for question in (QUESTION, TABLE_QUESTION):
            here = small.ask(question, settings=SETTINGS)
            assert here.text == demo.ask(question, settings=SETTINGS).text
        rows(opened, "MATCH (p:Passage {corpus: 'small'})-[s:SIMILAR_ST]->() DELETE s")
        assert small.connect(anew=True).similarity_edges == len(known)
        assert len(rows(opened, _NEAREST, c="small")) == len(known)
        small.delete()
    assert not rows(opened, "MATCH (p:Passage {corpus: 'small'}) RETURN p")


@pytest.mark.newest
def test_a_graph_is_explored(opened: Database, database: Database, demo_graph: str) -> None:
    with KnowledgeGraph("ailments", database=opened) as graph:
        graph.load([GRAPH / "ailments.tsv"], types={"has_symptom": ("Disease", "Symptom")})
        there = KnowledgeGraph(demo_graph, database=database).ask(SYMPTOMS)
        assert graph.ask(SYMPTOMS).text == there.text
        graph.delete()


#: What each command of the table in docs/install.md is run with, in its order.
_COMMANDS = {
    "load": (str(DOCUMENTS), "--corpus", "bare"),
    "connect": ("--corpus", "bare"),
    "corpora": (),
    "ask": (QUESTION, "--corpus", "bare", "--trace"),
    "explain": ("--corpus", "bare"),
    "retrieve": (
        *(str(DOCUMENTS.parent / "questions.jsonl"), "--corpus", "bare"),
        *("--out", "{folder}/run.jsonl"),
    ),
    "load-kg": (str(GRAPH / "ailments.tsv"), "--graph", "bare"),
    "mindmap": (SYMPTOMS, "--graph", "bare"),
    "export": ("bare", "{folder}/bare.kgp"),
    "import": ("{folder}/bare.kgp", "--replace"),
    "delete": ("--corpus", "bare", "--yes"),
    "install": (),
    "doctor": (),
}


@pytest.mark.slow
def test_the_table_of_what_works_holds(opened: Database, tmp_path: Path) -> None:
    """Each command that docs/install.md names works; what it says is missing is."""
    table = (Path(__file__).parents[2] / "docs" / "install.md").read_text(encoding="utf-8")
    works, missing = re.findall(r"^\| ([^|]*`[^|]*) \| (yes|no)", table, re.MULTILINE), ""
    working = " ".join(row for row, word in works if word == "yes")
    listed = re.findall("`([a-z-]+)`", working)
    assert sorted(listed) == sorted(_COMMANDS)
    variables = environment(opened.connection)
    for name, arguments in _COMMANDS.items():
        missing += prints(name, *(one.format(folder=tmp_path) for one in arguments), **variables)
    for sentence in ("No Graph Data Science", "No procedures custom.kgp.*"):
        assert sentence in missing
