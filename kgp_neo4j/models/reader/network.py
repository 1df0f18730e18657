"""The offline reader: a question and passages in windows, its network, and the spans it finds.

A window of question and passages passes through the layers of the sentence encoder; the upper ones,
or all, have the reader's own weights. Three heads read the last states. The first gives for each
token whether an answer starts or ends there (Devlin et al. 2019, section 4.2), whether it supports
the answer, and where the two values and the two options of a comparison start and end. The second
classifies the window: a span, yes, no, or nothing. The third names what compares the two values.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load
from tokenizers import Tokenizer

from kgp_neo4j.models import engine
from kgp_neo4j.types.errors import ModelError, first_line

#: The kinds of a window, in the order of the head's outputs.
KINDS = ("span", "yes", "no", "none")
#: Operations on the two values that a question compares; `same` is answered by yes and no.
OPERATIONS = ("none", "min", "max", "longer", "shorter", "same")
#: The outputs for each token, in the head's order.
PIECES = (
    "start", "end", "support", "value 1 start", "value 1 end", "value 2 start", "value 2 end",
    "option 1 start", "option 1 end", "option 2 start", "option 2 end",
)  # fmt: skip
CARD_FILE = "reader.json"
#: The trained weights, as differences from the default encoder's.
WEIGHTS_FILE = "reader.safetensors"
#: The weights of a network that judges whether an answer is right, in the same form.
VERIFIER_FILE = "verifier.safetensors"
#: The heads that each file has.
HEADS = {WEIGHTS_FILE: ("pieces", "kinds", "operations"), VERIFIER_FILE: ("right",)}
#: Windows that are read in parallel.
_STREAMS = 3
#: Windows are padded to a multiple of this many tokens: the engine prepares each length once.
_STEP = 32
#: Tokens of a question that are kept; the passages have the rest of the window.
QUESTION = 64
#: Tokens of a title that are kept.
_TITLE = 32
#: Tokens of one part of a longer passage with its title; the next begins `_OVERLAP` before its end.
_PART = 256
_OVERLAP = 48
#: Characters of a passage that are read at most (about 60 parts).
_LONGEST = 60_000
#: No tokenizer accepts an unpaired surrogate; replacing it by one character keeps the offsets.
_HALVES = re.compile("[\ud800-\udfff]")
#: Tokens of a span at most, starts that are tried, and ends tried for each.
_SPAN = 30
_STARTS = 12
_ENDS = 4


class Piece(NamedTuple):
    """A part of a passage as tokens: its title, then its text.

    `offsets` are the characters of each token: in the title for the first `title` ones, in the text
    for the others, None where a passage does not have the token; `joined` is true for a token that
    continues a word. `passage` is the passage's index in the list.
    """

    passage: int
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int] | None, ...]
    joined: tuple[bool, ...]
    title: int


@dataclass(slots=True)
class Window:
    """One input of the network, with the origin of each token.

    `places[i]` is (passage, in the title, start, end) of the i-th token, None for the question, the
    special tokens and those that a passage does not have; `joined[i]` is true where it continues a
    word. `asked` are the characters of the question's tokens, which begin after one special token.
    """

    ids: list[int]
    types: list[int]
    places: list[tuple[int, bool, int, int] | None]
    joined: list[bool]
    asked: Sequence[tuple[int, int]]
    passages: list[int] = field(default_factory=list)


def pieces_of(
    tokenizer: Tokenizer,
    texts: Sequence[tuple[str, str]],
    places: Sequence[Sequence[int] | None] = (),
) -> list[list[Piece]]:
    """Return the pieces of passages, given as title and text: mostly one each.

    `places` has for a text the place of each of its characters in the passage, -1 for those that
    were put in; None or nothing where text and passage are the same.
    """
    titles = encoded(tokenizer, [title for title, _ in texts])
    bodies = encoded(tokenizer, [text[:_LONGEST] for _, text in texts])
    pieces = []
    for at, (title, body) in enumerate(zip(titles, bodies, strict=True)):
        head, ids = title.ids[:_TITLE], body.ids
        heads, spans = title.offsets[:_TITLE], body.offsets
        if at < len(places) and (origin := places[at]) is not None:
            spans = [_origin(origin, start, end) for start, end in spans]
        head_joined, joined = _joined(title.word_ids[:_TITLE]), _joined(body.word_ids)
        parts = []
        room = _PART - len(head)
        for start in range(0, max(len(ids) - _OVERLAP, 1), room - _OVERLAP):
            end = start + room
            tokens, offsets = (*head, *ids[start:end]), (*heads, *spans[start:end])
            parts.append(Piece(at, tokens, offsets, (*head_joined, *joined[start:end]), len(head)))
        pieces.append(parts)
    return pieces


def _origin(places: Sequence[int], start: int, end: int) -> tuple[int, int] | None:
    """Return the place in the passage of a token's characters; None where it has not got them."""
    within = places[start:end]
    return (within[0], within[-1] + 1) if within and min(within) >= 0 else None


