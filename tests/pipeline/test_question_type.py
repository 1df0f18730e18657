"""Whether questions are taken to be about structure, content, or both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from structured_documents import ferries, harbours, store

from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.tables.decide import read_question
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import SourceDocument


@pytest.fixture(scope="module")
def sound(database: Database) -> Iterator[str]:
    """A corpus of two documents, to be read only."""
    store(database, "test of types", ferries(), harbours())
    yield "test of types"
    delete_corpus(database, "test of types")


_STRUCTURAL = [
    "What is the difference between Page 1 and Table 2?",
    "In Table 3, which station has the highest average flow rate?",
    "What is on page seven?",
    "How many tables does the survey have?",
    "Which pages mention the harbour master?",
    "On which page does the word dogs first appear?",
    "What are the columns of the second table?",
    "How many rows does the last table have?",
    "What does p. 4 say?",
    "Which table has the most rows?",
    "How do page 1 of Sound ferries and page 1 of Harbour survey differ?",
]
_BOTH = [
    "Who signs the letter on page 3?",
    "Why does Table 2 leave out the third boat?",
    "What does Figure 2 illustrate?",
    "Which boat has the lowest single fare and most crossings?",
    "What is argued in the section titled Methods?",
]
_CONTENT = [
    "Who designed the bridge that replaced the ferry?",
    "Where was the guitarist Jimmy Page born?",
    "Which country won the most medals in table tennis in 1996?",
    "Who played Death Row's first record to the front page editor?",
    "How many people live in the town where the periodic table was first printed?",
    "Why did the ferry stop?",
    "What is the capital of the country whose flag has three columns of stars?",
    "Which film was released first, Rows of Houses or The Table?",
    "Who founded the table tennis club of the harbour?",
]


@pytest.mark.parametrize("question", _STRUCTURAL)
def test_structural(database: Database, sound: str, question: str) -> None:
    made = read_question(database, sound, question).decision
    assert made.type == "structural", made
    assert made.by == "classifier"
    assert made.reason


@pytest.mark.parametrize("question", _BOTH)
def test_both(database: Database, sound: str, question: str) -> None:
    assert read_question(database, sound, question).decision.type == "both"


@pytest.mark.parametrize("question", _CONTENT)
def test_content(database: Database, sound: str, question: str) -> None:
    assert read_question(database, sound, question).decision.type == "content"


def test_a_corpus_without_pages_and_tables_is_about_content(
    database: Database, corpus: str
) -> None:
    store(database, corpus, SourceDocument("Bridges", "No pages here.", "/made/bridges.txt"))
    for question in _STRUCTURAL:
        made = read_question(database, corpus, question).decision
        assert made.type == "content"
        assert "no pages and no tables" in made.reason

    def never(prompt: str) -> str:
        raise AssertionError(prompt)

    asked = read_question(database, corpus, "What is on page 3?", never).decision
    assert asked.type == "content"


@pytest.mark.parametrize(
    ("reply", "type_", "by"),
    [
        ('{"type": "structural", "kind": "page", "pages": [2]}', "structural", "model"),
        ('```json\n{"type": "content"}\n```', "content", "model"),
        ('<think>{}</think> {"type": "both", "kind": "question"}', "both", "model"),
        ("", "structural", "classifier"),
        ("I cannot say", "structural", "classifier"),
        ('{"type": "structural or content"}', "structural", "classifier"),
        ("[" * 100_000, "structural", "classifier"),
    ],
)
def test_a_model_decides(database: Database, sound: str, reply: str, type_: str, by: str) -> None:
    prompts = []

    def write(prompt: str) -> str:
        prompts.append(prompt)
        return reply

    made = read_question(database, sound, "What is on page 2?", write).decision
    assert (made.type, made.by) == (type_, by)
    assert "What is on page 2?" in prompts[0]
    assert len(prompts) == (1 if by == "model" else 2)


def test_a_question_is_read_once(database: Database, sound: str) -> None:
    """One reply gives the type and the look-up; the answer asks the model no more."""
    replies = iter(['{"type": "structural", "kind": "count", "part": "tables"}'])
    reading = read_question(database, sound, "How many?", lambda _: next(replies))
    assert reading.decision.type == "structural"
    assert reading.answer(lambda _: next(replies)).values == ("3",)
