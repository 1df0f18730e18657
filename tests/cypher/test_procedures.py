"""The statements of cypher/procedures and cypher/traverse on a graph of six passages."""

import math
from typing import Any

import pytest
from graphs import rows
from neo4j.exceptions import Neo4jError
from small_graphs import key, lighthouse, short

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import Statement, statement
from kgp_neo4j.mindmap.link.name_forms import entity_id, key_of
from kgp_neo4j.types.errors import DatabaseError

pytestmark = pytest.mark.newest


@pytest.fixture(scope="module")
def corpus(database: Database, shared_corpus: str) -> str:
    """The six passages with all their edges; to be read only."""
    return lighthouse(database, shared_corpus)


def _names(found: list[dict[str, Any]], column: str = "passage") -> list[str]:
    return [short(row[column]["id"]) for row in found]


def _hop(database: Database, corpus: str, *frontier: dict[str, Any], **more: Any) -> list[Any]:
    steps = [{**step, "passage": f"{corpus}/{step['passage']}"} for step in frontier]
    if "visited" in more:
        more["visited"] = key(corpus, *more["visited"])
    found = database.read("traverse/next_evidence", corpus=corpus, frontier=steps, **more)

    def told(row: dict[str, Any]) -> tuple[Any, ...]:
        scores = (round(row[name], 4) for name in ("match", "inherited"))
        return (row["path"], short(row["passage"]), row["edge"], *scores, row["reason"])

    return [told(row) for row in found]


def test_help(database: Database) -> None:
    found = database.read("procedures/help")
    assert found == sorted(found, key=lambda row: (row["task"], row["procedure"]))
    assert all(row["task"] for row in found)
    row = next(row for row in found if row["procedure"] == "custom.kgp.seeds")
    assert row["description"].startswith("The passages of a corpus nearest to a question")
    assert row["signature"].startswith("custom.kgp.seeds(question :: STRING, corpus :: STRING")
    asked = "'Who built the lighthouse?', 'demo', {limit: 5}"
    assert row["example"] == f"CALL custom.kgp.seeds({asked})"


def test_seeds(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, other_corpus)
    found = database.read("procedures/seeds", question="Which harbour, Kettlehaven?", corpus=corpus)
    # c1 has both words, one of them in its title; b1 the name; d1 the harbour.
    assert _names(found)[0] == "c1"
    assert sorted(_names(found)) == ["b1", "c1", "d1"]
    assert [row["score"] for row in found] == sorted((r["score"] for r in found), reverse=True)
    limited = database.read("procedures/seeds", question="harbour", corpus=corpus, limit=1)
    assert len(limited) == 1
    for nothing in ("", "?!", "the"):
        assert database.read("procedures/seeds", question=nothing, corpus=corpus) == []
    assert database.read("procedures/seeds", question="harbour", corpus=corpus, limit=0) == []


def test_seeds_by_what_a_dot_or_a_comma_joins(database: Database, other_corpus: str) -> None:
    """The index keeps "example.com" and "1,000" as one word each."""
    lighthouse(database, other_corpus)
    text = "Write to kettle.example, box 1,500 or x_y."
    query = "MATCH (p:Passage {id: $id}) SET p.text = $text"
    rows(database, query, id=f"{other_corpus}/e1", text=text)
    for question in ("Where is Kettle.example?", "Whose is box no 1,500?", "(x_y)"):
        found = database.read("procedures/seeds", question=question, corpus=other_corpus)
        assert _names(found)[0] == "e1", question


def test_seeds_by_vector(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, other_corpus)
    found = database.read("procedures/seeds_by_vector", vector=[1.0, 0.0], corpus=corpus, limit=5)
    assert _names(found) == ["a1", "a2", "b1", "c1", "d1"]
    for row, cosine in zip(found, (1.0, 0.8, 0.6, 0.0, -1.0), strict=True):
        assert math.isclose(row["score"], cosine, abs_tol=1e-6)
    found = database.read("procedures/seeds_by_vector", vector=[0.0, 1.0], corpus=corpus, limit=2)
    assert _names(found) == ["c1", "b1"]
    none = database.read("procedures/seeds_by_vector", vector=[0.0, 1.0], corpus=corpus, limit=0)
    assert none == []


