"""Exploration of knowledge graphs: paths, neighbourhoods, evidence mined, relation paths asked."""

import random
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from graphs import rows
from small_kg import ENGLISH, kept, load_triples

from kgp_neo4j import Database, MiningSettings
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.explore.mining import mine, prune, shortest_paths
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.link.name_forms import entity_id, graph_scope, merge_names, routes
from kgp_neo4j.mindmap.load.graphs import StoredGraph, open_graph
from kgp_neo4j.types.errors import DatabaseError
from kgp_neo4j.types.mindmap import EvidenceGraph, ReasoningGraph, Triple

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
        ways = nx.all_shortest_paths(known, a, b) if near else ()
        expected = {tuple(min(way, way[::-1])) for way in ways}
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
        asked = {"entities": list(entities), "graph": english}
        listed = database.read("procedures/evidence", **asked, **settings)
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
        asked = {"entity": "hub", "graph": graph, "limit": limit}
        around = database.read("procedures/entity_neighbours", **asked)
        assert len({row["neighbour"]["id"] for row in around}) == limit
    found = database.read("procedures/evidence", entities=["hub", "5"], graph=graph, limit=20)
    assert len(found) == 20
    ends = [(r["source"]["name"], r["neighbour"]["name"]) for r in found]
    assert all("hub" in pair for pair in ends)
    assert len({frozenset(pair) for pair in ends}) == 20
    assert all(a != b for a, b in pairwise(ends))


_QUESTION = "I have a fever and nausea. Which test do I need?"


@pytest.fixture(scope="module")
def opened(database: Database, english: str) -> StoredGraph:
    return open_graph(database, english)


def _names(mined: ReasoningGraph) -> set[str]:
    return {name for t in mined.triples for name in (t.head, t.tail)}


def test_mine(opened: StoredGraph) -> None:
    found = mine(opened, _QUESTION)
    assert [entity.name for entity in found.entities] == ["Fever", "Nausea"]
    assert found.evidence[0].kind == "path"
    # What is asked for comes first: the test that fever and nausea both lead to.
    ways = [("Fever", "Flu", "Throat swab"), ("Nausea", "Flu", "Throat swab")]
    assert [each.nodes for each in found.evidence[:2]] == ways
    assert any(route.startswith("Fever -> possible_disease -> Flu") for route in found.routes)
    assert "Throat swab" in _names(found)
    assert {t.id for t in found.triples} == {t.id for e in found.evidence for t in e.triples}
    assert all(t.id and t.head_id and t.tail_id for t in found.triples)
    assert found.seconds > 0
    # The same again, whatever was asked in between.
    mine(opened, "migraine")
    again = mine(opened, _QUESTION)
    assert (again.triples, again.routes) == (found.triples, found.routes)


def test_size_and_what_is_left_out(opened: StoredGraph) -> None:
    small = mine(opened, _QUESTION, MiningSettings(size=3))
    assert len({frozenset((t.head_id, t.tail_id)) for t in small.triples}) == 3
    assert small.left_out > 0
    assert mine(opened, _QUESTION, MiningSettings(size=200)).left_out == 0


def test_what_is_left_out_is_counted_by_pairs() -> None:
    def single(kind: str, tail: str, score: float = 1.0) -> EvidenceGraph:
        triple = Triple(f"a{tail}", "a", "r", tail, "a", tail)
        return EvidenceGraph(kind, "a", (triple,), ("a", tail), score)

    path = single("path", "b")
    near = [single("neighbour", f"n{n}", 1 / (n + 1)) for n in range(8)]
    # The pair of the path is not counted again.
    kept, left = prune([path, path], [single("path", "b"), *near], 4)
    assert [each.nodes for each in kept] == [("a", "b"), ("a", "n0", "n1", "n2")]
    assert left == 5


