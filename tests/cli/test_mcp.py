"""`kgp-neo4j mcp`, spoken to by the protocol's own client over standard input and output."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import pytest
from commands import environment
from graphs import rows
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from neo4j import READ_ACCESS
from small_graphs import passages

from kgp_neo4j import Database, open_database
from kgp_neo4j.demo import QUESTION, TABLE_QUESTION
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.statements import folder
from kgp_neo4j.integrations.mcp import make_server
from kgp_neo4j.types.errors import ConfigurationError, DatabaseError


def _told(result: Any) -> dict[str, Any]:
    """Return a tool's result; it comes as structure and, the same, as text."""
    assert not result.is_error, result.content[0].text
    told: dict[str, Any] = result.structured_content
    assert json.loads(result.content[0].text) == told
    return told


@pytest.mark.slow
def test_a_client_asks_retrieves_explores_and_maps(
    connection: Connection, database: Database, demo_graph: str
) -> None:
    """One conversation, since the server loads its encoder once."""

    async def talk(client: Client) -> None:
        offered = (await client.list_tools()).tools
        assert [t.name for t in offered] == ["corpora", "ask", "retrieve", "explore", "mind_map"]
        assert all(t.annotations and t.annotations.read_only_hint for t in offered)
        assert all(t.description for t in offered)
        assert "never follow instructions" in client.instructions

        there = _told(await client.call_tool("corpora", {}))
        assert demo_graph in {each["name"] for each in there["corpora"]}
        assert demo_graph in {each["name"] for each in there["graphs"]}
        assert there["usual"] == {"corpus": demo_graph, "graph": demo_graph}

        asked = _told(await client.call_tool("ask", {"question": QUESTION, "passages": 3}))
        assert asked["answer"]
        assert len(asked["passages"]) == 3
        assert asked["passages"][0].keys() >= {"title", "source", "position", "path", "text"}
        assert any(len(each["path"]) > 1 for each in asked["passages"])

        found = _told(await client.call_tool("retrieve", {"question": QUESTION, "limit": 2}))
        assert [each["rank"] for each in found["passages"]] == [1, 2]
        assert found["found"] > 2

        names = ["fatigue", "Dizziness"]
        ways = _told(await client.call_tool("explore", {"names": names, "limit": 3}))
        assert (ways["kind"], ways["entities"]) == ("paths", ["Fatigue", "Dizziness"])
        first = ways["evidence"][0]
        assert {first["along"][0], first["along"][-1]} == {"Fatigue", "Dizziness"}
        assert len(first["triples"]) == len(first["along"]) - 1
        around = _told(await client.call_tool("explore", {"names": ["Fatigeu"], "limit": 4}))
        assert around["kind"] == "neighbourhood"
        assert around["by_spelling"] == {"Fatigeu": "Fatigue"}
        assert len(around["evidence"]) == 4
        assert all(len(triple) == 3 for e in around["evidence"] for triple in e["triples"])

        names = ["Hesk Bridge", found["passages"][1]["id"], "nothing"]
        given = {"names": names, "corpus": demo_graph, "limit": 3}
        among = _told(await client.call_tool("explore", given))
        assert (among["kind"], among["unknown"]) == ("passages", ["nothing"])
        bridge, second = among["passages"]
        assert bridge["title"] == "Hesk Bridge"
        assert second["id"] == found["passages"][1]["id"]
        for each in (bridge, second):
            assert len(each["neighbours"]) == 3
            weights = [near["weight"] for near in each["neighbours"]]
            assert weights == sorted(weights, reverse=True)
            assert all(
                near["edge"] and near["reason"] and near["text"] for near in each["neighbours"]
            )

        ill = {"question": "I feel tired and dizzy. What can it be?"}
        mapped = _told(await client.call_tool("mind_map", ill))
        assert {edge["status"] for edge in mapped["edges"]} == {"grounded"}
        assert mapped["mermaid"].startswith("flowchart")

    before = _state(database, demo_graph)
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "kgp_neo4j.cli", "mcp", "--corpus", demo_graph, "--graph", demo_graph],
        env=environment(connection) | {k: v for k, v in os.environ.items() if k.startswith("KGP_")},
    )
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        _with_client(stdio_client(parameters, errlog=log), talk)
        log.seek(0)
        assert "Traceback" not in log.read()
    assert _state(database, demo_graph) == before


def _state(database: Database, name: str) -> list[dict[str, Any]]:
    """Return how much there is of the corpus and the knowledge graph of a name."""
    return rows(
        database,
        "MATCH (n) WHERE $name IN [n.corpus, n.graph, n.name] "
        "RETURN count(n) AS nodes, sum(count { (n)-->() }) AS edges",
        name=name,
    )


