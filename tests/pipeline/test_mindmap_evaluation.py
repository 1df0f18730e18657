"""Measures of answers over a knowledge graph, and the document retrievers to compare with."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from chat_server import ChatServer, completion
from commands import environment

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.evaluate.graph_baselines import (
    Bm25,
    Embeddings,
    as_reasoning,
    baseline_prompt,
    graph_documents,
)
from kgp_neo4j.evaluate.graph_questions import GraphQuestion, read_graph_questions
from kgp_neo4j.evaluate.mindmap import (
    AXES,
    Accuracy,
    Verdict,
    accuracy,
    bert_score,
    grounding,
    judge_pair,
    judge_ranks,
    mean_ranks,
    tally,
)
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.models.encoder import CHINESE_ENCODER, DEFAULT_ENCODER, Encoder
from kgp_neo4j.types.errors import InputError, ModelError


def test_accuracy() -> None:
    assert accuracy(["A", "B", "", "D"], ["A", "C", "C", "D"]) == Accuracy(4, 50.0, 25.0, 25.0)
    assert accuracy([], []) == Accuracy(0, 0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="1 choices for 2"):
        accuracy(["A"], ["A", "B"])


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
    found = grounding(answer, ("anemia", "贫血"), _NAMES, "Is it the flu?")
    assert (found.named, found.carried) == (named, carried)
    assert found.share == (len(carried) / len(named) if named else None)


def _judge(choose: Callable[[str], str]) -> Callable[[str], str]:
    """Return a judge that is told which texts stand as answers 1 and 2."""

    def write(prompt: str) -> str:
        assert "{ref}" in prompt
        return choose(prompt.partition("Answer 1:\n")[2])

    return write


@pytest.mark.parametrize(
    ("judge", "verdict"),
    [
        (lambda text: "1" if text.startswith("good") else "2", Verdict(1, True)),
        (lambda text: "2" if text.startswith("good") else "1", Verdict(-1, True)),
        (lambda text: "0", Verdict(0, True)),
        (lambda text: "1", Verdict(0, False)),  # prefers a place
        (lambda text: "Both 1 and 2.", Verdict(0, False)),
        (
            lambda text: "The answer is: 1." if text.startswith("good") else "**2**",
            Verdict(1, True),
        ),
    ],
)
@pytest.mark.parametrize("axis", AXES)
def test_pairs_are_judged_in_both_orders(
    judge: Callable[[str], str], verdict: Verdict, axis: str
) -> None:
    assert judge_pair(_judge(judge), "q {x}", "{ref}", "good", "bad", axis) == verdict


def test_a_tally() -> None:
    verdicts = [Verdict(1, True), Verdict(1, True), Verdict(0, False), Verdict(-1, True)]
    assert tally(verdicts) == {"win": 50.0, "tie": 25.0, "lose": 25.0}
    assert tally([]) == {"win": 0.0, "tie": 0.0, "lose": 0.0}


def test_ranks_are_asked_for_in_both_orders() -> None:
    answers = {"a": "one", "b": "two", "c": "three"}
    seen: list[str] = []

    def by_text(prompt: str) -> str:
        seen.append(prompt)
        place = {
            name: at + 1
            for at, name in enumerate(
                sorted(answers, key=lambda n: prompt.index(answers[n] + "\n"))
            )
        }
        return f"{place['b']} > {place['a']} = {place['c']}"

    assert judge_ranks(by_text, "q", "r", answers) == {"b": 1.0, "a": 2.5, "c": 2.5}
    assert len(seen) == 2
    assert seen[0].index("one") < seen[0].index("three")
    assert seen[1].index("three") < seen[1].index("one")
    # A judge that goes by places only ranks all alike.
    assert set(judge_ranks(lambda p: "1 > 2 > 3", "q", "r", answers).values()) == {2.0}
    for reply in ("", "1 > 2", "1 > 1 > 2", "none"):
        with pytest.raises(ModelError, match="no ranking"):
            judge_ranks(lambda p, reply=reply: reply, "q", "r", answers)  # type: ignore[misc]
    assert mean_ranks([{"a": 1.0, "b": 2.0}, {"a": 2.0}]) == {"a": 1.5, "b": 2.0}


def test_bert_score(tiny_encoder: str, tmp_path: Path) -> None:
    folder = Path(tiny_encoder)
    scores = bert_score(["the flu", "the flu", ""], ["the flu", "qzx 7", "flu"], folder)
    assert scores[0] == pytest.approx((1.0, 1.0, 1.0), abs=1e-5)
    assert scores[1][2] < 0.999
    assert scores[2] == (0.0, 0.0, 0.0)
    precision, recall, f1 = scores[1]
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    with pytest.raises(ModelError, match="no encoder"):
        bert_score(["a"], ["b"], tmp_path)


@pytest.mark.parametrize("encoder", [CHINESE_ENCODER, DEFAULT_ENCODER])
def test_bert_score_by_an_offline_encoder(encoder: str) -> None:
    texts = (
        ("the flu and a fever", "流行性感冒") if encoder == CHINESE_ENCODER else ("flu", "a fever")
    )
    other = "a bridge of stone" if encoder == DEFAULT_ENCODER else "石桥"
    (exact, near, empty) = bert_score((texts[1], other, ""), (texts[1], texts[1], "x"), encoder)
    assert exact == pytest.approx((1.0, 1.0, 1.0), abs=1e-2)
    assert near[2] < 0.9
    assert empty == (0.0, 0.0, 0.0)


def test_questions_of_all_forms_are_read(tmp_path: Path) -> None:
    records = (
        {"input": "I cough.", "output": "Ruan cough."},
        {"question": "我咳嗽。", "question_kg": "咳嗽", "answer": "多喝水。"},
        {"question": "Which?", "options": ["Salt", "Iron"], "answer": "b", "explanation": "Iron."},
        {"dialogue": [{"role": "patient", "content": "我乏力。"},
                      {"role": "医生", "content": "多久？"},
                      {"role": "patient", "content": "一周。"},
                      {"role": "医生", "content": "查血。"}]},
        [{"speaker": "user", "content": "Dizzy."}, {"speaker": "Doctor", "content": "Rest."}],
    )  # fmt: skip
    expected = [
        GraphQuestion("I cough.", "Ruan cough."),
        GraphQuestion("我咳嗽。", "多喝水。"),
        GraphQuestion("Which?", "Iron.", {"A": "Salt", "B": "Iron"}, "B"),
        GraphQuestion("我乏力。\n一周。", "多久？\n查血。"),
        GraphQuestion("Dizzy.", "Rest."),
    ]
    lines = tmp_path / "a.jsonl"
    lines.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    assert read_graph_questions(lines) == expected
    array = tmp_path / "a.json"
    array.write_text(json.dumps(records), encoding="utf-8")
    assert read_graph_questions(array, 2) == expected[:2]
    bad = ({"question": "?"}, {"dialogue": "x"}, [{"role": "user"}], 3)
    for record in (*bad, {"question": "?", "answer": "A", "options": 1}):
        lines.write_text(f"{json.dumps(records[0])}\n{json.dumps(record)}", encoding="utf-8")
        with pytest.raises(InputError, match=r"a\.jsonl:2: "):
            read_graph_questions(lines)
    with pytest.raises(InputError, match="not a file of questions"):
        read_graph_questions(tmp_path / "a.csv")


def test_the_prompt_of_a_baseline_is_plain() -> None:
    alone = baseline_prompt("What helps {x}?")
    assert "Knowledge" not in alone
    assert "letter" not in alone
    full = baseline_prompt("What helps?", ["Iron helps."], {"A": "Salt", "B": "Iron"})
    assert "Knowledge that may help:\nIron helps." in full
    assert "A: Salt\nB: Iron" in full
    assert "letter of your choice" in full


def test_documents_of_a_graph_are_retrieved(
    database: Database, demo_graph: str, encoder: Encoder
) -> None:
    documents = graph_documents(database, demo_graph)
    assert len(documents) == 8
    assert sum(len(document.triples) for document in documents) == 57
    tide = next(document for document in documents if document.name == "Pale tide")
    assert "Pale tide need medication Iron of Hesk." in tide.text
    found = Bm25(documents).retrieve("Fatigue, pale skin, mussel broth?", 3)
    assert found[0][0].name == "Pale tide"
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert Bm25(documents).retrieve("zebra", 3) == []
    near = Embeddings(documents, encoder).retrieve("I cough and my throat hurts", 2)
    assert near[0][0].name == "Ruan cough"
    assert len(near) == 2
    made = as_reasoning([document for document, _ in found], most=9)
    assert len(made.triples) == 9
    assert sum(len(graph.triples) for graph in made.evidence) == 9
    assert Bm25([]).retrieve("x", 1) == []
    assert graph_documents(database, "no such") == []


def _benchmark(
    command: str, file: Path, connection: Connection, *more: str, **variables: str
) -> dict[str, list[str]]:
    """Run the benchmark and return the rows that it prints, by their first cell."""
    script = Path(__file__).parents[2] / "benchmarks" / "mindmap.py"
    done = subprocess.run(
        [sys.executable, str(script), command, str(file), "--out", str(file.parent), *more],
        capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment(connection), **variables},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (file.parent / "results" / f"mindmap-{command}-{file.stem}.json").is_file()
    return {
        cells[0].strip(): [cell.strip() for cell in cells[1:]]
        for line in done.stdout.splitlines()
        if line.startswith("| ") and len(cells := line.strip("| ").split("|")) > 2
    }


_CHOICES = (
    '[{"question": "Which medication does pale tide need?", '
    '"options": ["Sollanol", "Iron of Hesk"], "answer": "B", "explanation": "It needs iron."}]'
)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["choices", "answers"])
def test_the_benchmark_runs(
    command: str, demo_graph: str, connection: Connection, tmp_path: Path
) -> None:
    file = tmp_path / "questions.json"
    answers = '{"input": "I feel tired and dizzy.", "output": "Pale tide. Do a blood count."}'
    file.write_text(_CHOICES if command == "choices" else answers, encoding="utf-8")
    rows = _benchmark(command, file, connection, "--graph", demo_graph)
    assert {"MindMap", "KG retriever", "BM25 documents", "embedding documents"} <= set(rows)
    # The right option by evidence; all that is named is carried, and both of the reference's are.
    expected = {"choices": ["100.0", "0.0", "0.0", "100.0", "100.0"], "answers": ["100.0", "100.0"]}
    assert rows["MindMap"][: len(expected[command])] == expected[command]


@pytest.mark.slow
def test_the_benchmark_compares_a_model_with_its_baselines(
    demo_graph: str, connection: Connection, chat_server: ChatServer, tmp_path: Path
) -> None:
    def reply(prompt: str) -> str:
        if "Name the entities" in prompt:
            return '["pale tide"]'
        if "Put each line" in prompt:
            return "1. Pale tide needs Iron of Hesk."
        if "mind map of your own" in prompt:
            return "Output 1: B\nOutput 3:\nPale tide -> need_medication -> Iron of Hesk"
        return "B: iron." if "Knowledge" in prompt else "I do not know."

    chat_server.answer = lambda body: (200, completion(reply(body["messages"][-1]["content"])))
    file = tmp_path / "questions.json"
    file.write_text(_CHOICES, encoding="utf-8")
    rows = _benchmark(
        "choices", file, connection, "--graph", demo_graph, "--llm", "m", "--aggregate", "llm",
        "--methods", "MindMap,plain prompt,BM25 documents,model alone",
        OPENAI_BASE_URL=chat_server.url, OPENAI_API_KEY="none",
    )  # fmt: skip
    for name in ("MindMap", "plain prompt", "BM25 documents"):
        assert rows[name][:3] == ["100.0", "0.0", "0.0"], name
    # A reply without a choice is a failed one: nothing stands behind a baseline.
    assert rows["model alone"][:3] == ["0.0", "0.0", "100.0"]


@pytest.mark.slow
def test_published_outputs_are_scored_again(connection: Connection, tmp_path: Path) -> None:
    methods = ("chatgpt", "document+bm25", "document+embedding", "kg_retrival", "gpt4",
               "MindMap_output1")  # fmt: skip
    counted = ("chatgpt_acc", "bm25_acc", "embedding_acc", "kg_acc", "gpt4_acc", "mindmap_acc")
    question = "什么有用？\nA: 盐\nB: 铁\n"
    file = tmp_path / "outputs.csv"
    with file.open("w", encoding="utf-8", newline="") as out:
        made = csv.writer(out)
        made.writerow(["Question", "label", "label_choice", *methods, *counted])
        made.writerow([question, "B\n铁。", "B", *["正确选项是B: 铁。"] * 6, *["1"] * 6])
        made.writerow([question, "A\n盐。", "A", *["无法确定。"] * 6, *["2"] * 5, "0"])
    rows = _benchmark("published", file, connection)
    assert rows["GPT-4"] == ["50.0", "0.0", "50.0", "50.0", "0.0", "50.0", "100.0"]
    assert rows["MindMap"] == ["50.0", "0.0", "50.0", "50.0", "50.0", "0.0", "50.0"]
