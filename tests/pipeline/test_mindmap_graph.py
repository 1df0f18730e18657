"""Questions over real knowledge graphs: from Python and the command line, with a model or not."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from chat_server import ChatServer, completion
from commands import environment, prints, refuses
from graphs import rows
from scripted_model import Scripted
from small_kg import ENGLISH, kept, write_triples

from kgp_neo4j import Database, KnowledgeGraph, MindMap, MiningSettings
from kgp_neo4j.demo import GRAPH
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.llm.chat import writer
from kgp_neo4j.mindmap.answer.ask_graph import ask_graph, five_parts
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.load.graphs import load_graph, open_graph
from kgp_neo4j.types.errors import GraphError
from kgp_neo4j.types.mindmap import GraphLoadReport, ReasoningGraph

_QUESTION = "Doctor, I feel tired all the time and dizzy, and my hands are cold. What is it?"


@pytest.fixture(scope="module")
def chinese(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    def load(database: Database, name: str, _: Path) -> None:
        load_graph(database, [GRAPH / "ailments-zh.tsv"], name)

    yield from kept(database, tmp_path_factory, load)


def _of_graph(database: Database, answer: MindMap) -> None:
    """Check that every triple an answer names is a relationship of the graph, as it is told."""
    told = {i: e for e in answer.edges for i in e.triples}
    stored = rows(
        database,
        "MATCH (a:Entity {graph: $graph})-[r]->(b:Entity {graph: $graph}) WHERE r.id IN $ids "
        "RETURN r.id AS id, a.name AS head, b.name AS tail",
        graph=answer.graph,
        ids=list(told),
    )
    assert {row["id"] for row in stored} == set(told)
    for row in stored:
        edge = told[row["id"]]
        assert {edge.head.lower(), edge.tail.lower()} == {row["head"].lower(), row["tail"].lower()}


def test_offline_the_graph_answers(database: Database, demo_graph: str, chinese: str) -> None:
    answer = ask_graph(database, demo_graph, _QUESTION)
    assert answer.by == "evidence"
    best = answer.candidates[0]
    assert (best.name, best.type) == ("Pale tide", "Disease")
    assert {s.entity for s in best.support} == {"Fatigue", "Dizziness", "Cold hands"}
    _of_graph(database, answer)
    answer = ask_graph(database, chinese, "医生，我最近乏力，还头晕，面色苍白，怎么回事？")
    assert answer.text.startswith("证据最支持：苍潮病")
    assert "赫斯克铁剂" in answer.text
    _of_graph(database, answer)


_REPLY = """Output 1: It may be pale tide; a blood count would show it.
Output 2: Evidence 1('Fatigue' <- 'has_symptom' <- 'Pale tide') -> result('Pale tide')
Output 3:
Patient
└── feels
    └── Fatigue (Evidence 1)
        └── could come from
            └── Pale tide (Evidence 1)
                ├── need_medical_test
                │   └── Blood count
                └── helped by
                    └── Rest (own)
