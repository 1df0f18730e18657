"""Training the offline reader: examples, a few steps with a tiny encoder, going on, refusals."""

import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands import prints, refuses
from graphs import write_file, write_lines
from questions import hotpot
from tiny_models import interrupted_at

from kgp_neo4j.corpus.read.reader import SHIPPED, OfflineReader, load_reader
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.models.reader.network import (
    KINDS,
    VERIFIER_FILE,
    pieces_of,
    read_judge,
    read_network,
    windows_of,
)
from kgp_neo4j.train import reader as training
from kgp_neo4j.train.examples import Program, read_reading_examples
from kgp_neo4j.train.reader import ReaderSettings, TrainedNetwork, train_reader, trainable
from kgp_neo4j.train.reader_calibration import Asked, batches, fit_calibration, lay_out
from kgp_neo4j.types.corpus import Passage
from kgp_neo4j.types.errors import ConfigurationError, InputError, ModelError

_COLOURS = "red blue green black white amber".split()


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Questions over two passages, in HotpotQA's form."""
    rows = []
    for n in range(60):
        captain, boat, colour = f"Captain {n}", f"Boat {n}", _COLOURS[n % 6]
        context = {captain: [f"{captain} sails {boat}."], boat: [f"{boat} is {colour}."]}
        context["Harbour"] = ["The harbour is deep."]
        question = f"What colour has the boat of captain {n}?"
        rows.append(hotpot(f"q{n}", question, colour, (captain, boat), context))
    return write_lines(tmp_path / "train.jsonl", *rows)


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """Spans in one context each, in SQuAD's form."""
    rows = []
    for n in range(40):
        text = f"The hull of ship {n} is {_COLOURS[n % 6]} below the rail."
        qas = [
            {
                "question": f"What colour is the hull of ship {n}?",
                "answers": [[_COLOURS[n % 6], text.index(_COLOURS[n % 6])]],
            }
        ]
        rows.append({"title": f"Ship_{n}", "context": text, "qas": qas})
    return write_lines(tmp_path / "squad.jsonl", *rows)


@pytest.fixture
def yes_no(tmp_path: Path) -> Path:
    rows = [
        {"question": "is the ship red", "passage": "The ship is red.", "answer": True},
        {"question": "is the ship blue", "passage": "The ship is red.", "answer": False},
    ]
    return write_lines(tmp_path / "boolq.jsonl", *rows)


def _settings(**given: object) -> ReaderSettings:
    usual = {"epochs": 1, "batch": 600, "rate": 2e-4}
    return ReaderSettings(**usual | given)  # type: ignore[arg-type]


def test_examples_say_where_the_answer_stands(several: Path, single: Path, yes_no: Path) -> None:
    made = read_reading_examples([several, single, yes_no])
    assert [e.group for e in made].count("several") == 60
    assert [e.kind for e in made[-2:]] == ["yes", "no"]
    assert made[-1].question == "Is the ship blue?"
    for example in made:
        for at, in_title, start, end in example.places:
            title, text = example.passages[at]
            assert (title if in_title else text)[start:end] == example.answer
    assert made[60].passages[0][0] == "Ship 0"


def test_steps_that_a_data_set_tells_are_examples_too(tmp_path: Path) -> None:
    said = {"Low Tide": ["Low Tide was directed by Piet Vos."],
            "Piet Vos": ["Piet Vos was born in Leiden."]}  # fmt: skip
    steps = [["Low Tide", "director", "Piet Vos"], ["Piet Vos", "place of birth", "Leiden"]]
    question = "Where was the director of Low Tide born?"
    row = hotpot("a", question, "Leiden", tuple(said), said, type="compositional", evidences=steps)
    made = read_reading_examples([write_lines(tmp_path / "two.jsonl", row)])
    assert [e.question for e in made] == [
        "Where was the director of Low Tide born?",
        "What is the director of Low Tide?",
        "What is the place of birth of Piet Vos?",
    ]
    assert {e.answer for e in made} == {"Leiden", "Piet Vos"}
    assert made[0].program == Program("none")
    assert made[0].support == ((0, False, 0, 34), (1, False, 0, 28))


