"""Makes the entity graph (KGP's TAGME graph): mentions, and edges between passages sharing them."""

from __future__ import annotations

import itertools
import json
import math
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.corpus.connect.counts import Counts, as_array, from_array
from kgp_neo4j.corpus.connect.entities.capitalised import Phrase, Phrases, place_of
from kgp_neo4j.corpus.connect.entities.linker import EntityLinker, LinkerSettings, Mention
from kgp_neo4j.corpus.connect.entities.service import LinkingService
from kgp_neo4j.corpus.connect.entities.spacy_entities import NamedSpan, load_spacy, spacy_entities
from kgp_neo4j.corpus.connect.entities.spots import Spots
from kgp_neo4j.corpus.connect.entities.surface_forms import read_aliases
from kgp_neo4j.corpus.connect.joining import (
    MOST_HITS,
    MOST_NAMING,
    New,
    join_passages,
    keep,
    make_graph,
    passages_with,
)
from kgp_neo4j.corpus.connect.steps import (
    MIXED,
    Making,
    Pairs,
    hashed,
    outdated,
    paged,
    read_rows,
    strongest_pairs,
    timed,
    write_pairs,
)
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.graphdb.database import Database, Row
from kgp_neo4j.text.words import cut, whole_words, words
from kgp_neo4j.types.settings import SERVICES, EntitySettings

__all__ = [
    "Linked",
    "Reading",
    "TextLinker",
    "TextOfDocument",
    "connect_entities",
    "link_service",
    "link_texts",
    "mention_marks",
    "rarity",
]

_PHRASE = "Phrase"
_WIKIPEDIA = "Wikipedia"
#: A title of more documents than this is too ambiguous to be a mention.
_MOST_SAME_TITLE = 20


@dataclass(frozen=True, slots=True)
class TextOfDocument:
    """A passage to be linked, with its document's id and title."""

    id: str
    document: str
    title: str
    text: str


@dataclass(slots=True)
class Linked:
    """What one passage mentions: documents by id, other entities by name, and shared phrases.

    `phrases` are places, as `Phrase.at` takes them. `entities` has the title and type of the
    others, and of the phrases that no passage before had.
    """

    passage: TextOfDocument
    documents: list[dict[str, Any]] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)
    phrases: list[tuple[int, int]] = field(default_factory=list)
    entities: dict[str, dict[str, str]] = field(default_factory=dict)

    def meet(self, name: str, title: str, kind: str) -> None:
        """Note an entity that is no document."""
        self.entities.setdefault(name, {"name": name, "title": title, "type": kind})

    def add(self, name: str, mention: dict[str, Any]) -> None:
        """Add a mention of an entity that is no document; a repeated one adds its place."""
        known = next((row for row in self.others if row["name"] == name), None)
        if known:
            places, new = known["offsets"], mention["offsets"]
            # A phrase may be an entity that spaCy found at the same place.
            if all(places[at : at + 2] != new for at in range(0, len(places), 2)):
                places += new
            return
        self.others.append({"name": name, **mention})

    def phrase(self, start: int, end: int) -> Phrase:
        """Return the phrase at a place."""
        return Phrase.at(self.passage.title, self.passage.text, start, end)

    def spell_phrases(self) -> None:
        """Make the phrases mentions like the others."""
        for place in self.phrases:
            phrase = self.phrase(*place)
            self.add(phrase.key, _row(phrase.surface, phrase.start, phrase.end))
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


