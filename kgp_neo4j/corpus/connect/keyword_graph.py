"""Makes the TF-IDF graph: keywords of each passage, and edges between passages that share them.

Keywords are n-grams and titles (KGP, sections 3 and 8.5).
"""

import itertools
import tempfile
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect import graph_build
from kgp_neo4j.environment.disk import disk_errors, private_folder
from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.environment.job import bar
from kgp_neo4j.graphdb.database import Row, in_batches
from kgp_neo4j.text.words import STOP_WORDS, title_words, words
from kgp_neo4j.types.settings import KeywordSettings

#: Places, and numbers of what stands there.
_Places: TypeAlias = NDArray[np.int32]
_LONGEST_TITLE = 12
#: Key of a title's end in the tree; no word is empty.
_END = ""
#: N-grams sorted at once, and passages whose n-grams are compared at once; both limit the memory.
_SORTED = 4_000_000
_COMPARED = 4_096
#: Bytes of an array from which on it is set aside in a file.
_LARGE = 1 << 25


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords of all passages.

    `texts` are the keywords, each with the passages that have it (`frequency`), whether it is a
    document's title (`named`) and a hash of its words. The other arrays have an element for each
    keyword of each passage, by passage, the weightiest first and titles last: the passage's place,
    the keyword's, its normalised TF-IDF weight, and whether the passage's document is named so.
    """

    texts: list[str]
    frequency: NDArray[np.int32]
    named: NDArray[np.bool_]
    hashes: NDArray[np.uint64]
    passage: NDArray[np.int32]
    keyword: NDArray[np.int32]
    weight: NDArray[np.float64]
    owned: NDArray[np.bool_]


def extract_keywords(
    passages: Iterable[tuple[str, str]],
    titles: Iterable[str],
    settings: KeywordSettings,
    done: Callable[[int], object] = lambda _: None,
) -> Keywords:
    """Return the keywords of passages (KGP, section 3 and 8.5); `done` is told how many it read.

    A passage is given by its document's title and its text, `titles` are those of all documents.
    Candidates are word n-grams that occur in two passages or more and neither begin nor end with a
    stop word, and all titles. Time and memory are linear in the text: some 20 bytes for each word.
    """
    text = _Text(passages, _Titles(titles), done)
    grams = _Grams(text, settings)
    starts = range(0, max(text.passages, 1), _COMPARED)
    parts = [grams.best(low, min(low + _COMPARED, text.passages)) for low in starts]
    place, gram, gram_weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    del parts
    # Titles get the numbers after the n-grams.
    title_count = np.maximum(text.title_count, 1)
    title_weight = _tfidf(title_count, text.title_frequency[text.title], text.passages)
    passage = np.concatenate((place, text.title_passage))
    order = np.argsort(passage, kind="stable")
    passage = passage[order]
    keyword = np.concatenate((gram, text.title + grams.number))[order]
    weight = np.concatenate((gram_weight, title_weight))[order]
    owned = np.concatenate((np.zeros(place.size, bool), text.title_owned))[order]
    del place, gram, gram_weight, order
    norm = np.sqrt(np.bincount(passage, weight * weight, minlength=text.passages))
    has = np.bincount(keyword, minlength=1) > 0
    used, number = np.flatnonzero(has), np.cumsum(has, dtype=np.int32) - 1
    named = used >= grams.number
    chosen, titled = used[~named], used[named] - grams.number
    texts = [*grams.texts(chosen), *(text.titles[at] for at in titled.tolist())]
    frequency = np.concatenate((grams.frequency[chosen], text.title_frequency[titled]))
    hashes = np.concatenate((grams.hashes[chosen], text.title_hashes[titled]))
    weight /= norm[passage]
    return Keywords(texts, frequency, named, hashes, passage, number[keyword], weight, owned)


def _tfidf(
    count: graph_build.Numbers, frequency: graph_build.Numbers, passages: int
) -> NDArray[np.float64]:
    return np.asarray((1.0 + np.log(count)) * (np.log((1 + passages) / (1 + frequency)) + 1.0))


class _Titles:
    """Finds the titles of all documents in running text."""

    def __init__(self, titles: Iterable[str]) -> None:
        #: The keywords that name a document, by its title.
        self.keywords: dict[str, list[str]] = {}
        #: All of these in one tree of words; at the end of one stands whether it needs its capital.
        self._tree: dict[str, Any] = {}
        for title in dict.fromkeys(title for title in titles if title):
            keywords = self.keywords[title] = []
            for form in title_words(title):
                low = [word.lower() for word in form]
                is_word = len(low) > 1 or (len(low[0]) > 1 and low[0] not in STOP_WORDS)
                if len(low) > _LONGEST_TITLE or not is_word:
                    continue
                keywords.append(" ".join(low))
                node = self._tree
                for word in low:
                    node = node.setdefault(word, {})
                # A one-word title that is also a common word ("It") must have its capital.
                node[_END] = node.get(_END, True) and len(form) == 1 and form[0] != low[0]

    def named_in(self, cased: Sequence[str], low: Sequence[str]) -> dict[str, int]:
        """Return the longest titles in a text and how often each occurs; `low` is in lower case."""
        counts, until = Counter[str](), 0
        for at, first in enumerate(low):
            if at < until:
                continue
            node: Any = self._tree
            last = at
            while last < len(low) and (node := node.get(low[last])):
                last += 1
                if _END in node and not (node[_END] and cased[at] == first):
                    until = last
            if until > at:
                counts[" ".join(low[at:until])] += 1
        return counts


class _Text:
    """The words of all passages as numbers, in the order of the alphabet, and the titles there.

    The arrays of titles have an element for each title of each passage: the passage, its place in
    `titles`, how often it stands there (0 where it is only owned), and whether it is owned.
    """

    def __init__(
        self, passages: Iterable[tuple[str, str]], known: _Titles, done: Callable[[int], object]
    ) -> None:
        vocabulary: dict[str, int] = defaultdict(lambda: len(vocabulary))
        titles: dict[str, int] = defaultdict(lambda: len(titles))
        numbers, found, ends = array("i"), array("i"), array("q")
        for place, (own_title, passage) in enumerate(passages):
            cased = words(passage)
            low = [word.lower() for word in cased]
            numbers.extend(map(vocabulary.__getitem__, low))
            ends.append(len(numbers))
            own = known.keywords.get(own_title, [])
            named = known.named_in(cased, low)
            for text in {**named, **dict.fromkeys(own)}:
                found.extend((place, titles[text], named.get(text, 0), text in own))
            done(1)
        self.passages = len(ends)
        self.vocabulary = sorted(vocabulary)
        alphabetical = np.empty(len(vocabulary), np.int32)
        alphabetical[[vocabulary[word] for word in self.vocabulary]] = np.arange(len(vocabulary))
        self.numbers = alphabetical[np.frombuffer(numbers, np.int32)]
        self.ends = np.frombuffer(ends, np.int64)
        self.word_hashes = graph_build.hash_texts(self.vocabulary)
        self.titles = list(titles)
        columns = np.frombuffer(found, np.int32).reshape(-1, 4).T
        self.title_passage, self.title, self.title_count = columns[:3]
        self.title_owned = columns[3].astype(bool)
        self.title_frequency = np.bincount(self.title, minlength=len(titles)).astype(np.int32)
        hashes = [np.zeros(0, np.uint64)]
        hashes += [
            _hash_words(graph_build.hash_texts(title.split(" "))[:, None]) for title in self.titles
        ]
        self.title_hashes = np.concatenate(hashes)

    def hashes(self, first: graph_build.Numbers, size: int) -> NDArray[np.uint64]:
        """Return a hash of the `size` words from each of these places on."""
        return _hash_words(self.word_hashes[self.numbers[first + at]] for at in range(size))


def _hash_words(words: Iterable[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return a hash of each sequence, by the hashes of all first words, all second ones, ..."""
    total = np.zeros(1, np.uint64)
    for word in words:
        total = total * graph_build.MULTIPLIER + word
    return total


