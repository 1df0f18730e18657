"""Runs transformers' trainer over tokens, with checkpoints and a bar."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.errors import ModelError
from kgp_neo4j.progress import bar
from kgp_neo4j.train.features import Feature
from kgp_neo4j.train.watching import missing_package, watch

__all__ = ["fine_tune"]


def fine_tune(
    model: Any,
    tokenizer: Any,
    data: Sequence[Feature],
    dev: Sequence[Feature],
    checkpoints: Path,
    *,
    resume: Path | None,
    epochs: int,
    batch: int,
    rate: float,
    save_every: int,
    seed: int,
) -> tuple[list[float], float | None, int]:
    """Train a model in place; return the losses logged in the last epoch, that of dev, and steps.

    Learns with AdamW at a rate that falls linearly to 0, in bfloat16 on a GPU that has it. A run
    that goes on from the checkpoint `resume` sees the data in the order of one that never stopped.
    """
    try:
        import torch
        from transformers import (
            DataCollatorForSeq2Seq,
            PrinterCallback,
            Trainer,
            TrainingArguments,
            set_seed,
        )

        gpu = torch.cuda.is_available()
        set_seed(seed)
        total = -(-len(data) // batch) * epochs
        arguments = TrainingArguments(
            output_dir=str(checkpoints),
            num_train_epochs=epochs,
            per_device_train_batch_size=batch,
            per_device_eval_batch_size=batch,
            learning_rate=rate,
            save_strategy="steps",
            save_steps=save_every,
            save_total_limit=2,
            eval_strategy="epoch" if dev else "no",
            logging_steps=max(1, min(10, total // (10 * epochs))),
            logging_nan_inf_filter=False,
            remove_unused_columns=False,
            dataloader_pin_memory=gpu,
            bf16=gpu and torch.cuda.is_bf16_supported(),
            use_cpu=not gpu,
            report_to="none",
            disable_tqdm=True,
            seed=seed,
        )
    except ImportError as error:
        raise missing_package(error) from error
    with warnings.catch_warnings(), bar("train", total, "steps") as progress:
        warnings.simplefilter("ignore")  # the libraries' own, about one another
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=list(data),
            eval_dataset=list(dev) or None,
            data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
            callbacks=[watch(progress)],
        )
        trainer.remove_callback(PrinterCallback)
        try:
            trainer.train(resume_from_checkpoint=str(resume) if resume else None)
        except torch.cuda.OutOfMemoryError as error:
            raise ModelError(
                "the GPU has too little memory for this training",
                hint="Give a smaller --batch, or train adapters alone with --lora.",
            ) from error
    history = trainer.state.log_history
    losses = [float(r["loss"]) for r in history if "loss" in r and r["epoch"] > epochs - 1]
    dev_losses = [float(r["eval_loss"]) for r in history if "eval_loss" in r]
    return losses, dev_losses[-1] if dev_losses else None, int(trainer.state.global_step)
