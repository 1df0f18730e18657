"""Train an MDR encoder to predict the next supporting passage from those before it."""

from __future__ import annotations

import dataclasses
import json
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.models.encoder import load_encoder
from kgp_neo4j.models.mdr import QueryForm
from kgp_neo4j.models.mdr_folder import Lengths, MdrFolder, weights_folder, write_mdr_folder
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.models.torch_encoder import TorchTransformer, load_mdr_model, load_model
from kgp_neo4j.train.export import export_encoder
from kgp_neo4j.train.folder import Folder, Report, card, digest
from kgp_neo4j.train.mdr_pairs import MdrPair, filled
from kgp_neo4j.train.trainer import run_trainer
from kgp_neo4j.types.checks import check_ranges
from kgp_neo4j.types.errors import ConfigurationError, ModelError

__all__ = ["MdrReport", "MdrTraining", "train_mdr"]

#: The share of the steps in which the rate rises, and the largest norm of a gradient (MDR's).
_WARM_UP, _CLIP = 0.1, 2.0


@dataclass(frozen=True, slots=True)
class MdrTraining:
    """The options of an MDR encoder's training; the defaults are those of the papers.

    `lora_rank` 0 trains every weight. `learning_rate` None is the paper's 2e-5 for that, and 2e-4
    for LoRA; `steps` None is `epochs` over the pairs. `negatives` are the hard ones of a pair,
    beside those of the batch.
    """

    encoder: str = DEFAULT_ENCODER
    lora_rank: int = 8
    negatives: int = 2
    batch: int = 16
    epochs: int = 3
    steps: int | None = None
    learning_rate: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_ranges(self, lora_rank=(0, 256), negatives=(1, 16), batch=(2, 4096), epochs=(1, 1000))
        if self.steps is not None:
            check_ranges(self, steps=(1, 2**31 - 1))
        if self.learning_rate is not None:
            check_ranges(self, learning_rate=(1e-9, 1.0))

    @property
    def rate(self) -> float:
        """Return the learning rate that is used."""
        return self.learning_rate or (2e-4 if self.lora_rank else 2e-5)


@dataclass(frozen=True, slots=True, kw_only=True)
class MdrReport(Report):
    """The result of a training: folder, pairs, steps and losses.

    `first_loss` and `last_loss` are means over the first and the last tenth of the steps, `losses`
    are those of all steps.
    """

    folder: str
    pairs: int
    first_loss: float
    last_loss: float
    losses: tuple[float, ...] = ()


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
    steps. The loss is the cross-entropy of the right passage among all passages of a batch, hard
    negatives included, by cosine similarity (MDR takes the inner product; here all vectors are unit
    ones). `sources` names the origin of the pairs in the model card. Raises ConfigurationError
    where `out` has other files and there is no `overwrite`, or there are fewer than two pairs, and
    ModelError where it can't be written or a package is missing.
    """
    settings = settings or MdrTraining()
    began = time.perf_counter()
    pairs = filled(pairs, settings.negatives, settings.seed)
    if len(pairs) < 2:
        raise ConfigurationError(
            f"there are {len(pairs)} training pairs, which is too few",
            hint="Give more labelled questions, or a corpus of more than a few passages.",
        )
    steps = settings.steps or settings.epochs * math.ceil(len(pairs) / settings.batch)
    with needs("torch", "training an MDR encoder", ModelError):
        import torch
    model, device = load_model(settings.encoder, torch.float32)
    lengths = Lengths()
    model.max_seq_length = lengths.query
    form = QueryForm(TorchTransformer(model, device).tokenizer, lengths)
    plan = dataclasses.asdict(settings) | {"steps": steps, "data": digest(pairs)}
    folder = Folder(out, plan, overwrite=overwrite)
    if folder.result is not None:
        before = folder.result | {"losses": tuple(folder.result["losses"])}
        return MdrReport(**before | {"folder": str(out), "done_before": True})
    with folder.saving():
        losses = _fit(model, _columns(pairs, form), folder, settings, steps, save_every)
        tenth = max(len(losses) // 10, 1)
        report = MdrReport(
            folder=str(out),
            pairs=len(pairs),
            steps=steps,
            first_loss=sum(losses[:tenth]) / tenth,
            last_loss=sum(losses[-tenth:]) / tenth,
            seconds=time.perf_counter() - began,
            losses=tuple(round(loss, 4) for loss in losses),
            resumed=folder.resumed,
        )
        training = _described(report, settings, sources or {})
        description = MdrFolder(settings.encoder, settings.lora_rank, lengths, training=training)
        _save(model, out, description)
        folder.finish(dataclasses.asdict(report), _card(description))
    load_encoder.cache_clear()  # the same folder may have held another encoder
    return report


def _described(
    report: MdrReport, settings: MdrTraining, sources: Mapping[str, int]
) -> dict[str, Any]:
    """Return what the folder and its card say of the training."""
    return {
        "pairs": report.pairs,
        "sources": dict(sources),
        "steps": report.steps,
        "batch": settings.batch,
        "negatives": settings.negatives,
        "learning_rate": settings.rate,
        "warm_up": _WARM_UP,
        "clip": _CLIP,
        "seed": settings.seed,
        "first_loss": round(report.first_loss, 4),
        "last_loss": round(report.last_loss, 4),
    }


def _fit(
    model: Any,
    columns: Mapping[str, Sequence[str]],
    folder: Folder,
    settings: MdrTraining,
    steps: int,
    save_every: int,
) -> list[float]:
    """Train a SentenceTransformer in place, and return the loss of each step.

    `columns` are anchor, positive and negatives, each with a text for every pair.
    """
    with needs("train", "training an MDR encoder", ModelError):
        from datasets import Dataset
        from sentence_transformers import (
            SentenceTransformerTrainer,
            SentenceTransformerTrainingArguments,
        )
        from sentence_transformers.losses import CachedMultipleNegativesRankingLoss
        from transformers import set_seed

    class Trainer(SentenceTransformerTrainer):
        """The library's trainer without its model card, which would call the hub."""

        def training_step(self, *args: Any, **kwargs: Any) -> Any:
            """Keep bfloat16 on the way back too, where the loss runs the network once more."""
            with self.accelerator.autocast():
                return super().training_step(*args, **kwargs)

        def add_model_card_callback(self, default_args_dict: Any) -> None:
            """Do nothing."""

    set_seed(settings.seed)
    with needs("train", "training an MDR encoder", ModelError):
        _prepare(model, settings.lora_rank)
    options = {
        "max_steps": steps,
        "per_device_train_batch_size": settings.batch,
        "learning_rate": settings.rate,
        "seed": settings.seed,
        "warmup_steps": math.ceil(_WARM_UP * steps),
        "max_grad_norm": _CLIP,
        # A passage in two pairs of a batch would be both a positive and a negative.
        "batch_sampler": "no_duplicates",
        "save_steps": save_every,
        "logging_steps": 1,
    }
    part = 32 if model.device.type == "cuda" else 8  # 16 pairs at once take 7 GB
    with needs("train", "training an MDR encoder", ModelError):
        state = run_trainer(
            Trainer,
            SentenceTransformerTrainingArguments,
            folder,
            steps,
            options,
            model=model,
            train_dataset=Dataset.from_dict({name: list(v) for name, v in columns.items()}),
            loss=CachedMultipleNegativesRankingLoss(model, mini_batch_size=part),
        )
    return [float(row["loss"]) for row in state.log_history if "loss" in row]


