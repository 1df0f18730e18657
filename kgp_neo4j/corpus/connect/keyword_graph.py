"""Makes the TF-IDF graph: keywords of each passage, and edges between passages that share them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.joining import (
    MOST_HITS,
    MOST_NAMING,
    New,
    join_passages,
    keep,
    make_graph,
    passages_with,
    spelled,
)
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
from kgp_neo4j.corpus.connect.steps import (
    Making,
    Numbers,
    Pairs,
    grouped,
    joined,
    outdated,
    paged,
    read_rows,
    strongest_pairs,
    timed,
    write_pairs,
    write_rows,
)
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.words import words
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
    whole: bool = False,
) -> int:
    """Make a corpus's keywords and shared-keyword edges.

    Only what differs from what is stored is written, or everything where `anew` is true;
    `meanwhile` is called between the steps. A few new passages are joined in with what was counted
    in the others, unless the `whole` is to be counted; returns how many.
    """
    making = Making(database, corpus, _GRAPH, settings)
    return make_graph(
        making,
        not (anew or whole),
        lambda new: _join(database, corpus, making, settings, new, seconds),
        lambda: _connect_all(database, corpus, making, settings, anew, seconds, meanwhile),
    )


def _connect_all(
    database: Database,
    corpus: str,
    making: Making,
    settings: KeywordSettings,
    anew: bool,
    seconds: dict[str, float],
    meanwhile: Callable[[], object],
) -> None:
    with timed(seconds, "read passages"):
        rows = database.read("connect/passages", corpus=corpus, anew=anew)
    # Each text goes once it is read, for the memory.
    passages = (_words_of(row | {"text": row.pop("text")}) for row in rows)
    with (
        timed(seconds, "extract keywords"),
        bar("keywords", len(rows), "passages") as progress,
    ):
        titles = [row["title"] for row in rows]
        found = extract_keywords(passages, titles, settings, progress.update)
    meanwhile()
    with timed(seconds, "write keywords"):
        stored = paged(database, "connect/stored_keywords", "text", corpus=corpus)
        _write_keywords(database, corpus, rows, found, stored)
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
    with timed(seconds, "keep counts"):
        keep(making, found.counts.kept(), len(rows))


def _words_of(row: Row) -> PassageWords:
    return PassageWords(row["title"], f"{row['title']}. {row['text']}")


def _write_keywords(
    database: Database, corpus: str, rows: Sequence[Row], found: Keywords, stored: Iterable[Row]
) -> None:
    """Write the keywords of passages that differ from what is stored.

    Of those `stored` before, those go that no passage has any longer.
    """
    changed = outdated(
        found.passage,
        link_hashes(found),
        found.weight,
        [row["keywordMarks"] for row in rows],
        np.bincount(found.passage, minlength=len(rows)) == [row["keywords"] for row in rows],
    )
    nodes = [rows[at]["node"] for at in changed]
    write_rows(database, "connect/remove_keyword_links", nodes, 1000, None, corpus=corpus)
    left = {row["text"]: (row["frequency"], row["named"]) for row in stored}
    with bar("write keywords", len(found.texts), "keywords") as progress:
        made = _rows(found, [row["node"] for row in rows], changed, left)
        write_rows(database, "connect/keywords", made, 5000, progress, corpus=corpus)
    marks = ({"node": rows[at]["node"], "marks": marks} for at, marks in changed.items())
    write_rows(database, "connect/connected", marks, 5000, None, corpus=corpus)
    write_rows(database, "connect/remove_keywords", left, 5000, None, corpus=corpus)


def _join(
    database: Database,
    corpus: str,
    making: Making,
    settings: KeywordSettings,
    new: New,
    seconds: dict[str, float],
) -> None:
    """Give new passages their keywords, and others those that they share with new ones alone."""
    counts = CorpusCounts.restored(new.counts, new.passages)
    with timed(seconds, "read passages"):
        fresh = database.read("connect/passages", corpus=corpus, rows=new.ids)
        documents = database.read_packed("connect/titles", corpus=corpus)
    with timed(seconds, "search passages"):
        known, lacking = find_phrases(list(map(_words_of, fresh)), settings.longest, counts)
        names = {
            name: written_title(row["title"], name)
            for row in fresh
            for name in naming_titles(row["title"])
            if not counts.frequency_of(name, title=True)
        }
        hits = passages_with(database, corpus, _sought(lacking), MOST_HITS)
        hits |= passages_with(database, corpus, _sought(names), MOST_NAMING)
        old = _with_phrases(database, corpus, hits, {row["id"] for row in fresh})
    with timed(seconds, "extract keywords"):
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
        found = extract_keywords(passages, titles, settings, counts=counts)
    with timed(seconds, "write keywords"):
        texts = list(dict.fromkeys((*found.texts, *known)))
        stored = [
            *read_rows(database, "connect/known_keywords", texts, 5000, corpus=corpus),
            *read_rows(
                database, "connect/keywords_of", [row["node"] for row in old], 1000, corpus=corpus
            ),
        ]
        _write_keywords(database, corpus, rows, found, stored)
        here = set(found.texts)
        more = [
            {"text": row["text"], "frequency": frequency}
            for row in stored
            if row["text"] not in here and not row["named"]
            and (frequency := counts.frequency_of(row["text"])) != row["frequency"]
        ]  # fmt: skip
        write_rows(database, "connect/keyword_frequencies", more, 5000, None, corpus=corpus)
    with timed(seconds, "shared-keyword edges"):
        join_passages(
            database, corpus, "connect/keyword_neighbours", "SHARES_KEYWORD",
            [row["node"] for row in fresh],
            maxFrequency=settings.max_frequency, neighbours=settings.neighbours,
            mostOwners=MOST_OWNERS,
        )  # fmt: skip
    with timed(seconds, "keep counts"):
        keep(making, counts.kept(), new.counted, new.joined + len(new.ids))


def _sought(phrases: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    return ((text, text, written) for text, written in phrases.items())


def _with_phrases(
    database: Database, corpus: str, hits: Mapping[str, Sequence[str]], fresh: Collection[str]
) -> list[Row]:
    """Return those passages, none of the fresh ones, that have a phrase that they were found by."""
    phrases: dict[str, list[str]] = {}
    for phrase, ids in hits.items():
        for id_ in ids:
            if id_ not in fresh:
                phrases.setdefault(id_, []).append(phrase)
    old = []
    for row in database.read("connect/passages", corpus=corpus, rows=list(phrases)):
        if row["keywordMarks"] is None:
            continue  # it came meanwhile
        text = spelled(word.lower() for word in words(_words_of(row).text))
        if any(spelled((phrase,)) in text for phrase in phrases[row["id"]]):
            old.append(row)
    return old


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
