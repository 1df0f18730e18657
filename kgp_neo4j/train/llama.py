"""Fine-tune LLaMA-7B (KGP, Eq. 1) or another model by LoRA to write the next supporting fact."""

import dataclasses
import random
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgp_neo4j.corpus.traverse.agents.search import (
    alpaca_prompt,
    fitted,
    input_limit,
    load_checkpoint,
    titled_line,
)
from kgp_neo4j.environment.job import bar
from kgp_neo4j.environment.kinds import needs
from kgp_neo4j.train.examples import TrainingPair, read_training_questions, training_pairs
from kgp_neo4j.train.fitting import Fitting, Folder, digest, named, padded
from kgp_neo4j.types.errors import InputError, ModelError
from kgp_neo4j.types.settings import Checked, setting

with needs("torch", "training a language model", ModelError):
    import torch
    from peft import LoraConfig, TaskType, get_peft_model
    from peft.utils import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as KNOWN

#: The adapters of the paper.
_RANK, _ALPHA, _DROPOUT = 8, 16, 0.05
_OUTPUT_TOKENS = 512
_IGNORED_LABEL = -100

#: The tokens of a pair, and the labels of each: -100 for those of the prompt.
_Row = tuple[list[int], list[int]]


@dataclass(frozen=True, slots=True)
class LlamaSettings(Checked):
    """The options of a training, with the paper's defaults; `batch` are the pairs of a step."""

    model: str = "huggyllama/llama-7b"
    epochs: int = setting(3, bounds=(1, 1000))
    batch: int = setting(4, bounds=(1, 4096))
    rate: float = setting(3e-4, bounds=(1e-9, 1.0))
    seed: int = setting(0, bounds=(0, 2**31 - 1))


@dataclass(frozen=True, slots=True)
class LlamaReport:
    """The result of a training; `loss` is the mean cross-entropy of a token in the last epoch."""

    out: str
    questions: int
    pairs: int
    steps: int
    loss: float
    #: The step that it went on from.
    resumed: int
    seconds: float
    device: str


def train_llama(
    files: Sequence[Path], out: Path, settings: LlamaSettings, *, overwrite: bool = False
) -> LlamaReport:
    """Train adapters on the supporting facts of question files, and save them in a folder.

    An interrupted run with the same settings and data goes on; a GPU is used if there is one.
    Raises InputError for bad lines, ConfigurationError for a folder with other files, ModelError.
    """
    began = time.perf_counter()
    questions = read_training_questions(files)
    pairs = training_pairs(questions)
    if not pairs:
        raise InputError("the files hold no question to train from")
    plan = dataclasses.asdict(settings) | {"model": named(settings.model), "data": digest(pairs)}
    folder = Folder(out, plan, overwrite=overwrite)
    model, tokenizer, device = _model(settings)
    batches = _batches(_rows(model, tokenizer, pairs), settings)

    def loss_of(batch: Sequence[_Row]) -> Any:
        ids, labels = zip(*batch, strict=True)
        return model(
            input_ids=padded(ids, tokenizer.pad_token_id).to(device),
            attention_mask=padded([[1] * len(row) for row in ids], 0).to(device),
            labels=padded(labels, _IGNORED_LABEL).to(device),
        ).loss

    with folder.saving():
        adapters = [part for part in model.parameters() if part.requires_grad]
        group = {"params": adapters, "lr": settings.rate}
        fitting = Fitting(model, [group], folder, settings.seed)
        resumed = fitting.step
        losses = fitting.run(batches, loss_of)
        last = losses[-(len(batches) // settings.epochs) :]
        loss, seconds = sum(last) / max(1, len(last)), time.perf_counter() - began
        counts = len(questions), len(pairs), len(batches)
        report = LlamaReport(str(out), *counts, loss, resumed, seconds, device)
        model.save_pretrained(out)
        tokenizer.save_pretrained(out)
        folder.finish(
            dataclasses.asdict(report),
            "A traversal agent `llama` of kgp-neo4j",
            (
                "Given a question and the evidence so far, it writes the evidence needed next "
                "(Knowledge Graph Prompting, Wang et al., AAAI 2024)",
                f"Base model: {named(settings.model)}, with LoRA adapters of rank {_RANK}",
                f"Data: {', '.join(path.name for path in files)}: {report.questions} questions, "
                f"{report.pairs} pairs",
                f"{report.steps} steps; loss {report.loss:.4f}",
            ),
        )
    return report


def _model(settings: LlamaSettings) -> tuple[Any, Any, str]:
    """Return the model with new adapters, its tokenizer and its device."""
    model, tokenizer, device = load_checkpoint(settings.model, to_train=True)
    torch.manual_seed(settings.seed)
    config = LoraConfig(
        r=_RANK,
        lora_alpha=_ALPHA,
        lora_dropout=_DROPOUT,
        # Query and value projections, as for LLaMA; all layers for what peft does not know.
        target_modules=None if model.config.model_type in KNOWN else "all-linear",
        task_type=TaskType.CAUSAL_LM,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the libraries' own, about one another
        return get_peft_model(model, config).to(device).train(), tokenizer, device


def _rows(model: Any, tokenizer: Any, pairs: Sequence[TrainingPair]) -> list[_Row]:
    """Return each pair as tokens: the prompt with whole passages, the fact's sentences, an end."""
    limit = input_limit(model)

    def length(prompt: str) -> int:
        return len(tokenizer(prompt)["input_ids"])

    rows = []
    with bar("tokens", len(pairs), "pairs") as progress:
        for pair in pairs:
            evidence = [titled_line(fact.title, fact.passage_text) for fact in pair.found]
            prompt = fitted(alpaca_prompt, pair.question, evidence, length, limit)
            read = tokenizer(prompt)["input_ids"]
            fact = titled_line(pair.expected.title, pair.expected.text)
            written = tokenizer(fact, add_special_tokens=False)["input_ids"]
            written = [*written, tokenizer.eos_token_id][:_OUTPUT_TOKENS]
            rows.append((read + written, [_IGNORED_LABEL] * len(read) + written))
            progress.update()
    return rows


def _batches(rows: Sequence[_Row], settings: LlamaSettings) -> list[list[_Row]]:
    """Return the batches of all epochs, each epoch in an order drawn by the seed."""
    draw = random.Random(settings.seed)
    batches = []
    for _ in range(settings.epochs):
        order = draw.sample(rows, len(rows))
        batches += [order[at : at + settings.batch] for at in range(0, len(order), settings.batch)]
    return batches
