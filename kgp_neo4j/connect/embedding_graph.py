"""What both KNN graphs share: passages are embedded and joined to their nearest by GDS KNN."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.connect.steps import timed, watched, write_rows
from kgp_neo4j.database import Database, Row
from kgp_neo4j.errors import CapabilityError, ConfigurationError
from kgp_neo4j.progress import bar

__all__ = ["Space", "embed_and_join", "require"]

_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Space:
    """Embeddings of one encoder, and the edges that are made of them.

    `name` is what cypher/connect calls the space, `graph` what stands in `Corpus.connected`,
    `edges` the relationship type; `encode` takes (title, text) of passages. `remember` writes the
    encoder down with the corpus, and raises EncoderError where there is another one.
    """

    name: str
    graph: str
    edges: str
    encode: Callable[
        [Sequence[tuple[str, str]], Callable[[int], object]],
        NDArray[np.float32],
    ]
    remember: Callable[[], None]


def require(database: Database, neighbours: int) -> None:
    """Raise where a KNN graph cannot be made: CapabilityError without GDS, ConfigurationError for a
    number of neighbours out of range."""
    if not 1 <= neighbours <= 1000:
        raise ConfigurationError(
            f"neighbours is {neighbours}", hint="Choose a number from 1 to 1000."
        )
    if not database.capabilities().gds:
        raise CapabilityError(
            "the server has no Graph Data Science, which makes the KNN graph",
            hint="Add its plugin, or make the keyword graph alone: --edges tfidf.",
        )


def embed_and_join(
    database: Database,
    corpus: str,
    space: Space,
    *,
    neighbours: int,
    replace: bool,
    settings: str,
    seconds: dict[str, float],
) -> tuple[int, int]:
    """Embed the passages that have no embedding of this space yet, and make its edges afresh.

    Returns how many passages were embedded and how many edges there are now.
    """
    database.write("connect/begin", corpus=corpus, graph=space.graph)
    if replace:
        database.write_in_batches("connect/remove_embeddings", corpus=corpus, space=space.name)
    space.remember()
    embedded = _embed(database, corpus, space, seconds)
    with timed(seconds, "similarity edges"):
        database.write_in_batches("connect/remove_similar", corpus=corpus, type=space.edges)
        edges = _nearest(database, corpus, space, neighbours)
    with timed(seconds, "vector index"):
        database.read("install/await_indexes")
    database.write("connect/finish", corpus=corpus, graph=space.graph, settings=settings)
    return embedded, edges


def _embed(database: Database, corpus: str, space: Space, seconds: dict[str, float]) -> int:
    rows: list[Row] = database.read("connect/unembedded", corpus=corpus, space=space.name)
    # Longest first, so that a batch wastes no work on padding.
    rows.sort(key=lambda row: -len(row["text"]))
    written = 0
    with bar("embed", len(rows), "passages") as progress:
        for start in range(0, len(rows), _BATCH):
            batch = rows[start : start + _BATCH]
            with timed(seconds, "embed"):
                vectors = space.encode(
                    [(row["title"], row["text"]) for row in batch], progress.update
                )
            with timed(seconds, "write embeddings"):
                # Written as they come, so that a run that is stopped goes on from there.
                values = (
                    {"id": row["id"], "vector": vector.tolist()}
                    for row, vector in zip(batch, vectors, strict=True)
                )
                # The bar of the passages embedded is the only one: these are the same passages.
                written += write_rows(
                    database, "connect/embeddings", values, _BATCH, None, space=space.name
                )
    return written


def _nearest(database: Database, corpus: str, space: Space, neighbours: int) -> int:
    # A name of its own, so that two runs at once do not meet in GDS's catalogue.
    graph = f"kgp-{uuid.uuid4().hex}"
    projected = database.read("connect/project", graph=graph, corpus=corpus, space=space.name)
    nodes = int(projected[0]["nodes"] or 0) if projected else 0
    try:
        if nodes < 2:
            return 0
        # GDS wants k below the number of nodes.
        k = min(neighbours, nodes - 1)
        with watched(database, "Knn", "similarity edges"):
            made = database.write("connect/similar", graph=graph, type=space.edges, neighbours=k)
            return int(made[0]["edges"])
    finally:
        database.read("connect/drop", graph=graph)