def _set_aside(values: _Places) -> _Places:
    """Return the values in a temporary file, which the system reads when needed, if large."""
    if values.nbytes < _LARGE:
        return values
    folder = Folders.from_environment().cache  # other temporary files are often in memory
    private_folder(folder)
    with (
        disk_errors(folder, "The words could not be set aside"),
        tempfile.TemporaryFile(dir=folder) as file,
    ):
        values.tofile(file)
        return np.memmap(file, np.int32, "r")


class _Grams:
    """The n-grams of two passages or more, numbered by length, and in the order of the alphabet."""

    def __init__(self, text: _Text, settings: KeywordSettings) -> None:
        self._text = text
        self._keywords = settings.keywords
        #: Of each length: the places of the text where one begins, in order, and which one.
        self._levels: list[tuple[_Places, _Places]] = []
        frequencies, firsts = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
        hashes = [np.zeros(0, np.uint64)]
        passage = np.repeat(np.arange(text.passages, dtype=np.int32), np.diff(text.ends, prepend=0))
        # No keyword begins or ends with one of these words.
        stop = [w in STOP_WORDS or (len(w) < 2 and w.isascii()) for w in text.vocabulary]
        stopped = np.array(stop, bool)[text.numbers]
        shorter = text.numbers
        self.number = 0
        for size in range(1, settings.longest + 1):
            shorter, frequency, first = _frequent(shorter, size, passage)
            grams = np.where(stopped | np.roll(stopped, 1 - size), np.int32(-1), shorter)
            if self._levels:
                at, known = self._levels[-1]
                frequency_of_known = frequencies[-1][known - (self.number - firsts[-1].size)]
                maximal = _maximal(at, frequency_of_known, grams, frequency)
                self._levels[-1] = _set_aside(at[maximal]), _set_aside(known[maximal])
            at = np.flatnonzero(grams >= 0).astype(np.int32)
            known = grams[at] + np.int32(self.number)
            self._levels.append((at, known))
            del grams
            self.number += first.size
            frequencies.append(frequency)
            firsts.append(first)
            hashes.append(text.hashes(first, size))
        del shorter, stopped, passage
        self.frequency = np.concatenate(frequencies)
        self.hashes = np.concatenate(hashes)
        self._first = np.concatenate(firsts)
        self._untitled = ~np.isin(self.hashes, text.title_hashes)
        self._size = np.repeat(np.arange(len(firsts), dtype=np.int8), [f.size for f in firsts])

    def texts(self, grams: NDArray[np.int64]) -> Iterator[str]:
        """Yield the words of each n-gram."""
        text, first = self._text, self._first[grams]
        for start, end in zip(first.tolist(), (first + self._size[grams]).tolist(), strict=True):
            yield " ".join([text.vocabulary[n] for n in text.numbers[start:end].tolist()])

    def best(self, low: int, high: int) -> tuple[_Places, _Places, NDArray[np.float64]]:
        """Return passage, n-gram and weight of the weightiest, without titles, in [low, high)."""
        ends = self._text.ends
        begin, end = (int(ends[at - 1]) if at else 0 for at in (low, high))
        places = [np.zeros(0, np.int64)]
        for at, grams in self._levels:
            # Of one type: numpy would make all places of it anew each time.
            here = slice(*np.searchsorted(at, np.array((begin, end), at.dtype)))
            passage = low + np.searchsorted(ends[low:high], at[here], side="right")
            places.append(passage * self.number + grams[here])
        pairs, count = np.unique(np.concatenate(places), return_counts=True)
        place, gram = np.divmod(pairs, max(self.number, 1))
        untitled = self._untitled[gram]
        place, gram, count = place[untitled], gram[untitled], count[untitled]
        weight = _tfidf(count, self.frequency[gram], self._text.passages)
        # Stable: of two that weigh the same the shorter comes first, then in order of the alphabet.
        order = np.lexsort((-weight, place))
        rank = np.arange(place.size) - np.searchsorted(place, place)
        order = order[rank < self._keywords]
        return place[order].astype(np.int32), gram[order].astype(np.int32), weight[order]


