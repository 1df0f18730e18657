"""The learned agent: its traversal, its reasons, its training, on the demo's documents."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import environment, prints, refuses
from graphs import write_file, write_lines
from questions import hotpot

from kgp_neo4j import AgentSettings, Corpus, Database, Question, Retrieval, TraversalSettings
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.load.loading import load
from kgp_neo4j.corpus.retrieve import PassageRetriever
from kgp_neo4j.corpus.traverse.agents.learned import LearnedAgent
from kgp_neo4j.demo import QUESTION, prepare
from kgp_neo4j.train.scorer import train_scorer
from kgp_neo4j.types.errors import ConfigurationError, CorpusError, InputError

pytestmark = pytest.mark.newest

#: Question, and the titles of the documents that answer it together.
_QUESTIONS = [
    (QUESTION, ["Hesk Bridge", "Yusuf Arden"]),
    ("From whom did the designer of Ardfin Lighthouse learn her trade?",
     ["Ardfin Lighthouse", "Isobel Tarn"]),
    ("Who founded the yard that built the ferry replaced by the Hesk Bridge?",
     ["Sula Grey", "Lindqvist Yard"]),
    ("Which animals live in the quarry of the blocks of the Halse Breakwater?",
     ["Halse Breakwater", "Ruan Quarry"]),
]  # fmt: skip


@pytest.fixture(scope="session")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The questions as a training file in HotpotQA's form, each a few times in other words."""
    rows = [
        hotpot(f"q{turn}-{at}", opening + question, "", titles, {t: [f"{t}."] for t in titles})
        for turn, opening in enumerate(("", "Tell me: ", "I wonder: "))
        for at, (question, titles) in enumerate(_QUESTIONS)
    ]
    return write_lines(tmp_path_factory.mktemp("questions") / "train.jsonl", *rows)


_HOUSE = """# The house

Pepper sleeps on the ironing and must not go out after dark. Tell her of allergies a day before.
The fuse box is behind the picture in the hall. The cat is fed each day. Post comes at eleven.
"""


def _retrieve(
    database: Database, corpus: str, question: str = QUESTION, **settings: object
) -> Retrieval:
    made = replace(TraversalSettings(seeds=2, budget=8), **settings)  # type: ignore[arg-type]
    return PassageRetriever(database, corpus, settings=made).retrieve(Question("", question))


