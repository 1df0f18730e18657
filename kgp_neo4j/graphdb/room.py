"""Compare the memory that a server has with what its corpora need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.graphdb.server.supervise import ServerStatus

#: Neo4j's manual ("Vector index memory configuration") on a quantised index, in bytes: 1.1 times
#: (1.25 * 4 a number and 8 * M a vector), with its default M of 16.
_NUMBER_BYTES, _VECTOR_BYTES = 5.5, 140.8
_GIB = 2**30
#: Bytes that Python with its encoder takes beside the server.
_CLIENT = 2 * _GIB


@dataclass(frozen=True, slots=True)
class Room:
    """What the graph of a server needs, in bytes, and what it does not have, as sentences.

    `vectors` are the vector indexes, `store` the files that the page cache holds; it is None where
    the server is not the embedded one. `encoders` has the corpora and knowledge graphs of each.
    """

    vectors: int
    store: int | None
    short: tuple[str, ...]
    encoders: Mapping[str, Sequence[str]]


def measure_room(database: Database, server: ServerStatus | None = None, machine: int = 0) -> Room:
    """Return what a graph needs and an embedded `server` lacks, of `machine` bytes of memory."""
    rows = database.read("inspect/embedded")
    sizes = (r["embeddings"] * (r["dimension"] * _NUMBER_BYTES + _VECTOR_BYTES) for r in rows)
    vectors = int(sum(sizes))
    encoders: dict[str, list[str]] = {}
    for row in rows:
        name = row["name"] if row["corpus"] else f"graph {row['name']}"
        encoders.setdefault(row["encoder"], []).append(name)
    if server is None:
        return Room(vectors, None, (), encoders)
    short = []
    store = server.store or 0
    heap, page_cache = ((size or 0) * 2**20 for size in (server.heap, server.page_cache))
    left = max(machine - heap - page_cache - _CLIENT, 0)
    if store > page_cache:
        short.append(
            f"The graph has {store / _GIB:,.1f} GiB on disk and the page cache holds "
            f"{page_cache / _GIB:,.1f} GiB of it: questions wait for the disk."
        )
    if vectors > left:
        short.append(
            f"The vector indexes want {vectors / _GIB:,.1f} GiB of memory, and {left / _GIB:,.1f} "
            "GiB are left beside the server and Python: search by meaning waits for the disk."
        )
    if short:
        short.append("`kgp-neo4j server stop`, then `server start --memory SIZE` gives more.")
    return Room(vectors, store, tuple(short), encoders)
