"""What each passage mentions: documents by their titles, spaCy's entities, and shared phrases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.entities.capitalised import Phrase, Phrases, place_of
from kgp_neo4j.corpus.connect.entities.linker import EntityLinker, Mention
from kgp_neo4j.corpus.connect.entities.spots import Spots
from kgp_neo4j.corpus.connect.pairs import MULTIPLIER, hash_texts, outdated
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.graphdb.database import Row
from kgp_neo4j.text.words import cut, whole_words, words
from kgp_neo4j.types.errors import ConfigurationError

__all__ = [
    "FoundPhrase",
    "Linked",
    "PassageText",
    "Reading",
    "find_phrases",
    "link_all",
    "link_passages",
    "load_spacy",
    "mention_marks",
    "owners_of",
    "read_passages",
]

#: A title of more documents than this is too ambiguous to be a mention.
_MOST_SAME_TITLE = 20
#: Labels of spaCy's English models for values rather than entities.
_VALUES = frozenset(("CARDINAL", "DATE", "MONEY", "ORDINAL", "PERCENT", "QUANTITY", "TIME"))


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage to be linked, with its document's id and title."""

    id: str
    document: str
    title: str
    text: str

    @classmethod
    def of_row(cls, row: Row) -> PassageText:
        """Return the passage of a row of `connect/entity_passages`."""
        return cls(row["id"], row["document"], row["title"], row["text"])


@dataclass(slots=True)
class Linked:
    """What one passage mentions: documents by id, other entities by name, and shared phrases.

    `phrases` are places, as `Phrase.at` takes them. `entities` has the title and type of the
    others, and of the phrases that no passage before had. `mentions` are those of documents
    themselves, in order.
    """

    passage: PassageText
    mentions: list[Mention]
    documents: list[dict[str, Any]]
    others: list[dict[str, Any]] = field(default_factory=list)
    phrases: list[tuple[int, int]] = field(default_factory=list)
    entities: dict[str, dict[str, str]] = field(default_factory=dict)

    def add_entity(self, name: str, title: str, kind: str) -> None:
        """Note an entity that is no document."""
        self.entities.setdefault(name, {"name": name, "title": title, "type": kind})

    def add_mention(self, name: str, surface: str, start: int | None, end: int | None) -> None:
        """Add a mention of an entity that is no document; a repeated one adds its place."""
        offsets = [] if start is None or end is None else [start, end]
        known = next((row for row in self.others if row["name"] == name), None)
        if known is None:
            unscored = dict.fromkeys(("commonness", "coherence", "score"))
            row = {"name": name, "surface": surface, "start": start, "end": end, **unscored}
            self.others.append({**row, "offsets": offsets})
            return
        places = known["offsets"]
        # A phrase may be an entity that spaCy found at the same place.
        if all(places[at : at + 2] != offsets for at in range(0, len(places), 2)):
            places += offsets

    def phrase(self, start: int, end: int) -> Phrase:
        """Return the phrase at a place."""
        return Phrase.at(self.passage.title, self.passage.text, start, end)

    def spell_phrases(self) -> None:
        """Make the phrases mentions like the others."""
        for place in self.phrases:
            phrase = self.phrase(*place)
            self.add_mention(phrase.key, phrase.surface, phrase.start, phrase.end)
        self.phrases = []


@dataclass(slots=True)
class Reading:
    """What was read of some passages: the documents' names in them, and their phrases."""

    spots: Spots = field(default_factory=Spots)
    phrases: Phrases = field(default_factory=Phrases)


@dataclass(frozen=True, slots=True)
class FoundPhrase:
    """A phrase as written first, how many passages have it, and whether it surely is a name.

    `words` are its words alone, `text` has what else the first passage joins to them.
    """

    words: str
    text: str
    passages: int
    sure: bool


def read_passages(linker: EntityLinker, passages: Iterable[PassageText]) -> Reading:
    """Find names and, where the settings want them, phrases in some passages."""
    reading = Reading()
    for passage in passages:
        text = cut(passage.text)
        reading.spots.add(linker.names.find(text))
        if linker.settings.phrases:
            # A passage also has the phrases of its title, without a place in the text.
            reading.phrases.add(cut(passage.title), text)
    return reading


def owners_of(linker: EntityLinker, passages: Iterable[PassageText]) -> list[int]:
    """Return the entity that each passage's document is."""
    return [linker.number[passage.document] for passage in passages]


def find_phrases(passages: Sequence[PassageText]) -> dict[str, FoundPhrase]:
    """Return the phrases of some passages by their keys."""
    phrases = Phrases()
    for passage in passages:
        phrases.add(cut(passage.title), cut(passage.text))
    counted = phrases.counted()
    values = zip(counted.count.tolist(), counted.sure.tolist(), strict=True)
    by_hash = dict(zip(counted.hashes.tolist(), values, strict=True))
    by_key: dict[str, FoundPhrase] = {}
    for passage, places in zip(passages, phrases.shared(counted.hashes), strict=True):
        for start, end, is_new in places:
            if is_new:
                phrase = Phrase.at(passage.title, passage.text, start, end)
                by_key[phrase.key] = FoundPhrase(
                    " ".join(words(phrase.surface)),
                    whole_words(*place_of(passage.title, passage.text, start, end)),
                    *by_hash[hash(phrase.key)],
                )
    return by_key


