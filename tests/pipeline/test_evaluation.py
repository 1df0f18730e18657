"""Rows, figures and judgement of an evaluation, over a made data set in HotpotQA's form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Scripted

from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.environment.configuration import language_settings
from kgp_neo4j.evaluate.datasets import Dataset, open_dataset
from kgp_neo4j.evaluate.experiment import answering, plan
from kgp_neo4j.evaluate.figures import BRANCHING, Point, draw_figure, make_figure
from kgp_neo4j.evaluate.judge import is_same_answer, judge_run
from kgp_neo4j.evaluate.report import figure_table, rank_table
from kgp_neo4j.evaluate.scores import measure, read_run
from kgp_neo4j.evaluate.searches import BiEncoderSearch, TfidfSearch
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.llm.call import writer
from kgp_neo4j.types.corpus import Question
from kgp_neo4j.types.errors import ConfigurationError, InputError
from kgp_neo4j.types.language import Reply
from kgp_neo4j.types.settings import traversal_settings

_TOWNS = ("Ardfin", "Kettlehaven", "Morvich", "Skelby", "Tarnock", "Ulsta")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Six questions, each over a bridge, its builder and a hill."""
    rows = []
    for place, town in enumerate(_TOWNS):
        bridge, builder = f"{town} Bridge", f"Isobel {town[::-1].title()}"
        rows.append(
            {
                "_id": str(place),
                "question": f"Over what did the designer of {bridge} grow up?",
                "answer": "a bakery",
                "supporting_facts": [[bridge, 0], [builder, 0]],
                "context": [
                    [bridge, [f"{bridge} crosses the water. {builder} designed it."]],
                    [builder, [f"{builder} grew up over a bakery, the child of a baker."]],
                    [f"Hill {place}", [f"Hill {place} is {100 + place} metres high."]],
                ],
            }
        )
    made = tmp_path / "dev.json"
    made.write_text(json.dumps(rows), encoding="utf-8")
    return made


def _opened(file: Path, more: int = 0) -> Dataset:
    return open_dataset(str(file), split="dev", sample=2, seed=1, more=more)


@pytest.fixture
def grown(file: Path, database: Database) -> Iterator[list[Dataset]]:
    """Two questions over their own contexts, and over those of two more."""
    made = [_opened(file), _opened(file, 2)]
    yield made
    there = {row["name"] for row in database.read("inspect/names")}
    for name in {d.corpus for d in made} | {f"{made[0].corpus}-density"}:
        if name in there:
            delete_corpus(database, name)


# --- Figures --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_figures_grow_with_density_and_size(
    grown: list[Dataset], database: Database, tmp_path: Path
) -> None:
    assert grown[0].questions == grown[1].questions
    assert grown[0].corpus != grown[1].corpus
    walk = traversal_settings("paper", budget=4)
    told: list[str] = []
    out = tmp_path / "figure-5"
    made = make_figure(
        "5", database, grown[:1], out, traversal=walk, densities=(1, 3), echo=told.append
    )
    assert [(p.line, p.x) for p in made] == [
        (graph, number) for graph in ("tfidf", "entity", "knn-st", "knn-mdr") for number in (1, 3)
    ]
    for few, many in zip(made[::2], made[1::2], strict=True):
        assert few.measures["reached"] <= many.measures["reached"]
        assert few.measures["SF-EM"] <= many.measures["SF-EM"] == 1
        assert 0 < many.measures["precision"] <= few.measures["precision"] <= 1
    # A second call measures nothing anew; other settings are refused.
    again = make_figure("5", database, grown[:1], out, traversal=walk, densities=(1, 3))
    assert (again, len(told)) == (made, 8)
    with pytest.raises(InputError, match="other questions or settings"):
        make_figure("5", database, grown[:1], out, traversal=walk, densities=(1,))
    grows = make_figure(
        "7", database, grown, tmp_path / "figure-7", methods=("bm25", "kgp-tfidf"), traversal=walk
    )
    by_branching = [p.x for p in grows if p.axis == "branching factor"]
    assert by_branching == list(BRANCHING)
    sizes = [(p.line, p.x) for p in grows if p.axis == "passages"]
    assert sizes == [("bm25", 6), ("kgp-tfidf", 6), ("bm25", 12), ("kgp-tfidf", 12)]
    assert all(0 <= p.measures["all@30"] <= 1 and p.measures["seconds"] > 0 for p in grows)
    draw_figure(grows, "Figure 7", tmp_path / "figure.svg")
    picture = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert "branching factor" in picture
    assert "kgp-tfidf" in picture


def test_a_figure_is_of_one_corpus(file: Path, database: Database, tmp_path: Path) -> None:
    each = open_dataset(str(file), split="dev", sample=2, seed=1, setting="question")
    assert len(set(map(each.corpus_of, each.parts))) == 2
    with pytest.raises(ConfigurationError, match="every question has its own"):
        make_figure("5", database, [each], tmp_path, traversal=traversal_settings("paper"))


def test_the_table_of_a_figure() -> None:
    points = [
        Point("bm25", "passages", 1200, {"F1": 0.5, "seconds": 0.1234}),
        Point("bm25", "branching factor", 3, {"reached": 12.25}),
    ]
    first, second = figure_table(points, "Figure 7")
    assert first == (
        "Figure 7, by passages",
        ("line", "passages", "F1", "seconds"),
        [["bm25", "1,200", "50.0", "0.123"]],
    )
    assert second[2] == [["bm25", "3", "12.2"]]


