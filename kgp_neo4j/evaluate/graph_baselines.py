"""The baselines that MindMap is compared with, on the same graph (appendix C).

Every entity that heads a triple makes one document of all its triples. In the paper a language
model writes the documents and a word2vec is trained; here each triple is a sentence, and any
encoder does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.mindmap.aggregate import readable
from kgp_neo4j.text.safe import plain
from kgp_neo4j.text.term_index import TermIndex
from kgp_neo4j.text.words import words
from kgp_neo4j.types.mindmap import EvidenceGraph, LinkedEntity, ReasoningGraph, Triple

if TYPE_CHECKING:
    from kgp_neo4j.models.encoder import Encoder

__all__ = [
    "Bm25",
    "Embeddings",
    "GraphDocument",
    "as_reasoning",
    "baseline_prompt",
    "graph_documents",
]


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """The triples of one entity as sentences, and the triples themselves."""

    name: str
    text: str
    triples: tuple[Triple, ...]


def graph_documents(database: Database, graph: str) -> list[GraphDocument]:
    """Return a document for each entity that heads a triple, by name; none for an empty graph."""
    made = []
    for row in database.read("mindmap/documents", graph=graph):
        triples = tuple(Triple(**triple) for triple in row["triples"])
        text = " ".join(f"{t.head} {readable(t.relation)} {t.tail}." for t in triples)
        made.append(GraphDocument(row["name"], text, triples))
    return made


def as_reasoning(
    documents: Sequence[GraphDocument],
    entities: Sequence[LinkedEntity] = (),
    most: int | None = None,
) -> ReasoningGraph:
    """Return retrieved documents as evidence, `most` triples of them, for the same prompt.

    A document retriever links no entities; a composed answer needs the question's.
    """
    triples = tuple(dict.fromkeys(t for d in documents for t in d.triples))[:most]
    kept = set(triples)
    evidence = tuple(
        EvidenceGraph("neighbour", d.name, tuple(t for t in d.triples if t in kept))
        for d in documents
    )
    return ReasoningGraph(tuple(entities), evidence, triples)


class Bm25:
    """Retrieve documents by their words (`TermIndex`)."""

    def __init__(self, documents: Sequence[GraphDocument]) -> None:
        self._documents = documents
        self._index = TermIndex(_terms(document.text) for document in documents)

    def retrieve(self, question: str, limit: int) -> list[tuple[GraphDocument, float]]:
        """Return the documents with words of the question, best first, with their scores."""
        scores = self._index.scores(_terms(question))
        best = sorted(scores, key=lambda at: (-scores[at], at))[:limit]
        return [(self._documents[at], scores[at]) for at in best]


def _terms(text: str) -> list[str]:
    return [word.lower() for word in words(text)]


class Embeddings:
    """Retrieve documents by the cosine of their embeddings with the question's."""

    def __init__(self, documents: Sequence[GraphDocument], encoder: Encoder) -> None:
        self._documents = documents
        self._encoder = encoder
        self._vectors = encoder.encode([document.text for document in documents])

    def retrieve(self, question: str, limit: int) -> list[tuple[GraphDocument, float]]:
        """Return the nearest documents, best first, with their cosines."""
        scores = self._vectors @ self._encoder.encode([question])[0]
        best = sorted(range(len(scores)), key=lambda at: (-scores[at], at))[:limit]
        return [(self._documents[at], float(scores[at])) for at in best]


def baseline_prompt(
    question: str, evidence: Sequence[str] = (), options: Mapping[str, str] | None = None
) -> str:
    """Return the prompt of a baseline: the question, its options, and what was retrieved, if any.

    Its reply is the answer as it stands: no check, no repair and no fallback follows (appendix C).
    """
    parts = ["Answer the question in its language, as an expert of its field.", question.strip()]
    if options:
        parts.append("\n".join(f"{label}: {plain(text)}" for label, text in options.items()))
        parts.append("First give the letter of your choice, then explain it.")
    if evidence:
        parts.append("\n".join(("Knowledge that may help:", *map(plain, evidence))))
    return "\n\n".join((*parts, "Answer:"))
