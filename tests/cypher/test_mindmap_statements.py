"""The statements of step III, on small knowledge graphs: rows as expected."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from small_kg import load_english

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graph_names import entity_id, key_of
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.mindmap.load.load_graph import load_graph


@pytest.fixture(scope="module")
def graph(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The small English graph, and another one with names of its, which must stay apart."""
    folder = tmp_path_factory.mktemp("kg")
    name, other = f"test {folder.name} a", f"test {folder.name} b"
    load_english(database, name, folder)
    file = folder / "other.tsv"
    file.write_text("Flu\thas_symptom\tFever\nFever\tlasts\tA_week\n", encoding="utf-8")
    load_graph(database, [file], other, embed=False)
    yield name
    delete_graph(database, name)
    delete_graph(database, other)


def _id(graph: str, name: str) -> str:
    return entity_id(graph, key_of(name))


def test_reach(database: Database, graph: str) -> None:
    def reach(sources: list[str], targets: list[str]) -> dict[tuple[str, str], tuple[float, int]]:
        found = database.read(
            "mindmap/reach",
            graph=graph,
            sources=[_id(graph, name) for name in sources],
            targets=[_id(graph, name) for name in targets],
        )
        names = {_id(graph, name): name for name in (*sources, *targets)}
        return {
            (names[row["source"]], names[row["target"]]): (row["weight"], len(row["triples"]))
            for row in found
        }

    found = reach(["Fever", "Migraine"], ["Fever", "Flu", "Throat_swab", "Sumatriptan"])
    assert set(found) == {
        ("Fever", "Flu"),
        ("Fever", "Throat_swab"),
        ("Migraine", "Flu"),  # over nausea or the medication
        ("Migraine", "Sumatriptan"),  # fever is four hops off
    }
    # Two triples name fever, eight flu.
    assert found["Fever", "Flu"] == (pytest.approx(1 / (1 + math.log(3))), 1)
    over = (1 + math.log(3)) * (1 + math.log(9))
    assert found["Fever", "Throat_swab"] == (pytest.approx(1 / (4 * over)), 2)
    assert found["Migraine", "Flu"][1] == 2
    assert found["Migraine", "Sumatriptan"][1] == 1
    assert reach(["Fever"], []) == {}


def test_show_entities(database: Database, graph: str) -> None:
    ids = [_id(graph, n) for n in ("Flu", "Fever", "Migraine")]
    made = [
        (row["node"]["name"], row["edge"].type if row["edge"] else None,
         row["neighbour"]["name"] if row["neighbour"] else None)
        for row in database.read("procedures/show", nodes=ids)
    ]  # fmt: skip
    assert sorted(made, key=str) == [
        ("Fever", "possible_disease", "Flu"),
        ("Flu", "has_symptom", "Fever"),
        ("Migraine", None, None),
    ]