def _prepare(model: Any, lora_rank: int) -> None:
    """Switch dropout and the hub off, and add an adapter of a rank above 0."""
    from peft import LoraConfig
    from torch.nn import Dropout

    # A CPU has no quick attention with dropout: steps take twice as long.
    for module in model.modules():
        if isinstance(module, Dropout):
            module.p = 0.0
    if lora_rank:
        adapter = LoraConfig(r=lora_rank, lora_alpha=2 * lora_rank, target_modules="all-linear")
        model.add_adapter(adapter)
    model.model_card_data.local_files_only = True  # nothing is looked up on the hub


def _columns(pairs: Sequence[MdrPair], form: QueryForm) -> dict[str, list[str]]:
    """Return the texts of the pairs as the columns the loss expects, cut to their lengths."""
    columns = {
        "anchor": form.queries([(pair.question, pair.before) for pair in pairs]),
        "positive": form.passages([pair.positive for pair in pairs]),
    }
    for at, negatives in enumerate(zip(*(pair.negatives for pair in pairs), strict=True), 1):
        columns[f"negative_{at}"] = form.passages(negatives)
    return columns


def _save(model: Any, out: Path, made: MdrFolder) -> None:
    """Write the weights and the description that makes them an encoder."""
    weights = weights_folder(out, made.lora_rank)
    if made.lora_rank:
        with warnings.catch_warnings():
            # peft uses an old name of transformers.
            warnings.simplefilter("ignore", FutureWarning)
            model[0].auto_model.save_pretrained(weights)
        # peft writes the path of a local folder here.
        file = weights / "adapter_config.json"
        configuration = json.loads(file.read_text(encoding="utf-8"))
        configuration["base_model_name_or_path"] = made.encoder
        file.write_text(json.dumps(configuration, indent=2, sort_keys=True), encoding="utf-8")
    else:
        model.save_pretrained(str(weights), create_model_card=False)
    if not made.upon_default:
        export_encoder(load_mdr_model(out, made, precise=True)[0], out)
    write_mdr_folder(out, made)


def _card(made: MdrFolder) -> str:
    training, lengths = made.training, made.lengths
    kind = f"a LoRA adapter of rank {made.lora_rank}" if made.lora_rank else "a whole model"
    return card(
        "MDR encoder",
        f"Predicts the next supporting passage from a question and the passages before it: {kind} "
        f"on `{made.encoder}`,\nfine-tuned after multi-hop dense retrieval (Xiong et al., ICLR "
        "2021). `kgp-neo4j connect --edges knn-mdr\n--mdr-model FOLDER` makes the graph of it, "
        "which `kgp-neo4j ask --agent mdr` follows.",
        (
            f"Word pieces at most: question {lengths.question}, passage {lengths.passage}, query "
            f"with passages {lengths.query}; the passages before share what the question leaves",
            f"The loss went from {training['first_loss']:.3f} to {training['last_loss']:.3f}",
            *(f"Pairs of {name}: {count:,}" for name, count in training["sources"].items()),
        ),
        {name: value for name, value in training.items() if name not in ("sources", "pairs")},
    )
