"""Train the ranker of questions over tables from questions and answers alone.

No reading is given, only answers: every plan with the right answer may be the right one, and
training raises the probability of all of them together (maximum marginal likelihood, as in Pasupat
and Liang, ACL 2015).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.tables.questions.features import FEATURES, Example
from kgp_neo4j.corpus.tables.questions.ranker import CONFIDENCE, HEADER_WORDS
from kgp_neo4j.train.scorer import trees_of

__all__ = ["RankerSettings", "Sample", "grow_confidence", "save", "train_ranker"]

#: Sizes of the network's vectors of words and of headers, and of its layers.
_WORDS, _HEADER, _HIDDEN, _SECOND = 32, 16, 96, 64
#: Questions of one step, and the rate and decay of the weights.
_BATCH, _RATE, _DECAY = 24, 3e-3, 0.05
#: Layers of the network that are tables of vectors, which `Ranker` has without ".weight".
_TABLES = ("grams", "signatures", "headers", "bias")


@dataclass(frozen=True, slots=True)
class Sample:
    """A question's readings, those of them with the right answer, and those with the same answer.

    `part` is the fold of the question's table; `weight` is the question's weight.
    """

    example: Example
    right: Sequence[bool]
    groups: list[int]
    part: int = 0
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """How often the questions are gone through, and how often a gram, a signature and a word of a
    header must occur.
    """

    rounds: int = 5
    rare: tuple[int, int, int] = (8, 60, 15)
    seed: int = 0


def train_ranker(
    samples: Sequence[Sample],
    settings: RankerSettings,
    echo: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return weights (numpy arrays) and vocabularies of a ranker trained on the samples."""
    import numpy as np
    import torch

    torch.manual_seed(settings.seed)
    usable = [s for s in samples if any(s.right)]
    card = _vocabularies(samples, settings.rare)
    features = np.concatenate([s.example.features for s in usable])
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-3
    places = {kind: {n: i for i, n in enumerate(names, 1)} for kind, names in card.items()}
    encoded = [_encoded(s, places, mean, scale) for s in usable]
    net = _network(card)
    optimizer = torch.optim.AdamW(net.parameters(), lr=_RATE, weight_decay=_DECAY)
    steps = settings.rounds * (len(encoded) // _BATCH + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, _RATE, total_steps=steps, pct_start=0.1
    )
    net.train()
    for round_ in range(settings.rounds):
        order, total = torch.randperm(len(encoded)).tolist(), 0.0
        for at in range(0, len(order), _BATCH):
            batch = order[at : at + _BATCH]
            optimizer.zero_grad()
            for *inputs, right, weight in (encoded[i] for i in batch):
                scores = net(*inputs)
                loss = (scores.logsumexp(0) - scores[right].logsumexp(0)) * weight
                (loss / len(batch)).backward()
                total += float(loss.detach())
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            schedule.step()
        echo(f"round {round_ + 1}: loss {total / len(encoded):.3f}")
    weights = {
        name.removesuffix(".weight") if name.split(".")[0] in _TABLES else name: value.numpy()
        for name, value in net.state_dict().items()
    }
    return {**weights, "mean": mean, "scale": scale}, card


def _vocabularies(samples: Sequence[Sample], rare: Sequence[int]) -> dict[str, Any]:
    """Return the names of each kind that occur often enough, in order."""
    grams, signatures, headers = Counter[str](), Counter[str](), Counter[str]()
    for example in (sample.example for sample in samples):
        grams.update(example.grams)
        signatures.update(set(example.signatures))
        headers.update({word for parts in example.headers for part in parts for word in part})
    return {
        kind: sorted(name for name, count in counts.items() if count >= least)
        for kind, counts, least in zip(_TABLES, (grams, signatures, headers), rare, strict=False)
    }


def _encoded(
    sample: Sample, places: dict[str, dict[str, int]], mean: Any, scale: Any
) -> tuple[Any, ...]:
    """Return what the network takes of a question, which readings are right, and its weight."""
    import torch

    example = sample.example
    grams = [places["grams"][g] for g in example.grams if g in places["grams"]] or [0]
    known, nothing = places["headers"], [0] * HEADER_WORDS
    headers = [
        [([known.get(word, 0) for word in part] + nothing)[:HEADER_WORDS] for part in parts]
        for parts in zip(*example.headers, strict=True)
    ]
    return (
        torch.tensor(grams),
        torch.tensor((example.features - mean) / scale),
        torch.tensor([places["signatures"].get(s, 0) for s in example.signatures]),
        torch.tensor(headers),
        torch.tensor(list(sample.right)),
        sample.weight,
    )


