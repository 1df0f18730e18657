"""Generates text with causal checkpoints and LoRA adapters, of which no code is run."""

import warnings
from functools import lru_cache
from typing import Any

from kgp_neo4j.environment.files import expanded
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.types.errors import ModelError, first_line

#: Most tokens of a prompt, as in KGP's fine-tuning.
_INPUT_TOKENS = 512
#: Most tokens generated: more than a supporting fact has, and no more than encoders read.
_OUTPUT_TOKENS = 160
_BATCH = 16


class Generator:
    """A language model that continues prompts of up to `limit` tokens in batches."""

    def __init__(self, model: Any, tokenizer: Any, device: str) -> None:
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._device = device
        tokenizer.padding_side = "left"  # it continues from the right end
        self.limit = input_limit(model)

    def length(self, prompt: str) -> int:
        """Return the number of tokens of a prompt, with those that the tokenizer adds."""
        return len(self._tokenizer(prompt)["input_ids"])

    def generate(self, prompts: list[str], *, temperature: float = 0.0, seed: int = 0) -> list[str]:
        """Return the likeliest text for each prompt, above temperature 0 a sample by the seed."""
        import torch

        drawn = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        # A checkpoint's own options are reset: transformers warns of them without sampling.
        unused = dict.fromkeys(("temperature", "top_k", "top_p", "min_p", "typical_p"))
        options = drawn if temperature > 0 else {"do_sample": False, "num_beams": 1, **unused}
        options |= {"max_new_tokens": _OUTPUT_TOKENS, "pad_token_id": self._tokenizer.pad_token_id}
        form = {"return_tensors": "pt", "padding": True, "return_token_type_ids": False}
        # Each prompt once, sorted by length, so that a batch has prompts of similar length.
        order = sorted(dict.fromkeys(prompts), key=lambda prompt: (-len(prompt), prompt))
        written: dict[str, str] = {}
        # The seed leaves no trace in torch's own draws.
        devices = [torch.cuda.current_device()] if self._device == "cuda" else []
        with torch.inference_mode(), torch.random.fork_rng(devices):
            torch.manual_seed(seed)
            for start in range(0, len(order), _BATCH):
                batch = order[start : start + _BATCH]
                inputs = self._tokenizer(batch, **form).to(self._device)
                outputs = self._model.generate(**inputs, **options)
                outputs = outputs[:, inputs["input_ids"].shape[1] :]
                texts = self._tokenizer.batch_decode(outputs, skip_special_tokens=True)
                written |= zip(batch, texts, strict=True)
        return [written[prompt] for prompt in prompts]


def input_limit(model: Any) -> int:
    """Return how many tokens a prompt may have, so that the output still fits."""
    # A model without a limit has no such number, or a huge one, or one below 1.
    places = getattr(model.config.get_text_config(), "max_position_embeddings", 0)
    return max(1, min(_INPUT_TOKENS, places - _OUTPUT_TOKENS)) if places > 0 else _INPUT_TOKENS


@lru_cache(maxsize=2)
def load_generator(name: str) -> Generator:
    """Load a checkpoint (folder or hub name), or a LoRA adapter's folder with its base model.

    Raises ModelError where it is not found, has no safetensors weights, or is not causal.
    """
    return Generator(*load_checkpoint(name))


def load_checkpoint(name: str, *, to_train: bool = False) -> tuple[Any, Any, str]:
    """Return the model, the tokenizer and the device; raises as `load_generator` does.

    It is in bfloat16 on a GPU and, unless it is `to_train`, on CPUs that have it; else in float32.
    """
    with needs("torch", "a checkpoint", ModelError):
        import torch
        from peft import AutoPeftModelForCausalLM
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging as chatter
    chatter.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would draw over our own
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # A model that writes waits for its weights, which are half as large in bfloat16: one of 270 M
    # parameters writes twice as fast with AVX512-BF16, even where products are slower in it.
    quick = not to_train and getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    dtype = torch.bfloat16 if quick or device == "cuda" else torch.float32
    folder = expanded(name)
    # An absolute path, because an adapter stores the name of its base model.
    source = str(folder.absolute()) if folder.is_dir() else name
    is_adapter = (folder / "adapter_config.json").is_file()
    # peft would fall back to a pickle.
    if is_adapter and not (folder / "adapter_model.safetensors").is_file():
        hint = "Give the folder of a LoRA adapter, as `kgp-neo4j train` makes it."
        raise ModelError("there is no adapter_model.safetensors", where=str(folder), hint=hint)
    kind: Any = AutoPeftModelForCausalLM if is_adapter else AutoModelForCausalLM
    # The base of an adapter may be a model of the hub.
    options = {"trust_remote_code": False, "local_files_only": folder.is_dir() and not is_adapter}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about the libraries' own calls
            config = None if is_adapter else AutoConfig.from_pretrained(source, **options)
            if config is not None and config.is_encoder_decoder:
                raise ValueError(f"no causal checkpoint but one of the type {config.model_type}")
            model = kind.from_pretrained(source, dtype=dtype, use_safetensors=True, **options)
            tokenizer = AutoTokenizer.from_pretrained(model.name_or_path, **options)
            if tokenizer.eos_token_id is None:
                raise ValueError("its tokenizer has no token that ends a text, no eos_token")
    except Exception as error:  # damaged files raise what their libraries like
        raise ModelError(
            f"the checkpoint {name!r} could not be loaded ({first_line(error)})",
            hint="Give a folder with safetensors weights and a tokenizer, or a hub name while "
            "online.",
        ) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return model.to(device), tokenizer, device
