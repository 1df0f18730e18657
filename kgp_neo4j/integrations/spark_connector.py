"""Neo4j's connector for Apache Spark: one jar, fetched and checked as those of the database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.server.artifacts import Artifact, sha256_of

__all__ = ["CONNECTOR", "connector_jar"]

CONNECTOR = Artifact(
    "org.neo4j:neo4j-connector-apache-spark_2.12:5.0.3_for_spark_3",
    "spark",
    5941624,
    "d361558413d94c660a8a72f9674283946cee2115309a801a7e343cf1043377f6",
)


def connector_jar(
    folders: Folders | None = None, *, echo: Callable[[str], object] = lambda _: None
) -> Path:
    """Return the connector's jar, fetched where it is missing or damaged.

    Raises ServerError where it cannot be fetched.
    """
    root = (folders or Folders.from_environment()).cache / "maven"
    jar = root / CONNECTOR.path
    if jar.is_file() and sha256_of(jar) != CONNECTOR.sha256:
        jar.unlink()
    if not jar.is_file():
        from kgp_neo4j.graphdb.server.fetch import fetch

        fetch([CONNECTOR], root, "the Spark connector", echo)
    return jar
