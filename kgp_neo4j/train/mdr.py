"""Train an MDR encoder to predict the next supporting passage from those before it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.models.mdr import QueryForm
from kgp_neo4j.models.mdr_folder import Lengths, MdrFolder, weights_folder, write_mdr_folder
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.models.torch_encoder import (
    TorchTransformer,
    load_mdr_model,
    load_model,
    quick_bfloat16,
)
from kgp_neo4j.train.export import export_encoder
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.train.mdr_pairs import MdrPair, filled
from kgp_neo4j.train.watching import watch
from kgp_neo4j.types.checks import check_ranges
from kgp_neo4j.types.errors import ConfigurationError, ModelError

__all__ = ["MdrReport", "MdrTraining", "model_card", "train_encoder", "train_mdr"]


def model_card(folder: MdrFolder) -> str:
    """Return the README.md of an encoder's folder."""
    training = folder.training
    kind = f"a LoRA adapter of rank {folder.lora_rank}" if folder.lora_rank else "a whole model"
    sources = [f"| {name} | {count:,} |" for name, count in training["sources"].items()]
    lines = [
        "# MDR encoder",
        "",
        f"Predicts the next supporting passage from a question and the passages before it: {kind} "
        f"on `{folder.encoder}`, fine-tuned with kgp-neo4j after multi-hop dense retrieval (Xiong "
        "et al., ICLR 2021).",
        "",
        "```sh",
        "kgp-neo4j connect --corpus NAME --edges knn-mdr --mdr-model FOLDER",
        'kgp-neo4j ask "..." --corpus NAME --agent mdr',
        "```",
        "",
        "| training data | pairs |",
        "|---|---|",
        *sources,
        "",
        f"{training['steps']:,} steps of {training['batch']} pairs with {training['negatives']} "
        f"hard negatives each, learning rate {training['learning_rate']:g}, warm-up "
        f"{training['warm_up']:g}, gradients cut at {training['clip']:g}, seed "
        f"{training['seed']}. The loss went from "
        f"{training['first_loss']:.3f} to {training['last_loss']:.3f}.",
        "",
        f"Word pieces at most: question {folder.lengths.question}, passage "
        f"{folder.lengths.passage}, query with passages {folder.lengths.query}. The passages "
        "before share evenly what the question leaves.",
        "",
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class MdrTraining:
    """The options of an MDR encoder's training; the defaults are those of the papers.

    `lora_rank` 0 trains every weight. `learning_rate` None is the paper's 2e-5 for that, and 2e-4
    for LoRA; `steps` None is `epochs` over the pairs. `warm_up` is a share of the steps, `clip` the
    largest norm of a gradient, `negatives` the hard ones of a pair, beside those of the batch.
    """

    encoder: str = DEFAULT_ENCODER
    lora_rank: int = 8
    negatives: int = 2
    batch: int = 16
    epochs: int = 3
    steps: int | None = None
    learning_rate: float | None = None
    warm_up: float = 0.1
    clip: float = 2.0
    seed: int = 0
    lengths: Lengths = dataclasses.field(default_factory=Lengths)

    def __post_init__(self) -> None:
        check_ranges(self, lora_rank=(0, 256), negatives=(1, 16), batch=(2, 4096), epochs=(1, 1000))
        if self.steps is not None and self.steps < 1:
            raise ConfigurationError(f"steps is {self.steps}", hint="Choose 1 or more.")
        if self.learning_rate is not None and not 0 < self.learning_rate < 1:
            raise ConfigurationError(
                f"learning_rate is {self.learning_rate}", hint="Choose one between 0 and 1."
            )

    @property
    def rate(self) -> float:
        """Return the learning rate that is used."""
        return self.learning_rate or (2e-4 if self.lora_rank else 2e-5)


# --- The trainer ---


def train_encoder(
    model: Any,
    columns: Mapping[str, Sequence[str]],
    checkpoints: Path,
    settings: MdrTraining,
    *,
    steps: int,
    resume: Path | None,
    save_every: int,
) -> list[float]:
    """Train a SentenceTransformer in place, and return the loss of each step.

    `columns` are anchor, positive and negatives, each with a text for every pair. Training
    continues from the checkpoint `resume` if it is given.
    """
    with needs("train", "training an MDR encoder", ModelError):
        from datasets import Dataset
        from peft import LoraConfig
        from sentence_transformers.losses import CachedMultipleNegativesRankingLoss
        from transformers import PrinterCallback, set_seed
    set_seed(settings.seed)
    _without_dropout(model)
    if rank := settings.lora_rank:
        model.add_adapter(LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear"))
    model.model_card_data.local_files_only = True  # nothing is looked up on the hub
    with bar("train", steps, "steps") as progress:
        # In small parts: a batch of 16 pairs at once takes 7 GB.
        part = 32 if model.device.type == "cuda" else 8
        trainer = _trainer_class()(
            model=model,
            args=_arguments(model, checkpoints, settings, steps, save_every),
            train_dataset=Dataset.from_dict({k: list(v) for k, v in columns.items()}),
            loss=CachedMultipleNegativesRankingLoss(model, mini_batch_size=part),
            callbacks=[watch(progress)],
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train(resume_from_checkpoint=str(resume) if resume else None)
    return [float(row["loss"]) for row in trainer.state.log_history if "loss" in row]


def _without_dropout(model: Any) -> None:
    """Set dropout to 0: a CPU has no quick attention with it, and steps take twice as long."""
    from torch.nn import Dropout

    for module in model.modules():
        if isinstance(module, Dropout):
            module.p = 0.0


def _trainer_class() -> Any:
    from sentence_transformers import SentenceTransformerTrainer

    class Trainer(SentenceTransformerTrainer):
        """The library's trainer without its model card."""

        def training_step(self, *args: Any, **kwargs: Any) -> Any:
            """Keep bfloat16 on the way back too, where the loss runs the network once more."""
            with self.accelerator.autocast():
                return super().training_step(*args, **kwargs)

        def add_model_card_callback(self, default_args_dict: Any) -> None:
            """Do nothing: the library's card would show progress bars and call the hub."""

    return Trainer


def _arguments(
    model: Any, checkpoints: Path, settings: MdrTraining, steps: int, save_every: int
) -> Any:
    from sentence_transformers import SentenceTransformerTrainingArguments

    on_gpu = model.device.type == "cuda"
    return SentenceTransformerTrainingArguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=settings.batch,
        learning_rate=settings.rate,
        warmup_steps=math.ceil(settings.warm_up * steps),
        max_grad_norm=settings.clip,
        # A passage in two pairs of a batch would be both a positive and a negative.
        batch_sampler="no_duplicates",
        bf16=quick_bfloat16(),
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        save_strategy="steps",
        save_steps=save_every,
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        seed=settings.seed,
    )


# --- The encoder ---


@dataclass(frozen=True, slots=True)
class MdrReport:
    """The result of a training: folder, pairs, steps and losses.

    `first_loss` and `last_loss` are means over the first and the last tenth of the steps, `losses`
    are those of all steps. `resumed` is the step it continued from, and `done_before` is true where
    it was finished before.
    """

    folder: str
    pairs: int
    steps: int
    first_loss: float
    last_loss: float
    seconds: float
    losses: tuple[float, ...] = ()
    resumed: int = 0
    done_before: bool = False


def train_mdr(
    pairs: Sequence[MdrPair],
    out: Path,
    settings: MdrTraining | None = None,
    *,
    sources: Mapping[str, int] | None = None,
    save_every: int = 100,
    overwrite: bool = False,
) -> MdrReport:
    """Train an MDR encoder on pairs and write it to the folder `out`.

    An interrupted run continues from its last checkpoint, of which there is one every `save_every`
    steps.
    The loss is the cross-entropy of the right passage among all passages of a batch, hard negatives
    included, by cosine similarity (MDR takes the inner product; here all vectors are unit ones).
    `sources` names the origin of the pairs in the model card. Raises ConfigurationError where
    `out` has other files and there is no `overwrite`, or there are fewer than two pairs, and
    ModelError where it can't be written or a package is missing.
    """
    settings = settings or MdrTraining()
    began = time.perf_counter()
    complete_pairs = filled(pairs, settings.negatives, settings.seed)
    if len(complete_pairs) < 2:
        raise ConfigurationError(
            f"there are {len(complete_pairs)} training pairs, which is too few",
            hint="Give more labelled questions, or a corpus of more than a few passages.",
        )
    steps = settings.steps or settings.epochs * math.ceil(len(complete_pairs) / settings.batch)
    model, device = load_model(settings.encoder, _float32())
    model.max_seq_length = settings.lengths.query
    form = QueryForm(TorchTransformer(model, device).tokenizer, settings.lengths)
    digest = hashlib.sha256(repr([dataclasses.astuple(pair) for pair in complete_pairs]).encode())
    plan = dataclasses.asdict(settings) | {"steps": steps, "data": digest.hexdigest()[:16]}
    folder = Folder(out, plan, overwrite=overwrite)
    if folder.result is not None:
        kept = folder.result | {"losses": tuple(folder.result.get("losses", ()))}
        return MdrReport(**kept | {"folder": str(out), "done_before": True})
    last = folder.last_checkpoint()
    try:
        losses = train_encoder(
            model,
            _columns(complete_pairs, form, settings.negatives),
            folder.checkpoints,
            settings,
            steps=steps,
            resume=last,
            save_every=save_every,
        )
        tenth = max(len(losses) // 10, 1)
        report = MdrReport(
            folder=str(out),
            pairs=len(complete_pairs),
            steps=steps,
            first_loss=sum(losses[:tenth]) / tenth,
            last_loss=sum(losses[-tenth:]) / tenth,
            seconds=time.perf_counter() - began,
            losses=tuple(round(loss, 4) for loss in losses),
            resumed=int(last.name.rpartition("-")[2]) if last else 0,
        )
        card = _save(model, out, settings, report, dict(sources or {}))
        folder.finish(dataclasses.asdict(report), card)
    except OSError as error:
        raise ModelError(
            f"the folder cannot be written ({error.strerror or error})",
            where=str(out),
            hint="Choose another --out.",
        ) from error
    load_encoder.cache_clear()  # the same folder may have held another encoder
    return report


def _float32() -> Any:
    import torch

    return torch.float32


def _columns(pairs: Sequence[MdrPair], form: QueryForm, negatives: int) -> dict[str, list[str]]:
    """Return the texts of the pairs as the columns the loss expects, cut to their lengths."""
    columns = {
        "anchor": form.queries([(pair.question, pair.before) for pair in pairs]),
        "positive": form.passages([pair.positive for pair in pairs]),
    }
    for at in range(negatives):
        columns[f"negative_{at + 1}"] = form.passages([pair.negatives[at] for pair in pairs])
    return columns


def _save(
    model: Any, out: Path, settings: MdrTraining, report: MdrReport, sources: dict[str, int]
) -> str:
    """Write the weights and the description that makes them an encoder; return the model card."""
    weights = weights_folder(out, settings.lora_rank)
    if settings.lora_rank:
        with warnings.catch_warnings():
            # peft uses an old name of transformers.
            warnings.simplefilter("ignore", FutureWarning)
            model[0].auto_model.save_pretrained(weights)
        # peft writes the path of a local folder here.
        file = weights / "adapter_config.json"
        configuration = json.loads(file.read_text(encoding="utf-8"))
        configuration["base_model_name_or_path"] = settings.encoder
        file.write_text(json.dumps(configuration, indent=2, sort_keys=True), encoding="utf-8")
    else:
        model.save_pretrained(str(weights), create_model_card=False)
    training = {
        "pairs": report.pairs,
        "sources": sources,
        "steps": report.steps,
        "batch": settings.batch,
        "negatives": settings.negatives,
        "learning_rate": settings.rate,
        "warm_up": settings.warm_up,
        "clip": settings.clip,
        "seed": settings.seed,
        "first_loss": round(report.first_loss, 4),
        "last_loss": round(report.last_loss, 4),
    }
    description = MdrFolder(
        settings.encoder, settings.lora_rank, settings.lengths, training=training
    )
    if not description.upon_default:
        export_encoder(load_mdr_model(out, description, precise=True)[0], out)
    write_mdr_folder(out, description)
    return model_card(description)
