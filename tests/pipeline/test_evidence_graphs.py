"""Evidence graphs: mining, pruning, and aggregation into routes."""

from collections.abc import Sequence

import pytest

from kgp_neo4j import Database, MiningSettings
from kgp_neo4j.mindmap.aggregate import merge_names, routes
from kgp_neo4j.mindmap.explore.exploration import shortest_paths
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.stored_graph import StoredGraph, open_graph
from kgp_neo4j.types.mindmap import EvidenceGraph, ReasoningGraph, Triple

_QUESTION = "I have a fever and nausea. Which test do I need?"


@pytest.fixture(scope="module")
def graph(database: Database, english: str) -> StoredGraph:
    return open_graph(database, english)


def _names(mined: ReasoningGraph) -> set[str]:
    return {name for t in mined.triples for name in (t.head, t.tail)}


def test_mine(graph: StoredGraph) -> None:
    found = mine(graph, _QUESTION)
    assert [entity.name for entity in found.entities] == ["Fever", "Nausea"]
    assert found.evidence[0].kind == "path"
    # What is asked for comes first: the test that fever and nausea both lead to.
    assert [each.nodes for each in found.evidence[:2]] == [
        ("Fever", "Flu", "Throat swab"),
        ("Nausea", "Flu", "Throat swab"),
    ]
    assert any(route.startswith("Fever -> possible_disease -> Flu") for route in found.routes)
    assert "Throat swab" in _names(found)
    assert {t.id for t in found.triples} == {t.id for e in found.evidence for t in e.triples}
    assert all(t.id and t.head_id and t.tail_id for t in found.triples)
    assert found.seconds > 0
    # The same again, whatever was asked in between.
    mine(graph, "migraine")
    again = mine(graph, _QUESTION)
    assert (again.triples, again.routes) == (found.triples, found.routes)


def test_size_and_what_is_left_out(graph: StoredGraph) -> None:
    small = mine(graph, _QUESTION, MiningSettings(size=3))
    assert len({frozenset((t.head_id, t.tail_id)) for t in small.triples}) == 3
    assert small.left_out > 0
    assert mine(graph, _QUESTION, MiningSettings(size=200)).left_out == 0


def test_ablations(graph: StoredGraph) -> None:
    paths = mine(graph, "I have a fever and nausea.", MiningSettings(neighbours=False))
    assert {e.kind for e in paths.evidence} == {"path"}
    assert "Throat swab" not in _names(paths)
    around = mine(graph, _QUESTION, MiningSettings(paths=False))
    assert {e.kind for e in around.evidence} == {"neighbour"}
    assert {e.entity for e in around.evidence} == {"Fever", "Nausea"}


def test_nothing_linked(graph: StoredGraph) -> None:
    found = mine(graph, "What is the weather in Paris?")
    assert (found.entities, found.evidence, found.triples, found.routes) == ((), (), (), ())


def test_kg_retriever(graph: StoredGraph) -> None:
    linked = link(graph, "fever, nausea, stomach cramps")
    found = shortest_paths(graph, linked, 40)
    assert [len(path.triples) for path in found] == [2, 2]
    assert shortest_paths(graph, linked[:1], 40) == []
    assert sum(len(p.triples) for p in shortest_paths(graph, linked, 2)) == 2


def test_near_duplicates() -> None:
    def entity(name: str, aliases: Sequence[str] = ()) -> dict[str, object]:
        return {"name": name, "aliases": aliases}

    merged = merge_names(
        [
            entity("Headache"),
            entity("Headaches"),
            entity("Flu", aliases=["Influenza"]),
            entity("Influenza"),
            entity("Blood test (CBC)"),
            entity("Diabetes type 1"),
            entity("Diabetes type 2"),
        ],
        first=["Headaches"],
    )
    assert merged == {"Headache": "Headaches", "Influenza": "Flu"}


def test_routes() -> None:
    def triple(head: str, relation: str, tail: str) -> Triple:
        return Triple(head + tail, head, relation, tail)

    near = (
        triple("Fatigue", "possible_disease", "Liver problem"),
        triple("Liver problem", "needs", "Rest"),
        triple("Nausea", "possible_disease", "Liver problem"),
        triple("Liver problem", "needs", "Water"),
        triple("Queasiness", "possible_disease", "Liver problem"),
    )
    path = EvidenceGraph(
        "path", "Rest", (triple("A", "cures", "Rest"), triple("A", "is", "B")), ("Rest", "A", "B")
    )
    merged = {"Queasiness": "Nausea"}
    assert routes([path, EvidenceGraph("neighbour", "Fatigue", near)], merged) == [
        "Rest <- cures <- A -> is -> B",
        "(Fatigue, Nausea) -> possible_disease -> Liver problem",
        "Liver problem -> needs -> (Rest, Water)",
    ]
