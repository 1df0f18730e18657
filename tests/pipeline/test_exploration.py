"""Exploration of knowledge graphs: paths and neighbourhoods, against NetworkX and on hubs."""

import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from graphs import rows
from small_kg import ENGLISH, load_triples

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graph_names import entity_id, graph_scope
from kgp_neo4j.types.errors import DatabaseError

pytestmark = pytest.mark.newest

#: More than any procedure looks at.
_LEAVES = 25_000


def _paths(database: Database, graph: str, *entities: str, **more: Any) -> list[list[str]]:
    found = database.read("procedures/paths", entities=list(entities), graph=graph, **more)
    return [[node["name"] for node in row["path"]] for row in found]


def test_paths_of_two(database: Database, english: str) -> None:
    (row,) = database.read("procedures/paths", entities=["Fever", "NAUSEA"], graph=english)
    assert [node["name"] for node in row["path"]] == ["Fever", "Flu", "Nausea"]
    assert [edge.type for edge in row["edges"]] == ["possible_disease", "has_symptom"]
    assert (row["hops"], row["score"]) == (2, 1.5)
    # In either direction, by id, and one way only once.
    ids = [entity_id(english, "nausea"), entity_id(english, "fever")]
    assert len(_paths(database, english, *ids)) == 1
    assert _paths(database, english, "Fever", "Nausea", maxHops=1) == []
    assert _paths(database, english) == _paths(database, english, "Fever") == []
    with pytest.raises(
        DatabaseError, match=f"graph {english} has no entity named no such, nor this"
    ):
        _paths(database, english, "Fever", "no such", "nor this")
    # From fever by flu to nausea, the nearest, and on from there; nausea stands once.
    found = _paths(database, english, "Fever", "Nausea", "Stomach cramps")
    chain = ["Fever", "Flu", "Nausea", "Food poisoning", "Stomach cramps"]
    assert found[0] in (chain, chain[::-1])
    assert all(len(way) == len({*way}) for way in found[:1])
    lengths = [len(way) for way in found]
    assert lengths == sorted(lengths)


def test_an_entity_out_of_reach_begins_anew(database: Database, graph: str, tmp_path: Path) -> None:
    triples = [("a", "r", "b"), ("b", "r", "c"), ("x", "r", "y"), ("lone", "r", "alone")]
    load_triples(database, graph, tmp_path, triples, embed=False)
    found = _paths(database, graph, "a", "x", "c", "y", "lone")
    assert sorted(min(way, way[::-1]) for way in found) == [["a", "b", "c"], ["x", "y"]]


def test_exploration_agrees_with_networkx(database: Database, graph: str, tmp_path: Path) -> None:
    chance = random.Random(11)
    names = [f"n{number}" for number in range(60)]
    pairs = (chance.sample(names, 2) for _ in range(90))
    triples = [(head, chance.choice("rs"), tail) for head, tail in pairs]
    load_triples(database, graph, tmp_path, triples, embed=False)
    known = nx.Graph((head, tail) for head, _, tail in triples)
    held = sorted(known)
    assert len({*map(len, nx.connected_components(known))}) > 1
    for _ in range(40):
        a, b = chance.sample(held, 2)
        near = nx.has_path(known, a, b) and nx.shortest_path_length(known, a, b) <= 5
        expected = (
            {tuple(min(w, w[::-1])) for w in nx.all_shortest_paths(known, a, b)} if near else set()
        )
        found = _paths(database, graph, a, b, limit=100)
        assert {tuple(min(way, way[::-1])) for way in found} == expected
        assert len(found) == len(expected)
    for name in held[::5]:
        around = database.read("procedures/entity_neighbours", entity=name, graph=graph, limit=1000)
        assert {row["neighbour"]["name"] for row in around} == {*known[name]}


def test_the_search_ends_with_the_time(database: Database, english: str) -> None:
    everything = [row["name"] for row in database.read("explore/entities", graph=english)]
    whole = _paths(database, english, *everything, limit=100, timeout=60_000)
    assert len(whole) > 0
    # Cut short, chains lead over those pairs that were found; what they say is true all the same.
    joined = {
        frozenset((head.replace("_", " "), tail.replace("_", " "))) for head, _, tail in ENGLISH
    }
    for timeout in (1, 5, 20):
        for way in _paths(database, english, *everything, limit=100, timeout=timeout):
            assert all(frozenset(pair) in joined for pair in pairwise(way))


