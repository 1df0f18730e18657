"""Measures of answers over a knowledge graph, and the document retrievers to compare with."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, completion
from commands import environment, kgp, prints
from graphs import write_file, write_lines

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.evaluate.graph_questions import GraphQuestion, read_graph_questions
from kgp_neo4j.evaluate.graph_scores import Holdings, measure_answer
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.types.errors import InputError

_NAMES = ("Anemia", "Iron deficiency anemia", "Iron", "Flu", "Blood_count", "贫血", "血常规")


@pytest.mark.parametrize(
    ("answer", "named", "carried"),
    [
        ("You have anemias; take iron.", ("Anemia", "Iron"), ("Anemia",)),
        # The longest name counts alone, and no name within a word.
        ("Iron deficiency anemia. Influenza?", ("Iron deficiency anemia",), ()),
        ("A blood count, for the flu you name.", ("Blood_count", "Flu"), ("Flu",)),
        ("可能是贫血，请查血常规。", ("贫血", "血常规"), ("贫血",)),
        ("Nothing of these.", (), ()),
        ("", (), ()),
    ],
)
def test_what_the_evidence_carries_of_an_answer(
    answer: str, named: tuple[str, ...], carried: tuple[str, ...]
) -> None:
    holdings = Holdings(_NAMES)
    assert holdings.keys_named(answer) == set(map(key_of, named))
    share = holdings.carried(answer, ("anemia", "贫血"), "Is it the flu?")
    assert share == (len(carried) / len(named) if named else None)


def test_questions_of_all_forms_are_read(tmp_path: Path) -> None:
    records: tuple[Any, ...] = (
        {"input": "I cough.", "output": "Ruan cough."},
        {"question": "我咳嗽。", "question_kg": "咳嗽,发热", "answer": "多喝水。"},
        {"id": 70, "question": "Which?", "options": ["Salt", "Iron"], "answer": "b",
         "explanation": "Iron."},
        {"dialogue": [{"role": "patient", "content": "我乏力。"},
                      {"role": "医生", "content": "多久？"},
                      {"role": "patient", "content": "一周。"},
                      {"role": "医生", "content": "查血。"}]},
        [{"speaker": "user", "content": "Dizzy."}, {"speaker": "Doctor", "content": "Rest."}],
        {"question": "The son of Ann's sister?", "question_entities": ["Ann"],
         "answer_entities": ["Bo"], "relations": ["sister", "son"], "hops": 2},
    )  # fmt: skip
    expected = [
        GraphQuestion("1", "I cough.", "Ruan cough."),
        GraphQuestion("2", "我咳嗽。", "多喝水。", entities=("咳嗽", "发热")),
        GraphQuestion("70", "Which?", "Iron.", {"A": "Salt", "B": "Iron"}, "B"),
        GraphQuestion("4", "我乏力。\n一周。", "多久？\n查血。"),
        GraphQuestion("5", "Dizzy.", "Rest."),
        GraphQuestion(
            "6", "The son of Ann's sister?", entities=("Ann",), answers=("Bo",), kind="2 hops"
        ),
    ]
    lines = write_lines(tmp_path / "a.jsonl", *records)
    assert read_graph_questions(lines) == expected
    assert read_graph_questions(write_file(tmp_path / "a.json", json.dumps(records))) == expected
    bad = ({"question": "?"}, {"dialogue": "x"}, [{"role": "user"}], 3, {"id": 1, **records[0]})
    for record in (*bad, {"question": "?", "answer": "A", "options": 1}):
        write_lines(lines, records[0], record)
        with pytest.raises(InputError, match=r"a\.jsonl:2: "):
            read_graph_questions(lines)
    for name, text, message in (("a.csv", "", "not a file of questions"), ("b.json", "[]", "no q")):
        with pytest.raises(InputError, match=message):
            read_graph_questions(write_file(tmp_path / name, text))


def test_what_an_answer_measures() -> None:
    holdings = Holdings(("Pale tide", "Blood count", "Iron of Hesk", "Fatigue"))
    asked = GraphQuestion(
        "1", "I feel tired.", "Pale tide; iron of hesk.", answers=("blood counts", "Pale tide", "Z")
    )
    row = {
        "answer": "Pale tide, by a blood count.",
        "first": "pale tide",
        "triples": [["Fatigue", "possible_disease", "Pale tide"]],
        "seconds": 2,
    }
    assert measure_answer(asked, row, holdings) == {
        "coverage": 0.5, "hits@1": 1.0, "carried": 0.5, "named": 0.5, "seconds": 2.0,
    }  # fmt: skip
    # A line that is missing reaches nothing; one of another system has no evidence to measure.
    assert measure_answer(asked, {}, holdings) == {"coverage": 0.0, "hits@1": 0.0, "named": 0.0}
    assert measure_answer(asked, {"answer": "iron of Hesk"}, holdings) == {"named": 0.5}


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("B", "right"),
        ("(A) is a salt.", "wrong"),
        ("The best option is B: it holds iron.", "right"),
        ("A good question. Iron helps.", "right"),
        ("I do not know.", "failed"),
        ("", "failed"),
    ],
)
def test_what_a_choice_measures(reply: str, outcome: str) -> None:
    asked = GraphQuestion("1", "Which?", "", {"A": "Salt", "B": "Iron"}, "B")
    got = measure_answer(asked, {"answer": reply}, Holdings())
    assert got == {"right": 0.0, "wrong": 0.0, "failed": 0.0} | {outcome: 1.0}


def _rows(report: str) -> dict[str, dict[str, str]]:
    """Return the cells of a report's first table, by method and column."""
    header, _, *rows = (
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in report.partition("## Methods")[2].partition("##")[0].strip().splitlines()
    )
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


