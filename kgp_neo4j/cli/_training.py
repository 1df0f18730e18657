"""Shared parts of `train t5` and `train llama`: their options and their output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgp_neo4j.cli._options import (
    out_option,
    overwrite_option,
    save_every_option,
    seed_option,
)
from kgp_neo4j.cli._output import echo_json, json_option

if TYPE_CHECKING:
    from kgp_neo4j.train.generation import GenerationSettings

__all__ = ["run_training", "say_begun_before", "training_options"]

F = TypeVar("F", bound=Callable[..., Any])


def training_options(model: str, rate: float) -> Callable[[F], F]:
    """Return a decorator that adds the arguments and options of a training, with a model's
    defaults.
    """
    parts = (
        click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path)),
        out_option,
        click.option(
            "--model",
            default=model,
            show_default=True,
            help="The checkpoint to begin with: a folder or a hub name.",
        ),
        click.option(
            "--dev", type=click.Path(path_type=Path), help="Questions to report the loss on."
        ),
        click.option("--epochs", type=int, default=3, show_default=True, help="Passes over FILES."),
        click.option("--batch", type=int, default=4, show_default=True, help="Pairs a step."),
        click.option(
            "--rate", type=float, default=rate, show_default=True, help="Learning rate at first."
        ),
        seed_option,
        save_every_option(500),
        overwrite_option,
        json_option,
    )

    def add(command: F) -> F:
        for part in reversed(parts):
            command = part(command)
        return command

    return add


def run_training(
    files: tuple[Path, ...],
    out: Path,
    settings: GenerationSettings,
    agent: str,
    *,
    dev: Path | None,
    save_every: int,
    overwrite: bool,
    as_json: bool,
    **changes: Any,
) -> None:
    """Train with the settings, changed by the given options, and print the report."""
    from kgp_neo4j.train.generation import train_generator

    report = train_generator(
        files,
        out,
        replace(settings, **changes),
        dev=dev,
        save_every=save_every,
        overwrite=overwrite,
    )
    if as_json:
        echo_json(report)
        return
    say_begun_before(out, report.resumed, report.done_before)
    dev_loss = "" if report.dev_loss is None else f", {report.dev_loss:.4f} on {dev}"
    click.echo(
        f"{report.pairs} pairs of {report.questions} questions, {report.steps} steps on "
        f"{report.device}, loss {report.loss:.4f}{dev_loss}, {report.seconds:.0f} s"
    )
    click.echo(f'Ask with it: kgp-neo4j ask "..." --corpus NAME --agent {agent} --model {out}')


def say_begun_before(out: Path, resumed: int, done_before: bool) -> None:
    """Print at which step a training resumed, or that it was finished before."""
    if done_before:
        click.echo(f"{out} is trained already with these settings; nothing was left to do.")
    elif resumed:
        click.echo(f"Went on from step {resumed}.")
