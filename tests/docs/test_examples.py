"""The scripts of examples/, run as their first lines say, on the demo's documents and triples."""

import os
import sys
from pathlib import Path

import pytest
from chat_server import ChatServer, completion
from commands import environment, output

from kgp_neo4j.demo import DOCUMENTS, GRAPH
from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).parents[2]
_QUESTION = "Who designed the Hesk Bridge?"


def _run(database: Database, script: str, *arguments: str, **variables: str) -> str:
    """Run a script and return what it printed."""
    env = os.environ | environment(database.connection) | variables
    return output(sys.executable, str(_ROOT / "examples" / script), *arguments, env=env)


def test_documents_are_asked_with_a_model(database: Database, chat_server: ChatServer) -> None:
    reply = "Yusuf Arden\n\nThe Hesk Bridge was designed by Yusuf Arden [1]."
    chat_server.answer = lambda body: (200, completion(reply))
    printed = _run(
        database,
        "documents_to_answer.py",
        *(str(DOCUMENTS), _QUESTION, "--llm", "m"),
        OPENAI_BASE_URL=chat_server.url,
    )
    assert "21 documents" in printed
    assert "Yusuf Arden" in printed


def test_triples_become_a_mind_map(database: Database) -> None:
    printed = _run(
        database,
        "triples_to_mind_map.py",
        *(str(GRAPH / "ailments.tsv"), "I feel tired and dizzy. What can it be?"),
    )
    assert "(grounded)" in printed


def test_an_agent_of_ones_own_walks(database: Database) -> None:
    printed = _run(database, "custom_agent.py", str(DOCUMENTS), _QUESTION)
    assert printed.startswith("missing-words")
    assert " -> " in printed


def test_the_corpus_in_graph_data_science(database: Database) -> None:
    printed = _run(database, "graph_data_science.py", str(DOCUMENTS))
    assert len(printed.splitlines()) == 3
