"""Exact match and F1 of the offline reader on retrieved and on golden passages, and how sure it is.

    python benchmarks/reading.py FOLDER

FOLDER holds hotpotqa/, 2wiki/ and musique/, whose corpora are in the database as `bench-NAME` (made
by benchmarks/multihop.py). Retrieved are the passages of `ask`'s default agent, golden those that
the data set says hold the answer. The seconds go from the question to the answer in a running
process. Prints Markdown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import _common as common

from kgp_neo4j.corpus.read.reader import OfflineReader, load_reader
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.train.reader_calibration import calibration_error, is_right
from kgp_neo4j.types.corpus import Passage, ReasoningPath

NAMES = {"hotpotqa": "HotpotQA", "2wiki": "2WikiMultihopQA", "musique": "MuSiQue"}


@dataclass(frozen=True, slots=True)
class Case:
    """A question, its right answers, what is read, and the seconds of finding that."""

    question: str
    answers: Sequence[str]
    passages: tuple[Passage, ...]
    paths: tuple[ReasoningPath, ...] = ()
    seconds: float = 0.0


def answers_of(record: common.Record) -> list[str]:
    """Return the right answers of a question."""
    return [record["answer"], *record.get("answer_aliases", [])]


def given_passages(texts: Sequence[tuple[str, str]]) -> tuple[Passage, ...]:
    """Return passages of titles and texts."""
    return tuple(
        Passage(f"given {at}", "", title, at, 0, len(text), text)
        for at, (title, text) in enumerate(texts)
    )


def golden(record: common.Record) -> tuple[Passage, ...]:
    """Return the passages that hold what a question needs."""
    if "paragraphs" in record:
        rows = [p for p in record["paragraphs"] if p["is_supporting"]]
        return given_passages([(p["title"], p["paragraph_text"]) for p in rows])
    titles = {fact[0] for fact in record["supporting_facts"]}
    texts = [(title, " ".join(" ".join(said).split())) for title, said in record["context"]]
    return given_passages([(title, text) for title, text in texts if title in titles])


def retrieved(database: Any, name: str, records: list[common.Record]) -> list[Case]:
    """Return the questions over what is retrieved for each."""
    retriever = PassageRetriever(database, f"bench-{name}")
    retriever.retrieve(common.asked(records[0]))  # what is loaded on first use
    cases = []
    for record in records:
        got = retriever.retrieve(common.asked(record))
        answers = answers_of(record)
        cases.append(Case(record["question"], answers, got.passages, got.paths, got.seconds))
    return cases


def measure(reader: OfflineReader, cases: Sequence[Case], scorer: Any) -> dict[str, Any]:
    """Return EM and F1, the seconds of reading and of all, how sure it was and what was right."""
    exact, shared, reading, whole, judged, stated, none = [], [], [], [], [], [], 0
    for case in cases:
        began = time.perf_counter()
        got = reader.read(case.question, case.passages, case.paths)
        took = time.perf_counter() - began
        exact.append(any(scorer.normalise(got.text) == scorer.normalise(a) for a in case.answers))
        shared.append(max(scorer.f1(got.text, a) for a in case.answers))
        reading.append(took)
        whole.append(took + case.seconds)
        none += got.kind == "none"
        if got.stated:
            stated.append(is_right(got.text, case.answers))
        if got.kind != "none":
            judged.append((got.confidence, is_right(got.text, case.answers)))
    return {
        "EM": 100 * common.mean(exact),
        "F1": 100 * common.mean(shared),
        "none": none,
        "stated": stated,
        "reading": reading,
        "whole": whole,
        "judged": judged,
    }


def main() -> None:
    """Measure and print."""
    parser = common.parser(__doc__ or "", None)
    parser.add_argument("folder", type=Path, help="holds hotpotqa/, 2wiki/ and musique/")
    parser.add_argument("--split", default="dev", help="the questions' file (default: dev)")
    parser.add_argument(
        "--sets", type=common.words, default=list(NAMES), metavar="A,B", help="default: all three"
    )
    parser.add_argument("--reader", metavar="FOLDER", help="a reader of your training")
    parser.add_argument("--score", type=Path, default="score.py", help="has normalise and f1")
    given = parser.parse_args()
    scorer = common.scorer(given.score)
    with common.explained():
        reader = load_reader(given.reader)
        database = open_database(echo=common.say)
    print(f"{common.described()}\n")
    print("| set | questions | passages | EM | F1 | no answer | stated | of these right |", end="")
    print(" reading p50 s | p95 s | question to answer p50 s | p95 s |")
    print("|---" * 12 + "|")
    judged: list[tuple[float, bool]] = []
    with database, common.explained():
        for name in given.sets:
            path = given.folder / name / f"{given.split}.jsonl.gz"
            records = common.questions_of(path, given.questions, given.seed)
            found = retrieved(database, name, records)
            gold = [Case(r["question"], answers_of(r), golden(r)) for r in records]
            reader.read(gold[0].question, gold[0].passages)  # what is loaded on first use
            for kind, cases in (("retrieved", found), ("golden", gold)):
                got = measure(reader, cases, scorer)
                cells = [f"{got['EM']:.1f}", f"{got['F1']:.1f}", str(got["none"])]
                cells += [str(len(got["stated"])), f"{100 * common.mean(got['stated']):.0f} %"]
                cells += [f"{common.quantile(got['reading'], q):.3f}" for q in (0.5, 0.95)]
                cells += ["", ""]
                if kind == "retrieved":
                    cells[-2:] = [f"{common.quantile(got['whole'], q):.3f}" for q in (0.5, 0.95)]
                    judged += got["judged"]
                print(f"| {NAMES[name]} | {len(records)} | {kind} | {' | '.join(cells)} |")
    error = 100 * calibration_error(*zip(*judged, strict=True))
    print(f"\nThe confidence is off by {error:.1f} points (retrieved, these sets)")


if __name__ == "__main__":
    main()
