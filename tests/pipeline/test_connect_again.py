"""`connect` after new, changed and deleted documents: the graph that a first run would make."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from connected import Watched, connected_graph
from graphs import rows, write_jsonl

from kgp_neo4j.corpus.connect import build, embedding_graph
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load import own_indexes
from kgp_neo4j.corpus.load.delete import delete_corpus, delete_document
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import DatabaseError
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings, SimilaritySettings

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


def _close(a: Mapping[Any, Any], b: Mapping[Any, Any]) -> bool:
    """Return whether all weights are as close as `connect` promises."""
    return all(
        (x is None and y is None) or abs(x - y) <= 0.006 * (1 + x) ** 2
        for key in a
        for x, y in zip(a[key], b[key], strict=True)
    )


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
    # The share that has changed is large in so small a corpus.
    monkeypatch.setattr(embedding_graph, "_FEW", 0.9)
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
            assert _close(found, whole[what]), what
    near, wanted = made["SIMILAR_ST"].keys(), whole["SIMILAR_ST"].keys()
    assert len(near) == len(wanted) == 4 * 102
    assert len(near & wanted) >= 0.98 * len(wanted)


def test_only_what_changed_is_written_and_the_graph_is_that_of_a_first_run(
    database: Database, corpus: str, changed: tuple[Path, SimilaritySettings]
) -> None:
    path, settings = changed
    with Watched(database, failing="connect/similar") as watched:
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


def test_graphs_of_the_same_documents_stay_as_they_are(
    database: Database, corpus: str, tmp_path: Path
) -> None:
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
    with (
        Watched(database, "load/delete_corpus_documents") as watched,
        pytest.raises(DatabaseError),
    ):
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
    stages = ("connect/keywords", "connect/shared", "connect/mentions", "connect/join")
    for failing in stages:
        with Watched(database, failing) as watched, pytest.raises(DatabaseError):
            connect(watched, corpus, similarity=settings)
    connect(database, corpus, similarity=settings)
    _same_as_a_first_run(database, corpus, path, settings)


# --- A few new documents in a large corpus ---

_EDGES = ("tfidf", "entity")
#: A passage that says what no other one does, one that names a document that is to come, two new
#: documents that say what these say, and one about something else.
_OLD = ("Ada Marsh", "The Zorblatt Quern was kept by Bo North at Adabay, near the frobnic mill.")
_NAMING = ("Cy Pell", "Cy Pell once named Zeb Quorn and Ulm O'Ost before anybody else did.")
_NEW = (
    ("Zeb Quorn", "Zeb Quorn found the Zorblatt Quern beside the frobnic mill with Ada Oakes."),
    ("Ulm O'Ost", "Ulm O'Ost never met Zeb Quorn. They saw Ada North, and no lanternada."),
)


@pytest.fixture
def large(
    database: Database, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str]]:
    """The 100 documents of a corpus that counts as large, connected but for similarity."""
    monkeypatch.setattr(build, "LEAST", 20)
    monkeypatch.setattr(build, "MOST", 0.04)
    records = [_OLD, _NAMING, *(_record(t, 0) for t in _TITLES[1:99])]
    load(database, [write_jsonl(tmp_path / "records.jsonl", *records)], corpus)
    assert connect(database, corpus, edges=_EDGES).joined == 0
    return records


def _counts(database: Database, corpus: str) -> list[dict[str, Any]]:
    query = (
        "MATCH (:Corpus {name: $c})-[:HAS_GRAPH]->(g)-[:HAS_COUNTS]->(n:Counts) "
        "RETURN g.type AS graph, count(*) AS parts, count(DISTINCT n.run) AS runs ORDER BY graph"
    )
    return rows(database, query, c=corpus)


def test_a_few_new_documents_are_joined_into_a_large_corpus(
    database: Database, corpus: str, large: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"
    load(database, [write_jsonl(path, *large, *_NEW)], corpus)
    with Watched(database) as watched:
        report = connect(watched, corpus, edges=_EDGES)
    assert report.joined == 2
    # The new ones, the one that says the same, and the one that names one of them.
    assert watched.rows["connect/marks"] == watched.rows["connect/mentions"] == 4
    made = connected_graph(database, corpus)
    parts = [{"graph": g, "parts": 1, "runs": 1} for g in ("entities", "keywords")]
    assert _counts(database, corpus) == parts
    assert connect(database, corpus, edges=_EDGES).joined == 0
    assert connected_graph(database, corpus) == made

    assert connect(database, corpus, edges=_EDGES, whole=True).joined == 0
    whole = connected_graph(database, corpus)
    query = "MATCH (p:Passage {corpus: $c}) WHERE p.title IN $t RETURN p.id AS id"
    titles = [title for title, _ in (*_NEW, _OLD, _NAMING)]
    ids = {row["id"] for row in rows(database, query, c=corpus, t=titles)}
    for what in ("links", "mentions"):
        of_these, others = (
            {key for key in graph[what] if any(id_ in key for id_ in ids)}
            for graph in (made, whole)
        )
        assert of_these == others, what
    for what, least in {
        "keywords": 0.98, "entities": 1, "links": 0.98, "mentions": 1,
        "SHARES_KEYWORD": 0.9, "SHARES_ENTITY": 0.9,
    }.items():  # fmt: skip
        both = made[what].keys() & whole[what].keys()
        assert len(both) >= least * max(len(made[what]), len(whole[what])), what
    assert {
        "['zorblatt quern', 2, False, 'zorblatt quern']",
        "['zeb quorn', 3, True, 'zeb quorn']",
    } <= (made["keywords"].keys())
    query = (
        "MATCH (:Passage {corpus: $c, title: 'Zeb Quorn'})-[e {namesTitle: false}]-"
        "(:Passage {title: 'Ada Marsh'}) "
        "RETURN type(e) AS type, coalesce(e.keywords, e.entities) AS items ORDER BY type"
    )
    assert [row["type"] for row in rows(database, query, c=corpus)] == [
        "SHARES_ENTITY", "SHARES_KEYWORD",
    ]  # fmt: skip
    assert {("Cy Pell", "Zeb Quorn"), ("Cy Pell", "Ulm O'Ost")} <= {
        (row["p"], row["q"])
        for row in rows(
            database,
            "MATCH (p:Passage {corpus: $c})-[{namesTitle: true}]->(q) "
            "RETURN p.title AS p, q.title AS q",
            c=corpus,
        )
    }


def test_passages_that_name_a_title_mention_a_new_document_of_that_title_too(
    database: Database, corpus: str, large: list[tuple[str, str]], tmp_path: Path
) -> None:
    query = (
        "MATCH (p:Passage {corpus: $c})-[:MENTIONS]->(d:Document) "
        "RETURN d.title AS title, count(*) AS n ORDER BY n DESC, title LIMIT 1"
    )
    (known,) = rows(database, query, c=corpus)
    other = write_jsonl(tmp_path / "other.jsonl", (known["title"], "Another one of that name."))
    load(database, [other], corpus)
    assert connect(database, corpus, edges=_EDGES).joined == 1
    query = (
        "MATCH (p:Passage {corpus: $c})-[:MENTIONS]->(d:Document {title: $t}) "
        "WITH p, count(*) AS documents RETURN documents, count(*) AS n ORDER BY n"
    )
    made = rows(database, query, c=corpus, t=known["title"])
    assert {"documents": 2, "n": known["n"]} in made
    connect(database, corpus, edges=_EDGES, whole=True)
    assert rows(database, query, c=corpus, t=known["title"]) == made


@pytest.mark.parametrize("shelved", [20, 1000])
def test_documents_of_any_text_are_joined(
    database: Database,
    corpus: str,
    tmp_path: Path,
    shelved: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_indexes, "LARGE", shelved)
    monkeypatch.setattr(build, "LEAST", 20)
    monkeypatch.setattr(build, "MOST", 0.9)
    old = [
        *((f"Doc {n}", f"Plain text number {n} about lantern {n % 7}.") for n in range(30)),
        ("カメラ店", "古いカメラ店は東京にある。"),
        ("서울", "서울은 대한민국의 수도이다. Neo4j를 쓴다."),
        ("A", 'He saw カメラ博物館 and Schindler\'s "List" \\ AND NOT (x).'),
        ("B", "It was sold to U.S. Steel for 1,000 ﬁnes."),
    ]
    new = [
        ("カメラ博物館", "カメラ博物館は古いカメラ店の隣にある。"),
        ("대한민국", "대한민국의 수도는 서울이다."),
        ('Schindler\'s "List"', 'A film \\ "quoted" + - && || ! ( ) { } [ ] ^ ~ * ? : / AND'),
        ("-", "..."),
        ("U.S. Steel", "U.S. Steel paid 1,000 ﬁnes, 7⅓."),
        ("x" * 300, "y" * 5000),
        ("Doc 3 (film)", "Doc 3 is a film about Doc 4. \U0001f600 e\u0301t\u00e9"),
    ]
    load(database, [write_jsonl(tmp_path / "old.jsonl", *old)], corpus)
    connect(database, corpus, edges=_EDGES)
    load(database, [write_jsonl(tmp_path / "new.jsonl", *new)], corpus)
    assert connect(database, corpus, edges=_EDGES).joined == 7
    queries = (
        "MATCH (p:Passage {corpus: $c})-[m:MENTIONS]->(d:Document) "
        "RETURN p.id AS p, d.id AS d, m.surface AS surface ORDER BY p, d",
        "MATCH (p:Passage {corpus: $c})-[:HAS_KEYWORD]->(k {named: true}) "
        "RETURN p.id AS p, k.text AS k, k.documentFrequency AS n ORDER BY p, k",
    )
    made = [rows(database, query, c=corpus) for query in queries]
    connect(database, corpus, edges=_EDGES, whole=True)
    assert made == [rows(database, query, c=corpus) for query in queries]
    assert {"schindler s list", "u s steel", "カ メ ラ 博 物 館"} <= {
        row["k"] for row in made[1] if row["n"] == 2
    }
    # Without phrases too.
    bare = EntitySettings(phrases=False)
    for name, joined in (("Zed", 0), ("Zeda", 1)):
        load(
            database, [write_jsonl(tmp_path / f"{name}.jsonl", (name, f"{name} saw Zed."))], corpus
        )
        assert connect(database, corpus, edges=["entity"], entities=bare).joined == joined


def test_all_is_counted_again_where_much_has_changed_or_a_run_was_cut_short(
    database: Database, corpus: str, large: list[tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"

    def connected(*records: tuple[str, str], **settings: Any) -> int:
        load(database, [write_jsonl(path, *records)], corpus)
        return connect(database, corpus, edges=_EDGES, **settings).joined

    assert connected(*_NEW) == 2
    # One that is gone and one in its place are two changes more, of which there may be four.
    delete_document(database, corpus, _TITLES[50])
    assert connected(("Odd One", "Odd One came to Ulm O'Ost.")) == 1
    assert connected(("Even Two", "Even Two came to Ulm O'Ost.")) == 0
    # Since then nothing has changed.
    assert connected(("Late Three", "Late Three came to Even Two.")) == 1
    sparse = KeywordSettings(keywords=3)
    assert connected(("Late Four", "Late Four came to Even Two."), keywords=sparse) == 1
    for failing, edge in (
        ("connect/keywords", "tfidf"),
        ("connect/keep_counts", "tfidf"),
        ("connect/mentions", "entity"),
    ):
        load(database, [write_jsonl(path, (f"By {failing}", f"It was {failing}."))], corpus)
        with Watched(database, failing) as watched, pytest.raises(DatabaseError):
            connect(watched, corpus, edges=[edge])
        assert connect(database, corpus, edges=[edge]).joined == 0
    connect(database, corpus, edges=_EDGES, whole=True)
    made = connected_graph(database, corpus)
    assert connect(database, corpus, edges=_EDGES, whole=True).joined == 0
    assert connected_graph(database, corpus).keys() == made.keys()
    for what, found in connected_graph(database, corpus).items():
        assert found.keys() == made[what].keys(), what
    delete_corpus(database, corpus)
    assert rows(database, "MATCH (n:Counts) WHERE NOT (n)<-[:HAS_COUNTS]-() RETURN n") == []
