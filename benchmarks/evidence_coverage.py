"""How many of the entities that an answer lists does the evidence graph of its question reach?

    python benchmarks/evidence_coverage.py ../shared/data/medical
    python benchmarks/evidence_coverage.py QUESTIONS.jsonl --triples FILE.tsv --graph NAME

Questions are JSON lines with `question`, `question_entities` and `answer_entities`; of a folder,
genmedgpt5k_entities_dev.jsonl.gz over emckg/train.txt. Listed entities count where the graph holds
one of that name, in any word form. MindMap, its two ablations and the paper's KG retriever get the
same linked entities and the same size of evidence, in triples. "Lead" is by how much MindMap is
ahead, with its 95 % interval over the questions; paths can only be where two entities are linked,
so those questions have a column of their own. Prints Markdown tables.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _common as common

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.install import open_database
from kgp_neo4j.mindmap.explore.kg_retriever import shortest_paths
from kgp_neo4j.mindmap.explore.mining import mine_from
from kgp_neo4j.mindmap.link.linking import link
from kgp_neo4j.mindmap.link.name_forms import content_stems, forms, name_words
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.mindmap.load.load_graph import load_graph
from kgp_neo4j.types.mindmap import LinkedEntity
from kgp_neo4j.types.settings import MiningSettings

METHODS = ("MindMap", "without paths", "without neighbours", "KG retriever")


class Holdings:
    """The names that a graph holds, by key and in any word form."""

    def __init__(self, database: Database, graph: str) -> None:
        self._ids: dict[tuple[str, ...], str] = {}
        self._keys: dict[str, str] = {}
        for row in database.read("explore/all_names", graph=graph):
            self._keys[key_of(row["name"])] = row["id"]
            for way in forms(row["name"])[:1]:
                self._ids.setdefault(content_stems(way), row["id"])

    def exactly(self, listed: Sequence[str]) -> set[str]:
        """Return the ids of the names that the graph has letter by letter, case aside."""
        return {self._keys[key_of(x)] for x in listed if key_of(x) in self._keys}

    def held(self, listed: Sequence[str]) -> set[str]:
        """Return the ids of those that it has in any word form."""
        stems = (content_stems(name_words(x)) for x in listed)
        return self.exactly(listed) | {self._ids[s] for s in stems if s and s in self._ids}


def reached(
    database: Database,
    graph: str,
    question: str,
    linked: Sequence[LinkedEntity],
    method: str,
    size: int,
) -> tuple[set[str], int, float]:
    """Return the entities of a method's evidence, its pairs of entities, and the seconds."""
    began = time.perf_counter()
    if method == "KG retriever":
        found: Any = shortest_paths(database, graph, linked, size)
        triples = [t for path in found for t in path.triples]
    else:
        settings = MiningSettings(
            size=size,
            paths=method != "without paths",
            neighbours=method != "without neighbours",
        )
        triples = list(mine_from(database, graph, question, linked, settings).triples)
    pairs = {frozenset((t.head_id, t.tail_id)) for t in triples}
    return {i for p in pairs for i in p}, len(pairs), time.perf_counter() - began


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
    given = parser.parse_args()
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
        report(database, given.graph, Holdings(database, given.graph), rows, given.sizes)


def report(
    database: Database,
    graph: str,
    holdings: Holdings,
    rows: Sequence[dict[str, Any]],
    sizes: Sequence[int],
) -> None:
    """Link and mine every question, and print what came of it."""
    link(database, graph, "warm up")
    counts = {"exactly": [0, 0, 0], "held": [0, 0, 0]}
    linked, seconds = [], []
    for row in rows:
        began = time.perf_counter()
        linked.append(link(database, graph, row["question"]))
        seconds.append(time.perf_counter() - began)
        ids = {entity.id for entity in linked[-1] if entity.id}
        for kind, count in counts.items():
            gold = getattr(holdings, kind)(row["question_entities"])
            for at, some in enumerate((ids & gold, ids - gold, gold - ids)):
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
                ids, count, took = reached(
                    database, graph, rows[at]["question"], linked[at], method, size
                )
                shares.append(len(ids & gold[at]) / len(gold[at]))
                hits += len(ids & gold[at])
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
