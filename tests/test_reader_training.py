"""Training the offline reader: examples, a few steps with a tiny encoder, going on, refusals."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from commands import kgp

from kgp_neo4j.errors import ConfigurationError, InputError, ModelError
from kgp_neo4j.models.reader import load_reader
from kgp_neo4j.models.reader.network import KINDS, Network, read_network
from kgp_neo4j.records import Passage
from kgp_neo4j.train import reader as training
from kgp_neo4j.train.reader import ReaderSettings, train_reader
from kgp_neo4j.train.reader_batches import batches, lay_out
from kgp_neo4j.train.reader_calibration import Asked, fit_calibration
from kgp_neo4j.train.reader_examples import occurrences, read_reading_examples

_COLOURS = "red blue green black white amber".split()


def _write(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Questions over two passages, in HotpotQA's form."""
    rows: list[dict[str, object]] = [
        {
            "_id": f"q{n}",
            "question": f"What colour has the boat of captain {n}?",
            "answer": _COLOURS[n % 6],
            "type": "bridge",
            "supporting_facts": [[f"Captain {n}", 0], [f"Boat {n}", 0]],
            "context": [
                [f"Captain {n}", [f"Captain {n} sails Boat {n}."]],
                [f"Boat {n}", [f"Boat {n} is {_COLOURS[n % 6]}."]],
                ["Harbour", ["The harbour is deep."]],
            ],
        }
        for n in range(60)
    ]
    return _write(tmp_path / "train.jsonl", rows)


@pytest.fixture
def single(tmp_path: Path) -> Path:
    """Spans in one context each, in SQuAD's form."""
    rows: list[dict[str, object]] = []
    for n in range(40):
        text = f"The hull of ship {n} is {_COLOURS[n % 6]} below the rail."
        qas = [
            {
                "question": f"What colour is the hull of ship {n}?",
                "answers": [[_COLOURS[n % 6], text.index(_COLOURS[n % 6])]],
            }
        ]
        rows.append({"title": f"Ship_{n}", "context": text, "qas": qas})
    return _write(tmp_path / "squad.jsonl", rows)


@pytest.fixture
def yes_no(tmp_path: Path) -> Path:
    rows: list[dict[str, object]] = [
        {"question": "is the ship red", "passage": "The ship is red.", "answer": True},
        {"question": "is the ship blue", "passage": "The ship is red.", "answer": False},
    ]
    return _write(tmp_path / "boolq.jsonl", rows)


def _settings(encoder: str, **given: object) -> ReaderSettings:
    usual = {"encoder": encoder, "layers": 1, "single": 20, "epochs": 1, "batch": 600, "rate": 2e-3}
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


def test_an_answer_is_found_as_whole_words_in_any_case() -> None:
    assert occurrences("The Sea, the seabed and the  sea.", "the sea") == [(0, 7), (24, 32)]
    assert occurrences("anything", "  ") == []


def test_steps_that_a_data_set_tells_are_examples_too(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "_id": "a", "question": "Where was the director of Low Tide born?", "answer": "Leiden",
        "type": "compositional", "supporting_facts": [["Low Tide", 0], ["Piet Vos", 0]],
        "context": [["Low Tide", ["Low Tide was directed by Piet Vos."]],
                    ["Piet Vos", ["Piet Vos was born in Leiden."]]],
        "evidences": [["Low Tide", "director", "Piet Vos"],
                      ["Piet Vos", "place of birth", "Leiden"]],
    }  # fmt: skip
    made = read_reading_examples([_write(tmp_path / "two.jsonl", [row])])
    assert [e.question for e in made] == [
        "Where was the director of Low Tide born?",
        "What is the director of Low Tide?",
        "What is the place of birth of Piet Vos?",
    ]
    assert {e.answer for e in made} == {"Leiden", "Piet Vos"}


def test_windows_laid_out_hold_the_answer_or_say_that_nothing_is_there(
    several: Path, single: Path, yes_no: Path, tiny_encoder: str
) -> None:
    network = Network(tiny_encoder, 1, precise=True)
    examples = read_reading_examples([several, single, yes_no])
    laid = lay_out(network.tokenizer, examples, 300, random.Random(1))
    assert {KINDS[one.kind] for one in laid} == set(KINDS)
    answers = {"".join(colour) for colour in _COLOURS}
    for one in laid:
        if KINDS[one.kind] == "span":
            pieces = network.tokenizer.decode(one.ids[one.starts[0] : one.ends[0] + 1])
            assert pieces.replace(" ", "").replace("##", "") in answers
        else:
            assert (one.starts, one.ends) == ([0], [0])
    grouped = batches(laid, 600, random.Random(1))
    assert sorted(id(one) for batch in grouped for one in batch) == sorted(map(id, laid))
    assert all(len(b) == 1 or len(b) * max(len(one.ids) for one in b) <= 600 for b in grouped)


