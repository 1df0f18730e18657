"""`kgp-neo4j train llama`: LoRA adapters for a causal model that writes the next evidence."""

from __future__ import annotations

from typing import Any

import click

from kgp_neo4j.cli._training import run_training, training_options

_EPILOG = """
\b
Examples:
  kgp-neo4j train llama train.json.gz --out trained/llama
  kgp-neo4j train llama train.json.gz --out trained/small --model HuggingFaceTB/SmolLM2-135M
  kgp-neo4j ask "..." --corpus mine --agent llama --model trained/llama
"""


@click.command("llama", epilog=_EPILOG)
@training_options("huggyllama/llama-7b", 3e-4)
@click.option("--rank", type=int, default=8, show_default=True, help="Rank of the adapters.")
@click.option("--alpha", type=int, default=16, show_default=True, help="Scale of the adapters.")
@click.option(
    "--dropout",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.05,
    show_default=True,
    help="Share of the adapters' inputs left out in training.",
)
def command(**given: Any) -> None:
    """Train LoRA adapters on LLaMA or any other causal checkpoint for --agent llama.

    The defaults are the paper's. The adapters name the model they belong to. It runs on a GPU when
    one is there.
    """
    from kgp_neo4j.train.generation import LLAMA

    run_training(settings=LLAMA, agent="llama", **given)
