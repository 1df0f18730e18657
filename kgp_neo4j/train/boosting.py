"""Train gradient boosted trees to rank supporting facts first (LambdaMART)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.extras import needs

__all__ = ["PARAMETERS", "Group", "boost", "trees_of"]

#: A question's candidates: features, which of them are gold, and the question's weight.
Group = tuple[NDArray[np.float32], NDArray[np.int32], float]

_TREES = 300
_FOLDS = 5
#: LightGBM's, beside the seed.
PARAMETERS = {
    "objective": "lambdarank",
    # The order beyond the first ten matters little: a reader gets five passages.
    "lambdarank_truncation_level": 10,
    "num_leaves": 15,
    "learning_rate": 0.06,
    "min_data_in_leaf": 30,
    "lambda_l2": 5.0,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "use_missing": False,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}


def boost(groups: Sequence[Group], seed: int) -> tuple[list[Any], Any]:
    """Return each group's scores by cross-validation, and trees trained on all groups."""
    folds = min(_FOLDS, len(groups))
    scores: list[Any] = [None] * len(groups)
    for fold in range(folds if folds > 1 else 0):
        booster = _grow([g for at, g in enumerate(groups) if at % folds != fold], seed)
        for at in range(fold, len(groups), folds):
            scores[at] = booster.predict(groups[at][0], raw_score=True)
    whole = _grow(groups, seed)
    if folds < 2:
        scores = [whole.predict(rows, raw_score=True) for rows, _, _ in groups]
    return scores, whole


def _grow(groups: Sequence[Group], seed: int) -> Any:
    with needs("train", "training a scorer"):
        import lightgbm
    data = lightgbm.Dataset(
        np.concatenate([rows for rows, _, _ in groups]),
        np.concatenate([gold for _, gold, _ in groups]),
        weight=np.concatenate([np.full(len(g), w, np.float32) for _, g, w in groups]),
        group=[len(gold) for _, gold, _ in groups],
        free_raw_data=True,
    )
    return lightgbm.train(PARAMETERS | {"seed": seed}, data, num_boost_round=_TREES)


def trees_of(booster: Any, features: Sequence[str]) -> list[dict[str, Any]]:
    """Return LightGBM's trees in the form that `kgp_neo4j.models.trees.Trees` reads."""
    return [_tree(each["tree_structure"], features) for each in booster.dump_model()["tree_info"]]


def _tree(node: Mapping[str, Any], features: Sequence[str]) -> dict[str, Any]:
    if "split_feature" not in node:
        return {"leaf": round(node["leaf_value"], 6)}
    return {
        "feature": features[node["split_feature"]],
        "threshold": _rounded_down(node["threshold"]),
        "value": round(node["internal_value"], 6),
        "low": _tree(node["left_child"], features),
        "high": _tree(node["right_child"], features),
    }


def _rounded_down(threshold: float) -> float:
    """Return the greatest float32 that is not above: features are compared as float32."""
    rounded = np.float32(threshold)
    if rounded > threshold:
        rounded = np.nextafter(rounded, np.float32(-np.inf))
    return float(str(rounded))
