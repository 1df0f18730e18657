"""The offline reader's network: layers of the sentence encoder, trained anew to read.

A window of question and passages goes through the encoder's layers; upper ones, or all, are the
reader's own. Three heads stand on them. One gives for each word piece whether an answer starts or
ends there (Devlin et al. 2019, section 4.2), whether it supports the answer, and where the two
values and the two options of a comparison start and end. One says whether the window holds a span,
says yes or no, or nothing. One names the operation that compares the two values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.models.engine import (
    CompiledNetwork,
    Feed,
    Precision,
    import_openvino,
    read_tokenizer,
)
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, derived_network, tokenizer_file
from kgp_neo4j.models.reader.windows import Window
from kgp_neo4j.types.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "CARD_FILE",
    "KINDS",
    "NETWORK_FILE",
    "OPERATIONS",
    "PIECES",
    "TOKENIZER_FILE",
    "WEIGHTS_FILE",
    "Logits",
    "Network",
    "read_network",
]

#: What a window can say; their places are those of the head's outputs.
KINDS = ("span", "yes", "no", "none")
#: What compares the two values that a question asks about; `same` is told by yes and no.
OPERATIONS = ("none", "min", "max", "longer", "shorter", "same")
#: What is said of each word piece; their places are those of the head's outputs.
PIECES = (
    "start", "end", "support", "value 1 start", "value 1 end", "value 2 start", "value 2 end",
    "option 1 start", "option 1 end", "option 2 start", "option 2 end",
)  # fmt: skip
CARD_FILE = "reader.json"
#: What was trained, as differences to the default encoder.
WEIGHTS_FILE = "reader.safetensors"
#: In their place where another encoder was trained: all of the network.
NETWORK_FILE = "reader.xml"
TOKENIZER_FILE = "tokenizer.json"
#: Windows that are read at once.
_STREAMS = 3
#: Windows are padded to a multiple of so many word pieces: the engine prepares each length once.
_STEP = 32
_HINT = "Give a folder that `kgp-neo4j train reader` made."


class Network:
    """A reader's network in the light engine, and the tokenizer it needs.

    `longest` is the most word pieces that a window may have.
    """

    def __init__(self, network: CompiledNetwork, tokenizer: Tokenizer, longest: int) -> None:
        self.tokenizer = tokenizer
        self.longest = longest - longest % _STEP
        self._network = network

    def read(self, windows: Sequence[Window]) -> list[Logits]:
        """Return what the network says of each window."""
        # One by one: two windows side by side take as long as one batch of two, padded alike.
        return self._network.run([_feed(window.ids, window.types) for window in windows], _taken)


class Logits(NamedTuple):
    """The network's outputs for a window: for its n word pieces, its kind, and the operation.

    Shapes are (n, 11), (4) and (6), in the order of `PIECES`, `KINDS` and `OPERATIONS`.
    """

    pieces: NDArray[np.float32]
    kinds: NDArray[np.float32]
    operations: NDArray[np.float32]


def _feed(ids: Sequence[int], types: Sequence[int]) -> Feed:
    size = -(-len(ids) // _STEP) * _STEP
    made = {
        name: np.zeros((1, size), dtype=np.int64)
        for name in ("input_ids", "token_type_ids", "attention_mask")
    }
    made["input_ids"][0, : len(ids)] = ids
    made["token_type_ids"][0, : len(ids)] = types
    made["attention_mask"][0, : len(ids)] = 1
    return made


def _taken(feed: Feed, outputs: list[NDArray[np.float32]]) -> Logits:
    size = int(feed["attention_mask"].sum())
    return Logits(outputs[0][0, :size].copy(), outputs[1][0].copy(), outputs[2][0].copy())


def read_network(
    folder: Path, *, precise: Precision | None = None
) -> tuple[Network, dict[str, Any]]:
    """Read a network and its card from a folder; raises ModelError where it holds none."""
    from safetensors import SafetensorError

    try:
        card: dict[str, Any] = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
        if card["encoder"] == DEFAULT_ENCODER:
            file, words, longest = _upon_default(folder), tokenizer_file(), 512
        else:
            file, words = folder / NETWORK_FILE, folder / TOKENIZER_FILE
            longest = int(card["longest"])
        network = CompiledNetwork(file, streams=_STREAMS, precise=precise)
        return Network(network, read_tokenizer(words), longest), card
    except OSError as error:
        raise ModelError("the reader cannot be read", where=str(folder), hint=_HINT) from error
    except (
        SafetensorError, AttributeError, KeyError, RuntimeError, TypeError, ValueError
    ) as error:  # fmt: skip
        reason = str(error).strip().splitlines() or [repr(error)]
        raise ModelError(
            f"this is no reader ({reason[0]})", where=str(folder), hint=_HINT
        ) from error


def _upon_default(folder: Path) -> Path:
    """Return the whole network's file, made of the default encoder and a reader's weights."""
    data = (folder / WEIGHTS_FILE).read_bytes()

    def change(model: Any) -> Any:
        from safetensors.numpy import load

        return _with_weights(model, load(data))

    return derived_network(f"reader-{hashlib.sha256(data).hexdigest()[:12]}", change)


def _with_weights(model: Any, kept: Mapping[str, NDArray[Any]]) -> Any:
    """Put a reader's layers into the graph of its encoder, and its heads on top.

    Nodes are found by the names that PyTorch's export to ONNX gives them: a vector by its
    parameter's, a matrix, whose own name is lost and which stands transposed, by its product's.
    """
    openvino = import_openvino()
    ops = openvino.opset13
    nodes = {node.get_friendly_name(): node for node in model.get_ops()}
    for name, values in kept.items():
        if not name.startswith("layer.") or name.endswith(".scale"):
            continue
        values = values.astype(np.float32)
        if f"{name}.scale" in kept:
            product = nodes[f"/encoder/{_path(name)}/MatMul"]
            old = product.input_value(1).get_node()
            values = old.data + (values * kept[f"{name}.scale"]).T
        else:
            old = nodes[f"encoder.{name}"]
        if values.shape != old.data.shape or not np.isfinite(values).all():
            raise ValueError(f"{name} has another shape")
        replaced = ops.constant(np.ascontiguousarray(values))
        for place in old.output(0).get_target_inputs():
            place.replace_source_output(replaced.output(0))
    states = model.outputs[0].get_node().input_value(0)
    first = ops.gather(states, ops.constant(np.int64(0)), ops.constant(np.int64(1)))

    def head(name: str, source: Any) -> Any:
        weight, bias = kept[f"{name}.weight"], kept[f"{name}.bias"]
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise ValueError(f"{name} is not finite")
        made = ops.matmul(source, ops.constant(weight.astype(np.float32)), False, True)
        return ops.add(made, ops.constant(bias.astype(np.float32)))

    heads = [head("pieces", states), head("kinds", first), head("operations", first)]
    return openvino.Model([ops.result(one) for one in heads], model.get_parameters(), "reader")


def _path(name: str) -> str:
    """Return `layer.4/attention/self/query` of `layer.4.attention.self.query.weight`."""
    layer, number, *rest = name.removesuffix(".weight").split(".")
    return "/".join([f"{layer}.{number}", *rest])
