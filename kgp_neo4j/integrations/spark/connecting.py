"""Makes the graphs of a corpus on Spark, with the ids, weights and marks of `connect`."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark.sql import Row, SparkSession
    from pyspark.sql import functions as f

from kgp_neo4j.corpus.connect import entity_graph
from kgp_neo4j.corpus.connect.build import GraphBuild, timed
from kgp_neo4j.corpus.connect.embedding_graph import (
    check_memory,
    check_neighbours,
    choose_encoder,
    embed_passages,
    remember_encoder,
)
from kgp_neo4j.corpus.connect.graphs import EDGES, finish_connect
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.spark.entity_graph import connect_entities
from kgp_neo4j.integrations.spark.keyword_graph import connect_keywords
from kgp_neo4j.integrations.spark.session import mapped, opened, plain_errors, reached
from kgp_neo4j.integrations.spark.work import Work
from kgp_neo4j.models.encoder import Encoder, load_encoder
from kgp_neo4j.models.mdr import passage_text
from kgp_neo4j.types.corpus import ConnectReport, GraphName
from kgp_neo4j.types.errors import ConfigurationError, no_corpus
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings, SimilaritySettings

__all__ = ["connect"]

#: Passages encoded and written at once.
_ENCODED = 256


def connect(
    spark: SparkSession,
    corpus: str,
    *,
    edges: Sequence[GraphName] = EDGES,
    keywords: KeywordSettings | None = None,
    entities: EntitySettings | None = None,
    similarity: SimilaritySettings | None = None,
    database: Database | None = None,
) -> ConnectReport:
    """Make the graphs of a corpus anew, as `kgp-neo4j connect --all` does, with the work on Spark.

    The keyword and the entity graph and the embeddings are made on the executors, the similarity
    edges by GDS in the database, and by this process alone what spaCy finds. The
    next run finishes one that was cut short; until then questions do without the graphs it made.
    `database` is that of NEO4J_URI or the embedded one by default. Raises ConfigurationError for
    `knn-mdr`, which only `kgp-neo4j connect` makes, and CorpusError where there is no corpus.
    """
    _check_edges(edges)
    keywords = keywords or KeywordSettings()
    entities = entities or EntitySettings()
    similarity = similarity or SimilaritySettings()
    report: dict[str, int] = {}
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    with opened(database) as used, plain_errors():
        if not used.read("inspect/corpus", corpus=corpus):
            raise no_corpus(corpus)
        if "knn-st" in edges:
            encoder = _check_similarity(used, corpus, similarity)
        # What is read after this is what the graphs are made of.
        begun = {
            graph: GraphBuild(used, corpus, graph, settings, seconds)
            for graph, settings, wanted in (
                ("keywords", keywords, "tfidf" in edges),
                ("entities", entities, "entity" in edges and not entities.spacy_model),
            )
            if wanted
        }
        for build in begun.values():
            build.begin(keep=False)
        work = Work(spark, used, corpus, seconds)
        try:
            if "keywords" in begun:
                connect_keywords(work, keywords, begun["keywords"])
            if "knn-st" in edges:
                embedded = _embed_missing(work, similarity, encoder)
            if "entities" in begun:
                connect_entities(work, entities, begun["entities"])
        finally:
            work.close()
        if "entity" in edges and "entities" not in begun:
            by_spacy = GraphBuild(used, corpus, "entities", entities, seconds, anew=True)
            entity_graph.connect_entities(by_spacy, entities)
        if "knn-st" in edges:
            # Those passages are left that came meanwhile.
            kept = dataclasses.replace(similarity, replace=False)
            with embed_passages(used, corpus, kept, seconds) as embedding:
                report |= embedding.join(similarity, anew=True)
            report["embedded"] += embedded
        report |= finish_connect(used, corpus)
    seconds["all"] = time.perf_counter() - began
    return ConnectReport(corpus=corpus, seconds=seconds, **report)


def _check_edges(edges: Sequence[GraphName]) -> None:
    """Raise ConfigurationError for graphs that Spark does not make, and for unlike hashes."""
    unknown = sorted(set(edges) - set(EDGES))
    if unknown or not edges:
        raise ConfigurationError(
            f"Spark makes no graph named {', '.join(unknown) or '(none)'}",
            hint=f"Choose among {', '.join(EDGES)}.",
        )
    if os.environ.get("PYTHONHASHSEED") == "random":
        raise ConfigurationError(
            "PYTHONHASHSEED is random, and workers compare hashes", hint="Unset it."
        )


def _check_similarity(database: Database, corpus: str, settings: SimilaritySettings) -> Encoder:
    """Return the encoder, once it is known that the similarity graph can be made."""
    check_neighbours(settings.neighbours)
    encoder = choose_encoder(database, corpus, settings)
    if database.capabilities().gds:
        (state,) = database.read("inspect/corpus", corpus=corpus)
        check_memory(database, state["passages"], encoder.dimension, settings.neighbours)
    return encoder


def _embed_missing(work: Work, settings: SimilaritySettings, encoder: Encoder) -> int:
    """Embed the passages that have no embedding, each executor with an encoder of its own.

    Returns how many these were.
    """
    database, corpus = work.database, work.corpus
    with timed(work.seconds, "embed"):
        if settings.replace:
            database.write("connect/begin", corpus=corpus, graph="similarity", keep=False)
            database.write_in_batches("connect/remove_embeddings", corpus=corpus)
        remember_encoder(database, corpus, encoder)
        missing = {row["id"] for row in database.stream("connect/unembedded", corpus=corpus)}
        some = work.passages.select("id", f.col("named").alias("title"), "text")
        if len(missing) < work.number:
            ids = work.spark.createDataFrame([(id_,) for id_ in missing], "id string")
            some = some.join(ids, "id")
        some = some.repartition(work.blocks, "id").sortWithinPartitions(-f.length("text"))
        task = partial(_embed, connection=database.connection, encoder=encoder.name)
        written = mapped(some, task, "written int").groupBy().sum().collect()
        return int(written[0][0] or 0)


def _embed(rows: Iterator[Row], connection: Connection, encoder: str) -> Iterator[tuple[int]]:
    model = None
    with reached(connection) as database:
        while some := list(islice(rows, _ENCODED)):
            model = model or load_encoder(encoder)
            vectors = model.encode([passage_text(row["title"], row["text"]) for row in some])
            made = [
                {"id": row["id"], "vector": vector.tolist()}
                for row, vector in zip(some, vectors, strict=True)
            ]
            yield (database.write("connect/embeddings", rows=made)[0]["written"],)
