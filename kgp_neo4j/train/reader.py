"""Train the offline reader: layers of an encoder, and the heads that find answers."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import math
import random
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.read.reader import OfflineReader, load_reader
from kgp_neo4j.environment.progress import bar
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.models.reader.network import WEIGHTS_FILE, read_network
from kgp_neo4j.train.folder import Folder
from kgp_neo4j.train.reader_calibration import Asked, fit_calibration
from kgp_neo4j.train.reader_examples import ReadingExample, read_reading_examples
from kgp_neo4j.train.reader_fitting import Average, Laid, batches, fit, lay_out, optimizer_of
from kgp_neo4j.train.reader_network import TrainedNetwork
from kgp_neo4j.types.checks import check_ranges
from kgp_neo4j.types.corpus import Passage
from kgp_neo4j.types.errors import InputError, ModelError

__all__ = [
    "ReaderReport",
    "ReaderSettings",
    "card",
    "held_out",
    "load_checkpoint",
    "save_checkpoint",
    "train_reader",
]


def card(settings: ReaderSettings, files: Sequence[Path], report: ReaderReport) -> str:
    """Return the card in Markdown: description, training data, and results."""
    rows = "\n".join(f"| {name} | {value} |" for name, value in settings.kept().items())
    figures = "not measured: too few questions were held out"
    if report.right is not None and report.calibration_error is not None:
        figures = (
            f"{100 * report.right:.1f} % answered rightly, calibration error "
            f"{100 * report.calibration_error:.1f} points"
        )
    return f"""# Offline reader of kgp-neo4j

Finds the answer to a question in passages: a span, yes, no, or that it is not there. The top layers
of a sentence encoder and three heads; `reader.safetensors` holds what differs from the encoder, in
eight bits, `reader.json` how sure it is. Nothing in them can be executed.

- Data: {", ".join(path.name for path in files)}: {report.examples} examples
- Held out for calibration: {report.held_out} questions; {figures}
- Trained: {datetime.datetime.now(datetime.UTC).date().isoformat()}, {report.steps} steps, loss
  {report.loss:.4f}
- Licence: to be chosen by whoever passes it on, within those of the encoder and the data

| setting | |
|---|---|
{rows}

Made by `kgp-neo4j train reader`.
"""


# --- Checkpoints: weights, their average and the optimizer's moments ---

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def save_checkpoint(
    folder: Path, step: int, network: TrainedNetwork, optimizer: Any, average: Average
) -> None:
    """Write the state after `step` steps, and delete older checkpoints."""
    import torch
    from safetensors.torch import save_file

    place = folder / f"checkpoint-{step}"
    place.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {}
    for name, part in network.own().items():
        kept[name] = part.detach().cpu().contiguous()
        kept[f"average:{name}"] = average.parts[name].cpu().contiguous()
        for moment in _MOMENTS:
            value = torch.as_tensor(optimizer.state[part][moment])
            kept[f"{moment}:{name}"] = value.detach().cpu().contiguous()
    save_file(kept, str(place / "state.safetensors"))
    # Written last: a checkpoint without it is incomplete.
    (place / "trainer_state.json").write_text(json.dumps({"step": step}), encoding="utf-8")
    for other in folder.glob("checkpoint-*"):
        if other != place:
            shutil.rmtree(other, ignore_errors=True)


def load_checkpoint(place: Path, network: TrainedNetwork, optimizer: Any, average: Average) -> int:
    """Load a checkpoint into a network, optimizer and average; return its number of steps.

    Raises ModelError where the checkpoint does not fit them.
    """
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        kept = load_file(str(place / "state.safetensors"))
        with torch.no_grad():
            for name, part in network.own().items():
                part.copy_(kept[name])
                average.parts[name].copy_(kept[f"average:{name}"])
                optimizer.state[part] = {
                    moment: kept[f"{moment}:{name}"].to("cpu" if moment == "step" else part.device)
                    for moment in _MOMENTS
                }
        return int(json.loads((place / "trainer_state.json").read_text("utf-8"))["step"])
    except (SafetensorError, KeyError, RuntimeError, TypeError, ValueError) as error:
        raise ModelError(
            f"the checkpoint cannot be used ({error!r})",
            where=str(place),
            hint="Train anew with --overwrite.",
        ) from error


# --- The reader ---

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

    def kept(self) -> dict[str, Any]:
        """Return the settings with a digest for the reader to begin with; no local path is kept.

        Raises ModelError where it is not there.
        """
        made = dataclasses.asdict(self)
        base = Path(self.encoder)
        made["encoder"] = base.name if base.expanduser().is_dir() else self.encoder
        if self.further is not None:
            try:
                weights = (self.further / WEIGHTS_FILE).read_bytes()
            except OSError as error:
                raise ModelError(
                    "there is no reader to train further",
                    where=str(self.further),
                    hint="Give the folder of a reader on the default encoder.",
                ) from error
            made["further"] = hashlib.sha256(weights).hexdigest()[:12]
        return made


@dataclass(frozen=True, slots=True)
class ReaderReport:
    """The result of a training; `right` is the share of held-out questions answered correctly.

    `calibration_error` is the mean gap between confidence and accuracy there; both are None where
    too few questions were held out. `resumed` is the step it continued from, and `done_before` is
    true where it was finished before.
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

    One in eight questions over several passages is held out to fit the reader's confidence, over
    the passages that its file gives; `checked` replaces them where passages retrieved for such
    questions are available. Continues an interrupted run with the same settings and data. Raises
    InputError for bad lines, ConfigurationError for a folder with other files, ModelError where the
    training cannot continue.
    """
    began = time.perf_counter()
    settings = settings or ReaderSettings()
    read = [read_reading_examples([file]) for file in files]
    examples = [e for each in read for e in each]
    kept = [[e for e in each if e.group != "several" or not held_out(e.question)] for each in read]
    left = [e for e in examples if e.group == "several" and held_out(e.question)]
    if not any(kept):
        raise InputError("the files hold no question whose answer stands in its passages")
    folder = Folder(out, settings.kept() | {"data": _digest(examples)}, overwrite=overwrite)
    if folder.result is not None:
        return ReaderReport(**folder.result | {"out": str(out), "done_before": True})
    import torch

    torch.manual_seed(settings.seed)
    network = TrainedNetwork(settings.encoder, settings.layers)
    if settings.further is not None:
        network.load(settings.further)
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
        calibration = fit_calibration(
            OfflineReader(*read_network(out)), checked or _held_out_questions(left)
        )
        network.save(out, {"calibration": calibration} if calibration else {})
        report = ReaderReport(
            out=str(out),
            examples=sum(map(len, kept)),
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
    """Return whether a question over several passages is kept for the calibration: one in eight."""
    return int(hashlib.sha256(question.encode()).hexdigest(), 16) % _HELD_OUT_EVERY == 0


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


def _held_out_questions(examples: Sequence[ReadingExample]) -> list[Asked]:
    """Return held-out questions over the passages of their file, the supporting ones first."""
    questions = []
    for example in examples:
        answer = example.answer or example.kind
        texts = [*example.passages, *example.others[:3]]
        passages = tuple(
            Passage(f"{at}", "", title, at, 0, len(text), text)
            for at, (title, text) in enumerate(texts)
        )
        questions.append(Asked(example.question, passages, (answer,)))
    return questions


def _digest(examples: Sequence[Any]) -> str:
    digest = hashlib.sha256()
    for example in examples:
        digest.update(repr(example).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()[:16]
