"""The scripts of examples/, run on the demo's data, and of benchmarks/, which say their use."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from chat_server import ChatServer, completion
from commands import environment

from kgp_neo4j.demo import DOCUMENTS, GRAPH
from kgp_neo4j.graphdb.database import Database

pytestmark = pytest.mark.slow

_EXAMPLES = Path(__file__).parents[2] / "examples"
_QUESTION = "Who designed the Hesk Bridge?"


@pytest.fixture
def run(
    database: Database, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs a script and returns what it printed."""
    for name, value in environment(database.connection).items():
        monkeypatch.setenv(name, value)

    def printed(script: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(str(_EXAMPLES / script), run_name="__main__")
        return capsys.readouterr().out

    return printed


def test_documents_are_asked_with_a_model(
    run: Callable[..., str], chat_server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = "Yusuf Arden\n\nThe Hesk Bridge was designed by Yusuf Arden [1]."
    chat_server.answer = lambda body: (200, completion(reply))
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    printed = run("documents_to_answer.py", str(DOCUMENTS), _QUESTION, "--llm", "m")
    assert "21 documents" in printed
    assert "Yusuf Arden" in printed


def test_triples_become_a_mind_map(run: Callable[..., str]) -> None:
    question = "I feel tired and dizzy. What can it be?"
    assert "(grounded)" in run("triples_to_mind_map.py", str(GRAPH / "ailments.tsv"), question)


def test_an_agent_of_ones_own_walks(run: Callable[..., str]) -> None:
    printed = run("custom_agent.py", str(DOCUMENTS), _QUESTION)
    assert printed.startswith("missing-words")
    assert " -> " in printed


def test_the_corpus_in_graph_data_science(run: Callable[..., str]) -> None:
    assert len(run("graph_data_science.py", str(DOCUMENTS)).splitlines()) == 3


_FOLDER = Path(__file__).parents[2] / "benchmarks"
_SCRIPTS = sorted(path.stem for path in _FOLDER.glob("[!_]*.py"))


@pytest.mark.parametrize("script", _SCRIPTS)
def test_each_script_says_how_it_is_used(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Within this process: twenty more would each import the package.
    monkeypatch.syspath_prepend(_FOLDER)
    monkeypatch.setattr(sys, "argv", ["", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(_FOLDER / f"{script}.py"), run_name="__main__")
    assert not ended.value.code
    said = capsys.readouterr().out
    assert f"usage: {script}.py" in said
