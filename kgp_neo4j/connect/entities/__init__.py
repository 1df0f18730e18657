"""Entities that passages mention: the corpus's own titles, spaCy's, or those of WAT and TAGME."""

from __future__ import annotations

from kgp_neo4j.connect.entities.linker import EntityLinker, LinkerSettings, Mention
from kgp_neo4j.connect.entities.settings import LINKERS, EntitySettings

__all__ = ["LINKERS", "EntityLinker", "EntitySettings", "LinkerSettings", "Mention"]
