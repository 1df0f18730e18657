"""A corpus is searched by indexes of its own: other corpora change nothing in it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from connected import Watched
from graphs import load_records, rows, write_jsonl

from kgp_neo4j.corpus.connect.graphs import SimilaritySettings, connect
from kgp_neo4j.corpus.load import stored
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import corpora, delete_corpus
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import load_encoder, passage_text
from kgp_neo4j.types.errors import DatabaseError

#: Of the passages by their number; what is near to one is far from the others.
_VECTORS = np.random.default_rng(0).normal(size=(700, 48)).tolist()


def _load(database: Database, folder: Path, corpus: str, numbers: Sequence[int], word: str) -> None:
    words = {7: word}
    records = ((f"T{n}", f"A {words.get(n, 'common')} lantern of oak {n}") for n in numbers)
    load_records(database, corpus, folder, *records)
    rows(
        database,
        "MATCH (p:Passage {corpus: $c}) WITH p, toInteger(substring(p.title, 1)) AS n "
        "CALL db.create.setNodeVectorProperty(p, 'embedding', $vectors[n])",
        c=corpus,
        vectors=_VECTORS,
    )
    # As `connect` does once the vectors are there.
    database.write("connect/finish", corpus=corpus, graph="similarity", settings="{}")
    if not database.read("load/own_indexes_state", corpus=corpus, large=500)[0]["small"]:
        stored.make_indexes(database, corpus)
        database.read("install/await_indexes")


def _found(database: Database, corpus: str) -> list[tuple[str, float]]:
    asked = {"question": "a rare lantern of oak", "configuration": {"limit": 5}}
    found = database.read("procedures/seeds", corpus=corpus, **asked)
    return [(row["passage"]["title"], row["score"]) for row in found]


def _near(database: Database, corpus: str) -> list[str]:
    asked = {"vector": _VECTORS[3], "configuration": {"limit": 2}}
    found = database.read("procedures/seeds_by_vector", corpus=corpus, **asked)
    return [row["passage"]["title"] for row in found]


def _scope(database: Database, corpus: str) -> str:
    query = "MATCH (c:Corpus {name: $c}) RETURN c.scope AS scope"
    return str(rows(database, query, c=corpus)[0]["scope"])


def _indexes(database: Database, scope: str) -> set[str]:
    """Return the indexes of a corpus alone."""
    names = {row["name"] for row in rows(database, "SHOW INDEXES YIELD name")}
    return {name for name in names if name.endswith((scope, f"{scope}Cjk"))}


def _own(database: Database, corpus: str) -> list[bool]:
    """Return whether a corpus is searched by its own, and which of the two indexes are there."""
    scope = _scope(database, corpus)
    (row,) = rows(database, "MATCH (c:Corpus {name: $c}) RETURN c.shelf AS shelf", c=corpus)
    there = _indexes(database, scope)
    return [row["shelf"] == scope, *(f"kgp_{n}_{scope}" in there for n in ("passage", "vectors"))]


@pytest.mark.parametrize("size", [30, 600])
def test_others_change_nothing(
    database: Database, corpus: str, other_corpus: str, tmp_path: Path, size: int
) -> None:
    _load(database, tmp_path, corpus, range(30), "rare")
    assert _own(database, corpus) == [True, True, False]
    _load(database, tmp_path, corpus, range(size), "rare")
    assert _own(database, corpus) == [True, True, size > 500]
    (told,) = (each.indexes for each in corpora(database) if each.name == corpus)
    own = _indexes(database, _scope(database, corpus))
    named = {told["fullText"], told["vectors"]}
    assert named == (own if size > 500 else {"kgp_passage_english", None})
    found, near = _found(database, corpus), _near(database, corpus)
    assert found[0][0] == "T7"
    assert near[0] == "T3"
    # The same words in another corpus, where what is rare here is common, and the same vectors.
    _load(database, tmp_path, other_corpus, [7] * 5 + list(range(700)), "rare rare rare")
    assert _found(database, corpus) == found
    assert _near(database, corpus) == near
    assert _near(database, other_corpus)[0] == near[0]
    scope = _scope(database, other_corpus)
    delete_corpus(database, other_corpus)
    assert not _indexes(database, scope)
    assert _found(database, corpus) == found
    # One of an earlier version, which has none, gets them with the next `connect`.
    database.write("load/choose_indexes", corpus=corpus, own=False)
    connect(database, corpus, edges=["tfidf"])
    assert _found(database, corpus) == found


def test_others_change_nothing_in_chinese(
    database: Database, corpus: str, other_corpus: str, tmp_path: Path
) -> None:
    def load_lamps(name: str, rare: str, count: int) -> None:
        records = (
            (f"灯{n}", f"一盏{rare if n == 7 else '普通'}的橡木灯笼 {n}") for n in range(count)
        )
        load_records(database, name, tmp_path, *records)

    def found() -> list[tuple[str, float]]:
        asked = {"question": "罕见的橡木灯笼", "configuration": {"limit": 5}}
        rows = database.read("procedures/seeds", corpus=corpus, **asked)
        return [(row["passage"]["title"], row["score"]) for row in rows]

    # The first passages are English: those in Chinese get an index once they come.
    load_records(database, corpus, tmp_path, ("Oak", "A lantern of oak"))
    scope = _scope(database, corpus)
    assert f"kgp_passage_{scope}Cjk" not in _indexes(database, scope)
    load_lamps(corpus, "罕见", 30)
    assert f"kgp_passage_{scope}Cjk" in _indexes(database, scope)
    before = found()
    assert before[0][0] == "灯7"
    load_lamps(other_corpus, "罕见罕见", 300)
    assert found() == before
    delete_corpus(database, other_corpus)
    load_lamps(corpus, "罕见", 31)
    label = f"{scope[:1].upper()}{scope[1:]}CjkPassage"
    labelled = (
        "MATCH (p:Passage {corpus: $c}) WHERE $label IN labels(p) RETURN count(*) AS passages"
    )
    assert rows(database, labelled, c=corpus, label=label) == [{"passages": 31}]
    delete_corpus(database, corpus)
    assert not _indexes(database, scope)


def test_the_index_of_vectors_is_made_once_they_are_all_there(
    database: Database,
    corpus: str,
    tmp_path: Path,
    tiny_encoder: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stored, "LARGE", 50)
    records = ((f"T{n}", f"A lantern of oak {n}") for n in range(60))
    load_records(database, corpus, tmp_path, *records)
    (row,) = rows(database, "MATCH (p:Passage {corpus: $c, title: 'T3'}) RETURN p", c=corpus)
    assert _own(database, corpus) == [True, True, False]
    vector = load_encoder(tiny_encoder).encode([passage_text("T3", row["p"]["text"])])[0].tolist()
    asked = {"vector": vector, "corpus": corpus, "configuration": {"limit": 1}}
    with Watched(database, "load/vector_index") as broken:
        with pytest.raises(DatabaseError, match="does not answer"):
            connect(broken, corpus, similarity=SimilaritySettings(encoder=tiny_encoder))
        # They are all written, and not yet searched.
        assert database.read("inspect/corpus", corpus=corpus)[0]["encoder"] == tiny_encoder
        assert database.read("procedures/seeds_by_vector", **asked) == []
    assert connect(database, corpus).embedded == 0
    assert _own(database, corpus) == [True, True, True]
    (found,) = database.read("procedures/seeds_by_vector", **asked)
    assert found["passage"]["title"] == "T3"


def test_a_connected_corpus_that_is_large_with_other_documents_can_be_asked(
    database: Database, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "LARGE", 50)
    _load(database, tmp_path, corpus, range(30), "rare")
    rows(database, "MATCH (p:Passage {corpus: $c}) REMOVE p.embedding", c=corpus)
    records = ((f"N{n}", f"A lantern of elm {n}") for n in range(60))
    load(database, [write_jsonl(tmp_path / "new.jsonl", *records)], corpus)
    assert _own(database, corpus) == [True, True, True]
    assert _near(database, corpus) == []


def test_indexes_that_were_made_and_not_chosen_go_with_the_corpus(
    database: Database, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "LARGE", 50)
    broken = Watched(database, "load/choose_indexes")
    with broken, pytest.raises(DatabaseError, match="does not answer"):
        _load(broken, tmp_path, corpus, range(60), "rare")
    scope = _scope(database, corpus)
    assert _indexes(database, scope)
    delete_corpus(database, corpus)
    assert not _indexes(database, scope)


@pytest.mark.parametrize(
    "step",
    [("load/label_passages", 2), ("load/text_index", 1), ("load/choose_indexes", 1)],
    ids=str,
)
def test_cut_short_on_the_way(
    database: Database, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: Any
) -> None:
    monkeypatch.setattr(stored, "LARGE", 50)
    with Watched(database, *step) as broken:
        with pytest.raises(DatabaseError, match="does not answer"):
            _load(broken, tmp_path, corpus, range(60), "rare")
        # Search goes on by whichever index is the corpus's now.
        assert _found(database, corpus)[0][0] == "T7"
    # The next load moves it.
    _load(database, tmp_path, corpus, range(60), "rare")
    assert _own(database, corpus) == [True, True, True]
    assert _found(database, corpus)[0][0] == "T7"
    labels = "MATCH (p:Passage {corpus: $c}) RETURN DISTINCT size(labels(p)) AS labels"
    assert rows(database, labels, c=corpus) == [{"labels": 2}]
