"""The procedures of the learned agent, row by row, on the graph of six passages with its mentions.

a1 mentions document b, b1 and a2 document c; c1 and d1 mention "moe", a2 and e1 "the fair".
"""

import math
from typing import Any

import pytest
from graphs import rows
from small_graphs import PASSAGES, key, lighthouse, short

from kgp_neo4j.corpus.load.stored import make_own_indexes
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.statements import LANGUAGE, statement

_MENTIONS = {"a1": ["b"], "a2": ["c", "the fair"], "b1": ["c"], "c1": ["moe"], "d1": ["moe"]}
_MENTIONS |= {"e1": ["the fair"]}
#: By type: from, to, weight, what is shared, whether it names the title.
_ENTITY_EDGES = [("a1", "b1", 0.6, ["Isobel Tarn"], True), ("c1", "d1", 0.7, ["Moe"], False)]
#: How rare an entity of two passages is among the thousand that are assumed.
_TWO = 1 - math.log(3) / math.log(1001)


def _graph(database: Database, corpus: str) -> str:
    """Store the six passages with their edges, and what each mentions."""
    lighthouse(database, corpus)
    rows(
        database,
        """
        UNWIND ['Moe', 'The Fair'] AS title
        CREATE (:NamedEntity {corpus: $c, name: toLower(title), title: title, type: 'Phrase'})
        """,
        c=corpus,
    )
    rows(
        database,
        """
        UNWIND $rows AS row
        MATCH (p:Passage {id: $c + '/' + row[0]})
        MATCH (e:Document|NamedEntity {corpus: $c})
        WHERE e.id = $c + '/' + row[1] OR e.name = row[1]
        CREATE (p)-[:MENTIONS]->(e)
        """,
        c=corpus,
        rows=[[passage, entity] for passage, found in _MENTIONS.items() for entity in found],
    )
    for row in _ENTITY_EDGES:
        _share(database, corpus, *row, kind="SHARES_ENTITY")
    return corpus


def _add(database: Database, corpus: str, count: int, vector: list[float]) -> None:
    """Add so many passages of one vector to the first document."""
    rows(
        database,
        "MATCH (d:Document {id: $c + '/a'}) UNWIND range(1, $n) AS n "
        "CREATE (d)-[:HAS_PASSAGE]->(:Passage {corpus: $c, id: $c + '/x' + n, embedding: $v})",
        c=corpus,
        n=count,
        v=vector,
    )


def _share(
    database: Database, corpus: str, first: str, second: str, weight: float, shared: list[str],
    names: bool, kind: str = "SHARES_KEYWORD",
) -> None:  # fmt: skip
    """Join two passages by what they share."""
    edge = {"weight": weight, "namesTitle": names, "count": len(shared)}
    edge |= {"keywords": shared, "entities": shared}
    rows(
        database,
        "MATCH (a:Passage {id: $a}), (b:Passage {id: $b}) "
        "CREATE (a)-[e:$($kind)]->(b) SET e = $edge",
        a=f"{corpus}/{first}", b=f"{corpus}/{second}", edge=edge, kind=kind,
    )  # fmt: skip


def _asked(
    database: Database, corpus: str, question: str, vector: list[float], **more: int
) -> dict[str, dict[str, float | None]]:
    found = database.read(
        "traverse/question_signals", question=question, vector=vector, corpus=corpus, **more
    )
    names = [short(row["passage"]) for row in found]
    assert names == sorted(names)
    assert all(row["passage"].startswith(f"{corpus}/") for row in found)
    return {
        short(row.pop("passage")): {name: value for name, value in row.items() if value is not None}
        for row in found
    }


