"""What the offline reader's network loses on a batch of training windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.reader.network import PIECES
from kgp_neo4j.train.reader_network import TrainedNetwork
from kgp_neo4j.train.reader_windows import Laid

__all__ = ["loss_of"]

#: Weight of each column's loss, beside 1 for the kind of a window and 1 for its support.
_COLUMNS = tuple(
    0.5 if name in ("start", "end") else 0.25 if name.startswith("value") else 0.1
    for name in PIECES
)
_SUPPORT = PIECES.index("support")
_OPERATION = 0.8


def loss_of(network: TrainedNetwork, batch: Sequence[Laid]) -> Any:
    """Return the mean loss of a batch.

    Where an answer has several spans any of them will do: the loss raises the probability of all of
    them together (Clark and Gardner 2018, section 3.3). Without an answer in the window, start and
    end point at its first token, as in SQuAD 2.0.
    """
    import torch
    from torch.nn import functional

    padding = token_id(network.tokenizer, "[PAD]", "<pad>") or 0
    device = network.device
    ids = _padded([one.ids for one in batch], padding).to(device)
    types = _padded([one.types for one in batch], 0).to(device)
    mask = _padded([[1] * len(one.ids) for one in batch], 0).to(device)
    support = _padded([one.support for one in batch], -1, ids.shape[1]).to(device)
    pieces, kinds, operations = network(ids, types, mask)
    passages, allowed = _allowed(types, mask)
    right = torch.zeros_like(allowed)
    for at, one in enumerate(batch):
        for name, marked in one.marks.items():
            right[at, marked, PIECES.index(name)] = True
    logs = torch.log_softmax(pieces.masked_fill(~allowed, -1e4), dim=1)
    likely = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=1)
    share = torch.tensor(_COLUMNS, device=device)
    loss = -(likely * right.any(dim=1) * share).sum(dim=1)
    wanted = torch.tensor([one.kind for one in batch], device=device)
    loss = loss + functional.cross_entropy(kinds, wanted, reduction="none")
    known = (support >= 0) & passages
    supported = functional.binary_cross_entropy_with_logits(
        pieces[..., _SUPPORT], support.clamp_min(0).float(), reduction="none"
    )
    loss = loss + (supported * known).sum(dim=1) / known.sum(dim=1).clamp_min(1)
    wanted = torch.tensor([one.operation for one in batch], device=device)
    compared = functional.cross_entropy(operations, wanted.clamp_min(0), reduction="none")
    return (loss + _OPERATION * compared * (wanted >= 0)).mean()


def _allowed(types: Any, mask: Any) -> tuple[Any, Any]:
    """Return which tokens are of passages, and which each column may point at.

    Options are in the question only; the first token stands for none.
    """
    import torch

    passages = (types == 1) & (mask == 1)
    asked = ((types == 0) & (mask == 1)).sum(dim=1, keepdim=True)
    question = torch.arange(types.shape[1], device=types.device)[None] < asked - 1
    allowed = torch.stack(
        [question if name.startswith("option") else passages for name in PIECES], dim=2
    )
    allowed[:, 0] = True
    return passages, allowed


def _padded(rows: Sequence[Sequence[int]], padding: int, size: int = 0) -> Any:
    """Return rows of different lengths as one tensor: (rows, the longest or `size`)."""
    import torch

    size = size or max(map(len, rows))
    return torch.tensor([[*row, *[padding] * (size - len(row))] for row in rows])