def test_a_training_writes_a_reader_that_can_be_used(
    several: Path, single: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    out = tmp_path / "reader"
    report = train_reader([several, single], out, _settings(tiny_encoder, epochs=3))
    assert report.steps > 5
    assert report.held_out > 0
    assert not report.done_before
    text = (out / "README.md").read_text(encoding="utf-8")
    assert "train.jsonl, squad.jsonl" in text
    assert str(tmp_path) not in text
    found = load_reader(str(out)).read(
        "What colour is the hull?", [Passage("p", "d", "Ship", 0, 0, 16, "The hull is red.")]
    )
    assert found.kind in ("span", "none")
    again = train_reader([several, single], out, _settings(tiny_encoder, epochs=3))
    assert again.done_before
    with pytest.raises(ConfigurationError, match="other settings"):
        train_reader([several, single], out, _settings(tiny_encoder, epochs=2))


def test_training_learns(single: Path, tiny_encoder: str, tmp_path: Path) -> None:
    losses = [
        train_reader(
            [single], tmp_path / f"r{n}", _settings(tiny_encoder, single=40, epochs=n, batch=300)
        ).loss
        for n in (1, 12)
    ]
    assert losses[1] < losses[0]


def test_a_training_that_was_stopped_goes_on_to_the_same_weights(
    several: Path, tiny_encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _settings(tiny_encoder, epochs=2)
    whole = train_reader([several], tmp_path / "whole", settings)
    save = training.save_checkpoint

    def stop(*given: object) -> None:
        save(*given)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "save_checkpoint", stop)
    with pytest.raises(KeyboardInterrupt):
        train_reader([several], tmp_path / "cut", settings, save_every=3)
    monkeypatch.undo()
    rest = train_reader([several], tmp_path / "cut", settings, save_every=3)
    assert (rest.resumed, rest.steps) == (3, whole.steps)
    one, other = (read_network(tmp_path / name)[0].own() for name in ("whole", "cut"))
    assert all(part.allclose(other[name], atol=1e-5) for name, part in one.items())


def test_weights_kept_in_eight_bits_are_nearly_those_trained(
    tiny_encoder: str, tmp_path: Path
) -> None:
    import torch

    network = Network(tiny_encoder, 1, precise=True)
    torch.manual_seed(0)
    with torch.no_grad():
        for part in network.own().values():
            part.add_(0.02 * torch.randn_like(part))
    network.save(tmp_path, {})
    read, _ = read_network(tmp_path)
    for name, part in read.own().items():
        assert part.float().allclose(network.own()[name], atol=1e-3), name
    # What lies below is the encoder's own, and shared with it.
    assert read.body.embeddings.word_embeddings.weight.equal(
        network.body.embeddings.word_embeddings.weight
    )


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
    file = tmp_path / "bad.jsonl"
    file.write_text(f"{line}\n" if line else "", encoding="utf-8")
    with pytest.raises(InputError, match=said) as caught:
        read_reading_examples([file])
    assert "bad.jsonl" in str(caught.value)


def test_settings_and_encoders_that_do_not_fit_are_refused(
    single: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="layers is 0"):
        _settings(tiny_encoder, layers=0)
    with pytest.raises(ModelError, match="no 5 layers"):
        train_reader([single], tmp_path / "r", _settings(tiny_encoder, layers=5))


def test_the_command_trains_and_says_what_came_of_it(
    single: Path, several: Path, tiny_encoder: str, tmp_path: Path
) -> None:
    out = tmp_path / "reader"
    done = kgp(
        *("train", "reader", str(single), str(several), "--out", str(out), "--layers", "1"),
        *("--encoder", tiny_encoder, "--single", "10", "--epochs", "1", "--json"),
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["examples"] > 60
    assert (out / "reader.safetensors").is_file()
    missing = kgp("train", "reader", str(tmp_path / "no.jsonl"), "--out", str(tmp_path / "x"))
    assert missing.returncode == 1
    assert "Traceback" not in missing.stderr