class TextLinker:
    """Links passages to the `titles` (document id, title) of a corpus, and to phrases they share.

    First `add_names` gets the first passage of each document at least, then all passages are read
    (`read`), and `learn` gets what was read of them all. After that some can be linked by
    themselves. Documents of the same title are one candidate.
    """

    def __init__(
        self,
        titles: Sequence[tuple[str, str]],
        aliases: dict[str, list[str]],
        settings: EntitySettings,
    ) -> None:
        documents: dict[str, list[str]] = {}
        for document, title in titles:
            documents.setdefault(title, []).append(document)
        self.settings = settings
        self._same = list(documents.values())
        self._number = {document: n for n, same in enumerate(self._same) for document in same}
        self._linker = EntityLinker(
            [(same[0], title) for title, same in documents.items()],
            aliases,
            LinkerSettings(threshold=settings.threshold),
        )

    def kept(self) -> Counts:
        """Return what was learnt, of which `restored` makes the same linker."""
        return {**self._linker.kept(), "documents": as_array(self._same)}

    @classmethod
    def restored(cls, kept: Counts, settings: EntitySettings) -> TextLinker:
        """Return the linker that had learnt what is `kept`."""
        linker = cls((), {}, settings)
        linker._same = from_array(kept["documents"])
        linker._number = {document: n for n, same in enumerate(linker._same) for document in same}
        linker._linker = EntityLinker.restored(kept, LinkerSettings(threshold=settings.threshold))
        return linker

    def update(self, titles: Iterable[tuple[str, str]]) -> set[str]:
        """Take these documents for the corpus's; return those that are new or have a new title."""
        there = dict(titles)
        known = self._linker.titles
        numbers = {title: number for number, title in enumerate(known)}
        new = {
            document
            for document, title in there.items()
            if document not in self._number or known[self._number[document]] != title
        }
        gone = new.union(self._number.keys() - there.keys())
        self._same = [
            [document for document in same if document not in gone] for same in self._same
        ]
        for document in sorted(new):
            title = there[document]
            if title not in numbers:
                numbers[title] = self._linker.add(document, title)
                self._same.append([])
            self._same[numbers[title]].append(document)
            self._number[document] = numbers[title]
        return new

    def new_names(self, documents: Iterable[str]) -> Iterator[tuple[str, str, str]]:
        """Yield each name of some documents, and each that came since texts were learnt.

        The names are as `EntityLinker.new_names` yields them.
        """
        return self._linker.new_names({self._number[document] for document in documents})

    def phrases(self, passages: Iterable[TextOfDocument]) -> dict[str, FoundPhrase]:
        """Return the phrases of some passages by their keys."""
        if not self.settings.phrases:
            return {}
        every = list(passages)
        phrases = Phrases()
        for passage in every:
            phrases.add(cut(passage.title), cut(passage.text))
        counted = phrases.counted()
        values = zip(counted.count.tolist(), counted.sure.tolist(), strict=True)
        known = dict(zip(counted.hashes.tolist(), values, strict=True))
        found: dict[str, FoundPhrase] = {}
        for passage, places in zip(every, phrases.shared(counted.hashes), strict=True):
            for start, end, is_new in places:
                if is_new:
                    phrase = Phrase.at(passage.title, passage.text, start, end)
                    found[phrase.key] = FoundPhrase(
                        " ".join(words(phrase.surface)),
                        whole_words(*place_of(passage.title, passage.text, start, end)),
                        *known[hash(phrase.key)],
                    )
        return found

    def owners(self, passages: Iterable[TextOfDocument]) -> list[int]:
        """Return the number of each passage's title."""
        return [self._number[passage.document] for passage in passages]

    def add_names(self, passages: Iterable[TextOfDocument]) -> None:
        """Add the names that the first passage of each title tells."""
        self._linker.add_lead_names((self._number[p.document], p.text) for p in passages)

    def read(self, passages: Iterable[TextOfDocument]) -> Reading:
        """Find names and phrases in some passages."""
        reading = Reading()
        for passage in passages:
            words = cut(passage.text)
            reading.spots.add(self._linker.names.find(words))
            if self.settings.phrases:
                # A passage also has the phrases of its title, without a place in the text.
                reading.phrases.add(cut(passage.title), words)
        return reading

    def learn(
        self, spots: Spots, owners: Sequence[int], places: Sequence[int] | None = None
    ) -> None:
        """Count how all passages, each with its owner, write and name the documents.

        `places` are those of passages that were learnt before (`EntityLinker.learn`).
        """
        self._linker.learn(spots, owners, places)

    def link(
        self, passages: Sequence[TextOfDocument], reading: Reading, shared: NDArray[np.int64]
    ) -> Iterator[tuple[Linked, list[Mention]]]:
        """Yield what each passage mentions, and the mentions of documents themselves.

        `shared` are the hashes of the phrases that passages share, which are left as places.
        """
        places = reading.phrases.shared(shared) if self.settings.phrases else ([] for _ in passages)
        found = zip(
            passages, self.owners(passages), self._linker.chosen(reading.spots), places, strict=True
        )
        for passage, owner, spots, phrases in found:
            known = self._linker.mentions(passage.text, spots, owner)
            others = [mention for mention in known if self._number[mention.entity] != owner]
            linked = Linked(passage, _documents(others, self._documents))
            for start, end, is_new in phrases:
                linked.phrases.append((start, end))
                if is_new:
                    phrase = linked.phrase(start, end)
                    linked.meet(phrase.key, phrase.surface, _PHRASE)
            yield linked, known

    def _documents(self, document: str) -> Sequence[str]:
        return self._same[self._number[document]]


