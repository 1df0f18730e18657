"""Connect: passages to keywords and embeddings, and from those the edges between passages."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kgp_neo4j.connect.keyword_graph import connect_keywords
from kgp_neo4j.connect.keywords import KeywordSettings
from kgp_neo4j.connect.similarity_graph import SimilaritySettings, connect_similarity
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError, CorpusError
from kgp_neo4j.records import ConnectReport

__all__ = ["EDGES", "KeywordSettings", "SimilaritySettings", "connect"]

#: The graphs `--edges` takes: the paper's TF-IDF graph and its KNN-ST graph.
EDGES = ("tfidf", "knn-st")


def connect(
    database: Database,
    corpus: str,
    *,
    edges: Sequence[str] = EDGES,
    keywords: KeywordSettings | None = None,
    similarity: SimilaritySettings | None = None,
) -> ConnectReport:
    """Make the edges between a corpus's passages (KGP, section 3); again, it replaces them.

    `tfidf` makes keywords and shared-keyword edges, `knn-st` embeddings and similarity edges; a
    graph that is not named stays as it is. Raises CorpusError when there is no such corpus.
    """
    unknown = sorted(set(edges) - set(EDGES))
    if unknown or not edges:
        raise ConfigurationError(
            f"there is no graph named {', '.join(unknown) or '(none)'}",
            hint=f"Choose among {', '.join(EDGES)}.",
        )
    found = database.read("inspect/corpus", corpus=corpus)
    if not found:
        raise CorpusError(
            f"there is no corpus named {corpus!r}",
            hint="`kgp-neo4j corpora` lists them; `kgp-neo4j load` makes one.",
        )
    report: dict[str, int] = {}
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    if "tfidf" in edges:
        report |= connect_keywords(database, corpus, keywords or KeywordSettings(), seconds)
    if "knn-st" in edges:
        report |= connect_similarity(database, corpus, similarity or SimilaritySettings(), seconds)
    seconds["all"] = time.perf_counter() - began
    return ConnectReport(corpus=corpus, seconds=seconds, **report)
