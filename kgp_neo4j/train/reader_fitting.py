"""Fit the offline reader's weights to training windows, batch by batch, with checkpoints."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.reader.network import PIECES
from kgp_neo4j.models.torch_encoder import quick_products
from kgp_neo4j.train.reader_network import TrainedNetwork
from kgp_neo4j.train.reader_windows import Laid
from kgp_neo4j.types.errors import ModelError

__all__ = ["Fitting"]

#: Weight of each column's loss, beside 1 for the kind of a window and 1 for its support.
_COLUMNS = tuple(
    0.5 if name in ("start", "end") else 0.25 if name.startswith("value") else 0.1
    for name in PIECES
)
_SUPPORT = PIECES.index("support")
_OPERATION = 0.8
#: Factor of the heads' learning rate: they are new and learn faster than the layers.
_HEADS = 5.0
#: Share of hidden values dropped in a step (Srivastava et al. 2014): data is seen several times.
_DROPPED = 0.1
#: Share of the average that each step keeps in the long run: about the last 500 steps count.
_KEPT = 0.998
#: Share of the steps in which the rate rises.
_WARM_UP = 0.06
#: What AdamW notes of each weight.
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class Fitting:
    """A network's weights, their moving average, and the optimizer, step by step.

    The average reads better than the last weights (Polyak and Juditsky 1992). `checkpoint` is the
    folder of one to go on from. Raises ModelError where it does not fit.
    """

    def __init__(
        self, network: TrainedNetwork, rate: float, seed: int, checkpoint: Path | None
    ) -> None:
        self._network, self._seed = network, seed
        for part in network.body.parameters():
            part.requires_grad_(False)
        own = network.own()
        self._own = [part.requires_grad_(True) for part in own.values()]
        self._average = [part.detach().clone() for part in self._own]
        self._optimizer = _optimizer(own, rate)
        #: The steps that are done.
        self.step = 0
        if checkpoint is not None:
            self._load(checkpoint)

    def run(self, batches: Sequence[Sequence[Laid]]) -> Iterator[float]:
        """Learn from the batches that are left, in order; yield the loss of each step."""
        import torch

        _drop(self._network)
        for batch in batches[self.step :]:
            # Dropout depends on the step alone, so that a resumed run equals an uninterrupted one.
            torch.manual_seed(self._seed + self.step)
            for group in self._optimizer.param_groups:
                group["lr"] = group["base"] * _share_of_rate(self.step, len(batches))
            with quick_products(self._network.body):
                loss = _loss(self._network, batch)
            self._optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._own, 1.0)
            self._optimizer.step()
            # The first steps count less: they are far from the end.
            share = 1 - min(_KEPT, (self.step + 1) / (self.step + 10))
            with torch.no_grad():
                for mean, part in zip(self._average, self._own, strict=True):
                    mean.lerp_(part, share)
            self.step += 1
            yield float(loss.detach())
        self._network.body.eval()

    def take_average(self) -> None:
        """Make the average the network's weights."""
        import torch

        with torch.no_grad():
            for mean, part in zip(self._average, self._own, strict=True):
                part.copy_(mean)

    def save(self, folder: Path) -> None:
        """Write a checkpoint to a folder of them, and delete older ones."""
        import torch
        from safetensors.torch import save_file

        place = folder / f"checkpoint-{self.step}"
        place.mkdir(parents=True, exist_ok=True)
        state: dict[str, Any] = {}
        for number, (part, mean) in enumerate(zip(self._own, self._average, strict=True)):
            values = {"weights": part, "average": mean, **self._optimizer.state[part]}
            for name, value in values.items():
                state[f"{name}.{number}"] = torch.as_tensor(value).detach().cpu().contiguous()
        save_file(state, str(place / "state.safetensors"))
        # Written last: a checkpoint without it is incomplete.
        (place / "trainer_state.json").write_text(json.dumps({"step": self.step}), encoding="utf-8")
        for other in folder.glob("checkpoint-*"):
            if other != place:
                shutil.rmtree(other, ignore_errors=True)

    def _load(self, place: Path) -> None:
        import torch
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            state = load_file(str(place / "state.safetensors"))
            with torch.no_grad():
                for number, (part, mean) in enumerate(zip(self._own, self._average, strict=True)):
                    part.copy_(state[f"weights.{number}"])
                    mean.copy_(state[f"average.{number}"])
                    self._optimizer.state[part] = {
                        name: state[f"{name}.{number}"].to("cpu" if name == "step" else part.device)
                        for name in _MOMENTS
                    }
            self.step = int(json.loads((place / "trainer_state.json").read_text("utf-8"))["step"])
        except (SafetensorError, KeyError, RuntimeError, TypeError, ValueError) as error:
            raise ModelError(
                f"the checkpoint cannot be used ({error!r})",
                where=str(place),
                hint="Train anew with --overwrite.",
            ) from error


def _optimizer(own: dict[str, Any], rate: float) -> Any:
    """Return AdamW over the reader's own weights alone."""
    import torch

    groups = [
        {"params": [], "lr": rate, "base": rate, "weight_decay": 0.01},
        {"params": [], "lr": rate, "base": rate, "weight_decay": 0.0},
        {"params": [], "lr": _HEADS * rate, "base": _HEADS * rate, "weight_decay": 0.0},
    ]
    for name, part in own.items():
        number = 2 if not name.startswith("layer.") else 1 if part.dim() < 2 else 0
        groups[number]["params"].append(part)  # type: ignore[attr-defined]
    return torch.optim.AdamW(groups)


def _share_of_rate(step: int, steps: int) -> float:
    """Return the share of the full learning rate at a step: a short rise, then a fall to 0."""
    rise = max(1, math.ceil(_WARM_UP * steps))
    if step < rise:
        return (step + 1) / rise
    return max(0.0, (steps - step) / max(1, steps - rise))


def _drop(network: TrainedNetwork) -> None:
    """Add dropout of hidden values to the trained layers; dropout of attention is slow."""
    import torch

    network.body.eval()
    for at in network.layers:
        layer = network.body.encoder.layer[at]
        layer.train()
        layer.attention.self.eval()
        for part in layer.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = _DROPPED


def _loss(network: TrainedNetwork, batch: Sequence[Laid]) -> Any:
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
