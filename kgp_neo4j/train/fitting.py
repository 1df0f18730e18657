"""Fit the weights of a torch model step by step; the folder of a training, with its checkpoint."""

import datetime
import hashlib
import json
import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

from safetensors import SafetensorError

from kgp_neo4j.environment.disk import disk_errors
from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.job import bar
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.models.encoder import quick_products
from kgp_neo4j.types.errors import ConfigurationError, ModelError

with needs("torch", "training", ModelError):
    import torch
    from safetensors.torch import load_file, save_file

_SETTINGS_FILE = "kgp-training.json"


class Folder:
    """An output folder, whose `checkpoint` belongs to an unfinished run of the same `settings`.

    Raises ConfigurationError where the folder has a finished training or one with other settings
    and `overwrite` is not given, and where it has other files: those are never deleted.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any], *, overwrite: bool) -> None:
        self.path = path
        self.checkpoint = path / "checkpoint.safetensors"
        self._settings = json.loads(json.dumps(settings))
        before = self._read()
        if overwrite:
            shutil.rmtree(path, ignore_errors=True)
        elif before not in (None, {"settings": self._settings, "result": None}):
            problem = "the folder holds a training that is finished or has other settings"
            hint = "Choose another --out, or give --overwrite to train anew."
            raise ConfigurationError(problem, where=str(path), hint=hint)
        with self.saving():
            path.mkdir(parents=True, exist_ok=True)
            self._write(None)

    def saving(self) -> AbstractContextManager[None]:
        """Turn an OSError in the block into a ModelError that names the folder."""
        hint = "Make room, or choose another --out."
        return disk_errors(self.path, "the folder cannot be written", ModelError, hint)

    def finish(self, result: Mapping[str, Any], title: str, facts: Iterable[str]) -> None:
        """Write the result and a model card, and delete the checkpoint."""
        lines = [
            f"# {title}",
            "",
            *(f"- {fact}" for fact in facts),
            f"- Trained: {datetime.datetime.now(datetime.UTC).date()}, by `kgp-neo4j train`",
            "- Licence: to be chosen by whoever passes it on, within those of the model it began "
            "with and of the data",
            "",
            "| setting | |",
            "|---|---|",
            *(f"| {name} | {value} |" for name, value in self._settings.items()),
        ]
        (self.path / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._write(result)
        self.checkpoint.unlink(missing_ok=True)

    def _read(self) -> Any:
        """Return what an earlier training wrote; None for a folder that is new or empty."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return None
        try:
            return json.loads((self.path / _SETTINGS_FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            problem = "the folder holds something that no training made"
            hint = "Choose another --out."
            raise ConfigurationError(problem, where=str(self.path), hint=hint) from error

    def _write(self, result: Mapping[str, Any] | None) -> None:
        text = json.dumps({"settings": self._settings, "result": result}, indent=2)
        (self.path / _SETTINGS_FILE).write_text(text + "\n", encoding="utf-8")


def digest(examples: Iterable[object]) -> str:
    """Return sixteen characters that differ for other training data."""
    text = "\n".join(map(repr, examples))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def named(model: str) -> str:
    """Return a model's name for cards and settings, which must not tell a local path."""
    return Path(model).name if expanded(model).is_dir() else model


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
