"""The entity graph as `connect --edges entity` makes it: mentions, edges, running again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from graphs import rows, write_jsonl
from small_graphs import FILMS

from kgp_neo4j.api import Corpus
from kgp_neo4j.cli import cli
from kgp_neo4j.connect import EntitySettings, connect
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError, InputError
from kgp_neo4j.load import delete_document, load

_PEOPLE = (
    ("Harp Festival", "The Harp Festival was founded by Mary Jane Kelp of Oldtown."),
    ("Oldtown", "Oldtown is a harbour. Its mayor opened the fair."),
    ("Weaver's Guild", "The guild was led by Mary Jane Kelp after the war."),
    ("Wool", "It is warm."),
)


def _load(database: Database, corpus: str, tmp_path: Path, *records: tuple[str, str]) -> None:
    load(database, [write_jsonl(tmp_path / "records.jsonl", *records)], corpus)


def _mentions(database: Database, corpus: str) -> list[tuple[str, str, str, str]]:
    found = rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[m:MENTIONS]->(e) RETURN p.title AS p, p.text AS text, "
        "labels(e)[0] AS label, e.title AS title, m AS m, properties(m) AS values "
        "ORDER BY p, title",
        c=corpus,
    )
    for row in found:
        values = row["values"]
        assert row["text"][values["start"] : values["end"]] == values["surface"]
        assert len(values["offsets"]) % 2 == 0
    return [(r["p"], r["label"], r["title"], r["values"]["surface"]) for r in found]


def _edges(database: Database, corpus: str) -> list[dict[str, Any]]:
    return rows(
        database,
        "MATCH (p:Passage {corpus: $c})-[e:SHARES_ENTITY]->(q) RETURN p.title AS p, q.title AS q, "
        "e.entities AS entities, e.namesTitle AS names, e.weight AS weight "
        "ORDER BY names, p, q",
        c=corpus,
    )


def test_entity_graph(database: Database, corpus: str, tmp_path: Path) -> None:
    _load(database, corpus, tmp_path, *_PEOPLE)
    report = connect(database, corpus, edges=["entity"])
    assert _mentions(database, corpus) == [
        ("Harp Festival", "Entity", "Mary Jane Kelp", "Mary Jane Kelp"),
        ("Harp Festival", "Document", "Oldtown", "Oldtown"),
        ("Weaver's Guild", "Entity", "Mary Jane Kelp", "Mary Jane Kelp"),
    ]
    assert (report.mentions, report.entities, report.shared_entity_edges) == (3, 1, 2)
    (shared, named) = _edges(database, corpus)
    assert {shared["p"], shared["q"]} == {"Harp Festival", "Weaver's Guild"}
    assert (shared["entities"], shared["names"]) == (["Mary Jane Kelp"], False)
    assert (named["p"], named["q"], named["names"]) == ("Harp Festival", "Oldtown", True)
    assert 0 < named["weight"] <= 1
    (state,) = database.read("inspect/corpus", corpus=corpus)
    assert (state["connected"], state["unconnected"]) == (["entities"], 0)
    assert set(report.seconds) >= {"link entities", "write mentions", "shared-entity edges", "all"}
    kept = rows(database, "MATCH (c:Corpus {name: $c}) RETURN c.entitySettings AS s", c=corpus)
    assert json.loads(kept[0]["s"])["linker"] == "titles"


def test_titles_of_films(database: Database, corpus: str, tmp_path: Path) -> None:
    _load(database, corpus, tmp_path, *FILMS)
    connect(database, corpus, edges=["entity"], entities=EntitySettings(phrases=False))
    assert {row[0::2][:2] for row in _mentions(database, corpus)} == {
        ("Ed Wood (film)", "Tim Burton"),
        ("Ed Wood (film)", "Cult film"),
        ("Tim Burton", "Ed Wood (film)"),
        ("Burbank", "Tim Burton"),
    }


def test_running_again_changes_nothing_and_other_settings_leave_nothing_stale(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    _load(database, corpus, tmp_path, *_PEOPLE)
    first = connect(database, corpus, edges=["entity"])
    before = (_mentions(database, corpus), _edges(database, corpus))
    again = connect(database, corpus, edges=["entity"])
    assert (_mentions(database, corpus), _edges(database, corpus)) == before
    assert (again.mentions, again.entities) == (first.mentions, first.entities)
    settings = EntitySettings(phrases=False, neighbours=0)
    report = connect(database, corpus, edges=["entity"], entities=settings)
    assert (report.mentions, report.entities, report.shared_entity_edges) == (1, 0, 1)
    assert [row["names"] for row in _edges(database, corpus)] == [True]


def test_a_document_deleted_or_changed_takes_its_mentions_along(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    _load(database, corpus, tmp_path, *_PEOPLE)
    connect(database, corpus, edges=["entity"])
    changed = [("Harp Festival", "It ended."), *_PEOPLE[1:]]
    _load(database, corpus, tmp_path, *changed)
    assert [row[0] for row in _mentions(database, corpus)] == ["Weaver's Guild"]
    assert _edges(database, corpus) == []
    (state,) = database.read("inspect/corpus", corpus=corpus)
    assert state["unconnected"] == 1
    delete_document(database, corpus, "Weaver's Guild")
    left = rows(database, "MATCH (e:Entity {corpus: $c}) RETURN e.name AS name", c=corpus)
    assert left == []


def test_several_passages_and_one_title_twice(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    long = "Ann Lee sang. " + "The sea was calm that day. " * 60 + "Ann Lee and Oldtown."
    _load(
        database, corpus, tmp_path, ("Ann Lee", long), ("Oldtown", "A town."), ("Oldtown", "Two.")
    )
    connect(database, corpus, edges=["entity"])
    # A document mentions itself nowhere; one of two that share a title is meant.
    assert [row[1:3] for row in _mentions(database, corpus)] == [("Document", "Oldtown")]
    assert len(_edges(database, corpus)) == 1


def test_spacy_and_aliases(database: Database, corpus: str, tmp_path: Path) -> None:
    import spacy

    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    patterns = ("Oldtown", "Mary Jane Kelp")
    ruler.add_patterns([{"label": "PERSON", "pattern": p} for p in patterns])  # type: ignore[attr-defined]
    pipeline.to_disk(tmp_path / "model")
    aliases = tmp_path / "aliases.tsv"
    aliases.write_text("the fair\tHarp Festival\n", encoding="utf-8")
    _load(database, corpus, tmp_path, *_PEOPLE)
    settings = EntitySettings(
        linker="spacy", spacy_model=str(tmp_path / "model"), aliases=str(aliases), threshold=0.1
    )
    connect(database, corpus, edges=["entity"], entities=settings)
    found = _mentions(database, corpus)
    # Where a title is linked, spaCy's entity gives way to the document.
    assert ("Harp Festival", "Document", "Oldtown", "Oldtown") in found
    assert ("Oldtown", "Document", "Harp Festival", "the fair") in found
    kinds = rows(
        database, "MATCH (e:Entity {corpus: $c}) RETURN e.title AS t, e.type AS k", c=corpus
    )
    assert kinds == [{"t": "Mary Jane Kelp", "k": "PERSON"}]


def test_what_cannot_be_used_leaves_the_graph_alone(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    _load(database, corpus, tmp_path, *_PEOPLE)
    connect(database, corpus, edges=["entity"])
    before = _mentions(database, corpus)
    for settings in (
        EntitySettings(aliases=str(tmp_path / "none.tsv")),
        EntitySettings(linker="spacy", spacy_model="no_such_model"),
        EntitySettings(neighbours=2000),
    ):
        with pytest.raises((ConfigurationError, InputError)):
            connect(database, corpus, edges=["entity"], entities=settings)
        assert _mentions(database, corpus) == before
        assert database.read("inspect/corpus", corpus=corpus)[0]["connected"] == ["entities"]


def test_command_and_api(
    database: Database, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _load(database, corpus, tmp_path, *_PEOPLE)
    with Corpus(corpus, database=database) as made:
        report = made.connect(edges=["entity"], entities=EntitySettings(phrases=False))
    assert (report.mentions, report.entities) == (1, 0)
    to = database.connection
    for name, value in (
        ("NEO4J_URI", to.uri),
        ("NEO4J_USERNAME", to.username),
        ("NEO4J_PASSWORD", to.password),
        ("NEO4J_DATABASE", to.database),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("GCUBE_TOKEN", raising=False)
    command = ["connect", "--corpus", corpus, "--edges", "entity"]
    done = CliRunner().invoke(cli, [*command, "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["mentions"] == 3
    done = CliRunner().invoke(cli, command)
    assert "mentions                       3" in done.stdout
    done = CliRunner().invoke(cli, [*command, "--linker", "wat"])
    assert isinstance(done.exception, ConfigurationError)
    assert "GCUBE_TOKEN" in str(done.exception)
    assert CliRunner().invoke(cli, [*command, "--linker", "other"]).exit_code == 2
