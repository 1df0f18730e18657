"""Every door shows the same answer: text, tier and evidence; also before a corpus is connected."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from commands import environment, kgp, prints
from graphs import write_file
from mcp import Client
from serving import Serving, serving

from kgp_neo4j.corpus.answer.conversation import Turn
from kgp_neo4j.corpus.answer.traces import explain, with_trace
from kgp_neo4j.corpus.connect import graphs
from kgp_neo4j.corpus.corpus import Corpus
from kgp_neo4j.corpus.load.delete import delete_corpus
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.pipeline import _decided
from kgp_neo4j.graphdb.database import Database
from kgp_neo4j.integrations.langchain import KgpRetriever
from kgp_neo4j.integrations.mcp import make_server
from kgp_neo4j.serve.completions import answer_markdown
from kgp_neo4j.serve.service import Service
from kgp_neo4j.show.mermaid import paths_mermaid
from kgp_neo4j.show.pages import answer_page
from kgp_neo4j.show.terminal import print_answer, print_said
from kgp_neo4j.types.corpus import Answer, Passage, Reading, Span, SupportingSentence
from kgp_neo4j.types.tables import StructuralAnswer, TypeDecision

_NOTE = """# The weir

The weir at Tolm was designed by Ada Brask in 1931. It feeds the mill because the old leat ran dry.

The weir was not paid for by the county. Its keeper is Jon Sele, who lives in the mill house.
"""
_GERMAN = "Das Wehr in Tolm\n\nDas Wehr in Tolm wurde 1931 von Ada Brask entworfen.\n"
#: What is asked, and who answers; of some that is not certain, and all the same at each door.
_ASKED = {
    "Who designed the weir at Tolm?": "reader",
    "Why does the weir feed the mill?": "reader",
    "Was the weir paid for by the county?": "reader",
    "Who won the chess match at Larn in 1902?": "reader",
    "Wer entwarf das Wehr in Tolm?": "reader",
    "谁设计了这座堰?": "",
    "How many rows has Table 1 of deals?": "structure",
    "What is the total amount of the deals whose manager is Dana Wolfe?": "",
    "How many rows has Table 9 of deals?": "structure",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("doors")
    write_file(path / "weir.md", _NOTE)
    write_file(path / "wehr.txt", _GERMAN)
    deals = [f"{n},{'Dana Wolfe' if n % 3 else 'Ada Lund'},{100 + n},March" for n in range(1, 13)]
    write_file(path / "deals.csv", "\n".join(["number,manager,amount,month", *deals]) + "\n")
    return path


@pytest.fixture(scope="module")
def served(database: Database, folder: Path) -> Iterator[Serving]:
    with serving(Service(database, folder=folder / "uploads")) as running:
        yield running


@pytest.fixture(scope="module")
def loaded(database: Database, folder: Path) -> Iterator[str]:
    """A corpus that is loaded, and not connected."""
    load(database, [folder], "test doors")
    yield "test doors"
    delete_corpus(database, "test doors")


def _by_mcp(database: Database, corpus: str, question: str) -> dict[str, Any]:
    async def talk() -> dict[str, Any]:
        with Database(database.connection, read_only=True) as reading:
            async with Client(make_server(reading)) as client:
                told = await client.call_tool("ask", {"question": question, "corpus": corpus})
                assert not told.is_error, told.content
                return dict(told.structured_content or {})

    return asyncio.run(talk())


def test_a_loaded_corpus_can_be_asked_at_every_door(
    database: Database, loaded: str, served: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, note = next(iter(_ASKED)), "not connected yet: passages were found by their words"
    with served.client() as client:
        over_http = client.post("/ask", json={"question": question, "corpus": loaded}).json()
    told = _by_mcp(database, loaded, question)
    monkeypatch.setattr(graphs, "_SOON", 0)  # as if it were large
    line, server = ("ask", question, "--corpus", loaded, "--json"), environment(database.connection)
    large = json.loads(prints(*line, **server))
    for made in (over_http, told, large):
        assert note in made["notes"][0]
        assert "Ada Brask" in made["passages"][0]["text"]
    # As while another run of `connect` is at it.
    database.write("connect/begin", corpus=loaded, graph="similarity")
    monkeypatch.undo()
    beside = json.loads(prints(*line, **server))
    assert "is being connected" in beside["notes"][0]
    assert beside["text"] == large["text"] == over_http["text"] == told["answer"]
    delete = "MATCH (c:Corpus {name: $c})-[:HAS_GRAPH]->(g) DETACH DELETE g"
    database.driver.execute_query(delete, c=loaded)
    done = kgp(*line, **server)
    assert "is not connected yet: this is done first" in done.stderr
    assert json.loads(done.stdout)["agent"] == "learned"
    assert json.loads(done.stdout)["notes"] == []


def test_each_door_shows_the_same_answer(
    database: Database, loaded: str, served: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, tiers = Corpus(loaded, database=database), set()
    for question, by in _ASKED.items():
        made = corpus.ask(question)
        assert by in ("", made.by), question
        tiers.add(made.tier)
        with served.client() as client:
            over_http = client.post("/ask", json={"question": question, "corpus": loaded}).json()
        told = _by_mcp(database, loaded, question)
        kept = explain(database, with_trace(database, made).trace or "").answer
        assert {over_http["text"], told["answer"], kept.text} == {made.text}, question
        for name in ("tier", "probably", "heading"):
            assert {over_http[name], told[name], getattr(kept, name)} == {getattr(made, name)}
        ids = [passage.id for passage in made.passages]
        assert [each["id"] for each in over_http["passages"]] == ids
        assert [each["id"] for each in told["passages"]] == ids[:5]
        assert kept.rests_on == made.rests_on == tuple(over_http["cited"])
        if ids:
            assert [each.id for each in KgpRetriever(corpus=corpus).invoke(question)] == ids[:10]
        _check_shown(made, capsys)
    assert tiers == {"stated", "probable", "evidence", "none"}


def _check_shown(made: Answer, capsys: pytest.CaptureFixture[str]) -> None:
    """Compare what people are shown: terminal, chat, page, Markdown and picture."""
    shown = []
    for show in (lambda: print_answer(made, 0), lambda: print_said(made)):
        show()
        shown.append(capsys.readouterr().out)
    shown.append(BeautifulSoup(answer_page(made), "html.parser").get_text(" "))
    markdown = answer_markdown(Turn(made.question, made.question, made), "http://x/")
    for text in (*map(_plain, shown), _plain(markdown)):
        assert made.heading == "Answer" or made.heading in text
        assert _plain(made.said) in text
        assert made.probably in text
        assert not made.structural or _plain(made.structural.doubt) in text
        for sentence in made.shown_sentences:
            assert _plain(sentence.text)[:60] in text
    assert not made.said or made.said[:20] in made.summary
    assert "flowchart" in paths_mermaid(made)


def _plain(text: str) -> str:
    return " ".join(text.replace("\\", "").replace("*", "").replace(">", "").split())


def _answer(table: StructuralAnswer, confidence: float, row: str = "") -> Answer:
    """Return what is decided between a table and the reader's 120, in prose or in a row."""
    text = f"{row}120 deals were won."
    words = Span("p", text.index("120"), text.index("120") + 3)
    sentence = SupportingSentence(text, "p", 0, len(text), 1.0)
    reading = Reading("120", "span", confidence, (words,), sentences=(sentence,))
    asked = Answer(
        "How many?", "c", "a", "120", (sentence,), (Passage("p", "d", "T", 0, 0, 9, text),),
        reading=reading, type=TypeDecision("both"),
    )  # fmt: skip
    return _decided(asked, table)


