"""The offline reader's network: layers of the sentence encoder, trained further to read.

A window of question and passages passes through the encoder's layers; the upper ones, or all, have
the reader's own weights. Three heads read the last states. The first gives for each token whether
an answer starts or ends there (Devlin et al. 2019, section 4.2), whether it supports the answer,
and where the two values and the two options of a comparison start and end. The second classifies
the window: a span, yes, no, or nothing. The third names the operation that compares the two values.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load
from tokenizers import Tokenizer

from kgp_neo4j.models.engine import CompiledNetwork, Feed, import_openvino, read_tokenizer
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, Weights, encoder_files
from kgp_neo4j.models.reader.windows import Window
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


class Network:
    """A reader's network, or that of its judge, in the light engine, and its tokenizer."""

    def __init__(self, network: CompiledNetwork, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._network = network

    def read(self, windows: Sequence[Window]) -> list["Logits"]:
        """Return the network's logits for each window."""
        # One by one: two windows side by side take as long as one batch of two, padded alike.
        return self._network.run([_feed(window.ids, window.types) for window in windows], _taken)

    def judge(self, inputs: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[float]:
        """Return the log odds that each answer is right; an input is its tokens and their types."""
        feeds = [_feed(ids, types) for ids, types in inputs]
        return self._network.run(feeds, lambda _, outputs: float(outputs[0][0, 0]))


class Logits(NamedTuple):
    """The network's outputs for a window: for its n word pieces, its kind, and the operation."""

    #: Shapes are (n, 11), (4) and (6), in the order of `PIECES`, `KINDS` and `OPERATIONS`.
    pieces: NDArray[np.float32]
    kinds: NDArray[np.float32]
    operations: NDArray[np.float32]


def _feed(ids: Sequence[int], types: Sequence[int]) -> Feed:
    size = -(-len(ids) // _STEP) * _STEP
    values = np.zeros((3, 1, size), dtype=np.int64)
    values[:, 0, : len(ids)] = ids, types, [1] * len(ids)
    return dict(zip(("input_ids", "token_type_ids", "attention_mask"), values, strict=True))


def _taken(feed: Feed, outputs: list[NDArray[np.float32]]) -> Logits:
    size = int(feed["attention_mask"].sum())
    return Logits(outputs[0][0, :size].copy(), outputs[1][0].copy(), outputs[2][0].copy())


def read_network(folder: Path) -> tuple[Network, dict[str, Any]]:
    """Read a network and its card from a folder; raises ModelError where there is none."""
    with reading("reader", folder):
        card: dict[str, Any] = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
        if card["encoder"] != DEFAULT_ENCODER:
            raise ValueError(f"its encoder is {card['encoder']}, not {DEFAULT_ENCODER}")
        return _upon_default(folder / WEIGHTS_FILE), card


def read_judge(folder: Path) -> Network | None:
    """Read the network beside a reader that judges its answers; None where there is none."""
    file = folder / VERIFIER_FILE
    with reading("verifier", file):
        return _upon_default(file) if file.is_file() else None


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


def _upon_default(weights: Path) -> Network:
    change = partial(_with_weights, heads=HEADS[weights.name])
    file, words = encoder_files(DEFAULT_ENCODER, weights.stem, weights.read_bytes(), change)
    return Network(CompiledNetwork(file, streams=_STREAMS), read_tokenizer(words))


def _with_weights(model: Any, data: bytes, *, heads: Sequence[str]) -> Any:
    """Put trained layers into the graph of their encoder, and add heads."""
    openvino = import_openvino()
    ops = openvino.opset13
    arrays = load(data)
    weights = Weights(model)
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
