"""Makes the entity graph (KGP's TAGME graph): mentions, and edges between passages sharing them."""

from __future__ import annotations

import itertools
import math
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kgp_neo4j.corpus.connect.build import (
    MOST_HITS,
    MOST_NAMING,
    Counts,
    GraphBuild,
    NewPassages,
    as_array,
    from_array,
)
from kgp_neo4j.corpus.connect.entities.linker import EntityLinker
from kgp_neo4j.corpus.connect.entities.mentions import (
    FoundPhrase,
    Linked,
    PassageText,
    find_phrases,
    link_all,
    link_passages,
    load_spacy,
    mention_marks,
    owners_of,
    read_passages,
)
from kgp_neo4j.corpus.connect.entities.surface_forms import read_aliases
from kgp_neo4j.corpus.connect.pairs import MOST_ITEMS, Pairs, strongest_pairs, write_pairs
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.types.settings import EntitySettings

__all__ = ["ENTITY_EDGE", "connect_entities", "rarity"]

#: The edges between passages, as `connect/shared` takes them.
ENTITY_EDGE = {"type": "SHARES_ENTITY", "items": "entities", "marks": "sharedEntityMarks"}
_BATCH = 1000


def connect_entities(build: GraphBuild, settings: EntitySettings) -> int:
    """Link a corpus's passages and make its shared-entity edges; only what differs is written.

    A few new passages are joined with what was counted in the others where nothing links but the
    titles, which say the same each time; returns how many. Raises ConfigurationError and InputError
    for settings and files that are invalid, before anything is changed.
    """
    aliases: dict[str, list[str]] = {}
    if settings.aliases:
        titles = {row["title"] for row in build.read("connect/titles")}
        aliases = read_aliases(settings.aliases, titles)
    pipeline = load_spacy(settings.spacy_model) if settings.spacy_model else None
    return build.make(
        lambda: _connect_all(build, settings, aliases, pipeline),
        lambda new: _join(build, settings, new),
        same_again=not (settings.aliases or pipeline),
    )


def _connect_all(
    build: GraphBuild, settings: EntitySettings, aliases: Mapping[str, Sequence[str]], pipeline: Any
) -> None:
    with build.timed("read passages"):
        rows = build.read("connect/entity_passages", anew=build.anew)
    counts = _write_mentions(build, settings, rows, aliases, pipeline)
    with build.timed("shared-entity edges"):
        # By id, so that the same passages make the same edges wherever they are stored.
        rows.sort(key=lambda row: row["id"])
        _write_edges(build, settings, rows)
    if counts:
        build.keep_counts(counts, len(rows))


def _write_mentions(
    build: GraphBuild,
    settings: EntitySettings,
    rows: Sequence[Row],
    aliases: Mapping[str, Sequence[str]],
    pipeline: Any,
) -> Counts:
    """Link the passages and write their mentions; their texts leave the rows, for the memory.

    Returns what was counted in them, where nothing links but the titles.
    """
    titles = {row["document"]: row["title"] for row in rows}
    documents = {row["document"]: row["documentNode"] for row in rows}
    passages = list(map(PassageText.of_row, rows))
    for row in rows:
        del row["text"]
    linker = EntityLinker(titles.items(), aliases, settings)
    with bar("entities", len(passages), "passages") as progress:
        linked = link_all(linker, passages, pipeline)
        stored = build.read_pages("connect/stored_entities", "name")
        writer = _MentionWriter(build, settings.linker, documents, stored)
        for start in range(0, len(rows), _BATCH):
            with build.timed("link entities"):
                batch = list(itertools.islice(linked, _BATCH))
            with build.timed("write mentions"):
                writer.write(batch, rows[start : start + _BATCH])
            progress.update(len(batch))
            build.meanwhile()
    with build.timed("write mentions"):
        build.database.write_in_batches("connect/remove_entities", corpus=build.corpus)
    if aliases or pipeline:
        return {}
    return {**linker.as_arrays(), "ids": as_array([row["id"] for row in rows])}


