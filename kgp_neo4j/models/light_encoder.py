"""Sentence encoders in the light engine: the pretrained ones, and folders exported for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.models.engine import CompiledNetwork, Feed, read_tokenizer, token_id
from kgp_neo4j.models.pretrained import (
    DEFAULT_ENCODER,
    PRETRAINED,
    Pooling,
    network_file,
    tokenizer_file,
)

__all__ = ["EncoderFiles", "LightTransformer", "exported_files", "pretrained_files"]

_BATCH = 16
#: Texts are padded to a multiple of this many tokens: the engine keeps something for each shape of
#: inputs that it ever saw, 90 MB in all for passages of any length.
_STEP = 8
#: Where sentence-transformers and optimum write their exports, in the order of preference.
_NETWORKS = ("openvino/openvino_model.xml", "openvino_model.xml", "onnx/model.onnx", "model.onnx")
#: The modes of pooling that this engine supports, by their names in newer and older folders.
_POOLING: dict[str, Pooling] = {
    "mean": "mean",
    "cls": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "cls",
}
#: Steps of a sentence-transformers model that this engine supports.
_STEPS = {"Transformer", "Pooling", "Normalize"}
#: Tokens at most, where a folder sets no limit; also the value for "no limit".
_LONGEST = 512
_NO_LIMIT = 100_000


@dataclass(frozen=True, slots=True)
class EncoderFiles:
    """The files and settings of an encoder; `longest` is its limit in tokens, special ones
    included.
    """

    network: Path
    tokenizer: Path
    longest: int = _LONGEST
    pooling: Pooling = "mean"


def pretrained_files(name: str = DEFAULT_ENCODER) -> EncoderFiles:
    """Return the files of a pretrained encoder, downloaded on first use."""
    own = PRETRAINED[name]
    return EncoderFiles(network_file(name), tokenizer_file(name), own.longest, own.pooling)


def exported_files(folder: Path) -> EncoderFiles | None:
    """Return the files of a folder exported to OpenVINO or ONNX; None where it is no such folder.

    None also for a model with other steps than transformer, mean or first state, and unit length.
    """
    network = next((folder / name for name in _NETWORKS if (folder / name).is_file()), None)
    if network is None or not (folder / "tokenizer.json").is_file():
        return None
    try:
        steps = {step["type"].rpartition(".")[2] for step in _read(folder / "modules.json", [])}
        pooling = _read(folder / "1_Pooling" / "config.json", {})
        limits = (
            _read(folder / "sentence_bert_config.json", {}).get("max_seq_length"),
            _read(folder / "tokenizer_config.json", {}).get("model_max_length"),
        )
        modes = {m for m, chosen in pooling.items() if m.startswith("pooling_mode_") and chosen}
        mode = pooling.get("pooling_mode") or "".join(modes) or "mean"
    except (OSError, ValueError, AttributeError, KeyError, TypeError):
        return None
    if not steps <= _STEPS or mode not in _POOLING:
        return None
    longest = next((int(n) for n in limits if n and int(n) < _NO_LIMIT), _LONGEST)
    return EncoderFiles(network, folder / "tokenizer.json", longest, _POOLING[mode])


def _read(path: Path, missing: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else missing


class LightTransformer:
    """A network of the light engine that turns texts into vectors."""

    def __init__(self, files: EncoderFiles) -> None:
        self.tokenizer = read_tokenizer(files.tokenizer)
        self._padding = token_id(self.tokenizer, "[PAD]", "<pad>") or 0
        self._network = CompiledNetwork(files.network)
        self._pooling = files.pooling
        self._longest = files.longest
        #: Some networks return the vector of the whole text.
        self._whole = next(
            (at for at, names in enumerate(self._network.outputs) if "sentence_embedding" in names),
            None,
        )
        self.dimension = self._network.shape[-1]

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: (texts, dimension)."""
        room = self._longest - self.tokenizer.num_special_tokens_to_add(is_pair=False)
        read = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        for one in read:
            one.truncate(max(room, 1))
        ids = [self.tokenizer.post_process(one).ids for one in read]
        order = sorted(range(len(ids)), key=lambda at: -len(ids[at]))
        # Few texts are shared out evenly among the parallel streams.
        size = min(_BATCH, -(-len(order) // (2 * self._network.streams)))
        parts = [order[start : start + size] for start in range(0, len(order), max(size, 1))]
        feeds = [self._feed([ids[at] for at in part]) for part in parts]
        vectors = np.empty((len(ids), self.dimension), dtype=np.float32)
        for part, pooled in zip(parts, self._network.run(feeds, self._pooled), strict=True):
            vectors[part] = pooled
        return vectors

    def _feed(self, batch: Sequence[Sequence[int]]) -> Feed:
        most = max(len(ids) for ids in batch)
        size = (len(batch), min(-(-most // _STEP) * _STEP, self._longest))
        ids = np.full(size, self._padding, dtype=np.int64)
        mask = np.zeros(size, dtype=np.int64)
        for at, one in enumerate(batch):
            ids[at, : len(one)] = one
            mask[at, : len(one)] = 1
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}

    def _pooled(self, feed: Feed, outputs: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        if self._whole is not None:
            return outputs[self._whole].copy()
        states = outputs[0]
        if self._pooling == "cls":
            return states[:, 0].copy()
        mask = feed["attention_mask"].astype(np.float32)
        mean: NDArray[np.float32] = (mask[:, None, :] @ states)[:, 0] / mask.sum(1, keepdims=True)
        return mean