def link_texts(
    linker: TextLinker, passages: Sequence[TextOfDocument], pipeline: Any = None
) -> Iterator[Linked]:
    """Yield the mentions of all passages of a corpus, in order: of the linker's titles first.

    A spaCy pipeline adds the entities that it finds elsewhere, and `settings.phrases` the phrases
    that passages share; without a pipeline these are left as places.
    """
    settings = linker.settings
    linker.add_names(passages)
    reading = linker.read(passages)
    linker.learn(reading.spots, linker.owners(passages))
    shared = reading.phrases.counted().shared(settings.phrase_frequency)
    made = linker.link(passages, reading, shared)
    if not pipeline:
        yield from (linked for linked, _ in made)
        return
    texts = [passage.text for passage in passages]
    named = spacy_entities(pipeline, texts, settings.spacy_labels)
    for (linked, known), spans in zip(made, named, strict=True):
        phrases, linked.entities = linked.entities, {}
        for span in _outside(spans, [(m.start, m.end) for m in known]):
            surface = linked.passage.text[span.start : span.end]
            name = " ".join(cut(surface).keys)
            if name:
                linked.meet(name, surface, span.label)
                linked.add(name, _row(surface, span.start, span.end))
        linked.entities = phrases | linked.entities  # both may find the same
        linked.spell_phrases()
        yield linked


def link_service(
    service: LinkingService,
    passages: Iterable[TextOfDocument],
    titles: Sequence[tuple[str, str]],
    prior: float,
) -> Iterator[Linked]:
    """Yield the mentions that a web service finds with a prior over `prior` (KGP, section 8.5).

    An article with the title of a document counts as that document.
    """
    documents = {title.lower(): id_ for id_, title in reversed(titles)}
    for passage in passages:
        linked = Linked(passage)
        known: list[Mention] = []
        for found in service.link(passage.text):
            if found.prior <= prior:
                continue
            surface = passage.text[found.start : found.end]
            document = documents.get(found.title.lower())
            if document:
                known.append(
                    Mention(
                        found.start, found.end, surface, document, found.prior, 0.0, found.score
                    )
                )
            else:
                values = {"commonness": found.prior, "score": found.score}
                row = {**_row(surface, found.start, found.end), **values}
                linked.meet(found.title.lower(), found.title, _WIKIPEDIA)
                linked.add(found.title.lower(), row)
        others = [mention for mention in known if mention.entity != passage.document]
        linked.documents = _documents(others, lambda document: (document,))
        yield linked


def _outside(found: Sequence[NamedSpan], spans: Sequence[tuple[int, int]]) -> list[NamedSpan]:
    """Return the entities that overlap none of `spans`; both are sorted and free of overlaps."""
    outside: list[NamedSpan] = []
    at = 0
    for each in found:
        while at < len(spans) and spans[at][1] <= each.start:
            at += 1
        if at == len(spans) or each.end <= spans[at][0]:
            outside.append(each)
    return outside


