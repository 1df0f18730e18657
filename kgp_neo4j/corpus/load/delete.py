"""Delete documents and corpora with everything in them, and list what a corpus has."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.corpus.load.shelf import leave_shelf
from kgp_neo4j.environment.files import absolute
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import discard
from kgp_neo4j.types.corpus import CorpusSummary, Document, Passage
from kgp_neo4j.types.errors import CorpusError
from kgp_neo4j.types.tables import TableSummary

__all__ = [
    "Deleted",
    "corpora",
    "delete_corpus",
    "delete_document",
    "discard_import",
    "find_documents",
    "list_documents",
    "list_passages",
    "list_tables",
]

#: Ids that an error message lists at most.
_LISTED = 10


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion removed."""

    corpus: str
    documents: int
    passages: int


def corpora(database: Database) -> list[CorpusSummary]:
    """Return all corpora by name, with their counts and the passages not connected yet."""
    return [
        CorpusSummary(
            name=row["name"],
            documents=row["documents"],
            passages=row["passages"],
            pages=row["pages"],
            tables=row["tables"],
            keywords=row["keywords"],
            encoder=row["encoder"],
            dimension=row["dimension"],
            unconnected={
                "HAS_KEYWORD": row["withoutKeywords"],
                "MENTIONS": row["withoutEntities"],
                "SIMILAR_ST": row["withoutEmbedding"],
            },
        )
        for row in database.read("inspect/corpora")
    ]


def list_documents(database: Database, corpus: str) -> list[Document]:
    """Return the documents of a corpus by title; raises CorpusError where it does not exist."""
    _require(database, corpus)
    return [
        Document(row["id"], row["title"], row["source"], row["characters"], row["passages"])
        for row in database.read("inspect/documents", corpus=corpus)
    ]


def list_passages(
    database: Database, corpus: str, document: str | None = None, limit: int = 1000
) -> list[Passage]:
    """Return at most `limit` passages of a corpus, or of one of its documents, in order."""
    _require(database, corpus)
    return [
        Passage(**row | {"columns": tuple(row["columns"])})
        for row in database.read(
            "inspect/corpus_passages", corpus=corpus, document=document, limit=limit
        )
    ]


def list_tables(database: Database, corpus: str, document: str | None = None) -> list[TableSummary]:
    """Return the tables of a corpus, or of one of its documents, in order."""
    _require(database, corpus)
    return [
        TableSummary(**row | {"pages": tuple(row["pages"]), "columns": tuple(row["columns"])})
        for row in database.read("inspect/corpus_tables", corpus=corpus, document=document)
    ]


def delete_corpus(database: Database, corpus: str) -> Deleted:
    """Delete a corpus with everything that has its name, a few thousand nodes at a time.

    If it is interrupted, delete again to finish. Raises CorpusError where the corpus does not
    exist.
    """
    if discard_import(database, corpus) and not database.read("load/language", corpus=corpus):
        return Deleted(corpus, 0, 0)
    _require(database, corpus)
    leave_shelf(database, corpus)
    done = _delete_content(database, corpus)
    database.write("load/delete_corpus", corpus=corpus)
    return Deleted(corpus, done["documents"], done["passages"])


def discard_import(database: Database, corpus: str) -> bool:
    """Delete what an import that was cut off has left of a corpus; return whether it had."""

    def undo() -> None:
        database.write_in_batches("load/drop_own_indexes", corpus=corpus)
        _delete_content(database, corpus)

    return discard(database, "Corpus", corpus, undo)


def _delete_content(database: Database, corpus: str) -> Row:
    database.write("load/changed", corpus=corpus)
    database.write_in_batches("load/remove_corpus_structure", corpus=corpus)
    database.write_in_batches("load/delete_keywords", corpus=corpus)
    done = database.write_in_batches("load/delete_corpus_documents", corpus=corpus)
    database.write_in_batches("load/delete_rest", corpus=corpus)
    return done


def delete_document(database: Database, corpus: str, document: str) -> Deleted:
    """Delete the document of that id or title, or all documents of that source.

    A source is a file as it was loaded (a relative path works) or the name of a data set. Raises
    CorpusError where nothing, or more than one document of that title, is found.
    """
    ids = [found.id for found in find_documents(database, corpus, document)]
    database.write_in_batches("load/remove_structure", documents=ids)
    done = database.write_in_batches("load/delete_documents", corpus=corpus, ids=ids)
    return Deleted(corpus, done["documents"], done["passages"])


def find_documents(database: Database, corpus: str, document: str) -> list[Document]:
    """Return the documents that `delete_document` would delete; raises CorpusError as it does."""
    _require(database, corpus)
    rows = database.read(
        "load/find_documents", corpus=corpus, text=document, file=_absolute(document)
    )
    # An id names one document, even where it is another one's title.
    for by in ("id", "source", "title"):
        found = [
            Document(row["id"], row["title"], row["source"]) for row in rows if row["by"] == by
        ]
        if by == "title" and len(found) > 1:
            ids = ", ".join(each.id for each in found[:_LISTED])
            more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
            raise CorpusError(
                f"{len(found)} documents have the title {document!r}",
                where=corpus,
                hint=f"Name one of them by its id: {ids}{more}.",
            )
        if found:
            return found
    raise CorpusError(
        f"no document has the id, title or source {document!r}",
        where=corpus,
        hint="Titles are told apart by case; a file may be named by its path.",
    )


def _absolute(document: str) -> str:
    try:
        return absolute(Path(document).expanduser()).as_posix()
    except (OSError, RuntimeError, ValueError):  # a title, not a path
        return document


def _require(database: Database, corpus: str) -> None:
    names = [row["name"] for row in database.read("inspect/names")]
    if corpus not in names:
        known = ", ".join(names) if names else "none yet"
        raise CorpusError(f"there is no corpus {corpus!r}", hint=f"Corpora: {known}.")
