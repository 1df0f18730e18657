"""A server with APOC Core alone, as Aura is: no procedures of ours, no Graph Data Science."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Iterator

import pytest
from commands import environment, kgp
from graphs import rows

from kgp_neo4j import Corpus, KnowledgeGraph
from kgp_neo4j.corpus.load import own_indexes
from kgp_neo4j.demo import DOCUMENTS, GRAPH, QUESTION, SETTINGS, SYMPTOMS, TABLE_QUESTION
from kgp_neo4j.environment.folders import Connection, Folders
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import open_ready
from kgp_neo4j.graphdb.server import jars, supervise

_NEAREST = """
MATCH (p:Passage {corpus: $c})-[s:SIMILAR_ST]->(q)
RETURN p.text AS passage, q.text AS near, s.score AS score
"""


@pytest.fixture(scope="module")
def bare(folders: Folders, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """A server of its own, with the jars of the embedded one but for most of its plugins.

    Its user is one who named it by NEO4J_URI, so that nothing is installed into it unasked.
    """
    whole = jars.install(folders.cache)
    plugins = tmp_path_factory.mktemp("plugins")
    (core,) = (jar for jar in whole.class_path if jar.name.startswith("apoc-core-"))
    shutil.copy(core, plugins)
    scanned = {jar.name for jar in whole.plugins.iterdir()} - {core.name}
    few = dataclasses.replace(
        whole,
        plugins=plugins,
        class_path=tuple(
            jar
            for jar in whole.class_path
            # Graph Data Science begins with an extension, which wants all of its plugins.
            if jar.name not in scanned and "opengds" not in jar.name
        ),
    )
    own = Folders.from_environment(tmp_path_factory.mktemp("bare"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supervise, "install", lambda *_, **__: few)
        patch.setattr(supervise, "make_archive", lambda *_: None)
        try:
            yield dataclasses.replace(supervise.start(own, memory="1g"), embedded=False)
        finally:
            supervise.stop(own)


@pytest.fixture(scope="module")
def opened(bare: Connection) -> Iterator[Database]:
    with open_ready(bare) as made:
        yield made


@pytest.fixture
def demo(database: Database, demo_corpus: str) -> Corpus:
    """The same documents on the server with everything."""
    return Corpus(demo_corpus, database=database)


@pytest.mark.slow
def test_a_corpus_is_loaded_connected_asked_and_deleted(
    opened: Database, demo: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not opened.capabilities().gds
    monkeypatch.setattr(own_indexes, "LARGE", 20)  # with indexes of its own
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


def test_a_knowledge_graph_is_explored(
    opened: Database, database: Database, demo_graph: str
) -> None:
    with KnowledgeGraph("ailments", database=opened) as graph:
        graph.load([GRAPH / "ailments.tsv"], types={"has_symptom": ("Disease", "Symptom")})
        there = KnowledgeGraph(demo_graph, database=database).ask(SYMPTOMS)
        assert graph.ask(SYMPTOMS).text == there.text
        graph.delete()


def test_what_needs_the_plugins_says_so(opened: Database) -> None:
    variables = environment(opened.connection)
    told = kgp("doctor", **variables)
    assert told.returncode == 0
    assert "No Graph Data Science" in told.stdout
    assert "No APOC Extended" in told.stdout
    refused = kgp("install", **variables)
    assert refused.returncode == 1
    assert "APOC Extended" in refused.stderr
    assert "Traceback" not in refused.stderr
    asked = kgp("ask", QUESTION, "--corpus", "large", "--json", **variables)
    assert asked.returncode == 0, asked.stderr
