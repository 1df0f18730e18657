"""Fit the offline reader's weights to training windows, batch by batch."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.reader.network import KINDS, OPERATIONS, PIECES
from kgp_neo4j.models.reader.windows import Piece, Window, Windows, pieces_of
from kgp_neo4j.models.torch_encoder import quick_products
from kgp_neo4j.train.reader_examples import Place, ReadingExample
from kgp_neo4j.train.reader_network import TrainedNetwork

__all__ = ["Average", "Laid", "batches", "fit", "lay_out", "loss_of", "optimizer_of", "rate_at"]

#: Batches within which examples are sorted by length, so that little is padded.
_SORTED = 24
#: Share of examples of one passage, and of several, without an answer in their window.
_NOTHING = {"one": 0.12, "several": 0.15}
#: Share of examples with passages of other questions beside their only one, and how many of these.
_BESIDE = 0.55
_STRANGERS = (1, 1, 2, 3, 4, 5)
#: Passages of others beside those of a question over several, at most, and the share without any.
_OTHERS = 8
_ALONE = 0.2
#: Share of examples whose right passages come first, in the order of the reasoning; else in drawn
#: order.
_IN_ORDER = 0.35


@dataclass(frozen=True, slots=True)
class Laid:
    """A window with its labels.

    `marks` are the right tokens for each column of `network.PIECES`, (0,) where there are none; a
    missing column is unknown and not learned from. `support` is 0 or 1 for each token, empty where
    it is unknown; `operation` is -1 where it is unknown.
    """

    ids: list[int]
    types: list[int]
    kind: int
    marks: dict[str, list[int]]
    support: list[int] = field(default_factory=list)
    operation: int = -1


def lay_out(
    tokenizer: Any,
    examples: Sequence[ReadingExample],
    longest: int,
    draw: random.Random,
) -> list[Laid]:
    """Return a window for each example, with drawn distractors and the passages in drawn order.

    For some the passages with the answer are left out, so that the reader learns that there may be
    none. An example that does not fit is left out.
    """
    made = []
    for example in examples:
        if laid := _laid(tokenizer, example, longest, draw, examples):
            made.append(laid)
    return made


def _laid(
    tokenizer: Any,
    example: ReadingExample,
    longest: int,
    draw: random.Random,
    examples: Sequence[ReadingExample],
) -> Laid | None:
    kind, others = example.kind, list(example.others)
    gold = list(range(len(example.passages)))
    kept = gold
    if draw.random() < _NOTHING.get(example.group, 0.0):
        if len(gold) == 1 and kind == "span":
            stranger = draw.choice(examples)
            answer = example.answer.lower()
            if not any(answer in f"{t} {x}".lower() for t, x in stranger.passages):
                kept, kind, others = [], "none", [stranger.passages[0]]
        elif others and len(gold) > 1:
            held = {place[0] for place in example.places} or {draw.choice(gold)}
            kept, kind = [at for at in gold if at not in held], "none"
    draw.shuffle(others)
    # Mostly others beside the right ones, now and then none.
    room = draw.randint(1, _OTHERS) if kind == "none" or draw.random() > _ALONE else 0
    if example.group == "one" and kind == "span":
        room = draw.choice(_STRANGERS) if draw.random() < _BESIDE else 0
        others = [draw.choice(examples).passages[0] for _ in range(room)]
    answer = example.answer.lower()
    if kind == "none" or example.group == "one":
        others = [o for o in others if answer not in f"{o[0]} {o[1]}".lower()]
        if kind == "none" and not others:
            return None
    texts = [example.passages[at] for at in kept] + others[:room]
    numbers = [*kept, *(-1 for _ in others[:room])]
    parts = pieces_of(tokenizer, texts)
    windows = Windows(tokenizer, example.question, longest)
    chosen = [_part(parts[at], numbers[at], example) for at in range(len(texts))]
    size = longest - 70
    used = sum(len(p.ids) + 1 for p, n in zip(chosen, numbers, strict=True) if n >= 0)
    pieces: list[Piece] = []
    for piece, number in zip(chosen, numbers, strict=True):
        if number < 0:
            if pieces and used + len(piece.ids) + 1 > size:
                continue
            used += len(piece.ids) + 1
        pieces.append(piece)
    if draw.random() > _IN_ORDER:
        draw.shuffle(pieces)
    window = windows.build(pieces)[0]
    by_text = dict(enumerate(numbers))
    marks = _marks(window, example, by_text, kind)
    if marks is None:
        return None
    program = example.program
    return Laid(
        window.ids,
        window.types,
        KINDS.index(kind),
        marks,
        _supported(window, example, by_text),
        -1 if program is None else OPERATIONS.index(program.operation),
    )


def _marks(
    window: Window, example: ReadingExample, numbers: dict[int, int], kind: str
) -> dict[str, list[int]] | None:
    """Return the right tokens of each column; None where the answer is not in the window."""
    starts, ends = _marked(window, example.places, numbers) if kind == "span" else ([0], [0])
    if not starts or not ends:
        return None
    made = {"start": starts, "end": ends}
    program = example.program
    if program is None:
        return made
    for at, places in enumerate(program.values if program.operation != "none" else ((), ()), 1):
        starts, ends = _marked(window, places, numbers)
        found = starts and ends
        made |= {f"value {at} start": starts if found else [0]}
        made |= {f"value {at} end": ends if found else [0]}
    spans: Sequence[tuple[int, int]] = program.options
    if program.operation == "none":
        spans = ((0, 0), (0, 0))
    for at, (first, last) in enumerate(spans, 1):
        named = [n for n, (a, b) in enumerate(window.asked, 1) if a < last and b > first] or [0]
        made |= {f"option {at} start": named[:1], f"option {at} end": named[-1:]}
    return made


def _supported(window: Window, example: ReadingExample, numbers: dict[int, int]) -> list[int]:
    """Return for each token whether it belongs to a supporting sentence."""
    if example.support is None:
        return []
    return [
        int(
            place is not None
            and any(
                passage == numbers[place[0]]
                and in_title == place[1]
                and start <= place[2]
                and place[3] <= end
                for passage, in_title, start, end in example.support
            )
        )
        for place in window.places
    ]


def _part(parts: Sequence[Piece], number: int, example: ReadingExample) -> Piece:
    """Return the part of a long passage with the answer, else its first."""
    for _, in_title, start, end in (p for p in example.places if p[0] == number):
        if not in_title:
            for part in parts:
                text = [span for span in part.offsets[part.title :] if span]
                if text and text[0][0] <= start and end <= text[-1][1]:
                    return part
    return parts[0]


def _marked(
    window: Window, places: Sequence[Place], numbers: dict[int, int]
) -> tuple[list[int], list[int]]:
    starts, ends = [], []
    for at, place in enumerate(window.places):
        if place is None:
            continue
        number = numbers[place[0]]
        for passage, in_title, start, end in places:
            if passage == number and in_title == place[1]:
                if place[2] <= start < place[3]:
                    starts.append(at)
                if place[2] < end <= place[3]:
                    ends.append(at)
    return starts, ends


def batches(laid: Sequence[Laid], tokens: int, draw: random.Random) -> list[list[Laid]]:
    """Return batches of about `tokens` tokens, padding included, in drawn order."""
    order = list(laid)
    draw.shuffle(order)
    made: list[list[Laid]] = []
    for at in range(0, len(order), 16 * _SORTED):
        chunk = sorted(order[at : at + 16 * _SORTED], key=lambda one: len(one.ids))
        now: list[Laid] = []
        found = []
        for one in chunk:
            if now and (len(now) + 1) * len(one.ids) > tokens:
                found.append(now)
                now = []
            now.append(one)
        found.append(now)
        draw.shuffle(found)
        made += found
    return made


# --- Fitting ---

#: Weight of each column's loss, beside 1 for the kind of a window and 1 for its support.
_COLUMNS = tuple(
    0.5 if name in ("start", "end") else 0.25 if name.startswith("value") else 0.1
    for name in PIECES
)
_SUPPORT = PIECES.index("support")
_OPERATION = 0.8
#: Factor of the heads' learning rate: they are new and learn faster than the layers.
_HEADS = 5.0
#: Share of hidden values dropped in a step (Srivastava et al. 2014): data is seen several times.
_DROPPED = 0.1
#: Share of the average that each step keeps in the long run: about the last 500 steps count.
_KEPT = 0.998


class Average:
    """The moving average of the reader's own weights, which reads better than the last ones.

    Polyak and Juditsky 1992; the first steps count less, since they are far from the end.
    """

    def __init__(self, network: TrainedNetwork) -> None:
        self.parts = {name: part.detach().clone() for name, part in network.own().items()}

    def add(self, network: TrainedNetwork, step: int) -> None:
        """Add the weights after step number `step`, counted from 0."""
        import torch

        share = 1 - min(_KEPT, (step + 1) / (step + 10))
        with torch.no_grad():
            for name, part in network.own().items():
                self.parts[name].lerp_(part.detach(), share)

    def put(self, network: TrainedNetwork) -> None:
        """Make the average the network's weights."""
        import torch

        with torch.no_grad():
            for name, part in network.own().items():
                part.copy_(self.parts[name])


