"""What the learned agent is trained from, and its trees: scores as by a walk, bad files."""

import itertools
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import write_file, write_lines
from questions import hotpot, in_columns

from kgp_neo4j.models.engine import LEAVES, Trees, load_scorer
from kgp_neo4j.train.examples import (
    SupportingFact,
    TrainingQuestion,
    chained,
    read_training_questions,
    training_pairs,
)
from kgp_neo4j.types.errors import InputError, ModelError

_BRIDGE = hotpot(
    "b1", "Why did the designer of Hesk Bridge become an engineer?", "a flood",
    {"Yusuf Arden": 1, "Hesk Bridge": 0},
    {
        "Yusuf Arden": ["Yusuf Arden was born in Hesk.", " He began after a flood.", " More."],
        "Port Merrin": ["A harbour."],
        "Hesk Bridge": ["Hesk Bridge was designed by Yusuf Arden.", " It is long."],
        "Nothing": [],
    },
)  # fmt: skip
_COMPARISON = hotpot(
    "7", "Which film's director was born later, Low Tide or High Water (film)?", "Low Tide",
    {"Low Tide": 0, "High Water (film)": 0, "Ada Moor": 0, "Ivo Lind": 9},
    {
        "Ivo Lind": ["Ivo Lind was born in 1901."],
        "Low Tide": ["Low Tide is a film by Ada Moor."],
        "Ada Moor": ["Ada Moor was born in 1950."],
        "High Water (film)": ["High Water is a film by Ivo Lind."],
    },
    type="bridge_comparison", evidences=[],
)  # fmt: skip
_MUSIQUE: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "Who leads the town where Ada Moor was born?",
    "answer": "Bo Vik",
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Sund", "paragraph_text": "Sund is led by Bo Vik."},
        {"idx": 1, "title": "Elsewhere", "paragraph_text": "Far away."},
        {"idx": 2, "title": "Ada Moor", "paragraph_text": "Ada Moor was born in Sund."},
    ],
    "question_decomposition": [{"paragraph_support_idx": 2}, {"paragraph_support_idx": 0}],
}


def _titles(question: TrainingQuestion) -> list[str]:
    return [fact.title for fact in question.facts]


def test_hotpotqa_puts_what_the_question_names_first(tmp_path: Path) -> None:
    (read,) = read_training_questions([write_lines(tmp_path / "a.jsonl.gz", _BRIDGE)])
    assert read.answer == "a flood"
    assert read.facts == (
        SupportingFact(
            "Hesk Bridge",
            "Hesk Bridge was designed by Yusuf Arden.",
            "Hesk Bridge was designed by Yusuf Arden. It is long.",
        ),
        SupportingFact(
            "Yusuf Arden",
            "He began after a flood.",
            "Yusuf Arden was born in Hesk. He began after a flood. More.",
        ),
    )
    assert read.distractors == (("Port Merrin", "A harbour."),)
    pairs = training_pairs([read])
    steps = [(len(pair.found), pair.expected.title) for pair in pairs]
    assert steps == [(0, "Hesk Bridge"), (1, "Yusuf Arden")]
    assert pairs[1].found == read.facts[:1]


def test_a_comparison_is_learnt_from_either_side(tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.json", json.dumps([in_columns(_COMPARISON)]))
    (read,) = read_training_questions([path])
    assert _titles(read) == ["Low Tide", "Ada Moor", "High Water (film)", "Ivo Lind"]
    assert read.starts == (0, 2)
    # Its sentence number is past the end: then all of the passage supports the answer.
    assert read.facts[3].text == "Ivo Lind was born in 1901."
    assert [[fact.title for fact in order] for order in read.orders()] == [
        ["Low Tide", "Ada Moor", "High Water (film)", "Ivo Lind"],
        ["High Water (film)", "Ivo Lind", "Low Tide", "Ada Moor"],
    ]
    assert len(training_pairs([read])) == 8
    plain = _BRIDGE | {"type": "comparison"}
    (read,) = read_training_questions([write_lines(tmp_path / "b.jsonl", plain)])
    assert read.starts == (0, 1)
    assert len(read.orders()) == 2


def test_musique_keeps_the_order_of_its_decomposition(tmp_path: Path) -> None:
    unanswerable = _MUSIQUE | {"question": "?", "answerable": False, "question_decomposition": []}
    (read,) = read_training_questions([write_lines(tmp_path / "a.jsonl", unanswerable, _MUSIQUE)])
    assert _titles(read) == ["Ada Moor", "Sund"]
    assert read.facts[1].text == read.facts[1].passage_text == "Sund is led by Bo Vik."
    assert read.distractors == (("Elsewhere", "Far away."),)


def test_the_chain_does_not_depend_on_the_order_given() -> None:
    facts = [
        SupportingFact(title, text, text)
        for title, text in (
            ("Hesk Bridge", "Hesk Bridge replaced the ferry and was designed by Yusuf Arden."),
            ("Yusuf Arden", "Yusuf Arden studied in Corriander."),
            ("Corriander", "Corriander has 900 people."),
        )
    ]
    question = "How many people live where the designer of Hesk Bridge studied?"
    for given in itertools.permutations(facts):
        assert chained(question, "900", given) == facts


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (_BRIDGE | {"question": " "}, "are empty"),
        ({"question": "Who?", "answer": "x"}, "KeyError('context')"),
        (_BRIDGE | {"question": "Who \ud800?"}, "half a surrogate pair"),
        (_BRIDGE | {"supporting_facts": [["Nothing", 0]]}, "'Nothing' is not in the context"),
        (_BRIDGE | {"context": [["Hesk Bridge", "text"]]}, "no list of sentences"),
        (_MUSIQUE | {"paragraphs": [{"title": "x"}]}, "KeyError('paragraph_text')"),
        (_MUSIQUE | {"question_decomposition": [{"paragraph_support_idx": 9}]}, "KeyError(9)"),
    ],
)
def test_a_bad_line_is_said_with_file_and_line(tmp_path: Path, record: object, said: str) -> None:
    path = write_lines(tmp_path / "bad.jsonl", _MUSIQUE, record)
    with pytest.raises(InputError) as caught:
        read_training_questions([path])
    assert said in str(caught.value)
    assert f"{path}:2" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing.jsonl", None, "cannot be read"),
        ("notes.txt", None, "not a file of questions"),
        ("empty.jsonl", [], "the file holds no question"),
        ("broken.jsonl", ['{"question"'], "not JSON"),
    ],
)
def test_a_bad_file_is_said(tmp_path: Path, name: str, content: Any, said: str) -> None:
    if content is not None:
        write_lines(tmp_path / name, *content)
    with pytest.raises(InputError, match=said):
        read_training_questions([tmp_path / name])