# --- Rows -----------------------------------------------------------------------------------------


def test_searches_of_all_passages(database: Database, demo_corpus: str, tiny_encoder: str) -> None:
    question = Question("1", "Who designed the Hesk Bridge?")
    found = TfidfSearch(database, demo_corpus, 3).retrieve(question)
    assert len(found.passages) == 3
    assert found.passages[0].title == "Hesk Bridge"
    scores = [passage.score for passage in found.passages]
    assert scores == sorted(scores, reverse=True)
    assert [path.last for path in found.paths] == [passage.id for passage in found.passages]
    assert not TfidfSearch(database, demo_corpus, 3).retrieve(Question("2", "zebra")).passages
    dense = BiEncoderSearch(database, demo_corpus, 5, f"{tiny_encoder},{tiny_encoder}")
    title = found.passages[0].title
    same = dense.retrieve(Question("3", f"{title}: {found.passages[0].text}"))
    assert found.passages[0].id in [passage.id for passage in same.passages]
    with pytest.raises(ConfigurationError, match="names no pair"):
        BiEncoderSearch(database, demo_corpus, 5, "a,b,c")


def test_golden_counts_its_call_of_the_model(database: Database, demo_corpus: str) -> None:
    demo = replace(open_dataset("demo", split="dev", sample=1, seed=0), corpus=demo_corpus)
    walk = traversal_settings("beam", budget=4)
    answered = answering(database, demo, "golden", walk, Scripted(["Answer: Ada [1]"]), None)
    row = answered(demo.questions[0].question)
    assert (row["answer"], row["calls"], row["by"]) == ("Ada", 1, "model")
    answered = answering(database, demo, "golden", walk, Scripted([Reply("", "refused")]), None)
    row = answered(demo.questions[0].question)
    # The offline reader answers instead, which the report tells.
    assert (row["calls"], row["by"]) == (1, "reader")
    assert measure(demo.questions[0], row)["by model"] == 0


def test_the_plan_counts_calls_and_cost() -> None:
    offline = plan(["bm25", "golden"], 100, 30)
    assert offline == "100 questions by 2 methods: about 1 min"
    free = language_settings(model="m")
    assert "200 calls of a language model or fewer" in plan(["bm25", "golden"], 100, 30, free)
    assert "at a cost that is not known" in plan(["bm25"], 100, 30, free)
    priced = language_settings(model="m", price_prompt=1.0, price_reply=2.0)
    # 100 prompts of 30 passages of 130 tokens, and 100 replies of 100 tokens.
    assert "about 0.41 in the currency" in plan(["bm25"], 100, 30, priced)
    # One answer by bm25, thirteen calls by the traversal, and two verdicts on each.
    assert "1,800 calls" in plan(["bm25", "kgp-chat"], 100, 30, priced, priced)


def test_ranks_are_of_one_setting() -> None:
    def made(dataset: str, budget: int, **f1: float) -> dict[str, Any]:
        settings = {"setting": "one", "budget": budget, "answers": "reader", "algorithm": "beam"}
        methods = {name: {"F1": value} for name, value in f1.items()}
        return {"dataset": dataset, "settings": settings, "methods": methods}

    title, header, rows = rank_table(
        [made("A", 30, bm25=0.5, kgp=0.7, none=0.1), made("B", 30, bm25=0.6, kgp=0.6)]
    )
    assert (title, list(header)) == ("F1 and mean rank", ["method", "A", "B", "rank"])
    assert rows == [["bm25", "50.0", "60.0", "1.75"], ["kgp", "70.0", "60.0", "1.25"]]
    with pytest.raises(InputError, match="differ in budget: 10, 30"):
        rank_table([made("A", 30, bm25=0.5), made("B", 10, bm25=0.5)])


# --- Judgement ------------------------------------------------------------------------------------


def test_both_orders_must_agree() -> None:
    def first_only(prompt: str) -> str:
        return "yes" if prompt.index("Moe") < prompt.index("Ada") else "no"

    for replies, right in (
        (["yes", "Yes."], True),
        (["yes", "no"], False),
        (["no"], False),
        (["yes or no"], False),
        (["perhaps"], False),
    ):
        assert is_same_answer(writer(Scripted(replies)), "Who?", "Ada", ["Moe"]) is right
    assert not is_same_answer(writer(Scripted(first_only)), "Who?", "Ada", ["Moe"])


def test_a_judged_run_goes_on_where_it_was(file: Path, tmp_path: Path) -> None:
    questions = list(_opened(file).questions)
    run, out = tmp_path / "run.jsonl", tmp_path / "judged" / "run.jsonl"
    row = {"id": questions[0].id, "answer": "over a bakery", "retrieved": []}
    run.write_text(json.dumps(row) + "\n", encoding="utf-8")
    model = Scripted(["yes", "yes"])
    judged = judge_run(writer(model), questions, read_run(run, questions), run, out)
    # The question that the run lacks is wrong, and nobody is asked about it.
    assert [judged.measures[q.id]["Acc"] for q in questions] == [1.0, 0.0]
    assert len(model.prompts) == 2
    assert judged.means()["Acc"] == 0.5
    again = judge_run(writer(Scripted([])), questions, read_run(run, questions), run, out)
    assert again == judged
