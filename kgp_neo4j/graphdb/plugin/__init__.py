"""Our plugin for Neo4j: one jar with the procedures `custom.kgp.*`, for 5.26 and 2026.x alike."""

from importlib import resources
from pathlib import Path

JAR = "kgp-procedures.jar"


def plugin_jar() -> Path:
    """Return the path of the jar, to be copied into a server's folder `plugins`."""
    return Path(str(resources.files("kgp_neo4j.graphdb.plugin").joinpath(JAR)))
