"""Measures the ranges by which the default encoder multiplies bytes.

    python benchmarks/eight_bits.py FOLDER

The table is part of the package: `kgp_neo4j/models/eight_bits.safetensors`. The passages
are JSON lines with `title` and `text`; some hundreds of any prose are enough.
"""

import re
import zipfile
from collections.abc import Iterator
from typing import Any

import _common as common
import numpy as np
from safetensors.numpy import save

from kgp_neo4j.models import eight_bits, pretrained
from kgp_neo4j.models.encoder import load_encoder, passage_text
from kgp_neo4j.models.engine import import_openvino

#: How far the channels' steps follow the ranges of the states rather than the weights: at 1 all
#: states have the same relative error, at 0 all weights.
_SHARE = 0.7
#: Share of the passages whose states are within the ranges of bytes; others' are cut.
_COVERED = 0.98
#: Products that bytes lose most in: two thirds of all that is lost with these is lost without.
_EXACT = re.compile(r"layer\.[02]/intermediate")


def main() -> None:
    given = common.plain_parser(__doc__, "holds passages: .jsonl.gz").parse_args()
    rows = common.read_lines(*given.folder.glob("*.jsonl.gz"))
    own = pretrained.PRETRAINED[pretrained.DEFAULT_ENCODER]
    tokenizer, core = load_encoder().tokenizer, import_openvino().Core()
    with zipfile.ZipFile(pretrained._fetched(own)) as archive:
        data = archive.read(f"{own.files}.onnx")
    texts = [passage_text(row["title"], row["text"]) for row in rows]
    passages = [np.array([tokenizer.encode(text).ids[: own.longest]]) for text in texts]

    def run(model: Any) -> Iterator[list[Any]]:
        network = core.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        for ids in passages:
            yield [out[0] for out in network([ids, np.ones_like(ids), np.zeros_like(ids)]).values()]

    model = core.read_model(data)
    products = {n: found for n, found in eight_bits.products(model).items() if not _EXACT.search(n)}
    for nodes in products.values():
        model.add_outputs(nodes[0].input_value(0))
    vectors, seen = [], []
    for found in run(model):
        vectors.append(found[0].mean(0))
        states = found[-len(products) :]
        seen.append([(each.min(0), each.max(0), each.mean(0)) for each in states])
    table = {eight_bits._OFF: np.zeros(vectors[0].size, np.float16)}
    for (name, nodes), rows in zip(products.items(), zip(*seen, strict=True), strict=True):
        weights = np.concatenate([node.input_value(1).get_node().data for node in nodes], axis=1)
        lows, highs, means = map(np.array, zip(*rows, strict=True))
        low, high = np.quantile(lows, 1 - _COVERED, axis=0), np.quantile(highs, _COVERED, axis=0)
        span = np.maximum(high - low, 1e-3)
        step = span**_SHARE / np.sqrt((weights**2).mean(axis=1)) ** (1 - _SHARE)
        step = np.maximum(step * (span / step).max() / 255, 1e-4)
        lowest = (low + high) / 2 - step * 127.5
        table[name] = np.stack([step, lowest, means.mean(0)]).astype(np.float16)
    in_bytes = eight_bits._with_bytes(core.read_model(data), save(table))
    others = [found[0].mean(0) for found in run(in_bytes)]
    off = np.mean(others, axis=0) - np.mean(vectors, axis=0)
    eight_bits._TABLE.write_bytes(save(table | {eight_bits._OFF: off.astype(np.float16)}))
    print(f"{eight_bits._TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
