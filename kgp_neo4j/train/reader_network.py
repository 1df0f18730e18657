"""The offline reader's network in torch, to be trained: see `kgp_neo4j.models.reader.network`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.models.engine import token_id
from kgp_neo4j.models.pretrained import DEFAULT_ENCODER
from kgp_neo4j.models.reader import network as light
from kgp_neo4j.models.torch_encoder import TorchTransformer, load_model
from kgp_neo4j.train.fitting import padded
from kgp_neo4j.train.reader_windows import Laid
from kgp_neo4j.types.errors import ModelError

with needs("torch", "training a reader", ModelError):
    import torch
    from safetensors.torch import load_file, save_file
    from torch.nn import functional

#: Outputs of each head; `right` is a verifier's.
_HEADS = {"pieces": light.PIECES, "kinds": light.KINDS, "right": ("right",)}
_HEADS["operations"] = light.OPERATIONS
#: Weight of each column's loss, beside 1 for the kind of a window and 1 for its support.
_COLUMNS = tuple(
    0.5 if name in ("start", "end") else 0.25 if name.startswith("value") else 0.1
    for name in light.PIECES
)
_SUPPORT = light.PIECES.index("support")
_OPERATION = 0.8
#: Upper layers of the encoder that are trained, at most.
_LAYERS = 6


class TrainedNetwork:
    """The default encoder's upper layers with a reader's or a verifier's heads; its tokenizer."""

    def __init__(self, heads: Sequence[str] = light.HEADS[light.WEIGHTS_FILE]) -> None:
        model = load_model(DEFAULT_ENCODER, precise=True)
        self.body: Any = model[0].auto_model
        whole = len(self.body.encoder.layer)
        self.device = str(model.device.type)
        self.tokenizer = TorchTransformer(model).tokenizer
        self.layers = range(max(0, whole - _LAYERS), whole)
        self.longest = int(self.body.config.max_position_embeddings)
        width = self.body.config.hidden_size
        self.heads: Any = torch.nn.ModuleDict(
            {name: torch.nn.Linear(width, len(_HEADS[name]), device=self.device) for name in heads}
        )
        #: The encoder's original values of the trained layers.
        self._before = {name: part.detach().clone() for name, part in self._upper().items()}

    def _upper(self) -> dict[str, Any]:
        return {
            f"layer.{at}.{name}": part
            for at in self.layers
            for name, part in self.body.encoder.layer[at].named_parameters()
        }

    def own(self) -> dict[str, Any]:
        """Return the trained parameters by name: upper layers and heads."""
        return self._upper() | dict(self.heads.named_parameters())

    def load(self, folder: Path, share: float = 1.0, *, heads: bool = True) -> None:
        """Take the weights of a reader that `save` wrote, with its `heads` or the layers alone.

        With a `share` below 1 they go so far towards these. Raises ModelError where none fit.
        """
        with light.reading("reader", folder), torch.no_grad():
            arrays = load_file(str(folder / light.WEIGHTS_FILE))
            for name, part in (self.own() if heads else self._upper()).items():
                values = arrays[name].float()
                if f"{name}.scale" in arrays:
                    values = self._before[name].cpu() + values * arrays[f"{name}.scale"]
                part.lerp_(values.to(part), share)

    def __call__(self, ids: Any, types: Any, mask: Any) -> tuple[Any, Any, Any]:
        """Return the logits of tokens, kinds and operations: `network.Logits`, by window."""
        hidden = self.body(input_ids=ids, token_type_ids=types, attention_mask=mask)[0]
        first = hidden[:, 0]
        kinds, operations = (self.heads[name](first).float() for name in ("kinds", "operations"))
        return self.heads["pieces"](hidden).float(), kinds, operations

    def judge(self, batch: Sequence[Any]) -> Any:
        """Return the log odds that answers are right, each laid out as `ids` and `types`."""
        ids, types, mask = _input(self, batch)
        hidden = self.body(input_ids=ids, token_type_ids=types, attention_mask=mask)[0]
        return self.heads["right"](hidden[:, 0]).float().squeeze(1)

    def save(self, folder: Path, card: Mapping[str, Any]) -> None:
        """Write the trained weights for the light engine, and the card.

        A matrix is written as its difference from the encoder's, in eight bits with a scale for
        each row; the difference is small, so little is lost, and the file stays at a few MB.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.save_differences(folder / light.WEIGHTS_FILE)
        about = {"encoder": DEFAULT_ENCODER, "layers": len(self.layers), "longest": self.longest}
        text = json.dumps({**about, **card}, indent=1)
        (folder / light.CARD_FILE).write_text(text + "\n", encoding="utf-8")

    def save_differences(self, file: Path) -> None:
        """Write the trained weights alone."""
        arrays: dict[str, Any] = {}
        for name, part in self.own().items():
            values = part.detach().cpu()
            before = self._before.get(name)
            if before is None:
                arrays[name] = values
            elif values.dim() < 2:
                arrays[name] = values.half()
            else:
                change = values - before.cpu()
                scale = change.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
                arrays[f"{name}.scale"] = scale
                arrays[name] = torch.round(change / scale).to(torch.int8)
        save_file(arrays, str(file))


def loss_of(network: TrainedNetwork, batch: Sequence[Laid]) -> Any:
    """Return the mean loss of a batch.

    Of several spans of an answer any will do: the loss raises the probability of all together
    (Clark and Gardner 2018, section 3.3). Of none, start and end are the first token (SQuAD 2.0).
    """
    device = network.device
    ids, types, mask = _input(network, batch)
    support = padded([one.support for one in batch], -1, ids.shape[1]).to(device)
    pieces, kinds, operations = network(ids, types, mask)
    passages, allowed = _allowed(types, mask)
    right = torch.zeros_like(allowed)
    for at, one in enumerate(batch):
        for name, marked in one.marks.items():
            right[at, marked, light.PIECES.index(name)] = True
    logs = torch.log_softmax(pieces.masked_fill(~allowed, -1e4), dim=1)
    likely = torch.logsumexp(logs.masked_fill(~right, -1e4), dim=1)
    share = torch.tensor(_COLUMNS, device=device)
    loss = -(likely * right.any(dim=1) * share).sum(dim=1)
    wanted = torch.tensor([one.kind for one in batch], device=device)
    loss = loss + functional.cross_entropy(kinds, wanted, reduction="none")
    known = (support >= 0) & passages
    supported = functional.binary_cross_entropy_with_logits(
        pieces[..., _SUPPORT], support.clamp_min(0).float(), reduction="none"
    )
    loss = loss + (supported * known).sum(dim=1) / known.sum(dim=1).clamp_min(1)
    wanted = torch.tensor([one.operation for one in batch], device=device)
    compared = functional.cross_entropy(operations, wanted.clamp_min(0), reduction="none")
    return (loss + _OPERATION * compared * (wanted >= 0)).mean()


def _input(network: TrainedNetwork, batch: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return ids, types and mask of laid-out texts: (texts, tokens) each."""
    padding = token_id(network.tokenizer, "[PAD]", "<pad>") or 0
    ids = padded([one.ids for one in batch], padding)
    types = padded([one.types for one in batch], 0)
    mask = padded([[1] * len(one.ids) for one in batch], 0)
    return ids.to(network.device), types.to(network.device), mask.to(network.device)


def _allowed(types: Any, mask: Any) -> tuple[Any, Any]:
    """Return which tokens are of passages, and which each column may point at."""
    passages = (types == 1) & (mask == 1)
    asked = ((types == 0) & (mask == 1)).sum(dim=1, keepdim=True)
    question = torch.arange(types.shape[1], device=types.device)[None] < asked - 1
    # Options are in the question only; the first token stands for none.
    allowed = torch.stack(
        [question if name.startswith("option") else passages for name in light.PIECES], dim=2
    )
    allowed[:, 0] = True
    return passages, allowed
