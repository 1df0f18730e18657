"""Saves a reader's training half-way: weights, their average and the optimizer's moments."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from kgp_neo4j.errors import ModelError
from kgp_neo4j.models.reader.network import Network
from kgp_neo4j.train.reader_fitting import Average

__all__ = ["load_checkpoint", "save_checkpoint"]

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save_checkpoint(
    folder: Path, step: int, network: Network, optimizer: Any, average: Average
) -> None:
    """Write what is needed to go on after `step` steps; of older checkpoints none is kept."""
    import torch
    from safetensors.torch import save_file

    place = folder / f"checkpoint-{step}"
    place.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {}
    for name, part in network.own().items():
        kept[name] = part.detach().cpu().contiguous()
        kept[f"average:{name}"] = average.parts[name].cpu().contiguous()
        for moment in _MOMENTS:
            value = torch.as_tensor(optimizer.state[part][moment])
            kept[f"{moment}:{name}"] = value.detach().cpu().contiguous()
    save_file(kept, str(place / "state.safetensors"))
    # Written last: a checkpoint without it was cut short.
    (place / "trainer_state.json").write_text(json.dumps({"step": step}), encoding="utf-8")
    for other in folder.glob("checkpoint-*"):
        if other != place:
            shutil.rmtree(other, ignore_errors=True)


def load_checkpoint(place: Path, network: Network, optimizer: Any, average: Average) -> int:
    """Put a checkpoint's state into a network and what trains it; return the steps it has done.

    Raises ModelError where it does not belong to them.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        kept = load_file(str(place / "state.safetensors"))
        with torch.no_grad():
            for name, part in network.own().items():
                part.copy_(kept[name])
                average.parts[name].copy_(kept[f"average:{name}"])
                optimizer.state[part] = {
                    moment: kept[f"{moment}:{name}"].to("cpu" if moment == "step" else part.device)
                    for moment in _MOMENTS
                }
        return int(json.loads((place / "trainer_state.json").read_text("utf-8"))["step"])
    except (SafetensorError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise ModelError(
            f"the checkpoint cannot be used ({error!r})",
            where=str(place),
            hint="Train anew with --overwrite.",
        ) from error
