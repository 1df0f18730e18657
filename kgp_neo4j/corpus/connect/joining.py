"""Joins a few new passages into a graph of a large corpus, with what was counted in the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import regex

from kgp_neo4j.corpus.connect.counts import Counts
from kgp_neo4j.corpus.connect.steps import Making, read_rows, write_rows
from kgp_neo4j.graphdb.database import Database

__all__ = [
    "MOST_HITS", "MOST_NAMING", "New",
    "join_passages", "keep", "make_graph", "passages_with", "spelled",
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
#: What would end a phrase in a full-text query.
_QUOTES = regex.compile(r"[\"\\]")


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


def make_graph(
    making: Making,
    may_join: bool,
    join: Callable[[New], object],
    connect_all: Callable[[], object],
) -> int:
    """Join a few new passages in where that `may` be and can be, else connect all.

    Returns how many were joined in.
    """
    new = _new_passages(making) if may_join else None
    if new is None:
        making.count_anew()
        connect_all()
    elif new.ids:
        join(new)
    making.finish()
    return len(new.ids) if new else 0


def _new_passages(making: Making) -> New | None:
    """Return the passages that can be joined into a graph, or None where all have to be counted."""
    state = making.pending()
    if state is None:
        return None
    passages, ids = state
    if passages < LEAST or len(ids) > MOST * passages:
        return None
    counts = making.kept()
    if counts is None:
        return None
    counted, joined = counts["passages"].tolist()
    gone = counted + joined + len(ids) - passages
    if gone < 0 or joined + len(ids) + gone > MOST * counted:
        return None
    return New(ids, passages, counted, joined, counts)


def keep(making: Making, counts: Counts, passages: int, joined: int = 0) -> None:
    """Keep what was counted in so many passages, and those joined since, where it may be of use."""
    if passages >= LEAST:
        making.keep({**counts, "passages": np.array([passages, joined])})


def passages_with(
    database: Database,
    corpus: str,
    phrases: Iterable[tuple[str, str, str]],
    most: int,
    cased: bool = False,
) -> dict[str, list[str]]:
    """Return the passages (ids) that seem to have each phrase, the best `most` of each.

    A phrase has a key, its words joined by spaces, in lower case or as they are written (`cased`),
    and how a text writes it (`whole_words`).
    """
    rows = [[key, words, _QUOTES.sub(" ", text)] for key, words, text in phrases]
    values = {"corpus": corpus, "most": most, "cased": cased}
    found: dict[str, list[str]] = {}
    for row in read_rows(database, "connect/having", rows, _SEARCHED, **values):
        found.setdefault(row["key"], []).extend(row["passages"])
    return found


def spelled(words: Iterable[str]) -> str:
    """Return words as a text in which a phrase stands between spaces."""
    return f" {' '.join(words)} "


def join_passages(
    database: Database, corpus: str, find: str, type_: str, nodes: Sequence[str], **values: Any
) -> None:
    """Add the edges of a type from and to new passages (by node), which a statement finds."""
    found = list(read_rows(database, find, nodes, _JOINED, corpus=corpus, **values))
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
