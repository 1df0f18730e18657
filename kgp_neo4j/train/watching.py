"""What the trainings by transformers' trainer share: their bar, and packages that are missing."""

from __future__ import annotations

from typing import Any

from kgp_neo4j.errors import ModelError
from kgp_neo4j.progress import Progress

__all__ = ["missing_package", "watch"]


def watch(progress: Progress) -> Any:
    """Return a callback of the trainer's that tells a bar how far the training is."""
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        """Tells the bar how far the training is."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress.update(state.global_step)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress.update()

    return Watch()


def missing_package(error: ImportError) -> ModelError:
    """Return the error that says which package a training needs, and how it is had."""
    return ModelError(
        f"training needs a package that is missing ({str(error).strip().splitlines()[0]})",
        hint='Install it: pip install "kgp-neo4j[train]".',
    )