"""


def test_a_chinese_graph_is_read_by_meaning(database: Database, chinese: str) -> None:
    # 没力气, weak in daily words, is in no name of the graph.
    (linked,) = link(open_graph(database, chinese), "医生，我没力气")
    assert (linked.name, linked.by) == ("乏力", "embedding")


def test_what_the_graph_says_beyond_evidence_is_found(database: Database, demo_graph: str) -> None:
    reply = "Output 1: Avoid dust.\nOutput 3:\nRuan cough -> made_worse_by -> Quarry dust"
    model = Scripted(['["itching skin"]', reply])
    answer = ask_graph(database, demo_graph, "My skin itches", write=writer(model))
    assert (answer.by, answer.edges[0].status) == ("model", "grounded")
    assert "beyond the evidence shown" in answer.edges[0].note
    _of_graph(database, answer)


@pytest.mark.parametrize("question", ["{x} {0} %s $y", "'\"`; }) //", "\\", "？", "a" * 3000])
def test_hostile_questions_end_well(database: Database, demo_graph: str, question: str) -> None:
    answer = ask_graph(database, demo_graph, question)
    assert answer.text
    assert answer.question == question


@pytest.fixture
def given(connection: Connection, demo_graph: str) -> dict[str, str]:
    """The server, and the graph as one that is configured."""
    return {**environment(connection), "KGP_NEO4J_GRAPH": demo_graph}


def test_pictures_are_written(given: dict[str, str], tmp_path: Path) -> None:
    html = tmp_path / "answer.html"
    line = ("mindmap", _QUESTION, "--html", str(html), "--mermaid")
    shown = prints(*line, **given)
    assert shown.startswith("flowchart LR\n")
    assert '["Pale tide"]' in shown
    page = html.read_text(encoding="utf-8")
    assert '<span class="why" dir="auto">← has symptom</span>' in page
    assert '<span class="note" dir="auto">disease</span>' in page
    assert "<script" not in page
    wrong = ("mindmap", _QUESTION, "--html", str(tmp_path / "none" / "a.html"))
    assert "cannot be written" in refuses(*wrong, **given)


def test_turns(given: dict[str, str]) -> None:
    talk = json.dumps([{"role": "user", "content": "I feel tired."},
                       {"role": "assistant", "content": "Do you cough? Any fever?"},
                       {"role": "user", "content": "No, but I am dizzy."}])  # fmt: skip
    line = ("mindmap", "-", "--turn", "And my hands are cold.", "--json")
    made = json.loads(prints(*line, typed=talk, **given))
    assert made["question"] == "I feel tired.\nNo, but I am dizzy.\nAnd my hands are cold."
    assert made["candidates"][0]["name"] == "Pale tide"


def test_the_browser_link(database: Database, connection: Connection, demo_graph: str) -> None:
    answer = ask_graph(database, demo_graph, _QUESTION)
    if connection.browser is None:
        assert answer.browser is None
        return
    assert answer.browser
    query = unquote(answer.browser.rpartition("&arg=")[2])
    assert query.startswith("CALL custom.kgp.show([")
    shown = rows(database, query)
    names = {row["node"]["name"] for row in shown}
    assert {"Pale tide", "Fatigue", "Iron of Hesk"} <= names


def _replying(server: ChatServer, *replies: str) -> str:
    """Let the server give these replies in turn; return its address."""
    left = list(replies)
    server.answer = lambda body: (200, completion(left.pop(0)))
    return server.url


def test_the_command_asks_a_chat_server(given: dict[str, str], chat_server: ChatServer) -> None:
    url = _replying(chat_server, '["tired", "dizzy"]', _REPLY)
    shown = prints("mindmap", _QUESTION, "--llm", "m", "--chat-url", url, **given)
    _, asked = (body["messages"][-1]["content"] for body in chat_server.bodies)
    assert _QUESTION in asked
    assert "Pale tide" in asked
    assert "Answer (by the model, checked)" in shown
    assert "It may be pale tide" in shown
    assert "(the evidence holds no 'Rest')  Rest\n" in shown
    assert "2 of 3 edges are carried by the graph, 1 the model's own" in shown


def test_what_contradicts_a_graph_is_shown(given: dict[str, str], chat_server: ChatServer) -> None:
    wrong = "Output 1: x.\nOutput 3:\nFatigue -> has_symptom -> Pale tide"
    url = _replying(chat_server, '["tired", "dizzy"]', wrong)
    shown = prints("mindmap", _QUESTION, "--llm", "m", "--chat-url", url, **given)
    drawn = shown.partition("What the model drew instead")[2]
    assert "Pale tide – has symptom → Fatigue)" in drawn  # what the graph has
    assert "Note: The model's mind map contradicts the graph" in shown
    assert "The evidence points most to Pale tide" in shown


_DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_shows_what_its_commands_print(given: dict[str, str]) -> None:
    page = (_DOCS / "mindmap.md").read_text(encoding="utf-8")
    assert f'kgp-neo4j mindmap "{_QUESTION}" --graph demo' in page
    printed = prints("mindmap", _QUESTION, **given)
    (shown,) = re.findall(r"```text\n(Entities of the question\n.*?)```", page, re.DOTALL)
    # Cosines, and what is as good as another, may differ from machine to machine.
    drawn, told = (
        {re.sub(r"  \d\.\d\d.*", "", line).strip(" ├└│─").strip() for line in text.splitlines()}
        for text in (shown, printed)
    )
    assert drawn <= told
    assert "tired → Fatigue" in printed
    assert "    ├── need medical test →  Blood count" in printed
    assert "\x1b" not in printed
    assert "more lines (--show)" in prints("mindmap", _QUESTION, "--show", "2", **given)


@pytest.fixture
def graph(database: Database, corpus: str, tmp_path: Path) -> KnowledgeGraph:
    file = write_triples(tmp_path / "triples.tsv", ENGLISH)
    made = KnowledgeGraph(corpus, database=database)
    account = made.load([file], types={"has_symptom": ("Disease", "Symptom")})
    assert isinstance(account, GraphLoadReport)
    assert (account.entities, account.relationships) == (13, len(ENGLISH))
    return made


@pytest.mark.newest
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


@pytest.mark.newest
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
