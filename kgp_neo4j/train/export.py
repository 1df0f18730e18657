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


def export_encoder(model: Any, folder: Path) -> None:
    """Write a SentenceTransformer as a folder that the light engine reads, pooling included."""

    def vectors(input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        fed = {"input_ids": input_ids, "attention_mask": attention_mask}
        if "token_type_ids" in model.tokenizer.model_input_names:
            fed["token_type_ids"] = token_type_ids
        return {"sentence_embedding": model(fed)["sentence_embedding"]}

    export_network(vectors, [model], folder / EXPORTED)
    TorchTransformer(model, str(model.device)).tokenizer.save(str(folder / "tokenizer.json"))
    limit = json.dumps({"max_seq_length": model.max_seq_length})
    (folder / "sentence_bert_config.json").write_text(limit + "\n", encoding="utf-8")


def export_network(forward: Any, modules: list[Any], file: Path) -> None:
    """Write a function of ids, mask and types, over the weights of some torch modules, as an
    OpenVINO `.xml` and `.bin`, in 16 bits.
    """
    import torch

    openvino = import_openvino()
    from openvino.tools.ovc import convert_model

    class Whole(torch.nn.Module):
        """The function as a module, which the converter needs."""

        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList(modules)

        def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
            return forward(input_ids, attention_mask, token_type_ids)

    whole = Whole()
    device = next(whole.parameters()).device
    whole.float().cpu().eval()
    ones = torch.ones(2, 8, dtype=torch.long)
    example = {"input_ids": ones, "attention_mask": ones, "token_type_ids": ones}
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            # Tracing warns about values that are constant for all texts.
            warnings.simplefilter("ignore")
            converted = convert_model(whole, example_input=example)
    finally:
        whole.to(device)
    openvino.save_model(converted, str(file), compress_to_fp16=True)
