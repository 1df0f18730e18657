"""What each passage mentions: documents by their titles, and phrases that passages share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kgp_neo4j.corpus.connect.entities.capitalised import Phrase, Phrases
from kgp_neo4j.corpus.connect.entities.linker import EntityLinker, Mention
from kgp_neo4j.corpus.connect.pairs import MULTIPLIER, hash_texts, outdated
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.text.words import cut
from kgp_neo4j.types.json_records import parts

#: A title of more documents than this is too ambiguous to be a mention.
_MOST_SAME_TITLE = 20


@dataclass(frozen=True, slots=True)
class Linked:
    """What one passage mentions: documents by id, and phrases that others have too."""

    documents: list[dict[str, Any]]
    phrases: list[Phrase]


def link_all(linker: EntityLinker, passages: Sequence[Row]) -> Iterator[Linked]:
    """Yield what all passages of a corpus mention, in order.

    They are rows with `text`, `document` (its id) and `title` (the document's); a text leaves its
    row when it is linked, for the memory.
    """
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
        yield Linked(
            _documents(linker, [m for m in mentions if m.entity != owner]),
            [Phrase.at(passage["title"], text, start, end) for start, end in places],
        )


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
                row = rows[document] = {
                    "document": document,
                    **parts(mention, "surface", "start", "end", "coherence"),
                    "commonness": mention.commonness / len(documents),
                    "score": mention.score / len(documents) ** 0.5,
                }
            row["offsets"] = places
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
    phrases = hash_texts(repr(linked.phrases) for linked in batch)
    places = np.arange(len(batch))
    each = np.arange(3, dtype=np.uint64) * MULTIPLIER
    return outdated(
        np.concatenate((places, np.repeat(places, [3 * len(one.documents) for one in batch]))),
        np.concatenate((phrases, (hash_texts(documents)[:, None] + each).ravel())),
        np.concatenate((np.zeros(len(batch)), np.array(values, np.float64).ravel())),
        stored,
        np.array(complete),
    )
