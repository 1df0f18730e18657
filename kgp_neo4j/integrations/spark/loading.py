"""Loads documents and triples on Spark's executors: read, split and written as `load` does."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.extras import needs

with needs("spark", "loading and connecting on Spark"):
    from pyspark.sql import DataFrame, Row, SparkSession

from kgp_neo4j.corpus.load.delete import discard_import
from kgp_neo4j.corpus.load.formats import read
from kgp_neo4j.corpus.load.loading import check_options, language_of
from kgp_neo4j.corpus.load.own_indexes import make_own_indexes
from kgp_neo4j.corpus.load.write import Written, batches, write
from kgp_neo4j.environment.files import find
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.spark.session import mapped, opened, plain_errors, reached, texts_of
from kgp_neo4j.mindmap.load.load_graph import load_triples
from kgp_neo4j.types.corpus import LoadReport, SourceDocument
from kgp_neo4j.types.errors import InputError
from kgp_neo4j.types.json_records import read_record, to_json
from kgp_neo4j.types.mindmap import GraphLoadReport

__all__ = ["documents_of", "load", "load_kg", "read_documents", "read_frame"]

_DOCUMENTS = "source string, key string, place long, document string, error string"
#: The documents by which the language of a new corpus is guessed.
_GUESSED = 1000
_COUNTS = [field.name for field in fields(Written)]


def read_documents(spark: SparkSession, paths: Iterable[str | Path]) -> DataFrame:
    """Return a frame of the documents in files, folders and globs, each file read by one executor.

    All executors must reach the files under these paths. A record that cannot be read is a row with
    an `error`. Raises InputError where a path does not exist.
    """
    found = find(paths)
    if found.errors:
        raise found.errors[0]
    files = [(at, str(path)) for at, path in enumerate(found.files)]
    frame = spark.createDataFrame(files, "file int, path string").repartition(max(len(files), 1))
    return mapped(frame, _read, _DOCUMENTS)


def _read(rows: Iterator[Row]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        with bar("read", 0, bytes_=True) as progress:
            for at, reading in enumerate(read(Path(row["path"]), progress)):
                place = row["file"] << 40 | at
                if isinstance(reading, SourceDocument):
                    made = to_json(reading)
                    yield reading.source, reading.key, place, made, None
                else:
                    yield row["path"], "", place, None, str(reading)


def read_frame(spark: SparkSession, kind: str, paths: Sequence[str]) -> DataFrame:
    """Return what Spark reads: files of a kind (parquet, csv, json, orc), or one `table`."""
    with plain_errors():
        if kind == "table":
            return spark.read.table(paths[0])
        reader = spark.read.format(kind)
        return (reader.option("header", True) if kind == "csv" else reader).load(list(paths))


def documents_of(frame: DataFrame, source: str, *, whole: bool = True) -> DataFrame:
    """Return a frame of documents made of any frame: a Parquet file, a table, a query.

    It needs the columns `key`, `title` and `text`; `source` names where they are from, and with the
    key is what a document is known by. `whole` keeps texts of up to 10,000 characters as one
    passage. Raises ConfigurationError where a column is missing.
    """
    return mapped(
        texts_of(frame, "key", "title", "text"),
        partial(_rows, source=source, whole=whole),
        _DOCUMENTS,
    )


def _rows(rows: Iterator[Row], source: str, whole: bool) -> Iterator[tuple[Any, ...]]:
    for at, row in enumerate(rows):
        if not row["key"] or not (row["text"] or "").strip():
            yield source, row["key"], at, None, f"{source}: a row has no key or no text"
            continue
        made = SourceDocument(row["title"] or row["key"], row["text"], source, row["key"], whole)
        yield source, row["key"], at, to_json(made), None


def load(
    documents: DataFrame,
    corpus: str,
    *,
    passage_size: int | None = None,
    language: str | None = None,
    keep_going: bool = False,
    database: Database | None = None,
) -> LoadReport:
    """Load documents of `read_documents` or `documents_of` into a corpus, as `kgp-neo4j load` does.

    Executors split them and write each completely or not at all; a task that is run again finds
    what is stored and goes on. All rows are read before anything is written: with an `error` among
    them this raises InputError, unless `keep_going`. `passage_size` is in characters, `language`
    one of `languages()`; `database` is that of NEO4J_URI or the embedded one by default.
    """
    began = time.monotonic()
    check_options(corpus, passage_size, language)
    with opened(database) as used, plain_errors():
        documents = documents.persist()
        try:
            failed = documents.where("error IS NOT NULL").orderBy("place")
            errors = [row["error"] for row in failed.select("error").limit(1000).collect()]
            if errors and not keep_going:
                raise InputError(errors[0], hint="Nothing is loaded; keep_going loads the rest.")
            good = documents.where("error IS NULL")
            first = good.orderBy("source", "place").limit(_GUESSED).collect()
            discard_import(used, corpus)
            spoken = (
                language_of(used, corpus, language, (_document(row) for row in first))
                if first
                else ""
            )
            # A document that is there twice comes to one executor, the first of both first.
            placed = good.repartition("source", "key").sortWithinPartitions("source", "place")
            task = partial(
                _write,
                connection=used.connection,
                corpus=corpus,
                size=passage_size,
                language=spoken,
            )
            schema = ", ".join(f"{name} long" for name in _COUNTS)
            written = mapped(placed, task, schema)
            sums = written.groupBy().sum().collect()[0]
            make_own_indexes(used, corpus)
            files = good.select("source").distinct().count()
        finally:
            documents.unpersist()
    counts: dict[str, Any] = {name: int(sums[f"sum({name})"] or 0) for name in _COUNTS}
    return LoadReport(
        corpus=corpus,
        files=files,
        errors=tuple(errors),
        seconds=round(time.monotonic() - began, 3),
        language=spoken,
        **counts,
    )


def _document(row: Row) -> SourceDocument:
    made: SourceDocument = read_record(SourceDocument, json.loads(row["document"]))
    return made


def _write(
    rows: Iterator[Row], connection: Connection, corpus: str, size: int | None, language: str
) -> Iterator[tuple[int, ...]]:
    documents = (_document(row) for row in rows)
    with reached(connection) as database:
        for batch in batches(corpus, documents):
            yield astuple(write(database, corpus, batch, size, language, own_indexes=False))


# --- Knowledge graphs ---


def load_kg(
    frame: DataFrame,
    graph: str,
    *,
    encoder: str | None = None,
    embed: bool = True,
    keep_going: bool = False,
    database: Database | None = None,
) -> GraphLoadReport:
    """Load a frame of triples into a knowledge graph, as `kgp-neo4j load-kg` does.

    It needs the columns `head`, `relation` and `tail`. Spark reads them and leaves out repeated
    ones; the names are sorted, embedded and written by this process. Raises as `load_graph` does.
    """
    triples = (
        texts_of(frame, "head", "relation", "tail").distinct().orderBy("head", "relation", "tail")
    )
    with opened(database) as used, plain_errors():
        rows = ((r["head"], r["relation"], r["tail"]) for r in triples.toLocalIterator())
        return load_triples(used, rows, graph, encoder=encoder, embed=embed, keep_going=keep_going)
