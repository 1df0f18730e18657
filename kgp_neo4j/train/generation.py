"""Fine-tune the generating agents to write the next supporting fact (KGP, Eq. 1).

The paper's instruction fine-tuning: T5-large with all its weights, LLaMA-7B with LoRA adapters.
"""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.traverse.agents.generating import (
    alpaca_prompt,
    fitted,
    seq2seq_prompt,
    titled_line,
)
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.llm.generators import INPUT_TOKENS, Kind, input_limit, load_checkpoint
from kgp_neo4j.train.examples import TrainingPair, read_training_questions, training_pairs
from kgp_neo4j.train.folder import Folder, Report, card, digest, named, no_divergence
from kgp_neo4j.train.trainer import run_trainer
from kgp_neo4j.types.checks import check_ranges
from kgp_neo4j.types.errors import InputError, ModelError

__all__ = ["LLAMA", "T5", "GenerationReport", "GenerationSettings", "train_generator"]

#: `input_ids`, `attention_mask` and `labels` of one pair; labels of -100 are ignored.
_Feature = dict[str, list[int]]
_IGNORED_LABEL = -100


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """The options of a generating agent's training; T5 and LLAMA are the paper's.

    Prompts have at most `input_tokens`, outputs `output_tokens`. With `lora`, adapters of `rank`,
    `alpha` and `dropout` are trained instead of all weights.
    """

    kind: Kind
    model: str
    rate: float
    lora: bool
    epochs: int = 3
    batch: int = 4
    input_tokens: int = INPUT_TOKENS
    output_tokens: int = 512
    rank: int = 8
    alpha: int = 16
    dropout: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(
            self,
            rate=(1e-9, 1.0),
            epochs=(1, 1000),
            batch=(1, 4096),
            rank=(1, 1024),
            seed=(0, 2**31 - 1),
        )


