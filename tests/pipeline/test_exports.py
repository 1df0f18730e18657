"""Corpora and knowledge graphs as files: round trips, hostile files, imports that are cut off."""

import contextlib
import hashlib
import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import begin, environment, prints, refuses
from graphs import load_records, rows, write_file, write_jsonl
from zips import pack, unpack

from kgp_neo4j import Corpus, Database, KgpError, KnowledgeGraph
from kgp_neo4j.corpus.answer.traces import store, traces
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import corpora, delete_corpus, export_corpus, import_corpus
from kgp_neo4j.mindmap.load.graphs import delete_graph, import_graph
from kgp_neo4j.types.errors import CorpusError, GraphError, InputError

pytestmark = pytest.mark.newest

_EXPORTS = Path(__file__).parents[1] / "data" / "exports"
_QUESTION = "Who built the North Tower?"


@pytest.fixture
def taken(database: Database) -> Iterator[Callable[[str], str]]:
    """Notes names of corpora and graphs, to delete them afterwards."""
    names: list[str] = []
    yield lambda name: names.append(name) or name  # type: ignore[func-returns-value]
    for name in names:
        for delete in (delete_corpus, delete_graph):
            with contextlib.suppress(KgpError):
                delete(database, name)


def test_corpora_come_back(database: Database, taken: Callable[[str], str], tmp_path: Path) -> None:
    """A corpus with a table, sections, Chinese text, all graphs and a question that was kept."""
    name = taken("towers")
    done = import_corpus(database, _EXPORTS / "corpus.kgp", replace=True)
    assert (done.nodes, done.relationships) == (37, 58)
    first, second = tmp_path / "first.kgp", tmp_path / "second.kgp"
    with Corpus(name, database=database) as ours:
        answer = ours.ask(_QUESTION)
        assert answer.text == "Ada Marsh"
        store(database, answer)
        ours.export(first)
        ours.delete()
        ours.import_(first)
        again = ours.ask(_QUESTION)
        assert again.text == answer.text
        assert {p.id for p in again.passages} == {p.id for p in answer.passages}
        ours.export(second)
    assert unpack(second.read_bytes()) == unpack(first.read_bytes())
    assert [trace.question for trace in traces(database, name)] == [_QUESTION]
    with pytest.raises(CorpusError, match="already"):
        import_corpus(database, first)
    with pytest.raises(InputError, match="'towers', no corpus other"):
        Corpus("other", database=database).import_(first)


def test_loading_again_has_nothing_to_do(database: Database, corpus: str, tmp_path: Path) -> None:
    """Also with the indexes of a large corpus's own; by the commands."""
    records = ((f"Record {n}", f"Number {n} is here.") for n in range(510))
    source = write_jsonl(tmp_path / "records.jsonl", *records)
    load(database, [source], corpus)
    variables = environment(database.connection)
    file = tmp_path / "large.kgp"
    assert prints("export", corpus, str(file), "--json", **variables)
    assert "--overwrite" in refuses("export", corpus, str(file), **variables)
    assert prints("import", str(file), "--replace", **variables)
    again = load(database, [source], corpus)
    assert (again.new, again.replaced, again.unchanged) == (0, 0, 510)
    shelf = "MATCH (c:Corpus {name: $c}) RETURN c.shelf = c.scope AS own"
    assert rows(database, shelf, c=corpus) == [{"own": True}]
    result = Corpus(corpus, database=database).retrieve("Number 417", method="bm25")
    assert result.passages[0].title == "Record 417"
    delete_corpus(database, corpus)
    left = rows(database, "MATCH (n) WHERE n.corpus = $c OR n.name = $c RETURN n", c=corpus)
    assert left == []


def test_graphs_come_back(database: Database, taken: Callable[[str], str], tmp_path: Path) -> None:
    name = taken("ills")
    done = import_graph(database, _EXPORTS / "graph.kgp", replace=True)
    assert (done.nodes, done.relationships) == (4, 3)
    first, second = tmp_path / "first.kgp", tmp_path / "second.kgp"
    with KnowledgeGraph(name, database=database) as ours:
        ours.export(first)
        ours.delete()
        ours.import_(first)
        ours.export(second)
        assert ours.ask("What has fever?").text
    assert unpack(second.read_bytes()) == unpack(first.read_bytes())
    with pytest.raises(GraphError, match="already"):
        import_graph(database, first)


def _forged(file: Path, change: Callable[[dict[str, Any], list[Any], list[Any]], object]) -> Path:
    """Return the fixture with a change to manifest, nodes and relationships, its sums right."""
    parts = unpack((_EXPORTS / "corpus.kgp").read_bytes())
    manifest = json.loads(parts["manifest.json"])
    members = ("nodes.jsonl", "relationships.jsonl")
    nodes, edges = ([json.loads(x) for x in parts[m].splitlines()] for m in members)
    change(manifest, nodes, edges)
    made = {}
    for member, values in zip(members, (nodes, edges), strict=True):
        made[member] = b"".join(json.dumps(value).encode() + b"\n" for value in values)
        sum_ = hashlib.sha256(made[member]).hexdigest()
        manifest[member.removesuffix(".jsonl")] = {"lines": len(values), "sha256": sum_}
    return write_file(file, pack(made | {"manifest.json": json.dumps(manifest)}))