@pytest.mark.alone
def test_question_signals(database: Database, corpus: str, other_corpus: str) -> None:
    lighthouse(database, corpus)
    lighthouse(database, other_corpus)
    question = "When did Isobel Tarn see the statue of New York?"
    found = _asked(database, corpus, question, [0.0, 1.0], depth=3)
    # The order by meaning is c1, b1, a2; York is not meant, since New York is.
    cosines = {name: row["cosine"] for name, row in found.items() if "cosine" in row}
    # The index keeps its vectors in a byte a number.
    assert cosines == pytest.approx({"c1": 1.0, "b1": 0.8, "a2": 0.6}, abs=0.01)
    assert _asked(database, corpus, question, [0.0, 1.0])["a2"]["cosine"] == pytest.approx(0.6)
    named = {name: row["named"] for name, row in found.items() if "named" in row}
    assert named == pytest.approx({"e1": 2.0, "b1": 2 / (1 + math.log(2))})
    search = database.read("procedures/seeds", question=question, corpus=corpus)
    lexical = {name: row["lexical"] for name, row in found.items() if "lexical" in row}
    assert lexical == {short(row["passage"]["id"]): row["score"] for row in search}
    assert set(lexical) == {"a1", "b1", "d1", "e1"}
    assert set(found) == {"a1", "a2", "b1", "c1", "d1", "e1"}
    # A name in both texts tells b1 from a1, which only speaks of her.
    assert set(found["a1"]) == {"lexical"}
    assert set(found["b1"]) == {"lexical", "cosine", "named"}


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("traverse/question_signals", {"question": ""}),
        ("traverse/hybrid_seeds", {"question": ""}),
        ("procedures/seeds_by_vector", {}),
    ],
)
def test_a_corpus_is_scanned_only_while_it_is_small(
    database: Database, corpus: str, path: str, given: dict[str, str]
) -> None:
    lighthouse(database, corpus)
    made = statement(path)
    values = made.bind({**given, "vector": [0.28, 0.96], "corpus": corpus})

    def scanned() -> int:
        with database.driver.session() as session:
            plan = session.run(f"PROFILE {LANGUAGE}{made.text}", values).consume().profile
        return _scanned(plan)

    assert scanned() == 6  # all there are
    _add(database, corpus, 1000, [0.28, 0.96])
    make_own_indexes(database, corpus)
    assert scanned() == 0


def _scanned(plan: Any) -> int:
    """Return how many passages were found by their corpus."""
    here = plan["args"]["Rows"] if plan["operatorType"].startswith("NodeIndexSeek@") else 0
    return int(here) + sum(_scanned(part) for part in plan.get("children", ()))


def _hop(
    database: Database, corpus: str, frontier: list[str], **more: Any
) -> dict[str, dict[str, Any]]:
    """Return the rows by passage, each link as (kind, place, weight), in order."""
    for name in ("others", "named"):
        if name in more:
            more[name] = key(corpus, *more[name])
    if "hits" in more:
        more["hits"] = {f"{corpus}/{name}": score for name, score in more["hits"].items()}
    found = database.read(
        "traverse/candidate_signals",
        **{"others": [], "vector": [], "words": [], **more},
        frontier=key(corpus, *frontier),
        corpus=corpus,
    )
    names = [short(row["passage"]) for row in found]
    assert names == sorted(names)
    for row in found:
        row["links"] = sorted((int(k), int(at), round(w, 6)) for k, at, w in row["links"])
    return {short(row["passage"]): row for row in found}


def _links(found: dict[str, dict[str, Any]]) -> dict[str, list[tuple[int, int, float]]]:
    return {name: row["links"] for name, row in found.items()}