def _row(surface: str, start: int | None, end: int | None) -> dict[str, Any]:
    return {
        "surface": surface,
        "start": start,
        "end": end,
        "commonness": None,
        "coherence": None,
        "score": None,
        "offsets": [] if start is None else [start, end],
    }


def _documents(
    mentions: Sequence[Mention], same_title: Callable[[str], Sequence[str]]
) -> list[dict[str, Any]]:
    """Return one row for each document mentioned: its best mention, with the places of all.

    A name means every document of the `same_title`, unless there are too many of them.
    """
    rows: dict[str, dict[str, Any]] = {}
    for mention in mentions:
        documents = same_title(mention.entity)
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


# --- The steps of `connect` ---

_GRAPH = "entities"
_BATCH = 1000
#: Small, as a service takes a second for a passage and may fail.
_SERVICE_BATCH = 10


def connect_entities(
    database: Database,
    corpus: str,
    settings: EntitySettings,
    anew: bool,
    seconds: dict[str, float],
    meanwhile: Callable[[], object],
    whole: bool = False,
) -> int:
    """Link a corpus's passages and make its shared-entity edges.

    Only what differs from what is stored is written, or everything where `anew` is true. Mentions
    found by a web service are kept, and only new passages are sent to it, so that an interrupted
    run continues. `meanwhile` is called between the steps. A few new passages are joined in with
    what was counted in the others, unless the `whole` is to be counted; returns how many. Raises
    LinkerError where the service refuses, ConfigurationError and InputError for invalid settings
    and files.
    """
    tools = _Tools.of(database, corpus, settings)
    # What is read after this is what the graph is made of.
    making = Making(database, corpus, _GRAPH, settings)
    return make_graph(
        making,
        tools.is_plain and not (anew or whole),
        lambda new: _join(database, corpus, making, settings, new, tools.key, seconds),
        lambda: _connect_all(database, corpus, making, settings, tools, anew, seconds, meanwhile),
    )


def _connect_all(
    database: Database,
    corpus: str,
    making: Making,
    settings: EntitySettings,
    tools: _Tools,
    anew: bool,
    seconds: dict[str, float],
    meanwhile: Callable[[], object],
) -> None:
    with timed(seconds, "read passages"):
        rows = database.read("connect/entity_passages", corpus=corpus, anew=anew)
    counts = _write_mentions(database, corpus, rows, settings, tools, seconds, meanwhile)
    with timed(seconds, "shared-entity edges"):
        # By id, so that the same passages make the same edges wherever they are stored.
        rows.sort(key=lambda row: row["id"])
        _write_edges(database, corpus, rows, settings)
    if counts:
        with timed(seconds, "keep counts"):
            keep(making, counts, len(rows))


@dataclass(frozen=True, slots=True)
class _Tools:
    """What links: aliases by title, a spaCy pipeline, a web service; `key` names the linker."""

    key: str
    aliases: dict[str, list[str]] = field(default_factory=dict)
    pipeline: Any = None
    service: LinkingService | None = None

    @property
    def is_plain(self) -> bool:
        """Whether nothing links but the titles, which say the same each time."""
        return not (self.aliases or self.pipeline or self.service)

    @classmethod
    def of(cls, database: Database, corpus: str, settings: EntitySettings) -> _Tools:
        """Return what the settings name; it fails before anything is changed."""
        if settings.linker in SERVICES:
            service = LinkingService(settings.linker, url=settings.url, language=settings.language)
            said = [settings.linker, service.url, settings.language, settings.prior]
            return cls(json.dumps(said), service=service)
        aliases: dict[str, list[str]] = {}
        if settings.aliases:
            rows = database.read("inspect/documents", corpus=corpus)
            aliases = read_aliases(settings.aliases, {row["title"] for row in rows})
        pipeline = load_spacy(settings.spacy_model) if settings.spacy_model else None
        return cls(settings.linker, aliases, pipeline)