def test_what_wins_is_likelier_or_computed() -> None:
    likely = StructuralAnswer("24", ("24",), sure=False, confidence=0.6, doubt="Two readings.")
    computed = replace(likely, computes=True)
    unsure = replace(computed, text="See it.", confidence=0.2, markdown="| # |\n|---|\n| 1 |")
    missing = StructuralAnswer("There is no Table 9.", found=False)
    for table, confidence, row, text, tier, said in (
        (likely, 0.5, "", "24", "probable", "probably, 60 %"),
        (likely, 0.71, "", "120", "probable", "probably, 71 %"),
        (replace(likely, sure=True), 0.8, "", "24", "stated", ""),
        (computed, 0.71, "| ", "24", "probable", "probably, 60 %"),  # a cell is no count
        (computed, 0.71, "", "120", "probable", "probably, 71 %"),
        (unsure, 0.71, "| ", "", "evidence", ""),
        (unsure, 0.71, "", "120", "probable", "probably, 71 %"),
        (unsure, 0.3, "", "120", "evidence", ""),
        (missing, 0.3, "", "120", "evidence", ""),
    ):
        made = _answer(table, confidence, row)
        assert (made.text, made.tier, made.probably) == (text, tier, said)
        # No loser stands beside it.
        assert not (made.from_structure and (made.reading or made.sentences))
        assert made.from_structure or made.structural in (None, unsure, missing)
