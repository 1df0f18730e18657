"""Train the offline reader: layers of an encoder, and the heads that find answers."""

import dataclasses
import hashlib
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.read.reader import OfflineReader, load_reader
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.models.encoder import TorchTransformer, load_model
from kgp_neo4j.models.engine import DEFAULT_ENCODER, token_id
from kgp_neo4j.models.reader import network as light
from kgp_neo4j.models.reader.network import read_network
from kgp_neo4j.train.examples import ReadingExample, read_reading_examples
from kgp_neo4j.train.fitting import Batch, Fitting, Folder, digest, named, padded
from kgp_neo4j.train.reader_calibration import Asked, Laid, batches, fit_calibration, lay_out
from kgp_neo4j.types.corpus import Passage
from kgp_neo4j.types.errors import InputError, ModelError
from kgp_neo4j.types.settings import Checked, setting

with needs("torch", "training a reader", ModelError):
    import torch
    from safetensors.torch import load_file, save_file
    from torch.nn import functional

#: Outputs of each head; `right` is a verifier's.
_OUTPUTS = {"pieces": light.PIECES, "kinds": light.KINDS, "right": ("right",)}
_OUTPUTS["operations"] = light.OPERATIONS
#: Weight of each column's loss, beside 1 for the kind of a window and 1 for its support.
_COLUMNS = tuple(
    0.5 if name in ("start", "end") else 0.25 if name.startswith("value") else 0.1
    for name in light.PIECES
)
_SUPPORT = light.PIECES.index("support")
_OPERATION = 0.8
#: Upper layers of the encoder that are trained, at most.
_LAYERS = 6


