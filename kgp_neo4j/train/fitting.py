"""Fit the weights of a torch model to batches, step by step, with a checkpoint to go on from."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.job import bar
from kgp_neo4j.models.torch_encoder import quick_products
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.types.errors import ModelError

with needs("torch", "training", ModelError):
    import torch
    from safetensors.torch import load_file, save_file

#: Share of the average that each step keeps in the long run: about the last 500 steps count.
_KEPT = 0.998
#: Steps between two checkpoints.
_SAVE_EVERY = 200
#: Share of the steps in which the rate rises.
_WARM_UP = 0.06

Batch = TypeVar("Batch")


class Fitting:
    """The trained weights with AdamW's notes and their moving average, after `step` steps.

    `groups` are AdamW's: weights of the model ("params") with their greatest rate ("lr") and decay.
    It goes on from the folder's checkpoint. Raises ModelError where that does not fit.
    """

    def __init__(self, model: Any, groups: list[dict[str, Any]], folder: Folder, seed: int) -> None:
        self._model, self._folder, self._seed = model, folder, seed
        self._parts = [part for group in groups for part in group["params"]]
        self._average = [part.detach().clone() for part in self._parts]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.0)
        self._rates = [group["lr"] for group in groups]
        self.step = 0
        if folder.checkpoint.is_file():
            self._load(folder.checkpoint)

    def run(self, plan: Sequence[Batch], loss_of: Callable[[Batch], Any]) -> list[float]:
        """Learn from the batches left, in order; return the losses (ModelError: NaN, no memory)."""
        losses: list[float] = []
        with bar("train", len(plan), "steps") as progress:
            progress.update(self.step)
            for batch in plan[self.step :]:
                try:
                    losses.append(self._learn(len(plan), batch, loss_of))
                except torch.cuda.OutOfMemoryError as error:
                    problem = "the GPU has too little memory for this training"
                    raise ModelError(problem, hint="Give a smaller --batch.") from error
                if not math.isfinite(losses[-1]):
                    problem = "the training diverged: its loss is no number"
                    hint = "Train anew with a lower --rate and --overwrite."
                    raise ModelError(problem, where=str(self._folder.path), hint=hint)
                progress.update()
                if self.step % _SAVE_EVERY == 0 and self.step < len(plan):
                    self._save(self._folder.checkpoint)
        return losses

    def take_average(self) -> None:
        """Make the average the weights: it does better than the last (Polyak and Juditsky 1992)."""
        with torch.no_grad():
            for mean, part in zip(self._average, self._parts, strict=True):
                part.copy_(mean)

    def _learn(self, steps: int, batch: Batch, loss_of: Callable[[Batch], Any]) -> float:
        # Dropout depends on the step alone, so that a resumed run equals an uninterrupted one.
        torch.manual_seed(self._seed + self.step)
        # The rate rises for a short time, then falls to 0.
        rise = max(1, math.ceil(_WARM_UP * steps))
        full = min((self.step + 1) / rise, (steps - self.step) / max(1, steps - rise))
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * full
        with quick_products(self._model):
            loss = loss_of(batch)
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._parts, 1.0)
        self._optimizer.step()
        # The first steps count less: they are far from the end.
        share = 1 - min(_KEPT, (self.step + 1) / (self.step + 10))
        with torch.no_grad():
            for mean, part in zip(self._average, self._parts, strict=True):
                mean.lerp_(part, share)
        self.step += 1
        return float(loss.detach())

    def _save(self, file: Path) -> None:
        state: dict[str, Any] = {"step": torch.tensor(self.step)}
        for number, (part, mean) in enumerate(zip(self._parts, self._average, strict=True)):
            values = {"weights": part, "average": mean, **self._optimizer.state[part]}
            for name, value in values.items():
                state[f"{name}.{number}"] = value.detach().cpu().contiguous()
        save_file(state, str(file.with_suffix(".part")))
        file.with_suffix(".part").replace(file)

    def _load(self, file: Path) -> None:
        try:
            state = load_file(str(file))
            with torch.no_grad():
                for number, (part, mean) in enumerate(zip(self._parts, self._average, strict=True)):
                    part.copy_(state[f"weights.{number}"])
                    mean.copy_(state[f"average.{number}"])
                    self._optimizer.state[part] = {
                        name: state[f"{name}.{number}"].to("cpu" if name == "step" else part.device)
                        for name in ("step", "exp_avg", "exp_avg_sq")
                    }
            self.step = int(state["step"])
        except (SafetensorError, KeyError, RuntimeError) as error:
            problem = f"the checkpoint cannot be used ({error!r})"
            hint = "Train anew with --overwrite."
            raise ModelError(problem, where=str(file), hint=hint) from error


def padded(rows: Sequence[Sequence[int]], padding: int, size: int = 0) -> Any:
    """Return rows of different lengths as one tensor: (rows, the longest or `size`)."""
    size = size or max(map(len, rows))
    return torch.tensor([[*row, *[padding] * (size - len(row))] for row in rows])
