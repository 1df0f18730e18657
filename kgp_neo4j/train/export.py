"""Write trained networks of torch as files of the light engine."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from kgp_neo4j.models.engine import import_openvino
from kgp_neo4j.models.mdr_folder import EXPORTED
from kgp_neo4j.models.torch_encoder import TorchTransformer

__all__ = ["export_encoder", "export_network"]

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def export_encoder(model: Any, folder: Path) -> None:
    """Write a SentenceTransformer as a folder that the light engine reads, pooling included."""
    import torch

    class Whole(torch.nn.Module):
        """From tokens to the vector of the text."""

        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            fed = {"input_ids": input_ids, "attention_mask": attention_mask}
            if "token_type_ids" in model.tokenizer.model_input_names:
                fed["token_type_ids"] = token_type_ids
            return {"sentence_embedding": self.model(fed)["sentence_embedding"]}

    export_network(Whole(), folder / EXPORTED)
    TorchTransformer(model, str(model.device)).tokenizer.save(str(folder / "tokenizer.json"))
    limit = json.dumps({"max_seq_length": model.max_seq_length})
    (folder / "sentence_bert_config.json").write_text(limit + "\n", encoding="utf-8")


def export_network(module: Any, file: Path) -> None:
    """Write a torch module of ids, mask and types as an OpenVINO `.xml` and `.bin`, in 16 bits."""
    import torch

    openvino = import_openvino()
    from openvino.tools.ovc import convert_model

    device = next(module.parameters()).device
    example = {name: torch.ones(2, 8, dtype=torch.long, device=device) for name in _INPUTS}
    module = module.float().cpu().eval()
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter(
                "ignore"
            )  # tracing warns about values that are constant for all texts
            converted = convert_model(
                module, example_input={name: part.cpu() for name, part in example.items()}
            )
    finally:
        module.to(device)
    openvino.save_model(converted, str(file), compress_to_fp16=True)
