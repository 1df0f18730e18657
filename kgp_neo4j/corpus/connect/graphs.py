"""Connects the passages of a corpus: makes the graphs that `--edges` names."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypedDict, Unpack, get_args

from kgp_neo4j.corpus.connect.embedding_graph import EmbeddingGraph, choose_encoder
from kgp_neo4j.corpus.connect.entity_graph import aliases_of, connect_entities
from kgp_neo4j.corpus.connect.graph_build import GraphBuild, timed
from kgp_neo4j.corpus.connect.keyword_graph import connect_keywords
from kgp_neo4j.corpus.load.stored import make_own_indexes
from kgp_neo4j.environment.job import in_context
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.corpus import ConnectReport, GraphName
from kgp_neo4j.types.errors import no_corpus
from kgp_neo4j.types.settings import (
    EntitySettings,
    KeywordSettings,
    MdrSettings,
    SimilaritySettings,
    check_choice,
)

#: The default graphs: the paper's TF-IDF, TAGME and KNN-ST graphs.
EDGES: tuple[GraphName, ...] = ("tfidf", "entity", "knn-st")
#: Passages of the largest corpus whose words and mentions are in memory at once.
_AT_ONCE = 100_000
#: Passages of the largest corpus that is connected while a question waits.
_SOON = 1_000


class GraphSettings(TypedDict, total=False):
    """The settings of the graphs, of which those that are not given have their defaults."""

    keywords: KeywordSettings | None
    entities: EntitySettings | None
    similarity: SimilaritySettings | None
    mdr: MdrSettings | None


def connect(
    database: Database,
    corpus: str,
    *,
    edges: Sequence[str] = EDGES,
    anew: bool = False,
    **settings: Unpack[GraphSettings],
) -> ConnectReport:
    """Make the edges between a corpus's passages (KGP, section 3).

    Again, it brings them to what the corpus and the settings are now: it writes what differs, or
    everything where `anew` is true.

    `tfidf` makes keywords and shared-keyword edges, `entity` mentions and shared-entity edges,
    `knn-st` embeddings and similarity edges, `knn-mdr` the same by an MDR encoder; a graph that is
    not named stays as it is. Raises CorpusError when there is no such corpus.
    """
    for edge in edges or ("",):
        check_choice("graph", edge, get_args(GraphName))
    made = database.read("connect/made", corpus=corpus)
    if not made:
        raise no_corpus(corpus)
    make_own_indexes(database, corpus)  # one of an earlier version may have none
    by_meaning: dict[str, SimilaritySettings | MdrSettings] = {
        "knn-st": settings.get("similarity") or SimilaritySettings(),
        "knn-mdr": settings.get("mdr") or MdrSettings(),
    }
    report: dict[str, int] = {}
    seconds: dict[str, float] = {}
    began = time.perf_counter()
    embeddings: dict[str, EmbeddingGraph] = {}
    for edge in filter(by_meaning.__contains__, edges):
        # Before any change, so that a refused run leaves the corpus as it is.
        with timed(seconds, "load encoder"):
            encoder = choose_encoder(database, corpus, by_meaning[edge])
        embeddings[edge] = EmbeddingGraph(database, corpus, encoder, by_meaning[edge], seconds)
    stopped = threading.Event()
    shared: dict[str, Any] = {
        "seconds": seconds, "anew": anew, "statements": threading.Lock(), "stopped": stopped,
    }  # fmt: skip
    graphs: list[Callable[[], None]] = []
    if "tfidf" in edges:
        keywords = settings.get("keywords") or KeywordSettings()
        extracting = GraphBuild(database, corpus, "keywords", keywords, **shared)
        graphs.append(partial(connect_keywords, extracting))
    if "entity" in edges:
        entities = settings.get("entities") or EntitySettings()
        linking = GraphBuild(database, corpus, "entities", entities, **shared)
        graphs.append(partial(connect_entities, linking, aliases_of(linking)))
    # First, while the database is small: the search needs both cores, and the index of the vectors
    # is made on the one that is idle in most of what comes after.
    for edge, graph in embeddings.items():
        report["embedded" if edge == "knn-st" else "mdr_embedded"] = graph.embed()
        graph.join(anew=anew)
    _make(graphs, stopped, 1 if made[0]["passages"] > _AT_ONCE else 2)
    for graph in embeddings.values():
        graph.finish()
    (state,) = database.read("inspect/corpus", corpus=corpus)
    # Whether the corpus is wholly in its graphs is stored with their counts.
    for row in database.write("connect/counts", corpus=corpus, complete=state["unconnected"] == 0):
        report |= row["counts"]
    seconds["all"] = time.perf_counter() - began
    return ConnectReport(corpus=corpus, seconds=seconds, **report)


def connect_small(
    database: Database, corpus: str, echo: Callable[[str], object] = lambda _: None
) -> None:
    """Connect a corpus that no `connect` has begun with, where a question can wait for it."""
    state = database.read("inspect/state", corpus=corpus)
    if database.read_only or not state or state[0]["begun"]:
        return
    if 0 < database.read("connect/made", corpus=corpus)[0]["passages"] <= _SOON:
        echo(f"The corpus {corpus!r} is not connected yet: this is done first.")
        connect(database, corpus)


def _make(graphs: Sequence[Callable[[], None]], stopped: threading.Event, at_once: int) -> None:
    """Make graphs in threads; none runs a statement after that, since `stopped` is set."""
    beside, ends = ThreadPoolExecutor(at_once), True
    try:
        running = {beside.submit(in_context(each)) for each in graphs}
        while running:
            # Without a limit, waiting cannot be interrupted on Windows.
            finished, running = wait(running, 1.0, FIRST_EXCEPTION)
            for each in finished:
                each.result()
    except KeyboardInterrupt:
        ends = False  # what they compute until their next statement may take long
        raise
    finally:
        stopped.set()
        beside.shutdown(wait=ends)