def test_what_triples_say_is_compared_becomes_a_program(tmp_path: Path) -> None:
    texts = {
        "Low Tide (film)": "Low Tide was directed by Ada Brandt.",
        "The Ropewalk": "The Ropewalk was directed by Piet Vos.",
        "Ada Brandt": "Ada Brandt (May 3, 1910 – 12 June 1991) was a director.",
        "Piet Vos": "Piet Vos (8 August 1899 – 1940) was a director.",
    }
    context = {title: [text] for title, text in texts.items()}
    people = hotpot(
        "a", "Who was born first, Piet Vos or Ada Brandt?", "Piet Vos", ("Ada Brandt", "Piet Vos"),
        context, type="comparison",
        evidences=[["Ada Brandt", "date of birth", "3 May 1910"],
                   ["Piet Vos", "date of birth", "8 August 1899"]],
    )  # fmt: skip
    films = hotpot(
        "b", "Which film has the director who died later, Low Tide or The Ropewalk?", "Low Tide",
        tuple(texts), context, type="bridge_comparison",
        evidences=[["Low Tide (film)", "director", "Ada Brandt"],
                   ["The Ropewalk", "director", "Piet Vos"],
                   ["Ada Brandt", "date of death", "12 June 1991"],
                   ["Piet Vos", "date of death", "1940"]],
    )  # fmt: skip
    made = read_reading_examples([write_lines(tmp_path / "two.jsonl", people, films)])
    read = {
        e.program.operation: (
            [e.passages[at][1][a:b] for ((at, _, a, b),) in e.program.values],
            [e.question[a:b] for a, b in e.program.options],
        )
        for e in made
        if e.program
    }
    assert read == {
        "min": (["8 August 1899", "May 3, 1910"], ["Piet Vos", "Ada Brandt"]),
        "max": (["12 June 1991", "1940"], ["Low Tide", "The Ropewalk"]),
    }


def test_windows_laid_out_hold_the_answer_or_say_that_nothing_is_there(
    several: Path, single: Path, yes_no: Path, tiny_encoder: str
) -> None:
    tokenizer = load_encoder(tiny_encoder).tokenizer
    examples = read_reading_examples([several, single, yes_no])
    laid = lay_out(tokenizer, examples, 300, random.Random(1))
    assert {KINDS[one.kind] for one in laid} == set(KINDS)
    answers = {"".join(colour) for colour in _COLOURS}
    for one in laid:
        if KINDS[one.kind] == "span":
            pieces = tokenizer.decode(one.ids[one.marks["start"][0] : one.marks["end"][0] + 1])
            assert pieces.replace(" ", "").replace("##", "") in answers
        else:
            assert one.marks == {"start": [0], "end": [0]}
        assert len(one.support) in (0, len(one.ids))
    grouped = batches(laid, 600, random.Random(1))
    assert sorted(id(one) for batch in grouped for one in batch) == sorted(map(id, laid))
    assert all(len(b) == 1 or len(b) * max(len(one.ids) for one in b) <= 600 for b in grouped)


@pytest.mark.slow
@pytest.mark.train
def test_a_training_writes_a_usable_reader(several: Path, single: Path, tmp_path: Path) -> None:
    out = tmp_path / "reader"
    line = ("train", "reader", str(several), str(single), "--batch", "600", "--rate", "2e-4")
    report = json.loads(prints(*line, "--epochs", "1", "--out", str(out), "--json"))
    assert report["examples"] > 60
    assert report["steps"] > 5
    assert report["held_out"] > 0
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "train.jsonl, squad.jsonl" in text
    assert str(tmp_path) not in text
    found = load_reader(str(out)).read(
        "What colour is the hull?", [Passage("p", "d", "Ship", 0, 0, 16, "The hull is red.")]
    )
    assert found.kind in ("span", "none")
    assert "finished or has other settings" in refuses(*line, "--epochs", "2", "--out", str(out))
    nowhere = refuses(*line, "--further", str(tmp_path / "nowhere"), "--out", str(tmp_path / "x"))
    assert "the reader cannot be read" in nowhere
    kept = write_file(tmp_path / "mine" / "thesis.txt", "years of work")
    with pytest.raises(ConfigurationError, match="no training made"):
        train_reader([single], tmp_path / "mine", _settings(), overwrite=True)
    assert kept.exists()


@pytest.mark.slow
@pytest.mark.train
def test_training_learns(single: Path, tmp_path: Path) -> None:
    losses = [train_reader([single], tmp_path / f"r{n}", _settings(epochs=n)).loss for n in (1, 4)]
    assert losses[1] < losses[0]


@pytest.mark.slow
@pytest.mark.train
def test_a_stopped_training_goes_on_to_the_same_weights(several: Path, tmp_path: Path) -> None:
    settings, cut = _settings(epochs=2), tmp_path / "cut"
    whole = train_reader([several], tmp_path / "whole", settings)
    with interrupted_at(4):
        train_reader([several], cut, settings)
    rest = train_reader([several], cut, settings)
    assert (rest.resumed, rest.steps) == (3, whole.steps)
    weights = [folder / "reader.safetensors" for folder in (tmp_path / "whole", cut)]
    assert weights[0].read_bytes() == weights[1].read_bytes()


