"""`connect` after new, changed and deleted documents: the graph that a first run would make."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from connected import Watched, connected_graph
from graphs import rows, write_jsonl

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load import own_indexes
from kgp_neo4j.corpus.load.delete import delete_corpus, delete_document
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import DatabaseError
from kgp_neo4j.types.settings import KeywordSettings, SimilaritySettings

_FIRST = ("Ada", "Bo", "Cleo", "Dag", "Eve", "Finn", "Gro", "Hal", "Ida", "Jon", "Kai", "Liv")
_LAST = ("Marsh", "North", "Oakes", "Pike", "Quill", "Reed", "Stone", "Thorn", "Vale", "Wells")
#: Ten of each first name, who keep to themselves.
_TITLES = [f"{first} {last}" for first in _FIRST for last in _LAST]
_NOUNS = [f"{a}{b}" for a in ("lan", "har", "win", "bel") for b in ("tern", "bour", "dow", "fry")]


def _record(title: str, version: int) -> tuple[str, str]:
    drawn = random.Random(f"{title} {version}")
    first = title.split()[0]
    people = [other for other in _TITLES if other.startswith(f"{first} ")]
    things = [f"{noun}{first.lower()}" for noun in drawn.sample(_NOUNS, 8)]
    seen = " ".join(f"the {a} {b}" for a, b in zip(things[::2], things[1::2], strict=True))
    others = " and ".join(drawn.sample(people, 2))
    return title, f"At {first}bay {others} saw {seen}. Then {title} left."


@pytest.fixture
def changed(
    database: Database,
    corpus: str,
    tmp_path: Path,
    tiny_encoder: str,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[Path, SimilaritySettings]:
    """A corpus that was connected, and has lost, changed and got documents since."""
    monkeypatch.setattr(own_indexes, "LARGE", 20)
    path = tmp_path / "records.jsonl"
    load(database, [write_jsonl(path, *(_record(t, 0) for t in _TITLES[:100]))], corpus)
    settings = SimilaritySettings(encoder=tiny_encoder, neighbours=4)
    connect(database, corpus, similarity=settings)
    for title in _TITLES[:4]:
        delete_document(database, corpus, title)
    records = [_record(t, int(t in _TITLES[4:8])) for t in _TITLES[4:106]]
    load(database, [write_jsonl(path, *records)], corpus)
    # One comes back as it was: its node is another one, to which no edge leads.
    delete_document(database, corpus, _TITLES[20])
    load(database, [path], corpus)
    return path, settings


def _same_as_a_first_run(
    database: Database, corpus: str, path: Path, settings: SimilaritySettings
) -> None:
    made = connected_graph(database, corpus)
    delete_corpus(database, corpus)
    load(database, [path], corpus)
    connect(database, corpus, similarity=settings)
    whole = connected_graph(database, corpus)
    for what, found in made.items():
        if what != "SIMILAR_ST":
            assert found.keys() == whole[what].keys(), what
            for key in found:
                for x, y in zip(found[key], whole[what][key], strict=True):
                    # As close as `connect` promises.
                    assert x == y or abs(x - y) <= 0.006 * (1 + x) ** 2, what
    near, wanted = made["SIMILAR_ST"].keys(), whole["SIMILAR_ST"].keys()
    assert len(near) == len(wanted) == 4 * 102
    assert len(near & wanted) >= 0.98 * len(wanted)


@pytest.mark.newest
def test_only_what_changed_is_written_and_the_graph_is_that_of_a_first_run(
    database: Database, corpus: str, changed: tuple[Path, SimilaritySettings]
) -> None:
    path, settings = changed
    with Watched(database) as watched:
        report = connect(watched, corpus, similarity=settings)
        assert report.embedded == 11
        first = dict(watched.rows)
        watched.rows.clear()
        again = connect(watched, corpus, similarity=settings)
    # A passage that is new or says other keywords, not each of the 102.
    assert 11 <= first["connect/marks"] < 90
    assert 11 <= first["connect/mentions"] < 90
    assert first["connect/join"] >= 11
    # Nothing is left to do.
    assert {p: n for p, n in watched.rows.items() if n and p.startswith("connect/")} == {}
    assert again.shared_keyword_edges == report.shared_keyword_edges
    _same_as_a_first_run(database, corpus, path, settings)
    # What somebody has meddled with is not compared with what there should be, unless asked.
    query = "MATCH (:Passage {corpus: $c})-[e:HAS_KEYWORD|SHARES_ENTITY]->() SET e.tfidf = 9"
    rows(database, query, c=corpus)
    with Watched(database) as watched:
        connect(watched, corpus, similarity=settings, anew=True)
    assert watched.rows["connect/marks"] == watched.rows["connect/mentions"] == 102
    query = "MATCH (:Passage {corpus: $c})-[e {tfidf: 9}]->() RETURN count(e) AS n"
    assert rows(database, query, c=corpus) == [{"n": 0}]
    # One new passage is joined to its nearest, and those that may have it among theirs.
    load(database, [write_jsonl(path, _record(_TITLES[106], 0))], corpus)
    with Watched(database) as watched:
        connect(watched, corpus, similarity=settings)
    assert 1 < watched.rows["connect/join"] < 50


def test_graphs_of_the_same_documents_stay(database: Database, corpus: str, tmp_path: Path) -> None:
    edges = ("tfidf", "entity")
    path = write_jsonl(tmp_path / "records.jsonl", *(_record(t, 0) for t in _TITLES[:20]))
    load(database, [path], corpus)
    first = connect(database, corpus, edges=edges)
    made = connected_graph(database, corpus)
    again = connect(database, corpus, edges=edges)
    assert {"extract keywords", "link entities"}.isdisjoint(again.seconds)
    assert replace(again, seconds={}) == replace(first, seconds={})
    other = connect(database, corpus, edges=edges, keywords=KeywordSettings(neighbours=2))
    assert "extract keywords" in other.seconds
    assert "link entities" not in other.seconds
    # A deletion that is cut off has removed keywords, and no document yet.
    with Watched(database, "load/delete_corpus_documents") as watched, pytest.raises(DatabaseError):
        delete_corpus(watched, corpus)
    load(database, [path], corpus)
    connect(database, corpus, edges=edges)
    assert connected_graph(database, corpus) == made
    # Its documents are the same, and one of its passages is another node.
    delete_document(database, corpus, _TITLES[3])
    load(database, [path], corpus)
    back = connect(database, corpus, edges=edges)
    assert {"extract keywords", "link entities"} <= back.seconds.keys()
    assert connected_graph(database, corpus) == made


def test_a_run_that_is_cut_short_anywhere_ends_in_the_same_graph(
    database: Database, corpus: str, changed: tuple[Path, SimilaritySettings]
) -> None:
    path, settings = changed
    stages = {
        "connect/keywords": "tfidf",
        "connect/shared": "tfidf",
        "connect/mentions": "entity",
        "connect/join": "knn-st",
    }
    for failing, graph in stages.items():
        with Watched(database, failing) as watched, pytest.raises(DatabaseError):
            connect(watched, corpus, edges=[graph], similarity=settings)
    connect(database, corpus, similarity=settings)
    _same_as_a_first_run(database, corpus, path, settings)
