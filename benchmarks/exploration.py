"""Do paths and neighbourhoods agree with NetworkX, and how long do they take, hubs included?

    python benchmarks/exploration.py ../shared/data/medical/emckg/train.txt --pairs 500
    python benchmarks/exploration.py --hub 100000

The first form loads a file of triples (head, relation and tail) and compares the shortest paths of
random pairs, and the neighbourhoods of their entities, with NetworkX on the same file. The second
one makes two hubs that share half of their leaves, and times each procedure, and a whole question,
in the first call after the server's start and in the next one.
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import _common as common
import networkx as nx

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.mindmap.explore.mining import mine
from kgp_neo4j.mindmap.load.graph_names import key_of
from kgp_neo4j.mindmap.load.graphs import graphs
from kgp_neo4j.mindmap.load.load_graph import load_graph
from kgp_neo4j.mindmap.stored_graph import open_graph

HOPS = 5
PATHS = 100


def read(path: Path) -> nx.Graph:
    """Return the triples of a file as an undirected graph over keys of names."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return nx.Graph((key_of(row[0]), key_of(row[2])) for row in rows if len(row) == 3)


def compare(database: Database, graph: str, known: nx.Graph, pairs: int, seed: int) -> None:
    """Compare random pairs with NetworkX and print what agrees, and the times."""
    known.remove_edges_from(list(nx.selfloop_edges(known)))
    chance = random.Random(seed)
    held = sorted(known)
    agree = near = 0
    times: list[float] = []
    around: list[float] = []
    for _ in range(pairs):
        a, b = chance.sample(held, 2)
        reached = nx.has_path(known, a, b) and nx.shortest_path_length(known, a, b) <= HOPS
        expected = {_way(w) for w in nx.all_shortest_paths(known, a, b)} if reached else set()
        began = time.perf_counter()
        rows = database.read(
            "procedures/paths",
            entities=[a, b],
            graph=graph,
            maxHops=HOPS,
            limit=PATHS,
            timeout=60_000,
        )
        times.append(time.perf_counter() - began)
        found = {_way([node["key"] for node in row["path"]]) for row in rows}
        # Where there are more shortest paths than were asked for, those found must be among them.
        full = found == expected if len(expected) <= PATHS else found < expected
        agree += full and len(found) == min(len(expected), PATHS)
        began = time.perf_counter()
        rows = database.read("procedures/entity_neighbours", entity=a, graph=graph, limit=20_000)
        around.append(time.perf_counter() - began)
        near += {row["neighbour"]["key"] for row in rows} == {*known[a]}
    print(f"\n{common.described()}; {len(held):,} entities, {known.number_of_edges():,} pairs\n")
    print("| | agree with NetworkX | p50 ms | p95 ms |\n|---|---|---|---|")
    for name, right, took in (("paths", agree, times), ("neighbourhood", near, around)):
        p95 = statistics.quantiles(took, n=20)[18] * 1000
        print(f"| {name} | {right} of {pairs} | {statistics.median(took) * 1000:.0f} | {p95:.0f} |")


def _way(nodes: list[str]) -> tuple[str, ...]:
    return tuple(min(nodes, nodes[::-1]))


def hub_triples(leaves: int) -> Iterator[tuple[str, str, str]]:
    """Yield two hubs that share half of their leaves, and something behind some leaves."""
    for n in range(leaves):
        yield "Hub one", "has_leaf", f"Leaf {n}"
        yield "Hub two", "has_leaf", f"Leaf {n + leaves // 2}"
    for n in range(0, leaves, 50):
        yield f"Leaf {n}", "causes", f"Effect {n % 1000}"
    yield "Far one", "is_near", "Effect 0"


def load_hubs(graph: str, leaves: int) -> None:
    """Load the hubs where they are not there yet, and stop the server again."""
    with open_database(echo=print) as database, tempfile.TemporaryDirectory() as folder:
        if graph in {each.name for each in graphs(database)}:
            return
        path = Path(folder) / "hubs.tsv"
        path.write_text(
            "".join("\t".join(triple) + "\n" for triple in hub_triples(leaves)), encoding="utf-8"
        )
        load_graph(database, [path], graph, embed=False)


def time_hubs(graph: str) -> None:
    """Print the seconds of the first and second calls after a start."""
    asked = "How do hub one and hub two go with far one?"
    with open_database(echo=print) as database:
        cases: list[tuple[str, Callable[[], Any]]] = []
        for names in (["Hub one", "Hub two"], ["Hub two", "Leaf 7", "Far one"]):
            cases += [
                (f"paths {names}", lambda n=names: _read(database, "paths", graph, n)),
                (f"evidence {names}", lambda n=names: _read(database, "evidence", graph, n)),
            ]
        cases += [
            ("neighbourhood", lambda: _around(database, graph)),
            ("question to evidence", lambda: mine(open_graph(database, graph), asked)),
        ]
        print(f"\n{common.described()}\n\n| | first s | second s |\n|---|---|---|")
        for name, call in cases:
            seconds = []
            for _ in range(2):
                began = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - began)
            print(f"| {name} | {seconds[0]:.2f} | {seconds[1]:.2f} |")


def _read(database: Database, procedure: str, graph: str, names: list[str]) -> Any:
    limit = 80 if procedure == "evidence" else 5
    return database.read(f"procedures/{procedure}", entities=names, graph=graph, limit=limit)


def _around(database: Database, graph: str) -> Any:
    return database.read("procedures/entity_neighbours", entity="Hub one", graph=graph)


def main() -> None:
    """Load what is asked for, compare or time it, and print Markdown tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("triples", type=Path, nargs="?", help="head, relation and tail")
    parser.add_argument("--graph", default="bench-emckg")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hub", type=int, metavar="LEAVES", help="time hubs with so many leaves")
    given = parser.parse_args()
    if given.hub:
        load_hubs(f"bench-hub-{given.hub}", given.hub)
        time_hubs(f"bench-hub-{given.hub}")
    if given.triples:
        with open_database(echo=print) as database:
            if given.graph not in {each.name for each in graphs(database)}:
                load_graph(database, [given.triples], given.graph)
            compare(database, given.graph, read(given.triples), given.pairs, given.seed)
    if not given.hub and not given.triples:
        parser.error("give a file of triples, or --hub")


if __name__ == "__main__":
    main()
