"""Loading into a real database and deleting: the account, loading again, changes, commands."""

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from commands import begin, environment, kgp, prints, refuses
from graphs import (
    TEXT,
    broken_documents,
    rows,
    snapshot,
    stored_texts,
    write_file,
    write_folder,
    write_jsonl,
    write_lines,
    wrong_frequencies,
)

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.ids import text_hash
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_corpus, delete_document, list_passages
from kgp_neo4j.corpus.traverse.algorithm import find_seeds, read_passages
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import NextEvidence
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, InputError


def test_the_account_and_loading_again(database: Database, corpus: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path)
    first = load(database, [folder], corpus)
    stored = stored_texts(database, corpus)
    assert (first.files, first.documents, first.new, first.unchanged) == (4, 6, 6, 0)
    assert first.characters_in == first.characters_out == sum(map(len, stored.values()))
    assert TEXT in stored.values()
    counted = rows(database, "MATCH (p:Passage {corpus: $c}) RETURN count(p) AS n", c=corpus)
    assert counted == [{"n": first.passages}]
    assert not broken_documents(database, corpus)
    before = snapshot(database, corpus)
    again = load(database, [str(folder / "*"), folder], corpus)
    assert (again.new, again.unchanged, again.replaced) == (0, 6, 0)
    for count in ("passages", "characters_in", "characters_out"):
        assert getattr(again, count) == getattr(first, count)
    assert snapshot(database, corpus) == before
    query = (
        "MATCH (d:Document {corpus: $c, title: 'long text'})-[:HAS_PASSAGE]->(p) "
        "RETURN p.title AS title ORDER BY p.position"
    )
    titles = [row["title"] for row in rows(database, query, c=corpus)]
    assert titles == [f"long text #{n + 1}" for n in range(len(titles))]


def test_passages_are_titled_by_sections(database: Database, corpus: str, tmp_path: Path) -> None:
    said = "Some words of a sentence that goes on for a while. "
    report = (
        f"# Report\n\nBy me.\n\n## Methods\n\n### Sampling\n\n{said * 30}\n\n"
        f"### One\n\nShort.\n\n### Two\n\nShort.\n\n## Results\n\n{said * 19}"
    )
    path = write_file(tmp_path / "report.md", report)
    load(database, [path], corpus)
    query = (
        "MATCH (p:Passage {corpus: $c}) WITH p ORDER BY p.position "
        "RETURN p.title AS title, p.text AS text, p.start AS start, p.end AS end, "
        "[(s:Section)-[:HAS_PASSAGE]->(p) | s.title] AS sections"
    )
    found = rows(database, query, c=corpus)
    assert all(row["text"] == report[row["start"] : row["end"]] for row in found)
    assert [(row["title"], sorted(row["sections"])) for row in found] == [
        ("Report", []),
        ("Report > Methods > Sampling #1", ["Methods", "Sampling"]),
        ("Report > Methods > Sampling #2", ["Sampling"]),
        ("Report > Methods", ["One", "Two"]),
        ("Report > Results", ["Results"]),
    ]
    assert [(p.title, p.section) for p in list_passages(database, corpus)] == [
        ("Report", each)
        for each in ("", "Methods > Sampling", "Methods > Sampling", "Methods", "Results")
    ]
    before = snapshot(database, corpus)
    assert load(database, [path], corpus).unchanged == 1
    assert snapshot(database, corpus) == before
    path.write_text(report.replace("## Results", "## Findings"))
    load(database, [path], corpus)
    assert rows(database, query, c=corpus)[-1]["sections"] == ["Findings"]
    delete_document(database, corpus, "Report")
    assert rows(database, "MATCH (n:Section {corpus: $c}) RETURN n", c=corpus) == []


def test_words_without_spaces_are_found(database: Database, corpus: str, tmp_path: Path) -> None:
    asked = {
        "에든버러는 어디인가?": "에든버러에서 다리를 지었다.",
        "コンピュータはどこ？": "この島のコンピュータは古い。",
        "大学在哪里？": "北京大学在海淀区。",
        "Who built the 다리를?": "The 다리 was built by Isobel Tarn.",
    }
    texts = (*asked.values(), "산과 바다. 山と海。 山水。", "Hills.")
    path = write_jsonl(tmp_path / "a.jsonl", *zip("ABCDEF", texts, strict=True))
    load(database, [path], corpus)
    assert load(database, [path], corpus).unchanged == 6
    for question, text in asked.items():
        best, *_ = find_seeds(database, corpus, NextEvidence(question), 2, named=0.3)
        assert read_passages(database, [best.passage])[best.passage].text == text


def test_passage_size(database: Database, corpus: str, tmp_path: Path) -> None:
    records = ("Whole", "Ten words. " * 900), ("Long", "Word. " * 1_700)
    path = write_jsonl(tmp_path / "a.jsonl", *records)
    assert load(database, [path], corpus).passages == 1 + 11
    small = load(database, [path], corpus, passage_size=100)
    assert (small.replaced, small.unchanged) == (2, 0)
    assert small.passages > 190
    assert load(database, [path], corpus, passage_size=100).unchanged == 2
    assert not broken_documents(database, corpus)
    assert load(database, [path], corpus).passages == 12
    assert len(stored_texts(database, corpus)) == 2
    with pytest.raises(ConfigurationError, match="at least 1"):
        load(database, [path], corpus, passage_size=0)


