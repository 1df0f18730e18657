"""Run the trainers of transformers and sentence-transformers: arguments, bar and checkpoints."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.progress import bar
from kgp_neo4j.models.torch_encoder import quick_bfloat16
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.types.errors import ModelError

__all__ = ["run_trainer"]


def run_trainer(
    trainer: Any, arguments: Any, folder: Folder, steps: int, options: dict[str, Any], **given: Any
) -> Any:
    """Train for so many steps, from the folder's last checkpoint; return the trainer's state.

    `trainer` and `arguments` are classes of a library; `options` are arguments of this training
    beside those that all share, `given` what the trainer itself takes. Raises ModelError where the
    GPU has too little memory.
    """
    import torch
    from transformers import PrinterCallback, TrainerCallback

    gpu = torch.cuda.is_available()
    with warnings.catch_warnings(), bar("train", steps, "steps") as progress:
        warnings.simplefilter("ignore")  # the libraries' own, about one another

        class Watch(TrainerCallback):
            """Update the progress bar at each step."""

            def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                progress.update(state.global_step)

            def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
                progress.update()

        shared = {
            "output_dir": str(folder.checkpoints),
            "save_strategy": "steps",
            "save_total_limit": 2,
            "bf16": quick_bfloat16(),
            "use_cpu": not gpu,
            "dataloader_pin_memory": gpu,
            "report_to": "none",
            "disable_tqdm": True,
        }
        running = trainer(args=arguments(**shared, **options), callbacks=[Watch()], **given)
        running.remove_callback(PrinterCallback)
        last: Path | None = folder.last
        try:
            running.train(resume_from_checkpoint=str(last) if last else None)
        except torch.cuda.OutOfMemoryError as error:
            raise ModelError(
                "the GPU has too little memory for this training",
                hint="Give a smaller --batch, or train adapters alone with --lora.",
            ) from error
    return running.state
