"""The lines of Neo4j: choosing one, and upgrading the data of a home, on real servers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphs import write_file
from test_server import java_home, kgp, value

from kgp_neo4j.environment.folders import Folders
from kgp_neo4j.graphdb.server import password, upgrade
from kgp_neo4j.graphdb.server import supervise as server
from kgp_neo4j.graphdb.server.artifacts import load_lock, sha256_of
from kgp_neo4j.types.errors import ConfigurationError, ServerError

_LANGUAGE = "SHOW DATABASES YIELD name, defaultLanguage WHERE name = 'neo4j' RETURN defaultLanguage"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folders]:
    monkeypatch.delenv("KGP_NEO4J_SERVER", raising=False)
    made = Folders.from_environment(tmp_path / "home")
    yield made
    server.stop(made)


def _digests(data: Path) -> dict[str, str]:
    files = [path for path in sorted(data.rglob("*")) if path.is_file()]
    return {str(path.relative_to(data)): sha256_of(path) for path in files}


@pytest.mark.slow
def test_data_are_upgraded_as_a_copy(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = server.start(home, memory="640m")
    value(connection, "CREATE (n:Kept {name: 'still here'}) RETURN n.name")
    data = home.home / "data"
    with monkeypatch.context() as patch:
        patch.setattr(upgrade, "_LEAST_FREE", 10**18)
        with pytest.raises(ServerError, match=r"need \d+ MB, but .* The data are as they were"):
            upgrade.use(home, "2026")
    assert server.status(home).running
    # What one that was cut off has left is in nobody's way.
    (home.home / "data-2026.part" / "databases" / "system").mkdir(parents=True)
    copied: list[dict[str, str]] = []
    copy = upgrade.copytree

    def looking(old: Path, part: Path) -> None:
        copied.append(_digests(old))
        copy(old, part)

    monkeypatch.setattr(upgrade, "copytree", looking)
    used = upgrade.use(home, "2026")
    after = server.status(home)
    assert after.running, "the server ran before"
    assert used.version == after.version == load_lock("2026").version()
    assert used.data == after.data
    assert (after.heap, after.page_cache) == (400, 240)
    assert sorted(folder.name for folder in home.home.glob("data*")) == ["data", "data-2026"]
    assert used.backup == str(data)
    assert [_digests(data)] == copied
    upgraded = server.ensure(home)
    assert upgraded == connection, "the ports or the password changed"
    assert value(upgraded, "MATCH (n:Kept) RETURN n.name") == "still here"
    assert value(upgraded, _LANGUAGE) == "CYPHER 5", "queries mean what they meant"
    gds = load_lock("2026").version("org.neo4j.gds:proc")
    assert value(upgraded, "RETURN gds.version()") == gds
    # There is no way back for these data; those of before the upgrade are as they were.
    refused = kgp(home, "server", "use", "5.26")
    assert refused.returncode == 1
    assert "which 5.26 cannot read. Export what" in refused.stderr
    assert f"{data} has the data of before" in refused.stderr
    server.stop(home)
    Path(used.data).rename(home.home / "elsewhere")
    assert server.status(home).version == load_lock("5.26").version()


def test_a_failed_upgrade_changes_nothing(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(home.home / "data" / "databases" / "system" / "neostore", "kept")
    password.password_file(home.home).write_text("secret")
    before = _digests(home.home / "data")
    monkeypatch.setenv("JAVA_HOME", str(java_home(home.home.parent / "java", "21.0.1")))
    with pytest.raises(ServerError, match=r"to Neo4j 2026: The server ended(.|\n)*broken"):
        upgrade.use(home, "2026")
    assert [folder.name for folder in home.home.glob("data*")] == ["data"]
    assert _digests(home.home / "data") == before
    assert server.status(home).version == load_lock("5.26").version()


@pytest.mark.slow
def test_a_new_home_of_2026_has_cypher_25(home: Folders) -> None:
    used = kgp(home, "server", "use", "2026", "--json")
    assert json.loads(used.stdout)["version"] == load_lock("2026").version(), used.stderr
    connection = server.start(home, memory="640m")
    assert value(connection, _LANGUAGE) == "CYPHER 25"
    assert "WARN" not in (home.home / "logs" / "neo4j.log").read_text()


def test_a_home_without_data_changes_freely(home: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    assert server.status(home).version == load_lock("5.26").version()
    monkeypatch.setenv("KGP_NEO4J_SERVER", "2026")
    assert server.status(home).version == load_lock("2026").version()
    assert server.status(home).data.endswith("data-2026")
    assert upgrade.use(home, "5.26").backup is None
    assert server.status(home).version == load_lock("5.26").version(), (
        "the variable is for new ones"
    )
    upgrade.use(home, "2026")
    assert [folder.name for folder in home.home.glob("data*")] == ["data-2026"]
    monkeypatch.setenv("KGP_NEO4J_SERVER", "4.4")
    with pytest.raises(ConfigurationError, match=r"'4\.4'.*Set it to 5\.26 or 2026"):
        server.status(home)