#: KGP's T5 agent.
T5 = GenerationSettings(kind="seq2seq", model="google-t5/t5-large", rate=1e-4, lora=False)
#: KGP's LLaMA agent.
LLAMA = GenerationSettings(kind="causal", model="huggyllama/llama-7b", rate=3e-4, lora=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationReport(Report):
    """The result of a training; losses are cross-entropies per token.

    `loss` is the mean over the last epoch, `dev_loss` that of the development questions at the end;
    `losses` are those since the one before, each with its step.
    """

    out: str
    questions: int
    pairs: int
    loss: float
    dev_loss: float | None
    device: str
    losses: tuple[tuple[int, float], ...] = ()


def train_generator(
    files: Sequence[Path],
    out: Path,
    settings: GenerationSettings,
    *,
    dev: Path | None = None,
    save_every: int = 500,
    overwrite: bool = False,
) -> GenerationReport:
    """Fine-tune a checkpoint on the supporting facts of question files, and save it in a folder.

    Continues an interrupted run with the same settings and data; checkpoints are written every
    `save_every` steps. Uses a GPU if there is one. Raises InputError for bad lines,
    ConfigurationError for a folder with other files, ModelError where the training fails.
    """
    began = time.perf_counter()
    questions = read_training_questions(files)
    pairs = training_pairs(questions)
    held_out = training_pairs(read_training_questions([dev])) if dev else []
    if not pairs or (dev and not held_out):
        raise InputError("the files hold no question to train from")
    plan = dataclasses.asdict(settings) | {"data": digest(pairs), "dev": digest(held_out)}
    folder = Folder(out, plan, overwrite=overwrite)
    if folder.result is not None:
        curve = tuple((int(step), float(loss)) for step, loss in folder.result["losses"])
        before = {**folder.result, "out": str(out), "losses": curve, "done_before": True}
        return GenerationReport(**before)
    model, tokenizer, device = _model(settings)
    with folder.saving():
        losses, dev_loss, steps = _fine_tune(
            model, tokenizer, pairs, held_out, folder, settings, save_every
        )
        if not losses or not all(math.isfinite(loss) for _, loss in losses):
            raise no_divergence(out)
        last_epoch = [loss for step, loss in losses if step > steps - steps / settings.epochs]
        report = GenerationReport(
            out=str(out),
            questions=len(questions),
            pairs=len(pairs),
            steps=steps,
            loss=sum(last_epoch) / len(last_epoch),
            dev_loss=dev_loss,
            resumed=folder.resumed,
            seconds=time.perf_counter() - began,
            device=device,
            losses=losses,
        )
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
        folder.finish(dataclasses.asdict(report), _card(settings, files, report))
    return report


def _fine_tune(
    model: Any,
    tokenizer: Any,
    pairs: Sequence[TrainingPair],
    dev: Sequence[TrainingPair],
    folder: Folder,
    settings: GenerationSettings,
    save_every: int,
) -> tuple[tuple[tuple[int, float], ...], float | None, int]:
    """Train a model in place; return the losses with their steps, the loss on dev, and the steps.

    Uses AdamW with a linear decay of the rate to 0, in bfloat16 where that is faster. A resumed run
    sees the data in the same order as an uninterrupted one.
    """
    with needs("train", "training a language model", ModelError):
        from transformers import DataCollatorForSeq2Seq, Trainer, TrainingArguments, set_seed
    set_seed(settings.seed)
    total = -(-len(pairs) // settings.batch) * settings.epochs
    options = {
        "num_train_epochs": settings.epochs,
        "per_device_train_batch_size": settings.batch,
        "per_device_eval_batch_size": settings.batch,
        "learning_rate": settings.rate,
        "seed": settings.seed,
        "save_steps": save_every,
        "eval_strategy": "epoch" if dev else "no",
        "logging_steps": max(1, min(10, total // (10 * settings.epochs))),
        "logging_nan_inf_filter": False,
        "remove_unused_columns": False,
    }
    with needs("train", "training a language model", ModelError):
        state = run_trainer(
            Trainer,
            TrainingArguments,
            folder,
            total,
            options,
            model=model,
            train_dataset=_features(model, tokenizer, pairs, settings),
            eval_dataset=_features(model, tokenizer, dev, settings) or None,
            data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        )
    history = state.log_history
    losses = tuple((int(row["step"]), float(row["loss"])) for row in history if "loss" in row)
    dev_losses = [float(row["eval_loss"]) for row in history if "eval_loss" in row]
    return losses, dev_losses[-1] if dev_losses else None, int(state.global_step)


def _features(
    model: Any, tokenizer: Any, pairs: Sequence[TrainingPair], settings: GenerationSettings
) -> list[_Feature]:
    """Return each pair as tokens: the prompt, and the fact to generate with its end token.

    The prompt has the passages found so far in full, as in a corpus; the fact is the supporting
    sentences alone. Raises ModelError for a question that is too long.
    """
    limit = min(settings.input_tokens, input_limit(model, settings.kind))
    prompt = seq2seq_prompt if settings.kind == "seq2seq" else alpaca_prompt

    def length(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    rows: list[_Feature] = []
    with bar("tokens", len(pairs), "pairs") as progress:
        for pair in pairs:
            evidence = [titled_line(fact.title, fact.passage_text) for fact in pair.found]
            read = tokenizer(fitted(prompt, pair.question, evidence, length, limit))["input_ids"]
            fact = titled_line(pair.expected.title, pair.expected.text)
            labels = [
                *tokenizer(fact, add_special_tokens=False)["input_ids"],
                tokenizer.eos_token_id,
            ][: settings.output_tokens]
            if settings.kind == "causal":
                read, labels = read + labels, [_IGNORED_LABEL] * len(read) + labels
            rows.append({"input_ids": read, "attention_mask": [1] * len(read), "labels": labels})
            progress.update()
    return rows


def _model(settings: GenerationSettings) -> tuple[Any, Any, str]:
    """Return the model to train, its tokenizer and its device."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    # Weights are trained in float32; below adapters they are frozen.
    frozen = settings.lora and device == "cuda"
    dtype = torch.bfloat16 if frozen else torch.float32
    model, tokenizer = load_checkpoint(settings.kind, settings.model, None, dtype)
    tokenizer.padding_side = "right"
    if not settings.lora:
        return model, tokenizer, device
    with needs("torch", "a LoRA adapter", ModelError):
        from peft import LoraConfig, TaskType, get_peft_model
        from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        # Query and value projections, as for LLaMA; all layers for an architecture that peft does
        # not know.
        target_modules=None if model.config.model_type in KNOWN else "all-linear",
        task_type=TaskType.SEQ_2_SEQ_LM if settings.kind == "seq2seq" else TaskType.CAUSAL_LM,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the libraries' own, about one another
        return get_peft_model(model, config), tokenizer, device


def _card(settings: GenerationSettings, files: Sequence[Path], report: GenerationReport) -> str:
    agent = "t5" if settings.kind == "seq2seq" else "llama"
    name = named(settings.model)
    given = dataclasses.asdict(settings) | {"model": name}
    if not settings.lora:
        given = {k: v for k, v in given.items() if k not in ("rank", "alpha", "dropout")}
    dev = "" if report.dev_loss is None else f", {report.dev_loss:.4f} on the development questions"
    return card(
        f"A traversal agent `{agent}` of kgp-neo4j",
        "Given a question and the evidence found so far, it writes the evidence needed next\n"
        "(Knowledge Graph Prompting, Wang et al., AAAI 2024).",
        (
            f"Base model: {name}" + (" (LoRA adapters)" if settings.lora else ""),
            f"Data: {', '.join(path.name for path in files)}: {report.questions} questions, "
            f"{report.pairs} pairs",
            f"{report.steps} steps; loss {report.loss:.4f}{dev}",
        ),
        given,
    )