def _frequent(shorter: _Places, size: int, passage: _Places) -> tuple[_Places, _Places, _Places]:
    """Number the n-grams of `size` words that two passages or more have.

    `shorter` are those of one word less at each place, -1 for none (the words for a size of one),
    `passage` is that of each place. Returns the same of this size, their frequencies, first places.
    """
    grams = np.full(shorter.size, -1, np.int32)
    frequencies, firsts = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    number = 0
    for low, high in graph_build.ranges(np.bincount(shorter[shorter >= 0]), _SORTED):
        at = np.flatnonzero((shorter >= low) & (shorter < high))
        key = shorter[at].astype(np.int64) << 32
        if size > 1:
            # Across the end of a passage there is none, and none that has a rarer one in it.
            last = np.minimum(at + size - 1, shorter.size - 1)
            whole = (last == at + size - 1) & (passage[at] == passage[last])
            whole &= shorter[np.minimum(at + 1, last)] >= 0
            at = at[whole]
            key = key[whole] | shorter[at + 1]
        order = np.argsort(key, kind="stable")
        key, at = key[order], at[order]
        begins = np.flatnonzero(np.diff(key, prepend=-1))
        group = np.repeat(np.arange(begins.size), np.diff(begins, append=key.size))
        # Places come in order, and so do the passages of a group.
        new = np.diff(passage[at], prepend=-1) != 0
        new[begins] = True
        frequency = np.bincount(group[new], minlength=begins.size)
        often = frequency >= 2
        grams[at] = np.where(often, np.cumsum(often) - 1 + number, -1)[group]
        number += int(often.sum())
        frequencies.append(frequency[often].astype(np.int32))
        firsts.append(at[begins[often]].astype(np.int32))
    return grams, np.concatenate(frequencies), np.concatenate(firsts)


