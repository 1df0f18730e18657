"""The Python API of knowledge graphs: what a program does with one, from its files to an answer."""

from pathlib import Path

import pytest
from scripted_model import Scripted
from small_kg import ENGLISH, write_triples

from kgp_neo4j import KnowledgeGraph, MindMap, MiningSettings
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.errors import GraphError
from kgp_neo4j.types.mindmap import GraphLoadReport, ReasoningGraph

pytestmark = pytest.mark.newest


@pytest.fixture
def graph(database: Database, corpus: str, tmp_path: Path) -> KnowledgeGraph:
    file = write_triples(tmp_path / "triples.tsv", ENGLISH)
    made = KnowledgeGraph(corpus, database=database)
    account = made.load([file], types={"has_symptom": ("Disease", "Symptom")})
    assert isinstance(account, GraphLoadReport)
    assert (account.entities, account.relationships) == (13, len(ENGLISH))
    return made


def test_from_files_to_an_answer(graph: KnowledgeGraph) -> None:
    with graph:
        linked = graph.link("I have a dry cough and a fever.")
        assert {entity.name for entity in linked} == {"Dry cough", "Fever"}
        mined = graph.mine("I have a dry cough and a fever.", MiningSettings(size=5))
        assert isinstance(mined, ReasoningGraph)
        assert len(mined.triples) <= 5
        answer = graph.ask(["I have a dry cough.", "And a fever."])
        assert isinstance(answer, MindMap)
        assert answer.candidates[0].name == "Flu"
        assert answer.by == "evidence"
    # A graph that was given its database leaves it open.
    assert graph.database.read("inspect/graphs")
    graph.delete()
    with pytest.raises(GraphError):
        graph.ask("I have a fever.")


def test_with_a_model(graph: KnowledgeGraph) -> None:
    extracted = '["Fever", "Dry cough"]'
    written = (
        "Output 1:\nIt is flu.\n\nOutput 2:\nFever and dry cough lead to flu.\n\nOutput 3:\n"
        "Fever (\n└── possible_disease (\n    └── Flu (\n"
    )
    model = Scripted([extracted, written])
    answer = graph.ask("I am hot and hacking.", model=model)
    assert len(model.prompts) == 2
    assert {entity.name for entity in answer.reasoning.entities} == {"Fever", "Dry cough"}
    assert answer.reply is not None
