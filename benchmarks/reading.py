"""Exact match and F1 of the offline reader on retrieved and on golden passages, and how sure it is.

    python benchmarks/reading.py FOLDER

FOLDER holds hotpotqa/, 2wiki/ and musique/, whose corpora are in the database as `bench-NAME` (made
by benchmarks/multihop.py). Retrieved are the passages of `ask`'s default agent, golden those that
the data set says hold the answer. The seconds go from the question to the answer in a running
process. Prints Markdown.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import _common as common

from kgp_neo4j.corpus.read.reader import OfflineReader, load_reader
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.train.reader_calibration import calibration_error, is_right
from kgp_neo4j.types.corpus import Passage, Question, ReasoningPath, Step

NAMES = {"hotpotqa": "HotpotQA", "2wiki": "2WikiMultihopQA", "musique": "MuSiQue"}
Found = tuple[tuple[Passage, ...], tuple[ReasoningPath, ...], float]
#: So many passages of a question are kept: the reader looks at no more.
_KEPT = 10


def answers_of(record: common.Record) -> list[str]:
    """Return the right answers of a question."""
    return [record["answer"], *record.get("answer_aliases", [])]


def golden(record: common.Record) -> tuple[Passage, ...]:
    """Return the passages that hold what a question needs."""
    if "paragraphs" in record:
        texts = [
            (p["title"], p["paragraph_text"]) for p in record["paragraphs"] if p["is_supporting"]
        ]
    else:
        titles = {fact[0] for fact in record["supporting_facts"]}
        texts = [
            (title, " ".join(" ".join(said).split()))
            for title, said in record["context"]
            if title in titles
        ]
    return tuple(
        Passage(f"gold {at}", "", title, at, 0, len(text), text)
        for at, (title, text) in enumerate(texts)
    )


def retrieved(
    database: Any, name: str, records: list[common.Record], kept: Path | None
) -> dict[str, Found]:
    """Return what is retrieved for each question, with its seconds; kept in a file where asked."""
    if kept is not None and kept.is_file():
        return {row["id"]: _read(row) for row in common.read_lines(kept)}
    retriever = PassageRetriever(database, f"bench-{name}")
    retriever.retrieve(common.asked(records[0]))  # what is loaded on first use
    made: dict[str, Found] = {}
    for question in map(common.asked, records):
        got = retriever.retrieve(Question(question.id, question.text))
        made[question.id] = (got.passages[:_KEPT], got.paths[:_KEPT], got.seconds)
    if kept is not None:
        common.write_lines(kept, (_row(key, found) for key, found in made.items()))
    return made


def _row(key: str, found: Found) -> dict[str, Any]:
    passages, paths, seconds = found
    return {
        "id": key,
        "seconds": seconds,
        "passages": [asdict(p) for p in passages],
        "paths": [asdict(p) for p in paths],
    }


def _read(row: dict[str, Any]) -> Found:
    paths = (ReasoningPath(tuple(Step(**s) for s in p["steps"])) for p in row["paths"])
    return tuple(Passage(**p) for p in row["passages"]), tuple(paths), row["seconds"]


def measure(
    reader: OfflineReader, records: list[common.Record], found: dict[str, Found], scorer: Any
) -> dict[str, Any]:
    """Return EM and F1, the seconds of reading and of all, how sure it was and what was right."""
    exact, shared, reading, whole, sure, right, stated, none = [], [], [], [], [], [], [], 0
    for record in records:
        passages, paths, before = found[common.asked(record).id]
        began = time.perf_counter()
        got = reader.read(record["question"], passages, paths)
        took = time.perf_counter() - began
        answers = answers_of(record)
        exact.append(float(any(scorer.normalise(got.text) == scorer.normalise(a) for a in answers)))
        shared.append(max(scorer.f1(got.text, a) for a in answers))
        reading.append(took)
        whole.append(took + before)
        none += got.kind == "none"
        if got.stated:
            stated.append(is_right(got.text, answers))
        if got.kind != "none":
            sure.append(got.confidence)
            right.append(is_right(got.text, answers))
    return {
        "EM": 100 * common.mean(exact),
        "F1": 100 * common.mean(shared),
        "none": none,
        "stated": stated,
        "reading": reading,
        "whole": whole,
        "sure": sure,
        "right": right,
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
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps what is retrieved")
    parser.add_argument(
        "--score", type=Path, default=Path("score.py"), metavar="FILE",
        help="a scorer with normalise and f1 (default: score.py)",
    )  # fmt: skip
    given = parser.parse_args()
    common.check(list(NAMES), given.sets, "data set")
    scorer = common.scorer(given.score)
    sure: list[float] = []
    right: list[bool] = []
    with common.explained():
        reader = load_reader(given.reader)
        database = open_database(echo=common.say)
    print(f"{common.described()}\n")
    print("| set | questions | passages | EM | F1 | no answer | stated | of these right |", end="")
    print(" reading p50 s | p95 s | question to answer p50 s | p95 s |")
    print("|---" * 12 + "|")
    with database, common.explained():
        for name, shown in ((name, NAMES[name]) for name in given.sets):
            path = given.folder / name / f"{given.split}.jsonl.gz"
            records = common.questions_of(path, given.questions, given.seed)
            kept = given.keep / f"ret-{name}-{given.split}.jsonl" if given.keep else None
            lists = retrieved(database, name, records, kept)
            gold: dict[str, Found] = {common.asked(r).id: (golden(r), (), 0.0) for r in records}
            reader.read(records[0]["question"], golden(records[0]))  # what is loaded on first use
            for kind, found in (("retrieved", lists), ("golden", gold)):
                got = measure(reader, records, found, scorer)
                cells = [f"{got['EM']:.1f}", f"{got['F1']:.1f}", str(got["none"])]
                cells += [str(len(got["stated"])), f"{100 * common.mean(got['stated']):.0f} %"]
                cells += [f"{common.quantile(got['reading'], q):.3f}" for q in (0.5, 0.95)]
                cells += (
                    [f"{common.quantile(got['whole'], q):.3f}" for q in (0.5, 0.95)]
                    if kind == "retrieved"
                    else ["", ""]
                )
                print(f"| {shown} | {len(records)} | {kind} | {' | '.join(cells)} |", flush=True)
                if kind == "retrieved":
                    sure += got["sure"]
                    right += got["right"]
    error = 100 * calibration_error(sure, right)
    print(f"\nThe confidence is off by {error:.1f} points (retrieved, these sets)")


if __name__ == "__main__":
    main()
