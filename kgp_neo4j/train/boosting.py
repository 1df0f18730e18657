"""Train gradient boosted trees to rank supporting facts first (LambdaMART)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.types.checks import check_ranges

__all__ = ["BoostingSettings", "Group", "boost", "trees_of"]

#: A question's candidates: features, which of them are gold, and the question's weight.
Group = tuple[NDArray[np.float32], NDArray[np.int32], float]


@dataclass(frozen=True, slots=True)
class BoostingSettings:
    """The options of boosting: the number and size of trees, and the folds of cross-validation."""

    trees: int = 300
    leaves: int = 15
    rate: float = 0.06
    smallest_leaf: int = 30
    penalty: float = 5.0
    folds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(self, trees=(1, 5000), leaves=(2, 16), folds=(2, 50))


def boost(groups: Sequence[Group], settings: BoostingSettings) -> tuple[list[Any], Any]:
    """Return each group's scores by cross-validation, and trees trained on all groups."""
    folds = min(settings.folds, len(groups))
    scores: list[Any] = [None] * len(groups)
    for fold in range(folds if folds > 1 else 0):
        fold_groups = [at for at in range(len(groups)) if at % folds == fold]
        booster = _grow([g for at, g in enumerate(groups) if at % folds != fold], settings)
        for at in fold_groups:
            scores[at] = booster.predict(groups[at][0], raw_score=True)
    whole = _grow(groups, settings)
    if folds < 2:
        scores = [whole.predict(rows, raw_score=True) for rows, _, _ in groups]
    return scores, whole


def _grow(groups: Sequence[Group], settings: BoostingSettings) -> Any:
    with needs("train", "training a scorer"):
        import lightgbm
    data = lightgbm.Dataset(
        np.concatenate([rows for rows, _, _ in groups]),
        np.concatenate([gold for _, gold, _ in groups]),
        weight=np.concatenate([np.full(len(g), w, np.float32) for _, g, w in groups]),
        group=[len(gold) for _, gold, _ in groups],
        free_raw_data=True,
    )
    parameters = {
        "objective": "lambdarank",
        # The order beyond the first ten matters little: a reader gets five passages.
        "lambdarank_truncation_level": 10,
        "num_leaves": settings.leaves,
        "learning_rate": settings.rate,
        "min_data_in_leaf": settings.smallest_leaf,
        "lambda_l2": settings.penalty,
        "feature_fraction": 0.5,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "use_missing": False,
        "deterministic": True,
        "force_row_wise": True,
        "seed": settings.seed,
        "verbose": -1,
    }
    return lightgbm.train(parameters, data, num_boost_round=settings.trees)


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