def test_named_titles(database: Database, corpus: str) -> None:
    question = "Is New York further from Kettlehaven than Isobel Tarn's house?"
    found = database.read("traverse/named_titles", question=question, corpus=corpus)
    # Two words before one, the rarer one before the more frequent one; York is not meant.
    assert [(short(row["passage"]["id"]), row["title"]) for row in found] == [
        ("e1", "new york"),
        ("b1", "isobel tarn"),
        ("c1", "kettlehaven"),
    ]
    of_two = 1 + math.log(2)
    scores = [row["score"] for row in found]
    assert scores == pytest.approx([2.0, 2 / of_two, 1 / of_two], abs=1e-4)
    found = database.read("traverse/named_titles", question="york, harbour?", corpus=corpus)
    assert [row["title"] for row in found] == ["york"]
    for nothing in ("", "?!", "the"):
        assert database.read("traverse/named_titles", question=nothing, corpus=corpus) == []


def test_hybrid_seeds(database: Database, corpus: str) -> None:
    asked = {"question": "Isobel Tarn's statue", "vector": [0.0, 1.0], "named": 0.3}
    found = database.read("traverse/hybrid_seeds", corpus=corpus, **asked)
    made = {short(row["passage"]["id"]): row for row in found}
    assert found == sorted(found, key=lambda r: (-r["fused"], r["passage"]["id"]))
    reasons = {name: set(row["reason"].split(" + ")) for name, row in made.items()}
    assert reasons == {
        "b1": {"words", "meaning", "title"},
        "a1": {"words", "meaning"},
        "e1": {"words"},
        "c1": {"meaning"},
        "a2": {"meaning"},
        "d1": {"meaning"},
    }
    # The order by meaning is c1, b1, a2, then a1 and d1 with the same cosine, told apart by id.
    assert math.isclose(made["c1"]["fused"], 1 / 60)
    assert math.isclose(made["a2"]["fused"], 1 / 62)
    assert math.isclose(made["d1"]["fused"], 1 / 64)
    assert math.isclose(made["c1"]["score"], 1.0, abs_tol=1e-6)
    assert math.isclose(made["a2"]["score"], 0.6, abs_tol=1e-6)
    # One of the three has the best BM25 (1.0), whose share is 0.3 beside a vector.
    assert 0.8 + 0.3 < made["b1"]["score"] <= 0.8 + 0.3 + 0.3 + 1e-6
    assert 0.0 < made["e1"]["score"] <= 1.0


def test_neighbours(database: Database, corpus: str) -> None:

    def found(passage: str, **more: Any) -> list[tuple[str, str, float, str]]:
        at = f"{corpus}/{passage}"
        return [
            (short(r["neighbour"]["id"]), r["edge"].type, round(r["score"], 4), r["reason"])
            for r in database.read("procedures/passage_neighbours", passage=at, **more)
        ]

    # a1 and a2 are joined three times: the weightiest edge speaks for them.
    first, last = found("a1")
    assert first == ("a2", "SIMILAR_ST", 0.9, "cosine 0.8")
    assert last == ("b1", "SHARES_KEYWORD", 0.5, "isobel tarn")
    assert found("a1", edges=["NEXT"]) == [("a2", "NEXT", 0.0, "next in the document")]
    best = ("b1", "SHARES_KEYWORD", 0.4, "kettlehaven")
    assert found("c1", edges=["SHARES_KEYWORD"], limit=1) == [best]
    assert found("e1") == []


def test_next_evidence_by_words(database: Database, corpus: str) -> None:
    first = {"passage": "a1", "match": 1.0, "text": "a harbour"}
    # b1 shares no word with the text, but a1 names it and hands on 0.4 of its match.
    assert _hop(database, corpus, first, visited=["a1"]) == [
        (0, "b1", "SHARES_KEYWORD", 0.0, 0.4, "isobel tarn"),
        (0, "a2", "SIMILAR_ST", 0.0, 0.0, "cosine 0.8"),
    ]
    second = {"passage": "b1", "match": 0.5, "text": "harbour"}
    found = _hop(database, corpus, second, visited=["a1", "b1"])
    # a1, visited, names b1 too: against the edge it inherits 0.2, and is named again.
    assert [(row[1], row[4], row[5]) for row in found] == [
        ("c1", 0.2, "kettlehaven"),
        ("a1", 0.1, "isobel tarn"),
        ("a2", 0.0, "cosine 0.96"),
    ]
    assert 0 < found[0][3] <= 1
    assert _hop(database, corpus, {"passage": "e1", "match": 1.0, "text": "harbour"}) == []
    assert _hop(database, corpus) == []


