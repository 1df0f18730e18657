"""Fits the offline reader's weights to windows laid out, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from kgp_neo4j.models.encoder import quick_products
from kgp_neo4j.models.reader.batching import padded
from kgp_neo4j.models.reader.network import Network
from kgp_neo4j.train.reader_batches import Laid

__all__ = ["Average", "fit", "loss_of", "optimizer_of", "rate_at"]

#: The kind of a window counts so much beside where its answer stands.
_KIND = 0.5
#: The heads are new and learn faster than the layers.
_HEADS = 5.0
#: Share of hidden values left out in a step (Srivastava et al. 2014): data is seen several times.
_DROPPED = 0.1
#: What a step's weights keep of the average in the long run, about the last 500 steps.
_KEPT = 0.998


class Average:
    """The moving average of the reader's own weights, which reads better than the last ones.

    Polyak and Juditsky 1992; the first steps count less, since they are far from where it ends.
    """

    def __init__(self, network: Network) -> None:
        self.parts = {name: part.detach().clone() for name, part in network.own().items()}

    def add(self, network: Network, step: int) -> None:
        """Take in the weights after step number `step`, counted from 0."""
        import torch

        share = 1 - min(_KEPT, (step + 1) / (step + 10))
        with torch.no_grad():
            for name, part in network.own().items():
                self.parts[name].lerp_(part.detach(), share)

    def put(self, network: Network) -> None:
        """Make the average the network's weights."""
        import torch

        with torch.no_grad():
            for name, part in network.own().items():
                part.copy_(self.parts[name])


def loss_of(network: Network, batch: Sequence[Laid]) -> Any:
    """Return the mean loss of a batch.

    Of an answer that stands at several places any one will do: the probability of all of them
    together is what is raised (Clark and Gardner 2018, section 3.3). Without an answer in the
    window, start and end point at its first piece, as in SQuAD 2.0.
    """
    import torch

    padding = network.tokenizer.pad_token_id or 0
    ids, types, mask = (part.to(network.device) for part in padded(batch, padding))
    spans, kinds = network(ids, types, mask)
    # The question cannot hold the answer; the first piece stands for none.
    allowed = (types == 1) & (mask == 1)
    allowed[:, 0] = True
    logits = spans.masked_fill(~allowed[:, :, None], -1e4)
    logs = torch.log_softmax(logits, dim=1)
    right = torch.zeros_like(logits, dtype=torch.bool)
    for at, one in enumerate(batch):
        right[at, one.starts, 0] = True
        right[at, one.ends, 1] = True
    found = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=1)
    wanted = torch.tensor([one.kind for one in batch], device=kinds.device)
    return -found.sum(dim=1).mean() / 2 + _KIND * torch.nn.functional.cross_entropy(kinds, wanted)


def optimizer_of(network: Network, rate: float) -> Any:
    """Return AdamW over the reader's own weights alone; all others are frozen."""
    import torch

    for part in network.body.parameters():
        part.requires_grad_(False)
    own = network.own()
    for part in own.values():
        part.requires_grad_(True)
    heads = [part for name, part in own.items() if not name.startswith("layer.")]
    plain = [part for name, part in own.items() if name.startswith("layer.") and part.dim() < 2]
    layers = [part for name, part in own.items() if name.startswith("layer.") and part.dim() > 1]
    return torch.optim.AdamW(
        [
            {"params": layers, "lr": rate, "base": rate, "weight_decay": 0.01},
            {"params": plain, "lr": rate, "base": rate, "weight_decay": 0.0},
            {"params": heads, "lr": _HEADS * rate, "base": _HEADS * rate, "weight_decay": 0.0},
        ]
    )


def rate_at(step: int, steps: int, warm_up: float = 0.06) -> float:
    """Return the share of the full learning rate at a step: a short rise, then a fall to 0."""
    rise = max(1, math.ceil(warm_up * steps))
    if step < rise:
        return (step + 1) / rise
    return max(0.0, (steps - step) / max(1, steps - rise))


def fit(
    network: Network,
    batches: Sequence[Sequence[Laid]],
    optimizer: Any,
    average: Average,
    *,
    first: int,
    steps: int,
    seed: int,
    done: Callable[[int, float], object],
) -> None:
    """Learn from batches in their order, as steps `first` and on of `steps` altogether."""
    import torch

    _drop(network)
    own = list(network.own().values())
    for at, batch in enumerate(batches, first):
        # What is left out depends on the step alone, so that a run that was stopped goes on alike.
        torch.manual_seed(seed + at)
        for group in optimizer.param_groups:
            group["lr"] = group["base"] * rate_at(at, steps)
        with quick_products(network.body):
            loss = loss_of(network, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(own, 1.0)
        optimizer.step()
        average.add(network, at)
        done(at, float(loss.detach()))
    network.body.eval()


def _drop(network: Network) -> None:
    """Let the layers that are trained leave out hidden values; leaving out attention is slow."""
    import torch

    network.body.eval()
    layers = network.body.encoder.layer
    for layer in list(layers)[len(layers) - network.layers :]:
        layer.train()
        layer.attention.self.eval()
        for part in layer.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = _DROPPED
