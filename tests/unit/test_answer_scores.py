"""Answers measured: exact match and F1, and runs that can be resumed."""

import json
from pathlib import Path
from typing import Any

import pytest

from kgp_neo4j.evaluate.runs import answer_questions, own_folder
from kgp_neo4j.evaluate.scores import exact_match, f1
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError, ModelError


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


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "golden.jsonl"
    asked = [Question(str(n), f"Where is {n}?") for n in range(4)]

    def two(question: Question) -> dict[str, Any]:
        if question.id == "2":
            raise ModelError("out of reach")
        return {"answer": f"first {question.id}", "text": "a\u2028b"}

    with pytest.raises(ModelError):
        answer_questions(asked, two, out)
    # Cut off within a character, after a text with a separator of lines.
    out.write_bytes(out.read_bytes() + '{"id": "2", "ans": "é'.encode()[:-1])
    rows = answer_questions(asked, lambda question: {"answer": f"then {question.id}"}, out)
    assert [row["answer"] for row in rows] == ["first 0", "first 1", "then 2", "then 3"]
    assert [json.loads(line)["id"] for line in out.open(encoding="utf-8")] == ["0", "1", "2", "3"]


def test_a_folder_is_for_one_evaluation_at_a_time_with_its_settings(tmp_path: Path) -> None:
    kept: dict[str, Any] = {"budget": (1, 2)}
    refused = pytest.raises(InputError, match="another evaluation")
    with own_folder(tmp_path, kept, {"kgp": None}), refused, own_folder(tmp_path, kept, {}):
        pass
    with own_folder(tmp_path, kept, {"kgp-llama": "weights"}):
        pass
    for settings, agents in (({"budget": 3}, {}), (kept, {"kgp": "trees"})):
        with pytest.raises(InputError, match="other q"), own_folder(tmp_path, settings, agents):
            pass