def _network(card: dict[str, Any]) -> Any:
    import torch
    from torch import nn

    class Network(nn.Module):
        """The network of `Ranker.scores`, with dropout."""

        def __init__(self) -> None:
            super().__init__()
            self.grams = nn.Embedding(len(card["grams"]) + 1, _WORDS, padding_idx=0)
            self.signatures = nn.Embedding(len(card["signatures"]) + 1, _WORDS)
            self.bias = nn.Embedding(len(card["signatures"]) + 1, 1)
            self.headers = nn.Embedding(len(card["headers"]) + 1, _HEADER, padding_idx=0)
            self.turn = nn.Linear(_WORDS, _WORDS, bias=False)
            self.ask = nn.Linear(_WORDS, 3 * _HEADER)
            self.features = nn.Linear(len(FEATURES), _HIDDEN)
            self.question = nn.Linear(_WORDS, _HIDDEN, bias=False)
            self.shape = nn.Linear(_WORDS, _HIDDEN, bias=False)
            self.header = nn.Linear(3 * _HEADER, _HIDDEN, bias=False)
            self.extra = nn.Linear(5, _HIDDEN, bias=False)
            self.second = nn.Linear(_HIDDEN, _SECOND)
            self.last = nn.Linear(_SECOND, 1)
            for table in (self.grams, self.signatures, self.headers):
                nn.init.normal_(table.weight, 0.0, 0.1)
                with torch.no_grad():
                    if table.padding_idx is not None:
                        table.weight[0] = 0
            nn.init.eye_(self.turn.weight)
            nn.init.zeros_(self.bias.weight)
            self.drop_few, self.drop_some, self.drop_half = map(nn.Dropout, (0.1, 0.35, 0.5))

        def forward(self, grams: Any, rows: Any, shapes: Any, headers: Any) -> Any:
            question = self.drop_half(self.grams(grams).sum(0) * (1.5 / len(grams) ** 0.5))
            shape, bias = self.signatures(shapes), self.bias(shapes)
            fit = (shape @ self.turn(self.drop_half(question)))[:, None]
            heads = self.drop_half(self.headers(headers).sum(2))
            fits = (heads * self.ask(question).view(3, 1, -1)).sum(2).T
            first = self.features(self.drop_few(rows)) + self.question(question)
            first = first + self.shape(shape) + self.header(heads.transpose(0, 1).flatten(1))
            first = first + self.extra(torch.cat([fit, fits, bias], 1))
            second = self.second(self.drop_some(torch.relu(first)))
            total = self.last(self.drop_some(torch.relu(second)))
            return (total + fit + fits.sum(1, keepdim=True) + bias).squeeze(1)

    return Network()


def grow_confidence(
    rows: Sequence[Sequence[float]], right: Sequence[bool], smallest_leaf: int = 60
) -> Any:
    """Return trees that estimate the probability that a question's best answer is right.

    `rows` are `confidence_row`s by rankers that had not seen the question's table.
    """
    import lightgbm
    import numpy as np

    data = lightgbm.Dataset(np.array(rows, np.float32), np.array(right, np.int32))
    parameters = {
        "objective": "binary", "num_leaves": 8, "learning_rate": 0.05, "lambda_l2": 10.0,
        "min_data_in_leaf": smallest_leaf, "feature_fraction": 0.5, "bagging_fraction": 0.8,
        "bagging_freq": 1, "use_missing": False, "deterministic": True, "force_row_wise": True,
        "seed": 0, "verbose": -1,
    }  # fmt: skip
    return trees_of(lightgbm.train(parameters, data, num_boost_round=120), CONFIDENCE)


def save(folder: Path, weights: dict[str, Any], card: dict[str, Any]) -> None:
    """Write a ranker: `ranker.safetensors` (half precision) and `ranker.json`."""
    import numpy as np
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    halves = {name: np.ascontiguousarray(a, dtype=np.float16) for name, a in weights.items()}
    save_file(halves, folder / "ranker.safetensors")
    text = json.dumps(card, ensure_ascii=False)
    (folder / "ranker.json").write_text(text + "\n", encoding="utf-8")
