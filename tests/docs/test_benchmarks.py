"""The benchmarks: each says how it is used; questions are composed of others."""

import random
import re
import runpy
import sys
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[2] / "benchmarks"
_SCRIPTS = sorted(path.stem for path in _FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("script", _SCRIPTS)
def test_each_script_says_how_it_is_used(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Within this process: twenty more would each import the package.
    monkeypatch.syspath_prepend(_FOLDER)
    monkeypatch.setattr(sys, "argv", ["", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(_FOLDER / f"{script}.py"), run_name="__main__")
    assert not ended.value.code
    said = capsys.readouterr().out
    assert f"usage: {script}.py" in said


def test_questions_are_made_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(_FOLDER)
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

    facts = {"Ada": "1 May 1901", "Bo": "2 June 1950", "Cy": "3 July 1920", "Di": "4 June 1960"}
    texts = {name: f"{name} was born on {day}." for name, day in facts.items()}
    rows = [
        {"question": f"Who was born first, {a} or {b}?", "type": "comparison", "answer": a,
         "evidences": [[a, "date of birth", facts[a]], [b, "date of birth", facts[b]]]}
        for a, b in (("Ada", "Bo"), ("Cy", "Di"))
    ]  # fmt: skip
    others = making.swapped(rows, texts, 8, random.Random(0))
    assert len(others) == 8
    order = sorted(facts, key=lambda name: facts[name][-4:])
    for row in others:
        first, second = re.fullmatch(
            r"Who was born first, (\w+) or (\w+)\?", row["question"]
        ).groups()
        assert row["answer"] == min(first, second, key=order.index)
        assert [title for title, _ in row["context"][:2]] == [first, second]


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
def test_same_values(
    given: list[str], expected: list[str], same: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(_FOLDER)
    from _tables import same_values

    assert same_values(given, expected) == same
    assert same_values(expected, given) == same
