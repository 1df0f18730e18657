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
from kgp_neo4j.corpus.tables.questions.ranker import (
    CONFIDENCE,
    HEADER_WORDS,
    Ranker,
    confidence_row,
)
from kgp_neo4j.train.boosting import trees_of

__all__ = ["RankerSettings", "Sample", "best_of", "grow_confidence", "save", "train_ranker"]


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
    """The network's sizes, and the options of its training."""

    words: int = 32
    header: int = 16
    hidden: int = 96
    rounds: int = 5
    batch: int = 24
    rate: float = 3e-3
    decay: float = 0.05
    rare_gram: int = 8
    rare_signature: int = 60
    rare_header: int = 15
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
    card = _vocabularies(samples, settings)
    features = np.concatenate([s.example.features for s in usable])
    mean, scale = features.mean(axis=0), features.std(axis=0) + 1e-3
    del features
    places = {kind: {n: i for i, n in enumerate(names, 1)} for kind, names in card.items()}
    encoded = [_encoded(s, places, mean, scale) for s in usable]
    net = _network(card, settings)
    optimizer = torch.optim.AdamW(net.parameters(), lr=settings.rate, weight_decay=settings.decay)
    size = settings.batch
    steps = settings.rounds * (len(encoded) // size + 1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, settings.rate, total_steps=steps, pct_start=0.1
    )
    net.train()
    for round_ in range(settings.rounds):
        order = torch.randperm(len(encoded)).tolist()
        total = 0.0
        for at in range(0, len(encoded), size):
            batch = _Batch([encoded[i] for i in order[at : at + size]])
            scores = net(batch)
            below = scores.masked_fill(~batch.right, -1e9)
            loss = (_log_sum(scores, batch) - _log_sum(below, batch)) * batch.weights
            optimizer.zero_grad()
            loss.mean().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimizer.step()
            schedule.step()
            total += float(loss.detach().sum())
        echo(f"round {round_ + 1}: loss {total / len(encoded):.3f}")
    weights = {
        name.removesuffix(".weight") if name.split(".")[0] in _TABLES else name: value.numpy()
        for name, value in net.state_dict().items()
    }
    return {**weights, "mean": mean, "scale": scale}, card


#: Layers of the network that are tables of vectors, which `Ranker` has without ".weight".
_TABLES = ("grams", "signatures", "headers", "bias")


def _vocabularies(samples: Sequence[Sample], settings: RankerSettings) -> dict[str, Any]:
    """Return the names of each kind that occur often enough, in order."""
    names: dict[str, Counter[str]] = {
        "grams": Counter(),
        "signatures": Counter(),
        "headers": Counter(),
    }
    for sample in samples:
        example = sample.example
        names["grams"].update(example.grams)
        names["signatures"].update(set(example.signatures))
        names["headers"].update({w for parts in example.headers for part in parts for w in part})
    rare = (settings.rare_gram, settings.rare_signature, settings.rare_header)
    return {
        kind: sorted(name for name, count in counts.items() if count >= least)
        for (kind, counts), least in zip(names.items(), rare, strict=True)
    }


def _encoded(
    sample: Sample, places: dict[str, dict[str, int]], mean: Any, scale: Any
) -> tuple[Any, ...]:
    """Return the places of grams and signatures, features, places of header words, and the rest."""
    import numpy as np
    import torch

    example = sample.example
    grams = [places["grams"][g] for g in example.grams if g in places["grams"]] or [0]
    headers = np.zeros((3, len(example.headers), HEADER_WORDS), dtype=np.int64)
    for row, parts in enumerate(example.headers):
        for part, words in enumerate(parts):
            known = [places["headers"].get(w, 0) for w in words[:HEADER_WORDS]]
            headers[part, row, : len(known)] = known
    return (
        torch.tensor(grams),
        torch.tensor((example.features - mean) / scale),
        torch.tensor([places["signatures"].get(s, 0) for s in example.signatures]),
        torch.tensor(headers),
        torch.tensor(list(sample.right)),
        sample.weight,
    )


class _Batch:
    """Questions one behind the other; `of` is the question of each candidate."""

    def __init__(self, encoded: Sequence[tuple[Any, ...]]) -> None:
        import torch

        grams, rows, shapes, headers, right, weights = zip(*encoded, strict=True)
        self.lengths = torch.tensor([len(each) for each in grams])
        self.starts = torch.cumsum(self.lengths, 0) - self.lengths
        sizes = torch.tensor([len(each) for each in shapes])
        self.of = torch.repeat_interleave(torch.arange(len(encoded)), sizes)
        self.grams, self.rows, self.shapes = torch.cat(grams), torch.cat(rows), torch.cat(shapes)
        self.headers, self.right = torch.cat(headers, 1), torch.cat(right)
        self.weights = torch.tensor(weights)


