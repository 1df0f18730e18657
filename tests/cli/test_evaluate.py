"""Evaluations: scores, verdicts, runs that go on, published files, and `kgp-neo4j evaluate`."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, completion
from commands import environment, kgp, prints, refuses
from graphs import write_file, write_lines
from questions import hotpot, in_columns
from scripted_model import Scripted

from kgp_neo4j import Database, Question
from kgp_neo4j.corpus.load.stored import delete_corpus
from kgp_neo4j.demo import DOCUMENTS
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.evaluate.experiment import (
    GraphQuestion,
    Holdings,
    answering,
    measure_answer,
    open_dataset,
    plan,
    read_graph_questions,
)
from kgp_neo4j.evaluate.scores import (
    Fact,
    Run,
    answer_questions,
    judge_run,
    measure,
    own_folder,
    paired_interval,
    read_gold,
    read_run,
    structural_match,
)
from kgp_neo4j.mindmap.link.name_forms import key_of
from kgp_neo4j.types.corpus import Reply
from kgp_neo4j.types.errors import InputError, ModelError
from kgp_neo4j.types.settings import traversal_settings


def test_scores_are_those_of_squad_and_of_the_passages(tmp_path: Path) -> None:
    """Counted by hand over three questions, of which the run lacks the last."""
    context = {"A": ["Moe built it."], "B": ["Nothing."]}
    answers = {"1": "the Apr 16, 1941", "2": "yes", "3": "no"}
    questions = [hotpot(key, "Who?", answer, "AB", context) for key, answer in answers.items()]
    golds = read_gold(write_lines(tmp_path / "gold.jsonl", *questions))
    passages = [{"title": title, "text": "t"} for title in ("C", "A", "D", "E", "F", "B")]
    rows = [
        {"id": "1", "answer": "April 16 1941", "retrieved": passages},
        {"id": "2", "answer": "yes and more", "retrieved": passages[1:2] * 2},
    ]
    run = read_run(write_lines(tmp_path / "run.jsonl", *rows), golds, measure)
    assert run.missing == ("3",)
    expected = {"EM": 0.0, "F1": 2 / 9, "recall@2": 1 / 3, "recall@10": 1.5 / 3, "all@5": 0.0,
                "all@10": 1 / 3, "precision@2": 1 / 3}  # fmt: skip
    means = run.means()
    assert {name: means[name] for name in expected} == pytest.approx(expected)


def test_what_a_question_measures() -> None:
    gold = read_gold(DOCUMENTS.parent / "questions.jsonl")[0]
    row = {"answer": "on 2 November 1874", "retrieved": [{"title": "Ardfin Lighthouse"}]}
    got = measure(gold, row)
    assert (got["EM"], got["recall@2"], got["all@30"], got["precision@2"]) == (0.0, 1.0, 1.0, 0.5)
    assert got["F1"] == pytest.approx(6 / 7)
    silent = read_gold(DOCUMENTS.parent / "questions.jsonl")[-1]
    assert measure(silent, {"answer": ""}) == {"silent": 1.0}
    assert measure(silent, {"answer": "40", "stated": True}) == {"silent": 0.0}
    assert measure(silent, {"answer": "40", "stated": False}) == {"silent": 1.0}
    assert measure(silent, {}) == {"silent": 0.0}


@pytest.mark.parametrize(
    ("wanted", "row", "right"),
    [
        (["3"], {"answer": "3 pages", "values": ["3"]}, True),
        (["3"], {"answer": "", "stated": False}, False),
        (["Height (m)", "Light"], {"answer": "", "values": ["light", "Height(m)"]}, True),
        (["Light", "Height"], {"answer": "Light, height"}, True),
        (["Light"], {"answer": "", "values": ["Light", "Height"]}, False),
        ([], {"answer": "There is no page 9.", "values": [], "found": False}, True),
        ([], {"answer": "Ardfin", "values": ["Ardfin"], "found": True}, False),
        ([], {"answer": ""}, False),
        (["word " * 100], {"answer": "word " * 96, "values": []}, True),
        (["word " * 100], {"answer": "word " * 94, "values": []}, False),
    ],
)
def test_structural_values_are_matched(wanted: list[str], row: Any, right: bool) -> None:
    assert structural_match(wanted, row) == float(right)


def test_the_interval_of_a_difference_is_paired() -> None:
    one = Run({str(n): {"F1": n % 5 / 5 + 0.1} for n in range(50)})
    other = Run({str(n): {"F1": n % 5 / 5} for n in range(50)})
    difference, low, high = paired_interval(one, other, "F1") or (0.0, 0.0, 0.0)
    assert difference == pytest.approx(0.1)
    assert (low, high) == pytest.approx((0.1, 0.1))
    assert paired_interval(one, other, "EM") is None


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (['{"id": "demo-1"', '{"id": "demo-2"}'], "run.jsonl"),
        ([{"id": "demo-1"}, {"id": "demo-1"}], "stands twice"),
        ([["demo-1"]], "not a line of a run"),
        ([{"id": "demo-1", "retrieved": ["a"]}], "run.jsonl:1: not a line of a run"),
        ([{"id": "demo-1", "retrieved": [{"title": "a"}]}], "`text`"),
        ([{"id": "demo-1"}, {"id": "demo-2", "answer": 3}], "run.jsonl:2: not a line of a run"),
    ],
)
def test_a_faulty_run_is_not_scored(rows: list[Any], message: str, tmp_path: Path) -> None:
    run = write_lines(tmp_path / "run.jsonl", *rows)
    assert message in refuses("evaluate", "demo", "--score", str(run))


def test_a_run_with_missing_questions_says_so(tmp_path: Path) -> None:
    rows = [{"id": f"demo-{n}", "answer": "no", "retrieved": []} for n in range(1, 31)]
    run = write_lines(tmp_path / "kgp-theirs.jsonl", *rows)
    line = ("evaluate", "demo", "--score", str(run))
    assert "kgp-theirs: 10 questions are missing and count as wrong." in prints(*line)
    told = json.loads(prints(*line, "--json"))
    assert len(told["missing"]["kgp-theirs"]) == 10


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"question": "Who?"}], "has no id"),
        ([{"_id": 1, "question": "Who?"}], "names no supporting facts"),
        ([{"_id": 1, "question": "Who?", "supporting_facts": []}] * 2, "stands twice"),
        ([{"_id": 1, "question": "Who?", "supporting_facts": [["A", 0]]}], "no contexts"),
        ([], "holds no question"),
    ],
)
def test_questions_without_gold_are_refused(lines: list[Any], message: str, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "questions.jsonl", *lines)
    with pytest.raises(InputError, match=message):
        open_dataset(str(file), split="dev", sample=None, seed=0)


def test_a_sample_is_drawn_alike() -> None:
    drawn = [open_dataset("demo", split="dev", sample=9, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0].questions == drawn[1].questions != drawn[2].questions
    assert len(drawn[0].questions) == 9
    with pytest.raises(InputError, match="no such data set"):
        open_dataset("nowhere", split="dev", sample=None, seed=0)
    with pytest.raises(InputError, match="the folder has no"):
        open_dataset(str(DOCUMENTS), split="dev", sample=None, seed=0)


@pytest.fixture
def evaluated(connection: Connection, demo_corpus: str, tmp_path: Path) -> Any:
    """Run the command on a sample of the demo's questions."""

    def run(*arguments: str) -> Any:
        return kgp(
            "evaluate", "demo", "--sample", "10", "--corpus", demo_corpus,
            "--out", str(tmp_path / "out"), *arguments, **environment(connection),
        )  # fmt: skip

    return run


