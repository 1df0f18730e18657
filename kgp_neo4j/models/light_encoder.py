"""The pretrained sentence encoders in the light engine."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.models.engine import CompiledNetwork, Feed, precision, read_tokenizer, token_id
from kgp_neo4j.models.pretrained import Pooling

_BATCH = 16
#: Texts are padded to a multiple of this many tokens: the engine keeps something for each shape of
#: inputs that it ever saw, 90 MB in all for passages of any length.
_STEP = 8


class LightTransformer:
    """A network of the light engine that turns texts of `longest` tokens at most into vectors."""

    def __init__(self, network: Path, tokenizer: Path, longest: int, pooling: Pooling) -> None:
        self.tokenizer = read_tokenizer(tokenizer)
        self._padding = token_id(self.tokenizer, "[PAD]", "<pad>") or 0
        self._network = CompiledNetwork(network)
        self._pooling = pooling
        self._longest = longest
        self.dimension = self._network.width
        self.form = f"{network.stem} {precision()}"

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
        states = outputs[0]
        if self._pooling == "cls":
            return states[:, 0].copy()
        mask = feed["attention_mask"].astype(np.float32)
        return np.asarray((mask[:, None, :] @ states)[:, 0] / mask.sum(1, keepdims=True))
