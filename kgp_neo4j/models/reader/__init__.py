"""The offline reader: its network, what passages say outright, and the choice among both.

The weights and their card lie beside the modules.
"""

from kgp_neo4j.models.reader.reading import Found, Reader, load_reader

__all__ = ["Found", "Reader", "load_reader"]
