"""Entities: passages in; the entities they mention out, by titles, spaCy or a service."""
