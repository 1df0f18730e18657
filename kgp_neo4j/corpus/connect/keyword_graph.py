"""Makes the TF-IDF graph: keywords of each passage, and edges between passages that share them."""

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from kgp_neo4j.corpus.connect.build import GraphBuild, timed
from kgp_neo4j.corpus.connect.keywords import Keywords, extract_keywords
from kgp_neo4j.corpus.connect.pairs import (
    Pairs,
    group_pairs,
    match_items,
    outdated,
    strongest_pairs,
    write_pairs,
)
from kgp_neo4j.environment.job import bar
from kgp_neo4j.graphdb.database import Row, in_batches
from kgp_neo4j.types.settings import KeywordSettings

#: The edges between passages, as `connect/shared` takes them.
_EDGE = {"type": "SHARES_KEYWORD", "items": "keywords", "marks": "sharedKeywordMarks"}
#: Links of keywords that are written in one transaction: titles are in up to all passages.
_LINKS = 30_000
#: A title shared by more documents than this names none of them.
_MOST_OWNERS = 20


def connect_keywords(build: GraphBuild[KeywordSettings]) -> None:
    """Make a corpus's keywords and shared-keyword edges; only what differs is written."""
    settings = build.settings
    if build.is_current():
        return
    with build.making():
        with timed(build.seconds, "read passages"):
            rows = build.read("connect/passages", anew=build.anew)
        with (
            timed(build.seconds, "extract keywords"),
            bar("keywords", len(rows), "passages") as progress,
        ):
            titles = [row["title"] for row in rows]
            # Each text goes once it is read, for the memory.
            passages = ((row["title"], f"{row['title']}. {row.pop('text')}") for row in rows)
            keywords = extract_keywords(passages, titles, settings, progress.update)
        with timed(build.seconds, "write keywords"):
            _write_keywords(build, rows, keywords)
        with timed(build.seconds, "shared-keyword edges"):
            rare = np.flatnonzero(keywords.frequency[keywords.keyword] <= settings.max_frequency)
            weight = keywords.weight[rare]
            shared = strongest_pairs(
                keywords.passage[rare], keywords.keyword[rare], weight, weight,
                [row["id"] for row in rows], settings.neighbours,
            )  # fmt: skip
            write_pairs(build, _EDGE, rows, _naming_pairs(keywords), shared, keywords.texts)


def _write_keywords(
    build: GraphBuild[KeywordSettings], rows: Sequence[Row], keywords: Keywords
) -> None:
    """Write the keywords of passages that differ from what is stored; remove those of none."""
    # Everything that the link of a passage to a keyword says but its weight.
    said = keywords.hashes[keywords.keyword] ^ (keywords.owned.astype(np.uint64) << np.uint64(63))
    before, counts = ([row[each] for row in rows] for each in ("keywordMarks", "keywords"))
    complete = np.bincount(keywords.passage, minlength=len(rows)) == counts
    changed = outdated(keywords.passage, said, keywords.weight, before, complete)
    build.write_rows("connect/remove_keyword_links", [rows[at]["node"] for at in changed], 1000)
    stored = build.database.read_pages("connect/stored_keywords", "text", corpus=build.corpus)
    unused = {row["text"]: (row["frequency"], row["named"]) for row in stored}
    with bar("write keywords", len(keywords.texts), "keywords") as progress:
        changes = _keyword_rows(keywords, [row["node"] for row in rows], changed, unused)
        build.write_rows(
            "connect/keywords", changes, _LINKS, progress, lambda row: 1 + len(row["links"])
        )
    marks = (
        {"id": rows[at]["id"], "marks": {"inKeywordGraph": True, "keywordMarks": marks}}
        for at, marks in changed.items()
    )
    build.write_rows("connect/marks", marks, 5000)
    build.write_rows("connect/remove_keywords", unused, 5000)


def _keyword_rows(
    keywords: Keywords,
    nodes: Sequence[str],
    changed: Collection[int],
    stored: dict[str, tuple[int, bool]],
) -> Iterator[dict[str, Any]]:
    """Yield new and changed keywords, large ones in parts; leave in `stored` those none has."""
    touched = np.zeros(len(nodes), bool)
    touched[list(changed)] = True
    places = np.flatnonzero(touched[keywords.passage])
    order = places[np.argsort(keywords.keyword[places], kind="stable")]
    # Views make Python's numbers one by one: all at once would take four times an array's memory.
    passage, weight, owned = keywords.passage.data, keywords.weight.data, keywords.owned.data
    links = ((nodes[passage[at]], weight[at], owned[at]) for at in order.data)
    sizes = np.bincount(keywords.keyword[order], minlength=len(keywords.texts)).tolist()
    columns = (keywords.texts, keywords.frequency.tolist(), keywords.named.tolist(), sizes)
    for text, frequency, named, size in zip(*columns, strict=True):
        if stored.pop(text, None) != (frequency, named) or size:
            own = in_batches(itertools.islice(links, size), _LINKS) if size else [[]]
            for part in own:
                yield {"text": text, "frequency": frequency, "named": named, "links": part}


def _naming_pairs(keywords: Keywords) -> Pairs:
    """Return the passages that name a document's title, each with that document's first passage."""
    passage, keyword, weight = keywords.passage, keywords.keyword, keywords.weight
    owners = np.bincount(keyword[keywords.owned], minlength=len(keywords.texts))
    own = np.flatnonzero(keywords.owned & (owners[keyword] <= _MOST_OWNERS))
    others = np.flatnonzero(~keywords.owned)
    owning, naming = match_items(own, keyword, others[np.argsort(keyword[others], kind="stable")])
    return group_pairs(passage, keyword, naming, owning, weight[naming] * weight[owning])
