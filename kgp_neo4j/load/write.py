"""Writes documents with their passages, many in a transaction, each wholly or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kgp_neo4j.database import Database
from kgp_neo4j.errors import DatabaseError
from kgp_neo4j.load import split
from kgp_neo4j.load.ids import corpus_scope, document_id, fingerprint, passage_id, text_hash
from kgp_neo4j.records import SourceDocument

__all__ = ["Written", "batches", "write"]

#: Documents looked up at once, and their characters: what a load holds in memory.
_DOCUMENTS, _CHARACTERS = 1_000, 4_000_000
#: Passages in a transaction; a document that has more is one transaction.
_PASSAGES = 1_000


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a batch; characters as they are stored now, counted by the database."""

    documents: int
    passages: int
    characters: int
    new: int
    unchanged: int
    replaced: int


def batches(
    corpus: str, documents: Iterable[SourceDocument]
) -> Iterator[dict[str, SourceDocument]]:
    """Gather documents into batches by their ids; a paragraph met again is left out."""
    # Ids are kept as bytes: a data set has a million paragraphs.
    seen: set[bytes] = set()
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
    database: Database, corpus: str, batch: dict[str, SourceDocument], passage_size: int | None
) -> Written:
    """Store what is new or changed in a batch, and say what is stored of all of it.

    `passage_size` is in characters, None for the defaults. Raises DatabaseError when the database
    does not hold every character afterwards.
    """
    prints = {
        id_: fingerprint(document.title, document.text, _settings(document, passage_size))
        for id_, document in batch.items()
    }
    stored = {row["id"]: row for row in database.read("load/stored", ids=list(batch))}
    unchanged = [
        row for id_, row in stored.items() if row["fingerprint"] == prints[id_] and row["whole"]
    ]
    same = {row["id"] for row in unchanged}
    changed = (
        _row(id_, document, prints[id_], passage_size)
        for id_, document in batch.items()
        if id_ not in same
    )
    scope = corpus_scope(corpus)
    values = ({"corpus": corpus, "scope": scope, "rows": rows} for rows in _transactions(changed))
    results = [*unchanged]
    for rows in database.write_all("load/documents", values):
        results += rows
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
        characters=sum(row["characters"] for row in results),
        new=len(batch.keys() - stored.keys()),
        unchanged=len(unchanged),
        replaced=len(stored) - len(unchanged),
    )


def _settings(document: SourceDocument, passage_size: int | None) -> str:
    """Return what decides how a document is split."""
    size = _size(document, passage_size)
    return f"{split.VERSION}:{'whole' if size is None else size}"


def _size(document: SourceDocument, passage_size: int | None) -> int | None:
    """Return the size to split at, None for one passage."""
    if passage_size is not None:
        return passage_size
    if document.whole and len(document.text) <= split.WHOLE_LIMIT:
        return None
    return split.DEFAULT_SIZE


def _row(
    id_: str, document: SourceDocument, print_: str, passage_size: int | None
) -> dict[str, Any]:
    size = _size(document, passage_size)
    text = document.text
    parts = split.passages(text, len(text) if size is None else size)
    return {
        "id": id_,
        "title": document.title,
        "source": document.source,
        "key": document.key,
        "sha256": text_hash(text),
        "fingerprint": print_,
        "characters": len(text),
        "passages": [
            {
                "id": passage_id(id_, part.position, part.text),
                "title": document.title
                if len(parts) == 1
                else f"{document.title} #{part.position + 1}",
                "text": part.text,
                "position": part.position,
                "start": part.start,
                "end": part.end,
            }
            for part in parts
        ],
    }


def _transactions(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    held: list[dict[str, Any]] = []
    passages = 0
    for row in rows:
        if held and passages + len(row["passages"]) > _PASSAGES:
            yield held
            held, passages = [], 0
        held.append(row)
        passages += len(row["passages"])
    if held:
        yield held
