"""Our plugin for Neo4j: one jar with the procedures `custom.kgp.*`, for 5.26 and 2026.x alike."""

from functools import cache
from importlib import resources
from pathlib import Path

from kgp_neo4j.graphdb.server.lines import sha256_of

JAR = "kgp-procedures.jar"


def plugin_jar() -> Path:
    """Return the path of the jar, to be copied into a server's folder `plugins`."""
    return Path(str(resources.files("kgp_neo4j.graphdb.plugin").joinpath(JAR)))


@cache
def plugin_id() -> str:
    """Return what tells this jar from those of other releases: the beginning of its SHA-256."""
    return sha256_of(plugin_jar())[:12]
