"""The embedded database: a real Neo4j 5.26 with Browser, Graph Data Science and APOC.

`ensure` returns a connection to it, and fetches and starts it when needed; the other functions are
those of `kgp-neo4j server`.
"""

from __future__ import annotations

from kgp_neo4j.graphdb.server.admin import password_file
from kgp_neo4j.graphdb.server.jars import Installation, install
from kgp_neo4j.graphdb.server.logs import log_files, tail
from kgp_neo4j.graphdb.server.supervise import (
    ServerStatus,
    backup,
    ensure,
    restore,
    start,
    status,
    stop,
)

__all__ = [
    "Installation",
    "ServerStatus",
    "backup",
    "ensure",
    "install",
    "log_files",
    "password_file",
    "restore",
    "start",
    "status",
    "stop",
    "tail",
]