def test_candidate_signals(database: Database, corpus: str, other_corpus: str) -> None:
    _graph(database, corpus)
    _graph(database, other_corpus)
    asked = {"vector": [1.0, 0.0], "words": ["harbour", "kettlehaven", "born"]}
    found = _hop(database, corpus, ["b1"], others=["e1", "d1"], **asked)
    two = round(_TWO, 6)
    assert _links(found) == {
        "a1": [(1, 0, 0.6)],  # it names her twice, by keyword with 0.5
        "a2": [(3, 0, 0.98), (5, 0, two)],  # document c is mentioned by both
        "b1": [],
        "c1": [(0, 0, 0.4)],
        "d1": [],
        "e1": [],
    }
    cosines = {name: row["cosine"] for name, row in found.items()}
    assert cosines.pop("e1") is None
    assert cosines == pytest.approx({"a1": 1, "a2": 0.8, "b1": 0.6, "c1": 0, "d1": -1}, abs=1e-6)
    assert {name: row["covered"] for name, row in found.items()} == {
        "a1": [], "a2": [], "b1": [1, 2], "c1": [0, 1], "d1": [0], "e1": [],
    }  # fmt: skip
    assert {name: row["titled"] for name, row in found.items() if row["titled"]} == {"c1": [1]}
    titles = {n: title for title, texts in PASSAGES.values() for n in texts}
    texts = {n: text for _, texts in PASSAGES.values() for n, (text, _) in texts.items()}
    titles |= {"a1": "Ardfin Lighthouse #1", "a2": "Ardfin Lighthouse #2"}
    assert {name: row["length"] for name, row in found.items()} == {
        name: len(f"{titles[name]} {texts[name]}") for name in found
    }
    assert {name: row["titleLength"] for name, row in found.items()} == {
        name: len(titles[name]) for name in found
    }
    assert {name: row["outDegree"] for name, row in found.items()} == {
        name: len(entities) for name, entities in _MENTIONS.items()
    }
    assert {name: row["inDegree"] for name, row in found.items()} == {
        "a1": 0, "a2": 0, "b1": 1, "c1": 2, "d1": 0, "e1": 0,
    }  # fmt: skip


def test_candidate_signals_of_a_beam(database: Database, corpus: str) -> None:
    _graph(database, corpus)
    two = round(_TWO, 6)
    # Each link says from which place of the frontier it leads; b1 is not among the nearest of a2.
    found = _hop(database, corpus, ["c1", "a2"])
    assert _links(found) == {
        "a1": [(3, 1, 0.9), (4, 1, 1.0)],
        "a2": [],
        "b1": [(1, 0, 0.4), (5, 1, two)],
        "c1": [],
        "d1": [(2, 0, 0.7), (5, 0, two)],
    }
    assert {row["cosine"] for row in found.values()} == {None}
    # e1 shares no more than an entity with a2, and is told of where another has found it.
    found = _hop(database, corpus, ["a2"], others=["e1"])
    assert found["e1"]["links"] == [(5, 0, two)]
    assert _hop(database, corpus, []) == {}
    assert _hop(database, corpus, ["none"], others=["none"]) == {}
    assert database.read(
        "traverse/candidate_signals",
        frontier=key(corpus, "a1"), others=[], corpus="no such", vector=[], words=[],
    ) == []  # fmt: skip


def test_candidate_signals_of_what_is_asked_about(database: Database, corpus: str) -> None:
    _graph(database, corpus)
    two = round(_TWO, 6)
    # What the question names is no bridge to d1, but speaks for both, and for nobody unreached.
    found = _links(_hop(database, corpus, ["c1"], phrases=["moe", "the fair", "nobody"]))
    assert found == {"b1": [(1, 0, 0.4)], "c1": [(6, 0, two)], "d1": [(2, 0, 0.7), (6, 0, two)]}
    # Document c is asked about by the title of c1.
    found = _hop(database, corpus, ["b1"], named=["c1"])
    assert _links(found) == {
        "a1": [(1, 0, 0.6)],
        "a2": [(3, 0, 0.98), (6, 0, two)],
        "b1": [(6, 0, two)],
        "c1": [(0, 0, 0.4)],
    }


