"""List corpora, and what a corpus has."""

import msgspec

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import CorpusSummary, Document, Passage
from kgp_neo4j.types.errors import CorpusError
from kgp_neo4j.types.tables import TableSummary


def corpora(database: Database) -> list[CorpusSummary]:
    """Return all corpora by name, with their counts and the passages not connected yet."""
    return [CorpusSummary(**row) for row in database.read("inspect/corpora")]


def list_documents(database: Database, corpus: str) -> list[Document]:
    """Return the documents of a corpus by title; raises CorpusError where it does not exist."""
    require_corpus(database, corpus)
    return msgspec.convert(database.read("inspect/documents", corpus=corpus), list[Document])


def list_passages(
    database: Database, corpus: str, document: str | None = None, limit: int = 1000
) -> list[Passage]:
    """Return at most `limit` passages of a corpus, or of one of its documents, in order."""
    require_corpus(database, corpus)
    within = {"corpus": corpus, "document": document, "limit": limit}
    return msgspec.convert(database.read("inspect/corpus_passages", **within), list[Passage])


def list_tables(database: Database, corpus: str, document: str | None = None) -> list[TableSummary]:
    """Return the tables of a corpus, or of one of its documents, in order."""
    require_corpus(database, corpus)
    rows = database.read("inspect/corpus_tables", corpus=corpus, document=document)
    return msgspec.convert(rows, list[TableSummary])


def require_corpus(database: Database, corpus: str) -> None:
    """Raise CorpusError, with the names of all corpora, where there is none of that name."""
    names = [row["name"] for row in database.read("inspect/names")]
    if corpus not in names:
        hint = f"Corpora: {', '.join(names) or 'none yet'}. `kgp-neo4j load` makes one."
        raise CorpusError(f"there is no corpus named {corpus!r}", hint=hint)