@pytest.mark.newest
def test_a_changed_document_is_replaced(database: Database, corpus: str, tmp_path: Path) -> None:
    other = write_jsonl(tmp_path / "b.jsonl", ("Other", "Stays as it is."))
    path = write_file(tmp_path / "a.md", "# T\n\n" + TEXT)
    load(database, [tmp_path], corpus)
    connect(database, corpus)
    changed = TEXT.replace("Sentence 150 ", "Phrase 150, a changed one, ")
    path.write_text("# T\n\n" + changed)
    account = load(database, [tmp_path], corpus)
    assert (account.new, account.unchanged, account.replaced) == (0, 1, 1)
    assert "# T\n\n" + changed in stored_texts(database, corpus).values()
    assert not broken_documents(database, corpus)
    assert not wrong_frequencies(database, corpus)
    kept = rows(
        database,
        "MATCH (p:Passage {corpus: $c}) RETURN p.text AS text, p.embedding AS embedding, "
        "COUNT { (p)-[:HAS_KEYWORD]->() } AS keywords",
        c=corpus,
    )
    # Before the change everything is as it was; what is new has no edge and no embedding yet.
    assert sum(row["embedding"] is not None for row in kept) > 4
    assert any(row["keywords"] for row in kept)
    assert not any(row["keywords"] for row in kept if row["embedding"] is None)
    # Another title is another passage: keywords and embeddings are made of it too.
    path.write_text("# Other title\n\n" + changed)
    load(database, [path], corpus)
    found = rows(
        database,
        "MATCH (d:Document {corpus: $c, title: 'Other title'})-[:HAS_PASSAGE]->(p) "
        "RETURN p.title AS title, p.embedding AS embedding",
        c=corpus,
    )
    assert all(row["title"].startswith("Other title #") for row in found)
    assert all(row["embedding"] is None for row in found)
    assert not wrong_frequencies(database, corpus)
    path.write_text("short")
    assert load(database, [path], corpus).passages == 1
    write_jsonl(other, ("Other", "Is changed."))
    load(database, [other], corpus)
    assert sorted(stored_texts(database, corpus).values()) == ["Is changed.", "short"]
    assert not rows(database, "MATCH (k:Keyword {corpus: $c}) RETURN k", c=corpus)


def test_loading_again_mends_a_graph(database: Database, corpus: str, tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.txt", TEXT)
    load(database, [path], corpus)
    before = snapshot(database, corpus)
    rows(database, "MATCH (p:Passage {corpus: $c, position: 3}) DETACH DELETE p", c=corpus)
    assert load(database, [path], corpus).replaced == 1
    assert snapshot(database, corpus) == before


def test_errors_are_accounted_for_or_stop(database: Database, corpus: str, tmp_path: Path) -> None:
    lines = '{"title": "A", "text": "a"}\n{"title": "B"}\nbad\n{"title": "C", "text": "c"}'
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "b.txt").write_bytes(b"")
    (tmp_path / "c.txt").write_text("good")
    with pytest.raises(InputError, match=r'a\.jsonl:2: the record has no "text".*without --strict'):
        load(database, [tmp_path], corpus, strict=True)
    account = load(database, [tmp_path, tmp_path / "none"], corpus)
    assert (account.files, account.documents, account.new) == (1, 3, 3)
    assert account.characters_in == account.characters_out == 6
    begun = [error.split(str(tmp_path))[1][:11] for error in account.errors]
    assert begun == ["/none: ther", "/a.jsonl:2:", "/a.jsonl:3:", "/b.txt: the"]
    write_lines(tmp_path / "d.jsonl", *['{"title": "B"}'] * 7)
    (error,) = load(database, [tmp_path / "d.jsonl", tmp_path / "c.txt"], corpus).errors
    assert "d.jsonl:1, 2, 3, 4, 5 and 2 more: the record has no" in error
    with pytest.raises(InputError, match="no such file"):
        load(database, [tmp_path / "c.txt", tmp_path / "none"], corpus, strict=True)
    with pytest.raises(InputError, match="holds no text"):
        load(database, [tmp_path / "b.txt"], corpus)
    for name in ("", " \n", "x" * 201, "\ud800"):
        with pytest.raises(ConfigurationError):
            load(database, [tmp_path / "c.txt"], name)


