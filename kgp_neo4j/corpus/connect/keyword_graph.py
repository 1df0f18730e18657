"""Makes the TF-IDF graph: keywords of each passage, and edges between passages that share them."""

from __future__ import annotations

import dataclasses
import itertools
import json
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kgp_neo4j.corpus.connect.keywords import PassageWords, extract_keywords
from kgp_neo4j.corpus.connect.steps import strongest_pairs, timed, write_rows
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.settings import KeywordSettings

__all__ = ["connect_keywords"]

_GRAPH = "keywords"


def connect_keywords(
    database: Database,
    corpus: str,
    settings: KeywordSettings,
    seconds: dict[str, float],
    meanwhile: Callable[[], object],
) -> dict[str, int]:
    """Replace a corpus's keywords and shared-keyword edges; return counts by name.

    `meanwhile` is called between the steps.
    """
    database.write("connect/begin", corpus=corpus, graph=_GRAPH)
    with timed(seconds, "remove old keywords"):
        database.write_in_batches("connect/remove_shared_keywords", corpus=corpus)
        database.write_in_batches("connect/remove_keywords", corpus=corpus)
    with timed(seconds, "read passages"):
        rows = database.read("connect/passages", corpus=corpus)
    nodes = [row["node"] for row in rows]
    names = [row["id"] for row in rows]
    passages = [
        PassageWords(row["id"], row["title"], f"{row['title']}. {row['text']}") for row in rows
    ]
    del rows
    with timed(seconds, "extract keywords"):
        found = _Keywords(passages, settings)
    del passages
    meanwhile()
    with timed(seconds, "write keywords"):
        with bar("write keywords", len(found.keywords), "keywords") as progress:
            linked = write_rows(
                database, "connect/keywords", found.rows(nodes), 5000, progress, corpus=corpus
            )
        write_rows(database, "connect/connected", names, 5000, None)
    meanwhile()
    with timed(seconds, "shared-keyword edges"):
        named = database.write_in_batches("connect/title_edges", corpus=corpus)
        shared = write_rows(
            database,
            "connect/shared_keywords",
            found.shared(nodes, names, settings),
            5000,
            None,
            corpus=corpus,
        )
    kept = json.dumps(dataclasses.asdict(settings), sort_keys=True)
    database.write("connect/finish", corpus=corpus, graph=_GRAPH, settings=kept)
    return {
        "keywords": len(found.keywords),
        "keyword_links": linked,
        "shared_keyword_edges": int(named["made"] or 0) + shared,
    }


class _Keywords:
    """The keywords of all passages, with arrays of an element for each keyword of each passage."""

    def __init__(self, passages: Sequence[PassageWords], settings: KeywordSettings) -> None:
        #: By text: frequency, and whether it is a title.
        self.keywords: dict[str, tuple[int, bool]] = {}
        numbers: dict[str, int] = defaultdict(lambda: len(numbers))
        passage, keyword, weight, owned = array("q"), array("q"), array("d"), array("b")
        with bar("keywords", len(passages), "passages") as progress:
            for at, links in enumerate(extract_keywords(passages, settings)):
                for link in links:
                    self.keywords[link.text] = (link.frequency, link.named)
                    passage.append(at)
                    keyword.append(numbers[link.text])
                    weight.append(link.tfidf)
                    owned.append(link.owned)
                progress.update()
        self._passage = np.frombuffer(passage, np.int64)
        self._keyword = np.frombuffer(keyword, np.int64)
        self._weight = np.frombuffer(weight, np.float64)
        self._owned = np.frombuffer(owned, np.int8).astype(bool)

    def rows(self, nodes: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield each keyword with its links to passages, given their nodes."""
        order = np.argsort(self._keyword, kind="stable")
        links = zip(
            map(nodes.__getitem__, self._passage[order].tolist()),
            self._weight[order].tolist(),
            self._owned[order].tolist(),
            strict=True,
        )
        sizes = np.bincount(self._keyword, minlength=len(self.keywords))
        for (text, (frequency, named)), size in zip(
            self.keywords.items(), sizes.tolist(), strict=True
        ):
            yield {
                "text": text,
                "frequency": frequency,
                "named": named,
                "links": list(itertools.islice(links, size)),
            }

    def shared(
        self, nodes: Sequence[str], names: Sequence[str], settings: KeywordSettings
    ) -> Iterator[list[Any]]:
        """Yield the pairs of passages that share the keywords of the highest weight."""
        texts = list(self.keywords)
        frequency = np.array([frequency for frequency, _ in self.keywords.values()], np.int64)
        rare = np.flatnonzero(frequency[self._keyword] <= settings.max_frequency)
        weight = self._weight[rare]
        yield from strongest_pairs(
            self._passage[rare], self._keyword[rare], weight, weight,
            texts, nodes, names, settings.neighbours,
        )  # fmt: skip