def test_next_evidence_by_vector(database: Database, corpus: str) -> None:
    step = {"passage": "b1", "match": -1.0, "vector": [0.0, 1.0]}
    # A match below zero is not handed on.
    assert _hop(database, corpus, step, visited=["b1"]) == [
        (0, "c1", "SHARES_KEYWORD", 1.0, 0.0, "kettlehaven"),
        (0, "a2", "SIMILAR_ST", 0.6, 0.0, "cosine 0.96"),
        (0, "a1", "SHARES_KEYWORD", 0.0, 0.0, "isobel tarn"),
    ]
    assert [row[1] for row in _hop(database, corpus, step, visited=["b1"], branching=1)] == ["c1"]
    assert [row[1] for row in _hop(database, corpus, step, edges=["SIMILAR_ST"])] == ["a2"]


def test_retrieve(database: Database, corpus: str) -> None:

    def found(question: str, **settings: int) -> list[tuple[int, str, list[str]]]:
        listed = database.read("procedures/retrieve", question=question, corpus=corpus, **settings)
        assert [r["score"] for r in listed] == sorted((r["score"] for r in listed), reverse=True)
        return [
            (row["rank"], short(row["passage"]["id"]), [step["title"] for step in row["path"]])
            for row in listed
        ]

    question = "Who designed the light?"
    assert found(question, seeds=1, hops=0) == [(1, "a1", ["Ardfin Lighthouse #1"])]
    assert found(question, seeds=1, hops=1) == [
        (1, "a1", ["Ardfin Lighthouse #1"]),
        (2, "b1", ["Ardfin Lighthouse #1", "Isobel Tarn"]),
        (3, "a2", ["Ardfin Lighthouse #1", "Ardfin Lighthouse #2"]),
    ]
    deeper = found(question, seeds=1)
    assert [name for _, name, _ in deeper] == ["a1", "b1", "a2", "c1"]
    assert deeper[3][2] == ["Ardfin Lighthouse #1", "Isobel Tarn", "Kettlehaven"]
    assert len(found(question, seeds=1, budget=2)) == 2
    assert found("") == []
    assert found("zebra") == []


@pytest.mark.parametrize("path", ["procedures/show", "browser/show"])
def test_show(database: Database, corpus: str, path: str) -> None:
    ids = key(corpus, "a1", "b1", "d1", "none")
    # Rows with relationships are read as they are: the driver's `dict` of them loses the ends.
    found = database.read(path, nodes=ids)
    made = [(short(r["node"]["id"]), r["edge"].type, short(r["neighbour"]["id"])) for r in found]
    assert sorted(made) == [
        ("a", "HAS_PASSAGE", "a1"),
        ("a1", "SHARES_KEYWORD", "b1"),
        ("b", "HAS_PASSAGE", "b1"),
        ("d", "HAS_PASSAGE", "d1"),
    ]
    assert database.read(path, nodes=[]) == []


def test_show_entities(database: Database, english: str) -> None:
    ids = [entity_id(english, key_of(name)) for name in ("Flu", "Fever", "Migraine")]
    made = [
        (row["node"]["name"], row["edge"] and row["edge"].type,
         row["neighbour"] and row["neighbour"]["name"])
        for row in database.read("procedures/show", nodes=ids)
    ]  # fmt: skip
    assert sorted(made, key=str) == [
        ("Fever", "possible_disease", "Flu"),
        ("Flu", "has_symptom", "Fever"),
        ("Migraine", None, None),
    ]


def test_nodes_do_as_their_ids(database: Database, corpus: str) -> None:
    """In Browser the passages that one procedure yields are given to the next one."""
    near = rows(
        database,
        "MATCH (p:Passage {id: $id}) CALL custom.kgp.passageNeighbours(p) YIELD neighbour "
        "RETURN neighbour.id AS id",
        id=f"{corpus}/a1",
    )
    assert [short(row["id"]) for row in near] == ["a2", "b1"]
    shown = rows(
        database,
        "MATCH (p:Passage) WHERE p.id IN $ids WITH collect(p) AS passages "
        "CALL custom.kgp.show(passages) YIELD node RETURN count(*) AS edges",
        ids=key(corpus, "a1", "b1"),
    )
    assert shown == [{"edges": 3}]


