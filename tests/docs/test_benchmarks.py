"""The benchmarks run: each says how it is used; agents.py goes from data to tables."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from commands import environment

from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.settings import AgentSettings

_FOLDER = Path(__file__).parents[2] / "benchmarks"
_SCRIPTS = sorted(path.stem for path in _FOLDER.glob("[!_]*.py"))
_TOWNS = ("Ardfin", "Kettlehaven", "Morvich", "Skelby", "Tarnock", "Ulsta", "Wexley", "Yarrow")
#: A scorer of the form that the benchmarks take: share and completeness of gold titles.
_SCORER = """
import json

def score(gold_file, run_file):
    run = {row["id"]: row for row in map(json.loads, open(run_file, encoding="utf-8"))}
    table = {}
    for question in map(json.loads, open(gold_file, encoding="utf-8")):
        gold = {title for title, _ in question["supporting_facts"]}
        found = [p["title"] for p in run[question["_id"]]["retrieved"]]
        made = table[question["_id"]] = {}
        for k in (5, 10, 30):
            hits = len(gold & set(found[:k]))
            made |= {f"recall@{k}": hits / len(gold), f"precision@{k}": hits / k,
                     f"all@{k}": float(hits == len(gold))}
    return table, [], 0
"""


def _run(script: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("NEO4J_")}
    return subprocess.run(
        [sys.executable, str(_FOLDER / f"{script}.py"), *arguments],
        capture_output=True,
        text=True,
        env=inherited | variables,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


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
    if script in ("agents", "growth"):
        assert f"  python benchmarks/{script}.py" in said


@pytest.fixture
def common(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What the scripts share, as they import it themselves."""
    monkeypatch.syspath_prepend(_FOLDER)
    import _common

    return _common


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of 30 passages: a bridge in each of eight towns, its builder, and hills."""
    made = tmp_path / f"tiny-{tmp_path.parent.name}"
    made.mkdir()
    passages, questions = [], []
    for place, town in enumerate(_TOWNS):
        bridge, builder = f"{town} Bridge", f"Isobel {town[::-1].title()}"
        passages.append((bridge, f"{bridge} crosses the water. {builder} designed {bridge}."))
        passages.append((builder, f"{builder} grew up over a bakery, the child of a baker."))
        facts = [[bridge, 0], [builder, 0]]
        text = f"Over what did the designer of {bridge} grow up?"
        context = [[title, [said]] for title, said in passages[-2:]]
        questions.append({"_id": str(place), "question": text, "supporting_facts": facts,
                          "context": context, "answer": "a bakery"})  # fmt: skip
    passages += [(f"Hill {i}", f"Hill {i} is {100 + i} metres high.") for i in range(14)]
    for name, rows in (
        ("corpus", [{"title": title, "text": text} for title, text in passages]),
        ("dev", questions),
    ):
        with gzip.open(made / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return made


@pytest.mark.slow
def test_agents_are_compared_on_one_graph(
    folder: Path,
    common: ModuleType,
    database: Database,
    connection: Connection,
    tiny_encoder: str,
    tmp_path: Path,
) -> None:
    score = tmp_path / "score.py"
    score.write_text(_SCORER, encoding="utf-8")
    corpus = f"bench-{folder.name}"
    options = ("--questions", "4", "--seed", "3", "--score", str(score), "--out", str(tmp_path))
    try:
        done = _run(
            *("agents", str(folder), "--encoder", tiny_encoder, "--agents", "random,tfidf,t5"),
            *options,
            **environment(connection),
        )
        assert done.returncode == 0, done.stderr
        (found,) = database.read("inspect/corpus", corpus=corpus)
        assert (found["passages"], found["unconnected"]) == (30, 0)
        assert set(found["connected"]) == {"keywords", "entities", "similarity"}
        _check_resumed(common, database, corpus, folder, tmp_path / "runs")
    finally:
        if {"name": corpus} in database.read("inspect/names"):
            delete_corpus(database, corpus)
    rows = [line.split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
    assert rows[0][0] == "| agent"
    assert [row[0] for row in rows] == ["| agent", "| random", "| tfidf"] * 2
    assert "t5 is left out: needs --t5-model" in done.stdout
    kept = json.loads((tmp_path / "results" / f"agents-{folder.name}.json").read_text())
    assert kept["settings"]["questions"] == 4
    assert kept["machine"]["cores"] == os.cpu_count()
    for name, figures in kept["agents"].items():
        run = tmp_path / "runs" / f"agents-{folder.name}-4-3-{name}.jsonl"
        lines = [json.loads(line) for line in run.read_text(encoding="utf-8").splitlines()]
        # 30 passages and a budget of 30: all is found, unless the graph leads nowhere.
        assert len(lines) == 4
        assert all(len({p["id"] for p in line["retrieved"]}) <= 30 for line in lines)
        assert figures["all@30"] == 100.0
        # Every gold passage has one last step, and what that step is counts as possible too.
        last, possible = figures["edges"]["last"], figures["edges"]["possible"]
        assert sum(last.values()) == pytest.approx(100.0)
        assert all(possible.get(edge, 0.0) >= share for edge, share in last.items())
    plot = (tmp_path / "plots" / f"agents-{folder.name}.svg").read_text(encoding="utf-8")
    assert "<svg" in plot


def _check_resumed(
    common: ModuleType, database: Database, corpus: str, folder: Path, runs: Path
) -> None:
    """A run that was cut short goes on: what is there stays, seconds included."""
    run = runs / f"agents-{folder.name}-4-3-random.jsonl"
    whole = run.read_text(encoding="utf-8")
    run.write_text(whole[: whole.rindex('"seconds"')], encoding="utf-8")
    records = common.read_lines(run.with_name(f"agents-{folder.name}-4-3-gold.jsonl"))
    retriever = PassageRetriever(
        database, corpus, agent="random", agent_settings=AgentSettings(seed=3)
    )
    rows = common.run(retriever, records, run, resume=True)
    before = [json.loads(line) for line in whole.splitlines()]
    (asked,) = (record for record in records if record["_id"] == rows[3]["id"])
    assert rows[:3] == before[:3]
    # Not the same order: other tests' texts in the shared index move what the search finds.
    assert set(rows[3]) == set(before[3])
    assert {p["title"] for p in rows[3]["retrieved"]} >= {t for t, _ in asked["supporting_facts"]}
    assert common.read_lines(run) == rows


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
