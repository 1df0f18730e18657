"""Makes the graphs of a corpus on Spark, with the ids, weights and marks of `connect`.

Passages are worked on in blocks by the functions that `connect` calls with all of them; what a
block needs of the others (how many passages have an n-gram, who else has a keyword) is counted and
joined by Spark.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark import StorageLevel
    from pyspark.broadcast import Broadcast
    from pyspark.sql import DataFrame, Row, SparkSession
    from pyspark.sql import functions as f

from kgp_neo4j.corpus.connect.embedding_graph import (
    choose_encoder,
    connect_similarity,
    embed_passages,
    remember_encoder,
)
from kgp_neo4j.corpus.connect.entity_graph import connect_entities
from kgp_neo4j.corpus.connect.graphs import EDGES, graph_counts, mark_complete
from kgp_neo4j.corpus.connect.keyword_graph import MOST_OWNERS, link_hashes, naming_pairs
from kgp_neo4j.corpus.connect.keywords import (
    CorpusCounts,
    PassageWords,
    count_words,
    extract_keywords,
)
from kgp_neo4j.corpus.connect.steps import (
    MOST_ITEMS,
    Making,
    Pairs,
    chosen_pairs,
    outdated,
    pair_hashes,
    timed,
)
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.spark.session import (
    Tables,
    block,
    mapped,
    opened,
    plain_errors,
    reached,
    together,
)
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.models.mdr import passage_text
from kgp_neo4j.types.corpus import ConnectReport, GraphName
from kgp_neo4j.types.errors import ConfigurationError, no_corpus
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings, SimilaritySettings

__all__ = ["connect"]

#: Passages of a block: what one executor has in memory at once.
_BLOCK = 4_096
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

    The keyword graph and the embeddings are made on the executors, the similarity edges by GDS in
    the database, and the entity graph by this process. A run that was cut short is finished by the
    next. `database` is that of NEO4J_URI or the embedded one by default. Raises ConfigurationError
    for `knn-mdr`, which only `kgp-neo4j connect` makes, and CorpusError where there is no corpus.
    """
    unknown = sorted(set(edges) - set(EDGES))
    if unknown or not edges:
        raise ConfigurationError(
            f"Spark makes no graph named {', '.join(unknown) or '(none)'}",
            hint=f"Choose among {', '.join(EDGES)}.",
        )
    keywords = keywords or KeywordSettings()
    entities = entities or EntitySettings()
    similarity = similarity or SimilaritySettings()
    keywords.check()
    entities.check()
    report: dict[str, int] = {}
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    with opened(database) as used, plain_errors():
        if not used.read("inspect/corpus", corpus=corpus):
            raise no_corpus(corpus)
        work = _Work(spark, used, corpus, seconds)
        try:
            if "tfidf" in edges:
                work.keywords(keywords)
            if "knn-st" in edges:
                work.embed(similarity)
        finally:
            work.close()
        if "entity" in edges:
            connect_entities(used, corpus, entities, True, seconds, lambda: None)
        if "knn-st" in edges:
            # Those passages are left that came meanwhile.
            kept = dataclasses.replace(similarity, replace=False)
            with embed_passages(used, corpus, kept, seconds) as embedding:
                report |= connect_similarity(embedding, similarity, True)
            report["embedded"] += work.embedded
        mark_complete(used, corpus)
        report |= graph_counts(used, corpus)
    seconds["all"] = time.perf_counter() - began
    return ConnectReport(corpus=corpus, seconds=seconds, **report)