_FEATURES = ("cosine", "lexical", "links", "length")


def _tree(rng: random.Random, leaves: int) -> dict[str, Any]:
    """Return a tree of so many leaves in a shape of chance, often splitting on the same feature."""
    if leaves == 1:
        return {"leaf": round(rng.uniform(-2, 2), 3)}
    low = rng.randint(1, leaves - 1)
    # Of few thresholds, so that rows meet them exactly.
    return {
        "feature": rng.choice(_FEATURES),
        "threshold": rng.choice((-1.0, -0.5, 0.0, 0.25, 1.0)),
        "low": _tree(rng, low),
        "high": _tree(rng, leaves - low),
    }


def _walk(tree: Mapping[str, Any], row: Sequence[float]) -> float:
    """Return the leaf's value, from split to split."""
    while "leaf" not in tree:
        at = _FEATURES.index(tree["feature"])
        tree = tree["high" if row[at] > np.float32(tree["threshold"]) else "low"]
    return float(tree["leaf"])


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_a_walk_from_split_to_split(seed: int) -> None:
    rng = random.Random(seed)
    forest = [_tree(rng, leaves) for leaves in (1, 2, 3, 7, LEAVES - 1, *[LEAVES] * 15)]
    drawn = np.random.default_rng(seed)
    values = drawn.choice((-1.0, -0.5, 0.0, 0.25, 1.0), (60, 4))
    rows = np.where(drawn.random((60, 4)) < 0.5, values, drawn.uniform(-2, 2, (60, 4)))
    rows = rows.astype(np.float32)
    walked = [[_walk(tree, row) for tree in forest] for row in rows.tolist()]
    trees = Trees(_FEATURES, forest)
    scores = trees.scores(rows)
    assert scores.shape == (60,)
    assert scores == pytest.approx([sum(row) for row in walked])
    assert len(set(scores.tolist())) > 50  # different rows, different leaves


_TREES = [_tree(random.Random(4), leaves) for leaves in (4, 2, LEAVES + 1)]


def _scorer(**changed: Any) -> str:
    """Return the text of a scorer's file, with some of it changed."""
    made = {"features": list(_FEATURES), "first": _TREES[:1], "later": _TREES[1:2]}
    return json.dumps(made | changed)


def test_a_scorer_from_its_file(tmp_path: Path) -> None:
    write_file(tmp_path / "scorer.json", _scorer())
    rows = np.full((1, len(_FEATURES)), 9.0, np.float32)
    for trees, tree in zip(load_scorer(str(tmp_path)), _TREES[:2], strict=True):
        assert trees.scores(rows) == pytest.approx([_walk(tree, [9.0] * 4)])


_OTHER = {"feature": "colour", "threshold": 0, "low": {"leaf": 0}, "high": {"leaf": 1}}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{}", "no scorer"),
        (b"\xff\xfe", "no scorer"),
        (b"[" * 100_000, "no scorer"),
        (_scorer(first=[_OTHER]), "no scorer.*colour"),
        (_scorer(later=[{**_OTHER, "feature": "links", "low": 3}]), "no scorer"),
        (_scorer(first=_TREES[2:]), "over 16 leaves"),
    ],
    ids=range(6),
)
def test_files_that_are_no_scorer(tmp_path: Path, content: str | bytes, reason: str) -> None:
    file = write_file(tmp_path / "scorer.json", content)
    with pytest.raises(ModelError, match=reason) as raised:
        load_scorer(str(tmp_path))
    assert raised.value.where == str(file)
    assert raised.value.hint
