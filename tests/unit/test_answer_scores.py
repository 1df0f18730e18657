"""Answers measured: exact match and F1, and runs that can be resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_model import Scripted

from kgp_neo4j.evaluate.answers import (
    answer_questions,
    exact_match,
    f1,
    from_passages,
)
from kgp_neo4j.types.corpus import Passage, Question
from kgp_neo4j.types.errors import ModelError

_GOLD = [
    Passage("1", "d1", "Hesk Bridge", 0, 0, 36, "Isobel Tarn designed it. It is long."),
    Passage("2", "d2", "Isobel Tarn", 0, 0, 28, "She was born in Kettlehaven."),
]


@pytest.mark.parametrize(
    ("said", "truths", "exact", "overlap"),
    [
        ("The Hesk Bridge!", ["hesk bridge"], 1.0, 1.0),
        ("Apr 16, 1941", ["April 16 1941"], 0.0, 2 / 3),
        ("Tarn", ["Isobel Tarn", "I. Tarn"], 0.0, 2 / 3),
        ("yes", ["yes"], 1.0, 1.0),
        ("yes it is", ["yes"], 0.0, 0.0),
        ("no", ["no way"], 0.0, 0.0),
        ("", ["Tarn"], 0.0, 0.0),
        ("the", ["a"], 1.0, 1.0),
        ("Tarn", [], 0.0, 0.0),
    ],
)
def test_scores(said: str, truths: list[str], exact: float, overlap: float) -> None:
    assert exact_match(said, truths) == exact
    assert f1(said, truths) == pytest.approx(overlap)


def test_golden_and_none_share_the_prompt(tmp_path: Path) -> None:
    question = Question("h", "Where was the designer of the Hesk Bridge born?")
    model = Scripted(lambda prompt: "Answer: Kettlehaven")
    golden = from_passages(lambda q: _GOLD, model)
    none = from_passages(lambda q: (), model)
    (first,) = answer_questions([question], golden, tmp_path / "golden.jsonl")
    (second,) = answer_questions([question], none, tmp_path / "none.jsonl")
    assert (first["answer"], first["carried"], first["calls"]) == ("Kettlehaven", [True], 1)
    assert (second["answer"], second["carried"]) == ("Kettlehaven", [False])
    assert [len(line["retrieved"]) for line in (first, second)] == [2, 0]
    assert "under six words" in model.prompts[0]
    assert "under six words" in model.prompts[1]
    assert first["tokens"][0] > second["tokens"][0] > 0


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "golden.jsonl"
    asked = [Question(str(n), f"Where is {n}?") for n in range(4)]
    failing = Scripted(["Answer: A", "Answer: B", ModelError("out of reach")])
    with pytest.raises(ModelError):
        answer_questions(asked, from_passages(lambda q: (), failing), out)
    out.write_text(out.read_text(encoding="utf-8") + '{"id": "2", "ans', encoding="utf-8")
    rest = Scripted(["Answer: C", "Answer: D"])
    rows = answer_questions(asked, from_passages(lambda q: (), rest), out, resume=True)
    assert [row["answer"] for row in rows] == ["A", "B", "C", "D"]
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == ["0", "1", "2", "3"]
    again = answer_questions(asked, from_passages(lambda q: (), Scripted([])), out, resume=True)
    assert again == rows
