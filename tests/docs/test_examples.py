"""The scripts of examples/, run on the demo's data, and of benchmarks/: use, questions, values."""

import random
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from chat_server import ChatServer, completion
from commands import environment

from kgp_neo4j.demo import DOCUMENTS, GRAPH
from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.slow

_EXAMPLES = Path(__file__).parents[2] / "examples"
_QUESTION = "Who designed the Hesk Bridge?"


@pytest.fixture
def run(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs a script and returns what it printed."""
    for name, value in environment(database.connection).items():
        monkeypatch.setenv(name, value)

    def printed(script: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(str(_EXAMPLES / script), run_name="__main__")
        return capsys.readouterr().out

    return printed


def test_documents_are_asked_with_a_model(
    run: Callable[..., str], chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = "Yusuf Arden\n\nThe Hesk Bridge was designed by Yusuf Arden [1]."
    chat_server.answer = lambda body: (200, completion(reply))
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    printed = run("documents_to_answer.py", str(DOCUMENTS), _QUESTION, "--llm", "m")
    assert "21 documents" in printed
    assert "Yusuf Arden" in printed


def test_triples_become_a_mind_map(run: Callable[..., str]) -> None:
    question = "I feel tired and dizzy. What can it be?"
    assert "(grounded)" in run("triples_to_mind_map.py", str(GRAPH / "ailments.tsv"), question)


def test_the_corpus_in_graph_data_science(run: Callable[..., str]) -> None:
    assert len(run("graph_data_science.py", str(DOCUMENTS)).splitlines()) == 3


_FOLDER = Path(__file__).parents[2] / "benchmarks"
_SCRIPTS = sorted(path.stem for path in _FOLDER.glob("[!_]*.py"))


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their modules can be imported."""
    monkeypatch.syspath_prepend(_FOLDER)


@pytest.mark.parametrize("script", _SCRIPTS)
def test_each_script_says_how_it_is_used(
    script: str,
    benchmarks: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Within this process: twenty more would each import the package.
    monkeypatch.setattr(sys, "argv", ["", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(_FOLDER / f"{script}.py"), run_name="__main__")
    assert not ended.value.code
    said = capsys.readouterr().out
    assert f"usage: {script}.py" in said


def test_questions_are_composed_of_two_others(benchmarks: None) -> None:
    import make_questions as making

    film = making.Asked("Which company distributed UHF?", "Orion Pictures", (("UHF", "..."),))
    year = making.Asked("When was Orion Pictures founded?", "1978", (("Orion", "....."),))
    town = making.Asked("Where was Orion born?", "Hesk", (("Orion the dog", ".."),))
    (made,) = making.composed([film], [year, town], random.Random(0))
    assert made.question == "When was the company that distributed UHF founded?"
    assert (made.answer, made.passages) == ("1978", film.passages + year.passages)
    phrases = {
        "Who wrote Ulysses?": "the person who wrote Ulysses",
        "What is the capital of Peru?": "the capital of Peru",
        "In which town did Ada live?": "the town in which Ada live",
        "Where did Ada live?": "the place where Ada live",
        "Why did Ada live there?": "",
    }
    assert {question: making.phrase(question) for question in phrases} == phrases


def test_the_answer_to_a_question_about_other_things_is_worked_out(benchmarks: None) -> None:
    import make_questions as making

    born = {"Ada": "1 May 1901", "Cy": "3 July 1920", "Bo": "2 June 1950", "Di": "4 June 1960"}
    texts = {name: f"{name} was born on {day}." for name, day in born.items()}
    rows = [
        {"question": f"Who was born first, {a} or {b}?", "type": "comparison", "answer": a,
         "evidences": [[a, "date of birth", born[a]], [b, "date of birth", born[b]]]}
        for a, b in (("Ada", "Bo"), ("Cy", "Di"))
    ]  # fmt: skip
    others = making.swapped(rows, texts, 8, random.Random(0))
    assert len(others) == 8
    for row in others:
        named = re.fullmatch(r"Who was born first, (\w+) or (\w+)\?", row["question"]).groups()
        assert row["answer"] == min(named, key=list(born).index)
        assert tuple(title for title, _ in row["context"][:2]) == named


@pytest.mark.parametrize(
    ("given", "expected", "same"),
    [
        ("12,467", "12467", True),
        ("12", "13", False),
        ("Kim Yu-na", "kim yu‑na", True),
        ("Simon Kasimili (KEN)", "Simon Kasimili", True),
        ('"Loose Ends"', "Loose Ends.", True),
        ("Alex Debon", "Alex Debón", True),
        ("b|A", "a|B", True),
        ("a", "a|b", False),
        ("a|a", "a", True),
        ("May 12, 1998", "12 May 1998", True),
        ("33", "33 years", False),
    ],
)
def test_values_are_compared_alike(given: str, expected: str, same: bool, benchmarks: None) -> None:
    from _tables import same_values

    assert same_values(given.split("|"), expected.split("|")) == same
    assert same_values(expected.split("|"), given.split("|")) == same
