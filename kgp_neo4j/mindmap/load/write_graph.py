"""Writes entities and relationships into the database, a transaction for each batch."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from kgp_neo4j.environment.progress import Progress, bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.load.gather import Gathered
from kgp_neo4j.mindmap.load.graph_names import graph_scope
from kgp_neo4j.mindmap.load.graphs import discard_import
from kgp_neo4j.types.errors import GraphError

__all__ = ["GraphWriter", "batches"]

#: Rows of a transaction.
BATCH = 10_000


class GraphWriter:
    """Writes one load into a knowledge graph, until another load of it begins.

    Each batch is committed on its own. Loading again finishes a load that was interrupted: rows
    that are stored already are found by their ids.
    """

    def __init__(self, database: Database, graph: str) -> None:
        self._database = database
        self._graph = graph
        self._load = uuid.uuid4().hex
        discard_import(database, graph)
        (row,) = database.write(
            "load_kg/begin", graph=graph, scope=graph_scope(graph), load=self._load
        )
        #: The encoder of the graph's embeddings, if it has any.
        self.encoder: str | None = row["encoder"]

    def write(self, gathered: Gathered) -> int:
        """Write the entities, and the relationships that are not stored yet; return their number.

        Stored entities get the aliases and labels that they lack.
        """
        with bar("entities", gathered.entities) as progress:
            self._write("load_kg/entities", gathered.entity_rows(), progress)
        rows = self._database.read("load_kg/stored_relationships", graph=self._graph)
        stored = {id_ for row in rows for id_ in row["ids"]}
        with bar("relationships", len(gathered)) as progress:
            new = (row for row in gathered.triple_rows() if row["id"] not in stored)
            return self._write("load_kg/relationships", new, progress)

    def finish(self) -> None:
        """Mark the graph as loaded to the end."""
        self._database.write("load_kg/finish", graph=self._graph, load=self._load)

    def _write(self, path: str, rows: Iterable[dict[str, Any]], progress: Progress) -> int:
        sizes: list[int] = []

        def values() -> Iterator[dict[str, Any]]:
            for batch in batches(rows, BATCH):
                sizes.append(len(batch))
                yield {"graph": self._graph, "load": self._load, "rows": batch}

        total = 0
        for rows_written in self._database.write_all(path, values()):
            written = rows_written[0]["written"] if rows_written else 0
            if written != sizes[-1]:
                raise GraphError(
                    "another load or deletion of this graph began meanwhile",
                    where=self._graph,
                    hint="Load again once it has ended.",
                )
            total += written
            progress.update(written)
        return total


def batches(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield rows in lists of `size`, the last one shorter."""
    remaining = iter(rows)
    while batch := list(islice(remaining, size)):
        yield batch
