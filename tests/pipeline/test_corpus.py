"""The Python API of a corpus: what is there, and objects of one's own in the pipeline's places."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from kgp_neo4j import Answer, Corpus, Database, Passage, Question, ReasoningPath, Retrieval
from kgp_neo4j.corpus.traverse.algorithm import NextEvidenceAgent
from kgp_neo4j.types.corpus import NextEvidence, Reading
from kgp_neo4j.types.errors import ConfigurationError, CorpusError

pytestmark = pytest.mark.newest

_QUESTION = "Who designed the Hesk Bridge?"


def test_nothing_is_opened_before_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:1")  # nobody listens there
    with Corpus("mine") as corpus:
        assert repr(corpus) == "Corpus('mine')"


def test_what_is_there(demo: Corpus) -> None:
    documents = demo.documents()
    assert "Hesk Bridge" in [document.title for document in documents]
    passages = demo.passages("Hesk Bridge")
    assert [passage.position for passage in passages] == list(range(len(passages)))
    assert passages[0].text.startswith("# Hesk Bridge")
    assert len(demo.passages(limit=3)) == 3
    (table, *_) = demo.tables()
    assert table.rows > 0
    assert table.columns
    assert demo.traces() == [] or demo.traces()[0].corpus == demo.name


def test_a_corpus_that_is_not_there(database: Database) -> None:
    nowhere = Corpus("nowhere at all", database=database)
    opened = nowhere.pipeline().open
    for look in (nowhere.documents, nowhere.passages, nowhere.tables, nowhere.connect, opened):
        with pytest.raises(CorpusError, match="there is no corpus named 'nowhere at all'"):
            look()
    assert database.read("inspect/corpus", corpus="nowhere at all") == []


def test_a_pipeline_is_kept_for_the_same_options(demo: Corpus) -> None:
    first = demo.pipeline(agent="tfidf")
    assert demo.pipeline(agent="tfidf") is first
    assert demo.pipeline(method="bm25") is not first
    with pytest.raises(ConfigurationError, match="retriever 'magic'"):
        demo.pipeline(method="magic")


class _Titles:
    """Answers with titles."""

    def answer(self, evidence: Answer, *, encoder: Any = None, on_text: Any = None) -> Answer:
        return replace(evidence, text=", ".join(p.title for p in evidence.passages))


class _First:
    """Retrieves the first passage of a document."""

    name, encoder = "first", None

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def retrieve(self, question: Question) -> Retrieval:
        return Retrieval(question, tuple(self._corpus.passages("Hesk Bridge")[:1]))


class _Reader:
    """Reads the passage's title."""

    def read(
        self, question: str, passages: Sequence[Passage], paths: Sequence[ReasoningPath] = ()
    ) -> Reading:
        return Reading(passages[0].title, "span", 0.5)


class _Words(NextEvidenceAgent):
    """Expects the question's words."""

    name = "words"

    def begin(self, question: str) -> NextEvidence:
        return NextEvidence(text=question)

    def next_evidence(self, question: str, paths: Any, passages: Any) -> list[NextEvidence]:
        return [NextEvidence(text=question)] * len(paths)


@pytest.mark.alone
def test_objects_of_ones_own(demo: Corpus) -> None:
    answer = demo.ask(_QUESTION, retriever=_First(demo), answerer=_Titles())
    assert (answer.text, answer.agent, len(answer.passages)) == ("Hesk Bridge", "first", 1)
    assert demo.ask(_QUESTION, retriever=_First(demo), reader=_Reader()).text == "Hesk Bridge"
    walked = demo.retrieve(_QUESTION, agent=_Words())
    named = demo.retrieve(_QUESTION, agent="tfidf")
    assert [p.id for p in walked.passages] == [p.id for p in named.passages]
    assert demo.ask(_QUESTION, agent=_Words()).agent == "words"