def test_ablations(opened: StoredGraph) -> None:
    paths = mine(opened, "I have a fever and nausea.", MiningSettings(neighbours=False))
    assert {e.kind for e in paths.evidence} == {"path"}
    assert "Throat swab" not in _names(paths)
    around = mine(opened, _QUESTION, MiningSettings(paths=False))
    assert {e.kind for e in around.evidence} == {"neighbour"}
    assert {e.entity for e in around.evidence} == {"Fever", "Nausea"}


def test_nothing_linked(opened: StoredGraph) -> None:
    found = mine(opened, "What is the weather in Paris?")
    assert (found.entities, found.evidence, found.triples, found.routes) == ((), (), (), ())


def test_kg_retriever(opened: StoredGraph) -> None:
    linked = link(opened, "fever, nausea, stomach cramps")
    found = shortest_paths(opened, linked, 40)
    assert [len(path.triples) for path in found] == [2, 2]
    assert shortest_paths(opened, linked[:1], 40) == []
    assert sum(len(p.triples) for p in shortest_paths(opened, linked, 2)) == 2


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


TRIPLES = (Path(__file__).parents[1] / "data" / "films.tsv").read_text(encoding="utf-8")


def _split(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture(scope="module")
def films(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from kept(database, tmp_path_factory, load_triples, _split(TRIPLES))


@pytest.fixture(scope="module")
def filmed(database: Database, films: str) -> StoredGraph:
    return open_graph(database, films)


def test_relation_path_procedure(database: Database, films: str) -> None:
    def ends(*relations: str, **more: int) -> list[list[str]]:
        found = database.read(
            "procedures/relation_path",
            entity="Mara Lindholm", graph=films, relations=list(relations), **more,
        )  # fmt: skip
        assert [row["end"]["name"] for row in found] == [r["path"][-1]["name"] for r in found]
        return [[node["name"] for node in row["path"]] for row in found]

    assert ends("<directed_by", "written_by") == [
        ["Mara Lindholm", "Salt, Wind", "Ivar Quist"],
        ["Mara Lindholm", "The Grey Harbour", "Tove Arnesen"],
    ]
    assert ends("birth_date") == [["Mara Lindholm", "1931-02-03"]]
    assert ends("directed_by") == []
    assert len(ends()) == 4
    assert len(ends(limit=1)) == 1
    with pytest.raises(DatabaseError, match="four steps at most, not 5"):
        ends(*["directed_by"] * 5)
    with pytest.raises(DatabaseError, match="no entity named no such"):
        database.read("procedures/relation_path", entity="no such", graph=films)


def test_names_are_told_from_words(filmed: StoredGraph, films: str) -> None:
    def linked(question: str) -> list[str]:
        return [entity.name for entity in link(filmed, question) if entity.id]

    assert linked("who directed the films written by Tove Arnesen") == ["Tove Arnesen"]
    assert linked("in which language is Salt, Wind") == ["Salt, Wind"]
    assert linked("who has written The Grey Harbour") == ["The Grey Harbour"]


def test_the_path_asked_for_is_the_evidence(filmed: StoredGraph, films: str) -> None:
    found = mine(filmed, "who directed the films written by Ivar Quist")
    best = found.asked[0]
    assert best.steps == (("written_by", False), ("directed_by", True))
    assert [best.end_of(route)[1] for route in best.routes] == ["Mara Lindholm"]
    assert found.evidence[0].nodes == ("Ivar Quist", "Salt, Wind", "Mara Lindholm")
    without = MiningSettings(paths=False)
    assert mine(filmed, "who directed Salt, Wind", without).asked == ()


@pytest.mark.parametrize(
    ("question", "answer", "route"),
    [
        ("who directed Salt, Wind?", "Mara Lindholm.", "Salt, Wind – directed by → Mara Lindholm"),
        ("Is Salt, Wind directed by Mara Lindholm?", "Yes: ", "Salt, Wind"),
        ("did Mara Lindholm direct Salt, Wind?", "Yes: ", "Salt, Wind"),
        ("how many films are directed by Mara Lindholm?", "3: ", "The Grey Harbour"),
    ],
)
def test_the_answer_is_at_the_end_of_the_path(
    database: Database, films: str, question: str, answer: str, route: str
) -> None:
    told = ask_graph(database, films, question)
    first, *rest = told.text.splitlines()
    assert answer in first
    assert route in "\n".join(rest)
    assert ("The Grey Harbour" in told.text) == (answer == "3: ")
    assert {edge.relation for edge in told.edges} == {"directed_by"}


def _named(filmed: StoredGraph, question: str) -> set[str]:
    best = mine(filmed, question).asked[0]
    return {best.end_of(route)[1] for route in best.routes}


def test_a_second_entity_restricts_the_ends(filmed: StoredGraph) -> None:
    question = "which films directed by Mara Lindholm are written by Ivar Quist?"
    assert _named(filmed, question) == {"Salt, Wind"}
    danish = "which films directed by Mara Lindholm are in Danish?"
    assert _named(filmed, danish) == {"Salt, Wind"}


def test_a_text_that_asks_for_no_path_has_none(filmed: StoredGraph) -> None:
    text = "Tove Arnesen and I have been tired, hungry and cold since we ate the soup on Monday"
    assert mine(filmed, text).asked == ()


BOTH_WAYS = """\
Lena Aas\treports_to\tOtto Brandt
Nils Falk\treports_to\tOtto Brandt
Otto Brandt\treports_to\tPia Wolff
Depot Elm\tdelivers_to\tDepot Oak
Depot Fir\tdelivers_to\tDepot Oak
Depot Oak\tdelivers_to\tDepot Yew
Lena Aas\tmarried_to\tRolf Kern
Managers\tmember_of\tDepot Elm
Pia Wolff\tborn_in\tGraz
Pia Wolff\tbirth_year\t1961
Lena Aas\ttaught\tRolf Kern
Ida Kern\ttaught\tNils Falk
Rolf Kern\tparents\tIda Kern
"""


@pytest.fixture(scope="module")
def staff(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from kept(database, tmp_path_factory, load_triples, _split(BOTH_WAYS))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who reports to Otto Brandt?", "Lena Aas and Nils Falk."),
        ("Who is Otto Brandt's manager?", "Pia Wolff."),
        ("Who reports to someone who reports to Pia Wolff?", "Lena Aas and Nils Falk."),
        ("Which depots does Depot Oak deliver to?", "Depot Yew."),
        ("Which depots deliver to Depot Oak?", "Depot Elm and Depot Fir."),
        ("Does Depot Oak deliver to Depot Yew?", "Yes: Depot Yew."),
        ("Does Depot Yew deliver to Depot Oak?", "No, by what the graph holds."),
        ("Who is married to Rolf Kern?", "Lena Aas."),
        ("When was Pia Wolff born?", "1961."),
        ("Whom do the parents of Rolf Kern teach?", "Nils Falk."),
        ("To whom does Pia Wolff report?", "The graph does not say."),
    ],
)
def test_the_end_that_is_asked_for(
    database: Database, staff: str, question: str, answer: str
) -> None:
    told = ask_graph(database, staff, question)
    assert told.text.splitlines()[0].removeprefix("Not certain: ") == answer


def test_words_of_the_question_are_no_entities(database: Database, staff: str) -> None:
    found = mine(open_graph(database, staff), "which managers report to otto brandt")
    assert [entity.name for entity in found.entities if entity.id] == ["Otto Brandt"]


@pytest.fixture(scope="module")
def chinese(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    text = "江涛\t管理\t何静\n何静\t管理\t石磊\n何静\t管理\t夏雨"
    yield from kept(database, tmp_path_factory, load_triples, _split(text))


def test_a_chinese_question_is_answered_in_chinese(database: Database, chinese: str) -> None:
    def said(question: str) -> str:
        return ask_graph(database, chinese, question).text.splitlines()[0]

    assert said("谁管理何静？") == "江涛。"
    assert said("何静管理多少人？").startswith("2：")
    assert said("江涛被谁管理？") == "知识图谱没有说明。"
    assert said("江涛管理何静吗？") == "是：何静。"
