"""Which passages share most, against a plain count of every pair."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from kgp_neo4j.corpus.connect import steps as shared
from kgp_neo4j.corpus.connect.steps import strongest_pairs

_Items = Mapping[int, Mapping[int, float]]


def _pairs(items: _Items, passages: int, neighbours: int) -> list[list[Any]]:
    """Run it on the items of each passage with their weights; names run against the numbers."""
    places = [(p, i, w) for p in sorted(items) for i, w in items[p].items()]
    passage, item, weight = (
        map(np.array, zip(*places, strict=True)) if places else (np.zeros(0),) * 3
    )
    return list(
        strongest_pairs(
            passage.astype(np.int64), item.astype(np.int64), weight, weight,
            [f"item {n}" for n in range(100)],
            [100 + n for n in range(passages)],
            [f"{passages - n:03}" for n in range(passages)],
            neighbours,
        )
    )  # fmt: skip


def _counted(items: _Items, passages: int, neighbours: int) -> dict[tuple[int, int], Any]:
    made: dict[tuple[int, int], Any] = {}
    for p in sorted(items):
        found = []
        for q in items:
            both = [i for i in items[p] if i in items[q]]
            if q != p and both:
                weight = sum(items[p][i] * items[q][i] for i in both)
                found.append((-weight, f"{passages - q:03}", q, both))
        for weight, _, q, both in sorted(found)[:neighbours]:
            if (q, p) not in made:
                made[p, q] = (len(both), -weight, [f"item {i}" for i in both[:5]])
    return made


@pytest.mark.parametrize("most", [1, 50, 1_000_000])
@pytest.mark.parametrize("neighbours", [0, 1, 3, 40])
def test_the_pairs_are_those_of_a_plain_count(
    monkeypatch: pytest.MonkeyPatch, neighbours: int, most: int
) -> None:
    monkeypatch.setattr(shared, "_MOST_PAIRS", most)
    drawn = random.Random(1)
    # Few different weights, so that many are equal; some passages have nothing.
    items = {
        p: {i: drawn.choice((0.25, 0.5)) for i in drawn.sample(range(30), drawn.randrange(12))}
        for p in range(40)
        if p % 7
    }
    found = _pairs(items, 40, neighbours)
    wanted = _counted(items, 40, neighbours)
    assert {(a - 100, b - 100): (n, w, names) for a, b, n, w, names in found} == wanted
    assert len(found) == len(wanted)


def test_nothing_shared() -> None:
    assert _pairs({}, 3, 10) == []
    assert _pairs({0: {1: 1.0}, 2: {2: 1.0}}, 3, 10) == []


def test_a_pair_comes_once_from_its_lower_passage() -> None:
    items = {p: {7: 0.5, 8: 0.5} for p in range(4)}
    found = sorted((a, b) for a, b, *_ in _pairs(items, 4, 10))
    assert found == [(100 + a, 100 + b) for a, b in itertools.combinations(range(4), 2)]
