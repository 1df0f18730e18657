"""Lays examples out as word pieces for the training of the offline reader, anew for each epoch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgp_neo4j.models.reader.network import KINDS
from kgp_neo4j.models.reader.windows import Piece, Window, Windows, pieces_of
from kgp_neo4j.train.reader_examples import ReadingExample

__all__ = ["Laid", "batches", "lay_out"]

#: Examples are sorted by length within so many batches, so that little is padded.
_SORTED = 24
#: How often an example of one passage, or of several, has no answer in its window.
_NOTHING = {"one": 0.12, "several": 0.15}
#: How often passages of other questions stand beside an example's only one, and how many.
_BESIDE = 0.5
_STRANGERS = (1, 1, 2)


@dataclass(frozen=True, slots=True)
class Laid:
    """A window with what it should say: kind, and word pieces where an answer starts and ends."""

    ids: list[int]
    types: list[int]
    kind: int
    starts: list[int]
    ends: list[int]


def lay_out(
    tokenizer: Any,
    examples: Sequence[ReadingExample],
    longest: int,
    draw: random.Random,
) -> list[Laid]:
    """Return a window for each example, with drawn distractors and the passages in drawn order.

    Now and then the passages with the answer are left out, so that the reader learns to say that
    nothing is there. An example that does not fit is left out.
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
    if kind == "span" and draw.random() < _NOTHING.get(example.group, 0.0):
        if len(gold) == 1:
            stranger = draw.choice(examples)
            answer = example.answer.lower()
            if not any(answer in f"{t} {x}".lower() for t, x in stranger.passages):
                kept, kind, others = [], "none", [stranger.passages[0]]
        elif others:
            held = {place[0] for place in example.places}
            kept, kind = [at for at in gold if at not in held], "none"
    draw.shuffle(others)
    # Mostly a few others beside the right ones, now and then none.
    room = draw.choice((0, 1, 1, 2, 3)) if kind != "none" else 2
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
    draw.shuffle(pieces)
    window = windows.build(pieces)[0]
    by_text = dict(enumerate(numbers))
    starts, ends = _marked(window, example, by_text) if kind == "span" else ([0], [0])
    if not starts or not ends:
        return None
    return Laid(window.ids, window.types, KINDS.index(kind), starts, ends)


def _part(parts: Sequence[Piece], number: int, example: ReadingExample) -> Piece:
    """Return the part of a long passage that holds the answer, else its first."""
    for _, in_title, start, end in (p for p in example.places if p[0] == number):
        if not in_title:
            for part in parts:
                text = part.offsets[part.title :]
                if text and text[0][0] <= start and end <= text[-1][1]:
                    return part
    return parts[0]


def _marked(
    window: Window, example: ReadingExample, numbers: dict[int, int]
) -> tuple[list[int], list[int]]:
    starts, ends = [], []
    for at, place in enumerate(window.places):
        if place is None:
            continue
        number = numbers[place[0]]
        for passage, in_title, start, end in example.places:
            if passage == number and in_title == place[1]:
                if place[2] <= start < place[3]:
                    starts.append(at)
                if place[2] < end <= place[3]:
                    ends.append(at)
    return starts, ends


def batches(laid: Sequence[Laid], tokens: int, draw: random.Random) -> list[list[Laid]]:
    """Return batches of about `tokens` word pieces, padding included, in drawn order."""
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
