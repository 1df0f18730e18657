"""Yes or no by a limit: values of one measure, sentences turned round, what is unclear."""

import pytest

from kgp_neo4j.corpus.read.choosing import Choice
from kgp_neo4j.corpus.read.limits import decide
from kgp_neo4j.corpus.read.reader import load_reader
from kgp_neo4j.types.corpus import Passage


def _decided(question: str, text: str, nothing: float = -5.0) -> str | None:
    passage = Passage("one", "", "Rules", 0, 0, len(text), text)
    read = Choice("yes", "yes", (), {"nothing": nothing}, ((1.0, 0, 0, len(text)),))
    found = decide(question, [passage], read)
    assert found is None or found.spans == (("one", 0, len(text)),)
    return found and found.kind


@pytest.mark.parametrize(
    ("question", "text", "kind"),
    [
        ("May I carry 25 kg?", "Up to 20 kg may be carried.", "no"),
        ("May I carry a crate of 20kg?", "Up to 20 kg may be carried.", "yes"),
        ("Can it carry a pallet of 500 kg?", "| Greatest load | 0.4 t |", "no"),
        ("Is a permit needed for two months?", "From the third month on one is needed.", "no"),
        ("Do I need a permit for three weeks?", "Over ten working days it is needed.", "yes"),
        ("Do I need approval for £80?", "Purchases below £50 need no approval.", "yes"),
        ("Do I need approval for thirty pounds?", "Below £50 no approval is needed.", "no"),
        ("Is a load of 500 kg allowed?", "The load must not exceed 450 kg.", "no"),
        ("Is a load of 500 kg allowed?", "Loads over 450 kg aren't allowed.", "no"),
        ("Is 9 characters accepted?", "Words of fewer than 12 characters are rejected.", "no"),
        ("May I play at 22:30?", "Music may be played until 10 pm.", "no"),
        ("Is 28 March in time?", "Complaints are lodged by 31 March.", "yes"),
        ("If I pay after 20 days, is it late?", "Invoices are late after 14 days.", "yes"),
        ("Is a pole of 2.5 m too long?", "Poles of up to 3 m fit.", "no"),
        ("Can I take two and a half hours?", "Breaks take at most two hours.", "no"),
    ],
)
def test_a_value_is_compared_with_its_limit(question: str, text: str, kind: str) -> None:
    assert _decided(question, text) == kind


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What weighs 25 kg?", "Up to 20 kg may be carried."),
        ("May I carry 25 kg?", "Up to 20 metres are allowed."),
        ("May I carry 25 kg?", "Up to 20 kg by one person, up to 30 kg by two may be carried."),
        ("May I lift 20 kg alone?", "Loads over 25 kg must be lifted by two people."),
        ("Is a basket of £65 delivered free?", "Orders above £50 ship at no charge."),
        ("Can I tell you two hours ahead?", "Say so no later than one day before."),
    ],
)
def test_what_is_unclear_is_not_decided(question: str, text: str) -> None:
    assert _decided(question, text) is None


def test_a_sentence_about_something_else_decides_nothing() -> None:
    assert _decided("May I carry 25 kg?", "Up to 20 kg may be carried.", nothing=0.5) is None


def test_the_reader_gives_it_as_probable_with_its_sentence() -> None:
    text = "Two people lift larger loads. Loads of up to 18 kg may be lifted by one person."
    passages = [Passage("one", "", "Building guide", 0, 0, len(text), text)]
    got = load_reader().read("May I lift a crate of 24 kg on my own?", passages)
    assert (got.kind, got.stated, got.confidence) == ("no", False, 0.75)
    assert got.sentences[0].text.startswith("Loads of up to 18 kg")
