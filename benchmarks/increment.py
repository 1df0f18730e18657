"""Measure `connect` after a few documents came, changed or went, and whether the graph is right.

Examples:
  python benchmarks/increment.py --size 5000
  python benchmarks/increment.py --size 100000 --embeddings random

DATA holds folders with corpus.jsonl.gz (../shared/data: HotpotQA, 2WikiMultihopQA and MuSiQue) and
ottqa/passages.jsonl.gz. The corpus is the first N passages of the sets in one seeded order, then
those of OTT-QA, a document each. It is connected whole; then so many documents (--documents) are
added, changed (each gets the text of another one) and deleted, and after each the corpus is
connected again. At last everything is made anew, and what was there before is compared with it: the
keywords of passages and mentions as `connect` marks them, and the edges.

Every step runs in a process of its own, whose peak of memory is reported. --embeddings random
writes random unit vectors instead of encoding; these have no near neighbours. The embedded server
starts empty in runs/increment and is removed afterwards; NEO4J_URI plays no part.

Prints Markdown tables; writes results/increment.json (increment-random.json).
"""

from __future__ import annotations

import argparse
import base64
import multiprocessing
import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import _common as common
import growth

_CORPUS = "increment"


def timed(
    connection: Any, files: Sequence[str], delete: Sequence[str], drawn: int | None, anew: bool
) -> dict[str, Any]:
    """Load, delete and connect; return the seconds of each step, counts and the peak of memory."""
    from kgp_neo4j.corpus.connect.graphs import connect
    from kgp_neo4j.corpus.load.delete import delete_document
    from kgp_neo4j.corpus.load.loading import load
    from kgp_neo4j.graphdb.database import Database

    with Database(connection) as database:
        began = time.perf_counter()
        load(database, files, _CORPUS)
        for title in delete:
            delete_document(database, _CORPUS, title)
        seconds = {"load": time.perf_counter() - began}
        if drawn is not None:
            growth.write_random(database, _CORPUS, drawn)
        report = connect(database, _CORPUS, anew=anew)
    return {
        "seconds": seconds | dict(report.seconds),
        "keyword_links": report.keyword_links,
        "mentions": report.mentions,
        "python_peak_mb": common.peak_memory("self"),
    }


def graph(connection: Any) -> dict[str, set[tuple[str, Any]]]:
    """Return the relationships of each kind: passages with the hashes that `connect` noted."""
    from kgp_neo4j.corpus.connect.steps import paged
    from kgp_neo4j.graphdb.database import Database

    def marked(rows: Sequence[dict[str, Any]], name: str) -> set[tuple[str, Any]]:
        found = set()
        for row in rows:
            data = base64.b64decode(row[name] or "")
            for at in range(0, len(data), 8):
                found.add((row["id"], int.from_bytes(data[at : at + 8], "little") >> 10))
        return found

    with Database(connection) as database:
        made = {}
        rows = database.read("connect/passages", corpus=_CORPUS)
        nodes = [row["node"] for row in rows]
        made["HAS_KEYWORD"] = marked(rows, "keywordMarks")
        rows = database.read("connect/entity_passages", corpus=_CORPUS)
        made["MENTIONS"] = marked(rows, "mentionMarks")
        del rows
        made["Keyword"] = {
            (row["text"], (row["frequency"], row["named"]))
            for row in paged(database, "connect/stored_keywords", "text", corpus=_CORPUS)
        }
        for kind in ("SHARES_KEYWORD", "SHARES_ENTITY", "SIMILAR_ST"):
            made[kind] = edges(database, nodes, kind)
    return made


