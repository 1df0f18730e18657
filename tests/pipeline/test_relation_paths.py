"""Relation paths: found in the database, scored, spent as evidence and answered with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from graphs import rows

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.explore.path_features import read_question
from kgp_neo4j.mindmap.explore.path_scorer import path_forms
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.load.graph_names import entity_id, key_of
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.mindmap.load.load_graph import load_graph
from kgp_neo4j.models.encoder import Encoder
from kgp_neo4j.types.mindmap import Triple
from kgp_neo4j.types.settings import MiningSettings

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
"""


@pytest.fixture(scope="module")
def films(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("films")
    name = f"test {folder.name}"
    file = folder / "films.tsv"
    file.write_text(TRIPLES, encoding="utf-8")
    load_graph(database, [file], name)
    yield name
    delete_graph(database, name)


def _id(graph: str, name: str) -> str:
    return entity_id(graph, key_of(name))


def test_a_graph_knows_its_relations_and_some_names(database: Database, films: str) -> None:
    (row,) = database.read("explore/graph", graph=films)
    assert row["relations"] == ["directed_by", "in_language", "written_by"]
    assert {"The Grey Harbour", "Mara Lindholm"} <= set(row["names"])


def test_a_graph_of_an_earlier_release_gets_its_contents(database: Database, films: str) -> None:
    before = database.read("explore/graph", graph=films)
    rows(database, "MATCH (g:KnowledgeGraph {name: $g}) REMOVE g.names, g.relations", g=films)
    assert database.read("explore/graph", graph=films)[0]["names"] == []
    assert database.write_in_batches("schema/upgrades/0007_graph_contents") == {"changed": 1}
    assert database.read("explore/graph", graph=films) == before
    assert database.write_in_batches("schema/upgrades/0007_graph_contents") == {"changed": 0}


def test_packed_rows_have_triples_and_no_embeddings(database: Database, films: str) -> None:
    ends = [_id(films, "Mara Lindholm"), _id(films, "Northern Ferry")]
    packed, (plain,) = (
        read("procedures/paths", entities=ends, graph=films, limit=1)
        for read in (database.read_packed, database.read)
    )
    assert [node["name"] for node in packed[0]["path"]] == [n["name"] for n in plain["path"]]
    assert [node["embedding"] for node in packed[0]["path"]] == [None] * len(plain["path"])
    assert [Triple(**edge).id for edge in packed[0]["edges"]] == [e["id"] for e in plain["edges"]]
    near, *_ = database.read_packed("procedures/evidence", entities=ends[:1], graph=films)
    assert Triple(**near["edge"]).tail == "Mara Lindholm"
    assert (near["source"]["name"], near["source"]["embedding"]) == ("Mara Lindholm", None)
    vectors = database.read("explore/embeddings", entities=[*ends, "none such"])
    assert [(row["id"], len(row["embedding"])) for row in vectors] == [(i, 384) for i in ends]


@pytest.mark.parametrize("fan", [300, 1])
def test_relation_paths_statement(database: Database, films: str, fan: int) -> None:
    rows = database.read(
        "explore/relation_paths",
        entity=_id(films, "Mara Lindholm"),
        graph=films,
        weights={"directed_by": 1.0, "in_language": 0.5},
        hops=2,
        fan=fan,  # with 1 all are hubs
    )
    found = {tuple(zip(r["relations"], r["forward"], strict=True)): r["ends"] for r in rows}
    back = ("directed_by", False)
    assert found == {
        (back,): 2,
        (back, ("directed_by", True)): 1,
        (back, ("in_language", True)): 2,
        (back, ("written_by", True)): 2,
    }
    assert rows[0]["relations"] == ["directed_by"]
    few = database.read(
        "explore/relation_paths",
        entity=_id(films, "Mara Lindholm"),
        graph=films,
        weights={"in_language": 3.0},
        hops=2,
        beam=1,
    )
    assert [row["relations"] for row in few] == [["directed_by"], ["directed_by", "in_language"]]


def test_relation_path_ends_statement(database: Database, films: str) -> None:
    (writers, again) = database.read(
        "explore/relation_path_ends",
        entity=_id(films, "Mara Lindholm"),
        graph=films,
        paths=[
            {"relations": ["directed_by", "written_by"], "forward": [False, True]},
            {"relations": ["directed_by", "directed_by"], "forward": [False, True]},
        ],
        limit=1,
        listed=5,
    )
    assert (writers["ends"], len(writers["routes"])) == (2, 1)
    assert set(writers["ids"]) == {_id(films, "Ivar Quist"), _id(films, "Tove Arnesen")}
    first, second = writers["routes"][0]
    assert (first["relation"], first["tail"]) == ("directed_by", "Mara Lindholm")
    assert second["head_id"] == first["head_id"]
    assert again["ends"] == 0  # the way just come is not gone back


def test_names_are_told_from_words(database: Database, films: str) -> None:
    def linked(question: str) -> list[str]:
        return [entity.name for entity in link(database, films, question) if entity.id]

    assert linked("who directed the films written by Tove Arnesen") == ["Tove Arnesen"]
    assert linked("in which language is Salt, Wind") == ["Salt, Wind"]
    assert linked("who has written The Grey Harbour") == ["The Grey Harbour"]


def test_the_path_asked_for_is_the_evidence(database: Database, films: str) -> None:
    found = mine(database, films, "who directed the films written by Ivar Quist")
    best = found.asked[0]
    assert best.steps == (("written_by", False), ("directed_by", True))
    assert [best.end_of(route)[1] for route in best.routes] == ["Mara Lindholm"]
    assert found.evidence[0].nodes == ("Ivar Quist", "Salt, Wind", "Mara Lindholm")
    without = MiningSettings(paths=False)
    assert mine(database, films, "who directed Salt, Wind", without).asked == ()


def test_the_answer_is_at_the_end_of_the_path(database: Database, films: str) -> None:
    answer = ask_graph(database, films, "who directed Salt, Wind?")
    assert "Mara Lindholm." in answer.text.splitlines()[0]
    assert "Salt, Wind – directed by → Mara Lindholm" in answer.text
    assert [edge.tail for edge in answer.edges] == ["Mara Lindholm"]
    yes = ask_graph(database, films, "Is Salt, Wind directed by Mara Lindholm?")
    assert "Yes: " in yes.text.splitlines()[0]
    made = ask_graph(database, films, "did Mara Lindholm direct Salt, Wind?")
    assert "Yes: " in made.text.splitlines()[0]
    assert "The Grey Harbour" not in made.text
    count = ask_graph(database, films, "how many films are directed by Mara Lindholm?")
    assert "2: " in count.text.splitlines()[0]


def test_a_text_that_asks_for_no_path_has_none(database: Database, films: str) -> None:
    text = "Tove Arnesen and I have been tired, hungry and cold since we ate the soup on Monday"
    assert mine(database, films, text).asked == ()


def test_words_are_read_round_the_entity(encoder: Encoder) -> None:
    question = "who directed X 's sequel"
    words = read_question(encoder, question, [(13, 14)], ["directed by", "in language"])
    assert words.place.tolist() == [-2, -1, 0, 1, 2]
    assert words.mention.tolist() == [False, False, True, False, False]
    assert words.near.shape == (4, 2, 5)
    assert words.near[0, 0, 1] > words.near[0, 1, 1]
    assert not words.explained([1])
    nothing = read_question(encoder, "X", [(0, 1)], ["directed by"])
    assert not nothing.explained([0])


def test_the_form_of_a_path() -> None:
    there, back = ("directed_by", True), ("directed_by", False)
    rows = path_forms([(there,), (back,), (there, back)])
    assert np.array_equal(rows[2], [0, 1, 0, 0, 1, -1, 0, 0, 1, 0])
    assert rows[1][-1] == 1  # it also leads on in its own direction
