"""Exact match and F1 of the offline reader on retrieved and on golden passages, and how sure it is.

    python benchmarks/reading.py FOLDER

FOLDER holds hotpotqa/, 2wiki/ and musique/, whose corpora are in the database as `bench-NAME` (made
by benchmarks/multihop.py), and iirc/, whose questions are read over their paragraph and what it
links to, since no reader of ours was trained on them. Retrieved are the passages of `ask`'s default
agent, golden those that the data set says hold the answer. The seconds go from the question to the
answer in a running process. Prints Markdown.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import _common as common

from kgp_neo4j.corpus.read.reader import OfflineReader, load_reader
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.train.reader_calibration import calibration_error, is_right
from kgp_neo4j.types.corpus import Passage, ReasoningPath

NAMES = {"hotpotqa": "HotpotQA", "2wiki": "2WikiMultihopQA", "musique": "MuSiQue"}
_UNSEEN = {"iirc": "IIRC, never trained on"}
Found = tuple[tuple[Passage, ...], tuple[ReasoningPath, ...], float]


def answers_of(record: common.Record) -> list[str]:
    """Return the right answers of a question."""
    if "answer_type" in record:  # IIRC
        return [span for answer in record["answer"] for span in answer.get("spans", ())]
    return [record["answer"], *record.get("answer_aliases", [])]


def golden(record: common.Record) -> tuple[Passage, ...]:
    """Return the passages that hold what a question needs."""
    if "paragraphs" in record:
        texts = [
            (p["title"], p["paragraph_text"]) for p in record["paragraphs"] if p["is_supporting"]
        ]
    elif "answer_type" in record:
        linked = [(c["title"], c["sent"]) for c in record["context"] if isinstance(c, dict)]
        texts = [("", record["paragraph"].strip()), *linked]
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


def retrieved(database: Any, name: str, records: list[common.Record]) -> dict[str, Found]:
    """Return what is retrieved for each question, with its seconds."""
    retriever = PassageRetriever(database, f"bench-{name}")
    retriever.retrieve(common.asked(records[0]))  # what is loaded on first use
    replies = {q.id: retriever.retrieve(q) for q in map(common.asked, records)}
    return {key: (got.passages, got.paths, got.seconds) for key, got in replies.items()}


def measure(
    reader: OfflineReader, records: list[common.Record], found: dict[str, Found], scorer: Any
) -> dict[str, Any]:
    """Return EM and F1, the seconds of reading and of all, how sure it was and what was right."""
    exact, shared, reading, whole, judged, stated, none = [], [], [], [], [], [], 0
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
            judged.append((got.confidence, is_right(got.text, answers)))
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
        "--sets", type=common.words, default=[*NAMES, *_UNSEEN], metavar="A,B", help="default: all"
    )
    parser.add_argument("--reader", metavar="FOLDER", help="a reader of your training")
    parser.add_argument(
        "--score", type=Path, default=Path("score.py"), metavar="FILE",
        help="a scorer with normalise and f1 (default: score.py)",
    )  # fmt: skip
    given = parser.parse_args()
    known = NAMES | _UNSEEN
    common.check(list(known), given.sets, "data set")
    scorer = common.scorer(given.score)
    with common.explained():
        reader = load_reader(given.reader)
        database = open_database(echo=common.say)
    print(f"{common.described()}\n")
    print("| set | questions | passages | EM | F1 | no answer | stated | of these right |", end="")
    print(" reading p50 s | p95 s | question to answer p50 s | p95 s |")
    print("|---" * 12 + "|")
    judged: dict[str, list[tuple[float, bool]]] = {"these sets, retrieved": [], "IIRC": []}
    with database, common.explained():
        for name in given.sets:
            path = given.folder / name / f"{given.split}.jsonl.gz"
            records = common.questions_of(path, given.questions, given.seed)
            if name in _UNSEEN:
                records = [
                    r for r in records if "span" in r["answer_type"] and len(answers_of(r)) == 1
                ]
            found: dict[str, dict[str, Found]] = {}
            if name in NAMES:
                found["retrieved"] = retrieved(database, name, records)
            found["golden"] = {common.asked(r).id: (golden(r), (), 0.0) for r in records}
            reader.read(records[0]["question"], golden(records[0]))  # what is loaded on first use
            for kind, lists in found.items():
                got = measure(reader, records, lists, scorer)
                cells = [f"{got['EM']:.1f}", f"{got['F1']:.1f}", str(got["none"])]
                cells += [str(len(got["stated"])), f"{100 * common.mean(got['stated']):.0f} %"]
                cells += [f"{common.quantile(got['reading'], q):.3f}" for q in (0.5, 0.95)]
                cells += ["", ""]
                if kind == "retrieved":
                    cells[-2:] = [f"{common.quantile(got['whole'], q):.3f}" for q in (0.5, 0.95)]
                print(
                    f"| {known[name]} | {len(records)} | {kind} | {' | '.join(cells)} |", flush=True
                )
                if kind == "retrieved" or name in _UNSEEN:
                    judged["IIRC" if name in _UNSEEN else "these sets, retrieved"] += got["judged"]
    for where, answers in judged.items():
        if answers:
            error = 100 * calibration_error(*zip(*answers, strict=True))
            print(f"\nThe confidence is off by {error:.1f} points ({where})")


if __name__ == "__main__":
    main()
