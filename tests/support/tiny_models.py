"""Real language models small enough to be made, trained and run in a test."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def interrupted_at(step: int) -> Iterator[None]:
    """Interrupt a training at a step; every three steps it leaves something to go on from."""
    from kgp_neo4j.train import fitting

    learn = fitting.Fitting._learn

    def stop(at: fitting.Fitting, *given: Any) -> float:
        if at.step == step:
            raise KeyboardInterrupt
        return learn(at, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting.Fitting, "_learn", stop)
        patch.setattr(fitting, "_SAVE_EVERY", 3)
        with pytest.raises(KeyboardInterrupt):
            yield


def tiny_llama(folder: Path, texts: Sequence[str]) -> Path:
    """Save a LLaMA of dimension 32 with random weights, and a byte-level BPE of the texts."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=["<pad>", "</s>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>", pad_token="<pad>")
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=1024,
        bos_token_id=None,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
)


def tiny_gguf(file: Path, *, context: int = 1024) -> Path:
    """Write a GGUF file of a LLaMA of dimension 32 with random weights, whose tokens are bytes."""
    import numpy as np
    from gguf import GGUFWriter, TokenType

    width, marks = 32, ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
    tokens = [*marks, *(f"<0x{byte:02X}>" for byte in range(256))]
    writer = GGUFWriter(file, "llama")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(1)
    writer.add_feed_forward_length(width)
    writer.add_head_count(4)
    writer.add_rope_dimension_count(width // 4)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([TokenType.CONTROL] * len(marks) + [TokenType.BYTE] * 256)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(4)
    writer.add_chat_template(_TEMPLATE)
    drawn = np.random.default_rng(7)
    square = [f"attn_{name}" for name in ("q", "k", "v", "output")]
    square += [f"ffn_{name}" for name in ("gate", "up", "down")]
    shapes = dict.fromkeys(("token_embd", "output"), (len(tokens), width))
    shapes |= {f"blk.0.{name}": (width, width) for name in square}
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", drawn.normal(0, 0.3, shape).astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