def test_a_corpus_without_entities_is_walked_by_similarity(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    path = write_file(tmp_path / "a.txt", "The harbour of Kettlehaven is deep.")
    load(database, [str(path)], corpus)
    connect(database, corpus, edges=["tfidf", "knn-st"])
    assert PassageRetriever(database, corpus).name == "knn"
    with pytest.raises(CorpusError, match="no entities graph"):
        PassageRetriever(database, corpus, agent="learned").open()
    connect(database, corpus, edges=["entity"])
    assert PassageRetriever(database, corpus).name == "learned"


@pytest.mark.parametrize(("question", "titles"), _QUESTIONS)
def test_it_finds_both_documents(
    database: Database, demo_corpus: str, question: str, titles: list[str]
) -> None:
    found = _retrieve(database, demo_corpus, question)
    assert set(titles) <= {passage.title for passage in found.passages[:5]}


def test_paths_lead_over_named_edges_and_say_why(database: Database, demo_corpus: str) -> None:
    found = _retrieve(database, demo_corpus)
    title = {passage.id: passage.title for passage in found.passages}
    path = next(p for p in found.paths if title[p.last] == "Yusuf Arden")
    assert [title[step.passage] for step in path.steps] == ["Hesk Bridge", "Yusuf Arden"]
    assert path.steps[0].edge == "seed"
    assert path.steps[0].reason
    assert path.steps[1].edge in ("SHARES_ENTITY", "SHARES_KEYWORD")
    assert "yusuf arden" in path.steps[1].reason.lower()
    assert path.steps[1].inherited > 0  # Hesk Bridge names him


def test_a_sentence_in_other_words_is_shown_first(
    database: Database, corpus: str, tmp_path: Path
) -> None:
    write_file(tmp_path / "house.md", _HOUSE)
    load(database, [tmp_path], corpus)
    connect(database, corpus)
    answer = Corpus(corpus, database=database).ask("The lights went out! Where do I flip them on?")
    assert answer.sentences[0].text == "The fuse box is behind the picture in the hall."


def test_what_came_since_is_found_too(database: Database, corpus: str, tmp_path: Path) -> None:
    prepare(database, corpus)
    text = "# The Brack Pump\n\nThe Brack Pump was built by Ilse Marrow on the island of Sund."
    load(database, [write_file(tmp_path / "pump.md", text)], corpus)
    # It has no vector and no edges yet; the search by words has it.
    found = _retrieve(database, corpus, "Who built the Brack Pump?")
    assert found.passages[0].title == "The Brack Pump"
    assert len(found.notes) == 1
    # Others are found as before.
    titles = {passage.title for passage in _retrieve(database, corpus).passages[:2]}
    assert titles == {"Hesk Bridge", "Yusuf Arden"}


@pytest.mark.parametrize("edge", ["SHARES_ENTITY", "SHARES_KEYWORD", "SIMILAR_ST"])
def test_only_edges_asked_for_are_walked(database: Database, demo_corpus: str, edge: str) -> None:
    found = _retrieve(database, demo_corpus, edges=(edge,), budget=20)
    # What two passages mention alike is a signal whatever the edges.
    walked = {step.edge for path in found.paths for step in path.steps[1:]}
    assert walked <= {edge, "MENTIONS"}


@pytest.mark.slow
@pytest.mark.train
def test_training_writes_a_scorer_that_asks(
    database: Database, demo_corpus: str, questions: Path, tmp_path: Path
) -> None:
    server = environment(database.connection)
    out = tmp_path / "scorer"
    arguments = ("--set", f"{demo_corpus}={questions}", "--out", str(out))
    report = json.loads(prints("train", "scorer", *arguments, "--json", **server))
    assert report["questions"] == {demo_corpus: 12}
    assert report["left_out"] == {demo_corpus: 0}
    assert 0 <= report["reached"][demo_corpus] <= 1
    assert demo_corpus in (out / "README.md").read_text(encoding="utf-8")
    line = ("ask", QUESTION, "--corpus", demo_corpus, "--agent", "learned", "--model", str(out))
    asked = json.loads(prints(*line, "--json", **server))
    assert asked["agent"] == "learned"
    again = refuses("train", "scorer", *arguments, "--seed", "1", **server)
    assert "other settings" in again
    # It puts its own questions right.
    agent = AgentSettings(model=str(out))
    retriever = PassageRetriever(database, demo_corpus, agent="learned", agent_settings=agent)
    assert isinstance(retriever.open(), LearnedAgent)
    for question, titles in _QUESTIONS:
        found = retriever.retrieve(Question("", question))
        assert set(titles) <= {passage.title for passage in found.passages[:3]}


@pytest.mark.train
def test_bad_training_input_is_told(
    database: Database, demo_corpus: str, corpus: str, questions: Path, tmp_path: Path
) -> None:
    with pytest.raises(CorpusError, match="not wholly connected"):
        train_scorer(database, {corpus: questions}, tmp_path / "a")
    with pytest.raises(InputError):
        train_scorer(database, {demo_corpus: tmp_path / "none"}, tmp_path / "b")
    row = json.loads(questions.read_text(encoding="utf-8").splitlines()[0])
    row["supporting_facts"] = [["Nowhere", 0]]
    row["context"] = [["Nowhere", ["Nowhere."]]]
    other = write_lines(tmp_path / "other.jsonl", row)
    with pytest.raises(ConfigurationError, match="no question has its supporting facts"):
        train_scorer(database, {demo_corpus: other}, tmp_path / "c")
