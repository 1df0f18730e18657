"""What all tests share: one real Neo4j server for the whole run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgp_neo4j import server
from kgp_neo4j.settings import Connection, Folders, connection_from_environment

# --- The server -----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The user's cache (or KGP_NEO4J_CACHE) with a home of this test run's own."""
    return Folders.from_environment(tmp_path_factory.mktemp("kgp-neo4j") / "home")


@pytest.fixture(scope="session")
def connection(folders: Folders) -> Iterator[Connection]:
    """A real server: that of NEO4J_URI, else testcontainers when asked for, else the embedded one.

    It fails when there is none, and is never skipped.
    """
    given = connection_from_environment()
    if given is not None:
        yield given
    elif os.environ.get("KGP_NEO4J_TEST_CONTAINERS") == "1":
        yield from _container()
    else:
        try:
            yield server.ensure(folders, echo=print)
        finally:
            server.stop(folders)


def _container() -> Iterator[Connection]:
    """Start docker/compose.yaml; fails without a Docker engine."""
    from testcontainers.compose import DockerCompose

    password = os.environ.setdefault("NEO4J_PASSWORD", "only-for-tests")
    with DockerCompose(Path(__file__).parents[1] / "docker", wait=True) as compose:
        host, port = compose.get_service_host_and_port("neo4j", 7687)
        yield Connection(f"bolt://{host}:{port}", "neo4j", password)


# --- Data and models: further fixtures below this line --------------------------------------------
