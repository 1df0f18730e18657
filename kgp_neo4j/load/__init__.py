"""Stage one: files become documents and passages in a corpus, and leave it again."""

from kgp_neo4j.load.delete import (
    Deleted,
    FoundDocument,
    corpora,
    delete_corpus,
    delete_document,
    find_documents,
    list_documents,
)
from kgp_neo4j.load.loading import load
from kgp_neo4j.load.split import passages, sentences

__all__ = [
    "Deleted",
    "FoundDocument",
    "corpora",
    "delete_corpus",
    "delete_document",
    "find_documents",
    "list_documents",
    "load",
    "passages",
    "sentences",
]