class TrainedNetwork:
    """The default encoder's upper layers with a reader's or a verifier's heads; its tokenizer."""

    def __init__(self, heads: Sequence[str] = light.HEADS[light.WEIGHTS_FILE]) -> None:
        model = load_model(DEFAULT_ENCODER, precise=True)
        self.body: Any = model[0].auto_model
        whole = len(self.body.encoder.layer)
        self.device = str(model.device.type)
        self.tokenizer = TorchTransformer(model).tokenizer
        self.layers = range(max(0, whole - _LAYERS), whole)
        self.longest = int(self.body.config.max_position_embeddings)
        width = self.body.config.hidden_size
        self.heads: Any = torch.nn.ModuleDict(
            {
                name: torch.nn.Linear(width, len(_OUTPUTS[name]), device=self.device)
                for name in heads
            }
        )
        #: The encoder's original values of the trained layers.
        self._before = {name: part.detach().clone() for name, part in self._upper().items()}

    def _upper(self) -> dict[str, Any]:
        return {
            f"layer.{at}.{name}": part
            for at in self.layers
            for name, part in self.body.encoder.layer[at].named_parameters()
        }

    def own(self) -> dict[str, Any]:
        """Return the trained parameters by name: upper layers and heads."""
        return self._upper() | dict(self.heads.named_parameters())

    def load(self, folder: Path, share: float = 1.0, *, heads: bool = True) -> None:
        """Take the weights of a reader that `save` wrote, with its `heads` or the layers alone.

        With a `share` below 1 they go so far towards these. Raises ModelError where none fit.
        """
        with light.reading("reader", folder), torch.no_grad():
            arrays = load_file(str(folder / light.WEIGHTS_FILE))
            for name, part in (self.own() if heads else self._upper()).items():
                values = arrays[name].float()
                if f"{name}.scale" in arrays:
                    values = self._before[name].cpu() + values * arrays[f"{name}.scale"]
                part.lerp_(values.to(part), share)

    def __call__(self, ids: Any, types: Any, mask: Any) -> tuple[Any, Any, Any]:
        """Return the logits of tokens, kinds and operations: `network.Logits`, by window."""
        hidden = self.body(input_ids=ids, token_type_ids=types, attention_mask=mask)[0]
        first = hidden[:, 0]
        kinds, operations = (self.heads[name](first).float() for name in ("kinds", "operations"))
        return self.heads["pieces"](hidden).float(), kinds, operations

    def judge(self, batch: Sequence[Any]) -> Any:
        """Return the log odds that answers are right, each laid out as `ids` and `types`."""
        ids, types, mask = _input(self, batch)
        hidden = self.body(input_ids=ids, token_type_ids=types, attention_mask=mask)[0]
        return self.heads["right"](hidden[:, 0]).float().squeeze(1)

    def save(self, folder: Path, card: Mapping[str, Any]) -> None:
        """Write the trained weights for the light engine, and the card.

        A matrix is written as its difference from the encoder's, in eight bits with a scale for
        each row; the difference is small, so little is lost, and the file stays at a few MB.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.save_differences(folder / light.WEIGHTS_FILE)
        about = {"encoder": DEFAULT_ENCODER, "layers": len(self.layers), "longest": self.longest}
        text = json.dumps({**about, **card}, indent=1)
        (folder / light.CARD_FILE).write_text(text + "\n", encoding="utf-8")

    def save_differences(self, file: Path) -> None:
        """Write the trained weights alone."""
        arrays: dict[str, Any] = {}
        for name, part in self.own().items():
            values = part.detach().cpu()
            before = self._before.get(name)
            if before is None:
                arrays[name] = values
            elif values.dim() < 2:
                arrays[name] = values.half()
            else:
                change = values - before.cpu()
                scale = change.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
                arrays[f"{name}.scale"] = scale
                arrays[name] = torch.round(change / scale).to(torch.int8)
        save_file(arrays, str(file))


def loss_of(network: TrainedNetwork, batch: Sequence[Laid]) -> Any:
    """Return the mean loss of a batch.

    Of several spans of an answer any will do: the loss raises the probability of all together
    (Clark and Gardner 2018, section 3.3). Of none, start and end are the first token (SQuAD 2.0).
    """
    device = network.device
    ids, types, mask = _input(network, batch)
    support = padded([one.support for one in batch], -1, ids.shape[1]).to(device)
    pieces, kinds, operations = network(ids, types, mask)
    passages, allowed = _allowed(types, mask)
    right = torch.zeros_like(allowed)
    for at, one in enumerate(batch):
        for name, marked in one.marks.items():
            right[at, marked, light.PIECES.index(name)] = True
    logs = torch.log_softmax(pieces.masked_fill(~allowed, -1e4), dim=1)
    likely = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=1)
    share = torch.tensor(_COLUMNS, device=device)
    loss = -(likely * right.any(dim=1) * share).sum(dim=1)
    wanted = torch.tensor([one.kind for one in batch], device=device)
    loss = loss + functional.cross_entropy(kinds, wanted, reduction="none")
    known = (support >= 0) & passages
    supported = functional.binary_cross_entropy_with_logits(
        pieces[..., _SUPPORT], support.clamp_min(0).float(), reduction="none"
    )
    loss = loss + (supported * known).sum(dim=1) / known.sum(dim=1).clamp_min(1)
    wanted = torch.tensor([one.operation for one in batch], device=device)
    compared = functional.cross_entropy(operations, wanted.clamp_min(0), reduction="none")
    return (loss + _OPERATION * compared * (wanted >= 0)).mean()


def _input(network: TrainedNetwork, batch: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return ids, types and mask of laid-out texts: (texts, tokens) each."""
    padding = token_id(network.tokenizer, "[PAD]", "<pad>") or 0
    ids = padded([one.ids for one in batch], padding)
    types = padded([one.types for one in batch], 0)
    mask = padded([[1] * len(one.ids) for one in batch], 0)
    return ids.to(network.device), types.to(network.device), mask.to(network.device)