class _Work:
    """The passages of a corpus as a frame, and the graphs that are made of them."""

    def __init__(
        self, spark: SparkSession, database: Database, corpus: str, seconds: dict[str, float]
    ) -> None:
        self._spark = spark
        self._database = database
        self._corpus = corpus
        self._seconds = seconds
        self._tables = Tables(spark, database.connection)
        self._held: list[DataFrame] = []
        self.embedded = 0
        with timed(seconds, "read passages"):
            documents = self._tables.nodes("Document", corpus, "id", "title").select(
                f.col("id").alias("document"), f.col("title").alias("named")
            )
            passages = self._tables.nodes("Passage", corpus, "id", "document", "position", "text")
            joined = passages.join(documents, "document")
            self._passages = self._hold(joined)
            self._number = self._passages.count()
        workers = spark.sparkContext.defaultParallelism
        self._blocks = max(-(-self._number // _BLOCK), workers)

    def close(self) -> None:
        """Give back the memory of the executors."""
        for frame in self._held:
            frame.unpersist()

    def _hold(self, frame: DataFrame) -> DataFrame:
        self._held.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
        return self._held[-1]

    # --- Keywords ---

    def keywords(self, settings: KeywordSettings) -> None:
        """Make the keyword graph."""
        database, corpus = self._database, self._corpus
        making = Making(database, corpus, "keywords", settings, keep=False)
        with timed(self._seconds, "extract keywords"):
            words = self._hold(self._extract(settings))
            links = words.select("id", f.posexplode("keywords").alias("n", "k"))
            links = self._hold(links.select("id", "n", "k.*"))
            texts = self._hold(
                links.groupBy("text").agg(
                    f.first("frequency").alias("frequency"),
                    f.first("named").alias("named"),
                    f.sum(f.col("owned").cast("long")).alias("owners"),
                )
            )
        with timed(self._seconds, "write keywords"):
            database.write_in_batches("load/delete_keywords", corpus=corpus)
            named = texts.select(
                f.lit(corpus).alias("corpus"), "text", f.col("text").alias("title"),
                f.col("frequency").alias("documentFrequency"), "named",
            )  # fmt: skip
            self._tables.write_nodes(named, "Keyword", "corpus", "text")
            self._tables.write_edges(
                links.select("id", "text", f.lit(corpus).alias("corpus"),
                             f.col("weight").alias("tfidf"), "owned"),
                "HAS_KEYWORD", ("Passage", "Keyword"), ("id:id", "text:text,corpus:corpus"),
            )  # fmt: skip
            marks = words.select(
                "id", f.lit(True).alias("inKeywordGraph"), f.col("marks").alias("keywordMarks")
            )
            self._tables.write_nodes(marks, "Passage", "id")
        with timed(self._seconds, "shared-keyword edges"):
            near = self._keyword_pairs(words, links, texts, settings)
            self._write_pairs(near, "SHARES_KEYWORD", "sharedKeywordMarks", "keywords")
        making.finish()

    def _extract(self, settings: KeywordSettings) -> DataFrame:
        """Return the keywords of each passage, with its marks."""
        passages = self._passages.select(
            block("id", self._blocks), "id", "text",
            f.when(f.col("position") == 0, f.col("named")).otherwise("").alias("title"),
        )  # fmt: skip
        titles = self._spark.sparkContext.broadcast(
            sorted(r["title"] for r in passages.select("title").distinct().collect() if r["title"])
        )
        none = self._spark.createDataFrame([], "block int")
        counts = together(
            passages, none, partial(_count, titles=titles, longest=settings.longest),
            "block int, hash long, frequency long, titled long", self._blocks,
        )  # fmt: skip
        counts = self._hold(counts)
        totals = counts.groupBy("hash").agg(
            f.sum("frequency").alias("frequency"), f.sum("titled").alias("titled")
        )
        totals = totals.where("frequency >= 2 OR titled > 0")
        table = counts.select("block", "hash").distinct().join(totals, "hash")
        return together(
            passages, table,
            partial(_extracted, titles=titles, passages=self._number, settings=settings),
            "id string, block int, marks string, keywords array<struct<text: string, "
            "frequency: long, named: boolean, weight: double, owned: boolean>>", self._blocks,
        )  # fmt: skip

    def _keyword_pairs(
        self, words: DataFrame, links: DataFrame, texts: DataFrame, settings: KeywordSettings
    ) -> DataFrame:
        """Return the pairs that share keywords, as each passage chooses them, and those named."""
        few = texts.where(
            (f.col("frequency") <= settings.max_frequency) | f.col("owners").between(1, MOST_OWNERS)
        ).select("text", "owners")
        others = links.join(few, "text").where(
            (f.col("frequency") <= settings.max_frequency) | f.col("owned")
        )
        wanted = links.select("text", block("id", self._blocks)).distinct()
        table = wanted.join(others, "text").select(
            "block", "id", "n", "text", "frequency", "weight", "owned", "owners"
        )
        return together(
            words, table, partial(_shared_keywords, settings=settings), _PAIRS, self._blocks
        )

    def _write_pairs(self, pairs: DataFrame, type_: str, marks: str, items: str) -> None:
        """Write the edges of pairs and each passage's marks of them."""
        pairs = self._hold(pairs)
        shared = pairs.where("NOT titled")
        # From the lower passage where both chose each other.
        back = shared.select(f.col("second").alias("first"), f.col("first").alias("second"))
        both = shared.where("first > second").join(back, ["first", "second"], "left_semi")
        once = shared.join(both.select("first", "second"), ["first", "second"], "left_anti")
        named = pairs.where("titled")
        ways = named.select("first", "second").union(named.select("second", "first"))
        once = once.join(ways, ["first", "second"], "left_anti")
        edges = self._hold(named.unionByName(once))
        self._database.write_in_batches("connect/remove_similar", corpus=self._corpus, type=type_)
        self._tables.write_edges(
            edges.select("first", "second", "count", "weight", f.col("items").alias(items),
                         f.col("titled").alias("namesTitle")),
            type_, ("Passage", "Passage"), ("first:id", "second:id"),
        )  # fmt: skip
        marked = together(
            self._passages.select("id", block("id", self._blocks)),
            edges.withColumn("block", block("first", self._blocks)),
            _edge_marks, "id string, marks string", self._blocks,
        )  # fmt: skip
        self._tables.write_nodes(marked.select("id", f.col("marks").alias(marks)), "Passage", "id")

    # --- Embeddings ---

    def embed(self, settings: SimilaritySettings) -> None:
        """Embed the passages that have no embedding, each executor with an encoder of its own."""
        database, corpus = self._database, self._corpus
        encoder = choose_encoder(database, corpus, settings)
        with timed(self._seconds, "embed"):
            if settings.replace:
                database.write("connect/begin", corpus=corpus, graph="similarity", keep=False)
                database.write_in_batches("connect/remove_embeddings", corpus=corpus, space="st")
            remember_encoder(database, corpus, encoder)
            missing = {
                row["id"]
                for row in database.stream("connect/unembedded", corpus=corpus, space="st")
            }
            some = self._passages.select("id", f.col("named").alias("title"), "text")
            if len(missing) < self._number:
                ids = self._spark.createDataFrame([(id_,) for id_ in missing], "id string")
                some = some.join(ids, "id")
            some = some.repartition(self._blocks, "id").sortWithinPartitions(-f.length("text"))
            task = partial(_embed, connection=database.connection, encoder=encoder.name)
            written = mapped(some, task, "written int").groupBy().sum().collect()
            self.embedded = int(written[0][0] or 0)


# --- What executors do with a block ---


def _words(rows: Iterable[Row]) -> tuple[list[str], list[PassageWords]]:
    ordered = sorted(rows, key=lambda row: row["id"])
    return (
        [row["id"] for row in ordered],
        [PassageWords(row["title"], f"{row['title']}. {row['text']}") for row in ordered],
    )


def _count(
    rows: list[Row], _: list[Row], titles: Broadcast[list[str]], longest: int
) -> Iterator[tuple[Any, ...]]:
    hashes, frequency, titled = count_words(_words(rows)[1], titles.value, longest)
    at = rows[0]["block"]
    for row in zip(
        hashes.view(np.int64).tolist(), frequency.tolist(), titled.tolist(), strict=True
    ):
        yield at, *row


def _extracted(
    rows: list[Row],
    table: list[Row],
    titles: Broadcast[list[str]],
    passages: int,
    settings: KeywordSettings,
) -> Iterator[tuple[Any, ...]]:
    ids, read = _words(rows)
    known = np.array(
        [(row["hash"], row["frequency"], row["titled"]) for row in table], np.int64
    ).reshape(-1, 3)
    hashes = known[:, 0].copy().view(np.uint64)
    order = np.argsort(hashes)
    counts = CorpusCounts(passages, titles.value, hashes[order], known[order, 1], known[order, 2])
    found = extract_keywords(read, settings, counts=counts)
    marks = outdated(
        found.passage, link_hashes(found), found.weight, [None] * len(ids), np.ones(len(ids), bool)
    )
    links = zip(found.keyword.tolist(), found.weight.tolist(), found.owned.tolist(), strict=True)
    sizes = np.bincount(found.passage, minlength=len(ids)).tolist()
    frequency, named = found.frequency.tolist(), found.named.tolist()
    for at, (id_, size) in enumerate(zip(ids, sizes, strict=True)):
        made = [
            (found.texts[k], frequency[k], named[k], weight, owned)
            for k, weight, owned in islice(links, size)
        ]
        yield id_, rows[0]["block"], marks[at], made


_PAIRS = (
    "first string, second string, count long, weight double, items array<string>, titled boolean"
)


def _shared_keywords(
    rows: list[Row], table: list[Row], settings: KeywordSettings
) -> Iterator[tuple[Any, ...]]:
    """Yield the pairs whose first passage is in the block, of all passages that share with it."""
    own = sorted(row["id"] for row in rows)
    place = {id_: at for at, id_ in enumerate(own)}
    mine = [
        (place[row["id"]], n, k["text"], k["frequency"], k["weight"], k["owned"])
        for row in rows
        for n, k in enumerate(row["keywords"])
    ]
    owners: dict[str, int] = {}
    foreign: set[str] = set()
    for row in table:
        owners[row["text"]] = row["owners"]
        if row["id"] not in place:
            foreign.add(row["id"])
    ids = [*own, *sorted(foreign)]
    place = {id_: at for at, id_ in enumerate(ids)}
    mine += [
        (place[r["id"]], r["n"], r["text"], r["frequency"], r["weight"], r["owned"])
        for r in table
        if r["id"] in foreign
    ]
    mine.sort(key=lambda row: row[:2])
    texts = list(dict.fromkeys(row[2] for row in mine))
    number = {text: at for at, text in enumerate(texts)}
    passage = np.array([row[0] for row in mine], np.int64)
    keyword = np.array([number[row[2]] for row in mine], np.int64)
    frequency = np.array([row[3] for row in mine], np.int64)
    weight = np.array([row[4] for row in mine], np.float64)
    owned = np.array([row[5] for row in mine], bool)
    counted = np.array([owners.get(text, MOST_OWNERS + 1) for text in texts], np.int64)
    named = naming_pairs(passage, keyword, weight, owned, counted, len(own))
    rare = np.flatnonzero(frequency <= settings.max_frequency)
    shared = chosen_pairs(
        passage[rare], keyword[rare], weight[rare], weight[rare], ids, settings.neighbours,
        len(own),
    )  # fmt: skip
    yield from _pairs(named, ids, texts, True)
    yield from _pairs(shared, ids, texts, False)


def _pairs(
    pairs: Pairs, ids: Sequence[str], texts: Sequence[str], titled: bool
) -> Iterator[tuple[Any, ...]]:
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
            yield (database.write("connect/embeddings", rows=made, space="st")[0]["written"],)