@pytest.mark.newest
def test_deletion_takes_all_and_no_more(
    database: Database, corpus: str, other_corpus: str, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path)
    for name in (corpus, other_corpus):
        load(database, [folder], name)
        connect(database, name, edges=["tfidf", "entity"])
    beside = snapshot(database, other_corpus)
    query = "CREATE (:Question {corpus: $c}), (:Page {corpus: $c}), (:Row {corpus: $c})"
    rows(database, query, c=corpus)
    with pytest.raises(CorpusError, match="2 documents have the title 'One'") as raised:
        delete_document(database, corpus, "One")
    documents = database.read("inspect/documents", corpus=corpus)
    ids = [row["id"] for row in documents if row["title"] == "One"]
    assert all(id_ in str(raised.value) for id_ in ids)
    assert delete_document(database, corpus, ids[0]).documents == 1
    assert delete_document(database, corpus, "Page").passages == 1
    assert delete_document(database, corpus, str(folder / "long_text.txt")).passages > 5
    assert delete_document(database, corpus, str(folder / "records.jsonl")).documents == 2
    assert not wrong_frequencies(database, corpus)
    (left,) = database.read("inspect/documents", corpus=corpus)
    assert left["title"] == "Astral 👍🏽 title"
    with pytest.raises(CorpusError, match="no document"):
        delete_document(database, corpus, "Page")
    done = delete_corpus(database, corpus)
    assert done.documents == 1
    left = rows(database, "MATCH (n) WHERE $c IN [n.corpus, n.name] RETURN n", c=corpus)
    assert left == []
    assert snapshot(database, other_corpus) == beside
    with pytest.raises(CorpusError, match="no corpus"):
        delete_corpus(database, corpus)
    with pytest.raises(CorpusError, match="no corpus"):
        delete_document(database, corpus, "Page")


@pytest.mark.newest
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
    (found,) = [each for each in listed if each["name"] == corpus]
    assert (found["documents"], found["keywords"], found["encoder"]) == (6, 0, None)
    assert set(found["unconnected"].values()) == {found["passages"]}
    assert "Page" in prints("corpora", "--documents", corpus, **server)
    gone = prints("delete", *of, "--document", "Page", "--yes", **server)
    assert gone == f"Deleted 1 documents and 1 passages from {corpus}.\n"
    assert json.loads(prints("delete", *of, "--yes", "--json", **server))["documents"] == 5


_KILLS = 8
_RECORDS, _FILES = 1_400, 8


def _write(folder: Path, version: str) -> set[str]:
    """Write a version of the corpus; return the hashes of its documents."""
    made = random.Random(version)
    words = [f"word{n}" for n in range(500)]

    def text(sentences: int) -> str:
        said = (" ".join(made.choices(words, k=12)).capitalize() for _ in range(sentences))
        return "".join(f"{sentence} {version}. " for sentence in said)

    records = [{"title": f"Record {n}", "text": text(3)} for n in range(_RECORDS)]
    (folder / "records.jsonl").write_text("\n".join(map(json.dumps, records)))
    texts = [record["text"] for record in records]
    for n in range(_FILES):
        texts.append(text(700))
        (folder / f"{n}.txt").write_text(texts[-1])
    return {text_hash(t) for t in texts}


def _broken(database: Database, corpus: str) -> list[dict[str, Any]]:
    """Return the broken documents, once the server has ended what a killed client began."""
    # Neo4j reads what is committed row by row, so that a reader may meet a commit halfway.
    for _ in range(60):
        if not (broken := broken_documents(database, corpus)):
            break
        time.sleep(0.5)
    return broken


@pytest.mark.slow
def test_kills_at_any_moment(database: Database, corpus: str, tmp_path: Path) -> None:
    made = random.Random(20261121)
    undisturbed = f"{corpus} undisturbed"
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    # Both versions lie at one path in turn, so that every load has documents to replace.
    versions = [_write(folder, folder.name) for folder in folders]
    turn = 0
    source = tmp_path / "corpus"
    source.mkdir()

    loads, server = ("load", str(source), "--corpus", corpus), environment(database.connection)

    def finish() -> float:
        began = time.monotonic()
        process = begin(*loads, **server)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        return time.monotonic() - began

    def lay_out(turn: int) -> None:
        for file in folders[turn].iterdir():
            (source / file.name).write_bytes(file.read_bytes())

    lay_out(0)
    finish()
    lay_out(1)
    whole, idle = finish(), finish()
    kills, partial, states = 0, 0, set()
    lay_out(0)
    # A machine that is busier or idler now than it was: kills that meet no write come later.
    stretch = 1.0
    while kills < _KILLS or (partial < 3 and kills < 5 * _KILLS):
        process = begin(*loads, **server)
        # Any moment from before the first write to after the last.
        time.sleep(made.uniform(0.5 * idle, whole) * stretch)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert _broken(database, corpus) == []
        stored = rows(database, "MATCH (d:Document {corpus: $c}) RETURN d.sha256 AS sum", c=corpus)
        done = sum(row["sum"] in versions[turn] for row in stored)
        if process.returncode == -signal.SIGKILL:
            kills += 1
            partial += 0 < done < len(versions[turn])
            states.add((turn, done))
        stretch *= 1.25 if done == 0 else 0.8 if done == len(versions[turn]) else 1.0
        if done == len(versions[turn]):
            turn = 1 - turn
            lay_out(turn)
    finish()
    assert partial >= 3, f"the kills do not spread over the work: {sorted(states)}"
    try:
        account = load(database, [source], undisturbed)
        assert account.new == _RECORDS + _FILES
        assert snapshot(database, corpus) == snapshot(database, undisturbed)
    finally:
        delete_corpus(database, undisturbed)
