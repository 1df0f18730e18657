"""Makes the entity graph (KGP's TAGME graph): mentions, and edges between passages sharing them.

Passages mention documents by their titles, and phrases that other passages have, too.
"""

import itertools
import math
import unicodedata
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from kgp_neo4j.corpus.connect import graph_build
from kgp_neo4j.corpus.connect.entity_linker import EntityLinker, Mention
from kgp_neo4j.corpus.connect.entity_names import begins_sentence, continues_name, read_aliases
from kgp_neo4j.environment.job import ahead, bar
from kgp_neo4j.graphdb.database import Row, in_batches
from kgp_neo4j.text.safe import parts
from kgp_neo4j.text.words import STOP_WORDS, Words, cut, fold, words
from kgp_neo4j.types.settings import EntitySettings

#: Words of the longest phrase, and small words that may stand inside one ("Bank of England").
_LONGEST = 5
_BETWEEN = frozenset(("of", "the", "and", "de", "la", "del", "di", "da", "van", "von", "for"))


class Phrase(NamedTuple):
    """A phrase: its key for comparison, as written, and its place in characters, none in titles."""

    key: str
    surface: str
    start: int | None
    end: int | None

    @classmethod
    def at(cls, title: str, text: str, start: int, end: int) -> Self:
        """Return the phrase at a place of a text, or of its title where the place is negative."""
        past = len(title) + 1
        surface = text[start:end] if start >= 0 else title[start + past : end + past]
        place = (start, end) if start >= 0 else (None, None)
        return cls(_key(surface), surface, *place)


class Phrases:
    """The phrases of passages, in their order.

    A phrase is a run of up to five capitalised words and numbers, or a part of one. Scripts without
    capitals have none. Time and memory are linear: 17 bytes for a phrase of a passage.
    """

    def __init__(self) -> None:
        self._sure: set[str] = set()
        #: Of each phrase of each passage: a hash of its key, whether it is one word, and its place,
        #: in the title where this is negative.
        self._hashes, self._single = array("q"), array("b")
        self._starts, self._ends = array("i"), array("i")
        self._sizes = array("q")

    def add(self, title: Words, text: Words) -> None:
        """Read the next passage."""
        first: dict[str, tuple[int, int]] = {}
        past = len(title.text) + 1
        for part, moved in ((title, past), (text, 0)):
            whole = unicodedata.is_normalized("NFKC", part.text)
            for key, start, end in _phrases(part, self._sure):
                # In NFKC "7⅓" is "71" and "3", of which each has both characters.
                name = key if whole else _key(part.text[start:end])
                first.setdefault(name, (start - moved, end - moved))
        self._hashes.extend(map(hash, first))
        self._single.extend(" " not in key for key in first)
        self._starts.extend(start for start, _ in first.values())
        self._ends.extend(end for _, end in first.values())
        self._sizes.append(len(first))

    def shared(self, most: int) -> Iterator[list[tuple[int, int]]]:
        """Yield the places in each passage of the phrases that 2 to `most` passages have.

        Each comes once; a single word that occurs only at the beginning of sentences is none.
        """
        hashes = np.frombuffer(self._hashes, np.int64)
        known, first, number, count = np.unique(
            hashes, return_index=True, return_inverse=True, return_counts=True
        )
        sure = np.fromiter(map(hash, self._sure), np.int64, len(self._sure))
        is_name = np.isin(known, sure) | (np.frombuffer(self._single, np.int8)[first] == 0)
        wanted = is_name & (count >= 2) & (count <= most)
        places = np.flatnonzero(wanted[number.reshape(-1)])
        passage = np.repeat(np.arange(len(self._sizes)), np.frombuffer(self._sizes, np.int64))
        starts, ends = (np.frombuffer(at, np.int32)[places] for at in (self._starts, self._ends))
        sizes = np.bincount(passage[places], minlength=len(self._sizes))
        rows = zip(starts.data, ends.data, strict=True)
        return (list(islice(rows, size)) for size in sizes.data)


