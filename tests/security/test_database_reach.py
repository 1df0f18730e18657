"""What a query of the embedded server can reach: the graph, and no file and no address.

Comparable systems were open here: a read-only mode passed by `CALL apoc...` (mcp-neo4j-cypher,
CVE-2026-35402 and GHSA-2rgm-qm78-ggx5), and files and addresses read through `apoc.load`.
"""

from pathlib import Path

import pytest
from graphs import rows, write_file
from neo4j.exceptions import Neo4jError

from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest


def test_no_address_is_fetched(database: Database, address: tuple[str, list[bytes]]) -> None:
    with pytest.raises(Neo4jError):
        rows(database, "LOAD CSV FROM $address AS line RETURN line", address=address[0])
    assert address[1] == []


def test_no_file_is_read(database: Database, tmp_path: Path) -> None:
    file = write_file(tmp_path / "secret.csv", "a secret\n")
    with pytest.raises(Neo4jError) as caught:
        rows(database, "LOAD CSV FROM 'file://' + $path AS line RETURN line", path=str(file))
    assert "a secret" not in str(caught.value)


def test_no_file_is_written(database: Database) -> None:
    rows(database, "CALL gds.graph.drop('reach', false) YIELD graphName")
    rows(database, "CALL gds.graph.project('reach', '*', '*')")
    try:
        with pytest.raises(Neo4jError, match=r"'gds\.export\.location' needs to be set"):
            rows(database, "CALL gds.graph.export.csv('reach', {exportName: 'written'})")
    finally:
        rows(database, "CALL gds.graph.drop('reach') YIELD graphName")


def test_there_are_no_procedures_of_others(database: Database) -> None:
    """Those of Neo4j, of Graph Data Science and ours, and no functions but of the first two."""
    named = [row["name"] for row in rows(database, "SHOW PROCEDURES YIELD name")]
    others = [name for name in named if name.split(".")[0] not in ("db", "dbms", "gds", "tx")]
    assert others
    assert all(name.startswith("custom.kgp.") for name in others)
    functions = rows(database, "SHOW FUNCTIONS YIELD name, isBuiltIn WHERE NOT isBuiltIn")
    assert {row["name"].split(".")[0] for row in functions} == {"gds"}
