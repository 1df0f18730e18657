"""Trains the offline reader: the upper layers of an encoder, and the heads that find answers."""

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

from kgp_neo4j.errors import ConfigurationError, InputError, ModelError
from kgp_neo4j.models import DEFAULT_ENCODER
from kgp_neo4j.models.reader import Reader, load_reader
from kgp_neo4j.models.reader.network import Network
from kgp_neo4j.progress import bar
from kgp_neo4j.records import Passage
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.train.reader_batches import Laid, batches, lay_out
from kgp_neo4j.train.reader_calibration import Asked, fit_calibration
from kgp_neo4j.train.reader_card import card
from kgp_neo4j.train.reader_checkpoint import load_checkpoint, save_checkpoint
from kgp_neo4j.train.reader_examples import ReadingExample, read_reading_examples
from kgp_neo4j.train.reader_fitting import Average, fit, optimizer_of

__all__ = ["ReaderReport", "ReaderSettings", "held_out", "train_reader"]

#: One in so many questions over several passages is kept for the calibration.
_HELD = 8
#: Beside the questions over several passages, an epoch repeats this share of them from the others.
_AGAIN = 0.5


@dataclass(frozen=True, slots=True)
class ReaderSettings:
    """How a reader is trained: the top `layers` of `encoder`, in batches of `batch` word pieces.

    `single` examples of one passage are seen once, those of several `epochs` times after them;
    where there are none of these, the others `epochs` times. A window has `longest` pieces at most.
    """

    encoder: str = DEFAULT_ENCODER
    layers: int = 4
    single: int = 27000
    epochs: int = 5
    batch: int = 1600
    longest: int = 300
    rate: float = 2.5e-4
    seed: int = 0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("layers", 1, 48),
            ("single", 0, 10_000_000),
            ("epochs", 1, 1000),
            ("batch", 64, 10_000_000),
            ("longest", 96, 8192),
            ("rate", 1e-9, 1.0),
            ("seed", 0, 2**31 - 1),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigurationError(
                    f"{name} is {value}", hint=f"Choose a number from {low} to {high}."
                )


@dataclass(frozen=True, slots=True)
class ReaderReport:
    """What a training did; `right` is the share of held-out questions answered exactly.

    `calibration_error` is the mean gap between how sure the reader is and how often it is right
    there; both are None where too few questions were held out. `resumed` is the step it went on
    from, `done_before` true where nothing was left to do.
    """

    out: str
    examples: int
    held_out: int
    steps: int
    loss: float
    right: float | None
    calibration_error: float | None
    resumed: int
    seconds: float
    device: str
    done_before: bool = False


def train_reader(
    files: Sequence[Path],
    out: Path,
    settings: ReaderSettings | None = None,
    *,
    save_every: int = 200,
    overwrite: bool = False,
    checked: Sequence[Asked] = (),
) -> ReaderReport:
    """Train a reader on question files and save it in a folder with its card.

    One in eight questions over several passages is held out to fit how sure the reader is, over the
    passages that its file gives; `checked` takes their place where what is retrieved for such
    questions is at hand. Goes on where a run with the same settings and data was stopped.
    Raises InputError for bad lines, ConfigurationError for a folder that holds something else,
    ModelError where the training cannot go on.
    """
    began = time.perf_counter()
    settings = settings or ReaderSettings()
    examples = read_reading_examples(files)
    kept = [e for e in examples if e.group != "several" or not held_out(e.question)]
    left = [e for e in examples if e.group == "several" and held_out(e.question)]
    if not kept:
        raise InputError("the files hold no question whose answer stands in its passages")
    folder = Folder(
        out, dataclasses.asdict(settings) | {"data": _digest(examples)}, overwrite=overwrite
    )
    if folder.result is not None:
        return ReaderReport(**folder.result | {"out": str(out), "done_before": True})
    import torch

    torch.manual_seed(settings.seed)
    network = Network(settings.encoder, settings.layers, precise=True)
    optimizer = optimizer_of(network, settings.rate)
    average = Average(network)
    planned = _plan(network, kept, settings)
    last = folder.last_checkpoint()
    losses: list[float] = []
    try:
        first = load_checkpoint(last, network, optimizer, average) if last else 0
        with bar("train", len(planned), "steps") as progress:
            progress.update(first)

            def done(step: int, loss: float) -> None:
                losses.append(loss)
                progress.update()
                if not math.isfinite(loss):
                    raise ModelError(
                        "the training diverged: its loss is no number",
                        where=str(out),
                        hint="Train anew with a lower --rate and --overwrite.",
                    )
                if (step + 1) % save_every == 0 and step + 1 < len(planned):
                    save_checkpoint(folder.checkpoints, step + 1, network, optimizer, average)

            fit(
                network, planned[first:], optimizer, average,
                first=first, steps=len(planned), seed=settings.seed, done=done,
            )  # fmt: skip
        average.put(network)
        network.save(out, {})
        calibration = fit_calibration(Reader(network, {}), checked or _asked(left))
        network.save(out, {"calibration": calibration} if calibration else {})
        report = ReaderReport(
            out=str(out),
            examples=len(kept),
            held_out=len(left),
            steps=len(planned),
            loss=sum(losses[-100:]) / max(1, len(losses[-100:])),
            right=calibration.get("right"),
            calibration_error=calibration.get("error"),
            resumed=first,
            seconds=time.perf_counter() - began,
            device=network.device,
        )
        folder.finish(dataclasses.asdict(report), card(settings, files, report))
    except OSError as error:
        raise ModelError(
            f"the training cannot be saved ({error.strerror or error})",
            where=str(out),
            hint="See that there is room; the same command goes on from the last checkpoint.",
        ) from error
    load_reader.cache_clear()
    return report


def held_out(question: str) -> bool:
    """Say whether a question over several passages is kept for the calibration: one in eight."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % _HELD == 0


def _plan(
    network: Network, examples: Sequence[ReadingExample], settings: ReaderSettings
) -> list[list[Laid]]:
    """Return all batches of a training in their order: first one passage each, then several."""
    draw = random.Random(settings.seed)
    several = [e for e in examples if e.group == "several"]
    single = [e for e in examples if e.group != "several"]
    draw.shuffle(single)
    tokenizer, size = network.tokenizer, settings.batch
    made: list[list[Laid]] = []
    for _ in range(1 if several else settings.epochs):
        laid = lay_out(tokenizer, single[: settings.single], settings.longest, draw)
        made += batches(laid, size, draw)
    again = int(_AGAIN * len(several))
    for epoch in range(settings.epochs if several else 0):
        rest = single[settings.single + epoch * again :][:again] or single[:again]
        laid = lay_out(tokenizer, several, settings.longest, draw)
        laid += lay_out(tokenizer, rest, settings.longest, draw)
        made += batches(laid, size, draw)
    if not made:
        raise InputError("no example fits into a window", hint="Give a larger --longest.")
    return made


def _asked(examples: Sequence[ReadingExample]) -> list[Asked]:
    """Return held-out questions over the passages of their file, the supporting ones first."""
    made = []
    for example in examples:
        answer = example.answer or example.kind
        texts = [*example.passages, *example.others[:3]]
        passages = tuple(
            Passage(f"{at}", "", title, at, 0, len(text), text)
            for at, (title, text) in enumerate(texts)
        )
        made.append(Asked(example.question, passages, (answer,)))
    return made


def _digest(examples: Sequence[Any]) -> str:
    made = hashlib.sha256()
    for example in examples:
        made.update(repr(example).encode("utf-8", "backslashreplace"))
    return made.hexdigest()[:16]
