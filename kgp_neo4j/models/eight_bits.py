"""The default encoder with products of bytes, which many processors compute fastest."""

from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from kgp_neo4j.models.engine import import_openvino
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, encoder_files

#: What the encoder's products multiply, by channel: the step between two bytes, the lowest value
#: and the mean; products that lose most are left out. They were measured on passages, as is what
#: all of these are off by on average (benchmarks/README.md).
_TABLE = Path(__file__).with_name("eight_bits.safetensors")
_OFF = "off"


def eight_bit_files() -> tuple[Path, Path]:
    """Return the default encoder's network with products of bytes, and its `tokenizer.json`."""
    return encoder_files(DEFAULT_ENCODER, "bytes", _TABLE.read_bytes(), _with_bytes)


def products(model: Any) -> dict[str, list[Any]]:
    """Return the products of tokens' states with weights, by the name of what is multiplied."""
    found: dict[str, list[Any]] = {}
    for node in model.get_ordered_ops():
        if node.get_type_name() == "MatMul" and len(node.get_output_partial_shape(0)) == 3:
            found.setdefault(node.input_value(0).get_node().get_friendly_name(), []).append(node)
    return found


def _with_bytes(model: Any, data: bytes) -> Any:
    """Make bytes of what is multiplied: weights by output, states by channel.

    The weights take in the steps of the states' channels, so that all have the same one.
    """
    op = import_openvino().opset13
    ends = [op.constant(np.float32(end)) for end in (0, 255)]
    ranges = {name: values.astype(np.float32) for name, values in load(data).items()}
    off = ranges.pop(_OFF)
    found = products(model)
    for name, (step, low, mean) in ranges.items():
        nodes = found[name]
        states = op.multiply(nodes[0].input_value(0), op.constant(1 / step))
        states = op.add(states, op.constant(-low / step))
        states = op.fake_quantize(states, *ends, *ends, 256)
        for node in nodes:
            old = node.input_value(1).get_node().data
            weights = old * step[:, None]
            scale = np.abs(weights).max(axis=0, keepdims=True) / 127
            whole = np.round(weights / scale)
            read = op.convert(op.constant(whole.astype(np.int8)), "f32")
            node.input(0).replace_source_output(states.output(0))
            node.input(1).replace_source_output(op.multiply(read, op.constant(scale)).output(0))
            # The bias gives back the lowest values, and what rounding the weights takes on average.
            lost = mean @ old - ((mean - low) / step) @ (whole * scale)
            (place,) = node.output(0).get_target_inputs()
            for value in place.get_node().inputs():
                bias = value.get_source_output().get_node()
                if bias.get_type_name() == "Constant":
                    value.replace_source_output(op.constant(bias.data + lost).output(0))
    end = model.get_results()[0].input(0)
    end.replace_source_output(op.subtract(end.get_source_output(), op.constant(off)).output(0))
    return model