def _allowed(types: Any, mask: Any) -> tuple[Any, Any]:
    """Return which tokens are of passages, and which each column may point at."""
    passages = (types == 1) & (mask == 1)
    asked = ((types == 0) & (mask == 1)).sum(dim=1, keepdim=True)
    question = torch.arange(types.shape[1], device=types.device)[None] < asked - 1
    # Options are in the question only; the first token stands for none.
    allowed = torch.stack(
        [question if name.startswith("option") else passages for name in light.PIECES], dim=2
    )
    allowed[:, 0] = True
    return passages, allowed


#: One in this many questions over several passages is held out for the calibration.
_HELD_OUT_EVERY = 8
#: Questions of one passage that are seen first, and in a later epoch as a share of those over
#: several passages.
_SINGLE = 27_000
_REPEATED_SHARE = 0.5
#: Tokens of a window at most.
_LONGEST = 512
#: Factor of the heads' learning rate: they are new and learn faster than the layers.
_HEADS = 5.0
#: Share of hidden values dropped in a step (Srivastava et al. 2014): data is seen several times.
_DROPPED = 0.1
_DECAY = 0.01


@dataclass(frozen=True, slots=True)
class ReaderSettings(Checked):
    """How a reader is trained: the encoder's top layers, in batches of `batch` tokens.

    Examples of one passage are seen once, those of several `epochs` times after them; where there
    are none of these, the others `epochs` times. A file with fewer questions over several passages
    than another one is seen more often: by the root of how many times fewer. `further` is the
    folder of a reader to begin with; then examples of one passage are only seen beside the others.
    """

    epochs: int = setting(5, bounds=(1, 1000))
    batch: int = setting(4096, bounds=(64, 10_000_000))
    rate: float = setting(2.5e-4, bounds=(1e-9, 1.0))
    seed: int = setting(0, bounds=(0, 2**31 - 1))
    further: Path | None = None


@dataclass(frozen=True, slots=True)
class ReaderReport:
    """The result of a training; `right` is the share of held-out questions answered correctly.

    `calibration_error` is the mean gap between confidence and accuracy there; both are None where
    too few questions were held out. `resumed` is the step that it went on from.
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

    @property
    def figures(self) -> str:
        """Return what was measured on the held-out questions, empty for nothing."""
        if self.right is None or self.calibration_error is None:
            return ""
        error = 100 * self.calibration_error
        return f"{100 * self.right:.1f} % answered rightly, calibration error {error:.1f} points"


def train_reader(
    files: Sequence[Path], out: Path, settings: ReaderSettings, *, overwrite: bool = False
) -> ReaderReport:
    """Train a reader on question files and save it in a folder with its card.

    One in eight questions over several passages is held out to fit the reader's confidence, over
    the passages that its file gives. An interrupted run with the same settings and data goes on.
    Raises InputError for bad lines, ConfigurationError for a folder with other files, ModelError.
    """
    began = time.perf_counter()
    read = [read_reading_examples([file]) for file in files]
    held_out = [example for each in read for example in each if is_held_out(example)]
    learned = [[example for example in each if not is_held_out(example)] for each in read]
    if not any(learned):
        raise InputError("the files hold no question whose answer stands in its passages")
    described = dataclasses.asdict(settings) | {
        "further": named(str(settings.further or "")),
        "data": digest(example for each in read for example in each),
    }
    folder = Folder(out, described, overwrite=overwrite)
    torch.manual_seed(settings.seed)
    network = TrainedNetwork()
    if settings.further is not None:
        network.load(settings.further)
    plan = _plan(network, learned, settings)
    with folder.saving():
        groups = trainable(network, settings.rate)
        fitting = Fitting(network.body, groups, folder, settings.seed)
        resumed = fitting.step
        losses = fit(network, fitting, plan, partial(loss_of, network))
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
            resumed=resumed,
            seconds=time.perf_counter() - began,
            device=network.device,
        )
        folder.finish(
            dataclasses.asdict(report),
            "Offline reader of kgp-neo4j",
            (
                "Finds the answer to a question in passages: a span, yes, no, or that it is not "
                "there",
                "`reader.safetensors` holds what differs from the encoder, in eight bits, "
                "`reader.json` how sure it is; nothing in them can be executed",
                f"Data: {', '.join(path.name for path in files)}: {report.examples} examples",
                f"Held out for calibration: {report.held_out} questions; "
                f"{report.figures or 'not measured: too few questions were held out'}",
                f"{report.steps} steps, loss {report.loss:.4f}",
            ),
        )
    load_reader.cache_clear()
    return report


def trainable(network: TrainedNetwork, rate: float, lowest: int = 0) -> list[dict[str, Any]]:
    """Return a network's own weights from a layer on: matrices, vectors, heads. Freeze others."""
    for part in network.body.parameters():
        part.requires_grad_(False)
    matrices, vectors, heads = list[Any](), list[Any](), list[Any]()
    for name, part in network.own().items():
        is_layer = name.startswith("layer.")
        if not is_layer or int(name.split(".")[1]) >= lowest:
            group = heads if not is_layer else vectors if part.dim() < 2 else matrices
            group.append(part.requires_grad_(True))
    return [
        {"params": matrices, "lr": rate, "weight_decay": _DECAY},
        {"params": vectors, "lr": rate},
        {"params": heads, "lr": _HEADS * rate},
    ]


