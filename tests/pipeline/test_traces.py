"""Kept traversals: what is in the graph, what comes back, and that nothing else notices them."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from asking import ask
from bs4 import BeautifulSoup
from commands import environment, prints, refuses
from graphs import rows, snapshot, write_jsonl
from small_graphs import PASSAGES, lighthouse

from kgp_neo4j import Answer, Database, Passage, Question, ReasoningPath
from kgp_neo4j.corpus.answer.traces import explain, remove, store, traces, visits
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import delete_corpus, delete_document
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.demo import QUESTION, SETTINGS
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.show.pages import answer_page
from kgp_neo4j.show.trees import paths_mermaid
from kgp_neo4j.types.corpus import Reading, Span, Statement, Step, SupportingSentence, Usage
from kgp_neo4j.types.errors import CorpusError, TraceError


def _id(corpus: str, name: str) -> str:
    """Return the id of a passage: of letters and digits, as the ids of loaded passages are."""
    return corpus.removeprefix("test ") + name


def _name(passage: str) -> str:
    return passage[-2:]


def _lighthouse(database: Database, corpus: str) -> None:
    lighthouse(database, corpus)
    names = [name for _, texts in PASSAGES.values() for name in texts]
    rows(
        database,
        "UNWIND $ids AS id MATCH (p:Passage {id: id[0]}) SET p.id = id[1]",
        ids=[[f"{corpus}/{name}", _id(corpus, name)] for name in names],
    )


def _answer(corpus: str, *ways: str, **more: Any) -> Answer:
    """Return an answer over the small graph; a way "a1 c1" leads from a seed to c1."""
    paths = []
    for way in ways:
        first, *rest = way.split()
        steps = [Step(_id(corpus, first), "seed", 0.9, reason="words")]
        steps += [Step(_id(corpus, n), "SHARES_KEYWORD", 0.4, 0.3, f"to {n}") for n in rest]
        paths.append(ReasoningPath(tuple(steps)))
    ends = [
        Passage(path.last, "d", _name(path.last), 0, 0, 5, "Text.", "", path.steps[-1].score)
        for path in paths
    ]
    values: dict[str, Any] = {"text": "", "sentences": (), "seconds": 0.5, **more}
    return Answer("Who?", corpus, "tfidf", passages=tuple(ends), paths=tuple(paths), **values)


def _without_texts(answer: Answer) -> Answer:
    """Return an answer without what is not kept: it is read from the corpus, or made anew."""
    settings = json.loads(json.dumps(dict(answer.settings)))
    return replace(answer, passages=(), queries=(), trace=None, browser=None, settings=settings)


def test_show_trace(database: Database, corpus: str) -> None:
    _lighthouse(database, corpus)
    rows(
        database,
        "MATCH (a:Passage {id: $a}), (c:Passage {id: $c}) "
        "CREATE (a)-[:SHARES_KEYWORD {namesTitle: false}]->(c), "
        "(c)-[:SHARES_KEYWORD {namesTitle: true}]->(a), (a)-[:SIMILAR_ST]->(c)",
        a=_id(corpus, "b1"),
        c=_id(corpus, "d1"),
    )
    said = SupportingSentence("Keeper.", _id(corpus, "d1"), 0, 7, 0.9)
    kept = store(database, _answer(corpus, "b1 d1", "b1", "a1", text="Keeper", sentences=(said,)))
    for found in (
        database.read("procedures/trace", trace=kept[:12]),
        database.read("browser/show_trace", trace=kept),
    ):
        shown = [
            (
                row["question"]["title"],
                row["visit"].type,
                _name(row["passage"]["id"]),
                row["edge"] and (row["edge"].type, row["edge"]["namesTitle"]),
                row["neighbour"] and _name(row["neighbour"]["id"]),
            )
            for row in found
        ]
        assert shown == [
            ("Who?", "LED_TO_ANSWER", "b1", None, None),
            ("Who?", "VISITED", "a1", None, None),
            ("Who?", "LED_TO_ANSWER", "d1", ("SHARES_KEYWORD", True), "b1"),
        ]


@pytest.mark.parametrize("agent", ["knn", "learned"])
def test_what_was_kept_is_told_again(database: Database, demo_corpus: str, agent: str) -> None:
    retriever = PassageRetriever(database, demo_corpus, agent=agent, settings=SETTINGS)
    answer = ask(database, demo_corpus, QUESTION, retriever)
    kept = store(database, answer)
    try:
        made = explain(database, kept[:20])
    finally:
        remove(database, [kept])
    assert (made.id, made.gone, made.answer.trace) == (kept, (), kept)
    assert _without_texts(made.answer) == _without_texts(answer)
    assert made.answer.passages == answer.passages
    assert made.answer.browser == answer.browser
    assert made.visits == visits(answer)
    assert [v.order for v in made.visits] == list(range(1, len(made.visits) + 1))
    names = {query.name for query in answer.queries}
    assert {query.name for query in made.answer.queries} == {*names, "browser.showTrace"}
    assert answer_page(made.answer).count("<mark") == answer_page(answer).count("<mark")


def test_every_field_comes_back(database: Database, corpus: str) -> None:
    _lighthouse(database, corpus)
    answer = _answer(
        corpus,
        "a1 c1",
        text="An “answer”\nin two lines, 灯塔",
        reading=Reading("answer", "span", 0.75, (Span(_id(corpus, "c1"), 1, 4),)),
        statements=(Statement("It is so.", (_id(corpus, "c1"),), False, 0.1, "says otherwise"),),
        usage=Usage("a model", 2, 1, 300, 20, estimated=True),
        notes=("One was left out.",),
        settings={"budget": 5, "edges": ["NEXT"], "named": 0.3},
    )
    made = explain(database, store(database, answer)).answer
    assert _without_texts(made) == _without_texts(answer)
    assert paths_mermaid(made).count("-->") == 2


def test_nothing_is_kept_or_removed_of_what_is_not_there(database: Database, corpus: str) -> None:
    _lighthouse(database, corpus)
    with pytest.raises(CorpusError, match="no corpus"):
        store(database, _answer("no such corpus", "a1"))
    kept = store(database, _answer(corpus, "a1"))
    for wrong in ("", "  ", "zz", kept + "0"):
        with pytest.raises(TraceError, match="there is no trace"):
            explain(database, wrong)
    with pytest.raises(TraceError):
        remove(database, [kept, "zz"])
    assert remove(database, [kept], corpus="another") == 0
    assert [each.id for each in traces(database, corpus)] == [kept]
    assert remove(database, [kept[:16]], corpus=corpus) == 1


def test_a_passage_that_goes_meanwhile_is_left_out(database: Database, corpus: str) -> None:
    _lighthouse(database, corpus)
    waits = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
    driver = database.driver
    with ThreadPoolExecutor() as pool, driver.session() as own, own.begin_transaction() as deletion:
        deletion.run("MATCH (p {id: $id}) DETACH DELETE p", id=_id(corpus, "a1")).consume()
        kept = pool.submit(store, database, _answer(corpus, "b1 d1", "a1"))
        while not rows(database, waits):
            time.sleep(0.05)
        deletion.commit()
    told = explain(database, kept.result()).visits
    assert [_name(visit.step.passage) for visit in told] == ["b1", "d1"]


@pytest.mark.alone
def test_fifty_traces_change_no_retrieval(database: Database, demo_corpus: str) -> None:
    def everything() -> list[Any]:
        retrievers = [
            PassageRetriever(database, demo_corpus, agent=agent, settings=SETTINGS)
            for agent in ("tfidf", "knn", "learned")
        ]
        found = [replace(each.retrieve(Question("", QUESTION)), seconds=0.0) for each in retrievers]
        retrieved = database.read("procedures/retrieve", question=QUESTION, corpus=demo_corpus)
        near = database.read("procedures/passage_neighbours", passage=found[0].passages[0].id)
        searched = [(row["passage"]["id"], row["score"]) for row in retrieved]
        return [found, searched, [(row["neighbour"]["id"], row["score"]) for row in near]]

    before = everything()
    retriever = PassageRetriever(database, demo_corpus, agent="knn")
    answer = ask(database, demo_corpus, QUESTION, retriever)
    for _ in range(50):
        store(database, answer)
    try:
        assert everything() == before
    finally:
        assert remove(database, [each.id for each in traces(database, demo_corpus)]) == 50


def test_documents_that_go_are_told(database: Database, corpus: str, tmp_path: Path) -> None:
    """Loading the same again keeps a trace whole; replaced and deleted documents leave it."""
    file = tmp_path / "records.jsonl"
    records = [
        ("Ardfin Lighthouse", "Isobel Tarn designed the tower of the lighthouse."),
        ("Isobel Tarn", "Isobel Tarn was born in Kettlehaven and liked ponies."),
        ("Kettlehaven", "Kettlehaven is a harbour with many ponies."),
    ]
    load(database, [write_jsonl(file, *records)], corpus)
    connect(database, corpus, edges=["tfidf"])
    retriever = PassageRetriever(database, corpus, agent="tfidf")
    answer = ask(database, corpus, "Where was the designer of Ardfin Lighthouse born?", retriever)
    assert len(answer.passages) == 3
    kept = store(database, answer)

    load(database, [file], corpus)
    assert explain(database, kept).gone == ()

    records[1] = ("Isobel Tarn", "Isobel Tarn was born elsewhere, it is now said.")
    load(database, [write_jsonl(file, *records)], corpus)
    assert explain(database, kept).gone == ("Isobel Tarn",)
    delete_document(database, corpus, "Kettlehaven")
    made = explain(database, kept)
    assert sorted(made.gone) == ["Isobel Tarn", "Kettlehaven"]
    assert [p.title for p in made.answer.passages] == ["Ardfin Lighthouse"]
    assert "2 of the 3 passages visited then have left the corpus" in made.answer.notes[-1]
    assert (traces(database, corpus)[0].passages, traces(database, corpus)[0].left) == (3, 1)
    assert "have left the corpus" in answer_page(made.answer)
    assert paths_mermaid(made.answer).startswith("flowchart")

    delete_corpus(database, corpus)
    assert traces(database, corpus) == []
    with pytest.raises(TraceError):
        explain(database, kept)
    left = rows(database, "MATCH (q:Question {corpus: $c}) RETURN q", c=corpus)
    assert left == []


def test_a_step_that_went_away_keeps_its_place(database: Database, corpus: str) -> None:
    _lighthouse(database, corpus)
    said = Statement("It is so.", (_id(corpus, "b1"),), True, 1.0, "cited [1]; carried by [3]")
    ways, noted = ("a1 c1", "a1 c1 d1", "b1"), ("See [1], [3] and [9].",)
    kept = store(database, _answer(corpus, *ways, text="So [3]", statements=(said,), notes=noted))
    rows(database, "MATCH (p:Passage {id: $p}) DETACH DELETE p", p=_id(corpus, "c1"))
    made = explain(database, kept)
    assert [step.edge for step in made.answer.paths[0].steps] == ["seed", "gone", "SHARES_KEYWORD"]
    # What is left is counted anew, as it is shown.
    assert [_name(passage.id) for passage in made.answer.passages] == ["d1", "b1"]
    assert (made.answer.text, made.answer.notes[0]) == ("So [2]", "See [?], [2] and [9].")
    assert made.answer.statements[0].note == "cited [?]; carried by [2]"
    assert len(made.gone) == 1
    assert "no longer in the corpus" in answer_page(made.answer)
    assert [v.order for v in made.visits] == [1, 2, 4]


@pytest.mark.slow
def test_command(database: Database, connection: Connection, corpus: str, tmp_path: Path) -> None:
    _lighthouse(database, corpus)
    server = environment(connection)
    assert "ask ... --trace" in refuses("explain", "--corpus", corpus, **server)
    first = store(database, _answer(corpus, "a1", "a1 c1", text="An \x1b[31manswer"))
    last = store(database, _answer(corpus, "b1"))

    shown = prints("explain", first[:10], "--html", "a.html", cwd=tmp_path, **server)
    assert "1. a1 [1]  0.90  found by words" in shown
    assert "2. a1 ─ share the words to c1 ─▶ c1 [2]  0.70" in shown
    assert shown.index("Seeds") < shown.index("Hop 1")
    assert "\x1b" not in shown
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")

    assert last in prints("explain", "--corpus", corpus, **server)
    drawn = prints("explain", first, "--mermaid", **server)
    assert drawn.startswith("flowchart LR\n")
    told = json.loads(prints("explain", first, "--json", **server))
    assert [v["path"] for v in told["visits"]] == [[1], [1, 2]]
    assert told["answer"]["trace"] == first


@pytest.mark.slow
def test_the_history(
    database: Database, connection: Connection, corpus: str, other_corpus: str
) -> None:
    _lighthouse(database, corpus)
    _lighthouse(database, other_corpus)
    server = environment(connection)
    of = ("--corpus", corpus)
    assert "No such question" in prints("history", *of, **server)
    marked = "The *tower*\x1b[31m of ![Ardfin](http://x)"
    said = (SupportingSentence("It has a sea.", _id(corpus, "c1"), 0, 5, 1.0),)
    first = store(database, _answer(corpus, "a1 c1", text=marked, sentences=said))
    last = store(database, _answer(corpus, "b1", text="An island"))
    store(database, _answer(other_corpus, "b1", text="An island"))

    def listed(*arguments: str) -> list[str]:
        lines = prints("history", *arguments, *of, "--json", **server).splitlines()
        return [json.loads(line)["id"] for line in lines]

    assert listed() == [last, first]
    assert listed("--show", "1") == [last]
    assert listed("WHO", "towe") == [first]
    assert listed("tower", "island") == []
    shown = prints("history", *of, **server)
    assert re.search(rf"{first[:12]}  Who\?\n +The \*tower\* of .+\n.+ corpus {corpus}, ", shown)
    assert "“It has a sea.” [1]" in prints("explain", first[:9], **server)

    page = prints("history", "--export", *of, **server)
    assert page.index("tower") < page.index("island")
    assert page.startswith("## Who?\n\nThe \\*tower\\* of !\\[Ardfin\\](http://x)")
    assert "\n> It has a sea. [1]\n\n- [1]: Kettlehaven, passage 1," in page
    lines = prints("history", "--export", *of, "--json", **server).splitlines()
    assert [json.loads(line)["answer"]["trace"] for line in lines] == [first, last]

    assert prints("history", "--remove", first[:10], **server) == "Removed 1.\n"
    assert "there is no trace" in refuses("explain", first, **server)
    assert json.loads(prints("history", "--remove", last, "--json", **server)) == {"removed": 1}
    assert "takes one ID" in refuses("history", "--remove", "a", "b", code=2, **server)


@pytest.mark.parametrize("type_", ["structural", "both"])
def test_a_structural_answer_comes_back(database: Database, demo_corpus: str, type_: str) -> None:
    retriever = PassageRetriever(database, demo_corpus, agent="tfidf")
    answer = ask(
        database, demo_corpus, "Which light in Table 1 has the greatest height?", retriever,
        type_=type_,
    )  # fmt: skip
    kept = store(database, answer)
    made = explain(database, kept)
    remove(database, [kept])
    assert made.answer.structural == answer.structural
    assert _without_texts(made.answer) == _without_texts(answer)
    assert made.answer.browser == answer.browser


@pytest.mark.slow
def test_asking_writes_nothing_unless_told_to(
    database: Database, connection: Connection, corpus: str, tmp_path: Path
) -> None:
    file = write_jsonl(tmp_path / "a.jsonl", ("Ardfin Lighthouse", "Isobel Tarn designed it."))
    load(database, [file], corpus)
    connect(database, corpus, edges=["tfidf"])
    before = snapshot(database, corpus)
    command = ("ask", "Who designed Ardfin Lighthouse?", "--corpus", corpus, "--agent", "tfidf")
    assert prints(*command, "--html", "a.html", cwd=tmp_path, **environment(connection))
    html = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Isobel Tarn designed it." in BeautifulSoup(html, "html.parser").text
    assert snapshot(database, corpus) == before
    kept = environment(connection) | {"KGP_NEO4J_HISTORY": "true"}
    assert prints(*command, "--no-trace", **kept)
    assert snapshot(database, corpus) == before
    told = json.loads(prints(*command, "--json", **kept))
    (trace,) = traces(database, corpus)
    assert told["trace"] == trace.id
    assert told["queries"][-1]["parameters"] == {"trace": trace.id}
    assert explain(database, trace.id).answer.text == told["text"]
    remove(database, [trace.id])
    assert snapshot(database, corpus) == before
