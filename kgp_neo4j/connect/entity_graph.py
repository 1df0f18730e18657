"""The entity graph (KGP's TAGME graph): mentions, and edges between passages that share them."""

from __future__ import annotations

import dataclasses
import itertools
import json

from kgp_neo4j.connect.entities.aliases import read_aliases
from kgp_neo4j.connect.entities.linked import (
    Linked,
    TextOfDocument,
    link_service,
    link_texts,
)
from kgp_neo4j.connect.entities.service import LinkingService
from kgp_neo4j.connect.entities.settings import SERVICES, EntitySettings
from kgp_neo4j.connect.entities.spacy_entities import load_spacy
from kgp_neo4j.connect.steps import timed
from kgp_neo4j.database import Database
from kgp_neo4j.progress import bar

__all__ = ["connect_entities"]

_GRAPH = "entities"
_BATCH = 1000
#: A service takes a second a passage, so that little is lost when it fails.
_SERVICE_BATCH = 10


def connect_entities(
    database: Database, corpus: str, settings: EntitySettings, seconds: dict[str, float]
) -> dict[str, int]:
    """Link a corpus's passages and make its shared-entity edges afresh; return what was made.

    What a web service found is kept and only passages it has not seen are sent to it, so that a run
    cut short goes on. Raises LinkerError where the service refuses, ConfigurationError and
    InputError for settings and files that cannot be used.
    """
    settings.check()
    with timed(seconds, "read passages"):
        rows = database.read("connect/entity_passages", corpus=corpus)
    titles = list({row["document"]: row["title"] for row in rows}.items())
    aliases = read_aliases(settings.aliases, {t for _, t in titles}) if settings.aliases else {}
    pipeline = load_spacy(settings.spacy_model) if settings.spacy_model else None
    service = None
    key = settings.linker
    if settings.linker in SERVICES:
        service = LinkingService(settings.linker, url=settings.url, language=settings.language)
        key = json.dumps([settings.linker, service.url, settings.language, settings.prior])
    database.write("connect/begin", corpus=corpus, graph=_GRAPH)
    with timed(seconds, "remove old mentions"):
        database.write_in_batches("connect/remove_shared_entities", corpus=corpus)
        database.write_in_batches(
            "connect/remove_mentions", corpus=corpus, linker=key if service else ""
        )
        database.write_in_batches("connect/remove_entities", corpus=corpus)
    passages = [
        TextOfDocument(row["id"], row["document"], row["title"], row["text"])
        for row in rows
        if not (service and row["linkedBy"] == key)
    ]
    with bar("entities", len(passages), "passages") as progress:
        if service:
            linked = link_service(service, passages, titles, settings.prior)
        else:
            linked = link_texts(passages, titles, aliases, settings, pipeline)
        size = _SERVICE_BATCH if service else _BATCH
        while True:
            with timed(seconds, "link entities"):
                batch = list(itertools.islice(linked, size))
            if not batch:
                break
            with timed(seconds, "write mentions"):
                _write(database, corpus, batch, key)
            progress.update(len(batch))
    with timed(seconds, "shared-entity edges"):
        named = database.write_in_batches(
            "connect/mention_edges", corpus=corpus, passages=len(rows)
        )
        shared = database.write_in_batches(
            "connect/shared_entities",
            corpus=corpus,
            passages=len(rows),
            neighbours=settings.neighbours,
            maxFrequency=settings.max_frequency,
        )
    kept = json.dumps(dataclasses.asdict(settings), sort_keys=True)
    database.write("connect/finish", corpus=corpus, graph=_GRAPH, settings=kept)
    counted = database.read("connect/entity_counts", corpus=corpus)[0]
    return {
        "mentions": counted["mentions"],
        "entities": counted["entities"],
        "shared_entity_edges": int(named.get("made") or 0) + int(shared.get("made") or 0),
    }


def _write(database: Database, corpus: str, batch: list[Linked], key: str) -> None:
    """Write what some passages mention; they are marked as linked last of all."""
    entities = {name: row for linked in batch for name, row in linked.entities.items()}
    database.write("connect/entities", corpus=corpus, rows=list(entities.values()))
    database.write(
        "connect/entity_mentions",
        corpus=corpus,
        rows=[{"passage": linked.passage, "mentions": linked.others} for linked in batch],
    )
    rows = [{"passage": linked.passage, "mentions": linked.documents} for linked in batch]
    database.write("connect/mentions", rows=rows, linker=key)
