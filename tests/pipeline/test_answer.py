"""Answers that can be checked: sentences, citations, the link into Browser."""

import dataclasses
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from asking import ask
from commands import environment, prints
from graphs import load_records, rows, write_file

from kgp_neo4j import Answer, Database, KgpError, Question
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.demo import QUESTION, QUESTIONS, SETTINGS
from kgp_neo4j.environment.folders import Connection
from kgp_neo4j.graphdb.database import browser_link
from kgp_neo4j.types.errors import ConfigurationError

_HERE = Connection(
    "bolt://127.0.0.1:7687", "neo4j", "secret & # pass", browser="http://127.0.0.1:7474"
)
_IDS = ["0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"]


def test_a_section_is_found_by_its_heading(database: Database, corpus: str, tmp_path: Path) -> None:
    text = (
        "# Survey of the coast\n\nWhat was counted and how, in two parts.\n\n"
        f"## Weather\n\n{'Every boat wrote down wind and waves at noon. ' * 30}\n\n"
        f"## Seabirds\n\n{'Two people looked through a telescope for an hour. ' * 30}\n"
    )
    load(database, [write_file(tmp_path / "survey.md", text)], corpus)
    connect(database, corpus)
    line = ("ask", "What is told of seabirds?", "--corpus", corpus)
    first = json.loads(prints(*line, "--json", **environment(database.connection)))["passages"][0]
    assert (first["title"], first["section"]) == ("Survey of the coast", "Seabirds")
    assert "telescope" in first["text"]
    found = PassageRetriever(database, corpus).retrieve(Question("", "seabirds"))
    assert {p.section for p in found.passages[:2]} == {"Seabirds"}
    shown = prints(*line, **environment(database.connection))
    assert "[1] Survey of the coast > Seabirds  " in shown


def _checked(database: Database, answer: Answer) -> None:
    """Check an answer against the graph, as a reader would."""
    cited = {passage.id: passage for passage in answer.passages}
    assert len(cited) == len(answer.passages)
    for sentence in answer.sentences:
        passage = cited[sentence.passage]
        assert 0 <= sentence.start < sentence.end <= len(passage.text)
        assert passage.text[sentence.start : sentence.end].strip() == sentence.text
        assert sentence.text
    rest = list(answer.sentences)
    if answer.reading is None:
        # Why and how: the best sentence answers.
        assert answer.by == "sentence"
        assert answer.text == rest.pop(0).text
    elif answer.reading.kind == "none":
        assert (answer.text, answer.reading.spans) == ("", ())
    else:
        assert answer.text == answer.reading.text
        # The sentence that holds the reader's answer leads; the others follow, best first.
        holding, span = rest.pop(0), answer.reading.spans[0]
        assert holding.passage == span.passage
        assert holding.start <= span.start < holding.end
        if answer.reading.kind == "span":
            assert cited[span.passage].text[span.start : span.end] == answer.text
    scores = [sentence.score for sentence in rest]
    assert scores == sorted(scores, reverse=True)
    stored = rows(
        database,
        "MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage) WHERE p.id IN $ids "
        "RETURN p.id AS id, p.text AS text, d.id AS document, d.title AS title, "
        "d.source AS source, p.corpus AS corpus, p.start AS start, p.end AS end",
        ids=list(cited),
    )
    fields = ("text", "document", "title", "source", "start", "end")
    assert {row["corpus"] for row in stored} == {answer.corpus}
    assert {row["id"]: [row[name] for name in fields] for row in stored} == {
        passage.id: [getattr(passage, name) for name in fields] for passage in answer.passages
    }
    assert {path.last for path in answer.paths} == set(cited)
    assert all(path.steps[0].edge == "seed" for path in answer.paths)


@pytest.mark.parametrize("agent", ["tfidf", "knn"])
@pytest.mark.parametrize("question", [QUESTION, *QUESTIONS])
def test_checked_answers(database: Database, demo_corpus: str, agent: str, question: str) -> None:
    retriever = PassageRetriever(database, demo_corpus, agent=agent, settings=SETTINGS)
    answer = ask(database, retriever.corpus, question, retriever)
    assert (answer.question, answer.corpus, answer.agent) == (question, demo_corpus, agent)
    assert 1 <= len(answer.sentences) <= 3
    assert answer.by == ("sentence" if answer.reading is None else "reader")
    assert answer.seconds > 0
    _checked(database, answer)
    assert json.loads(json.dumps(dataclasses.asdict(answer), allow_nan=False))


