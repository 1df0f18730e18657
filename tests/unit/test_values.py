"""What a cell's text means, and when two answers are the same."""

from __future__ import annotations

import pytest

from kgp_neo4j.evaluate.denotations import same_values
from kgp_neo4j.mindmap.explore.values import outside
from kgp_neo4j.text.values import TYPES, Value, column_type, conditions, typed
from kgp_neo4j.types.mindmap import LinkedEntity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", Value("text")),
        ("Bergen", Value("text")),
        ("12,467", Value("number", 12467.0)),
        ("-3", Value("number", -3.0)),
        ("−3.5", Value("number", -3.5)),
        ("(12)", Value("number", -12.0)),
        (".5", Value("number", 0.5)),
        ("1998", Value("number", 1998.0, "1998")),
        ("48,278[1]", Value("number", 48278.0)),
        ("82.06 m", Value("number", 82.06, unit="m")),
        ("12th", Value("number", 12.0, unit="th")),
        ("7 years", Value("number", 7.0, unit="years")),
        ("1:56.42", Value("number", 116.42, unit="s")),
        ("1:39:00", Value("number", 5940.0, unit="s")),
        ("12.5%", Value("percentage", 12.5, unit="%")),
        ("$1.2 million", Value("currency", 1_200_000.0, unit="USD")),
        ("£6,000,000", Value("currency", 6_000_000.0, unit="GBP")),
        ("40 €", Value("currency", 40.0, unit="EUR")),
        ("1998-05-12", Value("date", 1998.0, "1998-05-12")),
        ("12 May 1998", Value("date", 1998.0, "1998-05-12")),
        ("May 12th, 1998", Value("date", 1998.0, "1998-05-12")),
        ("Tuesday, May 12, 1998", Value("date", 1998.0, "1998-05-12")),
        ("May 1998", Value("date", 1998.0, "1998-05")),
        ("5/12/98", Value("date", 1998.0, "1998-05-12")),
        ("12.05.1998", Value("date", 1998.0, "1998-05-12")),
        ("September 4", Value("date", None, "--09-04")),
        ("1887-1905", Value("text", 1887.0, "1887", "-1905")),
        ("1982/83", Value("text", 1982.0, "1982", "/83")),
        ("2004–present", Value("text", 2004.0, "2004", "–present")),
        ("3-2", Value("text", 3.0, unit="-2")),
        ("5 Doors Down", Value("text", 5.0, unit="Doors Down")),
        ("W 35-14", Value("text")),
    ],
)
def test_a_text_means(text: str, value: Value) -> None:
    assert typed(text) == value
    assert typed(f"  {text}\n") == value
    assert value.type in TYPES


def test_dates_sort_as_text() -> None:
    texts = ["12 May 1998", "1998", "May 1998", "June 3, 1998", "2001", "1887-1905"]
    assert sorted(texts, key=lambda text: typed(text).date or "") == [
        "1887-1905",
        "1998",
        "May 1998",
        "12 May 1998",
        "June 3, 1998",
        "2001",
    ]


def test_a_column_has_the_type_of_four_fifths_of_its_cells() -> None:
    assert column_type(["1", "2", "3", "4", "n/a", ""]) == "number"
    assert column_type(["1", "2", "3", "n/a"]) == "text"
    assert column_type(["5%", "7.5 %"]) == "percentage"
    assert column_type([]) == column_type(["", " "]) == "text"


@pytest.mark.parametrize("text", ["9" * 400, "1," * 500, "\ud800", "1998-99-99", "32/13/1999", "٣"])
def test_odd_texts_do_not_fail(text: str) -> None:
    value = typed(text)
    assert value.type in TYPES
    assert value.number is None or abs(value.number) < 1e300


@pytest.mark.parametrize(
    ("given", "expected", "same"),
    [
        (["12,467"], ["12467"], True),
        (["12"], ["13"], False),
        (["Kim Yu-na"], ["kim yu‑na"], True),
        (["Simon Kasimili (KEN)"], ["Simon Kasimili"], True),
        (['"Loose Ends"'], ["Loose Ends."], True),
        (["Alex Debon"], ["Alex Debón"], True),
        (["b", "A"], ["a", "B"], True),
        (["a"], ["a", "b"], False),
        (["a", "a"], ["a"], True),
        (["May 12, 1998"], ["12 May 1998"], True),
        (["33"], ["33 years"], False),
        ([], ["a"], False),
    ],
)
def test_same_values(given: list[str], expected: list[str], same: bool) -> None:
    assert same_values(given, expected) == same
    assert same_values(expected, given) == same


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("films made before 1990", [("<", "before 1990")]),
        ("released after 5 May 1995", [(">", "after 5 May 1995")]),
        ("films in 1990", [("=", "in 1990")]),
        ("between 3 and 5 films", [(">=", "between 3 and 5"), ("<=", "between 3 and 5")]),
        ("born in the 1990s", [(">=", "in the 1990s"), ("<=", "in the 1990s")]),
        ("cities with more than 3 million people", [(">", "more than 3 million")]),
        ("90 minutes or more", [(">=", "90 minutes or more")]),
        ("who wrote Catch 22", []),
        ("the director of 2001 A Space Odyssey", []),
    ],
)  # fmt: skip
def test_conditions_of_questions(question: str, found: list[tuple[str, str]]) -> None:
    made = [(c.operation, question[c.start : c.end]) for c in conditions(question)]
    assert made == found


@pytest.mark.parametrize(
    ("question", "value", "holds"),
    [
        ("before 1990", "12 May 1989", True),
        ("before 1990", "1990", False),
        ("before May 1990", "1990", None),
        ("in 1990", "1990-03-01", True),
        ("more than 2000 people", "1,950", False),
        ("more than 2000 people", "2001", True),
        ("longer than 90 minutes", "2 km", None),
        ("more than 3 kg", "1984", None),
        ("under $5 million", "$4,000,000", True),
        ("before 1990", "Salt, Wind", None),
    ],
)
def test_conditions_hold_exactly(question: str, value: str, holds: bool | None) -> None:
    (condition,) = conditions(question)
    assert condition.holds(value) is holds


@pytest.mark.parametrize(
    ("question", "surfaces", "kept", "bounds"),
    [
        ("films of Mara Lind in 1990", ["Mara Lind", "1990"], ["Mara Lind"], 1),
        ("which films came out in 1990", ["1990"], ["1990"], 0),  # it is all that is named
        ("which films came out before 1990", ["1990"], [], 1),
        ("who plays in 1990 Ardfin Cup", ["1990 Ardfin Cup"], ["1990 Ardfin Cup"], 0),
        (
            "who of Ardfin plays in 1990 Ardfin Cup before 1995",
            ["Ardfin", "1990 Ardfin Cup", "1995"],
            ["Ardfin", "1990 Ardfin Cup"],
            1,
        ),
    ],
)
def test_entities_and_conditions_are_not_the_same_words(
    question: str, surfaces: list[str], kept: list[str], bounds: int
) -> None:
    entities = [LinkedEntity(text, id=text, name=text, score=1.0) for text in surfaces]
    rest, conditions_left = outside(entities, question, conditions(question))
    assert [entity.surface for entity in rest] == kept
    assert len(conditions_left) == bounds