class _MentionWriter:
    """Writes those mentions that differ from the stored ones.

    `documents` are the nodes of documents by id, `stored` the entities that are there.
    """

    def __init__(
        self, build: GraphBuild, linker: str, documents: Mapping[str, str], stored: Iterable[Row]
    ) -> None:
        self._build = build
        self._linker = linker
        self._documents = documents
        #: By name: the node, and its title and type as they are stored.
        self._entities: dict[str, tuple[str, str, str]] = {
            row["name"]: (row["node"], row["title"], row["type"]) for row in stored
        }
        self._seen: set[str] = set()

    def write(self, batch: Sequence[Linked], rows: Sequence[Row]) -> None:
        """Write the mentions of a batch, given the rows of its passages."""
        self._write_entities(batch)
        changed = mention_marks(
            batch,
            [row["mentionMarks"] for row in rows],
            [
                row["linkedBy"] == self._linker
                and row["mentions"] == len(one.others) + len(one.phrases) + len(one.documents)
                for row, one in zip(rows, batch, strict=True)
            ],
        )
        changes = []
        for at, marks in changed.items():
            linked = batch[at]
            linked.spell_phrases()
            mentions = [
                *({"node": self._entities[m.pop("name")][0], **m} for m in linked.others),
                *({"node": self._documents[m.pop("document")], **m} for m in linked.documents),
            ]
            changes.append({"passage": linked.passage.id, "marks": marks, "mentions": mentions})
        if changes:
            self._build.write_rows("connect/mentions", changes, _BATCH, linker=self._linker)

    def _write_entities(self, batch: Sequence[Linked]) -> None:
        """Write the entities that are new, or first called otherwise than before."""
        new: dict[str, dict[str, str]] = {}
        for name, row in itertools.chain.from_iterable(one.entities.items() for one in batch):
            if name not in self._seen:
                self._seen.add(name)
                if self._entities.get(name, ("", "", ""))[1:] != (row["title"], row["type"]):
                    new[name] = row
        if new:
            rows = list(new.values())
            written = self._build.database.write(
                "connect/entities", corpus=self._build.corpus, rows=rows
            )
            for entity in written:
                row = new[entity["name"]]
                self._entities[entity["name"]] = (entity["node"], row["title"], row["type"])


def _join(build: GraphBuild, settings: EntitySettings, new: NewPassages) -> None:
    """Link new passages, and the others that name new documents or share a name with new ones."""
    with build.timed("read passages"):
        fresh = build.read("connect/entity_passages", rows=new.ids)
        documents = build.database.read_packed("connect/titles", corpus=build.corpus)
    with build.timed("restore names"):
        linker = EntityLinker.from_arrays(new.counts, settings)
        nodes = {row["document"]: row["node"] for row in documents}
        # A document may be deleted meanwhile.
        fresh = [row for row in fresh if row["document"] in nodes]
        named = linker.update((row["document"], row["title"]) for row in documents)
        named.intersection_update(row["document"] for row in fresh)
        linker.add_lead_names(
            (linker.number[row["document"]], row["text"])
            for row in fresh
            if row["position"] == 0 and row["document"] in named
        )
    with build.timed("search passages"):
        phrases = _phrases(settings, fresh)
        known = _known_entities(build, phrases)
        old, single = _with_new_phrases(build, settings, phrases, known, nodes, new.ids)
        names = {(key, name.lower(), text) for key, name, text in linker.new_names(named)}
        hits = build.passages_with(names, MOST_NAMING)
        old |= {row["id"]: row for row in _old_passages(build, hits, nodes, new.ids)}
    with build.timed("link entities"):
        rows = sorted((*fresh, *old.values()), key=lambda row: (row["document"], row["position"]))
        passages = list(map(PassageText.of_row, rows))
        reading = read_passages(linker, passages)
        ids: list[str] = from_array(new.counts["ids"])
        place = {id_: at for at, id_ in enumerate(ids)}
        places = [place.get(passage.id, -1) for passage in passages]
        linker.learn(reading.spots, owners_of(linker, passages), places)
        known |= _known_entities(build, _phrases(settings, list(old.values())))
        shared = np.array([hash(key) for key in {*known, *single}], np.int64)
        linked = list(link_passages(linker, passages, reading, shared))
    with build.timed("write mentions"):
        for one in linked:  # those that are there stay as they are called
            one.entities = {name: row for name, row in one.entities.items() if name not in known}
        writer = _MentionWriter(build, settings.linker, nodes, known.values())
        for at in range(0, len(rows), _BATCH):
            writer.write(linked[at : at + _BATCH], rows[at : at + _BATCH])
    with build.timed("shared-entity edges"):
        build.join_passages(
            "connect/entity_neighbours", ENTITY_EDGE, [row["node"] for row in fresh],
            maxFrequency=settings.max_frequency, neighbours=settings.neighbours,
            passages=new.passages,
        )  # fmt: skip
    ids += [p.id for p in passages if p.id not in place]
    counts = {**linker.as_arrays(), "ids": as_array(ids)}
    build.keep_counts(counts, new.counted, new.joined + len(new.ids))


