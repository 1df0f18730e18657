"""Compare the memory that a server has with what its corpora need."""

from __future__ import annotations

from dataclasses import dataclass

from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.types.errors import CapabilityError

__all__ = ["Room", "check_heap", "measure_room"]

#: The share of the server's heap that GDS may take at the least, by its own estimate: it takes more
#: while it reads the graph, and a server whose heap is full ends.
_MOST_HEAP = 0.8
#: What GDS is asked for: twice the default number of neighbours.
_NEIGHBOURS = 20
#: Neo4j's manual ("Vector index memory configuration") on a quantised index, in bytes: 1.1 times
#: (1.25 * 4 a number and 8 * M a vector), with its default M of 16.
_NUMBER_BYTES, _VECTOR_BYTES = 5.5, 140.8
#: Bytes that Python with its encoder takes beside the server.
_CLIENT = 2 * 2**30


@dataclass(frozen=True, slots=True)
class Room:
    """What the graph of a server needs, in bytes, and what it does not have, as sentences.

    `vectors` are the vector indexes, `similarity` is the heap that GDS needs at the most for the
    similarity graph of the largest corpus. `store` are the files that the page cache holds; it is
    None where the server is not the embedded one.
    """

    vectors: int
    similarity: int
    store: int | None
    short: tuple[str, ...]


def check_heap(needed: Row, what: str) -> int:
    """Return the bytes of the server's heap that GDS needs at the most, by its own estimate.

    `needed` is a row of `gds/knn_memory` or `gds/graph_memory`. Raises CapabilityError where the
    least that it needs does not fit.
    """
    if needed["share"] > _MOST_HEAP:
        raise CapabilityError(
            f"{what} needs {_gibibytes(needed['least'])} to {_gibibytes(needed['most'])} of the "
            f"server's heap, {100 * needed['share']:,.0f} % of all that it has",
            hint="Give the server more memory (`kgp-neo4j server stop`, then `server start "
            "--memory SIZE`; a server of your own: server.memory.heap.max_size), or leave this "
            "graph out: --edges tfidf --edges entity.",
        )
    return int(needed["most"])


def measure_room(
    database: Database,
    *,
    gds: bool,
    store: int | None = None,
    page_cache: int = 0,
    heap: int = 0,
    machine: int = 0,
) -> Room:
    """Return what a server's graph needs; where it is the embedded one, also what it has, in bytes.

    `machine` is the memory of the whole machine.
    """
    rows = database.read("inspect/embedded")
    vectors = int(
        sum(row["embeddings"] * (row["dimension"] * _NUMBER_BYTES + _VECTOR_BYTES) for row in rows)
    )
    short, similarity = [], 0
    largest = next((row for row in rows if row["corpus"]), None)
    if largest and gds:
        sizes = {"passages": largest["embeddings"], "dimension": largest["dimension"]}
        (needed,) = database.read("gds/knn_memory", neighbours=_NEIGHBOURS, **sizes)
        similarity = needed["most"]
        if needed["share"] > _MOST_HEAP:
            short.append(
                f"The similarity graph of {largest['name']} needs {_gibibytes(needed['least'])} of "
                f"the heap, {100 * needed['share']:.0f} % of it: `connect` will refuse to make it "
                "anew."
            )
    left = max(machine - heap - page_cache - _CLIENT, 0)
    if store is not None and store > page_cache:
        short.append(
            f"The graph has {_gibibytes(store)} on disk and the page cache holds "
            f"{_gibibytes(page_cache)} of it: questions wait for the disk."
        )
    if store is not None and vectors > left:
        short.append(
            f"The vector indexes want {_gibibytes(vectors)} of memory, and {_gibibytes(left)} are "
            "left beside the server and Python: search by meaning waits for the disk."
        )
    if store is not None and short:
        short.append("`kgp-neo4j server stop`, then `server start --memory SIZE` gives more.")
    return Room(vectors, similarity, store, tuple(short))


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB"
