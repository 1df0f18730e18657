"""Makes the entity graph (KGP's TAGME graph): mentions, and edges between passages sharing them."""

import itertools
import math
from array import array
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from kgp_neo4j.corpus.connect.build import GraphBuild, timed
from kgp_neo4j.corpus.connect.entities.linker import EntityLinker
from kgp_neo4j.corpus.connect.entities.mentions import Linked, link_all, mention_marks
from kgp_neo4j.corpus.connect.entities.surface_forms import read_aliases
from kgp_neo4j.corpus.connect.pairs import MOST_ITEMS, Pairs, strongest_pairs, write_pairs
from kgp_neo4j.environment.job import ahead, bar
from kgp_neo4j.graphdb.database import Row, in_batches
from kgp_neo4j.types.settings import EntitySettings

#: The edges between passages, as `connect/shared` takes them.
_EDGE = {"type": "SHARES_ENTITY", "items": "entities", "marks": "sharedEntityMarks"}
_BATCH = 1000
#: Which linker has linked a passage, as its `linkedBy` says.
_LINKER = "titles"
_Build: TypeAlias = GraphBuild[EntitySettings]


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
        with timed(build.seconds, "read passages"):
            rows = build.read("connect/entity_passages", anew=build.anew)
        _write_mentions(build, rows, aliases)
        with timed(build.seconds, "shared-entity edges"):
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
            with timed(build.seconds, "link entities"):
                batch = next(batches)
            with timed(build.seconds, "write mentions"):
                _write_entities(build, batch, entities, seen)
                _write_batch(build, batch, rows[start : start + _BATCH], documents, entities)
            progress.update(len(batch))
    with timed(build.seconds, "write mentions"):
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
    items = np.full((first.size, MOST_ITEMS), -1, np.int32)
    items[:, 0] = named_by
    named = Pairs(first, second, np.ones_like(first), columns[3], items)
    write_pairs(build, _EDGE, rows, named, shared, titles)


def _shared_pairs(
    build: _Build, ids: Sequence[str], place: Mapping[str, int]
) -> tuple[Pairs, list[str]]:
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
    pairs = strongest_pairs(passage, item, weight, np.ones_like(weight), ids, settings.neighbours)
    return pairs, [titles[at] for at in order]
