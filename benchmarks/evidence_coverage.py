"""How many of the entities that an answer lists does the evidence graph of its question reach?

    python benchmarks/evidence_coverage.py ../shared/data/medical
    python benchmarks/evidence_coverage.py ../shared/data/kgqa --sample 200
    python benchmarks/evidence_coverage.py QUESTIONS.jsonl --triples FILE.tsv --graph NAME [--asked]

Questions are JSON lines with `question`, `question_entities` and `answer_entities`; of a folder,
genmedgpt5k_entities_dev.jsonl.gz over emckg/train.txt. Listed entities count where the graph holds
one of that name, in any word form. MindMap, its two ablations and the paper's KG retriever get the
same linked entities and the same size of evidence, in triples. "Lead" is by how much MindMap is
ahead, with its 95 % interval over the questions; paths can only be where two entities are linked,
so those questions have a column of their own. Questions that ask for relation paths (the second
form, or --asked) are measured from the question alone: coverage, how often the first answer is
right (hits@1), linking, and the time from question to evidence. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _common as common

from kgp_neo4j.evaluate.graph_experiment import Holdings
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.mindmap.explore.exploration import shortest_paths
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.mindmap.load.load_graph import load_graph
from kgp_neo4j.mindmap.stored_graph import open_graph
from kgp_neo4j.types.mindmap import LinkedEntity
from kgp_neo4j.types.settings import MiningSettings

METHODS = ("MindMap", "without paths", "without neighbours", "KG retriever")


def reached(
    database: Database,
    graph: str,
    question: str,
    linked: Sequence[LinkedEntity],
    method: str,
    size: int,
) -> tuple[set[str], int, float]:
    """Return the names in a method's evidence, its pairs of entities, and the seconds."""
    began = time.perf_counter()
    if method == "KG retriever":
        found: Any = shortest_paths(open_graph(database, graph), linked, size)
        triples = [t for path in found for t in path.triples]
    else:
        settings = MiningSettings(
            size=size,
            paths=method != "without paths",
            neighbours=method != "without neighbours",
        )
        triples = list(mine(open_graph(database, graph), question, settings, linked=linked).triples)
    pairs = {frozenset((t.head_id, t.tail_id)) for t in triples}
    names = {key_of(name) for t in triples for name in (t.head, t.tail)}
    return names, len(pairs), time.perf_counter() - began