def encoded(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Any]:
    """Return the tokens of texts, without special ones."""
    whole = [_HALVES.sub("\ufffd", text) for text in texts]
    return list(tokenizer.encode_batch(whole, add_special_tokens=False))


def windows_of(
    tokenizer: Tokenizer, question: str, longest: int, pieces: Sequence[Piece]
) -> list[Window]:
    """Return windows of at most `longest` tokens with the question, and the pieces in order."""
    first, separator = tokenizer.encode("").ids
    (asked,) = encoded(tokenizer, [question])
    begin, spans = [first, *asked.ids[:QUESTION], separator], asked.offsets[:QUESTION]
    size = len(begin)
    windows: list[Window] = []
    for piece in pieces:
        if not windows or len(windows[-1].ids) + len(piece.ids) + 1 > longest:
            places: list[Any] = [None] * size
            windows.append(Window([*begin], [0] * size, places, [False] * size, spans))
        window = windows[-1]
        ids = piece.ids[: max(longest - len(window.ids) - 1, 0)]
        window.ids += [*ids, separator]
        window.types += [1] * (len(ids) + 1)
        window.places += [
            None if span is None else (piece.passage, at < piece.title, *span)
            for at, span in enumerate(piece.offsets[: len(ids)])
        ]
        window.places.append(None)
        window.joined += [*piece.joined[: len(ids)], False]
        window.passages.append(piece.passage)
    return windows


def _joined(words: Sequence[int | None]) -> list[bool]:
    return [at > 0 and words[at - 1] == word for at, word in enumerate(words)]