def test_an_empty_question_and_nothing_found(database: Database, demo_corpus: str) -> None:
    retriever = PassageRetriever(database, demo_corpus, agent="tfidf")
    for empty in ("", "\n\t", "\u3000"):
        with pytest.raises(ConfigurationError, match="the question is empty"):
            ask(database, demo_corpus, empty, retriever)
    for question in ("zebra quagga", "?!", "the", "\u200b"):
        answer = ask(database, demo_corpus, question, retriever)
        assert (answer.text, answer.sentences, answer.passages, answer.paths) == ("", (), (), ())
        assert answer.browser is None


def test_what_is_not_sure_is_not_stated(database: Database, demo_corpus: str) -> None:
    retriever = PassageRetriever(database, demo_corpus, settings=SETTINGS)
    born = "Where was the designer of Ardfin Lighthouse born?"
    sure = ask(database, demo_corpus, born, retriever)
    assert (sure.text, sure.stated) == ("Kettlehaven", True)
    foreign = ask(database, demo_corpus, "Which team won the football cup in 1998?", retriever)
    assert not foreign.stated
    assert foreign.sentences
    # A sentence answers why and how, where there is one.
    why = "Why did the designer of the Hesk Bridge become an engineer?"
    reason = ask(database, demo_corpus, why, retriever)
    assert (reason.tier, reason.reading and reason.reading.kind) == ("probable", "sentence")
    assert "in order to visit his grandmother" in reason.text
    foreign = ask(database, demo_corpus, "Why did Brazil lose the football cup?", retriever)
    assert (foreign.text, foreign.reading and foreign.reading.kind) == ("", "none")
    korean = ask(database, demo_corpus, "헤스크 다리를 설계한 사람은 누구인가?", retriever)
    assert (korean.text, korean.stated, korean.sentences) == ("", False, ())
    said = "The offline reader knows English; no sentence has words of the question."
    assert said in korean.notes


def test_names_and_parts_of_a_question(database: Database, corpus: str, tmp_path: Path) -> None:
    hosts = {"14B": "Ida Berg", "15B": "Nils Aune", "16A": "Lea Krog"}
    said = "Apartment {0} is let. Its tenant is {1}."
    records = [(f"Apartment {n}", said.format(n, name)) for n, name in hosts.items()]
    records += [
        ("The Foss dam", "The Foss dam was built in 1961."),
        ("The Elv mill", "The Elv mill was built in 1988. Its miller is Karin Dahl."),
    ]
    load_records(database, corpus, tmp_path, *records)
    connect(database, corpus)
    retriever = PassageRetriever(database, corpus)
    for number, name in hosts.items():
        answer = ask(database, corpus, f"Who is the tenant of apartment {number}?", retriever)
        assert answer.text == name
        _checked(database, answer)
    for question, missing, near in (
        ("Who is the tenant of apartment 17B?", "apartment 17B", "15B"),
        ("When was Karin Dalh born?", "Karin Dalh", "Karin Dahl"),
    ):
        answer = ask(database, corpus, question, retriever)
        assert (answer.text, answer.summary) == ("", f"No document mentions {missing}")
        assert any(note.startswith("Did you mean") and near in note for note in answer.notes)
    asked = "Who is the miller of the Elv mill and when was the Foss dam built?"
    both = ask(database, corpus, asked, retriever)
    assert both.text == "Karin Dahl; 1961"
    assert len(both.shown_sentences) == len(both.parts) == len(both.rests_on) == 2
    asked = "How many years after the Foss dam was the Elv mill built?"
    assert ask(database, corpus, asked, retriever).text == "27 years"
    about = ask(database, corpus, "What are these texts about?", retriever)
    assert (about.tier, len(about.sentences)) == ("evidence", 5)
    assert about.said == "; ".join(passage.name for passage in about.passages[:5])


def test_link() -> None:
    link = browser_link(_HERE, _IDS)
    split = urlsplit(link)
    assert (split.scheme, split.netloc, split.path) == ("http", "127.0.0.1:7474", "/browser/")
    given = {name: values[0] for name, values in parse_qs(split.query).items()}
    assert given["dbms"] == "bolt://neo4j@127.0.0.1:7687"
    assert given["db"] == "neo4j"
    assert given["cmd"] == "edit"
    assert given["arg"] == (
        f"CALL custom.kgp.show(['{_IDS[0]}', '{_IDS[1]}']) "
        "YIELD node, edge, neighbour RETURN node, edge, neighbour"
    )
    # Browser cuts a query at these, even when they are encoded.
    assert not re.search("[&#]", given["arg"])
    assert split.fragment == ""
    assert "secret" not in link
    assert "secret" not in unquote(link)


@pytest.mark.parametrize("id_", ["a'", "a b", "", "1') DETACH DELETE n //", "é"])
def test_an_id_that_is_no_hash_is_refused(id_: str) -> None:
    with pytest.raises(KgpError, match="is not a hash"):
        browser_link(_HERE, [id_])
