"""The graphs of `connect`: what is in them, after changes and faults, encoders, odd corpora."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import environment, prints
from connected import Watched, connected_graph
from graphs import load_records, rows, state_of, write_file, write_jsonl
from small_graphs import FILMS, edges

from kgp_neo4j import (
    Corpus,
    Database,
    EntitySettings,
    KeywordSettings,
    Question,
    SimilaritySettings,
)
from kgp_neo4j.corpus.connect import embedding_graph, keyword_graph
from kgp_neo4j.corpus.connect.embedding_graph import EmbeddingGraph, choose_encoder
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load import stored
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_corpus, delete_document
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.models.encoder import Encoder, gpu_is_usable
from kgp_neo4j.models.engine import DEFAULT_ENCODER, QUICK_ENCODER
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError, EncoderError, InputError


def _named_edges(database: Database, corpus: str) -> set[tuple[str, str]]:
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[{namesTitle: true}]->(q) "
        "RETURN p.title AS p, q.title AS q",
        c=corpus,
    )
    return {(row["p"], row["q"]) for row in found}


def test_keyword_graph(database: Database, films: str, monkeypatch: pytest.MonkeyPatch) -> None:
    report = connect(database, films, edges=["tfidf"])
    assert _named_edges(database, films) == {
        ("Ed Wood (film)", "Tim Burton"),
        ("Ed Wood (film)", "Cult film"),
        ("Tim Burton", "Ed Wood (film)"),
        ("Burbank", "Tim Burton"),
    }
    assert report.shared_keyword_edges == len(edges(database, films, "SHARES_KEYWORD"))
    made = connected_graph(database, films)
    assert report.keywords == len(made["keywords"])
    assert report.keyword_links == len(made["links"])
    titles = "MATCH (k:Keyword {corpus: $c}) RETURN k.title AS title"
    assert {r["title"] for r in rows(database, titles, c=films)} > {"tim burton", "gothic comedy"}
    frequency = rows(
        database,
        "MATCH (k:Keyword {corpus: $c}) WHERE COUNT { (k)<-[:HAS_KEYWORD]-() } > "
        "k.documentFrequency RETURN k.text AS text",
        c=films,
    )
    assert frequency == []
    assert state_of(database, films)["connected"] == ["keywords"]
    assert state_of(database, films)["unconnected"] == 0
    # In many transactions, with a keyword's links in several, it is the same.
    monkeypatch.setattr(keyword_graph, "_LINKS", 2)
    connect(database, films, edges=["tfidf"], anew=True)
    assert connected_graph(database, films) == made


def test_the_knobs_change_the_density(database: Database, corpus: str, tmp_path: Path) -> None:
    words = [f"word{n}" for n in range(12)]
    # Each passage shares one word with the next ones.
    texts = [(f"Doc {n} of it", " and ".join(words[n : n + 6])) for n in range(7)]
    load_records(database, corpus, tmp_path, *texts)

    def made(**settings: int) -> int:
        connect(database, corpus, edges=["tfidf"], keywords=KeywordSettings(**settings))
        return len(edges(database, corpus, "SHARES_KEYWORD"))

    full = made()
    assert made(neighbours=1) < full
    assert made(neighbours=0) == 0
    assert made(keywords=1) < full
    assert made(longest=1, keywords=1) <= made(longest=1)
    assert made(max_frequency=2) < full
    assert made() == full


def test_other_settings_leave_no_old_edges(database: Database, films: str, tmp_path: Path) -> None:
    dense = KeywordSettings(keywords=60, neighbours=20, max_frequency=100)
    sparse = KeywordSettings(keywords=1, neighbours=1, longest=2, max_frequency=2)
    similarity = SimilaritySettings(neighbours=2)
    connect(database, films, keywords=dense, similarity=SimilaritySettings(neighbours=4))
    connect(database, films, keywords=sparse, similarity=similarity)
    made = connected_graph(database, films)
    delete_corpus(database, films)
    load_records(database, films, tmp_path, *FILMS)
    connect(database, films, keywords=sparse, similarity=similarity)
    assert connected_graph(database, films) == made


def test_who_names_a_hub_is_joined_to_it(database: Database, corpus: str, tmp_path: Path) -> None:
    hub = ("Grand Hub", "The hub of all.")
    spokes = [(f"Spoke {n}", f"This one, {n}, points to Grand Hub.") for n in range(40)]
    load_records(database, corpus, tmp_path, hub, *spokes)
    given = KeywordSettings(max_frequency=5, neighbours=2)
    connect(database, corpus, edges=["tfidf"], keywords=given)
    assert len(_named_edges(database, corpus)) == 40
    assert {to for _, to in _named_edges(database, corpus)} == {"Grand Hub"}


def test_settings_out_of_range(database: Database, corpus: str) -> None:
    _empty(database, corpus)
    for name, value in {"keywords": 0, "longest": 9, "max_frequency": 1, "neighbours": -1}.items():
        with pytest.raises(ConfigurationError, match=f"{name} is"):
            connect(database, corpus, edges=["tfidf"], keywords=KeywordSettings(**{name: value}))
    with pytest.raises(ConfigurationError, match="neighbours is 0"):
        connect(database, corpus, edges=["knn-st"], similarity=SimilaritySettings(neighbours=0))


def _empty(database: Database, corpus: str) -> None:
    rows(database, "CREATE (:Corpus {name: $c, scope: 'cnone', shelf: 'english'})", c=corpus)


def test_an_empty_corpus(database: Database, corpus: str) -> None:
    _empty(database, corpus)
    report = connect(database, corpus)
    assert (report.keywords, report.embedded, report.similarity_edges) == (0, 0, 0)
    retriever = PassageRetriever(database, corpus)
    assert retriever.retrieve(Question("", "Is anyone there?")).passages == ()


def test_a_corpus_of_one_passage(database: Database, corpus: str, tmp_path: Path) -> None:
    load_records(database, corpus, tmp_path, ("Only One", "The only passage there is."))
    report = connect(database, corpus)
    assert (report.embedded, report.similarity_edges, report.shared_keyword_edges) == (1, 0, 0)
    (passage,) = PassageRetriever(database, corpus).retrieve(Question("", "Only one?")).passages
    assert passage.title == "Only One"


def test_embeddings_are_unit_vectors_of_the_encoder(database: Database, films: str) -> None:
    connect(database, films, edges=["knn-st"])
    found = rows(database, "MATCH (p:Passage {corpus: $c}) RETURN p.embedding AS v", c=films)
    assert {len(row["v"]) for row in found} == {384}
    assert all(math.isclose(math.hypot(*row["v"]), 1.0, abs_tol=1e-4) for row in found)
    assert state_of(database, films) == {
        "passages": 5,
        "encoder": DEFAULT_ENCODER,
        "dimension": 384,
        "connected": ["similarity"],
        "unconnected": 0,
    }


def test_another_encoder_and_one_that_is_not_there_harm_nothing(
    database: Database, joined: str, tiny_encoder: str, tmp_path: Path
) -> None:
    """The old embeddings are not given up for an encoder that cannot be had either."""
    before, state = connected_graph(database, joined), state_of(database, joined)
    another = rf"{DEFAULT_ENCODER} \(dimension 384\).*\(dimension 32\).*--replace-embeddings"
    for given, said in (
        (SimilaritySettings(encoder=tiny_encoder), another),
        (SimilaritySettings(encoder=str(tmp_path), replace=True), "could not be loaded"),
    ):
        with pytest.raises(EncoderError, match=said):
            connect(database, joined, edges=["knn-st"], similarity=given)
        assert connected_graph(database, joined) == before
        assert state_of(database, joined) == state


def test_replacing_embeddings(database: Database, joined: str, tiny_encoder: str) -> None:
    given = SimilaritySettings(encoder=tiny_encoder, neighbours=2, replace=True)
    report = connect(database, joined, edges=["knn-st"], similarity=given)
    assert (report.embedded, report.similarity_edges) == (5, 10)
    assert len(edges(database, joined, "SIMILAR_ST")) == 10
    state = state_of(database, joined)
    assert (state["encoder"], state["dimension"]) == (tiny_encoder, 32)
    found = rows(database, "MATCH (p:Passage {corpus: $c}) RETURN p.embedding AS v", c=joined)
    assert {len(row["v"]) for row in found} == {32}
    # The corpus keeps its encoder from now on.
    assert connect(database, joined, edges=["knn-st"]).embedded == 0


def test_quick_vectors(database: Database, films: str, tmp_path: Path) -> None:
    quick = SimilaritySettings(encoder=QUICK_ENCODER)
    assert connect(database, films, similarity=quick).embedded == 5
    # The corpus keeps its encoder, and the full one is refused beside it.
    load_records(database, films, tmp_path, ("Hesk", "A bridge on the Hesk."))
    assert connect(database, films).embedded == 1
    with pytest.raises(EncoderError, match=f"embedded with {QUICK_ENCODER}"):
        connect(database, films, similarity=SimilaritySettings(encoder=DEFAULT_ENCODER))
    found = PassageRetriever(database, films, method="dense").retrieve(
        Question("q", "Which bridge is on the Hesk?")
    )
    assert found.passages[0].title == "Hesk"


def test_a_large_corpus_gets_quick_vectors(database: Database, films: str) -> None:
    """Without a GPU, where the full encoder would take minutes."""
    assert choose_encoder(database, films, SimilaritySettings()).name == DEFAULT_ENCODER
    query = "UNWIND range(1, 10000) AS n CREATE (:Passage {id: $c + n, corpus: $c})"
    rows(database, query, c=films)
    large = choose_encoder(database, films, SimilaritySettings()).name
    assert large == (DEFAULT_ENCODER if gpu_is_usable() else QUICK_ENCODER)


def test_two_encoders_side_by_side(
    database: Database, corpus: str, other_corpus: str, tmp_path: Path, tiny_encoder: str
) -> None:
    for name in (corpus, other_corpus):
        load_records(database, name, tmp_path, *FILMS)
    connect(database, corpus)
    connect(database, other_corpus, similarity=SimilaritySettings(encoder=tiny_encoder))
    for name, dimension in ((corpus, 384), (other_corpus, 32)):
        for method in ("dense", "hybrid", "kgp"):
            retriever = PassageRetriever(database, name, method=method)
            assert retriever.encoder.dimension == dimension
            found = retriever.retrieve(Question("", "Where was Tim Burton born?")).passages
            assert {p.title for p in found} == {title for title, _ in FILMS}
            owners = "MATCH (p:Passage) WHERE p.id IN $ids RETURN DISTINCT p.corpus AS c"
            assert rows(database, owners, ids=[p.id for p in found]) == [{"c": name}]


@pytest.mark.parametrize(
    ("path", "kind", "lost"),
    [
        ("connect/shared", "tfidf", "keywords"),
        ("connect/shared", "entity", "entities"),
        ("connect/join", "knn-st", "similarity"),
    ],
)
def test_a_run_that_is_cut_short_is_mended_by_another(
    database: Database, joined: str, path: str, kind: str, lost: str
) -> None:
    before = connected_graph(database, joined)
    with Watched(database, path) as failing, pytest.raises(DatabaseError):
        connect(failing, joined, edges=[kind], anew=True)
    # What is left can be asked, and says that it is not whole.
    state = state_of(database, joined)
    assert lost in state["connected"]
    assert state["unconnected"] == state["passages"] > 0
    agent = {"keywords": "tfidf", "entities": "learned"}.get(lost)
    retriever = PassageRetriever(database, joined, method="kgp" if agent else "dense", agent=agent)
    assert retriever.retrieve(Question("q", "Where is the harbour?")).notes
    connect(database, joined, edges=[kind])
    assert connected_graph(database, joined) == before
    state = state_of(database, joined)
    assert sorted(state["connected"]) == ["entities", "keywords", "similarity"]
    assert state["unconnected"] == 0


class _Failing(Encoder):
    """An encoder of three dimensions that fails after so many texts."""

    form = None

    def __init__(self, most: int) -> None:
        self.name, self.dimension = "failing", 3
        self.texts: list[str] = []
        self._most = most

    def _for_passages(self, texts: Sequence[str]) -> Any:
        if len(self.texts) == self._most:
            raise EncoderError("out of memory")
        self.texts.extend(texts)
        return np.eye(len(texts), 3, dtype=np.float32)


def test_an_error_of_the_encoder_surfaces_and_what_is_encoded_stays(
    database: Database, films: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_graph, "_BATCH", 2)
    settings = SimilaritySettings(neighbours=2)
    with pytest.raises(EncoderError, match="out of memory"):
        EmbeddingGraph(database, films, _Failing(2), settings, {}).embed()
    assert len(database.read("connect/unembedded", corpus=films)) == 3
    assert state_of(database, films)["connected"] == []
    seconds: dict[str, float] = {}
    encoder = _Failing(9)
    graph = EmbeddingGraph(database, films, encoder, settings, seconds)
    embedded = graph.embed()
    graph.join()
    assert state_of(database, films)["connected"] == []  # its index may not be asked yet
    graph.finish()
    assert embedded == len(encoder.texts) == 3
    assert set(seconds) == {"embed", "write embeddings", "similarity edges", "vector index"}
    assert database.read("connect/unembedded", corpus=films) == []


_PEOPLE = (
    ("Harp Festival", "The Harp Festival was founded by Mary Jane Kelp of Oldtown."),
    ("Oldtown", "Oldtown is a harbour. Its mayor opened the fair."),
    ("Weaver's Guild", "The guild was led by Mary Jane Kelp after the war."),
    ("Wool", "It is warm."),
)
#: The name that two of them share, and its parts.
_KELP = ("Jane", "Jane Kelp", "Kelp", "Mary", "Mary Jane", "Mary Jane Kelp")


def _mentions(database: Database, corpus: str) -> list[tuple[str, str, str, str]]:
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[m:MENTIONS]->(e) RETURN p.title AS p, p.text AS text, "
        "labels(e)[0] AS label, e.title AS title, properties(m) AS values",
        c=corpus,
    )
    for row in found:
        values = row["values"]
        places = list(zip(values["offsets"][::2], values["offsets"][1::2], strict=True))
        assert len(set(places)) == len(places)
        if "start" in values:
            assert row["text"][values["start"] : values["end"]] == values["surface"]
            assert (values["start"], values["end"]) in places
        else:  # a phrase of the title, which the text lacks
            assert values["surface"] in row["p"]
            assert (row["label"], places) == ("NamedEntity", [])
    return sorted((r["p"], r["label"], r["title"], r["values"]["surface"]) for r in found)


def _edges(database: Database, corpus: str) -> list[dict[str, Any]]:
    return rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[e:SHARES_ENTITY]->(q) RETURN p.title AS p, q.title AS q, "
        "e.entities AS entities, e.namesTitle AS names, e.weight AS weight "
        "ORDER BY names, p, q",
        c=corpus,
    )


def test_entity_graph(database: Database, corpus: str, tmp_path: Path) -> None:
    load_records(database, corpus, tmp_path, *_PEOPLE)
    report = connect(database, corpus, edges=["entity"])
    assert _mentions(database, corpus) == [
        ("Harp Festival", "Document", "Oldtown", "Oldtown"),
        *(("Harp Festival", "NamedEntity", name, name) for name in (*_KELP, "Oldtown")),
        ("Oldtown", "NamedEntity", "Oldtown", "Oldtown"),
        *(("Weaver's Guild", "NamedEntity", name, name) for name in _KELP),
    ]
    assert (report.mentions, report.entities, report.shared_entity_edges) == (15, 7, 2)
    (shared, named) = _edges(database, corpus)
    assert {shared["p"], shared["q"]} == {"Harp Festival", "Weaver's Guild"}
    # Five of the six at most, single words last.
    entities = ["Jane Kelp", "Mary Jane", "Mary Jane Kelp", "Jane", "Kelp"]
    assert (shared["entities"], shared["names"]) == (entities, False)
    assert (named["p"], named["q"], named["names"]) == ("Harp Festival", "Oldtown", True)
    assert 0 < named["weight"] <= 1
    state = state_of(database, corpus)
    assert (state["connected"], state["unconnected"]) == (["entities"], 0)
    assert set(report.seconds) >= {"link entities", "write mentions", "shared-entity edges", "all"}
    query = "MATCH (:Corpus {name: $c})-[:HAS_GRAPH]->(g {type: 'entities'}) RETURN g {.*} AS graph"
    ((graph,),) = (row.values() for row in rows(database, query, c=corpus))
    assert json.loads(graph["settings"])["max_frequency"] == 50
    assert (graph["nodes"], graph["links"], graph["edges"]) == (7, 15, 2)


@pytest.mark.newest
def test_mentions_go_with_their_document(database: Database, corpus: str, tmp_path: Path) -> None:
    load_records(database, corpus, tmp_path, *_PEOPLE)
    connect(database, corpus, edges=["entity"])
    changed = [("Harp Festival", "It ended."), *_PEOPLE[1:]]
    load_records(database, corpus, tmp_path, *changed)
    assert {row[0] for row in _mentions(database, corpus)} == {"Oldtown", "Weaver's Guild"}
    assert _edges(database, corpus) == []
    assert state_of(database, corpus)["unconnected"] == 1
    delete_document(database, corpus, "Weaver's Guild")
    left = rows(database, "MATCH (e:NamedEntity {corpus: $c}) RETURN e.name AS name", c=corpus)
    # Its own title is what Oldtown still mentions.
    assert left == [{"name": "oldtown"}]


def test_aliases_and_what_cannot_be_used(database: Database, corpus: str, tmp_path: Path) -> None:
    aliases = write_file(tmp_path / "aliases.tsv", "the fair\tHarp Festival\n")
    load_records(database, corpus, tmp_path, *_PEOPLE)
    settings = EntitySettings(aliases=str(aliases), threshold=0.1)
    connect(database, corpus, edges=["entity"], entities=settings)
    found = _mentions(database, corpus)
    assert ("Oldtown", "Document", "Harp Festival", "the fair") in found
    missing = EntitySettings(aliases=str(tmp_path / "none.tsv"))
    with pytest.raises(InputError):
        connect(database, corpus, edges=["entity"], entities=missing)
    assert _mentions(database, corpus) == found
    assert state_of(database, corpus)["connected"] == ["entities"]


def test_command_and_api(database: Database, corpus: str, tmp_path: Path) -> None:
    """Other settings leave nothing stale."""
    load_records(database, corpus, tmp_path, *_PEOPLE)
    line = ("connect", "--corpus", corpus, "--edges", "entity")
    server = environment(database.connection)
    assert json.loads(prints(*line, "--all", "--json", **server))["mentions"] == 15
    assert "mentions                      15" in prints(*line, **server)
    with Corpus(corpus, database=database) as made:
        report = made.connect(edges=["entity"], entities=EntitySettings(phrases=False))
    assert (report.mentions, report.entities, report.shared_entity_edges) == (1, 0, 1)
    assert [row["names"] for row in _edges(database, corpus)] == [True]


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
    monkeypatch.setattr(stored, "LARGE", 20)
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
        "connect/marks": "tfidf",
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
