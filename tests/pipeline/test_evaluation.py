"""Rows, scores and judgement of an evaluation, and runs that go on, over the demo's questions."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from graphs import write_lines
from scripted_model import Scripted

from kgp_neo4j.demo import DOCUMENTS
from kgp_neo4j.evaluate.datasets import open_dataset
from kgp_neo4j.evaluate.experiment import answering, plan
from kgp_neo4j.evaluate.judge import judge_run
from kgp_neo4j.evaluate.questions import read_gold
from kgp_neo4j.evaluate.runs import answer_questions, own_folder, read_run
from kgp_neo4j.evaluate.scores import exact_match, f1, measure
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import InputError, ModelError
from kgp_neo4j.types.language import Reply
from kgp_neo4j.types.settings import traversal_settings

_GOLDS = read_gold(DOCUMENTS.parent / "questions.jsonl")[:2]

# --- Rows -----------------------------------------------------------------------------------------


def test_golden_counts_its_call_of_the_model(database: Database, demo_corpus: str) -> None:
    demo = replace(open_dataset("demo", split="dev", sample=1, seed=0), corpus=demo_corpus)
    walk = traversal_settings("beam", budget=4)
    answered = answering(database, demo, "golden", walk, Scripted(["Answer: Ada [1]"]), None)
    row = answered(demo.questions[0])
    # The score is of what the model says, though `ask` gives what the passages carry.
    assert (row["answer"], row["calls"], row["by"]) == ("Ada", 1, "reader")
    assert row["given"] in demo.questions[0].answers
    answered = answering(database, demo, "golden", walk, Scripted([Reply("", "refused")]), None)
    row = answered(demo.questions[0])
    # The offline reader answers instead, which the report tells.
    assert (row["calls"], row["by"]) == (1, "reader")
    assert measure(demo.questions[0], row)["by model"] == 0


def test_a_model_without_passages_has_the_same_prompt(database: Database) -> None:
    demo = open_dataset("demo", split="dev", sample=1, seed=0)
    model = Scripted(["Answer: Kettlehaven"])
    answered = answering(database, demo, "none", traversal_settings("beam", budget=4), model, None)
    row = answered(demo.questions[0])
    assert (row["answer"], row["carried"], row["retrieved"]) == ("Kettlehaven", [False], [])
    assert row["calls"] == 1
    assert "a few words at most" in model.prompts[0]


def test_the_plan_counts_calls() -> None:
    assert plan(["bm25", "golden"], 100, model=False) == "100 questions by 2 methods"
    assert "200 calls of a language model" in plan(["bm25", "golden"], 100, model=True)
    # One answer by bm25, thirteen calls by the traversal, and two verdicts on each.
    assert "1,800 calls" in plan(["bm25", "kgp-chat"], 100, model=True, judge=True)


# --- Scores and runs -----------------------------------------------------------------------------


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


# --- Judgement ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "right"),
    [
        (["yes", "Yes."], 1.0),
        (["yes", "no"], 0.0),
        (["no"], 0.0),
        (["yes or no"], 0.0),
        (["perhaps"], 0.0),
    ],
)
def test_both_orders_must_agree(replies: list[str], right: float, tmp_path: Path) -> None:
    questions = _GOLDS[:1]
    model = Scripted(replies)
    run = write_lines(tmp_path / "run.jsonl", {"id": questions[0].id, "answer": "Ada"})
    scored = read_run(run, questions, measure)
    judged = judge_run(model, questions, scored, tmp_path / "judged.jsonl")
    assert judged.means()["Acc"] == right
    orders = [
        prompt.index("Ada") < prompt.index(questions[0].answers[0]) for prompt in model.prompts
    ]
    assert orders == [False, True][: len(replies)]


def test_a_judged_run_goes_on_where_it_was(tmp_path: Path) -> None:
    out = tmp_path / "judged" / "run.jsonl"
    row = {"id": _GOLDS[0].id, "answer": "over a bakery", "retrieved": []}
    run = write_lines(tmp_path / "run.jsonl", row)
    model = Scripted(["yes", "yes"])
    judged = judge_run(model, _GOLDS, read_run(run, _GOLDS, measure), out)
    # The question that the run lacks is wrong, and nobody is asked about it.
    assert [judged.measures[q.id]["Acc"] for q in _GOLDS] == [1.0, 0.0]
    assert len(model.prompts) == 2
    assert judged.means()["Acc"] == 0.5
    again = judge_run(Scripted([]), _GOLDS, read_run(run, _GOLDS, measure), out)
    assert again == judged
    # Another judge, and another answer, has a verdict of its own.
    for judge, answer in (("other", "over a bakery"), ("scripted", "nowhere")):
        write_lines(run, row | {"answer": answer})
        scored = read_run(run, _GOLDS, measure)
        verdict = judge_run(Scripted(["no"], name=judge), _GOLDS, scored, out)
        assert verdict.means()["Acc"] == 0