@pytest.mark.slow
def test_the_demo_is_evaluated_and_goes_on_where_it_was(evaluated: Any, tmp_path: Path) -> None:
    done = evaluated("--methods", "bm25,kgp,golden")
    assert done.returncode == 0, done.stderr
    assert "10 questions by 3 methods" in done.stderr
    assert "| kgp |" in done.stdout
    out = tmp_path / "out"
    assert (out / "report.md").read_text(encoding="utf-8") == done.stdout
    kept = (out / "kgp.jsonl").read_text(encoding="utf-8")
    assert json.loads(kept.splitlines()[0])["retrieved"]
    told = json.loads(evaluated("--methods", "kgp", "--json").stdout)
    assert 0 < told["methods"]["kgp"]["recall@5"] <= 1
    assert (out / "kgp.jsonl").read_text(encoding="utf-8") == kept  # nothing is answered again
    other = evaluated("--methods", "kgp", "--budget", "5")
    assert other.returncode == 1
    assert "other questions or settings" in other.stderr


def test_what_the_command_refuses(tmp_path: Path) -> None:
    listed = prints("evaluate", "--list")
    assert "kgp-mdr" in listed
    assert "--table 2: kgp-random" in listed
    assert "--table mindmap-2: mindmap, mindmap-paper, kg-retriever" in listed
    asked = [{"input": "I feel tired.", "output": "Pale tide."}]
    run = write_lines(tmp_path / "dialogues.jsonl", *asked)
    over = (str(run), "--graph", "g")
    out, home = ("--out", str(tmp_path / "out")), tmp_path / "home"
    for arguments, code, message in (
        ((), 2, "DATASET"),
        (("demo", "--methods", "magic"), 1, "there is no method 'magic'"),
        (("demo", "--methods", "none"), 1, "--llm NAME"),
        (("demo", "--methods", "kgp-llama"), 1, "--agent-model kgp-llama=FOLDER"),
        (("demo", "--agent-model", "kgp-mdr"), 2, "is not METHOD=FOLDER"),
        (("demo", "--table", "1", "--methods", "kgp"), 2, "Choose one of"),
        (("demo", "--table", "mindmap-2"), 2, "add --graph NAME"),
        (("demo", "--score", str(run), "--score", str(run)), 2, "named 'dialogues'"),
        ((*over, "--table", "1"), 2, "leave --graph out"),
        ((*over, "--methods", "kgp"), 1, "there is no method 'kgp'"),
        ((*over, "--methods", "model-alone"), 1, "--llm NAME"),
    ):
        done = refuses("evaluate", *arguments, *out, code=code, KGP_NEO4J_HOME=str(home))
        assert message in done
    assert not home.exists()  # no server was started for that


