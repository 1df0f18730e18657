"""`ask` on pages and tables: what the question is taken to be about, and what answers it."""

import json
from dataclasses import replace

import pytest
from asking import Never, ask
from commands import environment, prints
from scripted_model import Scripted
from structured_documents import ferries, harbours, store

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.show.terminal import print_said
from kgp_neo4j.types.corpus import Answer
from kgp_neo4j.types.errors import ConfigurationError
from kgp_neo4j.types.tables import Citation, StructuralAnswer, TypeDecision

pytestmark = pytest.mark.newest

_TABLE = "What is the Single fare of Port Merrin in Table 1 of Sound ferries?"
_CONTENT = "Who sells the tickets?"
_FREE = "What may an angry passenger do, by page 4 of Sound ferries?"
_CHOICE = '{"type": "structural", "kind": "question", "pages": [4]}'


@pytest.fixture
def sound(database: Database, corpus: str) -> str:
    """Two documents with pages and tables, joined by keywords."""
    store(database, corpus, ferries(), harbours())
    connect(database, corpus, edges=["tfidf"])
    return corpus


def test_a_structural_question_needs_no_passages(database: Database, sound: str) -> None:
    answer = ask(database, sound, _TABLE, Never())
    assert (answer.type.type, answer.type.by) == ("structural", "classifier")
    assert (answer.text, answer.agent, answer.passages) == ("6.00", "structure", ())
    [cited] = answer.structural.citations
    assert (cited.title, cited.page, cited.row, cited.column) == ("Sound ferries", 2, 2, 2)
    assert all(query.cypher and query.parameters for query in answer.structural.queries)


def test_both_ways_are_gone_where_both_are_meant(database: Database, sound: str) -> None:
    question = "Who sells the tickets, on page 1 of Sound ferries?"
    answer = ask(database, sound, question, PassageRetriever(database, sound), type_="both")
    assert answer.type.by == "option"
    assert not answer.from_structure
    assert any("harbour master sells" in sentence.text for sentence in answer.sentences)
    sure = ask(database, sound, _TABLE, PassageRetriever(database, sound), type_="both")
    assert sure.text == "6.00"
    assert sure.passages


def test_the_option_overrides_the_decision(database: Database, sound: str) -> None:
    content = ask(database, sound, _CONTENT, PassageRetriever(database, sound))
    assert (content.type.type, content.structural) == ("content", None)
    assert any("harbour master sells" in sentence.text for sentence in content.sentences)
    answer = ask(database, sound, _TABLE, PassageRetriever(database, sound), type_="content")
    assert answer.structural is None
    assert answer.passages
    structural = ask(database, sound, _CONTENT, Never(), type_="structural")
    assert structural.text == ""
    assert structural.structural.doubt


def test_a_model_decides_and_answers(database: Database, sound: str) -> None:
    model = Scripted([_CHOICE, "They may write to the harbour master."])
    answer = ask(database, sound, _FREE, Never(), type_="model", model=model)
    assert answer.type.by == "model"
    assert answer.text == "They may write to the harbour master."
    assert answer.usage.calls == len(model.prompts) == 2
    # Without the option it decides too, where the words do not say that content is asked for.
    later = Scripted([_CHOICE, "They may write to the harbour master."])
    again = ask(database, sound, _FREE, Never(), model=later)
    assert (again.text, again.type.by) == (answer.text, "model")
    content = Scripted(['{"type": "content"}', "Answer: the harbour master [1]"])
    other = ask(database, sound, _FREE, PassageRetriever(database, sound), model=content)
    assert (other.type.type, other.structural) == ("content", None)
    assert len(content.prompts) == 2
    plain = Scripted(["Answer: the harbour master [1]"])
    ask(database, sound, _CONTENT, PassageRetriever(database, sound), model=plain)
    assert len(plain.prompts) == 1
    with pytest.raises(ConfigurationError, match="no language model is there to decide"):
        ask(database, sound, _FREE, Never(), type_="model")


@pytest.mark.parametrize(
    ("reply", "text", "doubt"),
    [
        ("Not stated.", "", "does not find it"),
        ("They may write to the king.", "They may write to the king.", "too little"),
        ("They may claim 40 crowns.", "They may claim 40 crowns.", "40"),
    ],
)
def test_what_the_pages_do_not_carry_is_not_stated(
    database: Database, sound: str, reply: str, text: str, doubt: str
) -> None:
    model = Scripted(lambda prompt: _CHOICE if "Choose the look-up" in prompt else reply)
    answer = ask(database, sound, _FREE, Never(), model=model)
    assert (answer.text, answer.stated) == (text, False)
    assert doubt in answer.structural.doubt


def test_the_command_shows_decision_cell_and_query(database: Database, sound: str) -> None:
    line, server = ("ask", _TABLE, "--corpus", sound), environment(database.connection)
    shown = prints(*line, **server)
    assert "Question type: structural (by classifier" in shown
    assert "\n  6.00\n" in shown
    assert "Sound ferries, page 2, Table 1, row 2 (Port Merrin), column 2 (Single fare)" in shown
    assert "MATCH (" not in shown
    shown = prints(*line, "--show-query", **server)
    assert "Query (read-only)" in shown
    assert "MATCH (" in shown
    made = json.loads(prints(*line, "--json", **server))
    assert made["structural"]["values"] == ["6.00"]
    assert made["type"]["type"] == "structural"


def test_a_tables_text_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "Sky\x1b]0;owned\x07 \u202ebackwards\r"
    citation = Citation("d", hostile, row=1, row_name=hostile, column=1, text=hostile)
    answer = StructuralAnswer(
        hostile, doubt=hostile, reading=hostile, citations=(citation,), markdown=f"| {hostile} |"
    )
    kind = TypeDecision("structural")
    asked = Answer("", "c", "structure", hostile, structural=answer, type=kind)
    print_said(asked)
    said = capsys.readouterr().out
    assert "Sky" in said
    assert not {"\x07", "\u202e", "\r"} & set(said)
    assert "owned" not in said
    likely = StructuralAnswer("3", ("3",), sure=False, confidence=0.71, doubt="Two.")
    print_said(replace(asked, text="3", structural=likely))
    assert "Answer\n  3  probably, 71 %" in capsys.readouterr().out
