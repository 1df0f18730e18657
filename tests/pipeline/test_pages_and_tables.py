"""Pages and tables in the graph: what load writes, replaces, finishes and removes."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from graphs import rows
from structured_documents import store

from kgp_neo4j.corpus.load.contents import markdown
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_corpus, delete_document, list_passages
from kgp_neo4j.corpus.traverse.algorithm import read_passages
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import DatabaseError
from kgp_neo4j.types.tables import SourcePage, SourceTable, Span

_LIGHTS = SourceTable(
    rows=(
        ("Light", "Tower", "Tower", "Lit"),
        ("Light", "Height (m)", "Cost", "Lit"),
        ("Ardfin", "38", "£41,200", "2 November 1874"),
        ("Hesk Head", "21", "£9,800", "1842"),
        ("Little Ruan", "12.5", "", "1866"),
    ),
    header_rows=2,
    caption="Table 2. The lights | in 1890",
    number="2",
    spans=(Span(0, 0, rows=2), Span(0, 1, columns=2), Span(0, 3, rows=2)),
    row_pages=(2, 2, 2, 2, 3),
)
_PLAIN = SourceTable(rows=(("a", "1"), ("b", "2")), header_rows=0)


def report(*, tables: tuple[SourceTable, ...] = (_LIGHTS,), third: str = "The end.") -> Any:
    """Return a document of three pages with a table that goes on from the second to the third."""
    texts = ["The Board met. It was brief.\n\n", f"Before.\n\n{markdown(_LIGHTS)}\n\n", third]
    starts = [0, len(texts[0]), len(texts[0]) + len(texts[1])]
    pages = tuple(
        SourcePage(n, start, start + len(text), label, "Board of Lights", f"- {n} -")
        for n, (start, text, label) in enumerate(
            zip(starts, texts, ("i", "1", "2"), strict=True), 1
        )
    )
    return SourceDocument("Report", "".join(texts), "/report.pdf", pages=pages, tables=tables)


@pytest.fixture
def reported(database: Database, corpus: str) -> str:
    """A corpus with the report."""
    start = report().text.index("| Light")
    table = replace(_LIGHTS, start=start, end=start + len(markdown(_LIGHTS)))
    store(database, corpus, report(tables=(table,)))
    return corpus


def _count(database: Database, corpus: str) -> dict[str, int]:
    found = rows(
        database,
        "MATCH (n) WHERE n.corpus = $c UNWIND labels(n) AS label "
        "WITH label WHERE label = 'Passage' OR NOT label ENDS WITH 'Passage' "
        "RETURN label, count(*) AS n",
        c=corpus,
    )
    return {row["label"]: row["n"] for row in found}


def test_a_passage_of_a_scanned_page_says_so(database: Database, corpus: str) -> None:
    printed, scanned, last = report().pages
    pages = (printed, replace(scanned, recognised=True), last)
    store(database, corpus, replace(report(), pages=pages))
    passages = list_passages(database, corpus)
    assert [passage.recognised for passage in passages] == [False, True, False]
    assert passages[1].place.startswith("page 2 (recognised), passage 2, characters 30–")
    assert read_passages(database, [passages[1].id]) == {passages[1].id: passages[1]}


def test_the_graph_of_a_report(database: Database, reported: str) -> None:
    assert _count(database, reported) == {
        "Document": 1, "Page": 3, "Passage": 3, "Table": 1, "Column": 4, "Row": 5, "Cell": 20,
    }  # fmt: skip
    assert rows(
        database,
        "MATCH (:Document {corpus: $c})-[:HAS_PAGE]->(p:Page) "
        "RETURN p.number AS number, p.label AS label, p.header AS header, "
        "[(p)-[:HAS_PASSAGE]->(q) | q.page] AS passages, "
        "[(p)-[:HAS_TABLE]->(t) | t.name] AS tables "
        "ORDER BY number",
        c=reported,
    ) == [
        {"number": n, "label": label, "header": "Board of Lights", "passages": [n], "tables": t}
        for n, label, t in ((1, "i", []), (2, "1", ["Table 2"]), (3, "2", ["Table 2"]))
    ]
    assert rows(
        database,
        "MATCH (:Table {corpus: $c})-[:HAS_COLUMN]->(c) RETURN c.order AS at, c.header AS header, "
        "c.type AS type ORDER BY at",
        c=reported,
    ) == [
        {"at": 1, "header": "Light", "type": "text"},
        {"at": 2, "header": "Tower / Height (m)", "type": "number"},
        {"at": 3, "header": "Tower / Cost", "type": "currency"},
        {"at": 4, "header": "Lit", "type": "text"},
    ]


def test_cells_know_their_row_column_and_value(database: Database, reported: str) -> None:
    found = rows(
        database,
        "MATCH (r:Row {corpus: $c})-[:HAS_CELL]->(c)<-[:HAS_CELL]-(column:Column) "
        "WHERE r.number IN [-1, 1] RETURN r.number AS row, r.title AS name, column.order AS at, "
        "c.text AS text, c.type AS type, c.value AS value, c.date AS date, c.unit AS unit, "
        "c.columnSpan AS span, c.covered AS covered ORDER BY row, at",
        c=reported,
    )
    assert [row["text"] for row in found[:4]] == ["Light", "Tower", "Tower", "Lit"]
    assert [(row["span"], row["covered"]) for row in found[:4]] == [
        (1, False), (2, False), (1, True), (1, False),
    ]  # fmt: skip
    assert [(row["type"], row["value"], row["date"], row["unit"]) for row in found[4:]] == [
        ("text", None, None, None),
        ("number", 38.0, None, None),
        ("currency", 41200.0, None, "GBP"),
        ("date", 1874.0, "1874-11-02", None),
    ]
    assert {row["name"] for row in found} == {"Light", "Ardfin"}


def test_a_part_of_a_table_has_its_columns(database: Database, corpus: str, tmp_path: Path) -> None:
    lines = ["Skerry,Keeper", *(f"Skerry {n},Keeper {n}" for n in range(90))]
    (tmp_path / "lights.csv").write_text("\n".join(lines), encoding="utf-8")
    load(database, [tmp_path / "lights.csv"], corpus)
    listed = list_passages(database, corpus)
    assert len(listed) > 2
    assert [passage.columns for passage in listed[:2]] == [(), ("Skerry", "Keeper")]
    read = read_passages(database, [passage.id for passage in listed])
    assert [read[passage.id].columns for passage in listed] == [p.columns for p in listed]


def test_a_document_is_loaded_again_changed_and_deleted(database: Database, corpus: str) -> None:
    first = store(database, corpus, report())
    assert (first["new"], first["pages"], first["tables"], first["cells"]) == (1, 3, 1, 20)
    again = store(database, corpus, report())
    assert (again["unchanged"], again["replaced"], again["pages"], again["cells"]) == (1, 0, 3, 20)
    assert _count(database, corpus)["Cell"] == 20
    changed = store(database, corpus, report(tables=(_PLAIN,), third="No end."))
    assert (changed["replaced"], changed["cells"]) == (1, 4)
    assert _count(database, corpus) == {
        "Document": 1, "Page": 3, "Passage": 3, "Table": 1, "Column": 2, "Row": 2, "Cell": 4,
    }  # fmt: skip
    store(database, corpus, SourceDocument("Other", "Words.", "/other.md"))
    delete_document(database, corpus, "Report")
    assert _count(database, corpus) == {"Document": 1, "Passage": 1}
    store(database, corpus, report())
    delete_corpus(database, corpus)
    assert _count(database, corpus) == {}


def test_a_load_cut_short_within_a_table_is_finished(database: Database, corpus: str) -> None:
    store(database, corpus, report())
    rows(
        database,
        "MATCH (d:Document {corpus: $c}) SET d.structured = false "
        "WITH d MATCH (d)-[:HAS_TABLE]->()-[:HAS_ROW]->(r {number: 2})-[:HAS_CELL]->(c) "
        "DETACH DELETE c, r",
        c=corpus,
    )
    assert store(database, corpus, report())["replaced"] == 1
    assert _count(database, corpus)["Cell"] == 20
    assert _count(database, corpus)["Row"] == 5


@pytest.mark.slow
def test_a_table_of_many_cells_takes_several_transactions(database: Database, corpus: str) -> None:
    long = SourceTable(rows=(("n", "square"), *((str(n), str(n * n)) for n in range(6_000))))
    document = SourceDocument("Squares", markdown(long), "/s.csv", tables=(long,))
    assert store(database, corpus, document)["cells"] == 12_002
    sizes = rows(
        database,
        "MATCH (t:Table {corpus: $c}) RETURN t.rows AS rows, t.markdownRows AS shown, "
        "size(split(t.markdown, '\n')) AS lines",
        c=corpus,
    )
    assert sizes == [{"rows": 6_000, "shown": 200, "lines": 202}]


def test_page(database: Database, reported: str) -> None:
    for name in ("Report", "report", "/report.pdf"):
        (page,) = rows(database, "CALL custom.kgp.page($name, 2, $c)", name=name, c=reported)
        assert page["text"].startswith("Before.\n\n| Light |")
        assert (page["label"], page["footer"]) == ("1", "- 2 -")
        assert [table["name"] for table in page["tables"]] == ["Table 2"]
    with pytest.raises(DatabaseError, match="the document Report has no page 4; it has 3 pages"):
        database.read("procedures/page", document="Report", number=4, corpus=reported)


def test_tables(database: Database, reported: str) -> None:
    query = "CALL custom.kgp.tables('Report', $c) YIELD name, caption, pageNumbers, rows, columns"
    assert rows(database, f"{query} RETURN *", c=reported) == [
        {
            "name": "Table 2",
            "caption": "Table 2. The lights | in 1890",
            "pageNumbers": [2, 3],
            "rows": 3,
            "columns": ["Light", "Tower / Height (m)", "Tower / Cost", "Lit"],
        }
    ]


@pytest.mark.parametrize("number", ["2", "1"])
def test_table(database: Database, reported: str, number: str) -> None:
    """By its printed number, and by its place where no table has that number."""
    found = rows(database, "CALL custom.kgp.table('Report', $n, $c)", n=number, c=reported)
    assert [row["number"] for row in found] == [-1, 0, 1, 2, 3]
    assert found[-1] == {"number": 3, "pageNumber": 3, "cells": ["Little Ruan", "12.5", "", "1866"]}


_OF_THE_TABLE = "MATCH (t:Table {corpus: $c}) "


@pytest.mark.parametrize(
    ("row", "column", "texts"),
    [
        ("Hesk Head", "cost", ["£9,800"]),
        ("hesk-head", "Tower / Cost", ["£9,800"]),
        ("2", "3", ["£9,800"]),
        ("1", "", ["Ardfin", "38", "£41,200", "2 November 1874"]),
        ("", "Height (m)", ["38", "21", "12.5"]),
        ("Hesk", "cost", []),
        ("1", "crew", []),
    ],
)
def test_cells(database: Database, reported: str, row: str, column: str, texts: list[str]) -> None:
    call = "CALL custom.kgp.cells(t, {row: $row, column: $column}) YIELD text RETURN text"
    found = rows(database, _OF_THE_TABLE + call, c=reported, row=row, column=column)
    assert [each["text"] for each in found] == texts


def test_around_table(database: Database, reported: str) -> None:
    call = "CALL custom.kgp.aroundTable(t, {count: $n}) YIELD passage, place RETURN *"
    found = rows(database, _OF_THE_TABLE + call, c=reported, n=1)
    assert [(row["place"], row["passage"]["page"]) for row in found] == [
        ("before", 1), ("holds", 2), ("after", 3),
    ]  # fmt: skip
    assert len(rows(database, _OF_THE_TABLE + call, c=reported, n=0)) == 1


def test_show(database: Database, reported: str) -> None:
    """A table comes with its pages, columns, and first rows; a document with its pages."""
    query = f"{_OF_THE_TABLE} RETURN t.id AS table, t.document AS document"
    (ids,) = rows(database, query, c=reported)
    edges = database.read("procedures/show", nodes=[ids["table"]])
    kinds = [(*row["node"].labels, *row["neighbour"].labels) for row in edges]
    assert Counter((kind[0], kind[-1]) for kind in kinds) == {
        ("Document", "Table"): 1, ("Page", "Table"): 2, ("Table", "Column"): 4,
        ("Table", "Row"): 3, ("Row", "Cell"): 12,
    }  # fmt: skip
    assert {row["node"].get("number") for row in edges if "Page" in row["node"].labels} == {2, 3}
    edges = database.read("procedures/show", nodes=[ids["document"]])
    assert Counter(row["edge"].type for row in edges) == {
        "HAS_PAGE": 3, "HAS_PASSAGE": 3, "HAS_TABLE": 2,
    }  # fmt: skip
