"""Retrieves passages for a frame of questions: each executor asks the database by itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark.sql import DataFrame, Row

from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.spark.session import mapped, opened, reached, texts_of
from kgp_neo4j.types.corpus import Method
from kgp_neo4j.types.errors import no_corpus
from kgp_neo4j.types.settings import TraversalSettings

__all__ = ["retrieve"]

_FOUND = "id string, rank int, passage string, title string, text string, score double"


def retrieve(
    questions: DataFrame,
    corpus: str,
    *,
    k: int = 10,
    method: Method = "kgp",
    database: Database | None = None,
) -> DataFrame:
    """Return the passages for questions, best first: a row for each passage of each question.

    `questions` needs the columns `id` and `question`; the result has id, rank (from 1), passage,
    title, text and score. It is computed when it is asked for, by the agent that `Corpus.retrieve`
    takes by default. Raises CorpusError where there is no such corpus.
    """
    asked = texts_of(questions, "id", "question")
    with opened(database) as used:
        if {"name": corpus} not in used.read("inspect/names"):
            raise no_corpus(corpus)
        connection = used.connection
    task = partial(_retrieve, connection=connection, corpus=corpus, k=k, method=method)
    return mapped(asked, task, _FOUND)


def _retrieve(
    rows: Iterator[Row], connection: Connection, corpus: str, k: int, method: Method
) -> Iterator[tuple[Any, ...]]:
    from kgp_neo4j.corpus.corpus import Corpus

    with reached(connection) as database:
        asked = Corpus(corpus, database=database)
        settings = TraversalSettings(budget=max(k, TraversalSettings().budget))
        for row in rows:
            found = asked.retrieve(row["question"], method=method, settings=settings)
            for rank, p in enumerate(found.passages[:k], 1):
                yield row["id"], rank, p.id, p.title, p.text, p.score
