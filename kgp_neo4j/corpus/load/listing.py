"""List corpora, and what a corpus has."""

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
    return [
        Document(**row | {"sources": tuple(row["sources"])})
        for row in database.read("inspect/documents", corpus=corpus)
    ]


def list_passages(
    database: Database, corpus: str, document: str | None = None, limit: int = 1000
) -> list[Passage]:
    """Return at most `limit` passages of a corpus, or of one of its documents, in order."""
    require_corpus(database, corpus)
    return [
        Passage(**row | {"columns": tuple(row["columns"])})
        for row in database.read(
            "inspect/corpus_passages", corpus=corpus, document=document, limit=limit
        )
    ]


def list_tables(database: Database, corpus: str, document: str | None = None) -> list[TableSummary]:
    """Return the tables of a corpus, or of one of its documents, in order."""
    require_corpus(database, corpus)
    return [
        TableSummary(**row | {"pages": tuple(row["pages"]), "columns": tuple(row["columns"])})
        for row in database.read("inspect/corpus_tables", corpus=corpus, document=document)
    ]


def require_corpus(database: Database, corpus: str) -> None:
    """Raise CorpusError, with the names of all corpora, where there is none of that name."""
    names = [row["name"] for row in database.read("inspect/names")]
    if corpus not in names:
        hint = f"Corpora: {', '.join(names) or 'none yet'}. `kgp-neo4j load` makes one."
        raise CorpusError(f"there is no corpus named {corpus!r}", hint=hint)
