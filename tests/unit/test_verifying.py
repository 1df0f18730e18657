"""Reading an answer once more: how it is laid out, cells of tables, and what is no verifier."""

import shutil
from pathlib import Path

import pytest

from kgp_neo4j.corpus.read.choosing import Choice
from kgp_neo4j.corpus.read.reader import SHIPPED, load_reader
from kgp_neo4j.corpus.read.verifying import Layout, cells_of
from kgp_neo4j.models.reader.network import VERIFIER_FILE, Network, read_judge
from kgp_neo4j.types.corpus import Passage
from kgp_neo4j.types.errors import ModelError

_PRICES = """The list is of May.

| Article | Pieces | Price per pack (GBP) |
|---|---|---|
| Boxes |  |  |
| Hat box round | 12 | 52.80 |
| Folding box small | 50 | 14.20 |
| Tape |  |  |
| Paper tape | 36 | 31.00 |
"""


def _passage(title: str, text: str, columns: tuple[str, ...] = ()) -> Passage:
    return Passage(title, "document", title, 0, 0, len(text), text, columns=columns)


@pytest.fixture(scope="module")
def judge() -> Network:
    made = read_judge(SHIPPED)
    assert made is not None
    return made


def _shown(judge: Network, ids: list[int]) -> str:
    return str(judge.tokenizer.decode(ids, skip_special_tokens=False))


def test_an_answer_is_marked_in_its_passage_beside_other_sentences(judge: Network) -> None:
    text = "The Hesk Bridge was designed by Yusuf Arden. It is of steel."
    passages = [_passage("Hesk Bridge", text), _passage("Halse", "Halse has a bridge of 1911.")]
    start = text.index("Yusuf")
    sentences = ((2.0, 0, 0, 44), (1.0, 1, 0, 27), (0.5, 0, 45, 60))
    spans = (("Hesk Bridge", start, start + 11),)
    choice = Choice("span", "Yusuf Arden", spans, sentences=sentences)
    layout = Layout(judge.tokenizer, "Who designed the Hesk Bridge?", passages)
    ids, types = layout.of(choice)
    assert _shown(judge, ids) == (
        "[CLS] who designed the hesk bridge? [SEP] yusuf arden [SEP] hesk bridge : the hesk bridge "
        "was designed by [unused1] yusuf arden [unused2]. it is of steel. [SEP] halse : halse has "
        "a bridge of 1911. [SEP]"
    )
    assert len(ids) == len(types)
    assert types.index(1) == len(judge.tokenizer.encode("Who designed the Hesk Bridge?").ids) + 3


def test_what_is_laid_out_is_bounded(judge: Network) -> None:
    long = "The ferry of Halse leaves at nine. " * 200
    passages = [_passage(f"Ferry {at} " * 30, long) for at in range(6)]
    sentences = tuple((1.0, at, 0, 3000) for at in range(6))
    choice = Choice("span", long[:900], ((passages[0].id, 3000, 3900),), sentences=sentences)
    ids, types = Layout(judge.tokenizer, "When does it leave? " * 60, passages).of(choice)
    assert len(ids) == len(types) <= 320


def test_cells_of_rows_that_share_the_rarest_words_may_answer(judge: Network) -> None:
    question = "What does a pack of round hat boxes cost?"
    prices = _passage("Prices", _PRICES)
    cells = cells_of(question, [_passage("Halse", "Halse has no hat boxes."), prices])
    assert [cell.text for cell in cells[:2]] == ["12", "52.80"]  # the name only says what is asked
    assert all(prices.text[a:b] == cell.text for cell in cells for _, a, b in cell.spans)
    ids, _ = Layout(judge.tokenizer, question, [prices]).of(cells[1])
    row = "prices : boxes ; article : hat box round ; pieces : 12 ; price per pack ( gbp ) :"
    assert f"[SEP] {row} [unused1] 52. 80 [unused2] ; [SEP]" in _shown(judge, ids)
    assert not cells_of("Who designed the Hesk Bridge?", [prices])


def test_a_plain_question_is_answered_by_a_cell_whose_table_it_does_not_name() -> None:
    reader = load_reader()
    passages = [_passage("Terms", "A pack is delivered within 14 days."), _passage("P", _PRICES)]
    got = reader.read("What does a pack of round hat boxes cost?", passages)
    assert (got.text, got.kind) == ("52.80", "span")
    wide = _passage("Wide", "| Ferry | 7:40 |\n| Mail boat | 9:15 |", ("Ship", "Departure"))
    assert reader.read("When is the departure of the mail boat?", [wide]).text == "9:15"


def test_a_folder_without_a_verifier_is_a_reader_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    for name in ("reader.json", "reader.safetensors"):
        shutil.copy(SHIPPED / name, tmp_path)
    assert read_judge(tmp_path) is None
    passages = [_passage("Hesk Bridge", "The Hesk Bridge was designed by Yusuf Arden in 1911.")]
    got = load_reader(str(tmp_path)).read("Who designed the Hesk Bridge?", passages)
    assert got.text == "Yusuf Arden"
    (tmp_path / VERIFIER_FILE).write_bytes(b"not one")
    with pytest.raises(ModelError, match="verifier cannot be read") as caught:
        read_judge(tmp_path)
    assert str(tmp_path) in str(caught.value)
