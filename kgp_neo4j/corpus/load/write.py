"""Write documents with their passages, many in a transaction, each completely or not at all."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from typing import Any

from kgp_neo4j.corpus.load import grid, split
from kgp_neo4j.corpus.load.ids import corpus_scope, document_id, fingerprint, text_hash
from kgp_neo4j.corpus.load.own_indexes import make_own_indexes
from kgp_neo4j.corpus.load.rows import document_row, is_cjk, table_rows
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import SourceDocument
from kgp_neo4j.types.errors import DatabaseError

__all__ = ["Written", "batches", "write"]

#: Documents looked up at once, and their characters: the amount that a load keeps in memory.
_DOCUMENTS, _CHARACTERS = 1_000, 4_000_000
#: Passages in a transaction; a document that has more is one transaction.
_PASSAGES = 1_000
#: Cells in a transaction; a row that has more is one transaction.
_CELLS = 10_000
#: Part of the fingerprint of a document with pages or tables: raise it when their stored form
#: changes.
_STRUCTURE = "1"
#: The same of a document with sections, for how its passages lie in them.
_SECTIONS = "2"


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a batch, or of several; the names are those of `LoadReport`.

    `characters_out` are those stored now, counted by the database.
    """

    documents: int = 0
    passages: int = 0
    characters_in: int = 0
    characters_out: int = 0
    new: int = 0
    unchanged: int = 0
    replaced: int = 0
    pages: int = 0
    tables: int = 0
    cells: int = 0
    recognised: int = 0

    def __add__(self, other: Written) -> Written:
        return Written(*map(operator.add, astuple(self), astuple(other)))


def batches(
    corpus: str, documents: Iterable[SourceDocument], met: Iterable[bytes] = ()
) -> Iterator[dict[str, SourceDocument]]:
    """Gather documents into batches by their ids; a repeated paragraph is left out.

    `met` are the ids of those that were there before, as bytes.
    """
    # Ids are kept as bytes: a data set has a million paragraphs.
    seen = set(met)
    held: dict[str, SourceDocument] = {}
    characters = 0
    for document in documents:
        id_ = document_id(corpus, document.source, document.key)
        if bytes.fromhex(id_) in seen:
            continue
        seen.add(bytes.fromhex(id_))
        held[id_] = document
        characters += len(document.text)
        if len(held) >= _DOCUMENTS or characters >= _CHARACTERS:
            yield held
            held, characters = {}, 0
    if held:
        yield held


def write(
    database: Database,
    corpus: str,
    batch: dict[str, SourceDocument],
    passage_size: int | None,
    language: str,
    *,
    own_indexes: bool = True,
) -> Written:
    """Store what is new or changed in a batch, and report what is stored of all of it.

    `passage_size` is in characters, None for the defaults; `language` counts where the corpus is
    new. Without `own_indexes` a large corpus gets none: the caller calls `make_own_indexes`.
    Raises DatabaseError where the database does not have every character afterwards.
    """
    prints = {id_: _fingerprint(each, passage_size) for id_, each in batch.items()}
    stored = {row["id"]: row for row in database.read("load/stored", ids=list(batch))}
    unchanged = [
        row for id_, row in stored.items() if row["fingerprint"] == prints[id_] and row["whole"]
    ]
    same = {row["id"] for row in unchanged}
    changed = (
        document_row(id_, document, prints[id_], _size(document, passage_size))
        for id_, document in batch.items()
        if id_ not in same
    )
    replaced = [id_ for id_ in stored if id_ not in same]
    if replaced:
        database.write_in_batches("load/remove_structure", documents=replaced)
    scope = corpus_scope(corpus)
    groups = _groups(changed, "passages", _PASSAGES)
    told = {"corpus": corpus, "scope": scope, "language": language}
    values = ({**told, "rows": rows} for rows in groups)
    results = [*unchanged]
    for rows in database.write_all("load/documents", values):
        results += rows
    if own_indexes:
        make_own_indexes(database, corpus)
    _write_tables(database, corpus, {i: d for i, d in batch.items() if d.tables and i not in same})
    for row in results:
        expected = len(batch[row["id"]].text)
        if row["characters"] != expected:
            raise DatabaseError(
                f"{row['characters']} of {expected} characters are stored",
                where=batch[row["id"]].source,
                hint="Is another load of this corpus running? Load it again.",
            )
    return Written(
        documents=len(results),
        passages=sum(row["passages"] for row in results),
        characters_in=sum(len(d.text) for d in batch.values()),
        characters_out=sum(row["characters"] for row in results),
        new=len(batch.keys() - stored.keys()),
        unchanged=len(unchanged),
        replaced=len(replaced),
        pages=sum(len(d.pages) for d in batch.values()),
        tables=sum(len(d.tables) for d in batch.values()),
        cells=sum(grid.cells(d.tables) for d in batch.values()),
        recognised=sum(page.recognised for d in batch.values() for page in d.pages),
    )


def _write_tables(database: Database, corpus: str, documents: dict[str, SourceDocument]) -> None:
    """Write the rows and cells of documents' tables, some thousand cells a transaction.

    Raises DatabaseError where the database does not have every cell afterwards.
    """
    if not documents:
        return
    rows = (
        row
        for id_, document in documents.items()
        for order, table in enumerate(document.tables, 1)
        for row in table_rows(id_, order, table)
    )
    values = ({"corpus": corpus, "rows": held} for held in _groups(rows, "cells", _CELLS))
    for _ in database.write_all("load/table_rows", values):
        pass
    for row in database.write("load/finish_tables", ids=list(documents)):
        expected = grid.cells(documents[row["id"]].tables)
        if row["cells"] != expected:
            raise DatabaseError(
                f"{row['cells']} of {expected} cells are stored",
                where=documents[row["id"]].source,
                hint="Is another load of this corpus running? Load it again.",
            )


def _fingerprint(document: SourceDocument, passage_size: int | None) -> str:
    """Return a value that changes when a document must be stored anew."""
    size = _size(document, passage_size)
    settings = [f"{split.VERSION}:{'whole' if size is None else size}"]
    if document.pages or document.tables:
        settings.append(f"{_STRUCTURE}:{text_hash(repr((document.pages, document.tables)))}")
    if is_cjk(document.title) or is_cjk(document.text):
        settings.append("cjk")
    if document.sections:
        settings.append(f"sections:{_SECTIONS}:{text_hash(repr(document.sections))}")
    return fingerprint(document.title, document.text, *settings)


def _size(document: SourceDocument, passage_size: int | None) -> int | None:
    """Return the size to split at, None for one passage."""
    if passage_size is not None:
        return passage_size
    if document.whole and len(document.text) <= split.WHOLE_LIMIT:
        return None
    return split.DEFAULT_SIZE


def _groups(
    rows: Iterable[dict[str, Any]], counted: str, limit: int
) -> Iterator[list[dict[str, Any]]]:
    """Gather rows until their counts under the key `counted` exceed `limit`."""
    held: list[dict[str, Any]] = []
    count = 0
    for row in rows:
        if held and count + len(row[counted]) > limit:
            yield held
            held, count = [], 0
        held.append(row)
        count += len(row[counted])
    if held:
        yield held