def test_candidate_signals_of_a_title_that_many_name(database: Database, corpus: str) -> None:
    _graph(database, corpus)
    for passage, weight in (("a1", 0.1), ("d1", 0.3), ("e1", 0.2)):
        _share(database, corpus, passage, "c1", weight, ["kettlehaven"], True)

    def naming(**more: Any) -> set[str]:
        found = _hop(database, corpus, ["c1"], **more)
        return {name for name, row in found.items() if any(link[0] == 1 for link in row["links"])}

    assert naming() == {"a1", "b1", "d1", "e1"}
    assert naming(inbound=1) == {"b1"}  # the weightiest
    assert naming(inbound=2) == {"b1", "d1"}
    assert naming(inbound=1, hits={"e1": 2.0, "a1": 1.0}) == {"e1"}
    assert naming(inbound=3, hits={"e1": 2.0, "a1": 1.0}) == {"a1", "b1", "e1"}
    # Over so many edges only those that come from the search's hits are read.
    assert naming(hub=4) == naming()
    assert naming(hub=3, hits={"e1": 2.0, "b1": 1.0, "c1": 0.5}) == {"b1", "e1"}
    assert naming(hub=3) == set()
    shares = (2, 0, 0.7)
    assert shares in _hop(database, corpus, ["c1"], hub=0)["d1"]["links"]  # it goes out from c1
    assert shares in _hop(database, corpus, ["d1"], hub=9)["c1"]["links"]
    assert shares in _hop(database, corpus, ["d1"], hub=0, hits={"c1": 1.0})["c1"]["links"]
    assert shares not in _hop(database, corpus, ["d1"], hub=0)["c1"]["links"]
    entities = _hop(database, corpus, ["c1"], hub=0, hits={"b1": 1.0}, edges=["SHARES_ENTITY"])
    assert set(entities) == {"c1", "d1"}
    # What it names itself is not bounded.
    _share(database, corpus, "b1", "d1", 0.1, ["york"], True)
    links = _links(_hop(database, corpus, ["b1"], inbound=1))
    assert {name for name in links if (0, 0) in {link[:2] for link in links[name]}} == {"c1", "d1"}


def _ways(
    database: Database, corpus: str, *pairs: tuple[str, str], edges: list[str] | None = None
) -> list[tuple[str, str, str, str]]:
    found = database.read(
        "traverse/path_edges", pairs=[key(corpus, *pair) for pair in pairs], edges=edges or []
    )
    return [(short(r["source"]), short(r["target"]), r["edge"], r["reason"]) for r in found]


def test_path_edges(database: Database, corpus: str) -> None:
    _graph(database, corpus)
    # An edge that names a title comes first, one that shares something next, then the others.
    _share(database, corpus, "c1", "b1", 0.9, ["A", "B", "C", "D"], False, kind="SHARES_ENTITY")
    pairs = [("a1", "b1"), ("b1", "a1"), ("b1", "c1"), ("c1", "d1"), ("a2", "b1"), ("a1", "a2")]
    assert _ways(database, corpus, *pairs, ("a2", "e1"), ("a1", "e1"), ("a1", "none")) == [
        ("a1", "a2", "NEXT", "next in the document"),
        ("a1", "b1", "SHARES_ENTITY", "Isobel Tarn"),
        ("a2", "b1", "SIMILAR_ST", "cosine 0.96"),
        ("a2", "e1", "MENTIONS", "The Fair"),
        ("b1", "a1", "SHARES_ENTITY", "Isobel Tarn"),
        ("b1", "c1", "SHARES_KEYWORD", "kettlehaven"),
        ("c1", "d1", "SHARES_ENTITY", "Moe"),
    ]
    _share(database, corpus, "a2", "a1", 0.1, ["A", "B", "C", "D"], False)
    assert _ways(database, corpus, ("a1", "a2")) == [("a1", "a2", "SHARES_KEYWORD", "A, B, C")]
    assert _ways(database, corpus) == []
    rows(database, "MATCH (:Passage {id: $a})-[e]-() REMOVE e.keywords", a=key(corpus, "a2")[0])
    assert _ways(database, corpus, ("a1", "a2"))[0][3] == ""  # as of what is deleted meanwhile
