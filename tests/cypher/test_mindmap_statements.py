"""The statements of step III, on small knowledge graphs: rows as expected."""

from collections.abc import Iterator

import pytest
from small_kg import load_english

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.graph_names import entity_id, key_of
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.mindmap.load.load_graph import load_graph

pytestmark = pytest.mark.newest


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