class Network(engine.CompiledNetwork):
    """A reader's network, or that of its judge: the default encoder with trained weights."""

    def __init__(self, weights: Path) -> None:
        change = partial(_with_weights, heads=HEADS[weights.name])
        file, words = engine.encoder_files(
            engine.DEFAULT_ENCODER, weights.stem, weights.read_bytes(), change
        )
        super().__init__(file, streams=_STREAMS)
        self.tokenizer = engine.read_tokenizer(words)

    def read(self, windows: Sequence[Window]) -> list["Logits"]:
        """Return the network's logits for each window."""
        # One by one: two windows side by side take as long as one batch of two, padded alike.
        return self.run([_feed(window.ids, window.types) for window in windows], _taken)

    def judge(self, inputs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[float]:
        """Return the log odds that each answer is right; an input is its tokens and their types."""
        feeds = [_feed(ids, types) for ids, types in inputs]
        return self.run(feeds, lambda _, outputs: float(outputs[0][0, 0]))


class Logits(NamedTuple):
    """The network's outputs for a window: for its n word pieces, its kind, and the operation."""

    #: Shapes are (n, 11), (4) and (6), in the order of `PIECES`, `KINDS` and `OPERATIONS`.
    pieces: NDArray[np.float32]
    kinds: NDArray[np.float32]
    operations: NDArray[np.float32]


def _feed(ids: Sequence[int], types: Sequence[int]) -> engine.Feed:
    size = -(-len(ids) // _STEP) * _STEP
    values = np.zeros((3, 1, size), dtype=np.int64)
    values[:, 0, : len(ids)] = ids, types, [1] * len(ids)
    return dict(zip(("input_ids", "token_type_ids", "attention_mask"), values, strict=True))


def _taken(feed: engine.Feed, outputs: list[NDArray[np.float32]]) -> Logits:
    size = int(feed["attention_mask"].sum())
    return Logits(outputs[0][0, :size].copy(), outputs[1][0].copy(), outputs[2][0].copy())


def read_network(folder: Path) -> tuple[Network, dict[str, Any]]:
    """Read a network and its card from a folder; raises ModelError where there is none."""
    with reading("reader", folder):
        card: dict[str, Any] = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
        if card["encoder"] != engine.DEFAULT_ENCODER:
            raise ValueError(f"its encoder is {card['encoder']}, not {engine.DEFAULT_ENCODER}")
        return Network(folder / WEIGHTS_FILE), card


def read_judge(folder: Path) -> Network | None:
    """Read the network beside a reader that judges its answers; None where there is none."""
    file = folder / VERIFIER_FILE
    with reading("verifier", file):
        return Network(file) if file.is_file() else None


@contextmanager
def reading(kind: str, where: Path) -> Iterator[None]:
    """Turn what missing, damaged or other files raise in the block into a ModelError."""
    try:
        yield
    except (
        OSError, SafetensorError, AttributeError, KeyError, RuntimeError, TypeError, ValueError
    ) as error:  # fmt: skip
        problem = f"the {kind} cannot be read ({first_line(error)})"
        hint = "Give a folder that `kgp-neo4j train reader` made."
        raise ModelError(problem, where=str(where), hint=hint) from error


def _with_weights(model: Any, data: bytes, *, heads: Sequence[str]) -> Any:
    """Put trained layers into the graph of their encoder, and add heads."""
    openvino = engine.import_openvino()
    ops = openvino.opset13
    arrays = load(data)
    weights = engine.Weights(model)
    for name, values in arrays.items():
        if not name.startswith("layer.") or name.endswith(".scale"):
            continue
        if f"{name}.scale" in arrays:
            weights.add_to_matrix(name, values.astype(np.float32) * arrays[f"{name}.scale"])
        else:
            weights.set_vector(name, values.astype(np.float32))
    states = model.outputs[0].get_node().input_value(0)
    first = ops.gather(states, ops.constant(np.int64(0)), ops.constant(np.int64(1)))

    def head(name: str, source: Any) -> Any:
        weight, bias = arrays[f"{name}.weight"], arrays[f"{name}.bias"]
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"{name} is not finite")
        product = ops.matmul(source, ops.constant(weight.astype(np.float32)), False, True)
        return ops.add(product, ops.constant(bias.astype(np.float32)))

    made = [head(name, states if name == "pieces" else first) for name in heads]
    return openvino.Model([ops.result(one) for one in made], model.get_parameters(), "reader")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A span of a passage's title or text, the passage's index, the probability of its ends."""

    passage: int
    in_title: bool
    start: int
    end: int
    score: float


def probabilities(logits: NDArray[Any]) -> NDArray[np.float64]:
    """Return the probabilities of logits, over the last axis."""
    likely = np.exp(logits - logits.max(axis=-1, keepdims=True), dtype=np.float64)
    return np.asarray(likely / likely.sum(axis=-1, keepdims=True))


def spans_of(logits: Logits, window: Window, name: str = "") -> list[Candidate]:
    """Return the likeliest spans of a window, best first: answers, or those of a value by its name.

    A span starts and ends in one passage's title or text, at whole words. The window's first token
    stands for "no such span", so the probabilities of all spans may be small.
    """
    places = window.places
    inside = np.array([place is not None for place in places], dtype=bool)
    joined = np.array(window.joined, dtype=bool)
    # The title or text that each token belongs to; a span may not leave it.
    changes = [
        at > 0 and (here is None or before is None or here[:2] != before[:2])
        for at, (here, before) in enumerate(zip(places, [None, *places], strict=False))
    ]
    runs = np.cumsum(changes)
    allowed = inside.copy()
    allowed[0] = True
    start, end = _columns(logits, name, allowed)
    start = np.where(inside & ~joined, start, 0.0)
    end = np.where(inside & ~np.append(joined[1:], False), end, 0.0)
    spans = []
    for first in np.argsort(-start, kind="stable")[:_STARTS]:
        stop = min(int(first) + _SPAN, len(places))
        scores = start[first] * end[first:stop] * (runs[first:stop] == runs[first])
        for step in np.argsort(-scores, kind="stable")[:_ENDS]:
            opened, closed = places[int(first)], places[int(first) + int(step)]
            if scores[step] > 0 and opened is not None and closed is not None:
                spans.append(Candidate(*opened[:3], closed[3], float(scores[step])))
    return sorted(spans, key=lambda c: (-c.score, c.passage, c.start, c.end))


def option_of(logits: Logits, window: Window, name: str) -> tuple[int, int, float]:
    """Return the characters of the question that name an option, and their probability."""
    count = len(window.asked)
    allowed = np.arange(len(window.places)) <= count
    start, end = (column[1 : count + 1] for column in _columns(logits, name, allowed))
    if not count:
        return 0, 0, 0.0
    first = int(start.argmax())
    last = first + int(end[first:].argmax())
    return window.asked[first][0], window.asked[last][1], float(start[first] * end[last])


def _columns(logits: Logits, name: str, allowed: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
    """Return the probabilities of start and end of a named span, over the allowed tokens."""
    names = (f"{name} start".strip(), f"{name} end".strip())
    columns = (logits.pieces[:, PIECES.index(one)] for one in names)
    return [probabilities(np.where(allowed, column, -1e9)) for column in columns]
