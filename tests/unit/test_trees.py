"""The learned agent's trees: scores as by a walk through them, bad files."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import write_file

from kgp_neo4j.models.trees import LEAVES, Trees, load_scorer
from kgp_neo4j.types.errors import ModelError

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


def _chain(leaves: int, low: bool) -> dict[str, Any]:
    """Return a tree whose splits all hang on one side."""
    tree: dict[str, Any] = {"leaf": 0.0}
    for number in range(1, leaves):
        sides = (tree, {"leaf": float(number)})
        first, second = sides if low else sides[::-1]
        threshold = float(number if low else -number)
        tree = {"feature": "links", "threshold": threshold, "low": first, "high": second}
    return tree


def _rows(rng: random.Random, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    values = (-1.0, -0.5, 0.0, 0.25, 1.0)
    made = [
        [rng.choice(values) if rng.random() < 0.5 else rng.uniform(-2, 2) for _ in _FEATURES]
        for _ in range(count)
    ]
    return np.array(made, np.float32)


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
    rows = _rows(rng, 60)
    walked = [[_walk(tree, row) for tree in forest] for row in rows.tolist()]
    trees = Trees(_FEATURES, forest)
    scores = trees.scores(rows)
    assert scores.shape == (60,)
    assert scores == pytest.approx([sum(row) for row in walked])
    assert len(set(scores.tolist())) > 50  # different rows, different leaves


def _scorer(**changed: Any) -> dict[str, Any]:
    """Return what a scorer's file holds, with some of it changed."""
    made = {"features": list(_FEATURES), "first": [_chain(4, True)], "later": [_chain(2, False)]}
    return made | changed


def test_a_scorer_from_its_file(tmp_path: Path) -> None:
    write_file(tmp_path / "scorer.json", json.dumps(_scorer()))
    first, later = load_scorer(str(tmp_path))
    rows = np.full((1, len(_FEATURES)), 9.0, np.float32)
    assert first.scores(rows).tolist() == [_walk(_chain(4, True), [9.0] * 4)]
    assert later.scores(rows).tolist() == [_walk(_chain(2, False), [9.0] * 4)]


_OTHER = {"feature": "colour", "threshold": 0, "low": {"leaf": 0}, "high": {"leaf": 1}}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{}", "no scorer"),
        (b"\xff\xfe", "no scorer"),
        (b"[" * 100_000, "no scorer"),
        (json.dumps(_scorer(first=[_OTHER])).encode(), "no scorer.*colour"),
        (
            json.dumps(_scorer(later=[{**_OTHER, "feature": "links", "low": 3}])).encode(),
            "no scorer",
        ),
        (json.dumps(_scorer(first=[_chain(LEAVES + 1, True)])).encode(), "over 16 leaves"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_are_no_scorer(tmp_path: Path, content: bytes, reason: str) -> None:
    file = write_file(tmp_path / "scorer.json", content)
    with pytest.raises(ModelError, match=reason) as raised:
        load_scorer(str(tmp_path))
    assert raised.value.where == str(file)
    assert raised.value.hint
