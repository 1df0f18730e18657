"""Makes the TF-IDF graph: keywords of each passage, and edges between passages that share them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.keywords import Keywords, PassageWords, extract_keywords
from kgp_neo4j.corpus.connect.steps import (
    Making,
    Numbers,
    Pairs,
    grouped,
    joined,
    outdated,
    paged,
    strongest_pairs,
    timed,
    write_pairs,
    write_rows,
)
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.types.settings import KeywordSettings

__all__ = ["MOST_OWNERS", "connect_keywords", "link_hashes", "naming_pairs"]

_GRAPH = "keywords"
#: A title shared by more documents than this names none of them.
MOST_OWNERS = 20
#: Links that are Python's numbers at once, which take four times the memory of an array's.
_LISTED = 100_000


def connect_keywords(
    database: Database,
    corpus: str,
    settings: KeywordSettings,
    anew: bool,
    seconds: dict[str, float],
    meanwhile: Callable[[], object],
) -> None:
    """Make a corpus's keywords and shared-keyword edges.

    Only what differs from what is stored is written, or everything where `anew` is true;
    `meanwhile` is called between the steps.
    """
    making = Making(database, corpus, _GRAPH, settings)
    with timed(seconds, "read passages"):
        rows = database.read("connect/passages", corpus=corpus, anew=anew)
    # Each text goes once it is read, for the memory.
    passages = (PassageWords(row["title"], f"{row['title']}. {row.pop('text')}") for row in rows)
    with (
        timed(seconds, "extract keywords"),
        bar("keywords", len(rows), "passages") as progress,
    ):
        titles = [row["title"] for row in rows]
        found = extract_keywords(passages, titles, settings, progress.update)
    meanwhile()
    with timed(seconds, "write keywords"):
        changed = outdated(
            found.passage,
            link_hashes(found),
            found.weight,
            [row["keywordMarks"] for row in rows],
            np.bincount(found.passage, minlength=len(rows)) == [row["keywords"] for row in rows],
        )
        nodes = [rows[at]["node"] for at in changed]
        write_rows(database, "connect/remove_keyword_links", nodes, 1000, None, corpus=corpus)
        stored = {
            row["text"]: (row["frequency"], row["named"])
            for row in paged(database, "connect/stored_keywords", "text", corpus=corpus)
        }
        with bar("write keywords", len(found.texts), "keywords") as progress:
            made = _rows(found, [row["node"] for row in rows], changed, stored)
            write_rows(database, "connect/keywords", made, 5000, progress, corpus=corpus)
        marks = ({"node": rows[at]["node"], "marks": marks} for at, marks in changed.items())
        write_rows(database, "connect/connected", marks, 5000, None, corpus=corpus)
        # Those that no passage has any longer.
        write_rows(database, "connect/remove_keywords", stored, 5000, None, corpus=corpus)
    meanwhile()
    with timed(seconds, "shared-keyword edges"):
        rare = np.flatnonzero(found.frequency[found.keyword] <= settings.max_frequency)
        weight = found.weight[rare]
        shared = strongest_pairs(
            found.passage[rare], found.keyword[rare], weight, weight,
            [row["id"] for row in rows], settings.neighbours,
        )  # fmt: skip
        owners = np.bincount(found.keyword[found.owned], minlength=len(found.texts))
        named = naming_pairs(found.passage, found.keyword, found.weight, found.owned, owners)
        write_pairs(database, "connect/shared_keywords", corpus, rows, named, shared, found.texts)
    making.finish()


def link_hashes(found: Keywords) -> NDArray[np.uint64]:
    """Return a hash of everything that the link of a passage to a keyword says but its weight."""
    return found.hashes[found.keyword] ^ (found.owned.astype(np.uint64) << np.uint64(63))


def _rows(
    found: Keywords,
    nodes: Sequence[str],
    changed: dict[int, str],
    stored: dict[str, tuple[int, bool]],
) -> Iterator[dict[str, Any]]:
    """Yield the keywords that differ from those stored or belong to passages that changed.

    What is left in `stored` are keywords that no passage has.
    """
    touched = np.zeros(len(nodes), bool)
    touched[list(changed)] = True
    here = np.flatnonzero(touched[found.passage])
    order = here[np.argsort(found.keyword[here], kind="stable")]
    links = (
        (nodes[passage], weight, owned)
        for at in range(0, order.size, _LISTED)
        for passage, weight, owned in zip(
            *(
                of[order[at : at + _LISTED]].tolist()
                for of in (found.passage, found.weight, found.owned)
            ),
            strict=True,
        )
    )
    sizes = np.bincount(found.keyword[order], minlength=len(found.texts)).tolist()
    all_ = zip(found.texts, found.frequency.tolist(), found.named.tolist(), sizes, strict=True)
    for text, frequency, named, size in all_:
        if stored.pop(text, None) != (frequency, named) or size:
            yield {
                "text": text,
                "frequency": frequency,
                "named": named,
                "links": list(itertools.islice(links, size)),
            }


def naming_pairs(
    passage: Numbers,
    keyword: Numbers,
    weight: NDArray[np.float64],
    owned: NDArray[np.bool_],
    owners: Numbers,
    choosing: int | None = None,
) -> Pairs:
    """Return the passages that name a document's title, each with that document's first passage.

    The arrays are those of `Keywords`, `owners` the documents whose title each keyword is. Only
    those of the first `choosing` passages are returned, or all.
    """
    own = np.flatnonzero(owned & (owners[keyword] <= MOST_OWNERS))
    others = np.flatnonzero(~owned if choosing is None else ~owned & (passage < choosing))
    by_keyword = others[np.argsort(keyword[others], kind="stable")]
    owned_, naming = joined(own, keyword, by_keyword)
    return grouped(passage, keyword, naming, owned_, weight[naming] * weight[owned_])