def _given(made: Statement, corpus: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return values for all parameters of a procedure: right ones but for those given."""
    right = {
        **{"question": "harbour", "corpus": corpus, "vector": [0.0, 1.0], "graph": "no such"},
        **{"document": f"{corpus}/a", "passage": f"{corpus}/a1", "entity": "x", "entities": ["x"]},
        **{"text": "harbour"},
    }
    names = {field.name for field in made.inputs}
    return {name: value for name, value in right.items() if name in names} | values


@pytest.mark.parametrize(
    ("path", "values", "said"),
    [
        ("seeds", {"corpus": "no such"}, r"there is no corpus named no such \(there are: .*\)"),
        ("tables", {"corpus": "no such"}, "there is no corpus named no such"),
        ("tables", {"document": "no such"}, "has no document with the id, title or source no such"),
        ("passage_neighbours", {"passage": "no such"}, "there is no passage with the id no such"),
        ("cells", {"table": "no such"}, "there is no table with the id no such"),
        ("trace", {"trace": "no such"}, "there is no trace no such"),
        ("paths", {"graph": "no such"}, "there is no knowledge graph named no such"),
        ("link_entities", {"graph": "no such"}, "there is no knowledge graph named no such"),
        ("seeds", {"corpus": None}, "a parameter is null"),
        ("paths", {"graph": None}, "a parameter is null"),
        ("passage_neighbours", {"passage": None}, "a parameter is null"),
        # What the configuration may hold.
        ("seeds", {"limits": 3}, r"no option limits \(there are: limit\)"),
        ("seeds", {"limit": -1}, "limit is -1, not 0 to 10000"),
        ("seeds", {"limit": "3"}, "limit is no INT"),
        ("retrieve", {"hops": 3, "budget": 0}, "budget is 0, not 1 to 1000; hops is 3, not 0 to 2"),
        ("passage_neighbours", {"edges": ["NEXT", "LAST"]}, "no edge type LAST"),
        ("passage_neighbours", {"edges": "NEXT"}, "edges is no LIST OF STRING"),
        ("passage_neighbours", {"edges": ["NEXT"], "x": 1, "y": 1}, "no option x.*; .*y"),
    ],
    ids=str,
)
def test_what_a_procedure_refuses(
    database: Database, corpus: str, path: str, values: dict[str, Any], said: str
) -> None:
    made = statement(f"procedures/{path}")
    inputs = [field.name for field in made.inputs]
    given = _given(made, corpus, values if {*values} <= {*inputs} else {"configuration": values})
    with pytest.raises(DatabaseError, match=said) as caught:
        database.read(f"procedures/{path}", **given)
    assert caught.value.where == made.path
    # A Cypher user is told the same.
    named = ", ".join(f"${name}" for name in inputs)
    with pytest.raises(Neo4jError, match=said):
        rows(database, f"CALL custom.{made.name}({named})", **made.bind(given))


def test_paper_hop(database: Database, corpus: str) -> None:
    def found(edge: str, *steps: dict[str, Any], **more: Any) -> list[tuple[Any, ...]]:
        ends = [{**step, "passage": f"{corpus}/{step['passage']}"} for step in steps]
        made = database.read("traverse/paper_hop", corpus=corpus, frontier=ends, edge=edge, **more)
        return [(r["path"], short(r["passage"]), round(r["match"], 4), r["reason"]) for r in made]

    near = {"passage": "b1", "vector": [0.0, 1.0], "text": "light"}
    # One graph alone; cosine alone, whatever the words and the titles that an edge names.
    first, last = (0, "c1", 1.0, "kettlehaven"), (0, "a1", 0.0, "isobel tarn")
    assert found("SHARES_KEYWORD", near) == [first, last]
    assert found("SIMILAR_ST", near) == [(0, "a2", 0.6, "cosine 0.96")]
    assert found("SHARES_KEYWORD", near, most=1) == [first]
    seen = key(corpus, "c1")
    assert found("SHARES_KEYWORD", near, visited=seen) == [last]
    worded = {"passage": "b1", "text": "harbour"}
    first, second = found("SHARES_KEYWORD", worded)
    assert (first[1], second[1:3]) == ("c1", ("a1", 0.0))
    assert first[2] > 0
    # A neighbour of two paths is a candidate of both.
    both = found("SHARES_KEYWORD", {"passage": "a1", "text": ""}, {"passage": "c1", "text": ""})
    assert [row[:2] for row in both if row[1] == "b1"] == [(0, "b1"), (1, "b1")]
    drawn = found("SHARES_KEYWORD", {"passage": "b1", "draw": "3"})
    assert sorted(row[1] for row in drawn) == ["a1", "c1"]
    assert all(0 <= row[2] < 1 for row in drawn)
    assert found("SHARES_KEYWORD") == []
