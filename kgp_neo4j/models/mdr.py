"""The MDR encoder: from a question and the passages so far to the passage that comes next.

Multi-hop dense retrieval (Xiong et al., ICLR 2021), from which KGP makes its KNN-MDR graph and one
of its agents (section 3 and Table 2). It is a LoRA adapter of the default encoder; its card and
docs/mdr.md tell how it was trained.
"""

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load

from kgp_neo4j.models.encoder import Done, Encoder, Passages, Vectors, passage_text
from kgp_neo4j.models.engine import LightTransformer
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, Weights, encoder_files

_ADAPTER = Path(__file__).with_name("mdr_adapter")
#: Tokens at most of a question, a passage, and a query with passages (MDR's settings).
_QUESTION, _PASSAGE, _QUERY = 70, 300, 350
#: Special tokens that the model adds to a text.
_ENDS = 2
_SEPARATOR = " [SEP] "

#: A question and the passages so far, as title and text, in the order of the path.
Query = tuple[str, Passages]


class MdrEncoder(Encoder):
    """An encoder of passages and of queries (a question with the passages before) in one space."""

    def encode_passages(self, passages: Passages, *, done: Done | None = None) -> Vectors:
        """Return unit vectors of passages, cut to the length of MDR's."""
        return self.encode(self._cut([passage_text(*p) for p in passages], _PASSAGE), done=done)

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """Return unit vectors, (queries, dimension); the passages nearest to one come next."""
        return self.encode([self.query_text(*query) for query in queries])

    def query_text(self, question: str, before: Passages) -> str:
        """Return the text of a query as the encoder reads it.

        The question comes first, cut to its length; the passages share the rest of the query
        evenly, so that earlier ones never push the last one out.
        """
        # Each passage has a separator.
        room = _QUERY - _QUESTION - _ENDS - len(before)
        share = max(room // max(len(before), 1), 1)
        texts = self._cut([passage_text(*p) for p in before], share)
        return _SEPARATOR.join([*self._cut([question], _QUESTION), *texts])

    def _cut(self, texts: Sequence[str], tokens: int) -> list[str]:
        encodings = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        ends = [max((end for _, end in e.offsets[:tokens]), default=0) for e in encodings]
        return [text[:end] for text, end in zip(texts, ends, strict=True)]


@lru_cache(maxsize=1)
def load_mdr() -> MdrEncoder:
    """Load the bundled MDR encoder, which runs in the light engine."""
    data = (_ADAPTER / "adapter_model.safetensors").read_bytes()
    files = encoder_files(DEFAULT_ENCODER, "mdr", data, _adapted)
    encoder = MdrEncoder("mdr-MiniLM-L6", LightTransformer(*files, _QUERY, "mean"))
    encoder.fingerprint = hashlib.sha256(data).hexdigest()[:12]
    return encoder


def _adapted(model: Any, data: bytes) -> Any:
    arrays = load(data)
    layers = Weights(model)
    settings = json.loads((_ADAPTER / "adapter_config.json").read_text("utf-8"))
    scale = np.float32(settings["lora_alpha"] / settings["r"])
    for name, first in arrays.items():
        path, is_first, _ = name.removeprefix("base_model.model.encoder.").partition(".lora_A.")
        if is_first and path.startswith("layer."):
            second = arrays[name.replace(".lora_A.", ".lora_B.")].astype(np.float32)
            whole = second @ first.astype(np.float32) * scale
            layers.add_to_matrix(f"{path}.weight", whole)
    return model
