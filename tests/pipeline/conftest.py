"""What several tests of the pipeline share: corpora of a few films."""

from pathlib import Path

import pytest
from graphs import load_records
from small_graphs import FILMS

from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.graphdb.database import Database


@pytest.fixture
def films(database: Database, corpus: str, tmp_path: Path) -> str:
    """The test's corpus with five passages, loaded from a file in the test's folder."""
    load_records(database, corpus, tmp_path, *FILMS)
    return corpus


@pytest.fixture
def joined(database: Database, films: str) -> str:
    """The same, connected."""
    connect(database, films)
    return films