@pytest.mark.train
@pytest.mark.slow
def test_both_engines_read_alike(tmp_path: Path) -> None:
    import torch

    torch.manual_seed(0)  # before the heads, which begin at random
    network = TrainedNetwork()
    with torch.no_grad():
        for part in network.own().values():
            part.add_(0.02 * torch.randn_like(part))
    network.save(tmp_path, {})
    read, _ = read_network(tmp_path)
    texts = [(f"Boat {n}", f"Boat {n} is {_COLOURS[n]} and sails for mate {n}.") for n in range(6)]
    pieces = [piece for parts in pieces_of(read.tokenizer, texts) for piece in parts]
    windows = windows_of(read.tokenizer, "What colour has boat 3?", 60, pieces)
    assert len(windows) > 1
    for window, found in zip(windows, read.read(windows), strict=True):
        ids, types = torch.tensor([window.ids]), torch.tensor([window.types])
        with torch.inference_mode():
            expected = network(ids, types, torch.ones_like(ids))
        for logits, wanted in zip(found, expected, strict=True):
            ours, theirs = (part.softmax(dim=0) for part in (torch.tensor(logits), wanted[0]))
            assert ours.allclose(theirs, atol=0.01)
        # Where one word piece leads by more than the engines' precision, it leads in both.
        (first, second), _ = expected[0][0].topk(2, dim=0)
        clear = (first - second > 0.2).tolist()
        both = zip(found.pieces.argmax(axis=0), expected[0][0].argmax(dim=0), clear, strict=True)
        assert all(ours == theirs for ours, theirs, sure in both if sure)


@pytest.mark.slow
@pytest.mark.train
def test_the_reader_that_comes_along_can_be_trained_further(several: Path, tmp_path: Path) -> None:
    network = TrainedNetwork()
    network.load(SHIPPED)
    network.save(tmp_path / "same", {})
    boat = Passage("1", "1", "Boat 1", 0, 0, 26, "Boat 1 was built by A. Vane.")
    same = load_reader(str(tmp_path / "same")).choose("Who built Boat 1?", [boat])
    alone = OfflineReader(*read_network(SHIPPED))  # without the second reading
    before = alone.choose("Who built Boat 1?", [boat])
    assert same.text == before.text == "A. Vane"
    # Not every processor computes the same network alike to the last bit each time.
    assert same.signals == pytest.approx(before.signals, abs=1e-4)
    settings = ReaderSettings(further=SHIPPED, epochs=1, rate=1e-9)
    train_reader([several], tmp_path / "further", settings)
    further = load_reader(str(tmp_path / "further")).choose("Who built Boat 1?", [boat])
    assert further.text == "A. Vane"
    with pytest.raises(ModelError, match="the reader cannot be read"):
        TrainedNetwork().load(tmp_path / "nowhere")


def test_a_verifier_begins_with_the_readers_layers_and_is_read_back(tmp_path: Path) -> None:
    network = TrainedNetwork(("right",))
    network.load(SHIPPED, heads=False)
    groups = trainable(network, 1e-3, lowest=4)
    frozen = network.body.encoder.layer[3].output.dense.weight
    assert not frozen.requires_grad
    assert all(part.requires_grad for group in groups for part in group["params"])
    network.body.eval()
    ids = network.tokenizer.encode("Who built it? A. Vane").ids
    laid = SimpleNamespace(ids=ids, types=[0] * len(ids))
    network.save_differences(tmp_path / VERIFIER_FILE)
    judge = read_judge(tmp_path)
    (odds,) = judge.judge([(laid.ids, laid.types)])
    assert odds == pytest.approx(float(network.judge([laid])[0]), abs=0.05)


def test_a_small_file_is_seen_more_often(several: Path, tmp_path: Path) -> None:
    many = read_reading_examples([several])
    drawn = training._drawn([many[:4], many[4:40]], random.Random(0))
    assert [drawn.count(one) for one in many[:40]] == [3] * 4 + [1] * 36


@pytest.mark.slow
@pytest.mark.train
def test_calibration_is_fitted_to_how_often_answers_are_right() -> None:
    reader = load_reader()
    asked = []
    for n in range(40):
        text = f"Boat {n} is {_COLOURS[n % 6]} and was built in {1900 + n} by Ada Brandt."
        passage = Passage(f"{n}", "d", f"Boat {n}", 0, 0, len(text), text)
        right = str(1900 + n) if n % 2 else "something else"
        asked.append(Asked(f"In what year was Boat {n} built?", (passage,), (right,)))
    made = fit_calibration(reader, asked)
    assert made["questions"] == 40
    assert 0.3 < made["right"] <= 0.5
    assert made["error"] < 0.3
    assert fit_calibration(reader, asked[:5]) == {}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"context": "abc", "qas": [{"question": "?", "answers": [["x", 9]]}]}', "not a question"),
        ('{"passage": "a", "question": "b", "answer": "maybe"}', "not a question"),
        ('{"passage": "\\ud800", "question": "b", "answer": true}', "surrogate"),
        ("", "no question"),
    ],
)  # fmt: skip
def test_bad_lines_are_named(tmp_path: Path, line: str, said: str) -> None:
    file = write_file(tmp_path / "bad.jsonl", f"{line}\n" if line else "")
    with pytest.raises(InputError, match=rf"bad\.jsonl.*{said}"):
        read_reading_examples([file])