def loss_of(network: TrainedNetwork, batch: Sequence[Laid]) -> Any:
    """Return the mean loss of a batch.

    Where an answer has several spans any of them will do: the loss raises the probability of all of
    them together (Clark and Gardner 2018, section 3.3). Without an answer in the window, start and
    end point at its first token, as in SQuAD 2.0.
    """
    import torch

    padding = token_id(network.tokenizer, "[PAD]", "<pad>") or 0
    ids, types, mask = (part.to(network.device) for part in _padded(batch, padding))
    pieces, kinds, operations = network(ids, types, mask)
    functional = torch.nn.functional
    # Options are in the question only; the first token stands for none.
    passages = (types == 1) & (mask == 1)
    asked = ((types == 0) & (mask == 1)).sum(dim=1, keepdim=True)
    question = torch.arange(ids.shape[1], device=ids.device)[None] < asked - 1
    allowed = torch.stack(
        [question if name.startswith("option") else passages for name in PIECES], dim=2
    )
    allowed[:, 0] = True
    right = torch.zeros_like(allowed)
    support = torch.full_like(ids, -1)
    for at, one in enumerate(batch):
        for name, marked in one.marks.items():
            right[at, marked, PIECES.index(name)] = True
        support[at, : len(one.support)] = torch.tensor(one.support, device=ids.device)
    logs = torch.log_softmax(pieces.masked_fill(~allowed, -1e4), dim=1)
    found = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=1)
    share = torch.tensor(_COLUMNS, device=ids.device)
    loss = -(found * right.any(dim=1) * share).sum(dim=1)
    loss = loss + functional.cross_entropy(
        kinds, torch.tensor([one.kind for one in batch], device=ids.device), reduction="none"
    )
    told = (support >= 0) & passages
    said = functional.binary_cross_entropy_with_logits(
        pieces[..., _SUPPORT], support.clamp_min(0).float(), reduction="none"
    )
    loss = loss + (said * told).sum(dim=1) / told.sum(dim=1).clamp_min(1)
    wanted = torch.tensor([one.operation for one in batch], device=ids.device)
    compared = functional.cross_entropy(operations, wanted.clamp_min(0), reduction="none")
    return (loss + _OPERATION * compared * (wanted >= 0)).mean()


