"""Makes the TF-IDF graph: keywords of each passage, and edges between passages that share them."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.build import MOST_HITS, MOST_NAMING, GraphBuild, NewPassages
from kgp_neo4j.corpus.connect.keywords import (
    CorpusCounts,
    Keywords,
    PassageWords,
    count_words,
    extract_keywords,
    find_phrases,
    naming_titles,
    written_title,
)
from kgp_neo4j.corpus.connect.pairs import (
    Numbers,
    Pairs,
    group_pairs,
    match_items,
    outdated,
    strongest_pairs,
    write_pairs,
)
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.text.words import words
from kgp_neo4j.types.settings import KeywordSettings

__all__ = ["KEYWORD_EDGE", "MOST_OWNERS", "connect_keywords", "link_hashes", "naming_pairs"]

#: The edges between passages, as `connect/shared` takes them.
KEYWORD_EDGE = {"type": "SHARES_KEYWORD", "items": "keywords", "marks": "sharedKeywordMarks"}
#: A title shared by more documents than this names none of them.
MOST_OWNERS = 20
#: Links that are Python's numbers at once, which take four times the memory of an array's.
_LISTED = 100_000


def connect_keywords(build: GraphBuild, settings: KeywordSettings) -> int:
    """Make a corpus's keywords and shared-keyword edges; only what differs is written.

    A few new passages are joined with what was counted in the others; returns how many.
    """
    return build.make(
        lambda: _connect_all(build, settings), lambda new: _join(build, settings, new)
    )


def _connect_all(build: GraphBuild, settings: KeywordSettings) -> None:
    with build.timed("read passages"):
        rows = build.read("connect/passages", anew=build.anew)
    # Each text goes once it is read, for the memory.
    passages = (_words_of(row | {"text": row.pop("text")}) for row in rows)
    with (
        build.timed("extract keywords"),
        bar("keywords", len(rows), "passages") as progress,
    ):
        titles = [row["title"] for row in rows]
        keywords = extract_keywords(passages, titles, settings, progress.update)
    build.meanwhile()
    with build.timed("write keywords"):
        stored = build.read_pages("connect/stored_keywords", "text")
        _write_keywords(build, rows, keywords, stored)
    build.meanwhile()
    with build.timed("shared-keyword edges"):
        rare = np.flatnonzero(keywords.frequency[keywords.keyword] <= settings.max_frequency)
        weight = keywords.weight[rare]
        shared = strongest_pairs(
            keywords.passage[rare], keywords.keyword[rare], weight, weight,
            [row["id"] for row in rows], settings.neighbours,
        )  # fmt: skip
        owners = np.bincount(keywords.keyword[keywords.owned], minlength=len(keywords.texts))
        named = naming_pairs(
            keywords.passage, keywords.keyword, keywords.weight, keywords.owned, owners
        )
        write_pairs(build, KEYWORD_EDGE, rows, named, shared, keywords.texts)
    build.keep_counts(keywords.counts.as_arrays(), len(rows))


def _words_of(row: Row) -> PassageWords:
    return PassageWords(row["title"], f"{row['title']}. {row['text']}")


def _write_keywords(
    build: GraphBuild, rows: Sequence[Row], keywords: Keywords, stored: Iterable[Row]
) -> None:
    """Write the keywords of passages that differ from what is stored.

    Of those `stored` before, those go that no passage has any longer.
    """
    changed = outdated(
        keywords.passage,
        link_hashes(keywords),
        keywords.weight,
        [row["keywordMarks"] for row in rows],
        np.bincount(keywords.passage, minlength=len(rows)) == [row["keywords"] for row in rows],
    )
    nodes = [rows[at]["node"] for at in changed]
    build.write_rows("connect/remove_keyword_links", nodes, 1000)
    unused = {row["text"]: (row["frequency"], row["named"]) for row in stored}
    with bar("write keywords", len(keywords.texts), "keywords") as progress:
        changes = _keyword_rows(keywords, [row["node"] for row in rows], changed, unused)
        build.write_rows("connect/keywords", changes, 5000, progress)
    marks = (
        {"id": rows[at]["id"], "marks": {"inKeywordGraph": True, "keywordMarks": marks}}
        for at, marks in changed.items()
    )
    build.write_rows("connect/marks", marks, 5000)
    build.write_rows("connect/remove_keywords", unused, 5000)


def _join(build: GraphBuild, settings: KeywordSettings, new: NewPassages) -> None:
    """Give new passages their keywords, and others those that they share with new ones alone."""
    counts = CorpusCounts.from_arrays(new.counts, new.passages)
    with build.timed("read passages"):
        fresh = build.read("connect/passages", rows=new.ids)
        documents = build.database.read_packed("connect/titles", corpus=build.corpus)
    with build.timed("search passages"):
        known, lacking = find_phrases(list(map(_words_of, fresh)), settings.longest, counts)
        names = {
            name: written_title(row["title"], name)
            for row in fresh
            for name in naming_titles(row["title"])
            if not counts.frequency_of(name, title=True)
        }
        hits = build.passages_with(((k, k, written) for k, written in lacking.items()), MOST_HITS)
        hits |= build.passages_with(((k, k, written) for k, written in names.items()), MOST_NAMING)
        old = _with_phrases(build, hits, {row["id"] for row in fresh})
    with build.timed("extract keywords"):
        rows = sorted((*fresh, *old), key=lambda row: row["id"])
        passages = [_words_of(row) for row in rows]
        present = {word.lower() for passage in passages for word in words(passage.text)}
        # Those that came meanwhile are new ones of the next run.
        titles = [
            row["title"] for row in documents
            if any(
                present.issuperset(name.split(" "))
                and (name in names or counts.frequency_of(name, title=True))
                for name in naming_titles(row["title"])
            )
        ]  # fmt: skip
        counts = counts.joined(
            count_words(map(_words_of, fresh), titles, settings.longest),
            count_words(map(_words_of, old), titles, settings.longest),
        )
        keywords = extract_keywords(passages, titles, settings, counts=counts)
    with build.timed("write keywords"):
        texts = list(dict.fromkeys((*keywords.texts, *known)))
        old_nodes = [row["node"] for row in old]
        stored = [
            *build.read_rows("connect/stored_keywords", texts, 5000),
            *build.read_rows("connect/stored_keywords", old_nodes, 1000, parameter="passages"),
        ]
        _write_keywords(build, rows, keywords, stored)
        written = set(keywords.texts)
        recounted = [
            row | {"frequency": frequency, "links": []}
            for row in stored
            if row["text"] not in written and not row["named"]
            and (frequency := counts.frequency_of(row["text"])) != row["frequency"]
        ]  # fmt: skip
        build.write_rows("connect/keywords", recounted, 5000)
    with build.timed("shared-keyword edges"):
        build.join_passages(
            "connect/keyword_neighbours", KEYWORD_EDGE, [row["node"] for row in fresh],
            maxFrequency=settings.max_frequency, neighbours=settings.neighbours,
            mostOwners=MOST_OWNERS,
        )  # fmt: skip
    build.keep_counts(counts.as_arrays(), new.counted, new.joined + len(new.ids))


def _with_phrases(
    build: GraphBuild, hits: Mapping[str, Sequence[str]], fresh: Collection[str]
) -> list[Row]:
    """Return the passages that do have a phrase that they were found by, none of the fresh ones."""
    phrases: dict[str, list[str]] = {}
    for phrase, ids in hits.items():
        for id_ in ids:
            if id_ not in fresh:
                phrases.setdefault(id_, []).append(phrase)
    old = []
    for row in build.read("connect/passages", rows=list(phrases)):
        if row["keywordMarks"] is None:
            continue  # it came meanwhile
        text = f" {' '.join(word.lower() for word in words(_words_of(row).text))} "
        if any(f" {phrase} " in text for phrase in phrases[row["id"]]):
            old.append(row)
    return old


def link_hashes(keywords: Keywords) -> NDArray[np.uint64]:
    """Return a hash of everything that the link of a passage to a keyword says but its weight."""
    return keywords.hashes[keywords.keyword] ^ (keywords.owned.astype(np.uint64) << np.uint64(63))


def _keyword_rows(
    keywords: Keywords,
    nodes: Sequence[str],
    changed: Collection[int],
    stored: dict[str, tuple[int, bool]],
) -> Iterator[dict[str, Any]]:
    """Yield the keywords that differ from those stored or belong to passages that changed.

    What is left in `stored` are keywords that no passage has.
    """
    touched = np.zeros(len(nodes), bool)
    touched[list(changed)] = True
    places = np.flatnonzero(touched[keywords.passage])
    order = places[np.argsort(keywords.keyword[places], kind="stable")]
    links = (
        (nodes[passage], weight, owned)
        for at in range(0, order.size, _LISTED)
        for passage, weight, owned in zip(
            *(
                column[order[at : at + _LISTED]].tolist()
                for column in (keywords.passage, keywords.weight, keywords.owned)
            ),
            strict=True,
        )
    )
    sizes = np.bincount(keywords.keyword[order], minlength=len(keywords.texts)).tolist()
    columns = (keywords.texts, keywords.frequency.tolist(), keywords.named.tolist(), sizes)
    for text, frequency, named, size in zip(*columns, strict=True):
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
    owning, naming = match_items(own, keyword, by_keyword)
    return group_pairs(passage, keyword, naming, owning, weight[naming] * weight[owning])