def _log_sum(scores: Any, batch: _Batch) -> Any:
    """Return for each question the logarithm of the sum of its candidates' exponentials."""
    import torch

    count = len(batch.weights)
    top = torch.full((count,), -1e9).scatter_reduce(0, batch.of, scores.detach(), "amax")
    sums = torch.zeros(count).index_add(0, batch.of, torch.exp(scores - top[batch.of]))
    return top + torch.log(sums + 1e-30)


def _network(card: dict[str, Any], settings: RankerSettings) -> Any:
    import torch
    from torch import nn

    words, header, hidden = settings.words, settings.header, settings.hidden

    class Network(nn.Module):
        """The network of `Ranker.scores`, for many questions at once and with dropout."""

        def __init__(self) -> None:
            super().__init__()
            self.grams = nn.EmbeddingBag(len(card["grams"]) + 1, words, mode="sum", padding_idx=0)
            self.signatures = nn.Embedding(len(card["signatures"]) + 1, words)
            self.bias = nn.Embedding(len(card["signatures"]) + 1, 1)
            self.headers = nn.Embedding(len(card["headers"]) + 1, header, padding_idx=0)
            self.turn = nn.Linear(words, words, bias=False)
            self.ask = nn.Linear(words, 3 * header)
            self.features = nn.Linear(len(FEATURES), hidden)
            self.question = nn.Linear(words, hidden, bias=False)
            self.shape = nn.Linear(words, hidden, bias=False)
            self.header = nn.Linear(3 * header, hidden, bias=False)
            self.extra = nn.Linear(5, hidden, bias=False)
            self.second = nn.Linear(hidden, 64)
            self.last = nn.Linear(64, 1)
            for table in (self.grams, self.signatures, self.headers):
                nn.init.normal_(table.weight, 0.0, 0.1)
                with torch.no_grad():
                    if table.padding_idx is not None:
                        table.weight[0] = 0
            nn.init.eye_(self.turn.weight)
            nn.init.zeros_(self.bias.weight)
            self.drop_few, self.drop_some, self.drop_half = map(nn.Dropout, (0.1, 0.35, 0.5))

        def forward(self, batch: _Batch) -> Any:
            of = batch.of
            norm = (1.5 / batch.lengths.float().sqrt()).unsqueeze(1)
            question = self.drop_half(self.grams(batch.grams, batch.starts) * norm)
            shape = self.signatures(batch.shapes)
            fit = (self.turn(self.drop_half(question))[of] * shape).sum(1, keepdim=True)
            headers = self.drop_half(self.headers(batch.headers).sum(2))
            asked = self.ask(question).view(len(norm), 3, -1)[of].transpose(0, 1)
            fits = (headers * asked).sum(2).T
            bias = self.bias(batch.shapes)
            flat = headers.permute(1, 0, 2).reshape(len(of), -1)
            rows = self.features(self.drop_few(batch.rows))
            first = rows + self.question(question)[of] + self.shape(shape)
            first = first + self.header(flat) + self.extra(torch.cat([fit, fits, bias], 1))
            second = self.second(self.drop_some(torch.relu(first)))
            total = self.last(self.drop_some(torch.relu(second)))
            return (total + fit + fits.sum(1, keepdim=True) + bias).squeeze(1)

    return Network()


def grow_confidence(
    rows: Sequence[Sequence[float]], right: Sequence[bool], smallest_leaf: int = 60, seed: int = 0
) -> Any:
    """Return trees that estimate the probability that a question's best answer is right.

    `rows` are `confidence_row`s by rankers that had not seen the question's table.
    """
    import lightgbm
    import numpy as np

    data = lightgbm.Dataset(np.array(rows, np.float32), np.array(right, np.int32))
    parameters = {
        "objective": "binary",
        "num_leaves": 8,
        "learning_rate": 0.05,
        "min_data_in_leaf": smallest_leaf,
        "lambda_l2": 10.0,
        "feature_fraction": 0.5,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "use_missing": False,
        "deterministic": True,
        "force_row_wise": True,
        "seed": seed,
        "verbose": -1,
    }
    booster = lightgbm.train(parameters, data, num_boost_round=120)
    return trees_of(booster, CONFIDENCE)


def best_of(ranker: Ranker, sample: Sample) -> tuple[bool, list[float]]:
    """Return whether a ranker's best answer is right, and the inputs of its confidence."""
    best, row = confidence_row(ranker, sample.example, sample.groups)
    return bool(sample.right[best]), row


def save(folder: Path, weights: dict[str, Any], card: dict[str, Any]) -> None:
    """Write a ranker: `ranker.safetensors` (half precision) and `ranker.json`."""
    import numpy as np
    from safetensors.numpy import save_file

    folder.mkdir(parents=True, exist_ok=True)
    halves = {name: np.ascontiguousarray(a, dtype=np.float16) for name, a in weights.items()}
    save_file(halves, folder / "ranker.safetensors")
    text = json.dumps(card, ensure_ascii=False)
    (folder / "ranker.json").write_text(text + "\n", encoding="utf-8")