def test_entity_neighbours(database: Database, english: str) -> None:
    def around(entity: str, **more: Any) -> list[tuple[str, bool, str]]:
        listed = database.read("procedures/entity_neighbours", entity=entity, graph=english, **more)
        return [(r["relation"], r["outward"], r["neighbour"]["name"]) for r in listed]

    assert around("Fever") == [("has_symptom", False, "Flu"), ("possible_disease", True, "Flu")]
    assert around(entity_id(english, "fever"), relations=["has_symptom"]) == around("Fever")[:1]
    # Of few, one of each type.
    four = "has_symptom need_medical_test need_medication possible_disease"
    assert {relation for relation, _, _ in around("Flu", limit=4)} == set(four.split())
    with pytest.raises(DatabaseError, match="has no entity named no such"):
        around("no such")


def test_evidence(database: Database, english: str) -> None:
    def found(*entities: str, **settings: Any) -> list[tuple[str, str, str, str, str]]:
        listed = database.read(
            "procedures/evidence", entities=list(entities), graph=english, **settings
        )
        return [
            (
                r["kind"],
                r["entity"]["name"],
                r["source"]["name"],
                r["edge"].type,
                r["neighbour"]["name"],
            )
            for r in listed
        ]

    both = found("Fever", "Nausea")
    # What both lead to comes first, in the direction that leads away from them.
    assert set(both[:2]) == {
        ("path", "Fever", "Fever", "possible_disease", "Flu"),
        ("path", "Nausea", "Nausea", "possible_disease", "Flu"),
    }
    assert {row[4] for row in both} >= {"Throat swab", "Paracetamol (Panadol)"}
    # No pair twice, whichever way it is met.
    pairs = [frozenset((row[2], row[4])) for row in both]
    assert len(pairs) == len({*pairs})
    # What stands further away comes after what leads there.
    shown = {"Fever", "Nausea"}
    for row in both:
        assert row[2] in shown
        shown.add(row[4])
    assert len(found("Fever", "Nausea", limit=3)) == 3
    heavy = found("Flu", relations={"need_medical_test": 9.0}, limit=1)
    assert [row[4] for row in heavy] == ["Throat swab"]
    assert found() == []


@pytest.mark.slow
def test_hubs(database: Database, graph: str) -> None:
    """A star of 25,000 leaves: each procedure looks at a bounded part of it."""
    database.write("load_kg/begin", graph=graph, scope=graph_scope(graph), load="x")
    rows(
        database,
        """
        CREATE (hub:Entity {id: $graph + '/hub', graph: $graph, key: 'hub', name: 'hub'})
        WITH hub
        UNWIND range(1, $leaves) AS n
        CREATE (hub)-[:leaf {id: $graph + n, graph: $graph}]->(:Entity {
          id: $graph + '/' + n, graph: $graph, key: toString(n), name: toString(n)})
        """,
        graph=graph,
        leaves=_LEAVES,
    )
    assert _paths(database, graph, "1", str(_LEAVES)) == [["1", "hub", str(_LEAVES)]]
    seven = [str(n) for n in range(1, 8)]
    for path in _paths(database, graph, *seven, limit=3):
        assert {*path} <= {"hub", *seven}
    for limit in (5, 50):
        around = database.read(
            "procedures/entity_neighbours", entity="hub", graph=graph, limit=limit
        )
        assert len({row["neighbour"]["id"] for row in around}) == limit
    found = database.read("procedures/evidence", entities=["hub", "5"], graph=graph, limit=20)
    assert len(found) == 20
    ends = [(r["source"]["name"], r["neighbour"]["name"]) for r in found]
    assert all("hub" in pair for pair in ends)
    assert len({frozenset(pair) for pair in ends}) == 20
    assert all(a != b for a, b in pairwise(ends))