def _write_mentions(
    database: Database,
    corpus: str,
    rows: Sequence[Row],
    settings: EntitySettings,
    tools: _Tools,
    seconds: dict[str, float],
    meanwhile: Callable[[], object],
) -> Counts:
    """Link the passages and write their mentions; their texts leave the rows, for the memory.

    Returns what was counted in them, where nothing links but the titles.
    """
    titles = list({row["document"]: row["title"] for row in rows}.items())
    key, service = tools.key, tools.service
    asked = [row for row in rows if not (service and row["linkedBy"] == key)]
    passages = [
        TextOfDocument(row["id"], row["document"], row["title"], row["text"]) for row in asked
    ]
    for row in rows:
        del row["text"]
    documents = {row["document"]: row["documentNode"] for row in rows}
    linker = None if service else TextLinker(titles, tools.aliases, settings)
    with bar("entities", len(passages), "passages") as progress:
        if service:
            linked = link_service(service, passages, titles, settings.prior)
        elif linker:
            linked = link_texts(linker, passages, tools.pipeline)
        size = _SERVICE_BATCH if service else _BATCH
        stored = paged(database, "connect/stored_entities", "name", corpus=corpus)
        writing = _Mentions(database, corpus, key, documents, stored)
        for start in range(0, len(asked), size):
            with timed(seconds, "link entities"):
                batch = list(itertools.islice(linked, size))
            with timed(seconds, "write mentions"):
                writing.write(batch, asked[start : start + size])
            progress.update(len(batch))
            meanwhile()
    with timed(seconds, "write mentions"):
        database.write_in_batches("connect/remove_entities", corpus=corpus)
    if not linker or not tools.is_plain:
        return {}
    return {**linker.kept(), "ids": as_array([row["id"] for row in rows])}


class _Mentions:
    """Writes those mentions that differ from the stored ones."""

    def __init__(
        self,
        database: Database,
        corpus: str,
        key: str,
        documents: Mapping[str, str],
        stored: Iterable[Row],
    ) -> None:
        self._database = database
        self._corpus = corpus
        self._key = key
        #: The nodes of documents, by id.
        self._documents = documents
        #: By name: the node, and its title and type as they are stored.
        self._entities: dict[str, tuple[str, str, str]] = {
            row["name"]: (row["node"], row["title"], row["type"]) for row in stored
        }
        self._met: set[str] = set()

    def write(self, batch: Sequence[Linked], rows: Sequence[Row]) -> None:
        """Write the mentions of a batch, given the rows of its passages."""
        self._write_entities(batch)
        changed = mention_marks(
            batch,
            [row["mentionMarks"] for row in rows],
            [
                row["linkedBy"] == self._key
                and row["mentions"] == len(one.others) + len(one.phrases) + len(one.documents)
                for row, one in zip(rows, batch, strict=True)
            ],
        )
        for at in changed:
            batch[at].spell_phrases()
        made = [
            {
                "passage": batch[at].passage.id,
                "marks": marks,
                "mentions": [
                    *({"node": self._entities[mention.pop("name")][0], **mention}
                      for mention in batch[at].others),
                    *({"node": self._documents[mention.pop("document")], **mention}
                      for mention in batch[at].documents),
                ],
            }
            for at, marks in changed.items()
        ]  # fmt: skip
        if made:
            self._database.write(
                "connect/mentions", corpus=self._corpus, rows=made, linker=self._key
            )

    def _write_entities(self, batch: Sequence[Linked]) -> None:
        """Write the entities that are new, or first called otherwise than before."""
        new: dict[str, dict[str, str]] = {}
        for linked in batch:
            for name, row in linked.entities.items():
                if name not in self._met:
                    self._met.add(name)
                    if self._entities.get(name, ("", "", ""))[1:] != (row["title"], row["type"]):
                        new[name] = row
        if new:
            for row in self._database.write(
                "connect/entities", corpus=self._corpus, rows=list(new.values())
            ):
                kept = new[row["name"]]
                self._entities[row["name"]] = (row["node"], kept["title"], kept["type"])