def _key(surface: str) -> str:
    found = words(surface)
    return " ".join(found).lower() if surface.isascii() else " ".join(map(fold, found))


def _phrases(text: Words, sure: set[str]) -> Iterator[tuple[str, int, int]]:
    """Yield every phrase of a text with its place, by start, the longest first.

    `sure` collects the numbers, and the single words that have a capital inside a sentence.
    """
    for run in _runs(text):
        ends = [at for at in range(*run) if _may_end(text, at)]
        for n, at in enumerate(ends):
            for last in reversed(ends[n : n + _LONGEST]):
                key = " ".join(text.keys[at : last + 1])
                if last >= at + _LONGEST or len(key) < 2:
                    continue
                if last == at and (key[0].isdigit() or not begins_sentence(text, at)):
                    sure.add(key)
                yield key, text.starts[at], text.ends[last]


def _may_end(words: Words, at: int) -> bool:
    raw = words.raw[at]
    return (raw[0].isupper() or raw[0].isdigit()) and words.keys[at] not in STOP_WORDS


def _runs(words: Words) -> Iterator[tuple[int, int]]:
    """Yield the runs of name words, as [first, last)."""
    first = last = -1
    for at, raw in enumerate(words.raw):
        if not (raw[0].isupper() or raw[0].isdigit() or raw in _BETWEEN):
            continue
        if first < 0 or at > last + 1 or not continues_name(words, at):
            if first >= 0:
                yield first, last + 1
            first = at if _may_end(words, at) else -1
        last = at
    if first >= 0:
        yield first, last + 1


#: A title of more documents than this is too ambiguous to be a mention.
_MOST_SAME_TITLE = 20


@dataclass(frozen=True, slots=True)
class Linked:
    """What one passage mentions: documents by id, and phrases that others have too."""

    documents: list[dict[str, Any]]
    phrases: list[Phrase]


def link_all(linker: EntityLinker, passages: Sequence[Row]) -> Iterator[Linked]:
    """Yield what all passages of a corpus mention, in order; a text leaves its row then."""
    phrases = Phrases()
    for passage in passages:
        words = cut(passage["text"])
        linker.read(words)
        if linker.settings.phrases:
            # A passage also has the phrases of its title, without a place in the text.
            phrases.add(cut(passage["title"]), words)
    owners = [linker.number[passage["document"]] for passage in passages]
    linked = linker.link((passage.pop("text") for passage in passages), owners)
    shared: Iterator[list[tuple[int, int]]] = iter([[]] * len(passages))
    if linker.settings.phrases:
        shared = phrases.shared(linker.settings.phrase_frequency)
    each = zip(passages, owners, linked, shared, strict=True)
    for passage, owner, (text, mentions), places in each:
        documents = _documents(linker, [m for m in mentions if m.entity != owner])
        title = passage["title"]
        yield Linked(documents, [Phrase.at(title, text, start, end) for start, end in places])


def _documents(linker: EntityLinker, mentions: Sequence[Mention]) -> list[dict[str, Any]]:
    """Return one row for each document mentioned: its best mention, with the places of all."""
    rows: dict[str, dict[str, Any]] = {}
    for mention in mentions:
        documents = linker.documents[mention.entity]
        if len(documents) > _MOST_SAME_TITLE:
            continue
        for document in documents:
            row = rows.get(document)
            places = [*(row["offsets"] if row else ()), mention.start, mention.end]
            if row is None or mention.score > row["score"]:
                row = {"document": document}
                row |= parts(mention, "surface", "start", "end", "coherence")
                row["commonness"] = mention.commonness / len(documents)
                row["score"] = mention.score / len(documents) ** 0.5
            rows[document] = row | {"offsets": places}
    return list(rows.values())


