"""Files of the same contents are one document with several sources; names tell others apart."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from graphs import broken_documents, rows, stored_texts, write_file, write_jsonl

from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import (
    delete_corpus,
    delete_document,
    export_corpus,
    find_documents,
    import_corpus,
    list_documents,
    list_passages,
)
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.tables import ends_apart

pytestmark = pytest.mark.newest
_ONE, _TWO, _THREE = "The lock is red.", "The lock is blue.", "The lock is green."


def _listed(database: Database, corpus: str, folder: Path) -> list[tuple[str, ...]]:
    """Return the sources of each document, which has its text and passages once."""
    assert not broken_documents(database, corpus)
    prefix = f"{folder.resolve().as_posix()}/"
    found = [sorted(document.sources) for document in list_documents(database, corpus)]
    assert len(stored_texts(database, corpus)) == len(found)
    return sorted(tuple(s.removeprefix(prefix) for s in sources) for sources in found)


def _write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)


def test_a_document_that_goes_while_it_is_listed(database: Database, corpus: str) -> None:
    rows(database, "CREATE (:Corpus {name: $c}), (:Document {corpus: $c})", c=corpus)
    assert list_documents(database, corpus) == []


def test_copies_are_further_sources(database: Database, corpus: str, tmp_path: Path) -> None:
    _write(tmp_path, a=_ONE, b=_ONE, c=_TWO)
    first = load(database, [tmp_path], corpus)
    assert (first.files, first.documents, first.new, first.copies) == (3, 2, 2, 1)
    assert first.characters_in == first.characters_out == len(_ONE + _TWO)
    assert _listed(database, corpus, tmp_path) == [("a.md", "b.md"), ("c.md",)]
    ids = {document.id for document in list_documents(database, corpus)}
    # Later, under a compressed copy, a link, another working directory.
    write_file(tmp_path / "d.md.gz", _TWO)
    (tmp_path / "link.md").symlink_to(tmp_path / "c.md")
    (tmp_path / "folder").symlink_to(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        again = load(database, ["d.md.gz", "link.md", "folder/c.md", "b.md"], corpus)
    assert (again.documents, again.unchanged, again.copies) == (2, 2, 2)
    assert again.characters_in == again.characters_out == len(_ONE + _TWO)
    assert _listed(database, corpus, tmp_path) == [("a.md", "b.md"), ("c.md", "d.md.gz")]
    assert {document.id for document in list_documents(database, corpus)} == ids
    size = load(database, [tmp_path / "b.md"], corpus, passage_size=5)
    assert (size.replaced, size.copies) == (1, 1)
    assert _listed(database, corpus, tmp_path) == [("a.md", "b.md"), ("c.md", "d.md.gz")]


def test_records_and_titles_are_no_copies(database: Database, corpus: str, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", ("T", _ONE), ("U", _ONE))
    write_jsonl(tmp_path / "b.jsonl", ("T", _ONE))
    for name, title in (("c", "One"), ("d", "Two")):
        (tmp_path / f"{name}.html").write_text(f"<title>{title}</title><p>{_ONE}")
    assert load(database, [tmp_path], corpus).new == 5


@pytest.mark.parametrize("seed", range(2))
def test_sources_come_and_go(database: Database, corpus: str, tmp_path: Path, seed: int) -> None:
    """Each source has the contents of its last load, whatever the others had."""
    draw = random.Random(seed)
    written: dict[str, str] = {}
    loaded: dict[str, str] = {}
    for _ in range(12):
        written |= {name: draw.choice([_ONE, _TWO, _THREE]) for name in draw.sample("abcde", 3)}
        _write(tmp_path, **written)
        if loaded and draw.random() < 0.4:
            loaded.pop(gone := draw.choice(sorted(loaded)))
            delete_document(database, corpus, str(tmp_path / f"{gone}.md"))
        names = draw.sample(sorted(written), draw.randint(1, len(written)))
        size = draw.choice([None, 5])
        paths = [tmp_path / f"{name}.md" for name in names]
        report = load(database, paths, corpus, passage_size=size)
        loaded |= {name: written[name] for name in names}
        assert report.documents == report.new + report.unchanged + report.replaced
        assert report.documents == len({written[name] for name in names})
        assert report.characters_in == report.characters_out
        texts = stored_texts(database, corpus)
        stored = list_documents(database, corpus)
        found = [(Path(source).stem, texts[each.id]) for each in stored for source in each.sources]
        assert sorted(found) == sorted(loaded.items())
        assert not broken_documents(database, corpus)


def test_a_deleted_source_leaves_others(database: Database, corpus: str, tmp_path: Path) -> None:
    _write(tmp_path, a=_ONE, b=_ONE, c=_ONE)
    load(database, [tmp_path], corpus)
    export_corpus(database, corpus, tmp_path / "corpus.kgp")
    import_corpus(database, tmp_path / "corpus.kgp", replace=True)
    (found,) = find_documents(database, corpus, str(tmp_path / "b.md"))
    assert (found.source, len(found.sources)) == (str(tmp_path / "b.md"), 3)
    for name, left in (("a", [("b.md", "c.md")]), ("c", [("b.md",)])):
        done = delete_document(database, corpus, str(tmp_path / f"{name}.md"))
        assert (done.documents, done.shared) == (0, 1)
        assert _listed(database, corpus, tmp_path) == left
    # The document of a's id is b's now.
    _write(tmp_path, a=_TWO)
    assert load(database, [tmp_path / "a.md"], corpus).new == 1
    assert load(database, [tmp_path / "c.md"], corpus).copies == 1
    assert _listed(database, corpus, tmp_path) == [("a.md",), ("b.md", "c.md")]
    assert delete_document(database, corpus, str(tmp_path / "a.md")).documents == 1
    assert delete_document(database, corpus, "a").documents == 1
    assert _listed(database, corpus, tmp_path) == []
    assert load(database, [tmp_path], corpus).new == 2
    delete_corpus(database, corpus)
    assert rows(database, "MATCH (s:DocumentSource {corpus: $c}) RETURN s", c=corpus) == []


def test_a_folder_is_followed(database: Database, corpus: str, tmp_path: Path) -> None:
    folder, other = tmp_path / "notes", tmp_path / "other"
    for each in (folder, other):
        each.mkdir()
    _write(folder, one=_ONE, two=_TWO, three=f"# Ends\n\n{_THREE}", copy=_TWO)
    write_jsonl(folder / "old.jsonl", ("T", "Record"), ("U", "Other record"))
    _write(other, alone="# Alone\n\nBy itself.")
    load(database, [folder, other / "alone.md"], corpus)
    ids = {document.title: document.id for document in list_documents(database, corpus)}
    for old, new in (("one.md", "uno.md"), ("old.jsonl", "new.jsonl")):
        (folder / old).rename(folder / new)
    for gone in (folder / "three.md", folder / "copy.md", other / "alone.md"):
        gone.unlink()
    _write(folder, later="# Later\n\nNew.")
    told = load(database, [folder], corpus)
    assert [Path(name).name for name in told.gone] == ["three.md"]
    assert sorted(line.replace(f"{folder}/", "") for line in told.moved) == [
        "copy.md: now two.md", "old.jsonl: now new.jsonl", "one.md: now uno.md",
    ]  # fmt: skip
    expected = {"uno": "uno.md", "two": "two.md", "Ends": "three.md", "Later": "later.md"}
    expected |= {"T": "new.jsonl", "U": "new.jsonl", "Alone": "alone.md"}

    def stored() -> dict[str, str]:
        found = list_documents(database, corpus)
        assert all(document.sources == (document.source,) for document in found)
        assert not broken_documents(database, corpus)
        return {document.title: Path(document.source).name for document in found}

    assert stored() == expected
    kept = {document.title: document.id for document in list_documents(database, corpus)}
    assert kept["uno"] == ids["one"]
    asked: list[tuple[list[str], bool]] = []

    def refuse(names: Sequence[str], is_empty: bool) -> bool:
        asked.append(([Path(name).name for name in names], is_empty))
        return False

    # What is gone stays until it is pruned; another folder and a file alone prune nothing of it.
    load(database, [other / ".." / "notes" / "two.md"], corpus, prune=True)
    assert load(database, [folder], corpus, prune=refuse).pruned == ()
    assert asked == [(["three.md"], False)]
    assert stored() == expected
    (pruned,) = load(database, [folder], corpus, prune=True).pruned
    assert Path(pruned).name == "three.md"
    del expected["Ends"]
    assert stored() == expected
    assert load(database, [folder], corpus).gone == ()
    for path in folder.iterdir():
        path.unlink()
    with pytest.raises(InputError, match="4 files that it had are still in the corpus"):
        load(database, [folder], corpus, prune=True)
    assert stored() == expected
    folder.rename(tmp_path / "away")
    with pytest.raises(InputError, match="no such file or folder"):
        load(database, [folder], corpus, prune=lambda *_: True)
    folder.mkdir()
    assert len(load(database, [folder], corpus, prune=lambda *_: True).pruned) == 4
    assert stored() == {"Alone": "alone.md"}
    # A folder that has moved takes its documents along.
    _write(folder, one=_ONE, two=_TWO)
    load(database, [folder], corpus)
    folder.rename(tmp_path / "elsewhere")
    assert len(load(database, [tmp_path / "elsewhere"], corpus).moved) == 2
    sources = {Path(document.source).parent.name for document in list_documents(database, corpus)}
    assert "elsewhere" in sources
    assert "notes" not in sources


def test_names_tell_documents_apart(database: Database, corpus: str, tmp_path: Path) -> None:
    texts = {
        "x/a/readme.md": "one", "x/b/readme.md": "two", "readme.md": "three",
        "n/two.md": "# Notes\n\nfour", "n/one.md": "# Notes\n\nfive", "other.md": "six",
        "y/my_text.md": "seven", "z/my_text.md": "eight",
    }  # fmt: skip
    for name, text in texts.items():
        write_file(tmp_path / name, text)
    load(database, [tmp_path], corpus)
    found = list_passages(database, corpus)
    names = {passage.text.split()[-1]: passage.name for passage in found}
    assert names == {
        "one": "a/readme.md", "two": "b/readme.md", "three": f"{tmp_path.name}/readme.md",
        "four": "Notes (two.md)", "five": "Notes (one.md)", "six": "other",
        "seven": "y/my_text.md", "eight": "z/my_text.md",
    }  # fmt: skip
    # All of a corpus are told apart by Python as few are by Cypher.
    apart = ends_apart((passage.title, passage.source) for passage in found)
    assert all(apart.get((p.title, p.source), "") == p.apart for p in found)
