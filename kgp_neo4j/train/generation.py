"""Fine-tune the generating agents to write the next supporting fact (KGP, Eq. 1).

The paper's instruction fine-tuning: T5-large with all its weights, LLaMA-7B with LoRA adapters.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.traverse.agents.prompts import (
    alpaca_prompt,
    fitted,
    seq2seq_prompt,
    titled_line,
)
from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.llm.generators import INPUT_TOKENS, Kind, input_limit, load_checkpoint
from kgp_neo4j.models.torch_encoder import quick_bfloat16
from kgp_neo4j.train.examples import TrainingPair, read_training_questions, training_pairs
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.train.watching import watch
from kgp_neo4j.types.checks import check_ranges
from kgp_neo4j.types.errors import InputError, ModelError

__all__ = [
    "LLAMA",
    "T5",
    "Feature",
    "GenerationReport",
    "GenerationSettings",
    "features",
    "fine_tune",
    "train_generator",
]

#: `input_ids`, `attention_mask` and `labels` of one pair; labels of -100 are ignored.
Feature = dict[str, list[int]]
_IGNORED_LABEL = -100


def features(
    kind: Kind, tokenizer: Any, pairs: Sequence[TrainingPair], input_limit: int, output_limit: int
) -> list[Feature]:
    """Return each pair as tokens: the prompt, and the fact to generate.

    The prompt has the passages found so far in full, as in a corpus; the fact is the supporting
    sentences alone. Raises ModelError for a question that is too long.
    """
    prompt = seq2seq_prompt if kind == "seq2seq" else alpaca_prompt

    def length(text: str) -> int:
        return len(tokenizer(text)["input_ids"])

    rows: list[Feature] = []
    with bar("tokens", len(pairs), "pairs") as progress:
        for pair in pairs:
            found = [titled_line(fact.title, fact.passage_text) for fact in pair.found]
            text = fitted(prompt, pair.question, found, length, input_limit)
            read = tokenizer(text)["input_ids"]
            written = _with_end_token(
                tokenizer, titled_line(pair.expected.title, pair.expected.text)
            )
            written = written[:output_limit]
            if kind == "causal":
                labels = [_IGNORED_LABEL] * len(read) + written
                read = read + written
            else:
                labels = written
            rows.append({"input_ids": read, "attention_mask": [1] * len(read), "labels": labels})
            progress.update()
    return rows


def _with_end_token(tokenizer: Any, text: str) -> list[int]:
    """Return a text's tokens and the end token, so that the model learns to stop."""
    ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return [*ids, tokenizer.eos_token_id]


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


# --- The trainer ---