def edges(database: Any, nodes: Sequence[str], kind: str) -> set[tuple[str, Any]]:
    """Return the edges of a type; where both passages say the same, in one direction."""
    from kgp_neo4j.corpus.connect.steps import read_rows

    found: set[tuple[str, Any]] = set()
    for row in read_rows(database, "connect/edges", nodes, 10_000, corpus=_CORPUS, type=kind):
        ends = row["node"], row["other"]
        is_shared = kind != "SIMILAR_ST" and not row["namesTitle"]
        first, second = sorted(ends) if is_shared else ends
        found.add((first, (second, row["namesTitle"])))
    return found


def named(given: argparse.Namespace) -> str:
    """Return the name of the file of results."""
    return "increment" if given.embeddings == "encoder" else "increment-random"


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Run every step and return the figures."""
    n = given.documents
    found = growth.passages(given.data, [], given.seed)[: given.size + n]
    titles: set[str] = set()
    # Documents are told apart by their titles, to change and delete them.
    records = [row for row in found if not (row["title"] in titles or titles.add(row["title"]))]
    first, new = records[:-n], records[-n:]
    changed = [
        {"title": a["title"], "text": b["text"]}
        for a, b in zip(first[:n], first[n : 2 * n], strict=True)
    ]
    runs = given.out / "runs"
    # One name, so that the same title is the same document.
    path = runs / "increment.jsonl"
    drawn = given.embeddings == "random"
    result: dict[str, Any] = {"passages": len(first), "rows": {}}
    with growth.empty_server(runs / "increment") as (_, database):
        connection = database.connection

        def step(
            name: str, rows: list[common.Record], *, delete: Sequence[str] = (), **more: Any
        ) -> None:
            common.say(name)
            file = common.write_lines(path, rows)
            seed = given.seed + len(result["rows"]) if drawn else None
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                row = pool.submit(
                    timed, connection, [file] if rows else [], delete, seed, more.get("anew", False)
                ).result()
            result["rows"][name] = row
            common.say(f"{row['seconds']['all']:.1f} s")
            common.keep(given.out, named(given), result)

        step("first", first)
        step("nothing", [])
        step(f"{n} new", new)
        step(f"{n} changed", changed)
        step(f"{n} deleted", [], delete=[row["title"] for row in first[2 * n : 3 * n]])
        before = graph(connection)
        step("everything anew", [], anew=True)
        after = graph(connection)
    result["agreement"] = {
        kind: {
            "incremental": len(made),
            "anew": len(after[kind]),
            "both": len(made & after[kind]),
        }
        for kind, made in before.items()
    }
    shutil.rmtree(runs / "increment", ignore_errors=True)
    return result


def main() -> None:
    """Measure and print the tables."""
    parser = common.parser(__doc__, None)
    parser.add_argument(
        "data", type=Path, nargs="?", default=Path("../shared/data"), help="folders of data sets"
    )
    parser.add_argument(
        "--size", type=common.positive, default=5000, help="passages (default: 5000)"
    )
    parser.add_argument(
        "--documents",
        type=common.positive,
        default=100,
        help="added, changed, deleted (default: 100)",
    )
    parser.add_argument("--embeddings", choices=("encoder", "random"), default="encoder")
    given = parser.parse_args()
    with common.explained():
        result = measure(given)
    steps = list(dict.fromkeys(s for row in result["rows"].values() for s in row["seconds"]))
    names = list(result["rows"])
    rows = [
        ["connect, all steps" if s == "all" else s]
        + [row["seconds"].get(s, 0.0) for row in result["rows"].values()]
        for s in sorted(steps, key=lambda s: s == "all")
    ]
    rows.append(["peak memory of Python (MB)"])
    rows[-1] += [row["python_peak_mb"] for row in result["rows"].values()]
    print(f"\n{result['passages']:,} passages. {common.described()}\n")
    print(common.markdown(["seconds", *names], rows))
    print()
    table = [[kind, *counts.values()] for kind, counts in result["agreement"].items()]
    print(common.markdown(["", "incremental", "anew", "in both"], table))
    print(f"\n{common.keep(given.out, named(given), result)}")


if __name__ == "__main__":
    main()
