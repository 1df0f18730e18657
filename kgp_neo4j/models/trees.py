"""Read boosted regression trees from a JSON file, and score passages with them."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.files import expanded
from kgp_neo4j.types.errors import ModelError

#: Leaves of a tree at most, so that a set of them fits into 16 bits.
LEAVES = 16
#: The lowest bit set of each set of leaves.
_LOWEST = np.array(
    [(bits & -bits).bit_length() - 1 if bits else 0 for bits in range(1 << LEAVES)], dtype=np.uint8
)


class Trees:
    """An ensemble of trees over named features; a tree is {"leaf": x} or a split of two trees.

    A split is {"feature": name, "threshold": x, "low": tree, "high": tree}; `low` is for x at most.
    """

    def __init__(self, features: Sequence[str], trees: Sequence[Mapping[str, Any]]) -> None:
        self._place = {name: at for at, name in enumerate(features)}
        count = len(trees)
        # Each tree as its splits and the leaves that each rules out (Lucchese et al. 2015,
        # QuickScorer): there is no walk from node to node, so numpy computes all trees and rows at
        # once. The trees' first splits are adjacent in memory, as are their second ones and so on.
        self._feature = np.zeros((LEAVES - 1, count), dtype=np.intp)
        self._threshold = np.full((LEAVES - 1, count), np.inf, dtype=np.float32)
        self._ruled_out = np.zeros((LEAVES - 1, count), dtype=np.uint16)
        self._leaf = np.zeros((count, LEAVES), dtype=np.float64)
        for at, tree in enumerate(trees):
            self._add(at, tree)
        self._numbers = np.arange(count)

    def _add(self, number: int, tree: Mapping[str, Any]) -> None:
        leaves: list[float] = []
        splits: list[tuple[int, float, int]] = []

        def walk(node: Mapping[str, Any]) -> None:
            if "leaf" in node:
                leaves.append(node["leaf"])
                return
            first = len(leaves)
            walk(node["low"])
            # Above the threshold, the leaves of the low side are ruled out.
            low = (1 << len(leaves)) - (1 << first)
            splits.append((self._place[node["feature"]], node["threshold"], low))
            walk(node["high"])

        walk(tree)
        if len(leaves) > LEAVES:
            raise ValueError(f"tree {number} has over {LEAVES} leaves")
        self._leaf[number, : len(leaves)] = leaves
        if splits:
            features, thresholds, ruled_out = zip(*splits, strict=True)
            self._feature[: len(splits), number] = features
            self._threshold[: len(splits), number] = thresholds
            self._ruled_out[: len(splits), number] = ruled_out

    def scores(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return one score for each row of an array of shape (rows, features)."""
        columns = np.ascontiguousarray(rows.T)
        out = np.zeros((len(self._leaf), len(rows)), dtype=np.uint16)
        for feature, threshold, ruled_out in zip(
            self._feature, self._threshold[..., None], self._ruled_out[..., None], strict=True
        ):
            out |= (columns[feature] > threshold) * ruled_out
        # A row ends in the lowest leaf of each tree that no split ruled out.
        return np.asarray(self._leaf[self._numbers, _LOWEST[~out].T].sum(axis=1))


@lru_cache(maxsize=2)
def load_scorer(folder: str | None = None) -> tuple[Trees, Trees]:
    """Read the learned agent's trees, or those of a folder: for the first hop, for the later ones.

    Raises ModelError where there are none.
    """
    place = expanded(folder) if folder else Path(__file__).with_name("learned")
    file = place / "scorer.json"
    try:
        value = msgspec.json.decode(file.read_bytes())
        return Trees(value["features"], value["first"]), Trees(value["features"], value["later"])
    except (OSError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        hint = "Give a folder that `kgp-neo4j train scorer` made."
        raise ModelError(f"this is no scorer ({error!r})", where=str(file), hint=hint) from error
