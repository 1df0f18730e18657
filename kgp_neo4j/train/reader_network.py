"""The offline reader's network in torch, to be trained: see `kgp_neo4j.models.reader.network`."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.models.reader.network import (
    CARD_FILE,
    KINDS,
    NETWORK_FILE,
    OPERATIONS,
    PIECES,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
)
from kgp_neo4j.models.torch_encoder import TorchTransformer, load_model
from kgp_neo4j.train.export import export_network
from kgp_neo4j.types.errors import ModelError

__all__ = ["TrainedNetwork"]

_HEADS = {"pieces": PIECES, "kinds": KINDS, "operations": OPERATIONS}


class TrainedNetwork:
    """An encoder's layers with a reader's heads on them, and the tokenizer they need."""

    def __init__(self, encoder: str, layers: int) -> None:
        import torch

        base, tokenizer, self.device = _base_of(encoder)
        # All but the layers that are trained are shared with the base.
        own = list(base.encoder.layer)[len(base.encoder.layer) - layers :]
        if not 0 < layers == len(own):
            raise ModelError(
                f"the encoder {encoder!r} has no {layers} layers to train",
                hint="Choose fewer layers.",
            )
        shared = {id(part): part for part in base.parameters()}
        for part in (p for layer in own for p in layer.parameters()):
            del shared[id(part)]
        self.body: Any = copy.deepcopy(base, shared)
        self.tokenizer = tokenizer
        self.encoder = encoder
        self.layers = layers
        self._base = base
        width = base.config.hidden_size
        dtype = next(base.parameters()).dtype
        self.heads: Any = torch.nn.ModuleDict(
            {
                name: torch.nn.Linear(width, len(outputs), device=self.device, dtype=dtype)
                for name, outputs in _HEADS.items()
            }
        )
        self.longest = int(base.config.max_position_embeddings)

    def own(self) -> dict[str, Any]:
        """Return the trained parameters by name: upper layers and heads."""
        count = len(self.body.encoder.layer)
        return {
            **{
                f"layer.{at}.{name}": part
                for at in range(count - self.layers, count)
                for name, part in self.body.encoder.layer[at].named_parameters()
            },
            **dict(self.heads.named_parameters()),
        }

    def originals(self) -> dict[str, Any]:
        """Return the encoder's original values, in float32, of the trained layers."""
        layers = self._base.encoder.layer
        return {
            f"layer.{at}.{name}": part.detach().float().cpu()
            for at in range(len(layers) - self.layers, len(layers))
            for name, part in layers[at].named_parameters()
        }

    def load(self, folder: Path, share: float = 1.0) -> None:
        """Take the weights of a reader that `save` wrote, on the same encoder and layers.

        With a `share` below 1 the weights go so far from what they are to those of the folder.
        Raises ModelError where it has none that fit.
        """
        import torch
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            kept, before = load_file(str(folder / WEIGHTS_FILE)), self.originals()
            with torch.no_grad():
                for name, part in self.own().items():
                    values = kept[name].float()
                    if f"{name}.scale" in kept:
                        values = before[name] + values * kept[f"{name}.scale"]
                    part.lerp_(values.to(part), share)
        except (OSError, SafetensorError, KeyError, RuntimeError) as error:
            raise ModelError(
                f"the reader cannot be trained further ({error!r})",
                where=str(folder),
                hint="It has to be on the default encoder, with as many layers.",
            ) from error

    def __call__(self, ids: Any, types: Any, mask: Any) -> tuple[Any, Any, Any]:
        """Return the logits of tokens, kinds and operations: `network.Logits`, by window."""
        hidden = self.body(
            input_ids=ids, token_type_ids=types, attention_mask=mask
        ).last_hidden_state
        first, heads = hidden[:, 0], self.heads
        return (
            heads["pieces"](hidden).float(),
            heads["kinds"](first).float(),
            heads["operations"](first).float(),
        )

    def save(self, folder: Path, card: Mapping[str, Any]) -> None:
        """Write the light engine's files, with the card.

        For a reader on the default encoder it writes the trained weights alone: a matrix as its
        difference from the encoder's, in eight bits with a scale for each row; the difference is
        small, so little is lost, and the file stays at a few MB. For any other, it writes the whole
        network.
        """
        folder.mkdir(parents=True, exist_ok=True)
        if self.encoder == DEFAULT_ENCODER:
            self._save_differences(folder / WEIGHTS_FILE)
        else:
            export_network(self._module(), folder / NETWORK_FILE)
            self.tokenizer.save(str(folder / TOKENIZER_FILE))
        said = {
            "encoder": self.encoder, "layers": self.layers, "longest": self.longest, **card
        }  # fmt: skip
        (folder / CARD_FILE).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")

    def _save_differences(self, file: Path) -> None:
        import torch
        from safetensors.torch import save_file

        before = self.originals()
        kept: dict[str, Any] = {}
        for name, part in self.own().items():
            values = part.detach().float().cpu()
            if name in before and values.dim() == 2:
                values = values - before[name]
                scale = values.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
                kept[f"{name}.scale"] = scale
                kept[name] = torch.round(values / scale).to(torch.int8)
            else:
                kept[name] = values.half() if name in before else values
        save_file(kept, str(file))

    def _module(self) -> Any:
        """Return the network as one torch module, from ids, mask and types to the heads."""
        import torch

        network = self

        class Whole(torch.nn.Module):
            """Body and heads."""

            def __init__(self) -> None:
                super().__init__()
                self.body, self.heads = network.body, network.heads

            def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
                return network(input_ids, token_type_ids, attention_mask)

        return Whole()


@lru_cache(maxsize=2)
def _base_of(encoder: str) -> tuple[Any, Any, str]:
    """Return the transformer in an encoder, its tokenizer, and the device they are on.

    Raises EncoderError where there is none, ModelError where it is not of BERT's kind.
    """
    import torch

    model, device = load_model(encoder, torch.float32)
    body = getattr(model[0], "auto_model", None)
    if getattr(getattr(body, "config", None), "model_type", "") != "bert":
        raise ModelError(
            f"a reader needs an encoder of BERT's kind, and {encoder!r} is none",
            hint="Leave --encoder out, or give one that was made from a BERT.",
        )
    return body, TorchTransformer(model, device).tokenizer, device
