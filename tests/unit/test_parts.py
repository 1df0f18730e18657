"""What a question names, and the parts that it has."""

from dataclasses import replace

import pytest

from kgp_neo4j.corpus.read.identifiers import identifiers_of
from kgp_neo4j.corpus.read.parts import joined, parts_of
from kgp_neo4j.types.corpus import Answer, Passage, Reading


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Who lives in apartment 17-B?", ["apartment 17-B"]),
        ("How old is KX 110, the sample?", ["KX 110"]),
        ("Who watches site number 27 of the survey?", ["site 27"]),
        ("What was chosen at the meeting of 14 March 1887?", ["14 March 1887"]),
        ("What does Gerald Pruitt's office look after on Monday?", ["Gerald Pruitt"]),
        ("Can I have a dog of 30 kg, 24/7, for more than 30 employees within 10 days?", []),
        ("WHO IS GERALD PRUITT?", []),
        ("Wer hat Tisch und Stuhl nach Bergen gebracht?", []),
    ],
)
def test_what_a_question_names(question: str, named: list[str]) -> None:
    assert [one.text for one in identifiers_of(question)] == named


@pytest.mark.parametrize(
    ("question", "text", "held", "displaced"),
    [
        ("Who lives in 17B?", "Apartment 17 B is let.", True, False),
        ("Who lives at site 7?", "Site no. 17 is far.", False, True),
        ("Who lives at site 7?", "It has 7 rooms.", False, False),
        ("What is new in version 3.1?", "Version 3.1.2 is out.", False, False),
        ("Who led it in 2021?", "He led it from 2019 to 2023.", True, False),
        ("When did Hannes Keller come?", "Hanna Keller came.", False, True),
        ("When did Hannes Keller come?", "Dr Keller came.", True, False),
    ],
)
def test_what_agrees_with_a_question(question: str, text: str, held: bool, displaced: bool) -> None:
    (one,) = identifiers_of(question)
    passage = Passage("1", "1", "Notes", 0, 0, len(text), text)
    assert (one.is_in(passage), one.is_displaced(passage)) == (held, displaced)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who built the dam and when was the mill lit?",
         ["Who built the dam?", "When was the mill lit?"]),
        ("who has the key? and where is it?", ["Who has the key?", "Where is it?"]),
        ("Who built the dam, and when?", ["Who built the dam?", "When?"]),
        ("Is the inn open and does it serve fish?", ["Is the inn open?", "Does it serve fish?"]),
        ("How many years after the dam was opened was the mill set up?",
         ["When was the mill set up?", "When was the dam opened?"]),
        ("How much more does tea cost than soup?",
         ["How much does tea cost?", "How much does soup cost?"]),
        ("How much bigger is Rome than Pisa?", ["How big is Rome?", "How big is Pisa?"]),
        ("Who founded and led the club?", []),
        ("Which is older, the mill or the dam?", []),
        ("Who is the man who built the dam and who led the club?", []),
        ("Who wrote the film that won in May and is the head of the club?", []),
    ],
)  # fmt: skip
def test_the_parts_of_a_question(question: str, parts: list[str]) -> None:
    found = parts_of(question)
    assert list(found.questions if found else ()) == parts


@pytest.mark.parametrize(
    ("question", "texts", "said", "tier"),
    [
        ("Who built it and when was it lit?", ["Ida Berg", "1901"], "Ida Berg; 1901", "stated"),
        ("Who built it and when was it lit?", ["Ida Berg", ""],
         "Ida Berg; When was it lit: not in these documents", "probable"),
        ("How many years after A was B built?", ["3 May 1988", "June 1961"],
         "26 years", "stated"),
        ("How much more does A cost than B?", ["£11", "£6.50"], "£4.50", "stated"),
        ("How much longer is A than B?", ["three miles", "2 km"], "three miles; 2 km", "evidence"),
    ],
)  # fmt: skip
def test_answers_to_parts_are_joined(question: str, texts: list[str], said: str, tier: str) -> None:
    asked = parts_of(question)
    assert asked
    passage = Passage("1", "1", "Notes", 0, 0, 1, "x")
    asking = Answer("", "c", "a", passages=(passage,), stated=True)
    answers = [replace(asking, text=text, reading=Reading(text, "span", 0.95)) for text in texts]
    made = joined(question, asked, answers)
    assert (made.text, made.tier) == (said, tier)
    assert [part.text for part in made.parts] == texts