def _text_of(row: Row) -> TextOfDocument:
    return TextOfDocument(row["id"], row["document"], row["title"], row["text"])


def _join(
    database: Database,
    corpus: str,
    making: Making,
    settings: EntitySettings,
    new: New,
    key: str,
    seconds: dict[str, float],
) -> None:
    """Link new passages, and the others that name new documents or share a name with new ones."""
    with timed(seconds, "read passages"):
        fresh = database.read("connect/entity_passages", corpus=corpus, rows=new.ids)
        documents = database.read_packed("connect/titles", corpus=corpus)
    with timed(seconds, "restore names"):
        linker = TextLinker.restored(new.counts, settings)
        nodes = {row["document"]: row["node"] for row in documents}
        # A document may be deleted meanwhile.
        fresh = [row for row in fresh if row["document"] in nodes]
        named = linker.update((row["document"], row["title"]) for row in documents)
        named.intersection_update(row["document"] for row in fresh)
        linker.add_names(
            _text_of(row) for row in fresh if row["position"] == 0 and row["document"] in named
        )
    with timed(seconds, "search passages"):
        phrases = linker.phrases(map(_text_of, fresh))
        known = _known_entities(database, corpus, phrases)
        # A phrase that is no entity yet is in one other passage at most, or in too many.
        lacking = {key: one for key, one in phrases.items() if key not in known}
        hits = passages_with(
            database, corpus, ((k, one.words, one.text) for k, one in lacking.items()), MOST_HITS,
            cased=True,
        )  # fmt: skip
        others = _found(database, corpus, hits, nodes, new.ids)
        having = [linker.phrases((_text_of(row),)) for row in others]
        count = Counter(itertools.chain.from_iterable(having))
        sure = {key for found in (phrases, *having) for key, one in found.items() if one.sure}
        single = {
            key for key, one in lacking.items()
            if key in sure and (count[key] == 1 or (not count[key] and one.passages > 1))
            and count[key] + one.passages <= settings.phrase_frequency
        }  # fmt: skip
        names = {(key, name.lower(), text) for key, name, text in linker.new_names(named)}
        hits = passages_with(database, corpus, names, MOST_NAMING)
        old = {
            row["id"]: row
            for row, found in zip(others, having, strict=True)
            if found.keys() & single
        } | {row["id"]: row for row in _found(database, corpus, hits, nodes, new.ids)}
    with timed(seconds, "link entities"):
        rows = sorted((*fresh, *old.values()), key=lambda row: (row["document"], row["position"]))
        passages = list(map(_text_of, rows))
        reading = linker.read(passages)
        ids: list[str] = from_array(new.counts["ids"])
        place = {id_: at for at, id_ in enumerate(ids)}
        places = [place.get(passage.id, -1) for passage in passages]
        linker.learn(reading.spots, linker.owners(passages), places)
        known |= _known_entities(database, corpus, linker.phrases(map(_text_of, old.values())))
        shared = np.array([hash(key) for key in {*known, *single}], np.int64)
        linked = [one for one, _ in linker.link(passages, reading, shared)]
    with timed(seconds, "write mentions"):
        for one in linked:  # those that are there stay as they are called
            one.entities = {name: row for name, row in one.entities.items() if name not in known}
        writing = _Mentions(database, corpus, key, nodes, known.values())
        for at in range(0, len(rows), _BATCH):
            writing.write(linked[at : at + _BATCH], rows[at : at + _BATCH])
    with timed(seconds, "shared-entity edges"):
        join_passages(
            database, corpus, "connect/entity_neighbours", "SHARES_ENTITY",
            [row["node"] for row in fresh],
            maxFrequency=settings.max_frequency, neighbours=settings.neighbours,
            passages=new.passages,
        )  # fmt: skip
    with timed(seconds, "keep counts"):
        ids += [p.id for p in passages if p.id not in place]
        counts = {**linker.kept(), "ids": as_array(ids)}
        keep(making, counts, new.counted, new.joined + len(new.ids))


