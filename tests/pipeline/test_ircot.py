"""IRCoT: each thought fetches, the turns are bounded, and the answer comes by the same prompt."""

import pytest
from graphs import load_records
from scripted_model import Scripted

from kgp_neo4j import Database, Question, TraversalSettings
from kgp_neo4j.corpus.answer.check import MARK
from kgp_neo4j.corpus.connect.graphs import connect
from kgp_neo4j.corpus.pipeline import make_pipeline
from kgp_neo4j.corpus.retrieve import Ircot, PassageRetriever
from kgp_neo4j.types.corpus import Reply
from kgp_neo4j.types.errors import ConfigurationError

_QUESTION = "Over what shop did the designer of the Hesk Bridge grow up?"
_RECORDS = (
    ("Hesk Bridge", "The Hesk Bridge replaced the ferry. Isobel Tarn designed the Hesk Bridge."),
    ("Isobel Tarn", "Isobel Tarn was an engineer. Her childhood was spent above a bakery."),
    *((f"Rock {n}", f"Rock {n} is a skerry of granite with {n} seals.") for n in range(12)),
)
_THOUGHTS = (
    "Isobel Tarn designed the Hesk Bridge [1].",
    "Isobel Tarn spent her childhood above a bakery. And more.",
    "So the answer is: a bakery.",
)
_LAST = "Answer: a bakery\nBecause: Her childhood was spent above a bakery."


@pytest.fixture(scope="module")
def sound(database: Database, shared_corpus: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    load_records(database, shared_corpus, tmp_path_factory.mktemp("ircot"), *_RECORDS)
    connect(database, shared_corpus, edges=["tfidf"])
    return shared_corpus


def _retriever(database: Database, corpus: str, budget: int = 30) -> PassageRetriever:
    settings = TraversalSettings(budget=budget)
    return PassageRetriever(database, corpus, method="bm25", settings=settings)


def test_each_thought_is_the_next_query(database: Database, sound: str) -> None:
    model = Scripted(_THOUGHTS)
    ircot = Ircot(_retriever(database, sound), model, each=1)
    found = ircot.retrieve(Question("", _QUESTION))
    assert [p.title for p in found.passages] == ["Hesk Bridge", "Isobel Tarn"]
    assert [path.last for path in found.paths] == [p.id for p in found.passages]
    assert [path.steps[0].reason for path in found.paths] == ["bm25", "thought 1: bm25"]
    # Each prompt has the passages and the thoughts so far.
    assert "(none)" in model.prompts[0]
    assert "Passage [2]" not in model.prompts[0]
    assert "- Isobel Tarn designed the Hesk Bridge." in model.prompts[1]
    assert "Passage [2], of 'Isobel Tarn'" in model.prompts[1]
    assert "- Isobel Tarn spent her childhood above a bakery.\n\n" in model.prompts[2]


@pytest.mark.parametrize("turns", [1, 2, 4])
def test_the_turns_are_bounded(database: Database, sound: str, turns: int) -> None:
    model = Scripted(lambda prompt: f"Rock {prompt.count('- ')} has seals.")
    ircot = Ircot(_retriever(database, sound), model, turns=turns)
    ircot.retrieve(Question("", _QUESTION))
    assert len(model.prompts) == turns


@pytest.mark.parametrize(
    "reply", ["", "  \n", Reply("no", "refused"), Reply("", "empty"), "\x1b[0m", "<think>x"]
)
def test_no_thought_ends_it(database: Database, sound: str, reply: str | Reply) -> None:
    model = Scripted([reply])
    ircot = Ircot(_retriever(database, sound), model)
    found = ircot.retrieve(Question("", _QUESTION))
    assert found.passages
    assert len(model.prompts) == 1


def test_the_answer_comes_by_the_same_prompt(database: Database, sound: str) -> None:
    model = Scripted([*_THOUGHTS, _LAST])

    answer = make_pipeline(database, sound, method="ircot", model=model).ask(_QUESTION)
    assert (answer.agent, answer.by) == ("ircot", "model")
    assert answer.settings["method"] == "ircot"
    assert MARK not in answer.text
    assert answer.text.startswith("a bakery [")
    assert "Because" in model.prompts[-1]
    assert len(model.prompts) == 4
    # The thoughts are counted too.
    assert (answer.usage.calls, answer.usage.model) == (4, "scripted")


def test_it_needs_a_model(database: Database, sound: str) -> None:
    with pytest.raises(ConfigurationError, match="IRCoT reasons with a language model"):
        make_pipeline(database, sound, method="ircot")
