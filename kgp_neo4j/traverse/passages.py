"""Fetches passages by id, once their text is needed."""

from __future__ import annotations

from collections.abc import Iterable

from kgp_neo4j.database import Database
from kgp_neo4j.records import Passage

__all__ = ["read_passages"]


def read_passages(database: Database, ids: Iterable[str]) -> dict[str, Passage]:
    """Return the passages with these ids, by id; an id that is gone is left out."""
    rows = database.read("inspect/passages", ids=list(dict.fromkeys(ids)))
    return {
        row["id"]: Passage(
            id=row["id"],
            document=row["document"],
            title=row["title"],
            position=row["position"],
            start=row["start"],
            end=row["end"],
            text=row["text"],
            source=row["source"],
            page=row["page"],
        )
        for row in rows
    }
