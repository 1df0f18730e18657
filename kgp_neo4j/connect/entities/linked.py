"""What each passage mentions, as rows for the database, by whichever linker."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgp_neo4j.connect.entities.linker import EntityLinker, LinkerSettings, Mention
from kgp_neo4j.connect.entities.phrases import Phrase, shared_phrases
from kgp_neo4j.connect.entities.service import LinkingService
from kgp_neo4j.connect.entities.settings import EntitySettings
from kgp_neo4j.connect.entities.spacy_entities import NamedSpan, spacy_entities
from kgp_neo4j.connect.entities.text import cut

__all__ = ["Linked", "TextOfDocument", "link_service", "link_texts"]

_PHRASE = "Phrase"
_WIKIPEDIA = "Wikipedia"
#: Documents of one title that a mention of it still says something about.
_MOST_ALIKE = 20


@dataclass(frozen=True, slots=True)
class TextOfDocument:
    """A passage to be linked, with its document's id and title."""

    id: str
    document: str
    title: str
    text: str


@dataclass(slots=True)
class Linked:
    """What one passage mentions: documents by id, other entities by name, with title and type."""

    passage: str
    documents: list[dict[str, Any]] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)
    entities: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, name: str, title: str, kind: str, mention: dict[str, Any]) -> None:
        """Let the passage mention an entity that is no document; again, it adds a new place."""
        known = next((row for row in self.others if row["name"] == name), None)
        if known:
            places, new = known["offsets"], mention["offsets"]
            # A phrase may be what spaCy has found at this very place.
            if all(places[at : at + 2] != new for at in range(0, len(places), 2)):
                places += new
            return
        self.entities.setdefault(name, {"name": name, "title": title, "type": kind})
        self.others.append({"name": name, **mention})


def link_texts(
    passages: Sequence[TextOfDocument],
    titles: Sequence[tuple[str, str]],
    aliases: dict[str, list[str]],
    settings: EntitySettings,
    pipeline: Any = None,
) -> Iterator[Linked]:
    """Yield what each passage mentions of the `titles` (document id, title), in order.

    With a spaCy pipeline the entities it finds elsewhere come along, and the phrases that passages
    share outside of both.
    """
    texts = [passage.text for passage in passages]
    alike = _alike(titles)
    first = {document: same[0] for same in alike.values() for document in same}
    owners = [first[passage.document] for passage in passages]
    linker = EntityLinker(
        [(same[0], title) for title, same in alike.items()],
        aliases,
        LinkerSettings(threshold=settings.threshold),
    )
    mentions = linker.link(texts, owners)
    named: Sequence[Sequence[NamedSpan]] = [[] for _ in texts]
    if pipeline:
        named = [
            _outside(found, [(m.start, m.end) for m in known])
            for found, known in zip(
                spacy_entities(pipeline, texts, settings.spacy_labels), mentions, strict=True
            )
        ]
    # A passage is also about what its title says; those phrases have no place in the text.
    heads = [f"{passage.title}. " for passage in passages]
    phrases: Iterator[list[Phrase]] = itertools.repeat([])
    if settings.phrases:
        whole = [head + text for head, text in zip(heads, texts, strict=True)]
        phrases = shared_phrases(whole, settings.phrase_frequency)
    same_title = {same[0]: same for same in alike.values()}
    for passage, owner, known, found, head in zip(
        passages, owners, mentions, named, heads, strict=True
    ):
        others = [mention for mention in known if mention.entity != owner]
        linked = Linked(passage.id, _documents(others, same_title))
        for span in found:
            surface = passage.text[span.start : span.end]
            name = " ".join(cut(surface).keys)
            if name:
                linked.add(name, surface, span.label, _row(surface, span.start, span.end))
        for phrase in next(phrases):
            surface = (head + passage.text)[phrase.start : phrase.end]
            start, end = phrase.start - len(head), phrase.end - len(head)
            row = _row(surface, start, end) if start >= 0 else _row(surface, None, None)
            linked.add(phrase.key, surface, _PHRASE, row)
        yield linked


def _alike(titles: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the documents of each title: a name can't tell those apart that share one."""
    made: dict[str, list[str]] = {}
    for document, title in titles:
        made.setdefault(title, []).append(document)
    return made


def link_service(
    service: LinkingService,
    passages: Iterable[TextOfDocument],
    titles: Sequence[tuple[str, str]],
    prior: float,
) -> Iterator[Linked]:
    """Yield what a web service finds in each passage with a prior over `prior` (KGP, section 8.5).

    An article with the title of a document is that document.
    """
    documents = {title.lower(): id_ for id_, title in reversed(titles)}
    for passage in passages:
        linked = Linked(passage.id)
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
                linked.add(found.title.lower(), found.title, _WIKIPEDIA, row)
        others = [mention for mention in known if mention.entity != passage.document]
        linked.documents = _documents(others, {})
        yield linked


def _outside(found: Sequence[NamedSpan], spans: Sequence[tuple[int, int]]) -> list[NamedSpan]:
    """Return those of `found` that touch none of `spans`; both in order, neither overlapping."""
    made: list[NamedSpan] = []
    at = 0
    for each in found:
        while at < len(spans) and spans[at][1] <= each.start:
            at += 1
        if at == len(spans) or each.end <= spans[at][0]:
            made.append(each)
    return made


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
    mentions: Sequence[Mention], same_title: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Return one row for each document mentioned, its best mention with the places of all.

    A name means every document with its title alike, unless there are too many to say anything.
    """
    made: dict[str, dict[str, Any]] = {}
    for mention in mentions:
        documents = same_title.get(mention.entity, (mention.entity,))
        if len(documents) > _MOST_ALIKE:
            continue
        for document in documents:
            row = made.get(document)
            places = [*(row["offsets"] if row else ()), mention.start, mention.end]
            if row is None or mention.score > row["score"]:
                row = made[document] = {
                    "document": document,
                    "surface": mention.surface,
                    "start": mention.start,
                    "end": mention.end,
                    "commonness": mention.commonness / len(documents),
                    "coherence": mention.coherence,
                    "score": mention.score / len(documents) ** 0.5,
                }
            row["offsets"] = places
    return list(made.values())
