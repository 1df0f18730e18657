"""The offline reader: what it reads, compares and reads once more, how sure it is."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from kgp_neo4j.corpus.pipeline import ReaderAnswerer
from kgp_neo4j.corpus.read.choosing import Choice
from kgp_neo4j.corpus.read.parts import decide
from kgp_neo4j.corpus.read.reader import (
    SHIPPED,
    Layout,
    OfflineReader,
    _supporting,
    cells_of,
    load_reader,
    passages_to_read,
    plain_rows,
)
from kgp_neo4j.models.reader.network import KINDS, VERIFIER_FILE, Network, read_judge
from kgp_neo4j.show.pages import answer_page
from kgp_neo4j.show.trees import paths_mermaid
from kgp_neo4j.text.safe import to_json
from kgp_neo4j.text.values import compare
from kgp_neo4j.train.reader_calibration import calibration_error, is_right
from kgp_neo4j.types.corpus import Answer, Passage, ReasoningPath, Span, Step
from kgp_neo4j.types.errors import ModelError


def _passage(title: str, text: str, columns: tuple[str, ...] = ()) -> Passage:
    return Passage(title, "document", title, 0, 0, len(text), text, columns=columns)


_FILMS = [
    _passage("Low Tide", "Low Tide is a 1948 British drama film directed by Ada Brandt."),
    _passage("The Ropewalk", "The Ropewalk is a 1931 film written and directed by Piet Vos."),
    _passage("Ada Brandt", "Ada Brandt (3 May 1910 – 12 June 1991) was an English film director."),
    _passage(
        "Piet Vos", "Piet Vos (born 8 August 1899 in Leiden; died 1940) was a Dutch director."
    ),
]


@pytest.fixture(scope="module")
def reader() -> OfflineReader:
    return load_reader()


def test_it_finds_a_span_and_where_it_stands(reader: OfflineReader) -> None:
    passages = [
        _passage("Hesk Bridge", "The Hesk Bridge was designed by Yusuf Arden and opened in 1911."),
        _passage("Halse", "Halse is a small island with a harbour and a ropewalk."),
    ]
    found = reader.read("Who designed the Hesk Bridge?", passages)
    assert (found.kind, found.text) == ("span", "Yusuf Arden")
    [span] = found.spans
    assert span.passage == "Hesk Bridge"
    assert passages[0].text[span.start : span.end] == "Yusuf Arden"
    assert 0 < found.confidence < 1
    assert reader.read("Who designed the Hesk Bridge?", passages) == found


@pytest.mark.parametrize(
    ("calibration", "tier", "summary"),
    [
        ({"stated": 0.0}, "stated", "Yusuf Arden"),
        ({"stated": 1.0, "bias": 2.0, "weights": {}}, "probable", "Yusuf Arden (probably, 88 %)"),
        ({"stated": 1.0, "bias": -1.0, "weights": {}}, "evidence", "No sure answer (perhaps"),
    ],
)
def test_an_answer_is_given_by_how_sure_it_is(
    reader: OfflineReader, calibration: dict[str, Any], tier: str, summary: str
) -> None:
    calibration = {**reader.card["calibration"], "threshold": 0.0, **calibration}
    strict = OfflineReader(reader._network, {**reader.card, "calibration": calibration})
    question = "Who designed the Hesk Bridge?"
    passages = (_passage("Hesk Bridge", "The Hesk Bridge was designed by Yusuf Arden in 1911."),)
    asked = Answer(question, "c", "a", passages=passages)
    made = ReaderAnswerer(strict).answer(asked)
    assert (made.text, made.tier) == ("Yusuf Arden", tier)
    assert json.loads(to_json(made))["tier"] == tier
    assert made.summary.startswith(summary)
    assert summary in made._repr_html_()
    assert summary.split(" (")[0] in paths_mermaid(made)
    page = answer_page(made)
    assert ("<b>Yusuf Arden</b>" in page) is (tier != "evidence")
    assert ("<small>probably, 88 %</small>" in page) is (tier == "probable")
    assert ("<h2>The sentences that say most</h2>" in page) is (tier == "evidence")
    assert 'by <mark class="a">Yusuf Arden</mark> in 1911.' in page
    assert asked.summary == "Not in these documents"
    with pytest.raises(ValueError, match="unknown signals no such"):
        OfflineReader(reader._network, {"calibration": {**calibration, "weights": {"no such": 1}}})


@pytest.mark.parametrize(
    ("judged", "match", "kind"),
    [(0.95, 0.8, "span"), (0.02, 0.8, "span"), (0.02, 0.1, "none"), (None, 0.1, "span")],
    ids=str,
)
def test_passages_that_the_agent_takes_for_foreign_answer_nothing(
    reader: OfflineReader, judged: float | None, match: float, kind: str
) -> None:
    passage = _passage("Hesk Bridge", "The Hesk Bridge was designed by Yusuf Arden in 1911.")
    path = ReasoningPath((Step(passage.id, "seed", match, judged=judged),))
    assert reader.read("Who designed the Hesk Bridge?", [passage], [path]).kind == kind


def test_rows_are_read_with_the_names_of_their_columns() -> None:
    table = (
        "Before.\n| Vessel | Built |\n|---|:--|\n| MV Torsa | 1998 |\n| a \\| b |\nAfter: it\nOn"
    )
    said, places = plain_rows(table)
    assert said == "Before.\nVessel: MV Torsa; Built: 1998.\nVessel: a \\| b.\nAfter: it\nOn"
    assert all(at < 0 or table[at] == letter for at, letter in zip(places, said, strict=True))
    # A passage that begins within a table has the names from it.
    said, _ = plain_rows("| MV Brenna | 2007 |", ["Vessel", "Built"])
    assert said == "Vessel: MV Brenna; Built: 2007.\n"
    assert plain_rows("| x |", ())[0] == "x.\n"
    # A wide one is left as it is, with its cells apart.
    wide = "| 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n| a |"
    said, places = plain_rows(wide, ["Name"])
    assert said == "| 1 | 2 | 3 | 4 | 5 | 6 | 7 |\nName: a.\n"
    assert [at for at, letter in zip(places, said, strict=True) if letter == "|"] == [-1] * 8
    for unchanged in ("", "One line, 1 | 2.", "a" * 50):
        assert plain_rows(unchanged) == (unchanged, None)


def test_a_line_of_a_form_ends_a_sentence(reader: OfflineReader) -> None:
    form = "Report number: 4471\nNature of injury: fractured wrist\nWeather: heavy rain\n"
    said, _ = plain_rows(form)
    assert said == "Report number: 4471.Nature of injury: fractured wrist.Weather: heavy rain\n"
    found = reader.choose("What was the nature of the injury?", [_passage("Incident", form)])
    assert found.text == "fractured wrist"
    assert [form[start:end] for _, start, end in found.spans] == ["fractured wrist"]
    first = found.sentences[0]
    assert form[first[2] : first[3]].strip() == "Nature of injury: fractured wrist"


def test_an_answer_stays_within_a_cell(reader: OfflineReader) -> None:
    table = (
        "| Vessel | Built | Route |\n|---|---|---|\n"
        "| MV Torsa | 1998 | Halse to Sund |\n| MV Brenna | 2007 | Sund to Kettlehaven |\n"
    )
    cells = {cell.strip() for cell in table.replace("\n", "|").split("|")}
    for question in ("Which ship sails from Halse?", "When was the MV Torsa built?"):
        found = reader.choose(question, [_passage("Ferries", table)])
        assert any(found.text in cell for cell in cells), found.text
        ((_, start, end),) = found.spans
        assert table[start:end] == found.text
    assert found.text == "1998"


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("Who built it?", []),
        ("", _FILMS),
        ("  ", _FILMS),
        ("Who built it?", [_passage("", "")]),
        ("In what year did Maria Callas die?",
         [_passage("Halse", "Halse is a small island with a harbour and a ropewalk.")]),
    ],
)  # fmt: skip
def test_nothing_is_answered(reader: OfflineReader, question: str, passages: list[Passage]) -> None:
    found = reader.read(question, passages)
    assert (found.kind, found.text, found.spans) == ("none", "", ())


@pytest.mark.parametrize(
    "text",
    [
        "赫斯克桥由尤素福设计。" * 2000,
        "ß\u0301\U0001f469\u200d\U0001f680 " * 50,
        "\ud800 half",
        pytest.param("a" * 70_000, marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_any_text_can_be_read(reader: OfflineReader, text: str) -> None:
    found = reader.read("谁设计了桥? \ud800", [_passage("桥", text)])
    assert found.kind in KINDS
    for span in found.spans:
        assert 0 <= span.start < span.end <= len(text)


def test_passages_on_the_path_are_read_before_the_one_they_lead_to() -> None:
    filler = [_passage(f"Island {n}", f"Island {n} is a rock in the sea.") for n in range(8)]
    named = _passage("Hesk Bridge", "The Hesk Bridge was designed by Yusuf Arden.")
    passages = [*filler, named]
    path = ReasoningPath((Step(named.id, "seed", 1.0), Step(filler[1].id, "SHARES_KEYWORD", 1.0)))
    assert passages_to_read(passages) == filler[:5]
    assert passages_to_read(passages, [path]) == [filler[0], named, *filler[1:5]]


@pytest.mark.parametrize(
    ("question", "text", "values"),
    [
        ("Which film came out first, Low Tide or The Ropewalk?", "The Ropewalk", ["1931", "1948"]),
        ("Who was born first, Ada Brandt or Piet Vos?", "Piet Vos",
         ["8 August 1899", "3 May 1910"]),
        ("Who is younger, Ada Brandt or Piet Vos?", "Ada Brandt",
         ["3 May 1910", "8 August 1899"]),
    ],
)  # fmt: skip
def test_two_values_that_were_read_are_compared_exactly(
    reader: OfflineReader, question: str, text: str, values: list[str]
) -> None:
    found = reader.read(question, _FILMS)
    assert (found.kind, found.text) == ("span", text)
    known = {passage.id: passage.text for passage in _FILMS}
    assert [known[span.passage][span.start : span.end] for span in found.spans] == values


@pytest.mark.parametrize(
    ("question", "kind", "text"),
    [
        ("Who designed Low Tide?", "span", "Ada Brandt"),
        ("What is the date of death of the director of film Low Tide?", "span", "12 June 1991"),
        ("Where did the director of film The Ropewalk die?", "span", "Leiden"),
        ("Are Ada Brandt and Piet Vos from the same country?", "no", "no"),
    ],
)
def test_the_network_goes_from_one_passage_to_the_next(
    reader: OfflineReader, question: str, kind: str, text: str
) -> None:
    found = reader.read(question, _FILMS)
    assert (found.kind, found.text) == (kind, text)
    [span] = found.spans
    passage = next(p for p in _FILMS if p.id == span.passage)
    # Yes and no cite the sentence that decided, here all of a passage.
    said = passage.text[span.start : span.end]
    assert said == (text if kind == "span" else passage.text)


@pytest.mark.parametrize(
    ("operation", "one", "other", "which"),
    [
        ("min", "1931", "12 June 1948", 0),
        ("max", "May 1931", "12 June 1931", 1),
        ("longer", "3 May 1910 – 12 June 1991", "8 August 1899 in Leiden; died 1940", 0),
        ("shorter", "3 May 1910 – 12 June 1991", "8 August 1899 in Leiden; died 1940", 1),
        ("min", "12.5 %", "3 %", 1),
        ("min", "1931", "May 1931", None),  # what is left open decides nothing
        ("longer", "1931", "1940", None),
        ("max", "300 m", "20 km", None),
        ("max", "1500 m", "1200 km", None),  # no years
        ("max", "1500", "900", 0),
        ("max", "$1500", "$900", 0),
        ("longer", "120 minutes", "2 hours", None),
        ("min", "1200 BC", "1100 BC", None),
        ("min", "1990 (aged 20)", "1985 (aged 30)", 1),
        ("max", "900 people", "1200 people", 1),
        ("max", "1931", "a tall man", None),
    ],
)
def test_values_are_compared_where_that_can_be_told(
    operation: str, one: str, other: str, which: int | None
) -> None:
    assert compare(operation, one, other) == which


def test_an_answer_is_right_that_is_equal_or_holds_a_right_one() -> None:
    assert is_right("The  Wright brothers!", ["wright Brothers"])
    assert is_right("in Leiden, Holland", ["Leiden"])
    assert is_right("a long line of grey old stones", ["long line of old stones"])
    assert not is_right("Leidenfrost", ["Leiden"])
    assert not is_right("no doubt", ["no"])
    assert not is_right("", ["Leiden"])


def test_the_error_of_a_confidence_is_the_mean_gap() -> None:
    sure, right = [0.95, 0.95, 0.15, 1.0], [True, False, False, True]
    assert calibration_error(sure, right) == pytest.approx((0.9 + 0.15) / 4)


@pytest.mark.parametrize("broken", ["nothing", "weights", "shapes", "card", "signals", "encoder"])
def test_what_is_no_reader_is_refused(tmp_path: Path, broken: str) -> None:
    folder = shutil.copytree(SHIPPED, tmp_path / "reader")
    weights, card = folder / "reader.safetensors", folder / "reader.json"
    if broken == "nothing":
        folder = tmp_path
    elif broken == "weights":
        weights.write_bytes(b"not a file of weights")
    elif broken == "shapes":
        save_file(load_file(weights) | {"layer.5.output.dense.bias": np.zeros(3)}, weights)
    elif broken == "card":
        card.write_text("[]", encoding="utf-8")
    else:
        signals = {"bias": 0, "threshold": 0, "weights": {"the moon": 1}}
        wrong = {"calibration": signals} if broken == "signals" else {"encoder": "x"}
        card.write_text(json.dumps(json.loads(card.read_text("utf-8")) | wrong), encoding="utf-8")
    with pytest.raises(ModelError, match="train reader"):
        load_reader(str(folder))


_PRICES = """The list is of May.

