"""The offline reader: what it reads, what it works out, how sure it is, and what it refuses."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest

from kgp_neo4j.database import Database
from kgp_neo4j.demo import QUESTION
from kgp_neo4j.errors import ModelError
from kgp_neo4j.evidence import Retriever
from kgp_neo4j.models.encoder import DEFAULT_ENCODER, load_model, quick_products
from kgp_neo4j.models.reader import Reader, load_reader
from kgp_neo4j.models.reader.calibration import Calibration
from kgp_neo4j.models.reader.choosing import SIGNALS, Choice
from kgp_neo4j.models.reader.comparing import compare
from kgp_neo4j.models.reader.dated import birth_and_death, dates_in
from kgp_neo4j.models.reader.hops import hop_of
from kgp_neo4j.models.reader.nations import nations_in
from kgp_neo4j.models.reader.windows import Windows, pieces_of
from kgp_neo4j.records import Passage, Question, ReasoningPath, Step
from kgp_neo4j.train.reader_calibration import calibration_error, reliability

_SHIPPED = Path(str(resources.files("kgp_neo4j.models") / "reader"))


def _passage(title: str, text: str) -> Passage:
    return Passage(title, "document", title, 0, 0, len(text), text)


_FILMS = [
    _passage("Low Tide", "Low Tide is a 1948 British drama film directed by Ada Brandt."),
    _passage("The Ropewalk", "The Ropewalk is a 1931 film written and directed by Piet Vos."),
    _passage("Ada Brandt", "Ada Brandt (3 May 1910 – 12 June 1991) was an English film director."),
    _passage(
        "Piet Vos", "Piet Vos (born 8 August 1899 in Leiden; died 1940) was a Dutch director."
    ),
]


@pytest.fixture(scope="module")
def reader() -> Reader:
    return load_reader()


def test_it_finds_a_span_and_where_it_stands(reader: Reader) -> None:
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


def test_it_reads_what_was_retrieved_from_the_demo(
    reader: Reader, database: Database, demo_corpus: str
) -> None:
    got = Retriever(database, demo_corpus).retrieve(Question("", QUESTION))
    found = reader.read(QUESTION, got.passages, got.paths)
    known = {passage.id: passage for passage in got.passages}
    if found.kind == "none":
        assert found.text == ""
    for span in found.spans:
        assert known[span.passage].text[span.start : span.end]


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("Who built it?", []),
        ("", _FILMS),
        ("  ", _FILMS),
        ("Who built it?", [_passage("", "")]),
    ],
)
def test_nothing_to_read_is_none(reader: Reader, question: str, passages: list[Passage]) -> None:
    found = reader.read(question, passages)
    assert (found.kind, found.text, found.spans) == ("none", "", ())


@pytest.mark.parametrize(
    "text",
    [
        "赫斯克桥由尤素福设计。" * 2000,
        "ß\u0301\U0001f469\u200d\U0001f680 " * 50,
        "\ud800 half",
        "a" * 70_000,
    ],
)  # fmt: skip
def test_any_text_can_be_read(reader: Reader, text: str) -> None:
    found = reader.read("谁设计了桥? \ud800", [_passage("桥", text)])
    assert found.kind in ("span", "none")
    for span in found.spans:
        assert 0 <= span.start < span.end <= len(text)


def test_passages_on_the_path_are_read_with_those_it_leads_to(reader: Reader) -> None:
    filler = [_passage(f"Island {n}", f"Island {n} is a rock in the sea.") for n in range(8)]
    named = _passage("Hesk Bridge", "The Hesk Bridge was designed by Yusuf Arden.")
    passages = [*filler, named]
    path = ReasoningPath((Step(named.id, "seed", 1.0), Step(filler[0].id, "SHARES_KEYWORD", 1.0)))
    asked = "Who designed the Hesk Bridge?"
    assert named not in reader.find(asked, passages).passages
    assert named in reader.find(asked, passages, [path]).passages


# --- What is worked out ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "kind", "text"),
    [
        ("Which film came out first, Low Tide or The Ropewalk?", "span", "The Ropewalk"),
        ("Which film was released later, The Ropewalk or Low Tide?", "span", "Low Tide"),
        ("Who was born first, Ada Brandt or Piet Vos?", "span", "Piet Vos"),
        ("Who died later, Ada Brandt or Piet Vos?", "span", "Ada Brandt"),
        ("Who is younger, Ada Brandt or Piet Vos?", "span", "Ada Brandt"),
        ("Who lived longer, Ada Brandt or Piet Vos?", "span", "Ada Brandt"),
        (
            "Which film has the director who died first, Low Tide or The Ropewalk?",
            "span", "The Ropewalk",
        ),
        ("Are Ada Brandt and Piet Vos from the same country?", "no", "no"),
        ("Do both directors of films Low Tide and The Ropewalk share the same nationality?",
         "no", "no"),
        ("Were both Low Tide and The Ropewalk directed films?", "yes", "yes"),
        ("Are both Low Tide and Piet Vos novels?", "no", "no"),
        ("When was Piet Vos born?", "span", "8 August 1899"),
        ("What nationality is Piet Vos?", "span", "Dutch"),
        ("What is the date of death of the director of film Low Tide?", "span", "12 June 1991"),
    ],
)  # fmt: skip
def test_what_passages_tell_is_worked_out(
    reader: Reader, question: str, kind: str, text: str
) -> None:
    found = reader.read(question, _FILMS)
    assert (found.kind, found.text) == (kind, text)
    assert found.spans


def test_a_comparison_that_cannot_be_told_is_left_to_reading() -> None:
    assert compare("Who was born first, Ada Brandt or Low Tide?", _FILMS) is None
    assert compare("Which film came out first, Low Tide or Another One?", _FILMS) is None
    assert compare("Who directed Low Tide?", _FILMS) is None


def test_a_question_is_followed_to_the_person_it_means() -> None:
    hop = hop_of("Where did the director of film The Ropewalk die?", _FILMS)
    assert hop is not None
    assert (hop.question, hop.passage.title) == ("Where did Piet Vos die?", "Piet Vos")
    assert hop_of("Where did the composer of film The Ropewalk die?", _FILMS) is None
    bridge = _passage("Low Bridge", "The Low Bridge was designed by Piet Vos and opened in 1931.")
    hop = hop_of("From whom did the designer of the Low Bridge learn?", [*_FILMS, bridge])
    assert hop is not None
    assert hop.question == "From whom did Piet Vos learn?"


def test_dates_of_a_life_are_read_as_written() -> None:
    def told(text: str) -> tuple[str | None, str | None]:
        born, died = birth_and_death(text)
        return (born.iso if born else None, died.iso if died else None)

    assert told("A B (3 May 1910 – 12 June 1991) was") == ("1910-05-03", "1991-06-12")
    assert told("A B( October 7, 1894 May 2, 1989) was") == ("1894-10-07", "1989-05-02")
    assert told("A B (born 1 July 1950) is") == ("1950-07-01", None)
    assert told("A B (died 875) was a queen. She died in 1203.") == (None, "1203")
    assert told("A B is a bridge.") == (None, None)
    assert [d.iso for d in dates_in("in May 1990, then 1 June 1991 and 2001")] == [
        "1990-05", "1991-06-01", "2001",
    ]  # fmt: skip


def test_nations_are_known_by_name_and_people_but_not_by_birth() -> None:
    names = [name for name, _, _ in nations_in("a Canadian-born American from West Virginia")]
    assert names == ["United States", "United States"]
    assert [name for name, _, _ in nations_in("Dutch, then in the Netherlands; Iranians")] == [
        "Netherlands", "Netherlands",
    ]  # fmt: skip


# --- Windows --------------------------------------------------------------------------------------


def test_windows_hold_every_piece_once_and_keep_its_place(reader: Reader) -> None:
    tokenizer = reader._network.tokenizer
    text = " ".join(f"word{n}" for n in range(300))
    parts = pieces_of(tokenizer, [("A title", text), ("B", "Short.")])
    assert len(parts[0]) > 1
    assert len(parts[1]) == 1
    flat = [piece for each in parts for piece in each]
    made = Windows(tokenizer, "Which word?", 384).build(flat)
    assert all(len(window.ids) <= 384 for window in made)
    for window in made:
        assert len(window.ids) == len(window.types) == len(window.places) == len(window.joined)
    covered = {
        (place[2], place[3]) for window in made for place in window.places
        if place is not None and place[0] == 0 and not place[1]
    }  # fmt: skip
    assert min(start for start, _ in covered) == 0
    assert max(end for _, end in covered) == len(text)


# --- How sure it is -------------------------------------------------------------------------------


def test_quick_products_change_vectors_by_little() -> None:
    import torch

    model, _ = load_model(DEFAULT_ENCODER, torch.float32)
    texts = ["The Hesk Bridge was designed by Yusuf Arden.", "Who designed it?", ""]
    plain = torch.tensor(model.encode(texts))
    with quick_products(model):
        quick = torch.tensor(model.encode(texts))
    assert torch.cosine_similarity(plain, quick).min() > 0.999
    # Where a model is in bfloat16 as a whole, nothing is changed.
    with quick_products(model.to(torch.bfloat16)):
        assert torch.nn.Linear(8, 8)(torch.ones(1, 8)).dtype == torch.float32


def test_confidence_rises_with_each_signal_that_speaks_for_an_answer() -> None:
    made = Calibration(bias=-1.0, weights=(("margin", 0.5), ("told", 2.0)), threshold=0.1)
    sure = [made.confidence(Choice("span", "x", (), {"margin": m})) for m in (-5.0, 0.0, 5.0, 1e9)]
    assert sure == sorted(sure)
    assert len(set(sure)) == 4
    assert 0 < sure[0] < sure[-1] < 1
    assert made.confidence(Choice("span", "x", (), {"told": 1.0})) > made.confidence(
        Choice("span", "x", (), {})
    )


def test_the_shipped_calibration_names_known_signals_and_was_measured() -> None:
    card = json.loads((_SHIPPED / "reader.json").read_text(encoding="utf-8"))["calibration"]
    assert set(card["weights"]) <= set(SIGNALS)
    assert 0 <= card["threshold"] <= 0.5
    assert card["questions"] > 100


def test_reliability_and_its_error() -> None:
    sure, right = [0.95, 0.95, 0.15, 0.15], [True, True, False, True]
    rows = reliability(sure, right)
    assert [(round(row["from"], 1), row["number"], row["right"]) for row in rows] == [
        (0.1, 2, 0.5), (0.9, 2, 1.0),
    ]  # fmt: skip
    assert calibration_error(sure, right) == pytest.approx((2 * 0.35 + 2 * 0.05) / 4)
    assert calibration_error([], []) == 0.0


# --- What is refused ------------------------------------------------------------------------------


def test_a_folder_without_a_reader_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read") as caught:
        load_reader(str(tmp_path))
    assert "train reader" in str(caught.value)


@pytest.mark.parametrize("broken", ["weights", "card", "signals", "layers"])
def test_what_is_no_reader_is_refused(tmp_path: Path, broken: str) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(_SHIPPED, folder)
    card = json.loads((folder / "reader.json").read_text(encoding="utf-8"))
    if broken == "weights":
        (folder / "reader.safetensors").write_bytes(b"not a file of weights")
    elif broken == "card":
        (folder / "reader.json").write_text("[]", encoding="utf-8")
    elif broken == "signals":
        card["calibration"] = {"bias": 0, "threshold": 0, "weights": {"the moon": 1}}
        (folder / "reader.json").write_text(json.dumps(card), encoding="utf-8")
    else:
        (folder / "reader.json").write_text(json.dumps(card | {"layers": 99}), encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_reader(str(folder))
    assert caught.value.hint


def test_the_shipped_reader_is_small() -> None:
    assert sum(file.stat().st_size for file in _SHIPPED.iterdir()) < 8_000_000
