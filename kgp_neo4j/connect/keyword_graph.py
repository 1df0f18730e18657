"""The TF-IDF graph: keywords of each passage, and edges between passages that share them."""

from __future__ import annotations

import dataclasses
import json

from kgp_neo4j.connect.keywords import (
    KeywordLink,
    KeywordSettings,
    PassageWords,
    extract_keywords,
)
from kgp_neo4j.connect.steps import timed, write_rows
from kgp_neo4j.database import Database
from kgp_neo4j.errors import ConfigurationError
from kgp_neo4j.progress import bar

__all__ = ["connect_keywords"]

_GRAPH = "keywords"


def connect_keywords(
    database: Database, corpus: str, settings: KeywordSettings, seconds: dict[str, float]
) -> dict[str, int]:
    """Make a corpus's keywords and shared-keyword edges afresh; return what was made, by name.

    The edges themselves are made by Cypher inside the database (`cypher/connect/title_edges` and
    `shared_keywords`).
    """
    _check(settings)
    database.write("connect/begin", corpus=corpus, graph=_GRAPH)
    with timed(seconds, "remove old keywords"):
        database.write_in_batches("connect/remove_shared_keywords", corpus=corpus)
        database.write_in_batches("connect/remove_keywords", corpus=corpus)
    with timed(seconds, "read passages"):
        passages = [
            PassageWords(row["id"], row["title"], f"{row['title']}. {row['text']}")
            for row in database.read("connect/passages", corpus=corpus)
        ]
    with timed(seconds, "extract keywords"):
        links: list[list[KeywordLink]] = []
        with bar("keywords", len(passages), "passages") as progress:
            for made in extract_keywords(passages, settings):
                links.append(made)
                progress.update()
    with timed(seconds, "write keywords"):
        distinct = {link.text: link for found in links for link in found}
        with bar("write keywords", len(distinct), "keywords") as progress:
            written = write_rows(
                database,
                "connect/keywords",
                (
                    {"text": k.text, "frequency": k.frequency, "named": k.named}
                    for k in distinct.values()
                ),
                10_000,
                progress,
                corpus=corpus,
            )
        with bar("link keywords", len(passages), "passages") as progress:
            linked = write_rows(
                database,
                "connect/keyword_links",
                (
                    {
                        "passage": passage.id,
                        "keywords": [
                            {"text": k.text, "tfidf": k.tfidf, "owned": k.owned} for k in found
                        ],
                    }
                    for passage, found in zip(passages, links, strict=True)
                ),
                500,
                progress,
                corpus=corpus,
            )
    with timed(seconds, "shared-keyword edges"):
        named = database.write_in_batches("connect/title_edges", corpus=corpus)
        shared = database.write_in_batches(
            "connect/shared_keywords",
            corpus=corpus,
            neighbours=settings.neighbours,
            maxFrequency=settings.max_frequency,
        )
    kept = json.dumps(dataclasses.asdict(settings), sort_keys=True)
    database.write("connect/finish", corpus=corpus, graph=_GRAPH, settings=kept)
    return {
        "keywords": written,
        "keyword_links": linked,
        "shared_keyword_edges": int(named["made"] or 0) + int(shared["made"] or 0),
    }


def _check(settings: KeywordSettings) -> None:
    limits = {
        "keywords": (1, 1000),
        "longest": (1, 8),
        "max_frequency": (2, 100_000),
        "neighbours": (0, 1000),
    }
    for name, (low, high) in limits.items():
        value = getattr(settings, name)
        if not low <= value <= high:
            raise ConfigurationError(
                f"{name} is {value}", hint=f"Choose a number from {low} to {high}."
            )
