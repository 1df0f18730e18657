"""Shared parts of the trainings by transformers' trainer: progress bar and missing packages."""

from __future__ import annotations

from typing import Any

from kgp_neo4j.environment.progress import Progress

__all__ = ["watch"]


def watch(progress: Progress) -> Any:
    """Return a callback of the trainer that updates a progress bar."""
    from transformers import TrainerCallback

    class Watch(TrainerCallback):
        """Update the progress bar at each step."""

        def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress.update(state.global_step)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress.update()

    return Watch()
