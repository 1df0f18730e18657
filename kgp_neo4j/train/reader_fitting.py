"""Fits the offline reader's weights to windows laid out, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from kgp_neo4j.models.reader.batching import padded
from kgp_neo4j.models.reader.network import Network
from kgp_neo4j.train.reader_batches import Laid

__all__ = ["fit", "loss_of", "optimizer_of", "rate_at"]

#: The kind of a window counts so much beside where its answer stands.
_KIND = 0.5
#: The heads are new and learn faster than the layers.
_HEADS = 5.0


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
    *,
    first: int,
    steps: int,
    done: Callable[[int, float], object],
) -> None:
    """Learn from batches in their order, as steps `first` and on of `steps` altogether."""
    import torch

    # Without dropout: the data is seen a few times only, and a step takes two thirds of the time.
    network.body.eval()
    own = list(network.own().values())
    for at, batch in enumerate(batches, first):
        for group in optimizer.param_groups:
            group["lr"] = group["base"] * rate_at(at, steps)
        loss = loss_of(network, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(own, 1.0)
        optimizer.step()
        done(at, float(loss.detach()))