def mention_marks(
    batch: Sequence[Linked], stored: Sequence[str | None], complete: Sequence[bool]
) -> dict[int, str]:
    """Return the places of the passages that are to be written, with their marks (`outdated`)."""
    documents: list[str] = []
    values: list[tuple[float, float, float]] = []
    for linked in batch:
        for m in linked.documents:
            documents.append(f"{m['document']} {m['surface']} {m['start']} {m['offsets']}")
            values.append((m["commonness"], m["coherence"], m["score"]))
    phrases = graph_build.hash_texts(repr(linked.phrases) for linked in batch)
    places = np.arange(len(batch))
    each = np.arange(3, dtype=np.uint64) * graph_build.MULTIPLIER
    counts = [3 * len(one.documents) for one in batch]
    passage = np.concatenate((places, np.repeat(places, counts)))
    said = np.concatenate((phrases, (graph_build.hash_texts(documents)[:, None] + each).ravel()))
    weight = np.concatenate((np.zeros(len(batch)), np.array(values, np.float64).ravel()))
    return graph_build.outdated(passage, said, weight, stored, np.array(complete))


#: The edges between passages, as `connect/shared` takes them.
_EDGE = {"type": "SHARES_ENTITY", "items": "entities", "marks": "sharedEntityMarks"}
_BATCH = 1000
#: Which linker has linked a passage, as its `linkedBy` says.
_LINKER = "titles"
_Build: TypeAlias = graph_build.GraphBuild[EntitySettings]


def aliases_of(build: _Build) -> dict[str, list[str]]:
    """Return the other names of documents by title; raises InputError for an invalid file."""
    if not (file := build.settings.aliases):
        return {}
    return read_aliases(file, {row["title"] for row in build.read("inspect/documents")})


def connect_entities(build: _Build, aliases: Mapping[str, Sequence[str]]) -> None:
    """Link a corpus's passages and make its shared-entity edges; only what differs is written."""
    # A file of aliases of the same name may say something else each time.
    if not build.settings.aliases and build.is_current():
        return
    with build.making():
        with graph_build.timed(build.seconds, "read passages"):
            rows = build.read("connect/entity_passages", anew=build.anew)
        _write_mentions(build, rows, aliases)
        with graph_build.timed(build.seconds, "shared-entity edges"):
            # By id, so that the same passages make the same edges wherever they are stored.
            rows.sort(key=lambda row: row["id"])
            _write_edges(build, rows)


def _write_mentions(build: _Build, rows: Sequence[Row], names: Mapping[str, Sequence[str]]) -> None:
    """Link the passages and write their mentions; their texts leave the rows (`link_all`)."""
    titles = {row["document"]: row["title"] for row in rows}
    documents = {row["document"]: row["documentNode"] for row in rows}
    linked = link_all(EntityLinker(titles.items(), names, build.settings), rows)
    #: By the name of each entity that is stored: its node, and how it was first written.
    entities = {
        row["name"]: (row["node"], row["title"])
        for row in build.database.read_pages("connect/stored_entities", "name", corpus=build.corpus)
    }
    seen: set[str] = set()
    with bar("entities", len(rows), "passages") as progress:
        batches = ahead(in_batches(linked, _BATCH))
        for start in range(0, len(rows), _BATCH):
            with graph_build.timed(build.seconds, "link entities"):
                batch = next(batches)
            with graph_build.timed(build.seconds, "write mentions"):
                _write_entities(build, batch, entities, seen)
                _write_batch(build, batch, rows[start : start + _BATCH], documents, entities)
            progress.update(len(batch))
    with graph_build.timed(build.seconds, "write mentions"):
        build.database.write_in_batches("connect/remove_entities", corpus=build.corpus)


def _write_entities(
    build: _Build, batch: Sequence[Linked], entities: dict[str, tuple[str, str]], seen: set[str]
) -> None:
    """Write the entities that are new, or were first written otherwise than before."""
    new: dict[str, str] = {}
    for phrase in itertools.chain.from_iterable(linked.phrases for linked in batch):
        if phrase.key not in seen:
            seen.add(phrase.key)
            if entities.get(phrase.key, ("", ""))[1] != phrase.surface:
                new[phrase.key] = phrase.surface
    rows = [{"name": name, "title": title} for name, title in new.items()]
    for row in build.database.write("connect/entities", corpus=build.corpus, rows=rows):
        entities[row["name"]] = row["node"], new[row["name"]]


