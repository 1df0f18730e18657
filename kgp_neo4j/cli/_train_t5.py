"""`kgp-neo4j train t5`: a seq2seq model learns to write the next evidence."""

from __future__ import annotations

from typing import Any

import click

from kgp_neo4j.cli._training import run_training, training_options

_EPILOG = """
\b
Examples:
  kgp-neo4j train t5 train.json.gz --out trained/t5
  kgp-neo4j train t5 train.json.gz --out trained/small --model google-t5/t5-small
  kgp-neo4j ask "..." --corpus mine --agent t5 --model trained/t5
"""


@click.command("t5", epilog=_EPILOG)
@training_options("google-t5/t5-large", 1e-4)
@click.option("--lora", is_flag=True, help="Train adapters instead of all weights.")
def command(**given: Any) -> None:
    """Fine-tune a T5 or any other seq2seq checkpoint for --agent t5.

    The defaults are the paper's. Without --lora all weights are trained. It runs on a GPU when
    one is there.
    """
    from kgp_neo4j.train.generation import T5

    run_training(settings=T5, agent="t5", **given)
