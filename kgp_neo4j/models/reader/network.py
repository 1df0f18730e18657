"""The offline reader's network: the top layers of the sentence encoder, trained anew to read.

A window of question and passages goes through the encoder's layers; the lower ones stay as they
are, the upper ones are the reader's own. Two heads tell of each word piece whether an answer begins
or ends there (Devlin et al. 2019, section 4.2), and of the window whether it holds a span, says yes
or no, or nothing.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgp_neo4j.errors import ModelError
from kgp_neo4j.models.encoder import load_model, native_bfloat16

__all__ = ["CARD_FILE", "KINDS", "WEIGHTS_FILE", "Network", "read_network"]

#: What a window can say; their places are those of the head's outputs.
KINDS = ("span", "yes", "no", "none")
WEIGHTS_FILE = "reader.safetensors"
CARD_FILE = "reader.json"
_HINT = "Give a folder that `kgp-neo4j train reader` made."


class Network:
    """An encoder's layers with a reader's heads on them, and the tokenizer they need."""

    def __init__(self, encoder: str, layers: int, *, precise: bool = False) -> None:
        import torch

        base, tokenizer, self.device = _base_of(encoder, precise)
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
        self.spans: Any = torch.nn.Linear(width, 2, device=self.device, dtype=dtype)
        self.kinds: Any = torch.nn.Linear(width, len(KINDS), device=self.device, dtype=dtype)
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
            **{f"spans.{name}": part for name, part in self.spans.named_parameters()},
            **{f"kinds.{name}": part for name, part in self.kinds.named_parameters()},
        }

    def originals(self) -> dict[str, Any]:
        """Return the encoder's own values, in float32, of the layers that were trained anew."""
        layers = self._base.encoder.layer
        return {
            f"layer.{at}.{name}": part.detach().float().cpu()
            for at in range(len(layers) - self.layers, len(layers))
            for name, part in layers[at].named_parameters()
        }

    def __call__(self, ids: Any, types: Any, mask: Any) -> tuple[Any, Any]:
        """Return start and end logits (windows, pieces, 2) and kind logits (windows, 4)."""
        hidden = self.body(
            input_ids=ids, token_type_ids=types, attention_mask=mask
        ).last_hidden_state
        return self.spans(hidden).float(), self.kinds(hidden[:, 0]).float()

    def save(self, folder: Path, card: Mapping[str, Any]) -> None:
        """Write the trained weights and what they need to be used again.

        A matrix is kept as its difference from the encoder's, in eight bits with a scale for each
        row: the difference is small, so little is lost, and the file stays at a few MB.
        """
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
        folder.mkdir(parents=True, exist_ok=True)
        save_file(kept, str(folder / WEIGHTS_FILE))
        said = {"encoder": self.encoder, "layers": self.layers, **card}
        (folder / CARD_FILE).write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")


@lru_cache(maxsize=2)
def _base_of(encoder: str, precise: bool = False) -> tuple[Any, Any, str]:
    """Return the transformer in an encoder, its tokenizer, and the device they are on.

    It is in float32 where it is to be `precise`, as for training, else in what is fastest here.

    Raises EncoderError where there is none, ModelError where it is not of BERT's kind.
    """
    import torch

    quick = native_bfloat16() and not precise
    model, device = load_model(encoder, torch.bfloat16 if quick else torch.float32)
    body = getattr(model[0], "auto_model", None)
    if getattr(getattr(body, "config", None), "model_type", "") != "bert":
        raise ModelError(
            f"a reader needs an encoder of BERT's kind, and {encoder!r} is none",
            hint="Leave --encoder out, or give one that was made from a BERT.",
        )
    return body, model.tokenizer, device


def read_network(folder: Path) -> tuple[Network, dict[str, Any]]:
    """Read a network and its card from a folder; raises ModelError where it holds none."""
    import torch
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
        kept = load_file(str(folder / WEIGHTS_FILE))
        made = Network(str(card["encoder"]), int(card["layers"]))
        before = made.originals()
        with torch.no_grad():
            for name, part in made.own().items():
                values = kept[name].float()
                if values.shape != part.shape or not bool(torch.isfinite(values).all()):
                    raise ValueError(f"{name} has another shape")
                if f"{name}.scale" in kept:
                    values = before[name] + values * kept[f"{name}.scale"]
                part.copy_(values)
    except OSError as error:
        raise ModelError("the reader cannot be read", where=str(folder), hint=_HINT) from error
    except (SafetensorError, AttributeError, KeyError, TypeError, ValueError) as error:
        reason = str(error).strip().splitlines() or [repr(error)]
        raise ModelError(
            f"this is no reader ({reason[0]})", where=str(folder), hint=_HINT
        ) from error
    made.body.eval()
    return made, card
