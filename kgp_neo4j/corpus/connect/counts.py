"""Keeps in the database what `connect` counted in all texts, to join a few new ones in."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.graphdb.database import Database

__all__ = ["Counts", "as_array", "from_array", "keep_counts", "kept_counts"]

#: Arrays by name; other values as `as_array` makes them.
Counts = Mapping[str, NDArray[Any]]
#: Bytes in one node.
_PART = 4 << 20


def keep_counts(
    database: Database, corpus: str, graph: str, run: str, made: str, counts: Counts
) -> None:
    """Replace what is kept of a corpus's graph by what a `run` of `connect` has counted.

    `made` says what the graph was made with (`made_of`). What was there stays until all is written,
    and nothing is kept where another run has begun meanwhile.
    """
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **counts)
    data = file.getbuffer()
    of = {"corpus": corpus, "graph": graph, "run": run}
    for part, start in enumerate(range(0, len(data), _PART)):
        database.write(
            "connect/keep_counts", **of, part=part, data=bytes(data[start : start + _PART])
        )
    database.write("connect/finish_counts", **of, of=made)


def kept_counts(
    database: Database, corpus: str, graph: str, made: str
) -> dict[str, NDArray[Any]] | None:
    """Return what is kept of a graph that was made with `made`, or None."""
    parts = [
        row["data"]
        for row in database.stream("connect/kept_counts", corpus=corpus, graph=graph, of=made)
    ]
    if not parts:
        return None
    with np.load(io.BytesIO(b"".join(parts)), allow_pickle=False) as file:
        return dict(file)


def as_array(value: Any) -> NDArray[np.uint8]:
    """Return a value of JSON as an array."""
    return np.frombuffer(json.dumps(value, ensure_ascii=False).encode(), np.uint8)


def from_array(array: NDArray[Any]) -> Any:
    """Return the value that `as_array` made an array of."""
    return json.loads(array.tobytes())
