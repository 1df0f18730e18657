"""Deleting documents and corpora, listing them, and the three commands."""

import json
from pathlib import Path

import pytest
from commands import environment, kgp, prints, refuses
from graphs import connect_everything, rows, snapshot, write_folder, wrong_frequencies

from kgp_neo4j.corpus.load.delete import delete_corpus, delete_document
from kgp_neo4j.corpus.load.listing import corpora
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import CorpusError

pytestmark = pytest.mark.newest


def test_deletion_takes_all_and_no_more(database: Database, corpus: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    other = f"{corpus} beside"
    load(database, [folder], corpus)
    load(database, [folder], other)
    connect_everything(database, corpus)
    connect_everything(database, other)
    beside = snapshot(database, other)
    query = "CREATE (:Question {corpus: $c}), (:Page {corpus: $c}), (:Row {corpus: $c})"
    rows(database, query, c=corpus)
    try:
        with pytest.raises(CorpusError, match="2 documents have the title 'One'") as raised:
            delete_document(database, corpus, "One")
        ids = [row["id"] for row in database.read("inspect/documents", corpus=corpus)
               if row["title"] == "One"]  # fmt: skip
        assert all(id_ in str(raised.value) for id_ in ids)
        assert delete_document(database, corpus, ids[0]).documents == 1
        assert delete_document(database, corpus, "Page").passages == 1
        assert delete_document(database, corpus, str(folder / "long_text.txt")).passages > 5
        assert delete_document(database, corpus, str(folder / "records.jsonl")).documents == 2
        assert not wrong_frequencies(database, corpus)
        assert [row["title"] for row in database.read("inspect/documents", corpus=corpus)] == [
            "Astral 👍🏽 title"
        ]
        with pytest.raises(CorpusError, match="no document"):
            delete_document(database, corpus, "Page")
        done = delete_corpus(database, corpus)
        assert done.documents == 1
        left = rows(database, "MATCH (n) WHERE $c IN [n.corpus, n.name] RETURN n", c=corpus)
        assert left == []
        assert snapshot(database, other) == beside
        with pytest.raises(CorpusError, match="no corpus"):
            delete_corpus(database, corpus)
        with pytest.raises(CorpusError, match="no corpus"):
            delete_document(database, corpus, "Page")
    finally:
        delete_corpus(database, other)


def test_corpora(database: Database, corpus: str, tmp_path: Path) -> None:
    load(database, [write_folder(tmp_path)], corpus)
    found = next(s for s in corpora(database) if s.name == corpus)
    assert (found.documents, found.keywords, found.encoder) == (6, 0, None)
    assert set(found.unconnected.values()) == {found.passages}
    connect_everything(database, corpus)
    found = next(s for s in corpora(database) if s.name == corpus)
    assert set(found.unconnected.values()) == {0}


def test_the_commands(database: Database, corpus: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    (folder / "picture.gif").write_bytes(b"x")
    of, server = ("--corpus", corpus), environment(database.connection)
    loaded = prints("load", str(folder), *of, **server)
    assert "documents   6 (6 new, 0 unchanged, 0 replaced)" in loaded
    assert ", 0 lost" in loaded
    assert f"not read    1\n  {folder}/picture.gif: save this picture as .png" in loaded
    assert json.loads(prints("load", str(folder), *of, "--json", **server))["unchanged"] == 6
    done = kgp("load", str(folder), "nowhere", *of, **server)
    assert done.returncode == 1
    assert "not loaded  1\n  nowhere: there is no such file" in done.stdout
    assert "nowhere: there is no such file" in refuses("load", "nowhere", *of, **server)
    assert f"{corpus}  " in prints("corpora", **server)
    listed = map(json.loads, prints("corpora", "--json", **server).splitlines())
    assert next(c for c in listed if c["name"] == corpus)["documents"] == 6
    assert "Page" in prints("corpora", "--documents", corpus, **server)
    gone = prints("delete", *of, "--document", "Page", "--yes", **server)
    assert gone == f"Deleted 1 documents and 1 passages from {corpus}.\n"
    assert json.loads(prints("delete", *of, "--yes", "--json", **server))["documents"] == 5
