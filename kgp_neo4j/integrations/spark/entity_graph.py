"""Makes the entity graph of a corpus on Spark, with the mentions, weights and marks of `connect`.

Executors read blocks of passages; the driver counts how all of them write the documents' names;
executors then decide what each passage mentions. Phrases and what passages share are counted and
joined by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark import RDD
    from pyspark.broadcast import Broadcast
    from pyspark.sql import DataFrame, Row
    from pyspark.sql import functions as f

from kgp_neo4j.corpus.connect.build import GraphBuild, timed
from kgp_neo4j.corpus.connect.entities.linker import EntityLinker
from kgp_neo4j.corpus.connect.entities.mentions import (
    PassageText,
    Reading,
    link_passages,
    mention_marks,
    owners_of,
    read_passages,
)
from kgp_neo4j.corpus.connect.entities.spots import Spots
from kgp_neo4j.corpus.connect.entities.surface_forms import read_aliases
from kgp_neo4j.corpus.connect.entity_graph import ENTITY_EDGE, rarity
from kgp_neo4j.corpus.connect.pairs import choose_pairs
from kgp_neo4j.integrations.spark.session import block, mapped, together
from kgp_neo4j.integrations.spark.work import PAIRS, Work, rows_of_pairs
from kgp_neo4j.types.settings import EntitySettings

__all__ = ["connect_entities"]

_LINKED = (
    "id string, document string, position long, marks string, mentions array<struct<"
    "document: string, name: string, surface: string, start: long, end: long, "
    "commonness: double, coherence: double, score: double, offsets: array<long>>>, "
    "entities array<struct<name: string, title: string, type: string>>"
)
_VALUES = ("surface", "start", "end", "commonness", "coherence", "score", "offsets")


def connect_entities(work: Work, settings: EntitySettings, build: GraphBuild) -> None:
    """Make the entity graph by the titles; `build` began before the passages were read."""
    database, corpus = work.database, work.corpus
    with timed(work.seconds, "link entities"):
        linked = work.hold(_link(work, settings))
        mentions = linked.select("id", f.explode("mentions").alias("m"))
        mentions = work.hold(mentions.select("id", "m.*"))
        documents, named = (mentions.where(f.col(c).isNotNull()) for c in ("document", "name"))
        # As the first passage that has one calls it.
        new = linked.select("document", "position", f.explode("entities").alias("e"))
        first = f.min_by(f.struct("e.title", "e.type"), f.struct("document", "position"))
        entities = new.groupBy("e.name").agg(first.alias("e")).select("name", "e.*")
        entities = work.hold(entities.withColumn("corpus", f.lit(corpus)))
    with timed(work.seconds, "write mentions"):
        database.write_in_batches(
            "connect/remove_edges", corpus=corpus, type="MENTIONS", marks="mentionMarks"
        )
        work.tables.write_nodes(entities, "NamedEntity", "corpus", "name")
        work.tables.write_edges(
            documents.select("id", "document", *_VALUES),
            "MENTIONS", ("Passage", "Document"), ("id:id", "document:id"),
        )  # fmt: skip
        work.tables.write_edges(
            named.select("id", "name", f.lit(corpus).alias("corpus"), *_VALUES),
            "MENTIONS", ("Passage", "NamedEntity"), ("id:id", "name:name,corpus:corpus"),
        )  # fmt: skip
        marks = linked.select(
            "id", f.lit(settings.linker).alias("linkedBy"), f.col("marks").alias("mentionMarks")
        )
        work.write_marks(marks)
        database.write_in_batches("connect/remove_entities", corpus=corpus)
    with timed(work.seconds, "shared-entity edges"):
        near = _shared_entities(work, named.join(entities, "name"), documents, settings)
        near = near.unionByName(_mentioned_documents(work, documents))
        work.write_pairs(near, ENTITY_EDGE)
    build.finish()


def _link(work: Work, settings: EntitySettings) -> DataFrame:
    """Return what each passage mentions, with its marks."""
    context = work.spark.sparkContext
    passages = work.passages
    titles = sorted(tuple(r) for r in passages.select("document", "named").distinct().collect())
    aliases: dict[str, list[str]] = {}
    if settings.aliases:
        aliases = read_aliases(settings.aliases, {title for _, title in titles})
    linker = EntityLinker(titles, aliases, settings)
    first = f.min_by(f.struct("document", "named", "text"), f.struct("document", "position"))
    firsts = passages.groupBy("named").agg(first.alias("p")).select("p.*").orderBy("document")
    linker.add_lead_names(
        (linker.number[row["document"]], row["text"]) for row in firsts.toLocalIterator()
    )
    sent = context.broadcast(linker)
    keyed = passages.withColumn("block", block("id", work.blocks)).rdd.keyBy(lambda r: r["block"])
    read = work.hold(keyed.groupByKey(work.blocks).mapValues(partial(_read, linker=sent)))
    read.count()  # all at once, where the iterator has them made one by one
    spots, owners = Spots(), list[int]()
    found = read.values().map(lambda one: (one.reading.spots, owners_of(sent.value, one.passages)))
    for some, owned in found.toLocalIterator():
        spots.extend(some)
        owners += owned
    linker.learn(spots, owners)
    shared = _shared_phrases(work, read, settings.phrase_frequency)
    # In the partitions of what was read, so that no text moves again.
    made = read.cogroup(shared.partitionBy(work.blocks)).flatMap(
        partial(_linked, linker=context.broadcast(linker))
    )
    return work.spark.createDataFrame(made, _LINKED, verifySchema=False)


def _shared_phrases(work: Work, read: RDD[Any], most: int) -> RDD[Any]:
    """Return the block and hash of each phrase that 2 to `most` passages have."""
    counts = work.spark.createDataFrame(
        read.flatMap(_counted), "block int, hash long, count long, sure boolean", verifySchema=False
    )
    all_ = counts.groupBy("hash").agg(f.sum("count").alias("all"), f.max("sure").alias("name"))
    shared = all_.where(f.col("name") & f.col("all").between(2, most))
    return counts.join(shared, "hash").select("block", "hash").rdd.map(tuple)


def _shared_entities(
    work: Work, named: DataFrame, documents: DataFrame, settings: EntitySettings
) -> DataFrame:
    """Return the pairs that share entities or documents, as each passage chooses them."""
    titles = work.passages.select("document", f.col("named").alias("title")).distinct()
    phrase = (f.col("type") == "Phrase") & ~f.col("name").contains(" ")
    items = named.select(
        "id", f.concat(f.lit("e "), "name").alias("item"), "title", phrase.alias("single")
    ).unionByName(
        documents.join(titles, "document").select(
            "id", f.concat(f.lit("d "), "document").alias("item"), "title",
            f.lit(False).alias("single"),
        )
    )  # fmt: skip
    counted = items.groupBy("item").agg(f.count("*").alias("frequency"))
    few = counted.where(f.col("frequency").between(2, settings.max_frequency))
    items = work.hold(items.join(few, "item"))
    wanted = items.select("item", block("id", work.blocks)).distinct()
    return together(
        work.passages.select("id", block("id", work.blocks)), wanted.join(items, "item"),
        partial(_shared, passages=work.number, neighbours=settings.neighbours),
        PAIRS, work.blocks,
    )  # fmt: skip


def _mentioned_documents(work: Work, documents: DataFrame) -> DataFrame:
    """Return the pairs of a passage and the first one of each document that it mentions."""
    counted = documents.groupBy("document").agg(f.count("*").alias("frequency"))
    first = work.passages.where("position = 0").select(
        "document", f.col("id").alias("second"), f.col("named").alias("title")
    )
    pairs = documents.join(counted, "document").join(first, "document").where("id <> second")
    return mapped(pairs, partial(_titled, passages=work.number), PAIRS)


# --- What executors do with a block ---


@dataclass(frozen=True, slots=True)
class _Block:
    """The passages of a block by document and position, the positions, and what was read."""

    passages: list[PassageText]
    positions: list[int]
    reading: Reading


def _read(rows: Iterable[Row], linker: Broadcast[EntityLinker]) -> _Block:
    ordered = sorted(rows, key=lambda row: (row["document"], row["position"]))
    passages = [PassageText(r["id"], r["document"], r["named"], r["text"]) for r in ordered]
    return _Block(
        passages, [row["position"] for row in ordered], read_passages(linker.value, passages)
    )


def _counted(keyed: tuple[int, _Block]) -> Iterator[tuple[Any, ...]]:
    at, one = keyed
    # The hashes of all workers are alike: Spark gives them one PYTHONHASHSEED.
    found = one.reading.phrases.counted()
    for hash_, count, sure in zip(
        found.hashes.tolist(), found.count.tolist(), found.sure.tolist(), strict=True
    ):
        yield at, hash_, count, sure


def _linked(keyed: Any, linker: Broadcast[EntityLinker]) -> Iterator[tuple[Any, ...]]:
    _, (blocks, shared) = keyed
    kept = np.fromiter(shared, np.int64)
    for one in blocks:
        made = list(link_passages(linker.value, one.passages, one.reading, kept))
        marks = mention_marks(made, [None] * len(made), [True] * len(made))
        for at, (linked, position) in enumerate(zip(made, one.positions, strict=True)):
            linked.spell_phrases()
            mentions = [
                (row.get("document"), row.get("name"), *(row[value] for value in _VALUES))
                for row in (*linked.documents, *linked.others)
            ]
            entities = [(e["name"], e["title"], e["type"]) for e in linked.entities.values()]
            passage = linked.passage
            yield passage.id, passage.document, position, marks[at], mentions, entities


def _shared(
    rows: list[Row], table: list[Row], passages: int, neighbours: int
) -> Iterator[tuple[Any, ...]]:
    """Yield the pairs whose first passage is in the block, of all passages that share with it."""
    own = sorted(row["id"] for row in rows)
    ids = [*own, *sorted({row["id"] for row in table}.difference(own))]
    place = {id_: at for at, id_ in enumerate(ids)}
    rare = {r["item"]: rarity(passages, r["frequency"], r["single"]) for r in table}
    mine = sorted((place[r["id"]], -rare[r["item"]], r["title"], r["item"]) for r in table)
    titles = {row[3]: row[2] for row in mine}
    number = {item: at for at, item in enumerate(titles)}
    weight = -np.array([row[1] for row in mine], np.float64)
    pairs = choose_pairs(
        np.array([row[0] for row in mine], np.int64),
        np.array([number[row[3]] for row in mine], np.int64),
        weight, np.ones_like(weight), ids, neighbours, len(own),
    )  # fmt: skip
    yield from rows_of_pairs(pairs, ids, list(titles.values()), False)


def _titled(rows: Iterator[Row], passages: int) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        weight = row["score"] * rarity(passages, row["frequency"])
        yield row["id"], row["second"], 1, weight, [row["title"]], True
