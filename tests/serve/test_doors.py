"""Every door shows the same answer: text, tier and evidence; also before a corpus is connected."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from bs4 import BeautifulSoup
from commands import environment, kgp
from graphs import rows, write_file
from mcp import Client
from serving import Serving, serving

from kgp_neo4j import Answer, Corpus, Database, Passage
from kgp_neo4j.corpus.answer.traces import explain, with_trace
from kgp_neo4j.corpus.connect import graphs
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_corpus
from kgp_neo4j.corpus.pipeline import _decided
from kgp_neo4j.integrations.langchain import KgpRetriever
from kgp_neo4j.integrations.mcp import make_server
from kgp_neo4j.serve.service import Service
from kgp_neo4j.show.pages import answer_markdown, answer_page
from kgp_neo4j.show.terminal import print_answer
from kgp_neo4j.types.corpus import Reading, Span
from kgp_neo4j.types.tables import StructuralAnswer

_CORPUS = "test doors"
_NOTE = """The weir at Tolm was designed by Ada Brask in 1931. It feeds the mill because the old
leat ran dry. The weir was not paid for by the county. Its keeper is Jon Sele of the mill.
"""
#: What is asked, and who answers where that is certain.
_ASKED = {
    "Who designed the weir at Tolm?": "reader",
    "Why does the weir feed the mill?": "reader",
    "Was the weir paid for by the county?": "reader",
    "Who won the chess match at Larn in 1902?": "reader",
    "谁设计了这座堰?": "",
    "How many rows has Table 1 of deals?": "structure",
    "What is the total amount of the deals whose manager is Dana Wolfe?": "",
    "How many rows has Table 9 of deals?": "structure",
}


@pytest.fixture(scope="module")
def served(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A service over a corpus that is loaded, and not connected."""
    folder = tmp_path_factory.mktemp("doors")
    write_file(folder / "weir.md", f"# The weir\n\n{_NOTE}")
    deals = [f"{n},{'Dana Wolfe' if n % 3 else 'Ada Lund'},{100 + n}" for n in range(1, 13)]
    write_file(folder / "deals.csv", "\n".join(["number,manager,amount", *deals]))
    load(database, [folder], _CORPUS)
    with serving(Service(database, folder=folder / "uploads")) as running:
        yield running
    delete_corpus(database, _CORPUS)


def _outside(served: Serving, question: str) -> list[dict[str, Any]]:
    """Return what HTTP and the Model Context Protocol answer."""

    async def talk() -> Any:
        with Database(served.service.database.connection, read_only=True) as reading:
            async with Client(make_server(reading, corpus=_CORPUS)) as client:
                return (await client.call_tool("ask", {"question": question})).structured_content

    told = asyncio.run(talk())
    with served.client() as client:
        made = client.post("/ask", json={"question": question, "corpus": _CORPUS}).json()
    return [made, told | {"text": told["answer"]}]


def test_a_loaded_corpus_can_be_asked_at_every_door(
    database: Database, served: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = next(iter(_ASKED))
    line = ("ask", question, "--corpus", _CORPUS, "--json")
    server = environment(database.connection)
    monkeypatch.setattr(graphs, "_SOON", 0)  # as if it were large
    large = json.loads(kgp(*line, **server).stdout)
    for made in (large, *_outside(served, question)):
        assert "not connected yet: passages were found by their words" in made["notes"][0]
        assert "Ada Brask" in made["passages"][0]["text"]
    # As while another run of `connect` is at it.
    database.write("connect/begin", corpus=_CORPUS, graph="similarity")
    monkeypatch.undo()
    assert "is being connected" in json.loads(kgp(*line, **server).stdout)["notes"][0]
    rows(database, "MATCH (:Corpus {name: $c})-[:HAS_GRAPH]->(g) DETACH DELETE g", c=_CORPUS)
    done = kgp(*line, **server)
    assert "is not connected yet: this is done first" in done.stderr
    made = json.loads(done.stdout)
    assert (made["agent"], made["notes"]) == ("learned", [])


def test_each_door_shows_the_same_answer(
    database: Database, served: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus, tiers = Corpus(_CORPUS, database=database), set()
    for question, by in _ASKED.items():
        made = corpus.ask(question)
        assert by in ("", made.by), question
        tiers.add(made.tier)
        kept = explain(database, with_trace(database, made).trace or "").answer
        ids = [passage.id for passage in made.passages]
        for other in _outside(served, question):
            assert [each["id"] for each in other["passages"]][:5] == ids[:5]
            for name in ("text", "tier", "probably", "heading"):
                assert other[name] == getattr(kept, name) == getattr(made, name), question
        assert kept.rests_on == made.rests_on
        if ids:
            assert [each.id for each in KgpRetriever(corpus=corpus).invoke(question)] == ids[:10]
        print_answer(made, 0)
        terminal = capsys.readouterr().out
        page = BeautifulSoup(answer_page(made), "html.parser").get_text(" ")
        markdown = answer_markdown(made, "http://x/")
        for text in map(_plain, (terminal, page, markdown)):
            assert made.heading == "Answer" or made.heading in text
            assert _plain(made.said) in text
            assert made.probably in text
            assert all(_plain(each.text)[:60] in text for each in made.shown_sentences)
    assert tiers >= {"stated", "evidence", "none"}


def _plain(text: str) -> str:
    return " ".join(text.replace("\\", "").replace("*", "").replace(">", "").split())


def test_what_wins_is_likelier_or_computed() -> None:
    likely = StructuralAnswer("24", ("24",), sure=False, confidence=0.6, doubt="Two readings.")
    computed = replace(likely, computes=True)
    unsure = replace(computed, text="See it.", confidence=0.2, markdown="| # |\n|---|\n| 1 |")
    for table, confidence, row, text, tier, said in (
        (likely, 0.5, "", "24", "probable", "probably, 60 %"),
        (likely, 0.71, "", "120", "probable", "probably, 71 %"),
        (replace(likely, sure=True), 0.8, "", "24", "stated", ""),
        (computed, 0.71, "| ", "24", "probable", "probably, 60 %"),  # a cell is no count
        (computed, 0.71, "", "120", "probable", "probably, 71 %"),
        (unsure, 0.71, "| ", "", "evidence", ""),
        (unsure, 0.3, "", "120", "evidence", ""),
        (StructuralAnswer("There is no Table 9.", found=False), 0.3, "", "120", "evidence", ""),
    ):
        words = (Span("p", len(row), len(row) + 3),)
        passage = Passage("p", "d", "T", 0, 0, 9, f"{row}120 deals were won.")
        asked = Answer("How many?", "c", "a", "120", passages=(passage,))
        made = _decided(replace(asked, reading=Reading("120", "span", confidence, words)), table)
        assert (made.text, made.tier, made.probably) == (text, tier, said)
        # No loser stands beside it.
        assert not (made.from_structure and made.reading)
        assert made.structural is None or tier == "evidence" or made.from_structure