def _write_batch(
    build: _Build,
    batch: Sequence[Linked],
    rows: Sequence[Row],
    documents: Mapping[str, str],
    entities: Mapping[str, tuple[str, str]],
) -> None:
    """Write the mentions of those passages, with their rows, of which they differ."""
    counts = [len(linked.phrases) + len(linked.documents) for linked in batch]
    found = [(row["linkedBy"], row["mentions"]) for row in rows]
    complete = [have == (_LINKER, count) for have, count in zip(found, counts, strict=True)]
    changes = []
    for at, marks in mention_marks(batch, [row["mentionMarks"] for row in rows], complete).items():
        mentions = []
        for key, surface, start, end in batch[at].phrases:
            offsets = [] if start is None else [start, end]
            place = {"surface": surface, "start": start, "end": end, "offsets": offsets}
            mentions.append({"node": entities[key][0], **place})
        mentions += ({"node": documents[m.pop("document")], **m} for m in batch[at].documents)
        changes.append({"passage": rows[at]["id"], "marks": marks, "mentions": mentions})
    build.write_rows("connect/mentions", changes, _BATCH, linker=_LINKER)


def rarity(passages: int, frequency: int, single: bool = False) -> float:
    """Return how rare it is that so many mention it, 0 to 1; of a phrase of one word half of it."""
    rare = math.log(1 + passages / frequency) / math.log(1 + passages)
    return rare * 0.5 if single else rare


def _write_edges(build: _Build, rows: Sequence[Row]) -> None:
    """Write what changed of the edges to mentioned documents, and between those that share most."""
    place = {row["node"]: at for at, row in enumerate(rows)}
    shared, titles = _shared_pairs(build, [row["id"] for row in rows], place)
    numbers = array("d")
    for row in build.database.stream("connect/naming", corpus=build.corpus):
        rare = rarity(len(rows), row["frequency"])
        for node, score in row["naming"]:
            numbers.extend((place[node], place[row["other"]], len(titles), score * rare))
        titles.append(row["title"])
    columns = np.frombuffer(numbers).reshape(-1, 4).T
    first, second, named_by = columns[:3].astype(np.int32)
    items = np.full((first.size, graph_build.MOST_ITEMS), -1, np.int32)
    items[:, 0] = named_by
    named = graph_build.Pairs(first, second, np.ones_like(first), columns[3], items)
    graph_build.write_pairs(build, _EDGE, rows, named, shared, titles)


def _shared_pairs(
    build: _Build, ids: Sequence[str], place: Mapping[str, int]
) -> tuple[graph_build.Pairs, list[str]]:
    """Return the pairs of passages that share most, and the titles of what they share."""
    settings, titles = build.settings, list[str]()
    rare, sizes, members = array("d"), array("i"), array("i")
    with build.turn():
        for row in build.database.stream(
            "connect/mentioned", corpus=build.corpus, maxFrequency=settings.max_frequency
        ):
            titles.append(row["title"])
            rare.append(rarity(len(ids), len(row["passages"]), row["single"]))
            sizes.append(len(row["passages"]))
            members.extend(map(place.__getitem__, row["passages"]))
    order = sorted(range(len(titles)), key=lambda at: (-rare[at], titles[at]))
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    passage, item = np.frombuffer(members, np.int32), np.repeat(number, sizes)
    weight = np.repeat(rare, sizes)
    by_passage = np.lexsort((item, passage))
    passage, item, weight = passage[by_passage], item[by_passage], weight[by_passage]
    pairs = graph_build.strongest_pairs(
        passage, item, weight, np.ones_like(weight), ids, settings.neighbours
    )
    return pairs, [titles[at] for at in order]