def _known_entities(database: Database, corpus: str, names: Iterable[str]) -> dict[str, Row]:
    """Return the entities of some names."""
    found = read_rows(database, "connect/known_entities", list(names), 5000, corpus=corpus)
    return {row["name"]: row for row in found}


def _found(
    database: Database,
    corpus: str,
    hits: Mapping[str, Sequence[str]],
    documents: Collection[str],
    fresh: Sequence[str],
) -> list[Row]:
    """Return the passages of known documents that were found, none of the fresh ones."""
    ids = set(itertools.chain.from_iterable(hits.values())).difference(fresh)
    found = database.read("connect/entity_passages", corpus=corpus, rows=list(ids))
    return [row for row in found if row["linkedBy"] and row["document"] in documents]


def mention_marks(
    batch: Sequence[Linked], stored: Sequence[str | None], whole: Sequence[bool]
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
    each = np.arange(3, dtype=np.uint64) * MIXED
    return outdated(
        np.concatenate((places, np.repeat(places, [3 * len(one.documents) for one in batch]))),
        np.concatenate((hashed(others), (hashed(documents)[:, None] + each).ravel())),
        np.concatenate((np.zeros(len(batch)), np.array(values, np.float64).ravel())),
        stored,
        np.array(whole),
    )


def rarity(passages: int, frequency: int, single: bool = False) -> float:
    """Return how rare it is among the passages that so many mention it, 0 to 1.

    A phrase of one word has half of that.
    """
    rare = math.log(1 + passages / frequency) / math.log(1 + passages)
    return rare * 0.5 if single else rare


def _write_edges(
    database: Database, corpus: str, rows: Sequence[Row], settings: EntitySettings
) -> None:
    """Write what changed of the edges to mentioned documents, and between those that share most.

    An entity's weight is its `rarity`, a mentioned document's that times the mention's score.
    """
    place = {row["node"]: at for at, row in enumerate(rows)}
    titles: list[str] = []
    rare, sizes, members = array("d"), array("i"), array("i")
    for row in database.stream(
        "connect/mentioned", corpus=corpus, maxFrequency=settings.max_frequency
    ):
        titles.append(row["title"])
        rare.append(rarity(len(rows), len(row["passages"]), row["single"]))
        sizes.append(len(row["passages"]))
        members.extend(map(place.__getitem__, row["passages"]))
    order = sorted(range(len(titles)), key=lambda at: (-rare[at], titles[at]))
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    passage, item = np.frombuffer(members, np.int32), np.repeat(number, sizes)
    weight = np.repeat(rare, sizes)
    by_passage = np.lexsort((item, passage))
    passage, item, weight = passage[by_passage], item[by_passage], weight[by_passage]
    shared = strongest_pairs(
        passage, item, weight, np.ones_like(weight), [row["id"] for row in rows],
        settings.neighbours,
    )  # fmt: skip
    titles = [titles[at] for at in order]
    first, second, named_by, score = array("i"), array("i"), array("i"), array("d")
    for row in database.stream("connect/naming", corpus=corpus):
        for node, scored in row["naming"]:
            first.append(place[node])
            second.append(place[row["other"]])
            named_by.append(len(titles))
            score.append(scored * rarity(len(rows), row["frequency"]))
        titles.append(row["title"])
    items = np.full((len(first), shared.items.shape[1]), -1, np.int32)
    items[:, 0] = named_by
    named = Pairs(
        np.frombuffer(first, np.int32),
        np.frombuffer(second, np.int32),
        np.ones(len(first), np.int32),
        np.frombuffer(score, np.float64),
        items,
    )
    write_pairs(database, "connect/shared_entities", corpus, rows, named, shared, titles)
