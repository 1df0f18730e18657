"""The nearest by cells, against those by all cosines."""

import numpy as np
import pytest

from kgp_neo4j.corpus.connect import nearest


def test_the_nearest_in_cells_are_nearly_all_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "_CELLS", 64)
    monkeypatch.setattr(nearest, "_CELLS_NEAR", 12)
    drawn = np.random.default_rng(1)
    middles = drawn.standard_normal((40, 24))
    vectors = middles[drawn.integers(40, size=4000)] + drawn.standard_normal((4000, 24))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    asked = np.arange(1, 4000, 3)

    found = {}
    for of, places, cosines in nearest._nearest_in_cells(vectors, asked, 10):
        assert np.allclose(
            cosines, np.einsum("ij,ikj->ik", vectors[of], vectors[places]), atol=1e-5
        )
        assert (np.diff(cosines) <= 0).all()
        found.update(zip(of, map(set, places.tolist()), strict=True))
    assert sorted(found) == asked.tolist()
    assert all(len(places) == 10 and of not in places for of, places in found.items())
    every = nearest._nearest(vectors, asked, 10)
    both = [len(found[o] & set(p)) for of, near, _ in every for o, p in zip(of, near, strict=True)]
    assert sum(both) >= 0.95 * 10 * len(asked)


def test_few_vectors_all_equal_have_neighbours_too() -> None:
    vectors = np.full((5, 4), 0.5, np.float32)
    found = {o: len(p) for of, near, _ in nearest._nearest_in_cells(vectors, np.arange(5), 4)
             for o, p in zip(of, near, strict=True)}  # fmt: skip
    assert found == dict.fromkeys(range(5), 4)