def fine_tune(
    model: Any,
    tokenizer: Any,
    data: Sequence[Feature],
    dev: Sequence[Feature],
    checkpoints: Path,
    settings: GenerationSettings,
    *,
    resume: Path | None,
    save_every: int,
) -> tuple[list[tuple[int, float]], float | None, int]:
    """Train a model in place; return the losses with their steps, the loss on dev, and the steps.

    Uses AdamW with a linear decay of the rate to 0, in bfloat16 where that is faster. A run resumed
    from the checkpoint `resume` sees the data in the same order as an uninterrupted one.
    """
    with needs("train", "training a language model", ModelError):
        import torch
        from transformers import DataCollatorForSeq2Seq, PrinterCallback, Trainer, set_seed
    set_seed(settings.seed)
    total = -(-len(data) // settings.batch) * settings.epochs
    with warnings.catch_warnings(), bar("train", total, "steps") as progress:
        warnings.simplefilter("ignore")  # the libraries' own, about one another
        trainer = Trainer(
            model=model,
            args=_arguments(checkpoints, settings, total, save_every, dev=bool(dev)),
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
    losses = [(int(r["step"]), float(r["loss"])) for r in history if "loss" in r]
    dev_losses = [float(r["eval_loss"]) for r in history if "eval_loss" in r]
    return losses, dev_losses[-1] if dev_losses else None, int(trainer.state.global_step)


def _arguments(
    checkpoints: Path, settings: GenerationSettings, total: int, save_every: int, *, dev: bool
) -> Any:
    import torch

    with needs("train", "training a language model", ModelError):
        from transformers import TrainingArguments

        gpu = torch.cuda.is_available()
        return TrainingArguments(
            output_dir=str(checkpoints),
            num_train_epochs=settings.epochs,
            per_device_train_batch_size=settings.batch,
            per_device_eval_batch_size=settings.batch,
            learning_rate=settings.rate,
            save_strategy="steps",
            save_steps=save_every,
            save_total_limit=2,
            eval_strategy="epoch" if dev else "no",
            logging_steps=max(1, min(10, total // (10 * settings.epochs))),
            logging_nan_inf_filter=False,
            remove_unused_columns=False,
            dataloader_pin_memory=gpu,
            bf16=quick_bfloat16(),
            use_cpu=not gpu,
            report_to="none",
            disable_tqdm=True,
            seed=settings.seed,
        )


# --- The agents ---


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """The result of a training; losses are cross-entropies per token.

    `loss` is the mean over the last epoch, `dev_loss` that of the development questions at the end;
    `losses` are those since the one before, each with its step; `resumed` is the step it continued
    from, and `done_before` is true where it was finished before.
    """

    out: str
    questions: int
    pairs: int
    steps: int
    loss: float
    dev_loss: float | None
    resumed: int
    seconds: float
    device: str
    losses: tuple[tuple[int, float], ...] = ()
    done_before: bool = False


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
    kept = dataclasses.asdict(settings) | {"data": _digest(pairs), "dev": _digest(held_out)}
    folder = Folder(out, kept, overwrite=overwrite)
    if folder.result is not None:
        kept = folder.result
        curve = tuple((int(step), float(loss)) for step, loss in kept.get("losses", ()))
        return GenerationReport(**kept | {"out": str(out), "losses": curve, "done_before": True})
    model, tokenizer, device = _model(settings)
    limit = min(settings.input_tokens, input_limit(model, settings.kind))

    def tokens(some_pairs: Sequence[TrainingPair]) -> list[Feature]:
        return features(settings.kind, tokenizer, some_pairs, limit, settings.output_tokens)

    last = folder.last_checkpoint()
    try:
        losses, dev_loss, steps = fine_tune(
            model,
            tokenizer,
            tokens(pairs),
            tokens(held_out),
            folder.checkpoints,
            settings,
            resume=last,
            save_every=save_every,
        )
        if not losses or not all(math.isfinite(loss) for _, loss in losses):
            raise ModelError(
                "the training diverged: its loss is no number",
                where=str(out),
                hint="Train anew with a lower --rate and --overwrite.",
            )
        last_epoch = [loss for step, loss in losses if step > steps - steps / settings.epochs]
        report = GenerationReport(
            out=str(out),
            questions=len(questions),
            pairs=len(pairs),
            steps=steps,
            loss=sum(last_epoch) / len(last_epoch),
            dev_loss=dev_loss,
            resumed=int(last.name.rpartition("-")[2]) if last else 0,
            seconds=time.perf_counter() - began,
            device=device,
            losses=tuple(losses),
        )
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
        folder.finish(dataclasses.asdict(report), _card(settings, files, report))
    except OSError as error:
        raise ModelError(
            f"the training cannot be saved ({error.strerror or error})",
            where=str(out),
            hint="See that there is room; the same command goes on from the last checkpoint.",
        ) from error
    return report


def _model(settings: GenerationSettings) -> tuple[Any, Any, str]:
    """Return the model to train, its tokenizer and its device."""
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    # Weights are trained in float32; below adapters they are frozen.
    frozen = settings.lora and device == "cuda"
    dtype = torch.bfloat16 if frozen else torch.float32
    model, tokenizer = load_checkpoint(settings.kind, settings.model, None, dtype)
    tokenizer.padding_side = "right"
    if settings.lora:
        model = _with_lora(model, settings)
    return model, tokenizer, device


def _with_lora(model: Any, settings: GenerationSettings) -> Any:
    with needs("torch", "a LoRA adapter", ModelError):
        from peft import LoraConfig, TaskType, get_peft_model
        from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN
    seq2seq = settings.kind == "seq2seq"
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        # Query and value projections, as for LLaMA; all layers for an architecture that peft does
        # not know.
        target_modules=None if model.config.model_type in KNOWN else "all-linear",
        task_type=TaskType.SEQ_2_SEQ_LM if seq2seq else TaskType.CAUSAL_LM,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the libraries' own, about one another
        return get_peft_model(model, config)


def _digest(pairs: Sequence[TrainingPair]) -> str:
    digest = hashlib.sha256()
    for pair in pairs:
        digest.update(repr(pair).encode())
    return digest.hexdigest()[:16]


def _card(settings: GenerationSettings, files: Sequence[Path], report: GenerationReport) -> str:
    """Return the model card, a README.md beside the weights."""
    agent = "t5" if settings.kind == "seq2seq" else "llama"
    # The card must not show the path of a local folder.
    base = Path(settings.model)
    name = base.name if base.expanduser().is_dir() else settings.model
    given = dataclasses.asdict(settings) | {"model": name}
    if not settings.lora:
        given = {k: v for k, v in given.items() if k not in ("rank", "alpha", "dropout")}
    rows = [f"| {key} | {value} |" for key, value in given.items()]
    dev = "" if report.dev_loss is None else f", {report.dev_loss:.4f} on the development questions"
    return "\n".join(
        [
            f"# A traversal agent `{agent}` of kgp-neo4j",
            "",
            "Given a question and the evidence found so far, it writes the evidence needed next",
            "(Knowledge Graph Prompting, Wang et al., AAAI 2024).",
            "",
            f"- Base model: {name}" + (" (LoRA adapters)" if settings.lora else ""),
            f"- Data: {', '.join(path.name for path in files)}: {report.questions} questions, "
            f"{report.pairs} pairs",
            f"- Trained: {datetime.datetime.now(datetime.UTC).date().isoformat()}, "
            f"{report.steps} steps; loss {report.loss:.4f}{dev}",
            "- Licence: to be chosen by whoever passes it on, within those of the base model and "
            "the data",
            "",
            "| setting | |",
            "|---|---|",
            *rows,
            "",
        ]
    )