_WING = {
    "pid": "p1",
    "title": "Wing",
    "text": "Wing was a keeper. He lit the lamp of Ardfin Point for thirty years.",
    "links": [{"target": "Ardfin Point", "indices": [30, 42]}, {"target": "Lost", "indices": []}],
    "questions": [
        {
            "qid": "q1",
            "question": "When was the light that Wing kept built?",
            "answer": {"type": "value", "answer_value": "1874", "answer_unit": "AD"},
            "question_links": ["Ardfin Point"],
            "context": [
                {"text": "He lit the lamp of Ardfin Point", "passage": "main", "indices": [0, 9]},
                {"text": "The tower was built in 1874.", "passage": "ardfin point"},
            ],
        },
        {
            "qid": "q2",
            "question": "Who was his wife?",
            "answer": {"type": "none"},
            "question_links": [],
            "context": [],
        },
    ],
}
_ARTICLE = "<p>A light on a cape.</p>\n<p>The <a href='t'>tower</a> was built in 1874.</p>"


def test_questions_nested_in_their_passages(tmp_path: Path) -> None:
    articles = {"Ardfin Point": _ARTICLE, "Another": "<p>Nobody links to this.</p>"}
    (tmp_path / "context_articles.json").write_text(json.dumps(articles), encoding="utf-8")
    (tmp_path / "dev.json").write_text(json.dumps([_WING]), encoding="utf-8")
    first, second = read_gold(tmp_path / "dev.json")
    assert first.answers == ("1874 AD", "1874")
    assert [fact.title for fact in first.facts] == ["Wing", "ardfin point"]
    assert [title for title, _ in first.contexts] == ["Wing", "ardfin point"]
    assert all(any(fact.is_in(*context) for context in first.contexts) for fact in first.facts)
    assert (second.answers, second.facts, second.kind) == ((), (), "none")
    (tmp_path / "context_articles.json").unlink()
    with pytest.raises(InputError, match=r"context_articles\.json"):
        read_gold(tmp_path / "dev.json")


def test_a_sentence_that_a_border_cuts_is_found() -> None:
    fact = Fact("A", "The tower was built in 1874 of grey stone.", part=True)
    assert fact.is_in("A", "It stands. The tower was built in 1874 of")
    assert not fact.is_in("A", "The tower was")
    assert not fact.is_in("B", "The tower was built in 1874 of grey stone.")


def test_contexts_that_lack_supporting_facts_are_told(tmp_path: Path) -> None:
    context = {"A": ["Moe built it."], "C": ["Nothing."]}
    row = hotpot("1", "Who built it?", "Moe", "AB", context)
    other = in_columns(row) | {"_id": "2", "answer": None}
    file = str(write_lines(tmp_path / "fullwiki.jsonl", row, other))
    opened = open_dataset(file, split="dev", sample=None, seed=0)
    assert opened.made_of.endswith("(2 of 4 supporting facts are not in them)")
    first, second = opened.questions
    assert (first.facts, first.contexts) == (second.facts, second.contexts)
    assert second.answers is None  # nobody has written them down