| Article | Pieces | Price per pack (GBP) |
|---|---|---|
| Boxes |  |  |
| Hat box round | 12 | 52.80 |
| Folding box small | 50 | 14.20 |
| Tape |  |  |
| Paper tape | 36 | 31.00 |
"""


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


def test_a_sign_that_is_no_number_is_not_read_as_one() -> None:
    assert _decided("May 9 m ² be let?", "Up to 12 m ² ¾ may be let.") == "yes"


def test_a_sentence_about_something_else_decides_nothing() -> None:
    assert _decided("May I carry 25 kg?", "Up to 20 kg may be carried.", nothing=0.5) is None


def test_the_reader_gives_it_as_probable_with_its_sentence() -> None:
    text = "Two people lift larger loads. Loads of up to 18 kg may be lifted by one person."
    passages = [Passage("one", "", "Building guide", 0, 0, len(text), text)]
    got = load_reader().read("May I lift a crate of 24 kg on my own?", passages)
    assert (got.kind, got.stated, got.confidence) == ("no", False, 0.75)
    assert got.sentences[0].text.startswith("Loads of up to 18 kg")


def test_a_heading_is_shown_for_a_likely_answer_alone() -> None:
    passage = _passage("Handbook", "## Guests\n\nMay Lin manages Jo Roth.")
    for is_likely, first in ((True, "## Guests"), (False, "May Lin manages Jo Roth.")):
        guess = Span(passage.id, 3, 9)
        shown = _supporting([passage], [(1.0, 0, 11, 35)], [guess], is_likely)
        assert shown[0].text == first
