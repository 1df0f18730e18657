"""cypher/structure: what each statement returns over two small documents."""

from __future__ import annotations

from typing import Any

import pytest
from structured_documents import ferries, harbours, store

from kgp_neo4j.corpus.load.ids import document_id, part_id
from kgp_neo4j.graphdb.database import Database


@pytest.fixture
def ids(database: Database, corpus: str) -> dict[str, str]:
    """The ids of the two documents and of their tables."""
    store(database, corpus, ferries(), harbours())
    made = {
        "ferries": document_id(corpus, "/made/ferry-timetable-1996.pdf", ""),
        "survey": document_id(corpus, "/made/survey.pdf", ""),
    }
    made |= {
        "fares": part_id(made["ferries"], "table", 1),
        "boats": part_id(made["ferries"], "table", 2),
        "depths": part_id(made["survey"], "table", 1),
    }
    return made


def test_structured(database: Database, corpus: str, ids: dict[str, str]) -> None:
    assert ids
    assert database.read("structure/structured", corpus=corpus) == [{"pages": True, "tables": True}]
    empty = [{"pages": False, "tables": False}]
    assert database.read("structure/structured", corpus="no such") == empty


def test_documents(database: Database, corpus: str, ids: dict[str, str]) -> None:
    rows = database.read("structure/documents", corpus=corpus)
    assert [tuple(row.values()) for row in rows] == [
        (ids["survey"], "Harbour survey", "/made/survey.pdf", 2, 1),
        (ids["ferries"], "Sound ferries", "/made/ferry-timetable-1996.pdf", 4, 2),
    ]


def test_outline(database: Database, ids: dict[str, str]) -> None:
    rows = database.read("structure/outline", documents=[ids["ferries"], ids["survey"]])
    shown = [
        (row["id"], row["document"], row["order"], row["number"], row["name"], row["caption"],
         row["pages"], row["rows"], [c["header"] for c in row["columns"]])
        for row in rows
    ]  # fmt: skip
    assert shown == [
        (ids["depths"], ids["survey"], 1, "", "Table 1", "", [1], 2, ["Quay", "Depth"]),
        (ids["fares"], ids["ferries"], 1, "1", "Table 1", "Table 1. Fares of the summer season",
         [2], 3, ["Route", "Single fare", "Crossings"]),
        (ids["boats"], ids["ferries"], 2, "2", "Table 2", "Table 2. Boats in service", [3], 2,
         ["Boat", "Built", "Route"]),
    ]  # fmt: skip
    assert rows[1]["columns"][1] == {
        "order": 2, "header": "Single fare", "norm": "single fare", "type": "number",
    }  # fmt: skip
    assert database.read("structure/outline", documents=[]) == []


def test_pages(database: Database, ids: dict[str, str]) -> None:
    every = database.read("structure/pages", document=ids["ferries"], numbers=[])
    assert [(row["number"], row["label"]) for row in every] == [
        (1, "i"), (2, "ii"), (3, "1"), (4, "2"),
    ]  # fmt: skip
    assert "".join(row["text"] for row in every) == ferries().text
    (last,) = database.read("structure/pages", document=ids["ferries"], numbers=[4, 9])
    assert (last["header"], last["footer"]) == ("Timetable 1996", "Merrin Sound Ferries 4")
    assert last["text"].startswith("Complaints\n\nWrite to")


def test_labels(database: Database, ids: dict[str, str]) -> None:
    both = [ids["ferries"], ids["survey"]]
    found = database.read("structure/labels", documents=both, labels=["ii", "2", "7"])
    assert found == [
        {"document": ids["ferries"], "number": 2, "label": "ii"},
        {"document": ids["ferries"], "number": 4, "label": "2"},
    ]


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        (["harbour", "master"], {("survey", 2), ("ferries", 1), ("ferries", 4)}),
        (["lindqvist"], {("ferries", 3)}),
        (["kettlehaven", "gannet"], {("ferries", 3)}),
        # In the header of every page of one document.
        (["timetable"], {("ferries", 1), ("ferries", 2), ("ferries", 3), ("ferries", 4)}),
        (["zeppelin"], set()),
    ],
)
def test_mentions(
    database: Database, ids: dict[str, str], words: list[str], pages: set[tuple[str, int]]
) -> None:
    both = [ids["ferries"], ids["survey"]]
    rows = database.read("structure/mentions", documents=both, words=words)
    assert {(row["document"], row["number"]) for row in rows} == {(ids[d], n) for d, n in pages}


@pytest.mark.parametrize(
    ("numbers", "columns", "limit", "expected"),
    [
        ([], [], 1000, [(1, ["Kettlehaven", "4.50", "12"]), (2, ["Port Merrin", "6.00", "8"]),
                        (3, ["Little Ruan", "3.20", "20"])]),
        ([2], [3], 1000, [(2, ["8"])]),
        ([-1], [1], 1000, [(3, ["Little Ruan"])]),
        ([], [1], 2, [(1, ["Kettlehaven"]), (2, ["Port Merrin"])]),
        ([0, 9], [], 1000, []),
    ],
)  # fmt: skip
def test_rows(
    database: Database,
    ids: dict[str, str],
    numbers: list[int],
    columns: list[int],
    limit: int,
    expected: list[Any],
) -> None:
    rows = database.read(
        "structure/rows", table=ids["fares"], numbers=numbers, columns=columns, limit=limit
    )
    assert [(row["number"], row["cells"]) for row in rows] == expected
    assert {row["page"] for row in rows} <= {2}


def test_holding(database: Database, ids: dict[str, str]) -> None:
    tables = [ids["fares"], ids["boats"], ids["depths"]]
    rows = database.read(
        "structure/holding", tables=tables, phrases=["kettlehaven", "gannet", "route", "none"]
    )
    assert {row["table"]: sorted(row["phrases"]) for row in rows} == {
        ids["fares"]: ["kettlehaven"],
        ids["boats"]: ["gannet", "kettlehaven"],
    }


def test_tables_of_a_corpus(database: Database, corpus: str, ids: dict[str, str]) -> None:
    found = database.read("inspect/corpus_tables", corpus=corpus)
    assert [(row["id"], row["name"], row["rows"]) for row in found] == [
        (ids["depths"], "Table 1", 2),
        (ids["fares"], "Table 1", 3),
        (ids["boats"], "Table 2", 2),
    ]
    assert found[2] == {
        "id": ids["boats"], "document": ids["ferries"], "name": "Table 2",
        "caption": "Table 2. Boats in service", "pages": [3], "rows": 2,
        "columns": ["Boat", "Built", "Route"],
    }  # fmt: skip
    by_title = database.read("inspect/corpus_tables", corpus=corpus, document="Harbour survey")
    assert [row["id"] for row in by_title] == [ids["depths"]]
    assert database.read("inspect/corpus_tables", corpus="no such") == []