_CHANGES: dict[str, Callable[[dict[str, Any], list[Any], list[Any]], object]] = {
    "other release": lambda m, n, r: m.update(format=3),
    "damaged (no format)": lambda m, n, r: m.update(format="1"),
    "label": lambda m, n, r: n[0].update(l=["Corpus"]),
    "labels": lambda m, n, r: n[0].update(l=["Document`) DETACH DELETE n //"]),
    "shelf": lambda m, n, r: n[5]["l"].append("GermanPassage"),
    "property": lambda m, n, r: n[0]["p"].update({"x: 1}) //": 1}),
    "type of a property": lambda m, n, r: n[5]["p"].update(position="0"),
    "whole number": lambda m, n, r: n[5]["p"].update(position=2**70),
    "surrogate": lambda m, n, r: n[0]["p"].update(title="\ud800"),
    "time": lambda m, n, r: n[0]["t"].update(title="2026"),
    "vector": lambda m, n, r: n[5]["v"].update(embedding="AAAA"),
    "NaN": lambda m, n, r: n[5]["v"].update(embedding="AADAfw=="),
    "key": lambda m, n, r: n[5]["p"].pop("position"),
    "foreign corpus": lambda m, n, r: n[5]["p"].update(corpus="other"),
    "foreign scope": lambda m, n, r: n[5]["p"].update(scope="c0"),
    "type": lambda m, n, r: r[0].__setitem__(0, "HAS`]->() //"),
    "end": lambda m, n, r: r[0].__setitem__(2, 10**6),
    "nesting": lambda m, n, r: n[0]["p"].update(title=[["x"]]),
    "language": lambda m, n, r: m["properties"].update(language="x') //"),
    "root": lambda m, n, r: m["properties"].update(password="x"),
}


def test_hostile_files_are_refused_before_a_write(database: Database, tmp_path: Path) -> None:
    for name, change in _CHANGES.items():
        file = _forged(tmp_path / "forged.kgp", change)
        with pytest.raises(InputError, match="another release" if "other" in name else "damaged"):
            import_corpus(database, file)
    good = (_EXPORTS / "corpus.kgp").read_bytes()
    parts = unpack(good)
    file = tmp_path / "bad.kgp"
    for cut in (0, 10, len(good) // 2, len(good) - 1):
        file.write_bytes(good[:cut])
        with pytest.raises(InputError, match="damaged"):
            import_corpus(database, file)
    for at in range(60, len(good), 400):  # one byte is another
        file.write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
        with contextlib.suppress(InputError):
            # A byte that says nothing of the content, such as a time of the zip.
            assert import_corpus(database, file).nodes == 37
            delete_corpus(database, "towers")
    lines = parts["nodes.jsonl"].splitlines(keepends=True)
    for wrong in (
        parts | {"nodes.jsonl": b"".join(lines[:-1])},
        parts | {"../evil": b""},
        parts | {"nodes.jsonl": b"[" * 100_000},
        parts | {"nodes.jsonl": b" " * (65 << 20)},
    ):
        with pytest.raises(InputError, match="damaged"):
            import_corpus(database, write_file(file, pack(wrong)))
    with pytest.raises(InputError, match="no knowledge graph"):
        import_graph(database, _EXPORTS / "corpus.kgp")
    with pytest.raises(InputError, match="no corpus"):
        import_corpus(database, _EXPORTS / "graph.kgp")
    with pytest.raises(InputError, match="cannot be read"):
        import_corpus(database, tmp_path / "none.kgp")
    assert rows(database, "MATCH (n {corpus: $c}) RETURN n", c="towers") == []


def test_what_fails_while_it_is_written_is_undone(database: Database, tmp_path: Path) -> None:
    """Two nodes of one id pass the check of the file, and the database refuses the second."""
    file = _forged(tmp_path / "twice.kgp", lambda m, n, r: n.append(n[-4]))
    with pytest.raises(KgpError, match="undone"):
        import_corpus(database, file)
    left = "MATCH (n) WHERE n.corpus = $c OR n.name = $c RETURN n"
    assert rows(database, left, c="towers") == []


def test_a_killed_import_is_not_visible_and_the_next_one_ends_right(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    records = ((f"Record {n}", f"Number {n}.") for n in range(3_000))
    load_records(database, corpus, tmp_path, *records)
    file = tmp_path / "many.kgp"
    export_corpus(database, corpus, file)
    delete_corpus(database, corpus)
    process = begin("import", str(file), **environment(database.connection))
    count = "MATCH (p:Passage {corpus: $c}) RETURN count(p) AS n"
    while not rows(database, count, c=corpus)[0]["n"]:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert rows(database, count, c=corpus)[0]["n"] > 0
    assert corpus not in [c.name for c in corpora(database)]
    with pytest.raises(CorpusError, match="no corpus"):
        Corpus(corpus, database=database).ask("What is number 5?")
    assert load(database, [write_jsonl(tmp_path / "one.jsonl", ("A", "B."))], corpus).new == 1
    assert rows(database, count, c=corpus) == [{"n": 1}]  # what was left is gone
    import_corpus(database, file, replace=True)
    assert rows(database, count, c=corpus) == [{"n": 3_000}]
