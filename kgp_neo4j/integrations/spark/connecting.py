"""Connects a corpus whose passages Spark's executors embed, which takes longest by far."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark.sql import Row, SparkSession

from kgp_neo4j.corpus.connect import graphs
from kgp_neo4j.corpus.connect.embedding_graph import (
    check_memory,
    check_neighbours,
    choose_encoder,
    remember_encoder,
)
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.spark.session import mapped, opened, plain_errors, reached
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.models.mdr import passage_text
from kgp_neo4j.types.corpus import ConnectReport, GraphName
from kgp_neo4j.types.errors import ConfigurationError, no_corpus
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings, SimilaritySettings

__all__ = ["connect"]

#: Passages encoded and written at once, and those of a task: what is lost where an executor dies.
_ENCODED, _TASK = 256, 4_096


def connect(
    spark: SparkSession,
    corpus: str,
    *,
    edges: Sequence[GraphName] = graphs.EDGES,
    keywords: KeywordSettings | None = None,
    entities: EntitySettings | None = None,
    similarity: SimilaritySettings | None = None,
    database: Database | None = None,
) -> ConnectReport:
    """Make the graphs of a corpus as `kgp-neo4j connect` does, with passages embedded on Spark.

    Each executor has an encoder of its own and writes what it has encoded; the next run goes on
    after that. The edges are then made by this process and in the database. `database` is that of
    NEO4J_URI or the embedded one by default. Raises ConfigurationError for `knn-mdr`, which only
    `kgp-neo4j connect` makes, and CorpusError where there is no corpus.
    """
    if "knn-mdr" in edges:
        raise ConfigurationError(
            "Spark makes no graph named knn-mdr", hint=f"Choose among {', '.join(graphs.EDGES)}."
        )
    similarity = similarity or SimilaritySettings()
    began = time.perf_counter()
    embedded = 0
    with opened(database) as used, plain_errors():
        if not used.read("inspect/corpus", corpus=corpus):
            raise no_corpus(corpus)
        if "knn-st" in edges:
            embedded = _embed_missing(spark, used, corpus, similarity)
            similarity = dataclasses.replace(similarity, replace=False)
        seconds = {"embed on Spark": time.perf_counter() - began}
        report = graphs.connect(
            used, corpus, edges=edges, keywords=keywords, entities=entities, similarity=similarity
        )
    seconds |= report.seconds
    seconds["all"] = time.perf_counter() - began
    return dataclasses.replace(report, embedded=report.embedded + embedded, seconds=seconds)


def _embed_missing(
    spark: SparkSession, database: Database, corpus: str, settings: SimilaritySettings
) -> int:
    """Embed the passages that have no embedding, and return how many these were."""
    check_neighbours(settings.neighbours)
    encoder = choose_encoder(database, corpus, settings)
    if database.capabilities().gds:
        (state,) = database.read("inspect/corpus", corpus=corpus)
        check_memory(database, state["passages"], encoder.dimension, settings.neighbours)
    if settings.replace:
        database.write("connect/begin", corpus=corpus, graph="similarity", keep=False)
        database.write_in_batches("connect/remove_embeddings", corpus=corpus)
    remember_encoder(database, corpus, encoder)
    missing = [(row["id"],) for row in database.stream("connect/unembedded", corpus=corpus)]
    tasks = max(-(-len(missing) // _TASK), spark.sparkContext.defaultParallelism)
    ids = spark.createDataFrame(missing, "id string").repartition(tasks)
    embed = partial(_embed, connection=database.connection, encoder=encoder.name)
    written = mapped(ids, embed, "written int").groupBy().sum().collect()
    return int(written[0][0] or 0)


def _embed(rows: Iterator[Row], connection: Connection, encoder: str) -> Iterator[tuple[int]]:
    model = None
    with reached(connection) as database:
        while ids := [row["id"] for row in islice(rows, _ENCODED)]:
            model = model or load_encoder(encoder)
            passages = database.read("inspect/passages", ids=ids)
            vectors = model.encode([passage_text(p["title"], p["text"]) for p in passages])
            embeddings = [
                {"id": passage["id"], "vector": vector.tolist()}
                for passage, vector in zip(passages, vectors, strict=True)
            ]
            yield (database.write("connect/embeddings", rows=embeddings)[0]["written"],)