def optimizer_of(network: TrainedNetwork, rate: float) -> Any:
    """Return AdamW over the reader's own weights alone; all others are frozen."""
    import torch

    for part in network.body.parameters():
        part.requires_grad_(False)
    own = network.own()
    for part in own.values():
        part.requires_grad_(True)
    heads = [part for name, part in own.items() if not name.startswith("layer.")]
    plain = [part for name, part in own.items() if name.startswith("layer.") and part.dim() < 2]
    layers = [part for name, part in own.items() if name.startswith("layer.") and part.dim() > 1]
    return torch.optim.AdamW(
        [
            {"params": layers, "lr": rate, "base": rate, "weight_decay": 0.01},
            {"params": plain, "lr": rate, "base": rate, "weight_decay": 0.0},
            {"params": heads, "lr": _HEADS * rate, "base": _HEADS * rate, "weight_decay": 0.0},
        ]
    )


def rate_at(step: int, steps: int, warm_up: float = 0.06) -> float:
    """Return the share of the full learning rate at a step: a short rise, then a fall to 0."""
    rise = max(1, math.ceil(warm_up * steps))
    if step < rise:
        return (step + 1) / rise
    return max(0.0, (steps - step) / max(1, steps - rise))


def fit(
    network: TrainedNetwork,
    batches: Sequence[Sequence[Laid]],
    optimizer: Any,
    average: Average,
    *,
    first: int,
    steps: int,
    seed: int,
    done: Callable[[int, float], object],
) -> None:
    """Learn from batches in order, as steps `first` and on of `steps` altogether."""
    import torch

    _drop(network)
    own = list(network.own().values())
    for at, batch in enumerate(batches, first):
        # Dropout depends on the step alone, so that a resumed run equals an uninterrupted one.
        torch.manual_seed(seed + at)
        for group in optimizer.param_groups:
            group["lr"] = group["base"] * rate_at(at, steps)
        with quick_products(network.body):
            loss = loss_of(network, batch)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(own, 1.0)
        optimizer.step()
        average.add(network, at)
        done(at, float(loss.detach()))
    network.body.eval()


def _drop(network: TrainedNetwork) -> None:
    """Add dropout of hidden values to the trained layers; dropout of attention is slow."""
    import torch

    network.body.eval()
    layers = network.body.encoder.layer
    for layer in list(layers)[len(layers) - network.layers :]:
        layer.train()
        layer.attention.self.eval()
        for part in layer.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = _DROPPED


def _padded(batch: Sequence[Laid], padding: int) -> tuple[Any, Any, Any]:
    """Return ids, types and mask of windows, padded to the longest: (windows, tokens) each."""
    import torch

    longest = max(len(one.ids) for one in batch)
    ids = torch.full((len(batch), longest), padding)
    types = torch.zeros((len(batch), longest), dtype=torch.long)
    mask = torch.zeros((len(batch), longest), dtype=torch.long)
    for at, one in enumerate(batch):
        ids[at, : len(one.ids)] = torch.tensor(one.ids)
        types[at, : len(one.types)] = torch.tensor(one.types)
        mask[at, : len(one.ids)] = 1
    return ids, types, mask
