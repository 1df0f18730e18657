"""The demo: one command from nothing to an answer over two documents."""

from pathlib import Path

import pytest
from asking import ask
from commands import environment, prints
from graphs import rows, snapshot, write_file

from kgp_neo4j import demo
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import CorpusError

#: The titles on the way from each question to its answer, and a word of the answer.
_WAYS = {
    demo.QUESTION: (("Hesk Bridge", "Yusuf Arden"), "grandmother"),
    demo.QUESTIONS[0]: (("Halse Breakwater", "Ruan Quarry"), "otters"),
    demo.QUESTIONS[1]: (("Ardfin Lighthouse", "Isobel Tarn"), "apprenticed"),
    demo.QUESTIONS[2]: (("Hesk Bridge", "Sula Grey", "Lindqvist Yard"), "Anders Lindqvist"),
}


@pytest.mark.parametrize("agent", ["knn", "tfidf"])
@pytest.mark.parametrize("question", _WAYS)
def test_the_answer_is_reached_over_the_other_documents(
    database: Database, demo_graph: str, question: str, agent: str
) -> None:
    way, word = _WAYS[question]
    retriever = PassageRetriever(database, demo_graph, agent=agent, settings=demo.SETTINGS)
    answer = ask(database, demo_graph, question, retriever)
    passages = {passage.id: passage for passage in answer.passages}
    paths = [tuple(passages[s.passage].title for s in path.steps) for path in answer.paths]
    assert way in paths
    reached = passages[answer.paths[paths.index(way)].last]
    assert word in reached.text
    # Among the paths that `ask` prints; over one edge only, it is the first of them.
    walked = [path for path in paths if len(path) > 1]
    assert way in walked[: 1 if len(way) == 2 else 5]


@pytest.mark.parametrize("question", _WAYS)
def test_what_it_suggests_is_answered(database: Database, demo_graph: str, question: str) -> None:
    answer = make_pipeline(database, demo_graph, settings=demo.SUGGESTED).ask(question)
    said = [answer.text, *(sentence.text for sentence in answer.shown_sentences)]
    assert any(_WAYS[question][1] in each for each in said), said


def test_again_it_changes_nothing(database: Database, demo_graph: str) -> None:
    before = snapshot(database, demo_graph)
    loaded, connected = demo.prepare(database, demo_graph)
    assert connected is None
    assert loaded.unchanged == 21
    demo.prepare_graph(database, demo_graph)
    assert snapshot(database, demo_graph) == before


def test_documents_that_another_installation_loaded_are_replaced(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "kgp_neo4j" / "demo" / "documents"
    for file in sorted(demo.DOCUMENTS.iterdir())[:3]:
        write_file(elsewhere / file.name, file.read_bytes())
    load(database, [elsewhere], corpus)
    assert demo.prepare(database, corpus)[1] is not None
    found = rows(database, "MATCH (d:Document {corpus: $c}) RETURN count(d) AS n", c=corpus)
    assert found == [{"n": 21}]


def test_other_documents_are_left_alone(database: Database, corpus: str, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("My own words.", encoding="utf-8")
    load(database, [tmp_path], corpus)
    before = snapshot(database, corpus)
    with pytest.raises(CorpusError, match="documents of your own"):
        demo.prepare(database, corpus)
    assert snapshot(database, corpus) == before


@pytest.mark.slow
def test_the_command_prints_answer_path_passages_and_what_to_try_next(
    connection: Connection, demo_graph: str
) -> None:
    shown = prints("demo", "--corpus", demo_graph, **environment(connection))
    told = ("Yusuf Arden [2]", "grandmother", "What to try next")
    for said in (*told, demo.QUESTION, *demo.QUESTIONS, demo.TABLE_QUESTION, demo.SYMPTOMS):
        assert said in shown
    assert f"--corpus '{demo_graph}'" in shown
