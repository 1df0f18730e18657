"""Joins each passage to the passages whose embeddings are nearest (KGP's KNN graphs)."""

from array import array
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.job import ahead
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, in_batches

Places: TypeAlias = NDArray[np.int64]
#: How many times as many of the nearest of a new passage may have it among their own nearest.
_DEPTH = 10
#: Cosines that are held at once, passages of which only the nearest one is looked at first, those
#: whose edges are written in one transaction, and those whose vectors are read at once.
_MOST_COSINES, _GROUP, _WRITTEN, _READ = 1 << 25, 64, 500, 5000
#: Most cosines that are made of all passages with all. Else space is cut into cells, and each
#: passage compared to those that have its own cell among their `_CELLS_NEAR` nearest.
_ALL_COSINES, _CELLS, _CELLS_NEAR = 10**10, 1024, 64


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
    nodes: list[str] = []  # those with an embedding, by id
    numbers = array("f")
    for row in database.read_pages(
        "connect/vectors", "id", corpus=corpus, property=space, limit=_READ
    ):
        nodes.append(row["node"])
        numbers.extend(row["vector"])
    vectors = np.frombuffer(numbers, np.float32).reshape(max(len(nodes), 1), -1)[: len(nodes)]
    at = np.arange(len(nodes))
    depth = min(_DEPTH * neighbours, len(nodes) - 1)
    if lonely and len(lonely) * depth < len(nodes):
        new = np.flatnonzero([node in lonely for node in nodes])
        near = [places for _, places, _ in _nearest(vectors, new, depth)]
        at = np.union1d(new, np.concatenate(near))
    search = _nearest if at.size * len(nodes) <= _ALL_COSINES else _nearest_in_cells
    with bar("similarity edges", len(at), "passages") as progress:
        for of, places, cosines in ahead(search(vectors, at, min(neighbours, len(nodes) - 1))):
            scores = (1 + cosines) / 2
            rows = []
            for n, near, each in zip(of, places.tolist(), scores.tolist(), strict=True):
                others = [[nodes[place], score] for place, score in zip(near, each, strict=True)]
                rows.append({"node": nodes[n], "edges": others})
            for some in in_batches(rows, _WRITTEN):
                database.write("connect/join", corpus=corpus, type=edges, rows=some)
            progress.update(len(rows))


def _nearest(
    vectors: NDArray[np.float32], at: Places, most: int, among: Places | None = None
) -> Iterator[tuple[Sequence[int], Places, NDArray[np.float32]]]:
    """Yield some passages of those `at` places, the places of the nearest of each, and cosines.

    They are looked for in all places, or `among` some, in order, that have those `at` among them.
    The passages of a group are looked at where its nearest one is among the nearest of all groups,
    which leaves none out and spares most of the sorting.
    """
    others = vectors if among is None else vectors[among]
    groups = -(-len(others) // _GROUP)
    size = max(1, _MOST_COSINES // max(1, groups * _GROUP))
    table = np.empty((min(size, at.size), _GROUP * groups), np.float32)
    for start in range(0, at.size, size):
        of = at[start : start + size]
        cosines = table[: of.size]
        np.matmul(vectors[of], others.T, out=cosines[:, : len(others)])
        cosines[:, len(others) :] = -2
        own = of if among is None else np.searchsorted(among, of)
        cosines[np.arange(of.size), own] = -2  # no passage is a neighbour of its own
        # A group's passages lie far apart, since maxima of whole rows are found fastest.
        best = _first(cosines.reshape(of.size, _GROUP, groups).max(axis=1), min(most, groups))
        places = (best[:, :, None] + groups * np.arange(_GROUP)).reshape(of.size, -1)
        found = np.take_along_axis(cosines, places, 1)
        chosen = _first(found, most)
        places = np.take_along_axis(places, chosen, 1)
        places = places if among is None else among[places]
        yield of.tolist(), places, np.take_along_axis(found, chosen, 1)


def _nearest_in_cells(
    vectors: NDArray[np.float32], at: Places, most: int
) -> Iterator[tuple[Sequence[int], Places, NDArray[np.float32]]]:
    """Yield what `_nearest` does, nearly exactly, in a small part of the time."""
    centres = _centres(vectors)
    near = min(_CELLS_NEAR, len(centres))
    cells = np.empty((len(vectors), near), np.int16)
    for start in range(0, len(vectors), _CELLS):
        here = slice(start, start + _CELLS)
        cells[here] = _first(vectors[here] @ centres.T, near)
    order = np.argsort(cells, axis=None, kind="stable")
    order //= near
    ends = np.bincount(cells.ravel(), minlength=len(centres)).cumsum()
    for cell, among in enumerate(np.split(order, ends[:-1])):
        # Where a cell has too few passages, all passages are looked at.
        enough = among if among.size > most else None
        yield from _nearest(vectors, at[cells[at, 0] == cell], most, enough)


def _centres(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the centres of the cells: means of passages near each other, the same each time."""
    sample = vectors[np.random.default_rng(0).permutation(len(vectors))[: 64 * _CELLS]]
    centres = sample[:_CELLS].copy()
    for _ in range(8):
        cell = np.argmax(sample @ centres.T, axis=1)
        order = np.argsort(cell, kind="stable")
        begins = np.flatnonzero(np.diff(cell[order], prepend=-1))
        means = np.add.reduceat(sample[order], begins)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)
        centres[cell[order][begins]] = means
    return centres


def _first(values: NDArray[np.float32], most: int) -> Places:
    """Return the places of the `most` highest values of each row, the highest first."""
    chosen = np.argpartition(-values, max(most - 1, 0), axis=1)[:, :most]
    order = np.argsort(-np.take_along_axis(values, chosen, 1), axis=1, kind="stable")
    return np.take_along_axis(chosen, order, 1)
