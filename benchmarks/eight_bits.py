"""Measures the ranges by which the default encoder multiplies bytes.

The table is part of the package: `kgp_neo4j/models/eight_bits.safetensors`. The passages
are JSON lines with `title` and `text`; some hundreds of any prose are enough.
"""

import argparse
import zipfile
from pathlib import Path
from typing import Any

import _common as common
import numpy as np
from safetensors.numpy import save_file

from kgp_neo4j.models import eight_bits, pretrained
from kgp_neo4j.models.encoder import load_encoder, passage_text
from kgp_neo4j.models.engine import import_openvino

#: How far the channels' steps follow the ranges of the states rather than the weights: at 1 all
#: states have the same relative error, at 0 all weights.
_SHARE = 0.7
#: Share of the passages whose states are within the ranges of bytes; others' are cut.
_COVERED = 0.98


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("passages", type=Path, help="a .jsonl.gz of passages")
    given = made.parse_args()
    own = pretrained.PRETRAINED[pretrained.DEFAULT_ENCODER]
    tokenizer, core = load_encoder().tokenizer, import_openvino().Core()
    with zipfile.ZipFile(pretrained._fetched(own)) as archive:
        model = core.read_model(archive.read(f"{own.files}.onnx"))
    products = eight_bits.products(model)
    weights = {
        name: np.concatenate([node.input_value(1).get_node().data for node in nodes], axis=1)
        for name, nodes in products.items()
    }
    outputs = [model.add_outputs(nodes[0].input_value(0))[0] for nodes in products.values()]
    network = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    seen: dict[str, list[Any]] = {name: [] for name in weights}
    for record in common.read_lines(given.passages):
        text = passage_text(record["title"], record["text"])
        ids = np.array([tokenizer.encode(text).ids[: own.longest]])
        found = network([ids, np.ones_like(ids), np.zeros_like(ids)])
        for name, values in zip(weights, list(found.values())[-len(outputs) :], strict=True):
            seen[name].append((values[0].min(0), values[0].max(0), values[0].mean(0)))
    table = {}
    for name, rows in weights.items():
        lows, highs, means = map(np.array, zip(*seen[name], strict=True))
        low, high = np.quantile(lows, 1 - _COVERED, axis=0), np.quantile(highs, _COVERED, axis=0)
        span = np.maximum(high - low, 1e-3)
        step = span**_SHARE / np.sqrt((rows**2).mean(axis=1)) ** (1 - _SHARE)
        step = np.maximum(step * (span / step).max() / 255, 1e-4)
        lowest = (low + high) / 2 - step * 127.5
        table[name] = np.stack([step, lowest, means.mean(0)]).astype(np.float16)
    save_file(table, eight_bits._TABLE)
    print(f"{eight_bits._TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