def _phrases(settings: EntitySettings, rows: Sequence[Row]) -> dict[str, FoundPhrase]:
    return find_phrases(list(map(PassageText.of_row, rows))) if settings.phrases else {}


def _with_new_phrases(
    build: GraphBuild,
    settings: EntitySettings,
    phrases: Mapping[str, FoundPhrase],
    known: Collection[str],
    documents: Collection[str],
    fresh: Sequence[str],
) -> tuple[dict[str, Row], set[str]]:
    """Return the old passages that share a phrase with new ones alone, and these phrases.

    `phrases` are those of the fresh passages; `known` ones are entities already.
    """
    # A phrase that is no entity yet is in one other passage at most, or in too many.
    lacking = {key: one for key, one in phrases.items() if key not in known}
    sought = ((key, one.words, one.text) for key, one in lacking.items())
    hits = build.passages_with(sought, MOST_HITS, cased=True)
    others = _old_passages(build, hits, documents, fresh)
    phrases_of = [_phrases(settings, [row]) for row in others]
    count = Counter(itertools.chain.from_iterable(phrases_of))
    sure = {key for some in (phrases, *phrases_of) for key, one in some.items() if one.sure}
    single = {
        key
        for key, one in lacking.items()
        if key in sure
        and (count[key] == 1 or (not count[key] and one.passages > 1))
        and count[key] + one.passages <= settings.phrase_frequency
    }
    pairs = zip(others, phrases_of, strict=True)
    return {row["id"]: row for row, some in pairs if some.keys() & single}, single


def _known_entities(build: GraphBuild, names: Iterable[str]) -> dict[str, Row]:
    """Return the entities of some names."""
    rows = build.read_rows("connect/stored_entities", list(names), 5000)
    return {row["name"]: row for row in rows}


def _old_passages(
    build: GraphBuild,
    hits: Mapping[str, Sequence[str]],
    documents: Collection[str],
    fresh: Sequence[str],
) -> list[Row]:
    """Return the passages of known documents that were found, none of the fresh ones."""
    ids = set(itertools.chain.from_iterable(hits.values())).difference(fresh)
    rows = build.read("connect/entity_passages", rows=list(ids))
    return [row for row in rows if row["linkedBy"] and row["document"] in documents]


def rarity(passages: int, frequency: int, single: bool = False) -> float:
    """Return how rare it is among the passages that so many mention it, 0 to 1.

    A phrase of one word has half of that.
    """
    rare = math.log(1 + passages / frequency) / math.log(1 + passages)
    return rare * 0.5 if single else rare


def _write_edges(build: GraphBuild, settings: EntitySettings, rows: Sequence[Row]) -> None:
    """Write what changed of the edges to mentioned documents, and between those that share most.

    An entity's weight is its `rarity`, a mentioned document's that times the mention's score.
    """
    place = {row["node"]: at for at, row in enumerate(rows)}
    shared, titles = _shared_pairs(build, settings, [row["id"] for row in rows], place)
    first, second, named_by, score = array("i"), array("i"), array("i"), array("d")
    for row in build.database.stream("connect/naming", corpus=build.corpus):
        for node, scored in row["naming"]:
            first.append(place[node])
            second.append(place[row["other"]])
            named_by.append(len(titles))
            score.append(scored * rarity(len(rows), row["frequency"]))
        titles.append(row["title"])
    items = np.full((len(first), MOST_ITEMS), -1, np.int32)
    items[:, 0] = named_by
    named = Pairs(
        np.frombuffer(first, np.int32),
        np.frombuffer(second, np.int32),
        np.ones(len(first), np.int32),
        np.frombuffer(score, np.float64),
        items,
    )
    write_pairs(build, ENTITY_EDGE, rows, named, shared, titles)


def _shared_pairs(
    build: GraphBuild, settings: EntitySettings, ids: Sequence[str], place: Mapping[str, int]
) -> tuple[Pairs, list[str]]:
    """Return the pairs of passages that share most, and the titles of what they share.

    `place` is that of each passage's node among the `ids`.
    """
    titles: list[str] = []
    rare, sizes, members = array("d"), array("i"), array("i")
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
    pairs = strongest_pairs(passage, item, weight, np.ones_like(weight), ids, settings.neighbours)
    return pairs, [titles[at] for at in order]
