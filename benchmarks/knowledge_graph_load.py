"""Seconds to load, embed and index a knowledge graph of the size of MindMap's CMCKG.

    python benchmarks/knowledge_graph_load.py

The graph is made up: 62,282 entities of eight types with names of two to six words, or two to nine
Chinese characters, and 506,490 triples of sixteen relations. A few departments, treatments and
symptoms are hubs that thousands of triples lead to. It is loaded into a fresh graph of the embedded
server, or that of NEO4J_URI, loaded again, and deleted.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from _common import explained, positive, say

from kgp_neo4j.graphdb.open import open_database
from kgp_neo4j.mindmap.load.graphs import delete_graph
from kgp_neo4j.mindmap.load.load_graph import load_graph

#: Those of CMCKG (MindMap, table 2).
ENTITIES, TRIPLES = 62_282, 506_490
#: Type, its share of the entities, and the relations that lead from a disease to it and back.
_TYPES = (
    ("Disease", 0.20, "complication", "complication of"),
    ("Symptom", 0.20, "has_symptom", "possible_disease"),
    ("Medication", 0.25, "need_medication", "possible_cure_disease"),
    ("Test", 0.15, "need_medical_test", "can_check_disease"),
    ("Food", 0.10, "should_eat", "good for"),
    ("Producer", 0.09, "made_by", "makes"),
    ("Department", 0.001, "belongs_to", "treats"),
    ("Treatment", 0.009, "treated_by", "treatment_of"),
)
_BEGINNINGS = (
    "ac be car dys en fib ga hyper in jo ker leu my neo os pan ri scler tri ul vas xan".split()
)
_ENDINGS = (
    "al drome ema gia itis lin mab nal oma osis pathy plegia rhea tic tomy uria zole"
).split()


def names(count: int, chinese: bool, made: random.Random) -> list[str]:
    """Return so many different names."""
    found: dict[str, None] = {}
    while len(found) < count:
        if chinese:
            name = "".join(chr(0x4E00 + made.randrange(4_000)) for _ in range(made.randint(2, 9)))
        else:
            name = " ".join(
                made.choice(_BEGINNINGS) + made.choice(_BEGINNINGS) + made.choice(_ENDINGS)
                if made.random() < 0.5
                else made.choice(_ENDINGS) + " " + made.choice(_BEGINNINGS)
                for _ in range(made.randint(1, 3))
            )
        found[name] = None
    return list(found)


def triples(
    entities: int, count: int, chinese: bool, seed: int
) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield so many different triples in which every entity occurs, with the types of both ends."""
    made = random.Random(seed)
    left = names(entities, chinese, made)
    groups: list[tuple[str, list[str], str, str]] = []
    for type_, share, there, back in _TYPES:
        size = max(round(entities * share), 1)
        groups.append((type_, left[:size], there, back))
        left = left[size:]
    groups[0][1].extend(left)
    diseases = groups[0][1]
    seen: set[tuple[str, str, str]] = set()

    def pair(disease: str, name: str, group: int) -> Iterator[tuple[str, str, str, str, str]]:
        type_, _, there, back = groups[group]
        for triple in (
            (disease, there, name, "Disease", type_),
            (name, back, disease, type_, "Disease"),
        ):
            if triple[:3] not in seen and len(seen) < count:
                seen.add(triple[:3])
                yield triple

    for group, (_, members, _, _) in enumerate(groups):
        for name in members:
            yield from pair(made.choice(diseases), name, group)
    while len(seen) < count:
        group = made.choices(range(len(groups)), [1, 6, 6, 4, 2, 0.2, 2, 2])[0]
        members = groups[group][1]
        # The first ones are met far more often than the last: there are hubs.
        name = members[int(len(members) * made.random() ** 4)]
        yield from pair(made.choice(diseases), name, group)


def write(path: Path, entities: int, count: int, chinese: bool, seed: int) -> None:
    """Write the triples as a file with a header line."""
    with path.open("w", encoding="utf-8") as file:
        file.write("head\trelation\ttail\thead_type\ttail_type\n")
        for triple in triples(entities, count, chinese, seed):
            file.write("\t".join(triple) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog="\n\n".join(__doc__.split("\n\n")[1:]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--entities", type=positive, default=ENTITIES, metavar="N")
    parser.add_argument("--triples", type=positive, default=TRIPLES, metavar="N")
    parser.add_argument("--chinese", action="store_true", help="names in Chinese characters")
    parser.add_argument("--no-embed", action="store_true", help="without embeddings")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", action="store_true", help="leave the graph there")
    parser.add_argument("--graph", default="benchmark load", metavar="NAME")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, explained():
        path = Path(folder) / "triples.tsv"
        say("making the file")
        write(path, given.entities, given.triples, given.chinese, given.seed)
        with open_database(echo=say) as database:
            figures = {}
            for turn in ("load", "load again"):
                say(turn)
                account = load_graph(database, [path], given.graph, embed=not given.no_embed)
                figures[turn] = {
                    "seconds": account.seconds,
                    "entities": account.entities,
                    "relationships": account.relationships,
                    "new": account.new,
                    "embedded": account.embedded,
                }
            if not given.keep:
                say("delete")
                began = time.monotonic()
                delete_graph(database, given.graph)
                figures["delete"] = {"seconds": round(time.monotonic() - began, 3)}
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
