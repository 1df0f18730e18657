"""Entities: passages in; the entities they mention out, by titles and shared phrases."""
