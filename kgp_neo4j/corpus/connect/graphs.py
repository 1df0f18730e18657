"""Connects the passages of a corpus: makes the graphs that `--edges` names."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import get_args

from kgp_neo4j.corpus.connect.embedding_graph import connect_mdr, connect_similarity, embed_passages
from kgp_neo4j.corpus.connect.entity_graph import connect_entities
from kgp_neo4j.corpus.connect.keyword_graph import connect_keywords
from kgp_neo4j.corpus.connect.steps import made_of
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import ConnectReport, GraphName
from kgp_neo4j.types.errors import ConfigurationError, no_corpus
from kgp_neo4j.types.settings import (
    EntitySettings,
    KeywordSettings,
    MdrSettings,
    SimilaritySettings,
)

__all__ = [
    "EDGES",
    "GRAPHS",
    "EntitySettings",
    "KeywordSettings",
    "MdrSettings",
    "SimilaritySettings",
    "connect",
    "graph_counts",
    "mark_complete",
]

#: The default graphs: the paper's TF-IDF, TAGME and KNN-ST graphs.
EDGES: tuple[GraphName, ...] = ("tfidf", "entity", "knn-st")
#: All graphs that `--edges` accepts; `knn-mdr` needs an encoder that the user has trained.
GRAPHS = get_args(GraphName)


def connect(
    database: Database,
    corpus: str,
    *,
    edges: Sequence[str] = EDGES,
    keywords: KeywordSettings | None = None,
    entities: EntitySettings | None = None,
    similarity: SimilaritySettings | None = None,
    mdr: MdrSettings | None = None,
    anew: bool = False,
    whole: bool = False,
) -> ConnectReport:
    """Make the edges between a corpus's passages (KGP, section 3).

    Again, it brings them to what the corpus and the settings are now: it writes what differs, or
    everything where `anew` is true. The keyword and the entity graph stay as they are where no
    document has changed since they were made. A few new documents are joined into those of a large
    corpus with what was counted in the others, unless the `whole` is to be counted again; the graph
    is nearly the same then (docs/scale.md).

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
    if not database.read("inspect/state", corpus=corpus):
        raise no_corpus(corpus)
    keywords = keywords or KeywordSettings()
    entities = entities or EntitySettings()
    similarity = similarity or SimilaritySettings()
    (before,) = database.read("connect/made", corpus=corpus)
    report: dict[str, int] = {}
    joined = 0
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    with contextlib.ExitStack() as running:
        meanwhile: Callable[[], object] = _nothing
        if "knn-st" in edges:
            # Passages are encoded while the other graphs are made.
            embedding = running.enter_context(embed_passages(database, corpus, similarity, seconds))
            meanwhile = embedding.write
        if "tfidf" in edges and (anew or whole or before["keywords"] != made_of(keywords)):
            joined = connect_keywords(database, corpus, keywords, anew, seconds, meanwhile, whole)
        # A file of aliases or a model may say something else each time.
        if "entity" in edges and (
            anew
            or whole
            or entities.aliases
            or entities.spacy_model
            or before["entities"] != made_of(entities)
        ):
            made = connect_entities(database, corpus, entities, anew, seconds, meanwhile, whole)
            joined = max(joined, made)
        if "knn-st" in edges:
            report |= connect_similarity(embedding, similarity, anew)
    if "knn-mdr" in edges:
        by_mdr = connect_mdr(database, corpus, mdr or MdrSettings(), seconds)
        by_mdr["gds_memory"] = max(by_mdr["gds_memory"], report.get("gds_memory", 0))
        report |= by_mdr
    mark_complete(database, corpus)
    report |= graph_counts(database, corpus) | {"joined": joined}
    seconds["all"] = time.perf_counter() - began
    return ConnectReport(corpus=corpus, seconds=seconds, **report)


def graph_counts(database: Database, corpus: str) -> dict[str, int]:
    """Return the counts of the keyword and the entity graph, as `ConnectReport` names them."""
    (counted,) = database.read("connect/counts", corpus=corpus)
    return {
        "keywords": counted["keywords"],
        "keyword_links": counted["keywordLinks"],
        "shared_keyword_edges": counted["sharedKeywordEdges"],
        "mentions": counted["mentions"],
        "entities": counted["entities"],
        "shared_entity_edges": counted["sharedEntityEdges"],
    }


def mark_complete(database: Database, corpus: str) -> None:
    """Store whether every passage of a corpus is in all of its graphs."""
    state = database.read("inspect/corpus", corpus=corpus)[0]
    database.write("connect/complete", corpus=corpus, complete=state["unconnected"] == 0)


def _nothing() -> None:
    """Do nothing between the steps."""
