"""The graphs of `connect`: what is a keyword, density, running again, encoders."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from connected import Watched, connected_graph
from graphs import load_records, rows, state_of
from small_graphs import FILMS, edges

from kgp_neo4j.corpus.connect import embedding_graph, keyword_graph
from kgp_neo4j.corpus.connect.embedding_graph import EmbeddingGraph, choose_encoder
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.delete import delete_corpus, delete_document
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, QUICK_ENCODER
from kgp_neo4j.models.torch_encoder import gpu_is_usable
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError, EncoderError
from kgp_neo4j.types.settings import KeywordSettings, SimilaritySettings


def _named_edges(database: Database, corpus: str) -> set[tuple[str, str]]:
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[{namesTitle: true}]->(q) "
        "RETURN p.title AS p, q.title AS q",
        c=corpus,
    )
    return {(row["p"], row["q"]) for row in found}


# --- The keyword graph ----------------------------------------------------------------------------


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


def test_documents_that_go_leave_no_edges(database: Database, joined: str, tmp_path: Path) -> None:
    delete_document(database, joined, "Tim Burton")
    load_records(
        database, joined, tmp_path, *FILMS[2:], ("Maine", "An author from Maine wrote It.")
    )
    assert state_of(database, joined)["unconnected"] == 1
    report = connect(database, joined)
    # Only the new passage is embedded.
    assert report.embedded == 1
    assert state_of(database, joined)["unconnected"] == 0
    query = "MATCH (k:Keyword {corpus: $c, text: 'tim burton'}) RETURN k.named AS named"
    # Two others speak of him, but he has no document.
    assert rows(database, query, c=joined) == [{"named": False}]
    assert ("It", "Maine") in _named_edges(database, joined)
    dangling = "MATCH (k:Keyword {corpus: $c}) WHERE NOT EXISTS { (k)<-[:HAS_KEYWORD]-() } RETURN k"
    assert rows(database, dangling, c=joined) == []


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


def test_who_names_a_hub_is_joined_to_it(database: Database, corpus: str, tmp_path: Path) -> None:
    hub = ("Grand Hub", "The hub of all.")
    spokes = [(f"Spoke {n}", f"This one, {n}, points to Grand Hub.") for n in range(40)]
    load_records(database, corpus, tmp_path, hub, *spokes)
    given = KeywordSettings(max_frequency=5, neighbours=2)
    connect(database, corpus, edges=["tfidf"], keywords=given)
    assert len(_named_edges(database, corpus)) == 40
    assert {to for _, to in _named_edges(database, corpus)} == {"Grand Hub"}


@pytest.mark.parametrize(
    "wrong", [{"keywords": 0}, {"longest": 9}, {"max_frequency": 1}, {"neighbours": -1}], ids=str
)
def test_settings_out_of_range(database: Database, corpus: str, wrong: dict[str, int]) -> None:
    _empty(database, corpus)
    with pytest.raises(ConfigurationError, match=f"{next(iter(wrong))} is"):
        connect(database, corpus, edges=["tfidf"], keywords=KeywordSettings(**wrong))
    with pytest.raises(ConfigurationError, match="neighbours is 0"):
        connect(database, corpus, edges=["knn-st"], similarity=SimilaritySettings(neighbours=0))


# --- Corpora of odd sizes -------------------------------------------------------------------------


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


# --- Embeddings -----------------------------------------------------------------------------------


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
    rows(
        database, "UNWIND range(1, 10000) AS n CREATE (:Passage {id: $c + n, corpus: $c})", c=films
    )
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


# --- A run that is cut short ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "kind", "lost"),
    [
        ("connect/marks", "tfidf", "keywords"),
        ("connect/shared", "tfidf", "keywords"),
        ("connect/remove_entities", "entity", "entities"),
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
    method, agent = {
        "keywords": ("kgp", "tfidf"),
        "entities": ("kgp", "learned"),
        "similarity": ("dense", None),
    }[lost]
    retriever = PassageRetriever(database, joined, method=method, agent=agent)
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

    def encode(self, texts: Sequence[str], **_: Any) -> Any:
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