def fit(
    network: TrainedNetwork, fitting: Fitting, plan: Sequence[Batch], loss: Callable[[Batch], Any]
) -> list[float]:
    """Fit the network to all batches, and return the losses."""
    network.body.eval()
    for at in network.layers:
        # Dropout of attention is slow.
        layer = network.body.encoder.layer[at].train()
        layer.attention.self.eval()
        for part in layer.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = _DROPPED

    losses = fitting.run(plan, loss)
    fitting.take_average()
    network.body.eval()
    return losses


def is_held_out(example: ReadingExample) -> bool:
    """Return whether a question is kept for the calibration."""
    number = int(hashlib.sha256(example.question.encode()).hexdigest(), 16)
    return example.group == "several" and number % _HELD_OUT_EVERY == 0


def _plan(
    network: TrainedNetwork, files: Sequence[Sequence[ReadingExample]], settings: ReaderSettings
) -> list[list[Laid]]:
    """Return all batches of a training in their order: first one passage each, then several."""
    generator = random.Random(settings.seed)
    several = [part for file in files if (part := [e for e in file if e.group == "several"])]
    single = [e for file in files for e in file if e.group != "several"]
    generator.shuffle(single)
    tokenizer, size = network.tokenizer, settings.batch
    longest = min(_LONGEST, network.longest)
    first = 0 if several and settings.further else _SINGLE
    plan: list[list[Laid]] = []
    for _ in range(1 if several else settings.epochs):
        plan += batches(lay_out(tokenizer, single[:first], longest, generator), size, generator)
    for epoch in range(settings.epochs if several else 0):
        drawn = _drawn(several, generator)
        again = int(_REPEATED_SHARE * len(drawn))
        rest = single[first + epoch * again :][:again] or single[:again]
        laid = lay_out(tokenizer, drawn, longest, generator)
        laid += lay_out(tokenizer, rest, longest, generator)
        plan += batches(laid, size, generator)
    if not plan:
        raise InputError("no question with its passages fits into a window")
    return plan


def _drawn(files: Sequence[Sequence[ReadingExample]], draw: random.Random) -> list[ReadingExample]:
    """Return the examples of an epoch: a small file's are drawn several times."""
    most, drawn = max(map(len, files)), []
    for file in files:
        times, more = divmod(math.sqrt(most * len(file)), len(file))
        drawn += [*file] * int(times) + draw.sample(file, int(more))
    return drawn


def _asked(example: ReadingExample) -> Asked:
    """Return a held-out question over the passages of its file, the supporting ones first."""
    texts = [*example.passages, *example.others[:3]]
    passages = tuple(
        Passage(f"{at}", "", title, at, 0, len(text), text)
        for at, (title, text) in enumerate(texts)
    )
    return Asked(example.question, passages, (example.answer or example.kind,))
