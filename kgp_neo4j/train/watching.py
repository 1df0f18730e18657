"""What the trainings by transformers' trainer share: their bar, and packages that are missing."""

from __future__ import annotations

from typing import Any

from kgp_neo4j.environment.progress import Progress

__all__ = ["watch"]


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