@pytest.mark.slow
def test_articles_beside_the_questions(connection: Connection, corpus: str, tmp_path: Path) -> None:
    body = "The ferry stopped.\n\nMoe owned it until 1950."
    article = {"title": "The ferry", "body": body, "url": ""}
    other = {"title": "The bridge", "body": "A bridge replaced the ferry in 1951.", "url": ""}
    (tmp_path / "corpus.json").write_text(json.dumps([article, other]), encoding="utf-8")
    evidence = [
        {"title": "The ferry", "fact": "Moe owned it until 1950.", "source": "The Paper"},
        {"title": "The bridge", "fact": "A bridge replaced the ferry in 1951.", "source": "News"},
    ]
    questions = [
        {"query": "Who owned what the bridge replaced?", "answer": "Moe",
         "question_type": "inference_query", "evidence_list": evidence},
        {"query": "Who sank?", "answer": "Insufficient information.",
         "question_type": "null_query", "evidence_list": []},
        {"query": "Who sold the pier?", "answer": "Wing", "question_type": "inference_query",
         "evidence_list": [{"title": "The pier", "fact": "Wing sold it."}]},
    ]  # fmt: skip
    (tmp_path / "Asked.json").write_text(json.dumps(questions), encoding="utf-8")
    line = ("evaluate", str(tmp_path), "--split", "Asked", "--methods", "bm25,golden", "--json")
    out = ("--corpus", corpus, "--out", str(tmp_path / "out"))
    told = json.loads(prints(*line, *out, **environment(connection)))
    assert "(1 of 3 supporting facts are of titles that it lacks)" in told["asked"]
    means = told["methods"]
    assert means["golden"]["all@30"] == means["bm25"]["all@30"] == 0.5
    assert means["golden"]["silent"] == 1


@pytest.mark.slow
def test_questions_beside_pdfs(connection: Connection, database: Database, tmp_path: Path) -> None:
    asked: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("How many pages does the document have?", "held", {"values": ["3"]}),
        ("What does Page 1 say?", "absent", {}),
        ("What does page 41 say?", "held", {"values": []}),
    )
    lines = (
        more
        | {"id": n, "text": text, "category": "structure", "pdf_url": f"https://pdfs/{name}.pdf"}
        for n, (text, name, more) in enumerate(asked, 1)
    )
    file = write_lines(tmp_path / "questions.jsonl", *lines)
    with pytest.raises(InputError, match="none of the documents"):
        open_dataset(str(file), split="dev", sample=None, seed=0)
    shutil.copy(DOCUMENTS / "annual-report-1889.pdf", tmp_path / "held.pdf")
    base = f"evaluate-test-{tmp_path.name}"
    try:
        line = ("evaluate", str(file), "--table", "structure", "--corpus", base)
        shown = prints(*line, "--out", str(tmp_path / "out"), **environment(connection))
        told = f"2 questions of {tmp_path.name} questions; corpus: one corpus for each document"
        assert told in shown
        assert "| method | Struct-EM | stated | Struct-EM less that of kgp |" in shown
        assert "| kgp | 100.0 |" in shown
        assert "| no-structure | 0.0 |" in shown
        rows = (tmp_path / "out" / "kgp.jsonl").read_text(encoding="utf-8").splitlines()
        assert json.loads(rows[0])["values"] == ["3"]
        assert json.loads(rows[1])["found"] is False
    finally:
        delete_corpus(database, f"{base}-held.pdf")


_GOLDS = read_gold(DOCUMENTS.parent / "questions.jsonl")[:2]


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


@pytest.mark.parametrize(
    ("replies", "right"),
    [(["yes", "Yes."], 1.0), (["yes", "no"], 0.0), (["no"], 0.0), (["yes or no"], 0.0)],
)
def test_both_orders_must_agree(replies: list[str], right: float, tmp_path: Path) -> None:
    questions = _GOLDS[:1]
    model = Scripted(replies)
    run = write_lines(tmp_path / "run.jsonl", {"id": questions[0].id, "answer": "Ada"})
    scored = read_run(run, questions, measure)
    judged = judge_run(model, questions, scored, tmp_path / "judged.jsonl")
    assert judged.means()["Acc"] == right
    (right_answer, *_) = questions[0].answers
    orders = [prompt.index("Ada") < prompt.index(right_answer) for prompt in model.prompts]
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
