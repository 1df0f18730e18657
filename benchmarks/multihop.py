"""Load, connect and retrieve one multi-hop data set, with times, peak memory and scores.

    python benchmarks/multihop.py FOLDER/hotpotqa --score score.py

Runs the command line as a user would, each step as a process of its own, against the server that
`kgp-neo4j` finds (NEO4J_URI, else the embedded one). Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import json
import resource
from pathlib import Path

import _common as common

METHODS = ("bm25", "dense", "hybrid", "kgp")
SHOWN = ("recall@2", "recall@5", "all@5", "recall@10", "all@10", "recall@30", "all@30")


def main() -> None:
    """Run the steps and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="holds corpus.jsonl.gz and the questions")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--score", type=Path, help="a scorer: score.py GOLD RUN")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/runs"))
    parser.add_argument("--model", help="a scorer other than the one that is shipped")
    parser.add_argument("--only-connect", action="store_true", help="retrieve nothing")
    parser.add_argument("--only-retrieve", action="store_true", help="the corpus is connected")
    parser.add_argument(
        "--runs", type=common.words, metavar="A,B", help="of kgp,mdr,knn,... (default: all)"
    )
    given = parser.parse_args()
    name = f"bench-{given.folder.name}"
    given.out.mkdir(parents=True, exist_ok=True)
    questions = str(given.folder / f"{given.split}.jsonl.gz")
    common.kgp("doctor")  # the server's start is not part of what is measured
    if not given.only_retrieve:
        if any(c["name"] == name for c in json.loads(common.kgp("corpora", "--json")[0])):
            common.kgp("delete", "--corpus", name, "--yes")
        corpus = str(given.folder / "corpus.jsonl.gz")
        _, load = common.kgp("load", corpus, "--corpus", name)
        report, connect = common.kgp("connect", "--corpus", name, "--json")
        print(f"\n{common.described()}; load {load:.0f} s, connect {connect:.0f} s\n")
        print("| step of connect | seconds |\n|---|---|")
        for step, seconds in json.loads(report)["seconds"].items():
            print(f"| {step} | {seconds:.1f} |")
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        status = json.loads(common.kgp("server", "status", "--json")[0])
        server = common.peak_memory(status.get("pid"))
        print(f"\npeak memory: Python {peak:,.0f} MB, server {server or 0:,.0f} MB")
    print(f"\n| {given.folder.name} {given.split} | {' | '.join(SHOWN)} | p50 s | p95 s |")
    print("|---" * (len(SHOWN) + 3) + "|")
    runs = [(m, "", "") for m in METHODS]
    runs += [("kgp", "--rerank", "mdr"), ("kgp", "--agent", "knn"), ("kgp", "--agent", "tfidf")]
    runs = [run for run in runs if given.runs is None or (run[2] or run[0]) in given.runs]
    for method, option, value in [] if given.only_connect else runs:
        label = f"{method} ({value})" if value else method
        out = given.out / f"{given.folder.name}-{given.split}-{label.replace(' ', '')}.jsonl"
        more = [option, value] if option else []
        if given.model and label == "kgp":
            more = ["--agent", "learned", "--model", given.model]
        told, _ = common.kgp(
            *("retrieve", questions, "--corpus", name, "--method", method, "--json"),
            *("--out", str(out), *more),
        )
        times = json.loads(told)
        cells = ["" for _ in SHOWN]
        if given.score:
            table, _, _ = common.scorer(given.score).score(questions, str(out))
            figures = {key: 100 * common.mean(row[key] for row in table.values()) for key in SHOWN}
            cells = [f"{figures[key]:.1f}" for key in SHOWN]
        print(f"| {label} | {' | '.join(cells)} | {times['p50']:.3f} | {times['p95']:.3f} |")


if __name__ == "__main__":
    main()
