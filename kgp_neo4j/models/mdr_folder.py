"""Read and write the folder of an MDR encoder, and check its weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kgp_neo4j.models.light_encoder import EncoderFiles
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER, Weights, derived_network, tokenizer_file
from kgp_neo4j.types.errors import EncoderError

__all__ = [
    "DEFAULT_FOLDER",
    "DEFAULT_MDR",
    "EXPORTED",
    "MDR_FILE",
    "Lengths",
    "MdrFolder",
    "adapted_files",
    "read_mdr_folder",
    "weights_folder",
    "write_mdr_folder",
]

MDR_FILE = "kgp-mdr.json"
#: The name of the bundled MDR encoder, and its folder.
DEFAULT_MDR = "mdr-MiniLM-L6"
DEFAULT_FOLDER = Path(__file__).with_name("mdr_adapter")
#: The whole encoder as exported for the light engine; an adapter of the default encoder needs none.
EXPORTED = Path("openvino", "openvino_model.xml")
_ADAPTER = "adapter"
_ADAPTER_WEIGHTS = "adapter_model.safetensors"
_MODEL = "model"
_HINT = "Train it again with `kgp-neo4j train mdr`, or copy the whole folder anew."


@dataclass(frozen=True, slots=True)
class Lengths:
    """Tokens at most of a question, a passage, and a query with passages (MDR's settings)."""

    question: int = 70
    passage: int = 300
    query: int = 350


@dataclass(frozen=True, slots=True)
class MdrFolder:
    """The contents of `kgp-mdr.json`: the encoder it starts from, LoRA's rank (0: a whole model),
    lengths, the SHA-256 of the weights, and how it was trained.
    """

    encoder: str
    lora_rank: int
    lengths: Lengths
    sha256: str = ""
    training: Mapping[str, Any] = field(default_factory=dict)

    @property
    def upon_default(self) -> bool:
        """Whether it is an adapter of the default encoder."""
        return self.lora_rank > 0 and self.encoder == DEFAULT_ENCODER


def adapted_files(folder: Path, described: MdrFolder) -> EncoderFiles:
    """Return the files of the default encoder with the adapter of a folder put into it.

    Raises EncoderError where the adapter does not fit.
    """
    weights = weights_folder(folder, described.lora_rank) / _ADAPTER_WEIGHTS

    def change(model: Any) -> Any:
        from safetensors.numpy import load_file

        arrays = load_file(weights)
        layers = Weights(model)
        settings = json.loads((weights.parent / "adapter_config.json").read_text("utf-8"))
        scale = np.float32(settings["lora_alpha"] / described.lora_rank)
        for name, first in arrays.items():
            path, is_first, _ = name.removeprefix("base_model.model.encoder.").partition(".lora_A.")
            if is_first and path.startswith("layer."):
                second = arrays[name.replace(".lora_A.", ".lora_B.")].astype(np.float32)
                whole = second @ first.astype(np.float32) * scale
                layers.add_to_matrix(f"{path}.weight", whole)
        return model

    network = derived_network(f"mdr-{described.sha256[:12]}", change)
    longest = max(described.lengths.query, described.lengths.passage)
    return EncoderFiles(network, tokenizer_file(), longest)


def weights_folder(folder: Path, lora_rank: int) -> Path:
    """Return the folder of the weights: an adapter's, or a whole model's."""
    return folder / (_ADAPTER if lora_rank else _MODEL)


def write_mdr_folder(folder: Path, described: MdrFolder) -> None:
    """Write `kgp-mdr.json` beside existing weights; a folder without it is unfinished."""
    complete = replace(described, sha256=_sum(folder, described.lora_rank))
    text = json.dumps(asdict(complete), indent=2, ensure_ascii=False)
    part = folder / f"{MDR_FILE}.part"
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(folder / MDR_FILE)


def read_mdr_folder(folder: Path) -> MdrFolder:
    """Return the description of a folder; raises EncoderError where it is damaged or changed."""
    where = str(folder / MDR_FILE)
    try:
        value = json.loads((folder / MDR_FILE).read_text(encoding="utf-8"))
        described = MdrFolder(
            encoder=str(value["encoder"]),
            lora_rank=int(value["lora_rank"]),
            lengths=Lengths(**{name: int(n) for name, n in value["lengths"].items()}),
            sha256=str(value["sha256"]),
            training=dict(value.get("training", {})),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise EncoderError(f"cannot be read ({error!r})", where=where, hint=_HINT) from error
    if _sum(folder, described.lora_rank) != described.sha256:
        raise EncoderError("the weights are not those it was saved with", where=where, hint=_HINT)
    return described


def _sum(folder: Path, lora_rank: int) -> str:
    """Return the SHA-256 of the weights: those for torch, then those for the light engine."""
    name = _ADAPTER_WEIGHTS if lora_rank else "model.safetensors"
    digest = hashlib.sha256()
    files = [weights_folder(folder, lora_rank) / name, folder / EXPORTED.with_suffix(".bin")]
    if lora_rank and not files[1].exists():
        files.pop()
    try:
        for path in files:
            with path.open("rb") as file:
                hashlib.file_digest(file, lambda: digest)  # continues the digest
    except OSError as error:
        raise EncoderError(
            f"the weights cannot be read ({error.strerror})", where=str(folder), hint=_HINT
        ) from error
    return digest.hexdigest()
