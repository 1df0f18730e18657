"""Connect: passages to keywords and embeddings, and from those the edges between passages."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kgp_neo4j.connect.entities import EntitySettings
from kgp_neo4j.connect.entity_graph import connect_entities
from kgp_neo4j.connect.keyword_graph import connect_keywords
from kgp_neo4j.connect.keywords import KeywordSettings
from kgp_neo4j.connect.mdr_graph import MdrSettings, connect_mdr
from kgp_neo4j.connect.similarity_graph import SimilaritySettings, connect_similarity
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError, no_corpus
from kgp_neo4j.records import ConnectReport

__all__ = [
    "EDGES",
    "GRAPHS",
    "EntitySettings",
    "KeywordSettings",
    "MdrSettings",
    "SimilaritySettings",
    "connect",
]

#: The graphs that are made unless others are named: the paper's TF-IDF, TAGME and KNN-ST graphs.
EDGES = ("tfidf", "entity", "knn-st")
#: All graphs that `--edges` takes; `knn-mdr` needs an encoder of one's own training.
GRAPHS = (*EDGES, "knn-mdr")


def connect(
    database: Database,
    corpus: str,
    *,
    edges: Sequence[str] = EDGES,
    keywords: KeywordSettings | None = None,
    entities: EntitySettings | None = None,
    similarity: SimilaritySettings | None = None,
    mdr: MdrSettings | None = None,
) -> ConnectReport:
    """Make the edges between a corpus's passages (KGP, section 3); again, it replaces them.

    `tfidf` makes keywords and shared-keyword edges, `entity` mentions and shared-entity edges,
    `knn-st` embeddings and similarity edges, `knn-mdr` the same by an MDR encoder; a graph that is
    not named stays as it is. Raises CorpusError when there is no such corpus.
    """
    unknown = sorted(set(edges) - set(GRAPHS))
    if unknown or not edges:
        raise ConfigurationError(
            f"there is no graph named {', '.join(unknown) or '(none)'}",
            hint=f"Choose among {', '.join(GRAPHS)}.",
        )
    found = database.read("inspect/corpus", corpus=corpus)
    if not found:
        raise no_corpus(corpus)
    report: dict[str, int] = {}
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    if "tfidf" in edges:
        report |= connect_keywords(database, corpus, keywords or KeywordSettings(), seconds)
    if "entity" in edges:
        report |= connect_entities(database, corpus, entities or EntitySettings(), seconds)
    if "knn-st" in edges:
        report |= connect_similarity(database, corpus, similarity or SimilaritySettings(), seconds)
    if "knn-mdr" in edges:
        report |= connect_mdr(database, corpus, mdr or MdrSettings(), seconds)
    seconds["all"] = time.perf_counter() - began
    return ConnectReport(corpus=corpus, seconds=seconds, **report)
