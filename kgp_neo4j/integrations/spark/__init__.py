"""Apache Spark: load, connect and ask a corpus that outgrows one client machine.

Needs the extra `spark`. See docs/spark.md.
"""

from __future__ import annotations

from kgp_neo4j.integrations.spark.connecting import connect
from kgp_neo4j.integrations.spark.loading import (
    documents_of,
    load,
    load_kg,
    read_documents,
    read_frame,
)
from kgp_neo4j.integrations.spark.retrieving import retrieve
from kgp_neo4j.integrations.spark.session import make_session, plain_errors

__all__ = [
    "connect",
    "documents_of",
    "load",
    "load_kg",
    "make_session",
    "plain_errors",
    "read_documents",
    "read_frame",
    "retrieve",
]
