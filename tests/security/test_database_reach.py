"""What a query of the embedded server can reach: the graph, and no file and no address.

Comparable systems were open here: a read-only mode passed by `CALL apoc...` (mcp-neo4j-cypher,
CVE-2026-35402 and GHSA-2rgm-qm78-ggx5), and files and addresses read through `apoc.load`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import rows
from neo4j.exceptions import Neo4jError

from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.newest


@pytest.mark.parametrize(
    "query",
    [
        "LOAD CSV FROM $address AS line RETURN line",
        "CALL apoc.load.json($address) YIELD value RETURN value",
        "CALL apoc.load.csv($address) YIELD map RETURN map",
        "CALL apoc.load.xml($address) YIELD value RETURN value",
        "CALL apoc.load.html($address, {a: 'b'}) YIELD value RETURN value",
        "CALL apoc.load.jdbc('jdbc:' + $address, 'x') YIELD row RETURN row",
        "CALL apoc.import.json($address)",
        "CALL apoc.cypher.runFile($address)",
        "CALL apoc.cypher.runSchemaFile($address)",
        "CALL apoc.cypher.run('CALL apoc.load.json(\"' + $address + '\") YIELD value', {}) "
        "YIELD value RETURN value",
        "CALL apoc.cypher.run('LOAD CSV FROM \"' + $address + '\" AS line RETURN line', {}) "
        "YIELD value RETURN value",
    ],
)
def test_no_address_is_fetched(
    database: Database, address: tuple[str, list[str]], query: str
) -> None:
    with pytest.raises(Neo4jError):
        rows(database, query, address=address[0])
    assert address[1] == []


@pytest.mark.parametrize(
    "query",
    [
        "LOAD CSV FROM 'file://' + $path AS line RETURN line",
        "CALL apoc.load.json('file://' + $path) YIELD value RETURN value",
        "CALL apoc.load.directory('*', $path) YIELD value RETURN value",
        "CALL apoc.import.graphml($path, {})",
        "CALL apoc.cypher.runFile($path)",
    ],
)
def test_no_file_is_read(database: Database, tmp_path: Path, query: str) -> None:
    file = tmp_path / "secret.json"
    file.write_text('{"secret": 1}\n')
    with pytest.raises(Neo4jError) as caught:
        rows(database, query, path=str(file))
    assert "secret" not in str(caught.value).replace("secret.json", "")


@pytest.mark.parametrize(
    "query",
    [
        "CALL apoc.export.csv.query('RETURN 1', $path, {})",
        "CALL apoc.export.json.all($path, {})",
        "CALL apoc.trigger.install('neo4j', 'x', 'RETURN 1', {})",
        "CALL apoc.config.list() YIELD key RETURN key",
        "CALL apoc.systemdb.graph() YIELD nodes RETURN nodes",
        "CALL apoc.log.info('x')",
    ],
)
def test_nothing_is_written_or_told(database: Database, tmp_path: Path, query: str) -> None:
    file = tmp_path / "written"
    with pytest.raises(Neo4jError):
        rows(database, query, path=str(file))
    assert list(tmp_path.iterdir()) == []


def test_all_that_is_listed_stays_in_the_graph(database: Database) -> None:
    """No procedure or function of another package is there than those that are allowed."""
    named = [
        *rows(database, "SHOW PROCEDURES YIELD name"),
        *rows(database, "SHOW FUNCTIONS YIELD name"),
    ]
    reaching = ("load", "export", "import", "config", "systemdb", "trigger", "log", "ml", "es")
    found = [
        row["name"]
        for row in named
        if row["name"].startswith("apoc.") and row["name"].split(".")[1] in reaching
    ]
    assert found == []
    assert {"apoc.text.join", "apoc.util.validate", "gds.knn.write"} <= {
        row["name"] for row in named
    }
