"""Joins a few new passages into a graph of a large corpus, with what was counted in the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgp_neo4j.corpus.connect.counts import Counts, keep_counts, kept_counts
from kgp_neo4j.corpus.connect.steps import made_of, write_rows
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.settings import EntitySettings, KeywordSettings

__all__ = [
    "MOST_HITS", "MOST_NAMING", "New",
    "join_passages", "keep", "new_passages", "passages_with", "spelled",
]  # fmt: skip

#: A corpus of fewer passages is counted anew, which takes less than a minute.
LEAST = 20_000
#: Of the passages that were counted, the share that may come and go before all are counted anew.
MOST = 0.01
#: Passages that are looked through for a phrase that at most one of them has, or so it seems.
MOST_HITS = 20
#: Passages that are looked through for the name of a new document.
MOST_NAMING = 1_000
#: Phrases that are searched for at once, and passages that neighbours are found for at once.
_SEARCHED, _JOINED = 200, 100


@dataclass(frozen=True, slots=True)
class New:
    """Passages (ids, in order) that are not in a graph yet, and what was counted in the others.

    `passages` are all of the corpus; `counted` were counted anew at last, and `joined` since.
    """

    ids: list[str]
    passages: int
    counted: int
    joined: int
    counts: Counts


def new_passages(
    database: Database, corpus: str, graph: str, settings: KeywordSettings | EntitySettings
) -> New | None:
    """Return the passages that can be joined into a graph, or None where all have to be counted."""
    (state,) = database.read("connect/pending", corpus=corpus, graph=graph)
    passages, ids = state["passages"], state["pending"]
    if passages < LEAST or len(ids) > MOST * passages:
        return None
    counts = kept_counts(database, corpus, graph, made_of(settings))
    if counts is None:
        return None
    counted, joined = counts["passages"].tolist()
    gone = counted + joined + len(ids) - passages
    if gone < 0 or joined + len(ids) + gone > MOST * counted:
        return None
    return New(ids, passages, counted, joined, counts)


def keep(
    database: Database,
    corpus: str,
    graph: str,
    settings: KeywordSettings | EntitySettings,
    counts: Counts,
    passages: int,
    joined: int = 0,
) -> None:
    """Keep what was counted in so many passages, and those joined since, where it may be of use."""
    if passages >= LEAST:
        of = {"passages": np.array([passages, joined])}
        keep_counts(database, corpus, graph, made_of(settings), {**counts, **of})


def passages_with(
    database: Database, corpus: str, phrases: Mapping[str, str], most: int, cased: bool = False
) -> dict[str, list[str]]:
    """Return the passages (ids) that seem to have each phrase, the best `most` of each.

    `phrases` are given by their keys, as they are written (`cased`) or in lower case.
    """
    found: dict[str, list[str]] = {}
    keys = list(phrases)
    for start in range(0, len(keys), _SEARCHED):
        rows = [[key, phrases[key]] for key in keys[start : start + _SEARCHED]]
        for row in database.read_packed(
            "connect/having", corpus=corpus, rows=rows, most=most, cased=cased
        ):
            found[row["key"]] = row["passages"]
    return found


def spelled(words: Iterable[str]) -> str:
    """Return words as a text in which a phrase stands between spaces."""
    return f" {' '.join(words)} "


def join_passages(
    database: Database, corpus: str, find: str, type_: str, nodes: Sequence[str], **values: Any
) -> None:
    """Add the edges of a type from and to new passages (by node), which a statement finds."""
    found = [
        row
        for start in range(0, len(nodes), _JOINED)
        for row in database.read_packed(
            find, corpus=corpus, rows=nodes[start : start + _JOINED], **values
        )
    ]
    new = set(nodes)
    named = {(r["first"], r["second"]): list(r.values()) for r in found if r["namesTitle"]}
    joined = set(map(frozenset, named))
    edges = list(named.values())
    for row in found:
        pair = frozenset((row["first"], row["second"]))
        # What a new passage has among its strongest is told where it is the first.
        if pair not in joined and (row["chosen"] or row["second"] not in new):
            joined.add(pair)
            edges.append(list(row.values()))
    write_rows(database, "connect/join_shared", edges, 1000, None, corpus=corpus, type=type_)
