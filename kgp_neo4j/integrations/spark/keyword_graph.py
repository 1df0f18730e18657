"""Makes the keyword graph of a corpus on Spark, with the keywords, weights and marks of `connect`.

Passages are worked on in blocks by the functions that `connect` calls with all of them; what a
block needs of the others (how many passages have an n-gram, who else has a keyword) is counted and
joined by Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark.broadcast import Broadcast
    from pyspark.sql import DataFrame, Row
    from pyspark.sql import functions as f

from kgp_neo4j.corpus.connect.build import GraphBuild, timed
from kgp_neo4j.corpus.connect.keyword_graph import (
    KEYWORD_EDGE,
    MOST_OWNERS,
    link_hashes,
    naming_pairs,
)
from kgp_neo4j.corpus.connect.keywords import (
    CorpusCounts,
    PassageWords,
    count_words,
    extract_keywords,
)
from kgp_neo4j.corpus.connect.pairs import choose_pairs, outdated
from kgp_neo4j.integrations.spark.session import block, together
from kgp_neo4j.integrations.spark.work import PAIRS, Work, rows_of_pairs
from kgp_neo4j.types.settings import KeywordSettings

__all__ = ["connect_keywords"]


def connect_keywords(work: Work, settings: KeywordSettings, build: GraphBuild) -> None:
    """Make the keyword graph; `build` began before the passages were read."""
    database, corpus = work.database, work.corpus
    with timed(work.seconds, "extract keywords"):
        words = work.hold(_extract(work, settings))
        links = words.select("id", f.posexplode("keywords").alias("n", "k"))
        links = work.hold(links.select("id", "n", "k.*"))
        texts = work.hold(
            links.groupBy("text").agg(
                f.first("frequency").alias("frequency"),
                f.first("named").alias("named"),
                f.sum(f.col("owned").cast("long")).alias("owners"),
            )
        )
    with timed(work.seconds, "write keywords"):
        database.write_in_batches(
            "connect/remove_edges", corpus=corpus, type="HAS_KEYWORD", marks="keywordMarks"
        )
        database.write_in_batches("load/delete_keywords", corpus=corpus)
        named = texts.select(
            f.lit(corpus).alias("corpus"), "text", f.col("text").alias("title"),
            f.col("frequency").alias("documentFrequency"), "named",
        )  # fmt: skip
        work.tables.write_nodes(named, "Keyword", "corpus", "text")
        work.tables.write_edges(
            links.select("id", "text", f.lit(corpus).alias("corpus"),
                         f.col("weight").alias("tfidf"), "owned"),
            "HAS_KEYWORD", ("Passage", "Keyword"), ("id:id", "text:text,corpus:corpus"),
        )  # fmt: skip
        marks = words.select(
            "id", f.lit(True).alias("inKeywordGraph"), f.col("marks").alias("keywordMarks")
        )
        work.write_marks(marks)
    with timed(work.seconds, "shared-keyword edges"):
        near = _keyword_pairs(work, words, links, texts, settings)
        work.write_pairs(near, KEYWORD_EDGE)
    build.finish()


def _extract(work: Work, settings: KeywordSettings) -> DataFrame:
    """Return the keywords of each passage, with its marks."""
    passages = work.passages.select(
        block("id", work.blocks), "id", "text",
        f.when(f.col("position") == 0, f.col("named")).otherwise("").alias("title"),
    )  # fmt: skip
    titles = work.spark.sparkContext.broadcast(
        sorted(r["title"] for r in passages.select("title").distinct().collect() if r["title"])
    )
    none = work.spark.createDataFrame([], "block int")
    counts = together(
        passages, none, partial(_count, titles=titles, longest=settings.longest),
        "block int, hash long, frequency long, titled long", work.blocks,
    )  # fmt: skip
    counts = work.hold(counts)
    totals = counts.groupBy("hash").agg(
        f.sum("frequency").alias("frequency"), f.sum("titled").alias("titled")
    )
    totals = totals.where("frequency >= 2 OR titled > 0")
    table = counts.select("block", "hash").distinct().join(totals, "hash")
    return together(
        passages, table,
        partial(_extracted, titles=titles, passages=work.number, settings=settings),
        "id string, block int, marks string, keywords array<struct<text: string, "
        "frequency: long, named: boolean, weight: double, owned: boolean>>", work.blocks,
    )  # fmt: skip


def _keyword_pairs(
    work: Work, words: DataFrame, links: DataFrame, texts: DataFrame, settings: KeywordSettings
) -> DataFrame:
    """Return the pairs that share keywords, as each passage chooses them, and those named."""
    few = texts.where(
        (f.col("frequency") <= settings.max_frequency) | f.col("owners").between(1, MOST_OWNERS)
    ).select("text", "owners")
    others = links.join(few, "text").where(
        (f.col("frequency") <= settings.max_frequency) | f.col("owned")
    )
    wanted = links.select("text", block("id", work.blocks)).distinct()
    table = wanted.join(others, "text").select(
        "block", "id", "n", "text", "frequency", "weight", "owned", "owners"
    )
    return together(words, table, partial(_shared_keywords, settings=settings), PAIRS, work.blocks)


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
    counts = CorpusCounts.summed(
        passages, (known[:, 0].copy().view(np.uint64), known[:, 1], known[:, 2])
    )
    found = extract_keywords(read, titles.value, settings, counts=counts)
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
    shared = choose_pairs(
        passage[rare], keyword[rare], weight[rare], weight[rare], ids, settings.neighbours,
        len(own),
    )  # fmt: skip
    yield from rows_of_pairs(named, ids, texts, True)
    yield from rows_of_pairs(shared, ids, texts, False)
