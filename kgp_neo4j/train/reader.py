"""Train the offline reader: layers of an encoder, and the heads that find answers."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.read.reader import OfflineReader, load_reader
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.models.reader.network import WEIGHTS_FILE, read_network
from kgp_neo4j.train.folder import Folder, Report, card, digest, named, no_divergence
from kgp_neo4j.train.reader_calibration import Asked, fit_calibration
from kgp_neo4j.train.reader_examples import ReadingExample, read_reading_examples
from kgp_neo4j.train.reader_fitting import Fitting
from kgp_neo4j.train.reader_network import TrainedNetwork
from kgp_neo4j.train.reader_windows import Laid, batches, lay_out
from kgp_neo4j.types.checks import check_ranges
from kgp_neo4j.types.corpus import Passage
from kgp_neo4j.types.errors import InputError, ModelError

__all__ = ["ReaderReport", "ReaderSettings", "train_reader"]

#: One in this many questions over several passages is held out for the calibration.
_HELD_OUT_EVERY = 8
#: Questions of one passage in a later epoch, as a share of those over several passages.
_REPEATED_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How a reader is trained: the top `layers` of `encoder`, in batches of `batch` tokens.

    `single` examples of one passage are seen once, those of several `epochs` times after them;
    where there are none of these, the others `epochs` times. A file with fewer questions over
    several passages than another one is seen more often: by the root of how many times fewer. A
    window has at most `longest` tokens. `further` is the folder of a reader to begin with, on the
    default encoder and with as many layers.
    """

    encoder: str = DEFAULT_ENCODER
    layers: int = 6
    single: int = 27000
    epochs: int = 5
    batch: int = 4096
    longest: int = 512
    rate: float = 2.5e-4
    seed: int = 0
    further: Path | None = None

    def __post_init__(self) -> None:
        check_ranges(
            self,
            layers=(1, 48),
            single=(0, 10_000_000),
            epochs=(1, 1000),
            batch=(64, 10_000_000),
            longest=(96, 8192),
            rate=(1e-9, 1.0),
            seed=(0, 2**31 - 1),
        )

    def described(self) -> dict[str, Any]:
        """Return the settings with a digest for the reader to begin with; no local path is kept.

        Raises ModelError where it is not there.
        """
        settings = dataclasses.asdict(self) | {"encoder": named(self.encoder)}
        if self.further is not None:
            try:
                weights = (self.further / WEIGHTS_FILE).read_bytes()
            except OSError as error:
                raise ModelError(
                    "there is no reader to train further",
                    where=str(self.further),
                    hint="Give the folder of a reader on the default encoder.",
                ) from error
            settings["further"] = hashlib.sha256(weights).hexdigest()[:12]
        return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderReport(Report):
    """The result of a training; `right` is the share of held-out questions answered correctly.

    `calibration_error` is the mean gap between confidence and accuracy there; both are None where
    too few questions were held out.
    """

    out: str
    examples: int
    held_out: int
    loss: float
    right: float | None
    calibration_error: float | None
    device: str


def train_reader(
    files: Sequence[Path],
    out: Path,
    settings: ReaderSettings | None = None,
    *,
    save_every: int = 200,
    overwrite: bool = False,
) -> ReaderReport:
    """Train a reader on question files and save it in a folder with its card.

    One in eight questions over several passages is held out to fit the reader's confidence, over
    the passages that its file gives. Continues an interrupted run with the same settings and data.
    Raises InputError for bad lines, ConfigurationError for a folder with other files, ModelError
    where the training cannot continue.
    """
    began = time.perf_counter()
    settings = settings or ReaderSettings()
    read = [read_reading_examples([file]) for file in files]
    examples = [example for each in read for example in each]
    held_out = [example for example in examples if _is_held_out(example)]
    learned = [[example for example in each if not _is_held_out(example)] for each in read]
    if not any(learned):
        raise InputError("the files hold no question whose answer stands in its passages")
    described = settings.described()
    folder = Folder(out, described | {"data": digest(examples)}, overwrite=overwrite)
    if folder.result is not None:
        return ReaderReport(**folder.result | {"out": str(out), "done_before": True})
    import torch

    torch.manual_seed(settings.seed)
    network = TrainedNetwork(settings.encoder, settings.layers)
    if settings.further is not None:
        network.load(settings.further)
    plan = _plan(network, learned, settings)
    with folder.saving():
        losses = _fit(network, plan, folder, settings, save_every)
        network.save(out, {})
        calibration = fit_calibration(
            OfflineReader(*read_network(out)), [_asked(example) for example in held_out]
        )
        network.save(out, {"calibration": calibration} if calibration else {})
        report = ReaderReport(
            out=str(out),
            examples=sum(map(len, learned)),
            held_out=len(held_out),
            steps=len(plan),
            loss=sum(losses[-100:]) / max(1, len(losses[-100:])),
            right=calibration.get("right"),
            calibration_error=calibration.get("error"),
            resumed=folder.resumed,
            seconds=time.perf_counter() - began,
            device=network.device,
        )
        folder.finish(dataclasses.asdict(report), _card(described, files, report))
    load_reader.cache_clear()
    return report


