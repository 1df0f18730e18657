"""Delete documents and corpora with everything in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kgp_neo4j.corpus.load.listing import require_corpus
from kgp_neo4j.corpus.load.own_indexes import drop_indexes, drop_own_indexes
from kgp_neo4j.environment.files import absolute
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.graphdb.export_files import discard
from kgp_neo4j.types.corpus import Document
from kgp_neo4j.types.errors import CorpusError

#: Ids that an error message lists at most.
_LISTED = 10


@dataclass(frozen=True, slots=True)
class Deleted:
    """What a deletion removed."""

    corpus: str
    documents: int
    passages: int


def delete_corpus(database: Database, corpus: str) -> Deleted:
    """Delete a corpus with everything that has its name, a few thousand nodes at a time.

    If it is interrupted, delete again to finish. Raises CorpusError where the corpus does not
    exist.
    """
    if discard_import(database, corpus) and not database.read("inspect/state", corpus=corpus):
        return Deleted(corpus, 0, 0)
    require_corpus(database, corpus)
    drop_own_indexes(database, corpus)
    done = _delete_content(database, corpus)
    database.write("load/delete_corpus", corpus=corpus)
    return Deleted(corpus, done["documents"], done["passages"])


def discard_import(database: Database, corpus: str) -> bool:
    """Delete what an import that was cut off has left of a corpus; return whether it had."""

    def undo() -> None:
        drop_indexes(database, corpus)
        _delete_content(database, corpus)

    return discard(database, "Corpus", corpus, undo)


def _delete_content(database: Database, corpus: str) -> Row:
    database.write("load/changed", corpus=corpus)
    database.write_in_batches("load/delete_keywords", corpus=corpus)
    done = database.write_in_batches("load/delete_corpus_documents", corpus=corpus)
    database.write_in_batches("load/delete_rest", corpus=corpus)
    return done


def delete_document(database: Database, corpus: str, document: str) -> Deleted:
    """Delete the document of that id or title, or all documents of that source.

    A source is a file as it was loaded (a relative path works) or the name of a data set. Raises
    CorpusError where nothing, or more than one document of that title, is found.
    """
    ids = [each.id for each in find_documents(database, corpus, document)]
    database.write_in_batches("load/remove_structure", documents=ids)
    done = database.write_in_batches("load/delete_documents", corpus=corpus, ids=ids)
    return Deleted(corpus, done["documents"], done["passages"])


def find_documents(database: Database, corpus: str, document: str) -> list[Document]:
    """Return the documents that `delete_document` would delete; raises CorpusError as it does."""
    require_corpus(database, corpus)
    rows = database.read(
        "load/find_documents", corpus=corpus, text=document, file=_absolute(document)
    )
    # An id names one document, even where it is another one's title.
    named = [row for row in rows if row["by"] == rows[0]["by"]]
    if not named:
        raise CorpusError(
            f"no document has the id, title or source {document!r}",
            where=corpus,
            hint="Titles are told apart by case; a file may be named by its path.",
        )
    if len(named) > 1 and named[0]["by"] == "title":
        ids = ", ".join(row["id"] for row in named[:_LISTED])
        more = f" and {len(named) - _LISTED} more" if len(named) > _LISTED else ""
        raise CorpusError(
            f"{len(named)} documents have the title {document!r}",
            where=corpus,
            hint=f"Name one of them by its id: {ids}{more}.",
        )
    return [Document(row["id"], row["title"], row["source"]) for row in named]


def _absolute(document: str) -> str:
    try:
        return absolute(Path(document).expanduser()).as_posix()
    except (OSError, RuntimeError, ValueError):  # a title, not a path
        return document
