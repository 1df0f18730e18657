"""The entity graph as `connect --edges entity` makes it: mentions, edges, running again."""

import json
from pathlib import Path
from typing import Any

import pytest
from commands import environment, prints
from graphs import load_records, rows, state_of, write_file, write_jsonl

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.corpus import Corpus
from kgp_neo4j.corpus.load.delete import delete_document
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.settings import EntitySettings

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


def test_other_settings_leave_nothing_stale(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    load_records(database, corpus, tmp_path, *_PEOPLE)
    connect(database, corpus, edges=["entity"])
    settings = EntitySettings(phrases=False, neighbours=0)
    report = connect(database, corpus, edges=["entity"], entities=settings)
    assert (report.mentions, report.entities, report.shared_entity_edges) == (1, 0, 1)
    assert [row["names"] for row in _edges(database, corpus)] == [True]


@pytest.mark.newest
def test_a_document_deleted_or_changed_takes_its_mentions_along(
    database: Database, corpus: str, tmp_path: Path
) -> None:
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


def test_several_passages_one_title_twice(database: Database, corpus: str, tmp_path: Path) -> None:
    long = "Ann Lee sang. " + "The sea was calm that day. " * 60 + "Ann Lee and Oldtown."
    records = (("Ann Lee", long), ("Oldtown", "A town."), ("Oldtown", "Two."))
    load(database, [write_jsonl(tmp_path / "r.jsonl", *records)], corpus, passage_size=1000)
    settings = EntitySettings(phrases=False)
    connect(database, corpus, edges=["entity"], entities=settings)
    # A document mentions itself nowhere; both that share a title are meant.
    mentioned = [("Ann Lee #2", "Document", "Oldtown", "Oldtown")] * 2
    assert _mentions(database, corpus) == mentioned
    assert [(e["p"], e["q"], e["names"]) for e in _edges(database, corpus)] == [
        ("Ann Lee #2", "Oldtown", True)
    ] * 2
    connect(database, corpus, edges=["entity"])
    # Every passage of a document is about what its title says, in its text or not.
    names = ("Ann Lee", "Lee")  # "Ann" by itself begins sentences only
    assert _mentions(database, corpus) == [
        *(("Ann Lee #1", "NamedEntity", name, name) for name in names),
        *mentioned,
        *(("Ann Lee #2", "NamedEntity", name, name) for name in (*names, "Oldtown")),
        *[("Oldtown", "NamedEntity", "Oldtown", "Oldtown")] * 2,
    ]
    pairs = [(*sorted((e["p"], e["q"])), e["names"]) for e in _edges(database, corpus)]
    assert sorted(pairs) == [
        ("Ann Lee #1", "Ann Lee #2", False),
        ("Ann Lee #2", "Oldtown", True),
        ("Ann Lee #2", "Oldtown", True),
        ("Oldtown", "Oldtown", False),
    ]


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
    load_records(database, corpus, tmp_path, *_PEOPLE)
    with Corpus(corpus, database=database) as made:
        report = made.connect(edges=["entity"], entities=EntitySettings(phrases=False))
    assert (report.mentions, report.entities) == (1, 0)
    line = ("connect", "--corpus", corpus, "--edges", "entity")
    server = environment(database.connection)
    assert json.loads(prints(*line, "--all", "--json", **server))["mentions"] == 15
    assert "mentions                      15" in prints(*line, **server)