def _fit(
    network: TrainedNetwork,
    plan: Sequence[Sequence[Laid]],
    folder: Folder,
    settings: ReaderSettings,
    save_every: int,
) -> list[float]:
    """Fit the network to all batches from the last checkpoint on, and return the losses."""
    fitting = Fitting(network, settings.rate, settings.seed, folder.last)
    losses: list[float] = []
    with bar("train", len(plan), "steps") as progress:
        progress.update(fitting.step)
        for loss in fitting.run(plan):
            if not math.isfinite(loss):
                raise no_divergence(folder.path)
            losses.append(loss)
            progress.update()
            if fitting.step % save_every == 0 and fitting.step < len(plan):
                fitting.save(folder.checkpoints)
    fitting.take_average()
    return losses


def _is_held_out(example: ReadingExample) -> bool:
    """Return whether a question is kept for the calibration."""
    number = int(hashlib.sha256(example.question.encode()).hexdigest(), 16)
    return example.group == "several" and number % _HELD_OUT_EVERY == 0


def _plan(
    network: TrainedNetwork,
    files: Sequence[Sequence[ReadingExample]],
    settings: ReaderSettings,
) -> list[list[Laid]]:
    """Return all batches of a training in their order: first one passage each, then several."""
    generator = random.Random(settings.seed)
    several = [part for file in files if (part := [e for e in file if e.group == "several"])]
    single = [e for file in files for e in file if e.group != "several"]
    generator.shuffle(single)
    tokenizer, size = network.tokenizer, settings.batch
    longest = min(settings.longest, network.longest)
    plan: list[list[Laid]] = []
    for _ in range(1 if several else settings.epochs):
        laid = lay_out(tokenizer, single[: settings.single], longest, generator)
        plan += batches(laid, size, generator)
    for epoch in range(settings.epochs if several else 0):
        drawn = _drawn(several, generator)
        again = int(_REPEATED_SHARE * len(drawn))
        rest = single[settings.single + epoch * again :][:again] or single[:again]
        laid = lay_out(tokenizer, drawn, longest, generator)
        laid += lay_out(tokenizer, rest, longest, generator)
        plan += batches(laid, size, generator)
    if not plan:
        raise InputError("no example fits into a window", hint="Give a larger --longest.")
    return plan


def _drawn(
    files: Sequence[Sequence[ReadingExample]], generator: random.Random
) -> list[ReadingExample]:
    """Return the examples of an epoch: a small file's are drawn several times."""
    most, drawn = max(map(len, files)), []
    for file in files:
        times, more = divmod(math.sqrt(most * len(file)), len(file))
        drawn += [*file] * int(times) + generator.sample(file, int(more))
    return drawn


def _asked(example: ReadingExample) -> Asked:
    """Return a held-out question over the passages of its file, the supporting ones first."""
    texts = [*example.passages, *example.others[:3]]
    passages = tuple(
        Passage(f"{at}", "", title, at, 0, len(text), text)
        for at, (title, text) in enumerate(texts)
    )
    return Asked(example.question, passages, (example.answer or example.kind,))


def _card(settings: dict[str, Any], files: Sequence[Path], report: ReaderReport) -> str:
    figures = "not measured: too few questions were held out"
    if report.right is not None and report.calibration_error is not None:
        figures = (
            f"{100 * report.right:.1f} % answered rightly, calibration error "
            f"{100 * report.calibration_error:.1f} points"
        )
    return card(
        "Offline reader of kgp-neo4j",
        "Finds the answer to a question in passages: a span, yes, no, or that it is not there. The "
        "top layers of a sentence encoder and three heads; `reader.safetensors` holds what differs "
        "from the encoder, in eight bits, `reader.json` how sure it is. Nothing in them can be "
        "executed.",
        (
            f"Data: {', '.join(path.name for path in files)}: {report.examples} examples",
            f"Held out for calibration: {report.held_out} questions; {figures}",
            f"{report.steps} steps, loss {report.loss:.4f}",
        ),
        settings,
    )