def main() -> None:
    """Load the graph where it is not there, link, mine, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path, help="a file of JSON lines, or the data's folder")
    parser.add_argument("--triples", type=Path, help="head, relation and tail")
    parser.add_argument("--graph", default="bench-emckg")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 30, 50])
    parser.add_argument("--sample", type=int, default=0, help="so many questions, drawn by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--asked", action="store_true", help="the questions ask for paths")
    given = parser.parse_args()
    if given.questions.is_dir() and (given.questions / "pathquestion.tsv.gz").is_file():
        path_questions(given.questions, given.sample, given.seed)
        return
    questions, triples = given.questions, given.triples
    if questions.is_dir():
        triples = triples or questions / "emckg" / "train.txt"
        questions = questions / "genmedgpt5k_entities_dev.jsonl.gz"
    if triples is None:
        parser.error("--triples is needed with a file of questions")
    opened: Callable[..., Any] = gzip.open if questions.suffix == ".gz" else open
    with opened(questions, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    if given.sample:
        rows = random.Random(given.seed).sample(rows, min(given.sample, len(rows)))
    with open_database(echo=print) as database:
        if given.graph not in {each.name for each in graphs(database)}:
            load_graph(database, [triples], given.graph)
        if given.asked:
            asked_report(database, given.graph, questions.name, rows)
        else:
            report(database, given.graph, Holdings.of(database, given.graph), rows, given.sizes)


def path_questions(folder: Path, sample: int, seed: int) -> None:
    """Measure PathQuestion and PathQuestion-Large, dev questions of two and three hops."""
    with open_database(echo=print) as database, tempfile.TemporaryDirectory() as scratch:
        for graph in ("pathquestion", "pathquestion_large"):
            if graph not in {each.name for each in graphs(database)}:
                file = Path(scratch, f"{graph}.tsv")
                file.write_bytes(gzip.decompress((folder / f"{graph}.tsv.gz").read_bytes()))
                load_graph(database, [file], graph)
            for hops in (2, 3):
                with gzip.open(folder / f"{graph}_{hops}hop_dev.jsonl.gz", "rt") as file:
                    rows = [json.loads(line) for line in file]
                if sample:
                    rows = random.Random(seed).sample(rows, min(sample, len(rows)))
                asked_report(database, graph, f"{graph}, {hops} hops", rows)


def asked_report(
    database: Database, graph: str, title: str, rows: Sequence[dict[str, Any]]
) -> None:
    """Mine every question, and print a line of what its evidence and its first answer hold."""
    mine(open_graph(database, graph), "warm up")
    right = found = listed = hits = 0
    covered: dict[int, list[float]] = {20: [], 50: []}
    seconds = []
    for row in rows:
        answers = {key_of(name) for name in row["answer_entities"]}
        for size, shares in covered.items():
            mined = mine(open_graph(database, graph), row["question"], MiningSettings(size=size))
            names = {key_of(name) for t in mined.triples for name in (t.head, t.tail)}
            shares.append(len(answers & names) / len(answers))
            if size == 20:
                seconds.append(mined.seconds)
        best = mined.asked[0] if mined.asked else None
        if best is not None and best.routes:
            hits += key_of(best.end_of(best.routes[0])[1]) in answers
        linked = {key_of(entity.name) for entity in mined.entities if entity.id}
        gold = {key_of(name) for name in row["question_entities"]}
        right, found, listed = right + len(linked & gold), found + len(linked), listed + len(gold)
    print(
        f"| {title} | {len(rows)} | {statistics.mean(covered[20]):.3f} "
        f"| {statistics.mean(covered[50]):.3f} | {hits / len(rows):.3f} "
        f"| {right / max(1, found):.3f} | {right / max(1, listed):.3f} "
        f"| {statistics.median(seconds) * 1000:.0f} |",
        flush=True,
    )


def report(
    database: Database,
    graph: str,
    holdings: Holdings,
    rows: Sequence[dict[str, Any]],
    sizes: Sequence[int],
) -> None:
    """Link and mine every question, and print what came of it."""
    link(open_graph(database, graph), "warm up")
    counts = {"exactly": [0, 0, 0], "held": [0, 0, 0]}
    linked, seconds = [], []
    for row in rows:
        began = time.perf_counter()
        linked.append(link(open_graph(database, graph), row["question"]))
        seconds.append(time.perf_counter() - began)
        names = {key_of(entity.name) for entity in linked[-1] if entity.id}
        for kind, count in counts.items():
            gold = getattr(holdings, kind)(row["question_entities"])
            for at, some in enumerate((names & gold, names - gold, gold - names)):
                count[at] += len(some)
    print(f"\n{common.described()}; {len(rows)} questions\n")
    print("| linking | precision | recall | F1 |\n|---|---|---|---|")
    for kind, (right, wrong, missed) in counts.items():
        shares = right / max(1, right + wrong), right / max(1, right + missed)
        f1 = 2 * right / max(1, 2 * right + wrong + missed)
        print(f"| {kind} | {shares[0]:.3f} | {shares[1]:.3f} | {f1:.3f} |")
    print(f"\nlinking: p50 {statistics.median(seconds) * 1000:.0f} ms")
    print("\n| size | method | coverage | lead | two linked | lead | pooled | triples | p50 ms |")
    print("|---|---|---|---|---|---|---|---|---|")
    gold = [holdings.held(row["answer_entities"]) for row in rows]
    asked = [at for at, listed in enumerate(gold) if listed]
    two = [sum(1 for entity in linked[at] if entity.id) > 1 for at in asked]
    for size in sizes:
        best: list[float] = []
        for method in METHODS:
            shares, hits, pairs, times = [], 0, [], []
            for at in asked:
                names, count, took = reached(
                    database, graph, rows[at]["question"], linked[at], method, size
                )
                shares.append(len(names & gold[at]) / len(gold[at]))
                hits += len(names & gold[at])
                pairs.append(count)
                times.append(took)
            best = best or shares
            some = [share for share, several in zip(shares, two, strict=True) if several]
            over = [share for share, several in zip(best, two, strict=True) if several]
            print(
                f"| {size} | {method} | {statistics.mean(shares):.3f} | {lead(best, shares)} "
                f"| {statistics.mean(some):.3f} | {lead(over, some)} "
                f"| {hits / sum(len(gold[at]) for at in asked):.3f} "
                f"| {statistics.mean(pairs):.1f} | {statistics.median(times) * 1000:.0f} |",
                flush=True,
            )
    print(
        f"\n{len(asked)} questions list an answer entity of the graph, {sum(two)} link two or more"
    )


def lead(best: Sequence[float], others: Sequence[float]) -> str:
    """Return by how much the first leads, with a 95 % interval of 1,000 paired draws."""
    if best is others or best == others:
        return ""
    chance = random.Random(0)
    gains = [a - b for a, b in zip(best, others, strict=True)]
    means = sorted(statistics.fmean(chance.choices(gains, k=len(gains))) for _ in range(1000))
    return f"+{statistics.fmean(gains):.3f} ({means[25]:.3f} to {means[974]:.3f})"


if __name__ == "__main__":
    main()
