"""The quick encoder: a passage's vector from the vectors of its word pieces, in no network's time.

It is fitted to what the default encoder makes of the same texts (its card is in `quick_encoder/`),
so that its vectors lie in the same space and questions are encoded by the full network. Its form is
model2vec's (https://github.com/MinishLab/model2vec): static vectors of word pieces, weighed by
rarity, here also by position, and with a hidden layer above.
"""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from tokenizers import Tokenizer

from kgp_neo4j.environment.job import thread_count
from kgp_neo4j.models.engine import token_id

FILE = Path(__file__).with_name("quick_encoder") / "model.safetensors"
#: Texts of similar length that are computed at once: their pieces' vectors fit into the cache.
_BATCH = 64
#: Word pieces of a text that are read, as many as the full encoder reads.
LONGEST = 254
#: Letters of the words whose pieces are remembered: cutting words would take most of the time.
_MOST_LETTERS = 5_000_000
#: Words that are cut at once, and what stands between them, a piece of its own.
_AT_ONCE, _BETWEEN = 200, "[SEP]"


class StaticNetwork:
    """Static vectors of word pieces with a small network on two of their weighted means."""

    def __init__(self, tokenizer: Tokenizer, file: Path = FILE) -> None:
        arrays = load(file.read_bytes())
        #: Whole numbers from -127 to 127; their scale, each piece's own, is a part of its weight.
        self._pieces = arrays["pieces"].astype(np.float32) * arrays["scale"][:, None]
        self._weight = np.exp(arrays["weight"])
        #: Of the two means, by position: the first pieces, often a title, count for more in one.
        self._position = np.exp(arrays["position"])
        names = ("linear", "linear_bias", "hidden", "hidden_bias", "output")
        self._layers = [arrays[name].astype(np.float32) for name in names]
        self._tokenizer = tokenizer
        self._between = np.int32(token_id(tokenizer, _BETWEEN) or 0)
        #: The pieces of each word as the bytes of their numbers, which are joined in no time.
        self._known: dict[str, bytes] = {}
        self._letters = 0
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: (texts, dimension)."""
        read = self._ids(texts)
        order = sorted(range(len(read)), key=lambda at: -len(read[at]))
        parts = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        linear, linear_bias, hidden, hidden_bias, output = self._layers
        means = np.empty((len(texts), hidden.shape[0]), np.float32)

        def compute(part: list[int]) -> None:
            means[part] = self._means([read[at] for at in part])

        with ThreadPoolExecutor(thread_count()) as pool:
            list(pool.map(compute, parts))
        states = np.maximum(means @ hidden + hidden_bias, 0)
        return np.asarray(means @ linear + linear_bias + states @ output)

    def _ids(self, texts: Sequence[str]) -> list[bytes]:
        """Return the word pieces of texts; words, between spaces, are cut into pieces once."""
        words = [text.split(None, LONGEST)[:LONGEST] for text in texts]
        with self._lock:
            if self._letters > _MOST_LETTERS:
                self._known.clear()
                self._letters = 0
            new = list(set().union(*words).difference(self._known))
            self._letters += sum(map(len, new))
            self._known.update(zip(new, self._cut(new), strict=True))
            get = self._known.__getitem__
            return [b"".join(map(get, each))[: 4 * LONGEST] for each in words]

    def _cut(self, words: Sequence[str]) -> Iterator[bytes]:
        """Yield the pieces of each word; many are cut at once, which takes half the time."""
        parts = [words[start : start + _AT_ONCE] for start in range(0, len(words), _AT_ONCE)]
        joined = self._tokenizer.encode_batch_fast(
            [f" {_BETWEEN} ".join(part) for part in parts], add_special_tokens=False
        )
        for part, cut in zip(parts, joined, strict=True):
            ids = np.array(cut.ids, np.int32)
            ends = [*np.flatnonzero(ids == self._between).tolist(), len(ids)]
            if len(ends) == len(part):
                for start, end in zip([0, *(end + 1 for end in ends)], ends, strict=False):
                    yield ids[start:end].tobytes()
            else:  # one of the words contains what stands between them
                for word in part:
                    alone = self._tokenizer.encode(word, add_special_tokens=False)
                    yield np.array(alone.ids, np.int32).tobytes()

    def _means(self, read: Sequence[bytes]) -> NDArray[np.float32]:
        """Return both weighted means of the vectors of each text's pieces, side by side."""
        lengths = np.array([len(ids) // 4 for ids in read])
        longest = max(int(lengths.max()), 1)
        held = np.arange(longest) < lengths[:, None]
        ids = np.zeros(held.shape, np.int32)
        ids[held] = np.frombuffer(b"".join(read), np.int32)
        last = self._position.shape[1] - 1
        position = self._position[:, np.minimum(np.arange(longest), last)]
        weights = (self._weight[ids] * held)[:, None, :] * position
        weights /= np.maximum(weights.sum(2, keepdims=True), 1e-6)
        vectors = self._pieces.take(ids, axis=0)
        return np.asarray(weights @ vectors).reshape(len(read), -1)
