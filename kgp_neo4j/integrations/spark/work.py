"""The passages of a corpus as a frame on Spark, and the edges that pairs of them make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark import RDD, StorageLevel
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql import functions as f

from kgp_neo4j.corpus.connect.build import timed
from kgp_neo4j.corpus.connect.pairs import MOST_ITEMS, Pairs, outdated, pair_hashes
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.spark.session import Tables, block, mapped, reached, together

__all__ = ["PAIRS", "Work", "rows_of_pairs"]

_Made = TypeVar("_Made", DataFrame, RDD[Any])

#: Passages of a block: what one executor has in memory at once.
_BLOCK = 4_096
#: Passages whose marks are written in one transaction.
_MARKED = 2_000
#: The columns of a frame of pairs.
PAIRS = (
    "first string, second string, count long, weight double, items array<string>, titled boolean"
)


class Work:
    """The passages of a corpus as a frame, each in one of `blocks`, and what graphs are made with.

    `passages` has id, document, position, text and the document's title (`named`).
    """

    def __init__(
        self, spark: SparkSession, database: Database, corpus: str, seconds: dict[str, float]
    ) -> None:
        self.spark = spark
        self.database = database
        self.corpus = corpus
        self.seconds = seconds
        self.tables = Tables(spark, database.connection)
        self._held: list[DataFrame | RDD[Any]] = []
        with timed(seconds, "read passages"):
            documents = self.tables.nodes("Document", corpus, "id string, title string").select(
                f.col("id").alias("document"), f.col("title").alias("named")
            )
            passages = self.tables.nodes(
                "Passage", corpus, "id string, document string, position long, text string"
            )
            joined = passages.join(documents, "document")
            self.passages = self.hold(joined)
            self.number = self.passages.count()
        workers = spark.sparkContext.defaultParallelism
        self.blocks = max(-(-self.number // _BLOCK), workers)

    def close(self) -> None:
        """Give back the memory of the executors."""
        for frame in self._held:
            frame.unpersist()

    def hold(self, made: _Made) -> _Made:
        """Keep what is needed more than once, until `close`."""
        kept = made.persist(StorageLevel.MEMORY_AND_DISK)
        self._held.append(kept)
        return kept

    def write_pairs(self, pairs: DataFrame, edge: Mapping[str, str]) -> None:
        """Write the edges of pairs and each passage's marks of them.

        `edge` has the names of the type and the properties, as `connect/shared` takes them.
        """
        pairs = self.hold(pairs)
        shared = pairs.where("NOT titled")
        # From the lower passage where both chose each other.
        back = shared.select(f.col("second").alias("first"), f.col("first").alias("second"))
        both = shared.where("first > second").join(back, ["first", "second"], "left_semi")
        once = shared.join(both.select("first", "second"), ["first", "second"], "left_anti")
        named = pairs.where("titled")
        ways = named.select("first", "second").union(named.select("second", "first"))
        once = once.join(ways, ["first", "second"], "left_anti")
        edges = self.hold(named.unionByName(once))
        self.database.write_in_batches(
            "connect/remove_edges", corpus=self.corpus, type=edge["type"], marks=edge["marks"]
        )
        self.tables.write_edges(
            edges.select("first", "second", "count", "weight", f.col("items").alias(edge["items"]),
                         f.col("titled").alias("namesTitle")),
            edge["type"], ("Passage", "Passage"), ("first:id", "second:id"),
        )  # fmt: skip
        marked = together(
            self.passages.select("id", block("id", self.blocks)),
            edges.withColumn("block", block("first", self.blocks)),
            _edge_marks, "id string, marks string", self.blocks,
        )  # fmt: skip
        self.write_marks(marked.select("id", f.col("marks").alias(edge["marks"])))

    def write_marks(self, frame: DataFrame) -> None:
        """Write what the other columns say of each passage with an `id` that is still there."""
        task = partial(_write_marks, connection=self.database.connection, corpus=self.corpus)
        mapped(frame.repartition(self.blocks, "id"), task, "written int").count()


def _write_marks(rows: Iterator[Row], connection: Connection, corpus: str) -> Iterator[tuple[int]]:
    with reached(connection) as database:
        while some := list(islice(rows, _MARKED)):
            marks = [row.asDict() for row in some]
            made = [{"id": row.pop("id"), "marks": row} for row in marks]
            yield (database.write("connect/marks", corpus=corpus, rows=made)[0]["written"],)


def rows_of_pairs(
    pairs: Pairs, ids: Sequence[str], texts: Sequence[str], titled: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of pairs of passages (`ids`) that share `texts` or name a title."""
    for first, second, count, weight, items in zip(
        pairs.first.tolist(), pairs.second.tolist(), pairs.count.tolist(),
        pairs.weight.tolist(), pairs.items.tolist(), strict=True,
    ):  # fmt: skip
        yield ids[first], ids[second], count, weight, [texts[n] for n in items if n >= 0], titled


def _edge_marks(rows: list[Row], edges: list[Row]) -> Iterator[tuple[Any, ...]]:
    own = sorted(row["id"] for row in rows)
    ids = list(dict.fromkeys([*own, *(row["second"] for row in edges)]))
    place = {id_: at for at, id_ in enumerate(ids)}
    texts = list(dict.fromkeys(text for row in edges for text in row["items"]))
    number = {text: at for at, text in enumerate(texts)}
    items = np.full((len(edges), MOST_ITEMS), -1, np.int64)
    for at, row in enumerate(edges):
        items[at, : len(row["items"])] = [number[text] for text in row["items"]]
    pairs = Pairs(
        np.array([place[row["first"]] for row in edges], np.int64),
        np.array([place[row["second"]] for row in edges], np.int64),
        np.array([row["count"] for row in edges], np.int64),
        np.array([row["weight"] for row in edges], np.float64),
        items,
    )
    titled = np.array([row["titled"] for row in edges], bool)
    identity = pair_hashes(pairs, titled, ids, texts)
    marks = outdated(
        pairs.first, identity, pairs.weight, [None] * len(own), np.ones(len(own), bool)
    )
    yield from ((own[at], made) for at, made in marks.items())