def _maximal(
    at: _Places, frequency: _Places, longer: _Places, longer_frequency: _Places
) -> NDArray[np.bool_]:
    """Return which n-grams, at their places, are not all in one longer n-gram.

    "Chi minh" is in "ho chi minh". `longer` are those of one word more at each place of the text.
    """
    maximal = np.ones(at.size, bool)
    for shift in (0, 1):  # the longer one begins here, or one word before
        around = longer[at - shift]
        inside = np.flatnonzero(around >= 0)
        maximal[inside[frequency[inside] == longer_frequency[around[inside]]]] = False
    return maximal


#: The edges between passages, as `connect/shared` takes them.
_EDGE = {"type": "SHARES_KEYWORD", "items": "keywords", "marks": "sharedKeywordMarks"}
#: Links of keywords that are written in one transaction: titles are in up to all passages.
_LINKS = 30_000
#: A title shared by more documents than this names none of them.
_MOST_OWNERS = 20


def connect_keywords(build: graph_build.GraphBuild[KeywordSettings]) -> None:
    """Make a corpus's keywords and shared-keyword edges; only what differs is written."""
    settings = build.settings
    if build.is_current():
        return
    with build.making():
        with graph_build.timed(build.seconds, "read passages"):
            rows = build.read("connect/passages", anew=build.anew)
        with (
            graph_build.timed(build.seconds, "extract keywords"),
            bar("keywords", len(rows), "passages") as progress,
        ):
            titles = [row["title"] for row in rows]
            # Each text goes once it is read, for the memory.
            passages = ((row["title"], f"{row['title']}. {row.pop('text')}") for row in rows)
            keywords = extract_keywords(passages, titles, settings, progress.update)
        with graph_build.timed(build.seconds, "write keywords"):
            _write_keywords(build, rows, keywords)
        with graph_build.timed(build.seconds, "shared-keyword edges"):
            rare = np.flatnonzero(keywords.frequency[keywords.keyword] <= settings.max_frequency)
            weight = keywords.weight[rare]
            shared = graph_build.strongest_pairs(
                keywords.passage[rare], keywords.keyword[rare], weight, weight,
                [row["id"] for row in rows], settings.neighbours,
            )  # fmt: skip
            graph_build.write_pairs(
                build, _EDGE, rows, _naming_pairs(keywords), shared, keywords.texts
            )


def _write_keywords(
    build: graph_build.GraphBuild[KeywordSettings], rows: Sequence[Row], keywords: Keywords
) -> None:
    """Write the keywords of passages that differ from what is stored; remove those of none."""
    # Everything that the link of a passage to a keyword says but its weight.
    said = keywords.hashes[keywords.keyword] ^ (keywords.owned.astype(np.uint64) << np.uint64(63))
    before, counts = ([row[each] for row in rows] for each in ("keywordMarks", "keywords"))
    complete = np.bincount(keywords.passage, minlength=len(rows)) == counts
    changed = graph_build.outdated(keywords.passage, said, keywords.weight, before, complete)
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


def _naming_pairs(keywords: Keywords) -> graph_build.Pairs:
    """Return the passages that name a document's title, each with that document's first passage."""
    passage, keyword, weight = keywords.passage, keywords.keyword, keywords.weight
    owners = np.bincount(keyword[keywords.owned], minlength=len(keywords.texts))
    own = np.flatnonzero(keywords.owned & (owners[keyword] <= _MOST_OWNERS))
    others = np.flatnonzero(~keywords.owned)
    owning, naming = graph_build.match_items(
        own, keyword, others[np.argsort(keyword[others], kind="stable")]
    )
    return graph_build.group_pairs(
        passage, keyword, naming, owning, weight[naming] * weight[owning]
    )