def link_passages(
    linker: EntityLinker,
    passages: Sequence[PassageText],
    reading: Reading,
    shared: NDArray[np.int64],
) -> Iterator[Linked]:
    """Yield what each passage mentions.

    The linker has learnt what was read of all passages. `shared` are the hashes of the phrases that
    passages share, which are left as places.
    """
    has_phrases = linker.settings.phrases
    places = reading.phrases.shared(shared) if has_phrases else ([] for _ in passages)
    owners = owners_of(linker, passages)
    rows = zip(passages, owners, linker.chosen(reading.spots), places, strict=True)
    for passage, owner, spots, phrases in rows:
        mentions = linker.mentions(passage.text, spots, owner)
        documents = _documents(linker, [m for m in mentions if m.entity != owner])
        linked = Linked(passage, mentions, documents)
        for start, end, is_new in phrases:
            linked.phrases.append((start, end))
            if is_new:
                phrase = linked.phrase(start, end)
                linked.add_entity(phrase.key, phrase.surface, "Phrase")
        yield linked


def link_all(
    linker: EntityLinker, passages: Sequence[PassageText], pipeline: Any = None
) -> Iterator[Linked]:
    """Yield the mentions of all passages of a corpus, in order: of the linker's titles first.

    A spaCy pipeline adds the entities that it finds elsewhere, and `settings.phrases` the phrases
    that passages share; without a pipeline these are left as places.
    """
    linker.add_lead_names((linker.number[p.document], p.text) for p in passages)
    reading = read_passages(linker, passages)
    linker.learn(reading.spots, owners_of(linker, passages))
    shared = reading.phrases.counted().shared(linker.settings.phrase_frequency)
    by_titles = link_passages(linker, passages, reading, shared)
    if not pipeline:
        yield from by_titles
        return
    documents = pipeline.pipe((passage.text for passage in passages), batch_size=64)
    labels = linker.settings.spacy_labels
    for linked, document in zip(by_titles, documents, strict=True):
        phrases, linked.entities = linked.entities, {}
        # Both are sorted, and neither overlaps itself.
        mentions = iter(linked.mentions)
        mention = next(mentions, None)
        for entity in document.ents:
            start, end, kind = entity.start_char, entity.end_char, entity.label_
            if kind not in labels if labels else kind in _VALUES:
                continue
            while mention and mention.end <= start:
                mention = next(mentions, None)
            surface = linked.passage.text[start:end]
            name = " ".join(cut(surface).keys)
            if name and not (mention and mention.start < end):
                linked.add_entity(name, surface, kind)
                linked.add_mention(name, surface, start, end)
        linked.entities = phrases | linked.entities  # both may find the same
        linked.spell_phrases()
        yield linked


def load_spacy(model: str) -> Any:
    """Return a spaCy pipeline by the name of its package or its folder."""
    with needs("spacy", "a spaCy model"):
        import spacy
    try:
        return spacy.load(model)
    except OSError as error:
        raise ConfigurationError(
            f"there is no spaCy model {model!r}",
            hint="Name a folder, or install one: python -m spacy download en_core_web_sm",
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            f"the spaCy model {model!r} cannot be loaded ({str(error).splitlines()[0]})",
            hint="Install the packages it was made with.",
        ) from error


def _documents(linker: EntityLinker, mentions: Sequence[Mention]) -> list[dict[str, Any]]:
    """Return one row for each document mentioned: its best mention, with the places of all.

    A name means every document of the same title, unless there are too many of them.
    """
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
                    "surface": mention.surface,
                    "start": mention.start,
                    "end": mention.end,
                    "commonness": mention.commonness / len(documents),
                    "coherence": mention.coherence,
                    "score": mention.score / len(documents) ** 0.5,
                }
            row["offsets"] = places
    return list(rows.values())


def mention_marks(
    batch: Sequence[Linked], stored: Sequence[str | None], complete: Sequence[bool]
) -> dict[int, str]:
    """Return the places of the passages that are to be written, with their marks (`outdated`).

    There is a mark for each value of each document that is mentioned, and one for all else.
    """
    others: list[str] = []
    documents: list[str] = []
    values: list[tuple[float, float, float]] = []
    for linked in batch:
        named = [(m["name"], m["surface"], m["offsets"]) for m in linked.others]
        # A passage's id says its text, so that its title and the places say the phrases.
        others.append(repr((named, linked.phrases and (linked.passage.title, linked.phrases))))
        for m in linked.documents:
            documents.append(f"{m['document']} {m['surface']} {m['start']} {m['offsets']}")
            values.append((m["commonness"], m["coherence"], m["score"]))
    places = np.arange(len(batch))
    each = np.arange(3, dtype=np.uint64) * MULTIPLIER
    return outdated(
        np.concatenate((places, np.repeat(places, [3 * len(one.documents) for one in batch]))),
        np.concatenate((hash_texts(others), (hash_texts(documents)[:, None] + each).ravel())),
        np.concatenate((np.zeros(len(batch)), np.array(values, np.float64).ravel())),
        stored,
        np.array(complete),
    )
