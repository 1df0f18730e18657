"""Runs sentence-transformers' trainer over columns of texts, with checkpoints and a bar."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.progress import bar
from kgp_neo4j.train.watching import missing_package, watch

__all__ = ["train_encoder"]


def train_encoder(
    model: Any,
    columns: Mapping[str, Sequence[str]],
    checkpoints: Path,
    *,
    resume: Path | None,
    steps: int,
    lora_rank: int,
    batch: int,
    rate: float,
    warm_up: float,
    clip: float,
    save_every: int,
    seed: int,
    bfloat16: bool,
) -> list[float]:
    """Train a SentenceTransformer in place, and return the loss of each step.

    `columns` are anchor, positive and negatives, one text a pair in each. It goes on from the
    checkpoint `resume` where that is given.
    """
    try:
        from datasets import Dataset
        from peft import LoraConfig
        from sentence_transformers import (
            SentenceTransformerTrainer,
            SentenceTransformerTrainingArguments,
        )
        from sentence_transformers.losses import CachedMultipleNegativesRankingLoss
        from transformers import PrinterCallback, set_seed
    except ImportError as error:
        raise missing_package(error) from error
    set_seed(seed)
    if lora_rank:
        model.add_adapter(
            LoraConfig(
                r=lora_rank,
                lora_alpha=2 * lora_rank,
                lora_dropout=0.05,
                target_modules="all-linear",
            )
        )

    class Trainer(SentenceTransformerTrainer):
        """Looks nothing up and draws nothing of its own."""

        def add_model_card_callback(self, default_args_dict: Any) -> None:
            """Leave out the library's card, which would draw bars and look things up."""

    on_gpu = model.device.type == "cuda"
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=batch,
        learning_rate=rate,
        warmup_steps=math.ceil(warm_up * steps),
        max_grad_norm=clip,
        # A passage that two pairs of a batch share would be right and wrong at once.
        batch_sampler="no_duplicates",
        bf16=bfloat16,
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        save_strategy="steps",
        save_steps=save_every,
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        seed=seed,
    )
    model.model_card_data.local_files_only = True  # nothing is looked up on the hub
    with bar("train", steps, "steps") as progress:
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_dict({k: list(v) for k, v in columns.items()}),
            # Part by part: a batch of 16 pairs held at once took 7 GB in training.
            loss=CachedMultipleNegativesRankingLoss(model, mini_batch_size=32 if on_gpu else 8),
            callbacks=[watch(progress)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train(resume_from_checkpoint=str(resume) if resume else None)
    return [float(row["loss"]) for row in trainer.state.log_history if "loss" in row]
