"""`kgp-neo4j train`: fine-tune the models of the agents and of the reader."""

from __future__ import annotations

import importlib

import click

_EPILOG = """
\b
Examples:
  kgp-neo4j train t5 train.json.gz --out trained/t5
  kgp-neo4j train llama train.json.gz --out trained/llama --dev dev.json.gz
  kgp-neo4j train mdr --corpus mine --out trained/mdr
  kgp-neo4j train reader train.json.gz --out trained/reader

\b
FILES are the training files of HotpotQA, 2WikiMultihopQA or MuSiQue, with their
supporting facts. The same command again goes on where it was stopped.
"""

#: Each is in the module `_train_NAME`.
_MODELS = ("t5", "llama", "mdr", "scorer", "reader")


class _Models(click.Group):
    """Import a model's module only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_MODELS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODELS:
            return None
        module = importlib.import_module(f"kgp_neo4j.cli._train_{cmd_name}")
        found: click.Command = module.command
        return found


@click.group("train", cls=_Models, epilog=_EPILOG)
def command() -> None:
    """Fine-tune a model on questions and their supporting facts."""
