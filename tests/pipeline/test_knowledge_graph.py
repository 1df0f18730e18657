"""The Python API of knowledge graphs: what a program does with one, from its files to an answer."""

from pathlib import Path

import pytest
from scripted_model import Scripted
from small_kg import ENGLISH, write_triples

from kgp_neo4j import KnowledgeGraph, MindMap, MiningSettings
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.answer.map_prompt import five_parts
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


def test_what_is_denied_or_lacking(database: Database, tmp_path: Path) -> None:
    rows = (
        ("Cold", "has_sign", "Cough"), ("Flu", "has_sign", "Cough"), ("Flu", "has_sign", "Fever"),
        ("Hay fever", "has_sign", "Itchy eyes"), ("Flu", "treated_with", "Rest"),
    )  # fmt: skip
    with KnowledgeGraph("test denied", database=database) as graph:
        graph.load([write_triples(tmp_path / "signs.tsv", rows)])
        denied = graph.ask("Patient denies fever. She has a cough. What is it?")
        lacking = graph.ask("Which illnesses do not have the sign fever?")
        both = graph.ask("How many illnesses have the sign cough but not fever?")
        prompt = five_parts("?", denied.reasoning)
        graph.delete()
    assert denied.notices == ("Taken as absent: Fever.",)
    assert [e.status for e in denied.reasoning.entities] == ["denied", "present"]
    assert denied.candidates[0].name == "Cold"
    assert [s.entity for c in denied.candidates if c.name == "Flu" for s in c.against] == ["Fever"]
    assert "Taken as absent in the question: Fever." in prompt
    assert lacking.text.startswith("Cold and Hay fever.")
    assert {edge.tail for edge in lacking.edges} == {"Cough", "Itchy eyes"}
    assert both.text.startswith("1: Cold.")