_CHOICES = (
    '[{"question": "Which medication does pale tide need?", '
    '"options": ["Sollanol", "Iron of Hesk"], "answer": "B", "explanation": "It needs iron."}]'
)
_DIALOGUES = (
    '{"input": "I feel tired and dizzy.", "output": "Pale tide. Do a blood count."}\n'
    '{"input": "My skin is pale.", "output": "It may be pale tide."}\n'
)


@pytest.mark.slow
def test_dialogues_are_evaluated(demo_graph: str, connection: Connection, tmp_path: Path) -> None:
    file, out = write_file(tmp_path / "dialogues.jsonl", _DIALOGUES), tmp_path / "out"
    run = ("evaluate", str(file), "--graph", demo_graph, "--out", str(out))
    done = kgp(*run, **environment(connection))
    assert done.returncode == 0, done.stderr
    assert "2 questions by 4 methods" in done.stderr
    rows = _rows(done.stdout)
    assert list(rows) == ["mindmap", "mindmap-no-paths", "mindmap-no-neighbours", "kg-retriever"]
    assert (rows["mindmap"]["carried"], rows["mindmap"]["named"]) == ("100.0", "100.0")
    assert (out / "report.md").read_text(encoding="utf-8") == done.stdout
    # By the answers that are there, as over documents.
    again = prints(*run, "--methods", "mindmap", "--json", **environment(connection))
    assert json.loads(again)["methods"]["mindmap"]["named"] == 1


@pytest.mark.slow
def test_a_model_is_compared_with_its_baselines(
    demo_graph: str, connection: Connection, chat_server: ChatServer, tmp_path: Path
) -> None:
    def reply(prompt: str) -> str:
        if "Name the entities" in prompt:
            return '["pale tide"]'
        if "mind map of your own" in prompt:
            return "Output 1: B\nOutput 3:\nPale tide -> need_medication -> Iron of Hesk"
        shown = ("Knowledge that may help:\n", "A: Sollanol\nB: Iron of Hesk")
        return "B: iron." if all(part in prompt for part in shown) else "I do not know."

    chat_server.answer = lambda body: (200, completion(reply(body["messages"][-1]["content"])))
    file = write_file(tmp_path / "choices.json", _CHOICES)
    done = kgp(
        "evaluate", str(file), "--graph", demo_graph, "--llm", "m",
        "--out", str(tmp_path / "out"),
        "--methods", "mindmap,mindmap-plain,model-alone",
        **environment(connection), OPENAI_BASE_URL=chat_server.url, OPENAI_API_KEY="none",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "calls of a language model or fewer" in done.stderr
    rows = _rows(done.stdout)
    for name in ("mindmap", "mindmap-plain"):
        assert (rows[name]["right"], rows[name]["failed"]) == ("100.0", "0.0"), name
    # A reply without a choice is a failed one: nothing stands behind a baseline.
    assert (rows["model-alone"]["right"], rows["model-alone"]["failed"]) == ("0.0", "100.0")