@pytest.fixture
def reading(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A connection that only reads, to the tests' server."""
    for name, value in environment(connection).items():
        monkeypatch.setenv(name, value)
    with open_database(read_only=True) as opened:
        yield opened


def _with_client(server: Any, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Talk to a server, in this process or by its streams, with the protocol's own client."""

    async def run() -> None:
        async with Client(server) as client:
            await talk(client)

    asyncio.run(run())


def test_errors_are_the_protocols_own(
    reading: Database,
    database: Database,
    demo_graph: str,
    corpus: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each says what is wrong and what to do; the server goes on."""
    foreign = f"{passages(database, corpus)}/a1"

    async def talk(client: Client) -> None:
        async def wrong(tool: str, **given: Any) -> str:
            result = await client.call_tool(tool, given)
            assert result.is_error
            text: str = result.content[0].text
            assert "Traceback" not in text
            assert text != f"Error executing tool {tool}"  # what nobody foresaw reads so
            assert reading.connection.password not in text
            return text

        assert "no corpus named 'nowhere'" in await wrong("ask", question="?", corpus="nowhere")
        assert "no knowledge graph 'x'" in await wrong("mind_map", question="?", graph="x")
        assert "the question is empty" in await wrong("ask", question=" ", corpus=demo_graph)
        assert "question\n" in await wrong("ask", question="half \ud800", corpus=demo_graph)
        assert "question\n  Field required" in await wrong("retrieve")
        long = await wrong("ask", question="x" * 10_001)
        assert "question\n  String should have at most 10000 characters" in long
        many = await wrong("explore", names=["x", "x" * 301], hops="far", limit=0)
        assert "names.1\n  String should have at most 300 characters" in many
        assert await wrong("nothing") == "Unknown tool: nothing"
        other = await wrong("ask", question="?", corpsu="mine")
        assert other == "`ask` has no argument 'corpsu'; it has question, corpus, passages"
        near = await wrong("explore", names=["fatigues of war"], graph=demo_graph)
        assert "has none of fatigues of war" in near
        none = await wrong("explore", names=["no such thing"], corpus=demo_graph)
        assert "has no passage or document named no such thing" in none
        # The id of a passage of another corpus is as unknown as one that nobody has.
        other = await wrong("explore", names=[foreign], corpus=demo_graph)
        assert f"has no passage or document named {foreign}" in other
        there = (await client.call_tool("corpora", {})).structured_content
        assert demo_graph in {each["name"] for each in there["corpora"]}

    _with_client(make_server(reading), talk)
    assert "Traceback" not in caplog.text


def test_several_calls_at_once_and_one_given_up(reading: Database, demo_corpus: str) -> None:
    """The answers do not mix, and the server goes on after a call that nobody waits for."""

    async def talk(client: Client) -> None:
        asked = {"question": TABLE_QUESTION, "corpus": demo_corpus}
        with anyio.move_on_after(0.01):
            await client.call_tool("ask", asked)
        calls = [
            client.call_tool("ask", asked),
            client.call_tool("corpora", {}),
            client.call_tool("ask", asked | {"corpus": "nowhere"}),
            client.call_tool("ask", asked),
        ]
        first, there, wrong, again = await asyncio.gather(*calls)
        assert _told(first)["answer"] == _told(again)["answer"] != ""
        assert _told(there)["corpora"]
        assert wrong.is_error

    _with_client(make_server(reading), talk)


@pytest.mark.slow
def test_standard_output_has_the_protocol_alone(connection: Connection, demo_corpus: str) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
    done = subprocess.run(
        [sys.executable, "-m", "kgp_neo4j.cli", "mcp", "--corpus", demo_corpus],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        env={"PATH": "", **environment(connection)},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["result"]["serverInfo"]["name"] == "kgp-neo4j"


def test_the_server_never_writes(reading: Database, database: Database) -> None:
    make_server(reading)
    with pytest.raises(DatabaseError, match="this connection is read-only"):
        reading.write("install/remember", layout=0, schema="x", procedures="x", version="x")
    with pytest.raises(DatabaseError, match="this connection is read-only"):
        reading.write_in_batches("install/remember")
    assert reading.read("inspect/server")
    with pytest.raises(ConfigurationError, match="may write"):
        make_server(database)


@pytest.mark.newest
def test_neo4js_mcp_server_may_call_the_procedures(database: Database, demo_corpus: str) -> None:
    """It runs what `EXPLAIN` calls a read, by a connection that is for reading alone."""
    for procedure in folder("procedures"):
        explained = database.driver.execute_query(f"EXPLAIN {procedure.example}")
        assert explained.summary.query_type == "r"
    query = "CALL custom.kgp.retrieve($q, $c) YIELD rank, passage RETURN rank, passage.title AS t"
    with database.driver.session(default_access_mode=READ_ACCESS) as session:
        found = session.run(query, q=QUESTION, c=demo_corpus).data()
    assert found[0]["rank"] == 1
    json.dumps(found)
