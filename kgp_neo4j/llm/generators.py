"""Generates text with causal checkpoints, with LoRA adapters.

Only safetensors weights are read, and no code of a checkpoint is run.
"""

import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from kgp_neo4j.environment.extras import needs
from kgp_neo4j.types.errors import ModelError, first_line

#: Most tokens of a prompt, as in KGP's fine-tuning.
INPUT_TOKENS = 512
#: Most tokens generated: more than a supporting fact has, and no more than encoders read.
_OUTPUT_TOKENS = 160
_BATCH = 16
#: Some configurations give a number of positions like this where there is no limit.
_NO_LIMIT = 1 << 24
_ADAPTER = "adapter_config.json"


class Generator:
    """A language model that continues prompts of up to `limit` tokens in batches."""

    def __init__(self, name: str, model: Any, tokenizer: Any, device: str) -> None:
        self.name = name
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._device = device
        tokenizer.padding_side = "left"  # it continues from the right end
        self.limit = input_limit(model)

    def length(self, prompt: str) -> int:
        """Return the number of tokens of a prompt, with those that the tokenizer adds."""
        return len(self._tokenizer(prompt)["input_ids"])

    def generate(
        self, prompts: Sequence[str], *, temperature: float = 0.0, seed: int = 0
    ) -> list[str]:
        """Return the likeliest text for each prompt, above temperature 0 a sample by the seed."""
        # Each prompt once, sorted by length, so that a batch has prompts of similar length.
        order = sorted(dict.fromkeys(prompts), key=lambda prompt: (-len(prompt), prompt))
        written: dict[str, str] = {}
        with drawing(self._device, seed):
            for start in range(0, len(order), _BATCH):
                batch = order[start : start + _BATCH]
                inputs = self._tokenizer(
                    batch, return_tensors="pt", padding=True, return_token_type_ids=False
                ).to(self._device)
                outputs = self._model.generate(
                    **inputs,
                    **sampling(temperature),
                    max_new_tokens=_OUTPUT_TOKENS,
                    pad_token_id=self._tokenizer.pad_token_id,
                )
                outputs = outputs[:, inputs["input_ids"].shape[1] :]
                texts = self._tokenizer.batch_decode(outputs, skip_special_tokens=True)
                written |= zip(batch, texts, strict=True)
        return [written[prompt] for prompt in prompts]


def sampling(temperature: float) -> dict[str, Any]:
    """Return the options of transformers for a sample, or at temperature 0 for the likeliest text.

    The options of a checkpoint's own are reset: transformers warns of them without sampling.
    """
    if temperature > 0:
        return {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
    unused = dict.fromkeys(("temperature", "top_k", "top_p", "min_p", "typical_p"))
    return {"do_sample": False, "num_beams": 1, **unused}


@contextmanager
def drawing(device: str, seed: int) -> Iterator[None]:
    """Let the block generate from a seed, without gradients and without a trace in torch's own."""
    import torch

    devices = [torch.cuda.current_device()] if device == "cuda" else []
    with torch.inference_mode(), torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        yield


def input_limit(model: Any) -> int:
    """Return how many tokens a prompt may have, so that the output still fits."""
    places = position_limit(model.config) or _NO_LIMIT
    return max(1, min(INPUT_TOKENS, places - _OUTPUT_TOKENS))


def position_limit(config: Any) -> int | None:
    """Return the number of positions of a model; None where there is no limit."""
    for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
        places = getattr(config.get_text_config(), name, None)
        if isinstance(places, int) and 0 < places < _NO_LIMIT:
            return places
    return None


@lru_cache(maxsize=2)
def load_generator(name: str) -> Generator:
    """Load a checkpoint (folder or hub name), or a LoRA adapter's folder with its base model.

    Runs in bfloat16 on a GPU and on CPUs that have it, in float32 elsewhere. Raises ModelError when
    the checkpoint is not found, has no safetensors weights, or is not causal.
    """
    device, dtype = placed()
    model, tokenizer = load_checkpoint(name, dtype)
    return Generator(name, model.to(device), tokenizer, device)


def placed() -> tuple[str, Any]:
    """Return the device that models run on, and the torch dtype to use there."""
    with needs("torch", "a checkpoint", ModelError):
        import torch
    device = "cuda" if torch.cuda.is_available() else "cpu"
    # A model that writes waits for its weights, which are half as large in bfloat16: one of 270 M
    # parameters writes twice as fast with AVX512-BF16, even where products are slower in it.
    quick = device == "cuda" or getattr(torch.cpu, "_is_avx512_bf16_supported", bool)()
    return device, torch.bfloat16 if quick else torch.float32


def load_checkpoint(name: str, dtype: Any) -> tuple[Any, Any]:
    """Return the model in a torch `dtype` and the tokenizer; raises as `load_generator` does."""
    folder, adapter = Path(name).expanduser(), None
    if (folder / _ADAPTER).is_file() and not (folder / "config.json").is_file():
        adapter, name = folder, _base_of(folder)
        folder = Path(name).expanduser()
    # An absolute path, because an adapter stores the name of its base model.
    source = str(folder.absolute()) if folder.is_dir() else name
    options = {"trust_remote_code": False, "local_files_only": folder.is_dir()}
    try:
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
        from transformers.utils import logging as chatter

        chatter.disable_progress_bar()  # type: ignore[no-untyped-call]  # it would draw over our own
        config = AutoConfig.from_pretrained(source, **options)
        if config.is_encoder_decoder:
            raise ValueError(f"no causal checkpoint but one of the type {config.model_type}")
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        model = AutoModelForCausalLM.from_pretrained(
            source, config=config, dtype=dtype, use_safetensors=True, **options
        )
    except Exception as error:  # damaged files raise what their libraries like
        raise ModelError(
            f"the checkpoint {name!r} could not be loaded ({first_line(error)})",
            hint="Give a folder with safetensors weights and a tokenizer, or a hub name while "
            "online.",
        ) from error
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.eos_token_id is None or tokenizer.pad_token_id is None:
        raise ModelError(
            "the checkpoint's tokenizer has no token that ends a text",
            where=name,
            hint="Give a checkpoint whose tokenizer has an eos_token.",
        )
    return (model if adapter is None else _with_adapter(model, adapter)), tokenizer


def _base_of(adapter: Path) -> str:
    path = adapter / _ADAPTER
    try:
        base = json.loads(path.read_text(encoding="utf-8")).get("base_model_name_or_path")
        if isinstance(base, str) and base:
            return base
        raise ValueError("it names no base model")
    except (OSError, ValueError, AttributeError) as error:
        raise ModelError(
            f"the adapter could not be read ({first_line(error)})",
            where=str(path),
            hint="Give the folder that `kgp-neo4j train` made, or name the base model too.",
        ) from error


def _with_adapter(model: Any, folder: Path) -> Any:
    with needs("torch", "a LoRA adapter", ModelError, where=str(folder)):
        from peft import PeftModel
    # peft would fall back to a pickle.
    if not (folder / "adapter_model.safetensors").is_file():
        raise ModelError(
            "there is no adapter_model.safetensors",
            where=str(folder),
            hint="Give the folder of a LoRA adapter, as `kgp-neo4j train` makes it.",
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about the libraries' own calls
            return PeftModel.from_pretrained(model, str(folder))
    except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        raise ModelError(
            f"the adapter does not fit its base model ({first_line(error)})",
            where=str(folder),
            hint="Give the base model that it was trained on.",
        ) from error
