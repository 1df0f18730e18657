"""Text that looks like code: stored and answered as it is, never run, never an error."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from asking import ask
from graphs import rows, stored_texts, write_jsonl

from kgp_neo4j import Database, Question, TraversalSettings
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.load.stored import corpora, delete_corpus, delete_document
from kgp_neo4j.corpus.retrieve import METHODS, PassageRetriever
from kgp_neo4j.graphdb.database import browser_link
from kgp_neo4j.text.words import words
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, DatabaseError

_HOSTILE = {
    "cypher": "Robert'}) MATCH (n) DETACH DELETE n //",
    "create": "x' CREATE (:Injected {by: 'text'}) WITH 1 AS one RETURN 'y",
    "call": "CALL { MATCH (n) DETACH DELETE n } IN TRANSACTIONS; CALL custom.kgp.help()",
    "quotes": "\"double\" 'single' `back` ``twice`` \\' \\\" \\\\",
    "escapes": "\\u0027 OR true \\n \\x00 %27 &#39; &amp; &lt;b&gt;",
    "braces": "{ ( [ ${corpus} {{x}} $corpus $0 %s {0} ] ) }}",
    "lucene": "+must -not && || ! ^2 ~0.8 wild* w?ld title:x AND OR NOT /re.*/ [a TO b} (open \\",
    "scope": "+scope:c0 scope:* *:* -title:tower",
    "operators": "AND OR NOT",
    "star": "*",
    "quote": '"',
    "backslash": "\\",
    "zero width": "zero\u200bwidth\u200djoin\ufeffed\u2060 so\u00adft \u202eright to left\u202c",
    "scripts": "日本語の塔 中文塔楼 برج עברית हिन्दी Πύργος 한국어 😀👨‍👩‍👧 𝔘𝔫𝔦",
    "control": "a\x00b\x01c\x1b[31mred\x7f tab\tline\nreturn\rend",
    "html": "<script>alert('x')</script><!-- --> <b>bold",
    "long word": "x" * 4000,
    "combining": "Z̷̡͉a̸͚l̵g̶o̴ e\u0301 ﬁ Ⅷ ½ İ ß",
    "stop words": "the and of it",
    "separators": "a\u2028b\u2029c\u0085d\x0be\x0cf",
}


@pytest.fixture
def canary(database: Database) -> Iterator[None]:
    """A node with an edge that is there before and after, and none that a text has made."""
    rows(database, "CREATE (:Canary)-[:SINGS_TO]->(:Canary)")
    yield
    injected = rows(database, "MATCH (n:Injected) DETACH DELETE n RETURN count(*) AS n")
    edges = rows(database, "MATCH (:Canary)-[r]-(:Canary) RETURN count(DISTINCT r) AS n")
    kept = rows(database, "MATCH (n:Canary) DETACH DELETE n RETURN count(*) AS n")
    assert (injected, edges, kept) == ([{"n": 0}], [{"n": 1}], [{"n": 2}])


@pytest.mark.usefixtures("canary")
def test_hostile_text_everywhere(database: Database, corpus: str, tmp_path: Path) -> None:
    """As title, text and question, through every stage."""
    records = [(f"{text[:60]} {kind}", f"{text} The first tower is built of stone.")
               for kind, text in _HOSTILE.items()]  # fmt: skip
    records += [(text, f"The {kind} tower looks at {text}.") for kind, text in _HOSTILE.items()]
    records += [(f"Third Tower {kind}", text) for kind, text in _HOSTILE.items()]
    account = load(database, [write_jsonl(tmp_path / "records.jsonl", *records)], corpus)
    assert account.documents == len(records)
    assert sorted(stored_texts(database, corpus).values()) == sorted(t for _, t in records)
    assert connect(database, corpus).embedded == len(records)
    for text in _HOSTILE.values():
        _ask_everything(database, corpus, text)
        _ask_everything(database, corpus, f"Which tower has to do with {text}?", ("knn",), ())
    titles = {row["title"] for row in database.read("inspect/documents", corpus=corpus)}
    there = [text for text in _HOSTILE.values() if text in titles]
    assert len(there) > len(_HOSTILE) / 2
    for title in there:
        assert delete_document(database, corpus, title)


@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE)
@pytest.mark.usefixtures("canary")
def test_a_corpus_of_a_hostile_name(database: Database, tmp_path: Path, text: str) -> None:
    corpus = text[:200]
    path = write_jsonl(tmp_path / "records.jsonl", (text, f"{text} The tower is built of stone."))
    try:
        assert load(database, [path], corpus).documents == 1
        assert corpus in [found.name for found in corpora(database)]
        _call_procedures(database, corpus, text)
    finally:
        delete_corpus(database, corpus)
    assert corpus not in [found.name for found in corpora(database)]
    left = rows(database, "MATCH (n) WHERE $c IN [n.corpus, n.name] RETURN n", c=corpus)
    assert left == []
    # A name that is not there, or not any more.
    gone = PassageRetriever(database, text).open
    for use in (gone, lambda: connect(database, text), lambda: delete_corpus(database, text)):
        with pytest.raises(CorpusError, match="there is no corpus"):
            use()


def _ask_everything(
    database: Database,
    corpus: str,
    question: str,
    agents: Sequence[str] = ("tfidf", "knn"),
    methods: Sequence[str] = METHODS,
) -> None:
    for agent in agents:
        answer = ask(database, corpus, question, PassageRetriever(database, corpus, agent=agent))
        assert answer.question == question
        assert answer.corpus == corpus
        json.dumps(dataclasses.asdict(answer), allow_nan=False)
        if agent == "knn" or "tower" in words(question):
            assert answer.sentences
        here = dataclasses.replace(database.connection, browser="http://127.0.0.1:7474")
        link = browser_link(here, [passage.id for passage in answer.passages])
        assert (link is None) == (not answer.passages)
        # The link holds ids alone, nothing of any text.
        assert link is None or "tower" not in link
    for method in methods:
        found = PassageRetriever(database, corpus, method=method).retrieve(Question("", question))
        assert len(found.passages) <= TraversalSettings().budget
    _call_procedures(database, corpus, question)


def _call_procedures(database: Database, corpus: str, question: str) -> None:
    called = rows(
        database,
        "CALL custom.kgp.retrieve($question, $corpus) YIELD passage RETURN passage.corpus AS c",
        question=question,
        corpus=corpus,
    )
    assert {row["c"] for row in called} <= {corpus}
    titled = database.read("traverse/named_titles", question=question, corpus=corpus)
    assert {row["passage"]["corpus"] for row in titled} <= {corpus}


def test_half_a_character_is_refused(database: Database, corpus: str, tmp_path: Path) -> None:
    """Half a surrogate pair cannot be sent to any database."""
    path = write_jsonl(tmp_path / "records.jsonl", ("Tower", "A tower."))
    with pytest.raises(ConfigurationError, match="not valid Unicode"):
        load(database, [path], "half \ud83d")
    load(database, [path], corpus)
    connect(database, corpus, edges=["tfidf"])
    with pytest.raises(ConfigurationError, match="not valid Unicode"):
        ask(database, corpus, "Which tower \ud83d?", PassageRetriever(database, corpus))
    with pytest.raises(DatabaseError, match="half a character"):
        PassageRetriever(database, "half \ud83d").open()


@pytest.mark.parametrize(
    ("sentence", "times"),
    [("Where was the designer of the Ardfin Lighthouse born? ", 180), ("Ardfin 1.17B-é ", 660)],
)
def test_a_long_question(database: Database, demo_corpus: str, sentence: str, times: int) -> None:
    question = sentence * times
    for agent in ("tfidf", "knn"):
        retriever = PassageRetriever(database, demo_corpus, agent=agent)
        answer = ask(database, demo_corpus, question, retriever)
        assert answer.passages
        assert answer.question == question
