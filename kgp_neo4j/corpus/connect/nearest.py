"""Joins each passage to the passages whose embeddings are nearest (KGP's KNN graphs)."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, in_batches

#: How many times as many of the nearest of a new passage may have it among their own nearest.
_DEPTH = 10
#: Cosines that are held at once, passages of which only the nearest one is looked at first, and
#: passages whose edges are written in one transaction.
_MOST_COSINES, _GROUP, _WRITTEN = 1 << 26, 64, 500


def join_nearest(
    database: Database, corpus: str, space: str, edges: str, neighbours: int, *, every: bool
) -> None:
    """Join passages to their `neighbours` nearest, by the cosines of all embeddings of a corpus.

    `space` is the property of the embeddings, `edges` the type of the edges. All are joined anew
    where `every` is true, else those with too few edges (new ones, and those that lost a
    neighbour), and those that may be the nearest of these.
    """
    lonely = set()
    if not every:
        values = {"corpus": corpus, "property": space, "type": edges, "least": neighbours}
        lonely = {row["node"] for row in database.read("connect/unjoined", **values)}
        if not lonely:
            return
    nodes, vectors = _read_vectors(database, corpus, space)
    at = np.arange(len(nodes))
    depth = min(_DEPTH * neighbours, len(nodes) - 1)
    if lonely and len(lonely) * depth < len(nodes):
        new = np.flatnonzero([node in lonely for node in nodes])
        near = [places for _, places, _ in _nearest(vectors, new, depth)]
        at = np.union1d(new, np.concatenate(near))
    with bar("similarity edges", len(at), "passages") as progress:
        for of, places, cosines in _nearest(vectors, at, min(neighbours, len(nodes) - 1)):
            scores = (1 + cosines) / 2
            rows = []
            for n, near, each in zip(of, places.tolist(), scores.tolist(), strict=True):
                others = [[nodes[place], score] for place, score in zip(near, each, strict=True)]
                rows.append({"node": nodes[n], "edges": others})
            for some in in_batches(rows, _WRITTEN):
                database.write("connect/join", corpus=corpus, type=edges, rows=some)
            progress.update(len(rows))


def _read_vectors(
    database: Database, corpus: str, space: str
) -> tuple[list[str], NDArray[np.float32]]:
    """Return the nodes of all passages that have an embedding, by id, and the embeddings."""
    nodes: list[str] = []
    parts = []
    for row in database.read_pages("connect/vectors", "id", corpus=corpus, property=space):
        nodes.append(row["node"])
        parts.append(np.array(row["vector"], np.float32))
    vectors = np.array(parts) if parts else np.zeros((0, 1), np.float32)
    return nodes, vectors


def _nearest(
    vectors: NDArray[np.float32], at: NDArray[np.int64], most: int
) -> Iterator[tuple[Sequence[int], NDArray[np.int64], NDArray[np.float32]]]:
    """Yield some passages of those `at` places, the places of the nearest of each, and cosines.

    The passages of a group are looked at where its nearest one is among the nearest of all groups,
    which leaves none out and spares most of the sorting.
    """
    groups = -(-len(vectors) // _GROUP)
    size = max(1, _MOST_COSINES // max(1, groups * _GROUP))
    for start in range(0, at.size, size):
        of = at[start : start + size]
        cosines = np.full((of.size, groups * _GROUP), -2, np.float32)
        np.matmul(vectors[of], vectors.T, out=cosines[:, : len(vectors)])
        cosines[np.arange(of.size), of] = -2  # no passage is a neighbour of its own
        nearest = cosines.reshape(of.size, groups, _GROUP).max(axis=2)
        best = _first(nearest, min(most, groups))
        places = (best[:, :, None] * _GROUP + np.arange(_GROUP)).reshape(of.size, -1)
        found = np.take_along_axis(cosines, places, 1)
        chosen = _first(found, most)
        yield (
            of.tolist(),
            np.take_along_axis(places, chosen, 1),
            np.take_along_axis(found, chosen, 1),
        )


def _first(values: NDArray[np.float32], most: int) -> NDArray[np.int64]:
    """Return the places of the `most` highest values of each row, the highest first."""
    chosen = np.argpartition(-values, max(most - 1, 0), axis=1)[:, :most]
    order = np.argsort(-np.take_along_axis(values, chosen, 1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, 1)
