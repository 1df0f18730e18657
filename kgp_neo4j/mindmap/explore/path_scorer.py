"""Which relation path does a question ask for? A small network that reads its words beside it.

For each relation path it sees, word by word, how near the word comes to each step of the path, what
other relation of the graph it may mean, which function words stand around and how far the entity is
(`path_features`). Names of relations and entities have no other way in, so that what was learned on
one graph serves another. Runs with numpy alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.mindmap.explore.path_features import HOPS, QuestionWords, Step

__all__ = ["PathScorer", "load_path_scorer", "path_forms", "word_features"]

_FILE = "path_scorer.safetensors"


def path_forms(paths: Sequence[Sequence[Step]]) -> NDArray[np.float32]:
    """Return the form of each path, (paths, 10): its length, directions, and how it turns back.

    The last two are steps straight back along the relation before, and steps against a relation
    that leads on in its own direction too.
    """
    known = {tuple(path) for path in paths}
    rows = np.zeros((len(paths), 2 * HOPS + 2), np.float32)
    for row, path in zip(rows, paths, strict=True):
        row[len(path) - 1] = 1.0
        for at, (relation, forward) in enumerate(path):
            row[HOPS + at] = 1.0 if forward else -1.0
            if at and path[at - 1] == (relation, not forward):
                row[-2] += 1
            if not forward and (*path[:at], (relation, True)) in known:
                row[-1] += 1
    return rows


def word_features(
    words: QuestionWords, paths: Sequence[Sequence[Step]], place: Mapping[str, int]
) -> NDArray[np.float32]:
    """Return each word beside each path, (paths, words, 21): the four kinds of nearness to each of
    the four steps, the best relation's, and where the word stands. `place` is the row of a relation
    in `words.near`.
    """
    nothing = words.near.shape[1]
    near = np.concatenate([words.near, np.zeros_like(words.near[:, :1])], axis=1)
    steps = np.full((len(paths), HOPS), nothing)
    for row, path in zip(steps, paths, strict=True):
        row[: len(path)] = [place[relation] for relation, _ in path]
    count, size = len(paths), len(words.place)
    beside = near[:, steps].transpose(1, 3, 0, 2).reshape(count, size, 4 * HOPS)
    best = words.near[:2].max(axis=1).T
    where = np.stack([words.place / 8, np.abs(words.place) / 8, words.mention], axis=1)
    same = np.concatenate([best, where], axis=1).astype(np.float32)
    return np.concatenate([beside, np.broadcast_to(same, (count, *same.shape))], axis=2)


class PathScorer:
    """The network's weights; two convolutions over the words, read at their most, mean and entity.

    `temperature` makes probabilities of its scores that hold on questions it was not trained on.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self._weights = weights
        self.temperature = float(weights["temperature"][0])

    def scores(
        self, words: QuestionWords, paths: Sequence[Sequence[Step]], place: Mapping[str, int]
    ) -> NDArray[np.float32]:
        """Return a score for each path: their softmax is the probability that it is meant."""
        w = self._weights
        forms = path_forms(paths)
        count, size = len(paths), len(words.place)
        beside = word_features(words, paths, place)
        grammar = w["grammar"][words.grammar]
        split = np.cumsum([beside.shape[2], grammar.shape[1]])
        near, spoken, whole = np.split(w["input.weight"].T, split)
        hidden = beside @ near + (grammar @ spoken)[None] + (forms @ whole)[:, None]
        hidden = np.maximum(hidden + w["input.bias"], 0.0)
        for layer in ("first", "second"):
            kernel = w[f"{layer}.weight"]  # (out, in, width)
            reach = kernel.shape[2] // 2
            padded = np.pad(hidden, ((0, 0), (reach, reach), (0, 0)))
            convolved = sum(
                padded[:, at : at + size] @ kernel[:, :, at].T for at in range(2 * reach + 1)
            )
            hidden = hidden + np.maximum(convolved + w[f"{layer}.bias"], 0.0)
        here = words.mention.astype(np.float32)
        entity = (hidden * here[:, None]).sum(axis=1) / max(here.sum(), 1.0)
        read = np.concatenate([hidden.mean(axis=1), hidden.max(axis=1), entity, forms], axis=1)
        last = np.maximum(read @ w["middle.weight"].T + w["middle.bias"], 0.0)
        return np.asarray((last @ w["output.weight"].T + w["output.bias"]).reshape(count))


@lru_cache(maxsize=1)
def load_path_scorer() -> PathScorer:
    """Return the scorer that comes with the package."""
    from safetensors.numpy import load

    file = resources.files("kgp_neo4j.mindmap.explore") / _FILE
    return PathScorer(load(file.read_bytes()))
