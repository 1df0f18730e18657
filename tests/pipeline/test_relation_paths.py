"""Relation paths: found in the database, scored, spent as evidence and answered with."""

from collections.abc import Iterator

import pytest
from small_kg import kept, load_triples

from kgp_neo4j import Database, MiningSettings
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.stored_graph import StoredGraph, open_graph
from kgp_neo4j.types.errors import DatabaseError

pytestmark = pytest.mark.newest

TRIPLES = """\
The Grey Harbour\tdirected_by\tMara Lindholm
The Grey Harbour\twritten_by\tTove Arnesen
The Grey Harbour\tin_language\tNorwegian
Salt, Wind\tdirected_by\tMara Lindholm
Salt, Wind\twritten_by\tIvar Quist
Salt, Wind\tin_language\tDanish
Northern Ferry\tdirected_by\tJonas Petri
Northern Ferry\twritten_by\tTove Arnesen
Northern Ferry\tin_language\tFinnish
Written\tin_language\tFinnish
The Grey Harbour\trelease_date\t12 May 1971
Salt, Wind\trelease_date\t1984
Northern Ferry\trelease_date\t1990-03-01
The Grey Harbour\trunning_time\t141 minutes
Salt, Wind\trunning_time\t88 minutes
Mara Lindholm\tbirth_date\t1931-02-03
Tove Arnesen\tbirth_date\t1940
Tove Arnesen\tdeath_date\t1985
Ivar Quist\tdeath_date\t1999
The Long Quay\tdirected_by\tMara Lindholm
"""


def _split(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()]


@pytest.fixture(scope="module")
def films(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from kept(database, tmp_path_factory, load_triples, _split(TRIPLES))


@pytest.fixture(scope="module")
def graph(database: Database, films: str) -> StoredGraph:
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


def test_names_are_told_from_words(graph: StoredGraph, films: str) -> None:
    def linked(question: str) -> list[str]:
        return [entity.name for entity in link(graph, question) if entity.id]

    assert linked("who directed the films written by Tove Arnesen") == ["Tove Arnesen"]
    assert linked("in which language is Salt, Wind") == ["Salt, Wind"]
    assert linked("who has written The Grey Harbour") == ["The Grey Harbour"]


def test_the_path_asked_for_is_the_evidence(graph: StoredGraph, films: str) -> None:
    found = mine(graph, "who directed the films written by Ivar Quist")
    best = found.asked[0]
    assert best.steps == (("written_by", False), ("directed_by", True))
    assert [best.end_of(route)[1] for route in best.routes] == ["Mara Lindholm"]
    assert found.evidence[0].nodes == ("Ivar Quist", "Salt, Wind", "Mara Lindholm")
    without = MiningSettings(paths=False)
    assert mine(graph, "who directed Salt, Wind", without).asked == ()


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


def _named(graph: StoredGraph, question: str) -> set[str]:
    best = mine(graph, question).asked[0]
    return {best.end_of(route)[1] for route in best.routes}


def test_a_second_entity_restricts_the_ends(graph: StoredGraph) -> None:
    question = "which films directed by Mara Lindholm are written by Ivar Quist?"
    assert _named(graph, question) == {"Salt, Wind"}
    danish = "which films directed by Mara Lindholm are in Danish?"
    assert _named(graph, danish) == {"Salt, Wind"}


def test_a_text_that_asks_for_no_path_has_none(graph: StoredGraph) -> None:
    text = "Tove Arnesen and I have been tired, hungry and cold since we ate the soup on Monday"
    assert mine(graph, text).asked == ()


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
